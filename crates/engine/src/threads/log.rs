//! The compactions of a thread: what went, what it cost, what it saves.

use std::sync::Arc;

use conspectus_core::id::{AttemptId, RecordId};
use conspectus_core::outcome::{Measured, Moment, Reason};
use conspectus_core::record::{Author, Record};
use conspectus_core::thread::HeadChange;
use serde::Serialize;

use super::Threads;
use super::error::ThreadsError;
use super::state::Cause;
use crate::clock::Clock;
use crate::store::ThreadKey;

/// One committed compaction, or one committed pruning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// The record.
    pub record: RecordId,
    /// The attempt that made it.
    pub attempt: AttemptId,
    /// The record that it builds on.
    pub parent: Option<RecordId>,
    /// When in the conversation it happened.
    pub moment: Moment,
    /// It is in force.
    pub active: bool,
    /// What became of it: put in force, taken back, put in force again, oldest first.
    pub history: Vec<Cause>,
    /// Sizes, and what it costs and saves.
    pub measured: Measured,
    /// Why it is as it is.
    pub reasons: Vec<Reason>,
    /// The summary.
    pub summary_text: Option<Arc<str>>,
    /// Who wrote it.
    pub author: Option<Author>,
    /// Runs of folded messages, by number, those of earlier records included.
    pub removed: Vec<(u64, u64)>,
    /// Messages that are shortened, those of earlier records included.
    pub shortened: u64,
}

impl LogEntry {
    fn of(record: &Record, active: Option<RecordId>, log: &[HeadChange]) -> Self {
        let summary = record.summary.as_ref();
        let mut history = Vec::new();
        let mut before = None;
        for row in log {
            let is_own = row.record == Some(record.id) && before != Some(record.id);
            let is_gone = row.record != Some(record.id) && before == Some(record.id);
            let told = match row.cause.into() {
                Cause::Compaction if !is_own => None,
                cause if is_own || is_gone => Some(cause),
                _ => None,
            };
            history.extend(told);
            before = row.record;
        }
        Self {
            record: record.id,
            attempt: record.attempt,
            parent: record.parent,
            moment: record.moment,
            active: active == Some(record.id),
            history,
            measured: record.measured,
            reasons: record.why.clone(),
            summary_text: summary.map(|s| s.text.clone()),
            author: summary.map(|s| s.author.clone()),
            removed: record.removed.iter().map(|(a, b)| (a.0, b.0)).collect(),
            shortened: record.patches.len() as u64,
        }
    }
}

impl<C: Clock> Threads<C> {
    /// The compactions of a thread, newest first, those that were taken back included.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn log(&self, key: &ThreadKey, limit: u32) -> Result<Vec<LogEntry>, ThreadsError> {
        let head = self.head(key).await?;
        let Some(last) = head.records.checked_sub(1).filter(|_| limit > 0) else {
            return Ok(Vec::new());
        };
        let first = head.records.saturating_sub(u64::from(limit));
        let records = self
            .store()
            .records(key, RecordId(first), RecordId(last))
            .await?;
        let log = self.store().head_log(key).await?;
        let active = head.state.as_ref().and_then(|state| state.active());
        let newest_first = records.iter().rev();
        Ok(newest_first
            .map(|record| LogEntry::of(record, active, &log))
            .collect())
    }
}
