//! A thread as a file of JSON lines, and a thread from such a file: the same thread, in another store.

use std::sync::Arc;

use conspectus_core::effect::{Expect, Fence, Millis, Version};
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::record::Record;
use conspectus_core::thread::{HeadChange, Known, State};
use serde::{Deserialize, Serialize};

use super::Threads;
use super::append::terms;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::info::ThreadInfo;
use super::journal;
use super::json::Json;
use super::meta::Meta;
use super::open::Much;
use super::settings::Asked;
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::{Commit, Head, NewMessage, StoredEvent, ThreadKey, Write, Written};
use crate::terms::Terms;

/// The version of the file's form.
pub(super) const EXPORT_FORMAT: u16 = 1;
/// Messages that are read, or written, at a time.
const PAGE: u64 = 500;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The first.
    Thread {
        format: u16,
        thread_id: Arc<str>,
        created_ms: Millis,
        written_ms: Millis,
        meta: Box<Meta>,
        messages: u64,
        records: u64,
    },
    Message {
        node: u64,
        id: Option<Arc<str>>,
        stored_ms: Millis,
        body: Body,
        known: Box<Known>,
    },
    Record {
        record: Arc<Record>,
    },
    Head {
        change: HeadChange,
    },
    Event {
        ms: Millis,
        event: Json,
    },
    /// The last.
    State {
        state: Option<Arc<State>>,
    },
}

/// A message byte for byte: as JSON where that gives its bytes back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Body {
    Json(Json),
    /// As a string of its own.
    Text(Arc<str>),
    Bytes(Vec<u8>),
}

impl Body {
    fn of(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self::Bytes(bytes.to_vec());
        };
        match Json::parse(text) {
            // One line is one line.
            Ok(json) if json.as_str() == text && !text.contains(['\n', '\r']) => Self::Json(json),
            _ => Self::Text(text.into()),
        }
    }

    pub(super) fn bytes(&self) -> Arc<[u8]> {
        match self {
            Self::Json(json) => json.as_str().as_bytes().into(),
            Self::Text(text) => text.as_bytes().into(),
            Self::Bytes(bytes) => bytes.as_slice().into(),
        }
    }
}

impl<C: Clock> Threads<C> {
    /// The thread as JSON lines: everything of it but its lease, partial results and previews.
    ///
    /// # Errors
    /// When there is no such thread, or it changes all the time.
    pub async fn export(&self, key: &ThreadKey) -> Result<String, ThreadsError> {
        for _ in 0..Self::TRIES {
            let head = self.head(key).await?;
            let text = self.exported(key, &head).await?;
            if self.head(key).await?.revision == head.revision {
                return Ok(text);
            }
        }
        Err(ThreadsError::Contended)
    }

    async fn exported(&self, key: &ThreadKey, head: &Head) -> Result<String, ThreadsError> {
        let mut text = String::new();
        put(
            &mut text,
            &Line::Thread {
                format: EXPORT_FORMAT,
                thread_id: key.thread.clone(),
                created_ms: head.created_ms,
                written_ms: head.written_ms,
                meta: Box::new(Meta::read(&head.meta)),
                messages: head.nodes,
                records: head.records,
            },
        );
        let mut next = 0;
        while next < head.nodes {
            let last = (next + PAGE).min(head.nodes) - 1;
            for stored in self
                .store()
                .messages(key, NodeId(next), NodeId(last))
                .await?
            {
                put(
                    &mut text,
                    &Line::Message {
                        node: stored.node.0,
                        id: stored.message.native_id,
                        stored_ms: stored.stored_ms,
                        body: Body::of(&stored.message.bytes),
                        known: Box::new(stored.message.known),
                    },
                );
            }
            next = last + 1;
        }
        if let Some(last) = head.records.checked_sub(1) {
            for record in self
                .store()
                .records(key, RecordId(0), RecordId(last))
                .await?
            {
                put(&mut text, &Line::Record { record });
            }
        }
        for change in self.store().head_log(key).await? {
            put(&mut text, &Line::Head { change });
        }
        let mut after = 0;
        loop {
            let events = self.store().events(key, after, 500).await?;
            let Some(last) = events.last() else {
                break;
            };
            after = last.seq;
            for StoredEvent { ms, event, .. } in events {
                put(
                    &mut text,
                    &Line::Event {
                        ms,
                        event: Json::trusted(event),
                    },
                );
            }
        }
        put(
            &mut text,
            &Line::State {
                state: head.state.clone(),
            },
        );
        Ok(text)
    }

    /// Makes a thread from an export, or from the history of another program's thread (`threads/journal.rs`).
    /// Times and message numbers are those of the file.
    ///
    /// # Errors
    /// When there is a thread of that name, or the file is no whole export; then no thread is left.
    pub async fn import(&self, key: &ThreadKey, export: &str) -> Result<ThreadInfo, ThreadsError> {
        // A policy of its own that cannot work here is found before anything is made.
        let read = if journal::is_journal(export) {
            let run = self
                .settings()
                .run(&journal::meta(export)?, &Asked::default())?;
            journal::replay(export, &run)?
        } else {
            let read = Imported::read(export)?;
            self.settings().run(&read.meta, &Asked::default())?;
            read
        };
        let meta = read.meta.to_text();
        if !self.store().create(key, &meta, read.created_ms).await? {
            return Err(ThreadsError::Exists(key.thread.clone()));
        }
        match self.fill(key, read).await {
            Ok(()) => self.get(key).await,
            Err(why) => {
                let _ = self.store().delete(key).await;
                Err(why)
            }
        }
    }

