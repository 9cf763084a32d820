//! A conversation as measures see it: parts in order, grouped so that an answer stays with its call.

use serde_json::Value;

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What kind of content it is.
    pub kind: PartKind,
    /// Its text; of a call, the arguments as JSON.
    pub text: String,
    /// The tool's name, of calls.
    pub name: String,
    /// Which message it is part of.
    pub message: u64,
}

/// What kind of content a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Written text.
    Text,
    /// Reasoning.
    Thinking,
    /// A call of a tool.
    Call,
    /// What a tool answered.
    Result,
    /// A summary that the session holds.
    Summary,
    /// Images and what has no text: never shown, never counted.
    Opaque,
}

/// Ranges of `parts` that stay or go together, without system prompts and what has no text, each as indices.
pub fn groups(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if part.kind == PartKind::Opaque || part.role == "system" {
            continue;
        }
        let before = groups.last().and_then(|group| group.last()).copied();
        let joins = before.is_some_and(|before| {
            parts[before].message == part.message || part.kind == PartKind::Result
        });
        match groups.last_mut() {
            Some(group) if joins => group.push(at),
            _ => groups.push(vec![at]),
        }
    }
    groups
}

/// A part as a reader of the compacted conversation would see it.
pub fn render(part: &Part) -> String {
    match part.kind {
        PartKind::Call => format!("[call {}] {}", part.name, part.text),
        PartKind::Result => format!("[result] {}", part.text),
        _ => format!("{}: {}", part.role, part.text),
    }
}

/// Parts rendered, a line each.
pub(crate) fn render_all<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let lines: Vec<String> = parts.into_iter().map(render).collect();
    lines.join("\n")
}

/// The text whose names count: of a call only the values of its arguments.
pub(crate) fn written(part: &Part) -> String {
    if part.kind != PartKind::Call {
        return part.text.clone();
    }
    let Ok(value) = serde_json::from_str::<Value>(&part.text) else {
        return part.text.clone();
    };
    let mut found = Vec::new();
    leaves(&value, &mut found);
    found.join("\n")
}

fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| leaves(item, found)),
        // As Python writes them.
        Value::Bool(true) => found.push("True".to_owned()),
        Value::Bool(false) => found.push("False".to_owned()),
        Value::Number(number) => found.push(number.to_string()),
    }
}

/// The measure of size: a character of Chinese, Japanese or Korean is one token, four others are one (rounded up).
pub fn tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// The same in quarters of a token, which add up without rounding.
pub(crate) fn quarters(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 4 } else { 1 }).sum()
}

/// CJK, as the shared readers have it.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}')
}
