//! What the server of the tests answers.

use serde_json::{Value, json};

/// What becomes of a message.
pub(crate) enum Answer {
    /// It is said.
    Say(Value),
    /// Nothing is to be said.
    Nothing,
    /// Nothing is ever said.
    Silence,
    /// The server ends.
    Death,
}

/// The answer to a message of JSON-RPC.
pub(crate) fn answer(message: &Value) -> Answer {
    let id = &message["id"];
    let result = |result: Value| Answer::Say(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let error = |code: i32, why: &str| {
        let error = json!({"code": code, "message": why});
        Answer::Say(json!({"jsonrpc": "2.0", "id": id, "error": error}))
    };
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        })),
        "tools/list" => result(json!({"tools": tools()})),
        "tools/call" => {
            let arguments = &message["params"]["arguments"];
            let text = |text: &str, is_error: bool| {
                let content = json!([{"type": "text", "text": text}]);
                result(json!({"content": content, "isError": is_error}))
            };
            match message["params"]["name"].as_str().unwrap_or_default() {
                "echo" => text(arguments["text"].as_str().unwrap_or("?"), false),
                "long" => text(&"lantern ".repeat(50_000), false),
                "fails" => text("there is no ticket 7", true),
                "refuses" => error(-32602, "the ticket must be a number"),
                "sleeps" => Answer::Silence,
                "dies" => Answer::Death,
                "word" => text(&word(), false),
                _ => error(-32602, "unknown tool"),
            }
        }
        _ if id.is_null() => Answer::Nothing,
        _ => error(-32601, "unknown method"),
    }
}

/// What the environment says.
#[expect(clippy::disallowed_methods, reason = "a program that is begun")]
fn word() -> String {
    std::env::var("SCRIPTED_WORD").unwrap_or_default()
}

fn tools() -> Vec<Value> {
    let tool = |name: &str| {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        json!({"name": name, "description": format!("It {name}."), "inputSchema": schema})
    };
    ["word", "echo", "long", "fails", "refuses", "sleeps", "dies"]
        .map(tool)
        .to_vec()
}
