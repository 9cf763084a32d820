//! What the condenser left out.

use std::collections::BTreeSet;

use super::event::Event;

/// What is forgotten, and what stands in its place.
#[derive(Default)]
pub(super) struct Plan<'e, 'a> {
    ids: BTreeSet<u64>,
    ranges: Vec<(u64, u64)>,
    /// The newest condensation with a summary, and before which message it stands.
    pub(super) summary: Option<(&'e Event<'a>, usize)>,
}

/// Every condensation counts for what it forgot, the newest one for the summary.
pub(super) fn plan<'e, 'a>(events: &'e [Event<'a>]) -> Plan<'e, 'a> {
    let mut plan = Plan::default();
    for event in events {
        let Some(forgotten) = event.condensation() else {
            continue;
        };
        plan.ids.extend(forgotten.ids);
        plan.ranges.extend(forgotten.range);
        if forgotten.has_summary {
            plan.summary = Some((event, forgotten.offset));
        }
    }
    plan.ranges = joined(std::mem::take(&mut plan.ranges));
    plan
}

impl Plan<'_, '_> {
    pub(super) fn is_forgotten(&self, event: &Event<'_>) -> bool {
        let Some(id) = event.id else {
            return false;
        };
        let before = self.ranges.partition_point(|(start, _)| *start <= id);
        let in_range = before > 0 && self.ranges[before - 1].1 >= id;
        in_range || self.ids.contains(&id)
    }

    pub(super) fn has_forgotten(&self) -> bool {
        !self.ids.is_empty() || !self.ranges.is_empty()
    }
}

/// Ranges in order, those that touch made one.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match out.last_mut() {
            Some(last) if start <= last.1.saturating_add(1) => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}
