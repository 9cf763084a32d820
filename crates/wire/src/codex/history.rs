//! What the model sees: the items since the newest compaction that counts, behind what that put in their place.
//!
//! A compaction begins a new history and leaves the old one alone, so taking turns back, across it too, is going
//! back to a place that was remembered when the turn began.

use conspectus_core::view::Usage;

use super::context;
use super::record::{Record, RecordKind};
use super::report::Reports;
use crate::json::{Kind, Object, Span};

/// One item in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Line in the file, from 1.
    pub(super) line: usize,
    /// Its JSON: an object, or the string that a summary is.
    pub(super) span: Span,
    /// It is the summary of a compaction, by its place.
    pub(super) is_summary: bool,
    /// What the provider reported for the reply that it is the last item of.
    pub(super) usage: Option<Usage>,
}

/// Bytes of the user's messages that a compaction without a history of its own kept, newest first; the client
/// counts 20,000 tokens of four bytes.
const USER_BYTES: usize = 80_000;

/// The items in sight, in order.
pub(super) fn in_sight(text: &str, records: &[Record]) -> Vec<Item> {
    let mut replay = Replay {
        text,
        histories: vec![Vec::new()],
        turns: Vec::new(),
        begun: None,
        reports: Reports::default(),
    };
    for record in records {
        match record.kind {
            RecordKind::Item(span) => replay.item(record.line, span),
            RecordKind::Compacted(payload) => replay.compacted(record.line, payload),
            RecordKind::TaskStarted => replay.begun = Some(replay.place()),
            RecordKind::RolledBack { turns } => replay.roll_back(turns),
            RecordKind::TokenCount(payload) => {
                replay
                    .reports
                    .report(text, payload, replay.histories.last_mut());
            }
            RecordKind::Meta(_)
            | RecordKind::TurnContext
            | RecordKind::WorldState { .. }
            | RecordKind::Other => {}
        }
    }
    replay.reports.settle(replay.histories.last_mut());
    replay.histories.pop().unwrap_or_default()
}

/// A history and how long it was.
type Place = (usize, usize);

struct Replay<'a> {
    text: &'a str,
    /// One for each compaction, and the first.
    histories: Vec<Vec<Item>>,
    /// For each turn of the user: where it began, and where the user's message stands.
    turns: Vec<(Place, Place)>,
    /// Where the turn began that has no message of the user yet.
    begun: Option<Place>,
    reports: Reports,
}

impl Replay<'_> {
    fn place(&self) -> Place {
        let last = self.histories.len() - 1;
        (last, self.histories[last].len())
    }

    fn item(&mut self, line: usize, span: Span) {
        let item = Object::of(span.text(self.text)).unwrap_or_default();
        let kind = item.string("type");
        // A snapshot of the working copy, never sent.
        if kind.as_deref() == Some("ghost_snapshot") {
            return;
        }
        if context::is_request(&item) {
            let here = self.place();
            self.turns.push((self.begun.take().unwrap_or(here), here));
        }
        let is_reply = context::is_of_model(&item);
        let at = self.place().1;
        self.reports.item(is_reply, at, self.histories.last_mut());
        if let Some(history) = self.histories.last_mut() {
            history.push(Item {
                line,
                span,
                is_summary: false,
                usage: None,
            });
        }
    }

    fn compacted(&mut self, line: usize, payload: Span) {
        self.reports.forget();
        let payload = Object::of(payload.text(self.text)).unwrap_or_default();
        let item = |json: &str, is_summary: bool| Item {
            line,
            span: Span::of(self.text, json),
            is_summary,
            usage: None,
        };
        let next = match payload.array("replacement_history") {
            Some(list) => list.0.iter().map(|json| item(json, false)).collect(),
            None => {
                let summary = payload.value("message");
                let summary = summary.filter(|m| Kind::of(m) == Kind::String && *m != "\"\"");
                let mut kept = self.what_users_said();
                kept.extend(summary.map(|message| item(message, true)));
                kept
            }
        };
        self.histories.push(next);
    }

    /// The beginning and the user's own messages: what a compaction kept that does not say it itself.
    fn what_users_said(&self) -> Vec<Item> {
        let history = self.histories.last().map_or(&[][..], Vec::as_slice);
        let object = |item: &Item| Object::of(item.span.text(self.text)).unwrap_or_default();
        let beginning = history
            .iter()
            .take_while(|item| !item.is_summary && context::is_context(&object(item)));
        let mut kept: Vec<Item> = beginning.cloned().collect();
        let mut bytes = 0;
        let mut users: Vec<Item> = Vec::new();
        for item in history[kept.len()..].iter().rev() {
            if item.is_summary || !context::is_request(&object(item)) {
                continue;
            }
            users.push(item.clone());
            bytes += item.span.len();
            if bytes >= USER_BYTES {
                break;
            }
        }
        kept.extend(users.into_iter().rev());
        for item in &mut kept {
            item.usage = None;
        }
        kept
    }

    /// The turn before all others has nothing to go back to but what was told before its message.
    fn roll_back(&mut self, turns: u64) {
        if turns == 0 || self.turns.is_empty() {
            return;
        }
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let first = self.turns.len().saturating_sub(turns);
        let (begun, said) = self.turns[first];
        let (history, len) = if first == 0 { said } else { begun };
        self.turns.truncate(first);
        self.histories.truncate(history + 1);
        if let Some(history) = self.histories.last_mut() {
            history.truncate(len);
        }
        self.begun = None;
        self.reports.forget();
    }
}
