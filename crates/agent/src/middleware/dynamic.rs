//! What changes from day to day: a hidden, tagged message in front of a request, not a line of the system prompt, so that
//! the prompt stays the same. Compactions leave it.

use serde_json::json;

use super::{Hooked, Middleware, memory};
use crate::context::RunContext;
use crate::message::Message;
use crate::state::{State, Update};
use crate::text::{bounded, collapsed, escaped};

const TAG: &str = "dynamic_context_reminder";
const DATE: &str = "reminder_date";
/// Facts that are shown, the newest.
const MAX_FACTS: usize = 20;
/// Characters of one.
const MAX_FACT: usize = 300;

/// Reminds of the date, and the lead agent of what is remembered of the user. Once a day of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct DynamicContext {
    /// Nothing of the memory.
    pub date_only: bool,
}

impl Middleware for DynamicContext {
    fn name(&self) -> &'static str {
        "dynamic_context"
    }

    fn before_agent<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        Box::pin(async move {
            let today = conspectus::wire::iso_time(cx.now());
            let today = today.split('T').next().unwrap_or_default();
            let is_told = |message: &Message| {
                let date = message.extra(DATE).and_then(|date| date.as_str());
                message.has_extra(TAG) && date == Some(today)
            };
            if state.input.is_empty() || state.messages.iter().any(is_told) {
                return Ok(Update::none());
            }
            let mut lines = format!("<current_date>{today}</current_date>");
            if cx.is_lead() && !self.date_only {
                // The memory is a help, not a condition.
                let facts = memory::facts(cx.threads(), &cx.key.tenant, MAX_FACTS).await;
                let facts = facts.unwrap_or_else(|why| {
                    cx.warn(format!("the memory cannot be read: {why}"));
                    Vec::new()
                });
                if !facts.is_empty() {
                    lines.push_str("\n<memory>\n");
                    for fact in &facts {
                        let text = bounded(&collapsed(&fact.text), MAX_FACT);
                        lines.push_str(&format!("- {}\n", escaped(&text)));
                    }
                    lines.push_str("</memory>");
                }
            }
            let reminder = json!({
                "type": "human", "id": format!("{}-reminder", cx.run_id),
                "content": format!("<system-reminder>\n{lines}\n</system-reminder>"),
                "additional_kwargs": {"hide_from_ui": true, TAG: true, DATE: today},
            });
            Ok(Update {
                ahead: vec![reminder],
                ..Update::none()
            })
        })
    }
}
