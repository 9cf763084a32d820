//! Messages as chat completions take them.
//!
//! A message of another format can hold what are several here: text, calls and results in one. Answers stand directly
//! behind their calls, wherever they came; a call without one gets a stand-in, unless it is the newest message, whose
//! calls are still to be answered. An answer without a call is told as text.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use conspectus_core::projection::BlockKind;
use conspectus_core::view::{MediaKind, PartKind, Role};

use super::neutral::{mime, object};
use super::said::{Part, Said};
use crate::conversation::Conversation;
use crate::json::string;

/// What stands for an answer that is not there.
const NO_ANSWER: &str = "[no result was recorded]";

/// A chat message in the making.
enum Line {
    /// Of the host, the person or the model.
    Spoken(Spoken),
    /// An answer: id as the conversation has it, and the text.
    Answer { id: String, text: String },
}

#[derive(Default)]
struct Spoken {
    role: &'static str,
    name: Option<String>,
    /// Parts of content, as JSON, and whether each is text.
    content: Vec<Content>,
    reasoning: Vec<String>,
    calls: Vec<Call>,
}

enum Content {
    Text(String),
    Image(String),
}

struct Call {
    id: String,
    tool: String,
    arguments: String,
}

/// The body of a request with these messages. `count` is the number of conversations in the file: one alone is a
/// request as it is, several have labels.
pub(super) fn request(conversation: &Conversation, messages: &[Said<'_>], count: usize) -> String {
    let mut lines = Vec::new();
    if !conversation.fixed.system.is_empty() {
        lines.push(Line::Spoken(Spoken {
            role: "system",
            content: vec![Content::Text(conversation.fixed.system.clone())],
            ..Spoken::default()
        }));
    }
    for said in messages {
        add(&mut lines, said);
    }
    let written = paired(&lines);
    let label = match count {
        0 | 1 => String::new(),
        _ => format!("\"id\":{},", string::encode(conversation.label())),
    };
    // Several are one a line; one alone may be read by people.
    let gap = if count > 1 { "" } else { "\n" };
    let comma = format!(",{gap}");
    format!(
        "{{{label}\"messages\":[{gap}{}{gap}]}}",
        written.join(&comma)
    )
}

/// The chat messages that a message comes to.
fn add(lines: &mut Vec<Line>, said: &Said<'_>) {
    let message = match said {
        Said::Message(message) => message,
        Said::Block(block) => {
            let text = block.text.to_string();
            return match &block.kind {
                BlockKind::Answer { id, .. } => lines.push(Line::Answer {
                    id: id.as_str().to_owned(),
                    text,
                }),
                _ => lines.push(Line::Spoken(Spoken {
                    role: role(block.role),
                    content: vec![Content::Text(text)],
                    ..Spoken::default()
                })),
            };
        }
    };
    let is_summary = said.flags().summary;
    let new = || Spoken {
        role: role(said.role()),
        name: match (is_summary, &message.view.name) {
            (true, _) => Some("summary".to_owned()),
            (false, Some(name)) if is_plain(name) => Some(name.to_string()),
            _ => None,
        },
        ..Spoken::default()
    };
    let mut spoken = new();
    // Pictures that a tool gave back: a tool's message takes text only.
    let mut pictures = Spoken {
        role: "user",
        ..Spoken::default()
    };
    let mut parts = message.parts.iter().peekable();
    while let Some(part) = parts.next() {
        match &part.kind {
            PartKind::Result { id, .. } => {
                let before = std::mem::replace(&mut spoken, new());
                push(lines, before);
                let mut texts = Vec::new();
                if !part.text.is_empty() {
                    texts.push(part.text.clone());
                }
                while let Some(inner) = parts.next_if(|next| next.is_inside) {
                    match content(inner) {
                        Content::Text(text) => texts.push(text),
                        picture => pictures.content.push(picture),
                    }
                }
                lines.push(Line::Answer {
                    id: id.as_str().to_owned(),
                    text: texts.join("\n"),
                });
            }
            PartKind::Call { id, tool } => spoken.calls.push(Call {
                id: id.as_str().to_owned(),
                tool: tool.to_string(),
                arguments: part.text.clone(),
            }),
            PartKind::Reasoning { bound: true } => {}
            PartKind::Reasoning { bound: false } => spoken.reasoning.push(part.text.clone()),
            PartKind::Text if part.text.is_empty() => {}
            _ => {
                // Behind its calls nothing more can be said.
                if !spoken.calls.is_empty() {
                    let before = std::mem::replace(&mut spoken, new());
                    push(lines, before);
                }
                spoken.content.push(content(part));
            }
        }
    }
    push(lines, spoken);
    if !pictures.content.is_empty() {
        let told = Content::Text("[pictures of the results above]".to_owned());
        pictures.content.insert(0, told);
        lines.push(Line::Spoken(pictures));
    }
}

fn push(lines: &mut Vec<Line>, spoken: Spoken) {
    let is_empty =
        spoken.content.is_empty() && spoken.calls.is_empty() && spoken.reasoning.is_empty();
    if !is_empty {
        lines.push(Line::Spoken(spoken));
    }
}

/// A part of content. Only pictures have a form of their own that every server takes.
fn content(part: &Part<'_>) -> Content {
    match &part.kind {
        PartKind::Media(MediaKind::Image) => {
            let is_reference = ["data:", "http:", "https:"]
                .iter()
                .any(|start| part.text.starts_with(start));
            Content::Image(match is_reference {
                true => part.text.clone(),
                false => {
                    let mime = mime(part.json).unwrap_or_else(|| "image/png".to_owned());
                    format!("data:{mime};base64,{}", part.text)
                }
            })
        }
        PartKind::Media(kind) => {
            let name = match kind {
                MediaKind::Audio => "audio",
                MediaKind::Video => "video",
                MediaKind::File | MediaKind::Image => "file",
            };
            Content::Text(match part.text.len() {
                // A name or a reference.
                1..=300 => format!("[{name}: {}]", part.text),
                _ => format!("[{name}]"),
            })
        }
        _ => Content::Text(part.text.clone()),
    }
}

/// The messages as JSON, with every answer behind its call.
fn paired(lines: &[Line]) -> Vec<String> {
    let mut answers = answers(lines);
    let mut ids = Ids::default();
    let newest = lines
        .iter()
        .rposition(|line| matches!(line, Line::Spoken(_)));
    let mut out = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::Spoken(spoken) => {
                let calls: Vec<(String, &Call)> = ids.of(&spoken.calls);
                out.push(written(spoken, &calls));
                for (n, (id, _)) in calls.iter().enumerate() {
                    let text = match answers.by_call.remove(&(at, n)) {
                        Some(answer) => match &lines[answer] {
                            Line::Answer { text, .. } => text.as_str(),
                            Line::Spoken(_) => NO_ANSWER,
                        },
                        None if Some(at) == newest => continue,
                        None => NO_ANSWER,
                    };
                    let (id, text) = (string::encode(id), string::encode(text));
                    out.push(format!(
                        r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#
                    ));
                }
            }
            Line::Answer { text, .. } if !answers.used.contains(&at) => {
                let text = format!("[a result whose call is not here]\n{text}");
                let text = string::encode(&text);
                out.push(format!(r#"{{"role":"user","content":{text}}}"#));
            }
            Line::Answer { .. } => {}
        }
    }
    out
}

/// Which answer belongs to which call.
#[derive(Default)]
struct Answers {
    /// Line and number of a call, and the line of its answer.
    by_call: BTreeMap<(usize, usize), usize>,
    /// Lines of answers that have a call.
    used: BTreeSet<usize>,
}

/// An answer belongs to the newest call of its id in front of it; calls of one message take turns.
fn answers(lines: &[Line]) -> Answers {
    let mut out = Answers::default();
    // By id: the line of the newest calls, and which of them are open.
    let mut open: BTreeMap<&str, (usize, VecDeque<usize>)> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::Spoken(spoken) => {
                for (n, call) in spoken.calls.iter().enumerate() {
                    let entry = open.entry(&call.id).or_insert((at, VecDeque::new()));
                    if entry.0 != at {
                        *entry = (at, VecDeque::new());
                    }
                    entry.1.push_back(n);
                }
            }
            Line::Answer { id, .. } => {
                if let Some((line, calls)) = open.get_mut(id.as_str())
                    && let Some(n) = calls.pop_front()
                {
                    out.by_call.insert((*line, n), at);
                    out.used.insert(at);
                }
            }
        }
    }
    out
}

