//! Every real conversation that we have, sent as a growing request: below the trigger byte for byte, above it valid.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conspectus::wire::{Target, valid};
use conspectus::{Document, Format, OpenOptions};
use conspectus_store::MemoryStore;
use conspectus_testkit::server::HttpServer;
use conspectus_testkit::shared;

use crate::support::{Rig, chat_reply, window};

/// A conversation as requests would hold it.
struct Sent {
    format: Format,
    messages: Vec<String>,
    /// Where a request ends: behind what a person asked, or at the end.
    ends: Vec<usize>,
}

impl Sent {
    fn body(&self, count: usize) -> String {
        let list = self.messages[..count].join(",");
        match self.format {
            Format::Anthropic => {
                format!(
                    r#"{{"model":"m","max_tokens":100,"tools":[{{"name":"t","input_schema":{{"type":"object"}}}}],"messages":[{list}]}}"#
                )
            }
            Format::Responses => format!(r#"{{"model":"m","input":[{list}]}}"#),
            _ => format!(r#"{{"model":"m","messages":[{list}]}}"#),
        }
    }

    fn path(&self) -> &'static str {
        match self.format {
            Format::Anthropic => "/v1/messages",
            Format::Responses => "/v1/responses",
            _ => "/v1/chat/completions",
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    files: u32,
    conversations: u32,
    requests: u32,
    untouched: u32,
    rewritten: u32,
    bytes: (usize, usize),
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => files(&path, out),
            Some("json" | "jsonl" | "traj") => out.push(path),
            _ => {}
        }
    }
}

fn opened(bytes: Vec<u8>, format: Option<Format>) -> Option<Document> {
    let options = OpenOptions {
        format,
        lenient: false,
    };
    Document::open(bytes, &options).ok()
}

/// The conversations of a file, in a format of requests.
fn conversations(path: &Path) -> Vec<Sent> {
    let Ok(bytes) = std::fs::read(path) else {
        return Vec::new();
    };
    let Some(mut document) = opened(bytes, None) else {
        return Vec::new();
    };
    let mut format = document.format();
    if ![Format::OpenAi, Format::Anthropic, Format::Responses].contains(&format) {
        let Ok(chat) = document.convert(&[], Target::OpenAi) else {
            return Vec::new();
        };
        format = Format::OpenAi;
        match opened(chat, Some(format)) {
            Some(chat) => document = chat,
            None => return Vec::new(),
        }
    }
    let all = document.conversations().iter().map(|conversation| {
        let views = conversation.views();
        let messages = views
            .iter()
            .map(|view| conversation.json_of(view.handle).to_owned());
        let count = views.len();
        let asked = |at: &usize| views.get(at - 1).is_some_and(|view| view.is_user_request());
        let mut ends: Vec<usize> = (1..=4)
            .filter_map(|quarter| (count * quarter / 5..count).find(|at| *at > 0 && asked(at)))
            .collect();
        ends.push(count);
        ends.dedup();
        Sent {
            format,
            messages: messages.collect(),
            ends,
        }
    });
    all.filter(|sent| !sent.messages.is_empty()).collect()
}

/// The rules that a body breaks.
fn broken(format: Format, body: &str) -> Vec<valid::Rule> {
    let faults = valid::check(format, body.as_bytes());
    faults.iter().map(|fault| fault.rule).collect()
}

#[test]
fn real_conversations() {
    let Some(data) = shared::path("data") else {
        println!("shared data not found, the real conversations are left out");
        return;
    };
    let mut all = Vec::new();
    files(&data, &mut all);
    all.sort();
    let mut tally = Tally::default();
    for path in all {
        let sent = conversations(&path);
        if sent.is_empty() {
            continue;
        }
        tally.files += 1;
        for conversation in &sent {
            one(&path, conversation, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.rewritten > 100 && tally.untouched > 100, "{tally:?}");
}

fn one(path: &Path, sent: &Sent, tally: &mut Tally) {
    let store = Arc::new(MemoryStore::default());
    let rig = Rig::on(HttpServer::always(chat_reply("fine")), store, |s| {
        s.options = window(6_000);
    });
    tally.conversations += 1;
    for end in &sent.ends {
        let body = sent.body(*end);
        let reply = rig.post(sent.path(), &[], &body);
        assert_eq!(reply.status, 200);
        let up = rig.newest().body;
        let outcome = reply.header("x-conspectus-outcome").to_owned();
        tally.requests += 1;
        match outcome.as_str() {
            "compacted" | "applied" => {
                let (was, is) = (broken(sent.format, &body), broken(sent.format, &up));
                let new: Vec<_> = is.iter().filter(|rule| !was.contains(rule)).collect();
                assert!(new.is_empty(), "{}: {new:?}", path.display());
                assert!(up.len() < body.len());
                tally.rewritten += 1;
                tally.bytes.0 += body.len();
                tally.bytes.1 += up.len();
            }
            "untouched" | "passed" => {
                assert_eq!(up, body, "{}", path.display());
                tally.untouched += 1;
            }
            other => panic!(
                "{}: {other} {:?}",
                path.display(),
                rig.lines.lock().expect("lines")
            ),
        }
    }
}
