//! A thread as the history of another program's thread: messages, moves and summaries in the order in which they happened.
//! Whoever brings threads from elsewhere writes this, and need know nothing of what a thread of ours is made of.
//!
//! JSON lines, taken wherever an export is:
//!
//! | line | |
//! |---|---|
//! | `{"thread": {"format": 1, "journal": true, "thread_id": …, "created_ms": …, "meta": {"format": 1, "title": …, "metadata": {…}}}}` | the first |
//! | `{"message": {"id": …, "stored_ms": …, "body": {"json": {…}}}}` | a message behind the one before; numbered from 0, over all branches |
//! | `{"move": {"to": 3}}` | what follows goes on behind that message; `null`: from the start |
//! | `{"fold": {"nodes": [[0, 7]], "summary": "…"}}` | that text stands for these messages of the branch, both ends included, and for those that were folded before |
//! | `{"end": {"messages": 9}}` | the last |

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::NodeId;
use conspectus_core::thread::{Sources, Thread};
use serde::Deserialize;

use super::export::{Body, EXPORT_FORMAT, Imported, bad};
use super::json::Json;
use super::message::{made_id, placed, read_all};
use super::meta::Meta;
use super::open::new_message;
use super::settings::Run;
use super::shelf::Shelf;
use super::skills;
use crate::store::NewMessage;

use super::error::ThreadsError;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Thread {
        format: u16,
        created_ms: Millis,
        meta: Box<Meta>,
    },
    Message {
        id: Option<Arc<str>>,
        stored_ms: Millis,
        body: Body,
    },
    Move {
        to: Option<NodeId>,
    },
    Fold {
        nodes: Vec<(NodeId, NodeId)>,
        summary: Box<str>,
    },
    End {
        messages: u64,
    },
}

/// Whether this is the history of a thread, not an export.
pub(super) fn is_journal(export: &str) -> bool {
    #[derive(Deserialize)]
    struct First {
        thread: Head,
    }
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        journal: bool,
    }
    let first = export.lines().find(|line| !line.trim().is_empty());
    let first = first.and_then(|line| serde_json::from_str::<First>(line).ok());
    first.is_some_and(|first| first.thread.journal)
}

/// What is kept with the thread, before anything of it is read.
pub(super) fn meta(export: &str) -> Result<Meta, ThreadsError> {
    let mut lines = numbered(export);
    let (line, first) = lines.next().ok_or_else(|| bad(1, "the file is empty"))?;
    match parse(line, first)? {
        Line::Thread { format, .. } if format > EXPORT_FORMAT => {
            Err(bad(line, "it is of a newer version; update conspectus"))
        }
        Line::Thread { meta, .. } => Ok(*meta),
        _ => Err(bad(line, "a journal begins with the line of its thread")),
    }
}

/// The thread that this history leads to.
///
/// # Errors
/// The first line that is none, or that cannot have happened.
pub(super) fn replay(export: &str, run: &Run) -> Result<Imported, ThreadsError> {
    let mut replayed = Replayed {
        thread: Thread::new(run.policy.clone()),
        shelf: Shelf::default(),
        messages: Vec::new(),
        meta: Meta::default(),
        created_ms: 0,
    };
    let mut last = 1;
    let mut is_whole = false;
    for (line, text) in numbered(export) {
        last = line;
        if is_whole {
            return Err(bad(line, "something stands behind the last line"));
        }
        match parse(line, text)? {
            Line::Thread {
                created_ms, meta, ..
            } => {
                replayed.created_ms = created_ms;
                replayed.meta = *meta;
            }
            Line::Message {
                id,
                stored_ms,
                body,
            } => replayed.append(line, id, stored_ms, &body, run)?,
            Line::Move { to } => replayed.go(line, to, run)?,
            Line::Fold { nodes, summary } => replayed.fold(line, &nodes, &summary, run)?,
            Line::End { messages } => {
                is_whole = messages == replayed.messages.len() as u64;
                if !is_whole {
                    return Err(bad(line, "messages are missing before it"));
                }
            }
        }
    }
    match is_whole {
        true => Ok(replayed.into_imported(last, run)),
        false => Err(bad(last, "the file ends too early")),
    }
}

