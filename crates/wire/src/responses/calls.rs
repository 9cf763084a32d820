//! Items that are calls, their outputs, and calls that the server runs itself.

use std::sync::Arc;

use conspectus_core::id::CallId;
use conspectus_core::view::{MediaKind, PartKind};

use crate::conversation::{Home, TextAt};
use crate::json::{Array, Object, Span, string};
use crate::openai;
use crate::read::{Builder, Odd, text_or_json};

/// Where a kind of call keeps its tool's name and its arguments.
struct Spelling {
    /// The tool, for calls that do not name one.
    tool: &'static str,
    /// The member with the arguments.
    arguments: &'static [&'static str],
}

/// Calls that the caller answers.
fn spelling(kind: &str) -> Option<Spelling> {
    let (tool, arguments): (_, &[_]) = match kind {
        "function_call" => ("", &["arguments"]),
        "custom_tool_call" => ("", &["input"]),
        "mcp_approval_request" => ("", &["arguments"]),
        "local_shell_call" => ("local_shell", &["action"]),
        "shell_call" => ("shell", &["action"]),
        "apply_patch_call" => ("apply_patch", &["operation"]),
        "computer_call" => ("computer", &["action", "actions"]),
        "tool_search_call" => ("tool_search", &["arguments"]),
        _ => return None,
    };
    Some(Spelling { tool, arguments })
}

/// Reads a call that the caller answers; `None` when the item is none.
pub(super) fn call(
    builder: &mut Builder<'_>,
    kind: &str,
    item: &Object<'_>,
    span: Span,
) -> Option<()> {
    let spelling = spelling(kind)?;
    let part = PartKind::Call {
        id: id(item),
        tool: tool(item, spelling.tool),
    };
    let arguments = first(item, spelling.arguments);
    let text = text_or_json(builder.source(), arguments);
    builder.push(part, text, span, Home::Whole);
    Some(())
}

/// Reads an output; `None` when the item is none.
pub(super) fn output(
    builder: &mut Builder<'_>,
    kind: &str,
    item: &Object<'_>,
    span: Span,
) -> Option<Result<(), Odd>> {
    let answered = match kind {
        "mcp_approval_response" => {
            CallId::from(&*item.string("approval_request_id").unwrap_or_default())
        }
        "function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "shell_call_output"
        | "apply_patch_call_output"
        | "computer_call_output"
        | "tool_search_output" => id(item),
        _ => return None,
    };
    let value = first(item, &["output", "tools", "reason"]);
    let result = PartKind::Result {
        id: answered,
        tool: None,
        error: item
            .string("status")
            .is_some_and(|status| status == "failed")
            || value.is_some_and(failed),
    };
    let source = builder.source();
    Some(match kind {
        "shell_call_output" => {
            let index = builder.push(result, TextAt::Nowhere, span, Home::Whole);
            for piece in Array::of(value.unwrap_or("[]")).unwrap_or_default().0 {
                let piece = Object::of(piece).unwrap_or_default();
                for text in ["stdout", "stderr"]
                    .iter()
                    .filter_map(|key| piece.value(key))
                {
                    let at = Span::of(source, text);
                    let text = text_or_json(source, Some(text));
                    builder.push_inside(PartKind::Text, text, at, Home::Whole, Some(index));
                }
            }
            Ok(())
        }
        "computer_call_output" => {
            let index = builder.push(result, TextAt::Nowhere, span, Home::Whole);
            let screen = value.and_then(Object::of).unwrap_or_default();
            let image = first(&screen, &["image_url", "file_id"]);
            let text = text_or_json(source, image);
            let media = PartKind::Media(MediaKind::Image);
            builder.push_inside(media, text, span, Home::Whole, Some(index));
            Ok(())
        }
        "mcp_approval_response" => {
            builder.push(result, TextAt::Json(span), span, Home::Whole);
            Ok(())
        }
        _ => openai::result(builder, result, value),
    })
}

/// Reads a call that the server ran by itself: the call and its outcome stand in one item. `None` for other items.
pub(super) fn served(
    builder: &mut Builder<'_>,
    kind: &str,
    item: &Object<'_>,
    span: Span,
) -> Option<()> {
    let (name, arguments, outcome): (_, &[_], _) = match kind {
        "web_search_call" => ("web_search", &["action"], ""),
        "file_search_call" => ("file_search", &["queries"], "results"),
        "code_interpreter_call" => ("code_interpreter", &["code"], "outputs"),
        "image_generation_call" => ("image_generation", &["revised_prompt", "action"], ""),
        "mcp_call" => ("mcp", &["arguments"], "output"),
        _ => return None,
    };
    let source = builder.source();
    let (id, tool) = (
        CallId::from(&*item.string("id").unwrap_or_default()),
        tool(item, name),
    );
    let call = PartKind::Call {
        id: id.clone(),
        tool: Arc::clone(&tool),
    };
    let text = text_or_json(source, first(item, arguments));
    builder.push(call, text, span, Home::Whole);
    let failed = item
        .string("status")
        .is_some_and(|status| status == "failed");
    let result = PartKind::Result {
        id,
        tool: Some(tool),
        error: failed || item.value("error").is_some(),
    };
    let text = text_or_json(source, item.value(outcome));
    let index = builder.push(result, text, span, Home::Whole);
    if let Some(image) = item
        .value("result")
        .filter(|_| kind == "image_generation_call")
    {
        let media = PartKind::Media(MediaKind::Image);
        let text = text_or_json(source, Some(image));
        builder.push_inside(media, text, span, Home::Whole, Some(index));
    }
    Some(())
}

/// Calls and outputs name the pair by `call_id`; where there is none, by the item's own id.
fn id(item: &Object<'_>) -> CallId {
    let id = item.string("call_id").or_else(|| item.string("id"));
    CallId::from(&*id.unwrap_or_default())
}

fn tool(item: &Object<'_>, otherwise: &str) -> Arc<str> {
    item.string("name").as_deref().unwrap_or(otherwise).into()
}

fn first<'a>(item: &Object<'a>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| item.value(key))
}

/// Codex writes how a command ended into the output: as JSON, or in its first lines.
fn failed(output: &str) -> bool {
    const LINES: [&str; 2] = ["Exit code: ", "Process exited with code "];
    if !output.starts_with('"') {
        return false;
    }
    let text = string::decode(output);
    if text.starts_with('{') {
        let metadata = Object::of(text.trim()).and_then(|json| json.object("metadata"));
        let code = metadata.and_then(|metadata| metadata.value("exit_code"));
        return code.is_some_and(|code| code != "0");
    }
    let mut head = text.lines().take(6);
    let code = head.find_map(|line| LINES.iter().find_map(|start| line.strip_prefix(start)));
    code.is_some_and(|code| code.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_command_ended() {
        let check = |output: &str, expect: bool| assert_eq!(failed(output), expect, "{output}");
        check(r#""fine""#, false);
        check(
            r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}""#,
            false,
        );
        check(
            r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}""#,
            true,
        );
        check(r#""Exit code: 1\nWall time: 0\nOutput:\nno""#, true);
        check(
            r#""Chunk ID: 1\nProcess exited with code 0\nOutput:\nyes""#,
            false,
        );
        check(r#"[{"type":"input_text","text":"Exit code: 1"}]"#, false);
        check(r#""{not json""#, false);
    }
}
