//! What every driver does alike, also one of another language: the effects that need nothing but the thread and the
//! partial results, and the end.

use conspectus_core::effect::{CommitAck, Effect, Input, Millis};
use conspectus_core::id::AttemptId;
use conspectus_core::outcome::Report;
use conspectus_core::thread::{Sources, Thread};

use crate::partials::Partials;

/// What became of an effect.
pub enum Performed {
    /// Feed this.
    Answered(Input),
    /// Done; there is nothing to feed.
    Done,
    /// It needs the outside.
    Outside(Effect),
}

/// Performs what can be performed here and now.
pub fn perform(
    effect: Effect,
    thread: &mut Thread,
    src: Sources<'_>,
    partials: &mut Partials,
) -> Performed {
    Performed::Answered(match effect {
        Effect::CacheGet(key) => Input::Cached(key, partials.get(key)),
        Effect::CachePut(key, text) => {
            partials.put(key, text);
            return Performed::Done;
        }
        Effect::Commit(record, expect) => {
            let ack = thread.commit(&record, expect, src);
            debug_assert!(
                !matches!(ack, CommitAck::Unknown),
                "memory does not lose acknowledgements"
            );
            Input::Committed(ack)
        }
        Effect::LookUp(attempt, record) => Input::Found(thread.has_record(attempt, record)),
        outside => return Performed::Outside(outside),
    })
}

/// An attempt came to its end.
pub fn ended(thread: &mut Thread, attempt: AttemptId, report: &Report, now: Millis) {
    thread.ended(attempt, report.outcome, now);
    thread.spend(now, report.measured.spent_micros);
}
