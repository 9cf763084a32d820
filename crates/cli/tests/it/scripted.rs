//! What a model's server answers, as OpenAI's API streams it.

use conspectus_testkit::server::{Asked, Step};
use serde_json::{Value, json};

/// Text, in two pieces.
pub(crate) fn said(text: &str) -> Vec<Step> {
    let half = text.floor_char_boundary(text.len() / 2);
    let (start, rest) = text.split_at(half);
    stream(&[
        json!({"delta": {"role": "assistant", "content": start}}),
        json!({"delta": {"content": rest}}),
        json!({"delta": {}, "finish_reason": "stop"}),
    ])
}

/// A call of a tool, with text before it.
pub(crate) fn called(text: &str, id: &str, tool: &str, arguments: &Value) -> Vec<Step> {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": id, "type": "function", "function": function});
    stream(&[
        json!({"delta": {"role": "assistant", "content": text, "tool_calls": [call]}}),
        json!({"delta": {}, "finish_reason": "tool_calls"}),
    ])
}

/// No answer.
pub(crate) fn nothing() -> Vec<Step> {
    let head = Step::head(200, &[("content-type", "text/event-stream")]);
    vec![head, Step::Stall]
}

/// A refusal.
pub(crate) fn refused() -> Vec<Step> {
    let body = json!({"error": {"message": "the key is wrong", "type": "invalid_request_error"}});
    Step::answer(
        401,
        &[("content-type", "application/json")],
        &body.to_string(),
    )
}

/// Whether an agent asks, which has tools, or somebody who wants a summary.
pub(crate) fn is_agent(asked: &Asked) -> bool {
    body(asked)["tools"].is_array()
}

pub(crate) fn body(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).expect("JSON")
}

fn stream(choices: &[Value]) -> Vec<Step> {
    let chunks = choices.iter().map(|choice| {
        let mut choice = choice.clone();
        choice["index"] = json!(0);
        format!("data: {}\n\n", json!({"choices": [choice]}))
    });
    let text: String = chunks.chain(["data: [DONE]\n\n".to_owned()]).collect();
    Step::answer(200, &[("content-type", "text/event-stream")], &text)
}
