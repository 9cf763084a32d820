//! A host whose messages are JSON, `{"role": .., "content": ..}`: it lives on what is stored and on nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus::purge::Surface;
use conspectus::store::{Commit, NewMessage, StoredMessage, ThreadKey, ThreadStore, Write, whole};
use conspectus::terms::Terms;
use conspectus::{Decision, Embedded, Sources, Thread, drive};
use conspectus_core::count::Estimator;
use conspectus_core::id::{Handle, Ident, NodeId};
use conspectus_core::thread::{Known, Manual};
use conspectus_core::view::{MessageView, Part, PartKind, PartRef, Role, Texts};

use crate::support::{now, policy};

/// How they are read.
pub(crate) struct Chat;

pub(crate) fn read(bytes: &[u8]) -> Option<(Role, String)> {
    let json: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let role = match json.get("role")?.as_str()? {
        "user" => Role::User,
        _ => Role::Assistant,
    };
    Some((role, json.get("content")?.as_str()?.to_owned()))
}

impl Surface for Chat {
    fn view(&self, node: NodeId, bytes: &[u8]) -> Option<MessageView> {
        let (role, content) = read(bytes)?;
        let part = Part::new(PartKind::Text, content.len());
        let handle = Handle(u32::try_from(node.0).ok()?);
        Some(MessageView::new(
            handle,
            role,
            vec![part],
            Ident::of(&content),
        ))
    }

    fn texts<'a>(&'a self, messages: &'a [StoredMessage]) -> Box<dyn Texts + 'a> {
        let content = |m: &StoredMessage| {
            let (_, content) = read(&m.message.bytes).unwrap_or((Role::User, String::new()));
            (m.message.known.view.handle, content)
        };
        Box::new(Contents(messages.iter().map(content).collect()))
    }
}

struct Contents(BTreeMap<Handle, String>);

impl Texts for Contents {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        Cow::Borrowed(self.0.get(&at.message).map_or("", String::as_str))
    }

    fn json(&self, _: PartRef) -> Option<Cow<'_, str>> {
        None
    }
}

/// A thread as it is stored, with its messages and revision.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) thread: Thread,
    pub(crate) messages: Vec<StoredMessage>,
    pub(crate) revision: u64,
}

pub(crate) fn open(store: &dyn ThreadStore, key: &ThreadKey) -> Opened {
    let Some(read) = now(whole(store, key)).expect("read") else {
        return Opened::new();
    };
    let texts = Chat.texts(&read.messages);
    let src = Sources {
        texts: texts.as_ref(),
        counter: &Estimator,
    };
    let thread = Thread::restore(policy(), read.state, read.stored, src).expect("restored");
    Opened {
        thread,
        messages: read.messages.clone(),
        revision: read.head.revision,
    }
}

impl Opened {
    pub(crate) fn new() -> Self {
        Self {
            thread: Thread::new(policy()),
            messages: Vec::new(),
            revision: 0,
        }
    }

    /// What says something more. The thread has it then.
    pub(crate) fn say(&mut self, role: &str, content: &str) -> Write {
        let node = NodeId(self.messages.len() as u64);
        let bytes = serde_json::json!({"role": role, "content": content}).to_string();
        let view = Chat.view(node, bytes.as_bytes()).expect("a message");
        let known = Known {
            parent: None,
            prefix: Ident::EMPTY,
            view: Arc::new(view.clone()),
            weight: None,
            report: None,
        };
        self.messages.push(StoredMessage {
            node,
            message: NewMessage {
                bytes: bytes.into_bytes().into(),
                native_id: None,
                known,
            },
            cumulative: 0,
            stored_ms: 0,
        });
        self.with(|thread, src| thread.append([view], src));
        let stored = self.messages.last_mut().expect("just added");
        stored.message.known = self.thread.known(node).expect("appended");
        Write {
            messages: vec![stored.message.clone()],
            search: vec![(node, Terms::of(content))],
            ..self.written()
        }
    }

    /// What a compaction writes, if there is one to be made.
    pub(crate) fn compact(&mut self) -> Option<Write> {
        let (expect, rows) = (self.thread.expect(), self.thread.head_log().len());
        let before = self.thread.records().len();
        self.with(|thread, src| {
            if let Decision::Start(attempt, _) = thread.manual(5, &Manual::default(), src) {
                drive(thread, *attempt, src, &mut Embedded::default());
            }
        });
        let record = self.thread.records().get(before)?.clone();
        Some(Write {
            moved: self.thread.head_log()[rows..].to_vec(),
            commit: Some(Commit { record, expect }),
            ..self.written()
        })
    }

    /// What a change of the head writes.
    pub(crate) fn moved(&mut self, f: impl FnOnce(&mut Thread, Sources<'_>)) -> Write {
        let rows = self.thread.head_log().len();
        self.with(f);
        Write {
            moved: self.thread.head_log()[rows..].to_vec(),
            ..self.written()
        }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Thread, Sources<'_>) -> T) -> T {
        let texts = Chat.texts(&self.messages);
        let src = Sources {
            texts: texts.as_ref(),
            counter: &Estimator,
        };
        f(&mut self.thread, src)
    }

    fn written(&self) -> Write {
        Write {
            revision: self.revision,
            state: Some(Arc::new(self.thread.state())),
            now: 1,
            ..Write::default()
        }
    }
}
