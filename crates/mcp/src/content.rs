//! What a server answers, as a text for a model.

use rmcp::model::CallToolResult;
use serde_json::Value;

/// The text of a result: its texts as they are, all else named. What is structured stands alone where there is no text.
pub(crate) fn text(result: &CallToolResult) -> String {
    let pieces = result
        .content
        .iter()
        .filter_map(|block| serde_json::to_value(block).ok());
    let pieces: Vec<String> = pieces.map(|block| piece(&block)).collect();
    match (pieces.is_empty(), &result.structured_content) {
        (true, Some(structured)) => structured.to_string(),
        _ => pieces.join("\n"),
    }
}

fn piece(block: &Value) -> String {
    let said = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str().unwrap_or_default() {
        "text" => said(block, "text"),
        "resource" => {
            let resource = &block["resource"];
            match resource["text"].as_str() {
                Some(text) => format!("{}:\n{text}", said(resource, "uri")),
                None => left_out(&said(resource, "uri"), resource, "blob"),
            }
        }
        "resource_link" => format!("[{} at {}]", said(block, "name"), said(block, "uri")),
        kind => left_out(kind, block, "data"),
    }
}

/// What cannot be shown as text.
fn left_out(what: &str, value: &Value, key: &str) -> String {
    let kind = value["mimeType"].as_str().unwrap_or("unknown kind");
    let size = value[key].as_str().map_or(0, |data| data.len() / 4 * 3);
    format!("[{what}: {kind}, about {size} bytes, not shown]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(result: Value, expect: &str) {
        let result: CallToolResult = serde_json::from_value(result).expect("a result");
        assert_eq!(text(&result), expect);
    }

    #[test]
    fn results_as_text() {
        check(json!({"content": []}), "");
        check(
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "structuredContent": {"x": 1}}),
            "a\nb",
        );
        check(
            json!({"content": [], "structuredContent": {"x": 1}}),
            r#"{"x":1}"#,
        );
        check(
            json!({"content": [{"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"}]}),
            "[image: image/png, about 6 bytes, not shown]",
        );
        check(
            json!({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "hello"}},
                {"type": "resource_link", "uri": "file:///b", "name": "b"}]}),
            "file:///a:\nhello\n[b at file:///b]",
        );
    }
}
