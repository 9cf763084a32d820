//! What was said before and is folded now, found again.

use conspectus::threads::{Recall as Asked, Recalled};
use conspectus::{Boxed, ToolSpec};

use crate::context::RunContext;
use crate::message::Message;
use crate::text::{bounded, collapsed};
use crate::tool::{Tool, ToolCall, ToolResult, schema};

/// Characters of one message that was found by words.
const MAX_HIT: usize = 1_500;
/// Characters of one that was asked for by name.
const MAX_ONE: usize = 40_000;
/// Messages that are shown.
const MAX_HITS: u32 = 8;

/// `recall`: earlier messages of this conversation, by words, by id, or by the reference of something shortened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recall;

impl Tool for Recall {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "recall".into(),
            description: "Finds what was said or done earlier in this conversation and is only summarised now. Give words to look for, the id of a message, or the reference in a marker of something shortened (cx-...).".into(),
            parameters: schema(&[
                ("?query", "string", "Words"),
                ("?id", "string", "The id of a message"),
                ("?reference", "string", "The reference of something shortened"),
            ]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move {
            let text = |key: &str| {
                call.text(key)
                    .map(str::trim)
                    .filter(|text| !text.is_empty())
            };
            let (ask, max) = match (text("reference"), text("id"), text("query")) {
                (Some(reference), _, _) => {
                    let reference = reference.into();
                    (Asked::Reference { reference }, MAX_ONE)
                }
                (None, Some(id), _) => {
                    let ask = Asked::Id {
                        id: id.into(),
                        before: 0,
                        after: 0,
                    };
                    (ask, MAX_ONE)
                }
                (None, None, Some(query)) => {
                    let ask = Asked::Words {
                        query: query.into(),
                        limit: MAX_HITS,
                        folded_only: false,
                    };
                    (ask, MAX_HIT)
                }
                (None, None, None) => {
                    return ToolResult::error("give `query`, `id` or `reference`");
                }
            };
            match cx.threads().recall(&cx.key, &ask).await {
                Ok(found) if found.is_empty() => ToolResult::text("nothing was found"),
                Ok(found) => {
                    let shown = found.iter().map(|one| shown(one, max));
                    ToolResult::text(shown.collect::<Vec<_>>().join("\n\n"))
                }
                Err(why) => ToolResult::error(why),
            }
        })
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

fn shown(found: &Recalled, max: usize) -> String {
    let message = Message::of(&found.message);
    let text = match &found.text {
        Some(text) => text.to_string(),
        None => {
            let calls = message.calls();
            let calls = calls
                .iter()
                .map(|call| format!("\n[call {} {}]", call.name, call.args));
            message.text().into_owned() + &calls.collect::<String>()
        }
    };
    let id = found.id.as_deref().unwrap_or("?");
    let age = found.age_ms / 60_000;
    let outdated = match found.superseded_by.is_empty() {
        true => "",
        false => ", later messages say more about it",
    };
    let kind = collapsed(&format!("{:?}", message.kind())).to_lowercase();
    format!(
        "[{id}, {kind}, {age} minutes ago{outdated}]\n{}",
        bounded(&text, max)
    )
}
