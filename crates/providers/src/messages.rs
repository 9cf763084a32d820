//! LangChain's messages as the APIs take them.

use conspectus::core::effect::Failure;
use conspectus::threads::Json;
use conspectus::wire::Target;
use conspectus::{Document, Format, OpenOptions};
use serde_json::{Map, Value, json};

/// As chat completions: the converter of `wire`.
///
/// # Errors
/// When one of them is no message.
pub(crate) fn openai(messages: &[Json]) -> Result<Value, Failure> {
    let unusable = |why: String| Failure::Unusable {
        message: format!("the messages cannot be written: {why}").into(),
    };
    let list: Vec<&str> = messages.iter().map(Json::as_str).collect();
    let options = OpenOptions {
        format: Some(Format::LangChain),
        lenient: false,
    };
    let list = format!("[{}]", list.join(",")).into_bytes();
    let document = Document::open(list, &options).map_err(|why| unusable(why.to_string()))?;
    let written = document.convert(&[], Target::OpenAi);
    let written = written.map_err(|why| unusable(why.to_string()))?;
    let mut body: Value =
        serde_json::from_slice(&written).map_err(|why| unusable(why.to_string()))?;
    Ok(body["messages"].take())
}

/// As Anthropic's Messages: the system prompt, and messages by turns, the last one with a cache marker. Signed reasoning
/// goes back as it came.
pub(crate) fn anthropic(messages: &[Json]) -> (String, Value) {
    let mut system: Vec<String> = Vec::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for json in messages {
        let value: Value = serde_json::from_str(json.as_str()).unwrap_or_default();
        let kind = value["type"].as_str().or_else(|| value["role"].as_str());
        let (role, blocks) = match kind.unwrap_or_default() {
            "system" | "developer" if turns.is_empty() => {
                system.push(text_of(&value["content"]));
                continue;
            }
            "ai" | "assistant" => ("assistant", said(&value)),
            "tool" => ("user", vec![answer(&value)]),
            _ => ("user", blocks(&value["content"])),
        };
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    for (role, blocks) in &mut turns {
        // Results stand first in their message.
        if *role == "user" {
            blocks.sort_by_key(|block| block["type"] != "tool_result");
        }
    }
    if let Some(Value::Object(last)) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        last.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    let turns = turns
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}));
    (system.join("\n\n"), turns.collect())
}

fn said(message: &Value) -> Vec<Value> {
    let mut blocks = blocks(&message["content"]);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        blocks.push(json!({
            "type": "tool_use", "id": id(&call["id"]), "name": call["name"],
            "input": object(&call["args"]),
        }));
    }
    // What could not be read is still a call that was answered.
    for call in message["invalid_tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
    {
        blocks.push(json!({
            "type": "tool_use", "id": id(&call["id"]), "name": call["name"],
            "input": {"unreadable": call["args"]},
        }));
    }
    blocks
}

fn answer(message: &Value) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id(&message["tool_call_id"])});
    let content = blocks(&message["content"]);
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if message["status"] == "error" {
        block["is_error"] = json!(true);
    }
    block
}

/// Ids as the API takes them.
fn id(value: &Value) -> String {
    let id = value.as_str().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id: String = id.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    if id.is_empty() { "call".to_owned() } else { id }
}

fn object(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        _ => Value::Object(Map::new()),
    }
}

fn text_of(content: &Value) -> String {
    let blocks = blocks(content);
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Content as blocks; texts of nothing are refused, so they are left out.
fn blocks(content: &Value) -> Vec<Value> {
    let text =
        |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match content {
        Value::String(said) => text(said).into_iter().collect(),
        Value::Array(parts) => {
            let block = |part: &Value| match part {
                Value::String(said) => text(said),
                part => match part["type"].as_str().unwrap_or_default() {
                    "text" => text(part["text"].as_str().unwrap_or_default()),
                    "thinking" | "redacted_thinking" => Some(part.clone()),
                    "image_url" => Some(image(part)),
                    "image" if part["source"].is_object() => Some(part.clone()),
                    // Calls stand in the list of calls, too.
                    "tool_use" | "tool_call" | "input_json_delta" => None,
                    kind => text(&format!("[{kind}]")),
                },
            };
            parts.iter().filter_map(block).collect()
        }
        _ => Vec::new(),
    }
}

fn image(part: &Value) -> Value {
    let url = part["image_url"]["url"]
        .as_str()
        .or_else(|| part["image_url"].as_str());
    let url = url.unwrap_or_default();
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((mime, data)) => json!({
            "type": "image", "source": {"type": "base64", "media_type": mime, "data": data},
        }),
        None => json!({"type": "image", "source": {"type": "url", "url": url}}),
    }
}

#[cfg(test)]
mod tests {
    use conspectus::wire::valid;

    use super::*;

    fn talk() -> Vec<Json> {
        let call =
            |id: &str| json!({"name": "look", "args": {"at": 1}, "id": id, "type": "tool_call"});
        let messages = [
            json!({"type": "system", "content": "Be brief."}),
            json!({"type": "system", "content": "And kind."}),
            json!({"type": "human", "content": "What is it?"}),
            json!({"type": "human", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
            json!({
                "type": "ai", "tool_calls": [call("a:1"), call("b")],
                "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I look."}],
                "invalid_tool_calls": [{"name": "look", "args": "{oh", "id": "c"}],
            }),
            json!({"type": "tool", "tool_call_id": "a:1", "content": "a valve"}),
            json!({"type": "tool", "tool_call_id": "b", "content": "", "status": "error"}),
            json!({"type": "tool", "tool_call_id": "c", "content": "Error: no object"}),
            json!({"type": "human", "content": "Go on."}),
        ];
        messages.iter().map(Json::from).collect()
    }

    #[test]
    fn anthropic_takes_turns_with_results_first_and_reasoning_as_it_came() {
        let (system, turns) = anthropic(&talk());
        assert_eq!(system, "Be brief.\n\nAnd kind.");
        let roles: Vec<&Value> = turns
            .as_array()
            .expect("a list")
            .iter()
            .map(|t| &t["role"])
            .collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        let reply = &turns[1]["content"];
        assert_eq!(
            reply[0],
            json!({"type": "thinking", "thinking": "hm", "signature": "s"})
        );
        assert_eq!(
            reply[2],
            json!({"type": "tool_use", "id": "a_1", "name": "look", "input": {"at": 1}})
        );
        let answers = turns[2]["content"].as_array().expect("blocks");
        let kinds: Vec<&Value> = answers.iter().map(|b| &b["type"]).collect();
        assert_eq!(kinds, ["tool_result", "tool_result", "tool_result", "text"]);
        assert_eq!(
            (&answers[0]["tool_use_id"], &answers[1]["is_error"]),
            (&json!("a_1"), &json!(true))
        );
        assert_eq!(answers[3]["cache_control"]["type"], "ephemeral");
        let body = json!({"messages": turns, "system": system, "max_tokens": 1, "tools": [{"name": "look"}]});
        let faults = valid::check(Format::Anthropic, body.to_string().as_bytes());
        assert_eq!(faults, [], "{body}");
    }

    #[test]
    fn openai_gets_every_call_answered() {
        let messages = openai(&talk()).expect("messages");
        let body = json!({"messages": messages});
        let faults = valid::check(Format::OpenAi, body.to_string().as_bytes());
        assert_eq!(faults, [], "{body}");
        assert_eq!(messages[4]["tool_calls"].as_array().map(Vec::len), Some(3));
    }
}
