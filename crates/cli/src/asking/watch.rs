//! What is going on while models are asked: counted for the report, and told on the terminal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conspectus::core::effect::{Event, Failure, Millis, Reply};
use conspectus::core::view::Usage;
use conspectus::{About, Boxed, ChatModel, Clock as _, Format, Meter, ModelCall, Surroundings};
use conspectus_providers::TokioClock;

use super::hint::hint;
use crate::asked::{PassedOver, Used};
use crate::show::{clip, count, plain};
use crate::ui::{self, ProgressLine};

/// Calls that gave no sign of life for so long are said to be silent.
const SILENT_MS: Millis = 5_000;

/// Watches the calls of one attempt.
pub(super) struct Watch {
    clock: TokioClock,
    began: Millis,
    /// The name of the model that the conversation runs on.
    run: Option<Arc<str>>,
    seen: Mutex<Seen>,
    /// Said before the first call.
    first: Mutex<Option<(String, ProgressLine)>>,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) used: BTreeMap<Arc<str>, Used>,
    pub(super) passed_over: Vec<PassedOver>,
    asking: Option<Arc<str>>,
    under_way: u64,
    /// When something last came from a model.
    sign: Option<Millis>,
    /// Why the last call failed, until another one begins.
    failed: Option<String>,
    parts: Option<(u32, u32)>,
}

impl Watch {
    pub(super) fn new(clock: TokioClock, run: Option<Arc<str>>) -> Self {
        Self {
            clock,
            began: clock.now(),
            run,
            seen: Mutex::default(),
            first: Mutex::default(),
        }
    }

    /// Says this before the first call, in the place of the progress.
    pub(super) fn say_first(&self, text: String, line: ProgressLine) {
        *self.first() = Some((text, line));
    }

    fn first(&self) -> MutexGuard<'_, Option<(String, ProgressLine)>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One line for the terminal.
    pub(super) fn line(&self) -> String {
        line(&self.seen(), self.clock.now(), self.began)
    }
}

fn line(seen: &Seen, now: Millis, began: Millis) -> String {
    let seconds = |ms: Millis| format!("{} s", ms / 1000);
    let who = seen.asking.as_deref().unwrap_or("the model");
    let mut parts = vec![plain(who)];
    if let Some((done, of)) = seen.parts.filter(|(_, of)| *of > 1) {
        parts.push(format!("{done} of {of} parts done"));
    }
    parts.push(seconds(now.saturating_sub(began)));
    parts.push(match (seen.under_way, seen.sign, &seen.failed) {
        (0, _, Some(failed)) => format!("will try again: {}", clip(&plain(failed), 60)),
        (0, ..) => return parts.join(", "),
        (calls, None, _) => format!("{} under way, nothing came yet", count(calls, "call")),
        (calls, Some(at), _) => {
            let silent = now.saturating_sub(at);
            let words = match silent >= SILENT_MS {
                true => format!("silent for {}", seconds(silent)),
                false => "receiving".to_owned(),
            };
            format!("{} under way, {words}", count(calls, "call"))
        }
    });
    parts.join(", ")
}

impl Surroundings for Watch {
    fn emit(&self, event: &Event) {
        let mut seen = self.seen();
        match event {
            Event::Progress { done, of, .. } => seen.parts = Some((*done, *of)),
            Event::ModelFailed { model, failure, .. } => {
                let model = model.clone().or_else(|| self.run.clone());
                seen.parts = None;
                seen.passed_over.push(PassedOver {
                    model: model.as_deref().unwrap_or("?").to_owned(),
                    failure: failure.to_string(),
                    hint: hint(failure),
                });
            }
            _ => {}
        }
    }
}

/// A model that is watched.
pub(super) struct Watched {
    pub(super) name: Arc<str>,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) watch: Arc<Watch>,
}

impl ChatModel for Watched {
    fn takes(&self) -> Option<Format> {
        self.model.takes()
    }

    fn about(&self) -> About {
        self.model.about()
    }

    fn call<'a>(
        &'a self,
        call: ModelCall,
        alive: &'a (dyn Fn() + Send + Sync),
    ) -> Boxed<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            let mut under_way = UnderWay::begin(&self.watch, &self.name);
            let (reported, meter) = (under_way.reported.clone(), call.meter);
            let call = ModelCall {
                meter: Meter::new(move |usage| {
                    *reported.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage.clone());
                    meter.report(usage);
                }),
                ..call
            };
            let alive = || {
                self.watch.seen().sign = Some(self.watch.clock.now());
                alive();
            };
            let result = self.model.call(call, &alive).await;
            let mut seen = self.watch.seen();
            let used = seen.used.entry(self.name.clone()).or_default();
            match &result {
                Ok(reply) => {
                    used.add(reply.usage.as_ref());
                    under_way.is_paid = true;
                }
                Err(failure) => {
                    used.failed += 1;
                    seen.failed = Some(failure.to_string());
                }
            }
            drop(seen);
            drop(under_way);
            result
        })
    }
}

/// A call under way, also one that is stopped.
struct UnderWay<'w> {
    watch: &'w Watch,
    name: Arc<str>,
    /// What it was reported to cost.
    reported: Arc<Mutex<Option<Usage>>>,
    /// Its reply said what it cost.
    is_paid: bool,
}

impl<'w> UnderWay<'w> {
    fn begin(watch: &'w Watch, name: &Arc<str>) -> Self {
        if let Some((text, line)) = watch.first().take() {
            line.show("");
            ui::note(&text);
        }
        let mut seen = watch.seen();
        if seen.under_way == 0 {
            seen.sign = None;
        }
        seen.under_way += 1;
        seen.asking = Some(name.clone());
        seen.failed = None;
        seen.used.entry(name.clone()).or_default().calls += 1;
        Self {
            watch,
            name: name.clone(),
            reported: Arc::default(),
            is_paid: false,
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let reported = self.reported.lock();
        let reported = reported.unwrap_or_else(PoisonError::into_inner).take();
        let mut seen = self.watch.seen();
        seen.under_way -= 1;
        if let Some(usage) = reported.filter(|_| !self.is_paid) {
            let used = seen.used.entry(self.name.clone()).or_default();
            used.add(Some(&usage));
        }
    }
}

impl Used {
    /// Adds a reply.
    pub(crate) fn add(&mut self, usage: Option<&Usage>) {
        let Some(usage) = usage else {
            self.unreported += 1;
            return;
        };
        self.input_tokens += usage.input;
        self.cache_read_tokens += usage.cache_read;
        self.cache_write_tokens += usage.cache_write;
        self.output_tokens += usage.output;
    }

    /// As one reply's usage.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_tokens,
            cache_write: self.cache_write_tokens,
            reported_total: None,
            provider: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let seen = |under_way, sign, failed: Option<&str>, parts| Seen {
            asking: Some("small".into()),
            under_way,
            sign,
            failed: failed.map(str::to_owned),
            parts,
            ..Seen::default()
        };
        let check = |seen: Seen, expect: &str| assert_eq!(line(&seen, 13_400, 1_000), expect);
        check(
            seen(1, None, None, None),
            "small, 12 s, 1 call under way, nothing came yet",
        );
        check(
            seen(3, Some(13_000), None, Some((2, 8))),
            "small, 2 of 8 parts done, 12 s, 3 calls under way, receiving",
        );
        check(
            seen(1, Some(4_000), None, Some((0, 1))),
            "small, 12 s, 1 call under way, silent for 9 s",
        );
        check(
            seen(0, None, Some("busy\u{1b}[2J"), None),
            "small, 12 s, will try again: busy",
        );
        check(seen(0, None, None, None), "small, 12 s");
    }
}
