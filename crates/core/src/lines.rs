//! A conversation in memory for the core's own tests: messages written as short lines.
//!
//! `s text`, `u text`, `a text`, `a call ID [call ID …]`, `t ID text`, `t ID text ID text` with two answers,
//! `-` for a missing id. Words `pin`, `reminder`, `hidden`, `summary`, `partial`, `replyN`, `signed`,
//! `opaque`, `x100` (repeat the text) change the message they stand in.

use std::borrow::Cow;

use crate::id::{CallId, Handle, Ident, ReplyId};
use crate::view::{MessageView, Part, PartKind, PartRef, Role, Texts};

#[derive(Clone)]
pub(crate) struct Conversation {
    views: Vec<MessageView>,
    texts: Vec<Vec<String>>,
}

impl Conversation {
    pub(crate) fn parse(lines: &[&str]) -> Self {
        let mut all = Self {
            views: Vec::new(),
            texts: Vec::new(),
        };
        lines.iter().for_each(|line| all.push(line));
        all
    }

    pub(crate) fn push(&mut self, line: &str) {
        let handle = Handle(u32::try_from(self.views.len()).unwrap());
        let (view, texts) = message(handle, line);
        self.views.push(view);
        self.texts.push(texts);
    }

    pub(crate) fn views(&self) -> &[MessageView] {
        &self.views
    }
}

impl Texts for Conversation {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let parts = self.texts.get(at.message.0 as usize);
        Cow::Borrowed(
            parts
                .and_then(|p| p.get(usize::from(at.part)))
                .map_or("", String::as_str),
        )
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        Some(self.text(at))
    }
}

fn id(word: &str) -> CallId {
    CallId::from(if word == "-" { "" } else { word })
}

/// One message from a line.
pub(crate) fn message(handle: Handle, line: &str) -> (MessageView, Vec<String>) {
    let mut words = line.split_whitespace();
    let role = match words.next() {
        Some("s") => Role::System,
        Some("u") => Role::User,
        Some("a") => Role::Assistant,
        _ => Role::Tool,
    };
    let mut view = MessageView::new(
        handle,
        role,
        Vec::new(),
        Ident::of(&format!("{}{line}", handle.0)),
    );
    let mut texts: Vec<String> = Vec::new();
    let mut say = String::new();
    let mut repeat = 1;
    let mut signed = false;
    let mut add = |view: &mut MessageView, kind, text: String| {
        view.parts.push(Part::new(kind, text.len()));
        texts.push(text);
    };
    let mut rest = words.peekable();
    while let Some(word) = rest.next() {
        match word {
            "pin" => view.flags.pinned = true,
            "reminder" => view.flags.reminder = true,
            "hidden" => view.flags.hidden = true,
            "summary" => view.flags.summary = true,
            "partial" => view.flags.partial = true,
            "signed" => signed = true,
            "opaque" => add(
                &mut view,
                PartKind::Opaque { label: "x".into() },
                "?".into(),
            ),
            "call" => {
                let id = id(rest.next().unwrap());
                add(
                    &mut view,
                    PartKind::Call {
                        id,
                        tool: "look".into(),
                    },
                    r#"{"at":"box"}"#.into(),
                );
            }
            word if word.starts_with("reply") => view.reply = word[5..].parse().ok().map(ReplyId),
            word if word.starts_with('x') && word[1..].parse::<usize>().is_ok() => {
                repeat = word[1..].parse().unwrap()
            }
            word if role == Role::Tool && (word == "-" || word.starts_with('c')) => {
                let text = rest.next().unwrap_or("").to_owned();
                add(
                    &mut view,
                    PartKind::Result {
                        id: id(word),
                        tool: None,
                        error: false,
                    },
                    text,
                );
            }
            word => say += &format!("{word} "),
        }
    }
    if signed {
        add(
            &mut view,
            PartKind::Reasoning { bound: true },
            "thinking".into(),
        );
    }
    if !say.is_empty() {
        add(&mut view, PartKind::Text, say.trim().repeat(repeat));
    } else if repeat > 1 && !texts.is_empty() {
        let last = texts.len() - 1;
        texts[last] = texts[last].repeat(repeat);
        view.parts[last].len = u32::try_from(texts[last].len()).unwrap();
    }
    (view, texts)
}

/// A counter for tests: a quarter of the bytes of every text, and 4 a message.
#[derive(Clone, Copy)]
pub(crate) struct QuarterBytes;

impl crate::count::TokenCounter for QuarterBytes {
    fn id(&self) -> crate::count::CounterId {
        crate::count::CounterId(900)
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> u64 {
        let part = |i: usize| {
            texts
                .text(PartRef {
                    message: message.handle,
                    part: u16::try_from(i).unwrap(),
                })
                .len()
        };
        (0..message.parts.len()).map(part).sum::<usize>() as u64 + 16
    }

    fn text(&self, text: &str) -> u64 {
        text.len() as u64
    }

    fn added_message(&self, text: &str) -> u64 {
        text.len() as u64 + 16
    }

    fn tokens(&self, weight: u64) -> u64 {
        weight.div_ceil(4)
    }
}
