//! What a rollout holds over all its records, out of sight or not.

use crate::claude_code::RecordCounts;
use crate::codex::record::{self, RecordKind};
use crate::json::{Array, Object};
use crate::source::Source;

/// Counts what the lines that can be read hold: items of the model, the user and the host, with a compaction as one
/// more message. Items of tools that the server runs by itself are not counted: they have no output item.
pub(crate) fn count(source: &Source) -> RecordCounts {
    let mut counts = RecordCounts::default();
    let records = record::read(source, true).map(|(records, _)| records);
    for record in records.unwrap_or_default() {
        match record.kind {
            RecordKind::Compacted(_) => {
                counts.messages += 1;
                counts.summaries += 1;
            }
            RecordKind::Item(span) => {
                let item = Object::of(span.text(source.text())).unwrap_or_default();
                one(&item, &mut counts);
            }
            _ => {}
        }
    }
    counts
}

fn one(item: &Object<'_>, counts: &mut RecordCounts) {
    let kind = item.string("type");
    let list = match kind.as_deref() {
        Some("message") | None => item.get("content"),
        Some("reasoning") => None,
        Some("function_call" | "custom_tool_call" | "local_shell_call") => {
            counts.calls += 1;
            None
        }
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            counts.results += 1;
            item.get("output")
        }
        Some(_) => return,
    };
    counts.messages += 1;
    let parts = list.and_then(Array::of).unwrap_or_default().0.into_iter();
    let is_image = |part: &Object<'_>| part.string("type").as_deref() == Some("input_image");
    counts.images += parts.filter_map(Object::of).filter(is_image).count();
}
