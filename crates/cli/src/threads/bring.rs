//! What a file brings: a thread that was exported, or the messages of a conversation as threads take them.

use conspectus::threads::Json;
use conspectus::wire::Target;
use conspectus::{Document, Format, OpenOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::FromFile;
use crate::fail::{Exit, Fail, io_words};
use crate::inputs::Input;
use crate::read::bytes_of;
use crate::show::plain;

/// Labels that an error lists.
const LISTED: usize = 8;

/// What a file holds.
pub(super) enum Brought {
    /// A thread with its id, as `thread export` writes one.
    Export { id: String, lines: String },
    /// Messages.
    Messages(Vec<Json>),
}

/// The file's name for people.
pub(super) fn input(from: &FromFile) -> Input {
    match from.file.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::File {
            path: from.file.clone(),
            below: from.file.clone(),
            found: false,
        },
    }
}

/// # Errors
/// When it cannot be read, or is none of both.
pub(super) fn read(from: &FromFile) -> Result<Brought, Fail> {
    let input = input(from);
    let fail = |why: &str| Fail::about(Exit::Input, input.name(), why);
    let (bytes, _) = bytes_of(&input).map_err(|why| fail(&io_words(&why)))?;
    if from.format.is_none()
        && let Some(id) = exported(&bytes)
    {
        let lines = String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8"))?;
        return Ok(Brought::Export { id, lines });
    }
    let options = OpenOptions {
        format: from.format,
        lenient: false,
    };
    let document = Document::open(bytes, &options).map_err(|why| fail(&why.to_string()))?;
    let index = chosen(&document, from.conversation.as_deref()).map_err(|why| fail(&why))?;
    let messages = messages(&document, index).map_err(|why| fail(&why))?;
    Ok(Brought::Messages(messages))
}

/// The id of the thread whose export these bytes are.
fn exported(bytes: &[u8]) -> Option<String> {
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    if !first.starts_with(b"{\"thread\":") {
        return None;
    }
    let first: Value = serde_json::from_slice(first).ok()?;
    let thread = first.get("thread")?;
    thread.get("format")?.as_u64()?;
    Some(thread.get("thread_id")?.as_str()?.to_owned())
}

fn chosen(document: &Document, label: Option<&str>) -> Result<usize, String> {
    let labels: Vec<&str> = document.conversations().iter().map(|c| c.label()).collect();
    let shown = || {
        let more = if labels.len() > LISTED { ", …" } else { "" };
        let first: Vec<String> = labels.iter().take(LISTED).map(|l| plain(l)).collect();
        format!("{}{more}", first.join(", "))
    };
    match (label, labels.len()) {
        (_, 0) => Err("there is no conversation in it".to_owned()),
        (None, 1) => Ok(0),
        (None, n) => Err(format!(
            "it holds {n} conversations; choose one with --conversation: {}",
            shown()
        )),
        (Some(label), _) => labels
            .iter()
            .position(|known| *known == label)
            .ok_or_else(|| format!("there is no conversation {label:?}; there are {}", shown())),
    }
}

/// Messages that threads understand as they are stay byte for byte; others become chat messages.
fn messages(document: &Document, index: usize) -> Result<Vec<Json>, String> {
    let conversation = &document.conversations()[index];
    match document.format() {
        Format::LangChain | Format::OpenAi | Format::Anthropic => {
            let mut all = Vec::new();
            let system = &conversation.fixed().system;
            if !system.is_empty() {
                all.push(Json::from(&json!({ "role": "system", "content": system })));
            }
            let mut last = std::ptr::null();
            for view in conversation.views() {
                let source = conversation.json_of(view.handle);
                // One message may be seen as several.
                if source.as_ptr() != last {
                    all.push(Json::parse(source).map_err(|why| why.to_string())?);
                }
                last = source.as_ptr();
            }
            Ok(all)
        }
        _ => {
            #[derive(Deserialize)]
            struct Chat {
                messages: Vec<Json>,
            }
            let written = document.convert(&[], Target::OpenAi);
            let written = written.map_err(|why| why.to_string())?;
            // One conversation alone is the whole file; several are a line each.
            let line = match document.conversations().len() {
                1 => Some(written.as_slice()),
                _ => written.split(|byte| *byte == b'\n').nth(index),
            };
            let chat: Chat = serde_json::from_slice(line.unwrap_or_default())
                .map_err(|why| format!("as chat messages: {why}"))?;
            Ok(chat.messages)
        }
    }
}

/// An id by the file's name: what no id may hold is a hyphen in it.
pub(super) fn id_of(input: &Input) -> Option<String> {
    let Input::File { path, .. } = input else {
        return None;
    };
    let stem = path.file_stem()?.to_string_lossy();
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = stem.split(|c| !is_id(c)).filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("-");
    let id: String = id.chars().take(64).collect();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_by_names() {
        let check = |path: &str, expect: Option<&str>| {
            let input = Input::File {
                path: path.into(),
                below: path.into(),
                found: false,
            };
            assert_eq!(id_of(&input).as_deref(), expect, "{path}");
        };
        check("a/openai.json", Some("openai"));
        check("My session (2).jsonl", Some("My-session-2"));
        check("日本.json", None);
        check(&format!("{}.json", "x".repeat(90)), Some(&"x".repeat(64)));
    }

    fn brought(bytes: &str, format: Option<Format>) -> Vec<Value> {
        let options = OpenOptions {
            format,
            lenient: false,
        };
        let document = Document::open(bytes.as_bytes().to_vec(), &options).expect("opens");
        let all = messages(&document, 0).expect("messages");
        all.iter()
            .map(|json| serde_json::from_str(json.as_str()).expect("JSON"))
            .collect()
    }

    #[test]
    fn messages_as_threads_take_them() {
        let openai =
            r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}"#;
        let as_they_are = serde_json::from_str::<Value>(openai).expect("JSON");
        assert_eq!(Value::from(brought(openai, None)), as_they_are["messages"]);
        let anthropic = r#"{"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
        let said = json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        ]);
        assert_eq!(
            Value::from(brought(anthropic, Some(Format::Anthropic))),
            said
        );
        let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"ho"}]}]}"#;
        let said = json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "ho"},
        ]);
        assert_eq!(Value::from(brought(gemini, Some(Format::Gemini))), said);
    }

    #[test]
    fn an_export_is_known_by_its_first_line() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(exported(text.as_bytes()).as_deref(), expect);
        };
        check(
            "{\"thread\":{\"format\":1,\"thread_id\":\"tea\"}}\n{}",
            Some("tea"),
        );
        check("{\"thread\":\"tea\"}", None);
        check("[]", None);
        check("", None);
    }
}
