//! Which entries the model sees.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::{Object, Span};
use crate::source::Source;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its record.
    pub(super) span: Span,
    /// It was kept by a compaction that came later.
    pub(super) is_before_compaction: bool,
}

impl Entry {
    pub(super) fn of(span: Span) -> Self {
        Self {
            span,
            is_before_compaction: false,
        }
    }
}

/// What is in sight.
pub(super) struct Seen {
    /// In order; a summary stands where the model reads it.
    pub(super) entries: Vec<Entry>,
}

/// The entries of the newest branch, after its newest compaction.
pub(super) fn in_sight(source: &Source, records: &[Span]) -> Seen {
    let text = source.text();
    let branch = branch(text, records);
    let record = |span: &Span| Object::of(span.text(text)).unwrap_or_default();
    let newest = branch
        .iter()
        .rposition(|span| record(span).string("type").as_deref() == Some("compaction"));
    let Some(at) = newest else {
        return Seen {
            entries: branch.into_iter().map(Entry::of).collect(),
        };
    };
    let compaction = record(&branch[at]);
    let first = match (
        compaction.string("firstKeptEntryId"),
        compaction.number("firstKeptEntryIndex"),
    ) {
        (Some(id), _) => branch[..at]
            .iter()
            .position(|span| record(span).string("id").as_deref() == Some(&*id)),
        (None, Some(index)) => branch[..at].iter().position(|span| {
            let line = source.line(span.start).saturating_sub(1);
            line as u64 >= index
        }),
        (None, None) => None,
    };
    let kept = &branch[first.unwrap_or(at)..at];
    let kept = kept.iter().filter(|span| {
        // An older summary is part of the new one.
        record(span).string("type").as_deref() != Some("compaction")
    });
    let kept = kept.map(|span| Entry {
        span: *span,
        is_before_compaction: true,
    });
    let mut entries = vec![Entry::of(branch[at])];
    entries.extend(kept);
    entries.extend(branch[at + 1..].iter().copied().map(Entry::of));
    Seen { entries }
}

/// Whether anything here is an entry.
pub(super) fn has_entries(text: &str, records: &[Span]) -> bool {
    records.iter().any(|span| {
        let kind = Object::of(span.text(text)).and_then(|record| record.string("type"));
        matches!(kind.as_deref(), Some("session" | "message" | "compaction"))
    })
}

/// From the root to the newest entry. Without ids, everything. A parent that no entry is (some programs name a call
/// instead) is taken to be the entry before: nothing is lost for a link that is wrong.
fn branch(text: &str, records: &[Span]) -> Vec<Span> {
    let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
    let mut header = None;
    // Entries of the tree: the place of the record, and its parent.
    let mut entries: Vec<(usize, Option<String>)> = Vec::with_capacity(records.len());
    for (n, span) in records.iter().enumerate() {
        let record = Object::of(span.text(text)).unwrap_or_default();
        let id = record.string("id").map(String::from);
        if record.string("type").as_deref() == Some("session") {
            header = id;
        } else if let Some(id) = id
            && record.get("parentId").is_some()
        {
            by_id.insert(id, entries.len());
            entries.push((n, record.string("parentId").map(String::from)));
        }
    }
    let Some(mut at) = entries.len().checked_sub(1) else {
        return records.to_vec();
    };
    let mut found = Vec::new();
    let mut visited = BTreeSet::new();
    while visited.insert(at) {
        let (place, parent) = &entries[at];
        found.push(records[*place]);
        let Some(parent) = parent
            .as_ref()
            .filter(|parent| header.as_ref() != Some(parent))
        else {
            break;
        };
        match by_id.get(parent).copied().or_else(|| at.checked_sub(1)) {
            Some(next) => at = next,
            None => break,
        }
    }
    found.reverse();
    found
}