struct Replayed {
    thread: Thread,
    shelf: Shelf,
    messages: Vec<(Millis, NewMessage)>,
    meta: Meta,
    created_ms: Millis,
}

impl Replayed {
    fn append(
        &mut self,
        line: usize,
        id: Option<Arc<str>>,
        stored_ms: Millis,
        body: &Body,
        run: &Run,
    ) -> Result<(), ThreadsError> {
        let bytes = body.bytes();
        let text = std::str::from_utf8(&bytes).map_err(|_| bad(line, "it is not UTF-8"))?;
        let json = Json::parse(text).map_err(|why| bad(line, &why.to_string()))?;
        let read = read_all(std::slice::from_ref(&json));
        let mut read = read.map_err(|why| bad(line, &why.to_string()))?;
        let message = read.pop().expect("one was read");
        skills::note(&mut self.meta.skills, &json);
        let node = NodeId(self.messages.len() as u64);
        let bytes: Arc<[u8]> = json.as_str().as_bytes().into();
        let id = id.or(message.id);
        self.shelf.put(node, bytes.clone(), id.clone());
        let src = sources(&self.shelf, run);
        self.thread.append([placed(&message.view, node)], src);
        let id = id.unwrap_or_else(|| made_id(self.thread.branch().prefix(), node));
        self.shelf.name(node, id.clone());
        let message = new_message(&self.thread, node, bytes, id);
        self.messages.push((stored_ms, message));
        Ok(())
    }

    fn go(&mut self, line: usize, to: Option<NodeId>, run: &Run) -> Result<(), ThreadsError> {
        let here = self.thread.branch().head();
        let is_told = |row: &conspectus_core::thread::HeadChange| row.head == here;
        let src = sources(&self.shelf, run);
        if here.is_some() && !self.thread.head_log().last().is_some_and(is_told) {
            // The log tells of the state that is left, too.
            self.thread.move_head(here, src);
        }
        match self.thread.move_head(to, src) {
            true => Ok(()),
            false => Err(bad(line, "there is no such message before it")),
        }
    }

    fn fold(
        &mut self,
        line: usize,
        nodes: &[(NodeId, NodeId)],
        summary: &str,
        run: &Run,
    ) -> Result<(), ThreadsError> {
        let count = self.messages.len() as u64;
        if nodes.iter().any(|(a, b)| a > b || b.0 >= count) {
            return Err(bad(line, "there are no such messages before it"));
        }
        let ends: BTreeMap<NodeId, NodeId> = nodes.iter().copied().collect();
        let is_in = |node: NodeId| {
            let before = ends.range(..=node).next_back();
            before.is_some_and(|(_, end)| node <= *end)
        };
        let src = sources(&self.shelf, run);
        // Where all of it must stay here, nothing is lost without the summary.
        self.thread.adopt(&is_in, summary, src);
        Ok(())
    }

    fn into_imported(mut self, lines: usize, run: &Run) -> Imported {
        // What is known of a message may have changed since it came: its weight, where another branch went on.
        for (node, (_, message)) in (0..).map(NodeId).zip(&mut self.messages) {
            message.known = self.thread.known(node).expect("it was appended");
        }
        self.meta.counter = Some(run.counter.id());
        let times = self.messages.iter().map(|(ms, _)| *ms);
        Imported {
            created_ms: self.created_ms,
            written_ms: times.max().unwrap_or(self.created_ms),
            meta: self.meta,
            messages: self.messages,
            records: self.thread.records().to_vec(),
            log: self.thread.head_log().to_vec(),
            events: Vec::new(),
            state: Some(Arc::new(self.thread.state())),
            lines,
        }
    }
}

fn sources<'a>(shelf: &'a Shelf, run: &'a Run) -> Sources<'a> {
    Sources {
        texts: shelf,
        counter: run.counter.as_ref(),
    }
}

fn numbered(export: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(export.lines());
    lines.filter(|(_, text)| !text.trim().is_empty())
}

fn parse(line: usize, text: &str) -> Result<Line, ThreadsError> {
    serde_json::from_str(text).map_err(|why| bad(line, &why.to_string()))
}