    async fn fill(&self, key: &ThreadKey, read: Imported) -> Result<(), ThreadsError> {
        let mut revision = self.head(key).await?.revision;
        let mut from = 0;
        for (ms, messages) in read.in_writes() {
            let search = found_by(&messages, from);
            from += messages.len() as u64;
            let write = Write {
                messages,
                search,
                now: ms,
                ..Write::default()
            };
            revision = self.put(key, revision, write).await?;
        }
        let mut version = Version::default();
        for (nth, record) in (1..).zip(&read.records) {
            let state = read
                .state
                .as_ref()
                .ok_or_else(|| bad(read.lines, "there are records without a state"))?;
            let state = state.with_records(nth);
            let expect = Expect {
                version,
                fence: Fence::default(),
            };
            version = state.version();
            let write = Write {
                state: Some(Arc::new(state)),
                commit: Some(Commit {
                    record: record.clone(),
                    expect,
                }),
                now: read.written_ms,
                ..Write::default()
            };
            revision = self.put(key, revision, write).await?;
        }
        for (ms, event) in &read.events {
            self.store().emit(key, event.as_str(), *ms).await?;
        }
        let write = Write {
            moved: read.log,
            state: read.state,
            events: vec![ThreadEvent::Imported.to_text()],
            now: read.written_ms,
            ..Write::default()
        };
        self.put(key, revision, write).await?;
        // What cannot be opened is not kept.
        self.open(key, Much::Whole, &Asked::default()).await?;
        Ok(())
    }

    async fn put(&self, key: &ThreadKey, revision: u64, write: Write) -> Result<u64, ThreadsError> {
        match self.write(key, Write { revision, ..write }).await? {
            Written::Done(revision) => Ok(revision),
            _ => Err(ThreadsError::Contended),
        }
    }
}

/// An export, read.
pub(super) struct Imported {
    pub(super) created_ms: Millis,
    pub(super) written_ms: Millis,
    pub(super) meta: Meta,
    pub(super) messages: Vec<(Millis, NewMessage)>,
    pub(super) records: Vec<Arc<Record>>,
    pub(super) log: Vec<HeadChange>,
    pub(super) events: Vec<(Millis, Json)>,
    pub(super) state: Option<Arc<State>>,
    pub(super) lines: usize,
}

impl Imported {
    fn read(export: &str) -> Result<Self, ThreadsError> {
        let mut lines = (1..)
            .zip(export.lines())
            .filter(|(_, text)| !text.trim().is_empty());
        let parse = |line: usize, text: &str| {
            serde_json::from_str::<Line>(text).map_err(|why| bad(line, &why.to_string()))
        };
        let (line, first) = lines.next().ok_or_else(|| bad(1, "the file is empty"))?;
        let Line::Thread {
            format,
            created_ms,
            written_ms,
            meta,
            messages,
            records,
            ..
        } = parse(line, first)?
        else {
            return Err(bad(line, "an export begins with the line of its thread"));
        };
        if format > EXPORT_FORMAT {
            return Err(bad(line, "it is of a newer version; update conspectus"));
        }
        let mut read = Self {
            created_ms,
            written_ms,
            meta: *meta,
            messages: Vec::new(),
            records: Vec::new(),
            log: Vec::new(),
            events: Vec::new(),
            state: None,
            lines: line,
        };
        let mut is_whole = false;
        for (line, text) in lines {
            read.lines = line;
            if is_whole {
                return Err(bad(line, "something stands behind the last line"));
            }
            match parse(line, text)? {
                Line::Thread { .. } => return Err(bad(line, "a second thread begins")),
                Line::Message {
                    node,
                    id,
                    stored_ms,
                    body,
                    known,
                } => {
                    if node != read.messages.len() as u64 {
                        return Err(bad(line, "messages are missing before it"));
                    }
                    let message = NewMessage {
                        bytes: body.bytes(),
                        native_id: id,
                        known: *known,
                    };
                    read.messages.push((stored_ms, message));
                }
                Line::Record { record } => read.records.push(record),
                Line::Head { change } => read.log.push(change),
                Line::Event { ms, event } => read.events.push((ms, event)),
                Line::State { state } => {
                    read.state = state;
                    is_whole = true;
                }
            }
        }
        let counts = (read.messages.len() as u64, read.records.len() as u64);
        if !is_whole || counts != (messages, records) {
            return Err(bad(read.lines, "the file ends too early"));
        }
        Ok(read)
    }

    /// The messages in writes: those that were stored at one time together.
    fn in_writes(&self) -> Vec<(Millis, Vec<NewMessage>)> {
        let mut writes: Vec<(Millis, Vec<NewMessage>)> = Vec::new();
        for (ms, message) in &self.messages {
            match writes.last_mut() {
                Some((at, together)) if at == ms && (together.len() as u64) < PAGE => {
                    together.push(message.clone());
                }
                _ => writes.push((*ms, vec![message.clone()])),
            }
        }
        writes
    }
}

fn found_by(messages: &[NewMessage], from: u64) -> Vec<(NodeId, Terms)> {
    let mut shelf = Shelf::default();
    for (node, message) in (from..).map(NodeId).zip(messages) {
        shelf.put(node, message.bytes.clone(), message.native_id.clone());
    }
    terms(messages, from, &shelf)
}

fn put(text: &mut String, line: &Line) {
    let json = serde_json::to_string(line).expect("what was read from a store can be written");
    text.push_str(&json);
    text.push('\n');
}

pub(super) fn bad(line: usize, what: &str) -> ThreadsError {
    ThreadsError::BadExport {
        line,
        what: what.to_owned(),
    }
}
