//! The attempts on a thread, those included that changed nothing: read back from its events.

use std::sync::Arc;

use conspectus_core::effect::Millis;
use conspectus_core::id::{AttemptId, RecordId};
use conspectus_core::outcome::Moment;
use serde::Serialize;

use super::Threads;
use super::error::ThreadsError;
use super::events::{ThreadEvent, Told};
use crate::clock::Clock;
use crate::store::ThreadKey;
use crate::telemetry::{Event, Exception, Stop};

/// Events that are read together.
const PAGE: u32 = 500;
/// How events of messages begin: there are many, and none is about an attempt.
const APPENDED: &str = r#"{"type":"appended""#;

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempted {
    /// The number of the event that begins it; those before it are asked for with this.
    pub seq: u64,
    /// The attempt.
    pub attempt: AttemptId,
    /// When in the conversation.
    pub moment: Moment,
    /// What it made was to be kept as a preview.
    pub dry_run: bool,
    /// When it began.
    pub started_ms: Millis,
    /// When it ended.
    pub ended_ms: Option<Millis>,
    /// How it ended, with numbers; `None`: it is under way, or ended as below.
    pub stop: Option<Stop>,
    /// It ended in a way that nobody foresaw.
    pub exception: Option<Exception>,
    /// Its process died before it ended.
    pub abandoned: bool,
    /// Models that were passed over, oldest first.
    pub passed_over: Vec<PassedOver>,
    /// Records that it put in force, or that were applied from its preview.
    pub records: Vec<RecordId>,
    /// Its preview.
    pub preview: Option<Arc<str>>,
}

/// A model that did not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// The model; `None`: the one that the conversation runs on.
    pub model: Option<Arc<str>>,
    /// Why, without secrets.
    pub failure: Arc<str>,
}

impl<C: Clock> Threads<C> {
    /// Attempts, newest first; `before`: only those that began before this event. Costs the events that are passed.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn attempts(
        &self,
        key: &ThreadKey,
        limit: u32,
        before: Option<u64>,
    ) -> Result<Vec<Attempted>, ThreadsError> {
        let last = self.last_event(key).await?;
        let mut to = before.map_or(last, |before| before.saturating_sub(1).min(last));
        let mut backwards = Backwards::default();
        while to > 0 && backwards.whole.len() < limit as usize {
            let from = to.saturating_sub(u64::from(PAGE));
            let page = self.events(key, from, PAGE).await?;
            let page = page.iter().filter(|told| told.seq <= to);
            page.rev().for_each(|told| backwards.take(told));
            to = from;
        }
        backwards.whole.truncate(limit as usize);
        Ok(backwards.whole)
    }
}

/// Events from the newest to the oldest become attempts: each is whole when its beginning is met.
#[derive(Default)]
struct Backwards {
    open: Vec<Attempted>,
    whole: Vec<Attempted>,
}

impl Backwards {
    fn take(&mut self, told: &Told) {
        if told.event.as_str().starts_with(APPENDED) {
            return;
        }
        match told.known() {
            Some(ThreadEvent::Compaction { event }) => self.compaction(told, *event),
            Some(ThreadEvent::ModelFailed {
                attempt,
                model,
                failure,
            }) => {
                let passed_over = PassedOver { model, failure };
                self.of(attempt).passed_over.insert(0, passed_over);
            }
            Some(ThreadEvent::Committed {
                record, attempt, ..
            }) => self.of(attempt).records.insert(0, record),
            Some(ThreadEvent::Abandoned { mark }) => self.of(mark.attempt).abandoned = true,
            Some(ThreadEvent::Previewed { preview }) => {
                let number = preview
                    .strip_prefix("preview-")
                    .and_then(|n| n.parse().ok());
                if let Some(number) = number {
                    self.of(AttemptId(number)).preview = Some(preview);
                }
            }
            _ => {}
        }
    }

    fn compaction(&mut self, told: &Told, event: Event) {
        let attempt = event.attempt();
        match event {
            Event::Start(start) => {
                let mut found = match self.open.iter().position(|open| open.attempt == attempt) {
                    Some(at) => self.open.remove(at),
                    None => blank(attempt),
                };
                found.seq = told.seq;
                found.started_ms = told.ms;
                found.moment = start.metadata.moment;
                found.dry_run = start.metadata.labels.dry_run;
                self.whole.push(found);
            }
            Event::Stop(stop) => {
                let open = self.of(attempt);
                open.ended_ms = Some(told.ms);
                open.stop = Some(stop);
            }
            Event::Exception(exception) => {
                let open = self.of(attempt);
                open.ended_ms = Some(told.ms);
                open.exception = Some(exception);
            }
        }
    }

    fn of(&mut self, attempt: AttemptId) -> &mut Attempted {
        let at = self.open.iter().position(|open| open.attempt == attempt);
        let at = at.unwrap_or_else(|| {
            self.open.push(blank(attempt));
            self.open.len() - 1
        });
        &mut self.open[at]
    }
}

fn blank(attempt: AttemptId) -> Attempted {
    Attempted {
        seq: 0,
        attempt,
        moment: Moment::Manual,
        dry_run: false,
        started_ms: 0,
        ended_ms: None,
        stop: None,
        exception: None,
        abandoned: false,
        passed_over: Vec::new(),
        records: Vec::new(),
        preview: None,
    }
}