/// Ids as the API takes them, different in one message.
#[derive(Default)]
struct Ids {
    made: usize,
}

impl Ids {
    fn of<'c>(&mut self, calls: &'c [Call]) -> Vec<(String, &'c Call)> {
        let mut seen = BTreeSet::new();
        let mut one = |call: &'c Call| {
            let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            let mut id: String = call.id.chars().filter(plain).collect();
            while id.is_empty() || !seen.insert(id.clone()) {
                id = format!("call_{}", self.made);
                self.made += 1;
            }
            (id, call)
        };
        calls.iter().map(&mut one).collect()
    }
}

fn written(spoken: &Spoken, calls: &[(String, &Call)]) -> String {
    let mut out = format!("{{\"role\":\"{}\"", spoken.role);
    if let Some(name) = &spoken.name {
        out.push_str(&format!(",\"name\":{}", string::encode(name)));
    }
    let content = match &spoken.content[..] {
        [] if !calls.is_empty() => "null".to_owned(),
        [] => "\"\"".to_owned(),
        [Content::Text(text)] => string::encode(text),
        several => {
            let parts: Vec<_> = several.iter().map(part).collect();
            format!("[{}]", parts.join(","))
        }
    };
    out.push_str(&format!(",\"content\":{content}"));
    if !spoken.reasoning.is_empty() {
        let reasoning = string::encode(&spoken.reasoning.join("\n\n"));
        out.push_str(&format!(",\"reasoning_content\":{reasoning}"));
    }
    if !calls.is_empty() {
        let calls: Vec<_> = calls
            .iter()
            .map(|(id, call)| self::call(id, call))
            .collect();
        out.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
    }
    out.push('}');
    out
}

fn part(content: &Content) -> String {
    match content {
        Content::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, string::encode(text)),
        Content::Image(url) => {
            let url = string::encode(url);
            format!(r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#)
        }
    }
}

/// Arguments are a string of JSON; what is no object goes into one.
fn call(id: &str, call: &Call) -> String {
    let arguments = object(&call.arguments).unwrap_or_else(|| match call.arguments.trim() {
        "" | "null" => "{}".to_owned(),
        text => format!("{{\"input\":{}}}", string::encode(text)),
    });
    let (id, tool) = (string::encode(id), string::encode(&call.tool));
    let arguments = string::encode(&arguments);
    format!(
        r#"{{"id":{id},"type":"function","function":{{"name":{tool},"arguments":{arguments}}}}}"#
    )
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    }
}

/// A name that the API takes.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}
