//! Durable context: what must outlive every summary is captured before messages can be folded, and shown.
//!
//! How it is shown follows the policy's placement. Frozen, the sections stand in the record of each compaction, and what
//! happened since is in the messages themselves, so a request only grows at its end. In front, as deer-flow does it, they
//! are made anew for every call: an authority contract as a system message, and the data as a hidden human message.

use std::future::ready;

use conspectus::core::effect::Failure;
use conspectus::core::policy::Placement;
use conspectus::threads::Json;
use conspectus::{Boxed, Turn};
use serde_json::json;

use super::{Hooked, Middleware, ModelRequest, NextModel};
use crate::channel::skill::Reads;
use crate::channel::{delegation, render, scope};
use crate::context::RunContext;
use crate::message::{Kind, Message};
use crate::state::{State, Update};

/// Captures delegations and skills, and shows them.
#[derive(Clone, Debug, Default)]
pub struct DurableContext {
    reads: Reads,
}

impl DurableContext {
    /// With what counts as loading a skill.
    pub fn new(reads: Reads) -> Self {
        Self { reads }
    }

    /// What is new behind what was captured before.
    fn capture(&self, cx: &RunContext, state: &State, with_skills: bool) -> Update {
        let begins = scope::begins_at(&state.messages, Some(&cx.run_id), &state.before);
        let from = state.captured.max(begins);
        let now = conspectus::wire::iso_time(cx.now());
        let run = Some(&*cx.run_id);
        let delegations = delegation::capture(&state.messages, from, &state.delegations, run, &now);
        let mut update = Update {
            delegations,
            ..Update::none()
        };
        if with_skills {
            let captured = self.reads.capture(&state.messages, from, state.base);
            update.skills = captured.skills;
            update.warnings = captured.warnings;
            update.captured = Some(state.messages.len());
        }
        update
    }
}

impl Middleware for DurableContext {
    fn name(&self) -> &'static str {
        "durable_context"
    }

    fn before_model<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        Box::pin(ready(Ok(self.capture(cx, state, true))))
    }

    /// What is dispatched is in progress before its tools run.
    fn after_model<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        Box::pin(ready(Ok(self.capture(cx, state, false))))
    }

    fn at_end(&self, cx: &RunContext, state: &State) -> Update {
        self.capture(cx, state, true)
    }

    fn wrap_model_call<'a>(
        &'a self,
        _: &'a RunContext,
        request: ModelRequest,
        next: NextModel<'a>,
    ) -> Boxed<'a, Result<Turn, Failure>> {
        match request.placement {
            Placement::Front => next.run(in_front(request)),
            _ => next.run(request),
        }
    }
}

/// The durable data behind the leading system messages, in place of what the record shows.
fn in_front(mut request: ModelRequest) -> ModelRequest {
    let (summary, kept) = match &request.summary {
        Some((summary, kept)) => (Some(&**summary), render::defused(kept)),
        None => (None, String::new()),
    };
    let shown = &request.shown;
    let data = render::data(summary, &[&kept, &shown.delegations, &shown.skills]);
    let mut place = 0..;
    let blocks = std::mem::take(&mut request.blocks);
    request
        .messages
        .retain(|_| place.next().is_some_and(|at| !blocks.contains(&at)));
    if data.is_empty() {
        return request;
    }
    let is_system = |message: &&Json| Message::of(message).kind() == Kind::System;
    let leading = request.messages.iter().take_while(is_system).count();
    let contract = json!({"type": "system", "content": render::CONTRACT});
    let data = json!({
        "type": "human", "content": data,
        "additional_kwargs": {"hide_from_ui": true, "durable_context_data": true},
    });
    let both = [Json::from(&contract), Json::from(&data)];
    request.messages.splice(leading..leading, both);
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::middleware::Shown;

    fn request(summary: Option<&str>, shown: Shown) -> ModelRequest {
        let message = |kind: &str, text: &str| Json::from(&json!({"type": kind, "content": text}));
        ModelRequest {
            system: "be brief".into(),
            messages: vec![
                message("system", "the thread's own"),
                message("system", "rules of the record"),
                message("human", "the record"),
                message("human", "hi"),
            ],
            blocks: vec![1, 2],
            summary: summary.map(|text| (text.into(), "## Standing rules\n- Never <b>".into())),
            placement: Placement::Front,
            tools: [].into(),
            max_output_tokens: None,
            timeout_ms: 1,
            shown,
        }
    }

    fn lines(request: &ModelRequest) -> Vec<String> {
        let turn = request.to_turn();
        let line = |json: &Json| {
            let message = Message::of(json);
            format!("{:?}: {}", message.kind(), message.text())
        };
        turn.messages.iter().map(line).collect()
    }

    #[test]
    fn b4_two_messages_behind_the_leading_system_messages_rules_apart_from_data() {
        let shown = Shown {
            delegations: "## Delegated work\n- a".into(),
            skills: "## Active skills\n- b".into(),
        };
        let request = in_front(request(Some("talk of valves"), shown));
        let contract = format!("System: {}", render::CONTRACT);
        let data = "Human: <durable_context_data>\n## Conversation summary so far\ntalk of valves\n\n\
            ## Standing rules\n- Never <b>\n\n## Delegated work\n- a\n\n## Active skills\n- b\n</durable_context_data>";
        assert_eq!(
            lines(&request),
            [
                "System: be brief",
                "System: the thread's own",
                &contract,
                data,
                "Human: hi"
            ]
        );
        let hidden = Message::of(&request.messages[2]);
        assert!(hidden.has_extra("hide_from_ui") && hidden.has_extra("durable_context_data"));
        assert!(
            !contract.contains("valves"),
            "nothing of others has the rank of the system"
        );
    }

    #[test]
    fn b4_nothing_is_injected_when_there_is_nothing_to_show() {
        let mut bare = request(None, Shown::default());
        bare.messages.drain(1..3);
        bare.blocks.clear();
        assert_eq!(lines(&in_front(bare.clone())), lines(&bare));
    }
}
