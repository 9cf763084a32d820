//! A title for a thread that has none.

use std::future::ready;

use super::{Hooked, Middleware};
use crate::context::RunContext;
use crate::message::{Kind, Message};
use crate::state::{State, Update};
use crate::text::collapsed;

/// Characters.
const MAX_CHARS: usize = 60;

/// Takes the first request as the title, once it is answered. No model is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Title;

impl Middleware for Title {
    fn name(&self) -> &'static str {
        "title"
    }

    fn after_model<'a>(&'a self, cx: &'a RunContext, state: &'a State) -> Hooked<'a> {
        let is_answer =
            |message: &Message| message.kind() == Kind::Ai && message.calls().is_empty();
        let is_due =
            cx.is_lead() && state.title.is_none() && state.messages.last().is_some_and(is_answer);
        let title = is_due.then(|| of(&state.messages)).flatten();
        Box::pin(ready(Ok(Update {
            title: title.map(Into::into),
            ..Update::none()
        })))
    }
}

fn of(messages: &[Message]) -> Option<String> {
    let first = messages.iter().find(|message| message.is_real_user())?;
    let text = collapsed(&first.text());
    if text.chars().count() <= MAX_CHARS {
        return Some(text).filter(|text| !text.is_empty());
    }
    let cut: String = text.chars().take(MAX_CHARS).collect();
    // Words stay whole where there are any.
    let end = cut
        .rfind(' ')
        .filter(|at| *at > MAX_CHARS / 2)
        .unwrap_or(cut.len());
    Some(format!("{}…", &cut[..end]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_is_the_first_request_cut_at_a_word() {
        let check = |text: &str, expect: Option<&str>| {
            let hidden = json!({"type": "human", "content": "x", "additional_kwargs": {"hide_from_ui": true}});
            let said = json!({"type": "human", "content": text});
            let messages = [hidden, said].map(Message::new);
            assert_eq!(of(&messages).as_deref(), expect);
        };
        check("  Turn\nthe valve ", Some("Turn the valve"));
        check(
            &"word ".repeat(30),
            Some(&format!("{}…", "word ".repeat(11) + "word")),
        );
        check(&"字".repeat(80), Some(&format!("{}…", "字".repeat(60))));
        check(" ", None);
    }
}
