//! What a dry run made, kept to be put in force later without paying again.

use std::sync::Arc;

use conspectus_core::effect::{CommitAck, Expect, Millis};
use conspectus_core::id::AttemptId;
use conspectus_core::outcome::{Outcome, Reason, Report};
use conspectus_core::record::Record;
use serde::{Deserialize, Serialize};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::compact::Compacted;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::home::Left;
use super::lease::Held;
use super::open::{Much, Opened, moved};
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{Commit, ThreadKey, Write, Written};

/// What is kept of a dry run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Preview {
    /// Records, in order, with what each was planned on.
    records: Vec<(Arc<Record>, Expect)>,
    report: Report,
    made_ms: Millis,
}

impl<C: Clock> Threads<C> {
    /// Keeps what a dry run made.
    pub(super) async fn keep_preview(
        &self,
        key: &ThreadKey,
        attempt: AttemptId,
        report: &Report,
        left: &Left,
    ) -> Result<Arc<str>, ThreadsError> {
        let preview = Preview {
            records: left.aside.clone(),
            report: report.clone(),
            made_ms: self.now(),
        };
        let name = format!("preview-{}", attempt.0);
        let text = serde_json::to_string(&preview).expect("records can be written");
        let keeping = self.store().keep_preview(key, &name, &text, self.now());
        keeping.await?;
        Ok(name.into())
    }

    async fn preview(&self, key: &ThreadKey, name: &str) -> Result<Preview, ThreadsError> {
        let text = self.store().preview(key, name).await;
        let text = text.map_err(|why| self.of_store(key, why))?;
        let preview = text.and_then(|text| serde_json::from_str(&text).ok());
        preview.ok_or_else(|| ThreadsError::NoPreview(name.into()))
    }

    /// The thread as it would be with a preview in force.
    pub(super) async fn opened_with(
        &self,
        key: &ThreadKey,
        name: &str,
    ) -> Result<Opened, ThreadsError> {
        let preview = self.preview(key, name).await?;
        let mut opened = self.open(key, Much::Whole, &Asked::default()).await?;
        for (record, _) in &preview.records {
            let expect = opened.thread.expect();
            let (thread, src) = opened.parts();
            let CommitAck::Ok(_) = thread.commit(record, expect, src) else {
                return Err(ThreadsError::Stale(name.into()));
            };
        }
        Ok(opened)
    }

    /// Puts in force what a dry run made, without asking a model again. Messages that came since stand behind it.
    ///
    /// # Errors
    /// When there is no such preview, or the history below it is not what it was made of.
    pub async fn apply(&self, key: &ThreadKey, preview: &str) -> Result<Compacted, ThreadsError> {
        let kept = self.preview(key, preview).await?;
        let Some(held) = self.acquire(key).await? else {
            let why = vec![Reason::AttemptRunning];
            return Ok(Compacted::without(key, Outcome::Conflict, why));
        };
        let applied = self.apply_held(key, preview, &kept, &held).await;
        self.release(key, &held).await;
        applied
    }

    async fn apply_held(
        &self,
        key: &ThreadKey,
        name: &str,
        preview: &Preview,
        held: &Held,
    ) -> Result<Compacted, ThreadsError> {
        let stale = || ThreadsError::Stale(name.into());
        let mut version = preview.records.first().map(|(_, expect)| expect.version);
        let mut compacted = Compacted::of(key, preview.report.clone(), None);
        for (record, _) in &preview.records {
            let mut tries = 0;
            loop {
                let mut opened = self.open(key, Much::Whole, &Asked::default()).await?;
                opened.thread.set_fence(held.fence);
                let expect = opened.thread.expect();
                if Some(expect.version) != version {
                    return Err(stale());
                }
                let rows = opened.thread.head_log().len();
                let (thread, src) = opened.parts();
                let CommitAck::Ok(after) = thread.commit(record, expect, src) else {
                    return Err(stale());
                };
                let checkpoint_id: CheckpointId = opened.checkpoint();
                let committed = ThreadEvent::Committed {
                    record: record.id,
                    attempt: record.attempt,
                    checkpoint_id,
                };
                let write = Write {
                    revision: opened.head.revision,
                    moved: moved(&opened.thread, rows),
                    state: Some(Arc::new(opened.thread.state())),
                    commit: Some(Commit {
                        record: record.clone(),
                        expect,
                    }),
                    events: vec![committed.to_text()],
                    now: self.now(),
                    ..Write::default()
                };
                match self.write(key, write).await? {
                    Written::Done(_) => {
                        version = Some(after);
                        compacted.checkpoint_id = Some(checkpoint_id);
                        break;
                    }
                    Written::Behind(_) if tries < Self::TRIES => tries += 1,
                    Written::Behind(_) => return Err(ThreadsError::Contended),
                    _ => return Err(stale()),
                }
            }
        }
        let last = preview.records.last().map(|(record, _)| record);
        let summary = last.and_then(|record| record.summary.as_ref());
        compacted.summary_text = summary.map(|summary| summary.text.clone());
        Ok(compacted)
    }
}
