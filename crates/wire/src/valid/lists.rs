//! The lists of messages of a file, found once more and by other means than the readers'.

use serde_json::Value;

/// The file as one value; lines of JSON as a list of values.
pub(super) fn parse(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).ok())
        .collect::<Option<Vec<Value>>>()
        .filter(|lines| !lines.is_empty())
        .map(Value::Array)
}

/// Each conversation with the object around it.
pub(super) fn conversations(file: &Value) -> Vec<(&Value, &[Value])> {
    if let Some(found) = of_object(file) {
        return vec![found];
    }
    let runs = file.get("simulations").and_then(Value::as_array);
    let Some(elements) = runs.or_else(|| file.as_array()) else {
        let is_message = file.get("role").or_else(|| file.get("type")).is_some();
        return match is_message {
            true => vec![(&Value::Null, std::slice::from_ref(file))],
            false => Vec::new(),
        };
    };
    let found: Vec<_> = elements.iter().filter_map(of_object).collect();
    match (found.is_empty(), runs) {
        (true, None) => vec![(&Value::Null, elements)],
        _ => found,
    }
}

fn of_object(value: &Value) -> Option<(&Value, &[Value])> {
    let values = value.get("values").unwrap_or(value);
    let messages = ["messages", "traj", "contents"]
        .iter()
        .find_map(|key| values.get(*key));
    // An item has both too, beside its type.
    let request = Some(value).filter(|value| value.get("type").is_none());
    let items = || request?.get("input").or_else(|| value.get("output"));
    match messages.or_else(items) {
        Some(Value::Array(messages)) => Some((value, messages)),
        // A prompt: nothing in it can be wrong.
        Some(Value::String(_)) if value.get("model").is_some() => Some((value, &[])),
        _ => of_object(
            value
                .get("request")
                .or_else(|| value.get("request_params"))?,
        ),
    }
}
