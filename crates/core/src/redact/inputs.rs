//! What comes from outside and may end in a record, a report or an event.

use super::Redactor;
use crate::effect::{CommitAck, Failure, Input, Reply};

impl Redactor {
    /// The input without secrets in its texts. Everything else is as it was.
    pub(crate) fn input(&self, input: Input) -> Input {
        match input {
            Input::Reply(call, reply) => {
                let text = self.redact_arc(&reply.text);
                Input::Reply(call, Reply { text, ..reply })
            }
            Input::Failed(call, failure) => Input::Failed(call, self.failure(failure)),
            Input::Cached(key, found) => Input::Cached(key, found.map(|t| self.redact_arc(&t))),
            Input::Archived(Err(failure)) => Input::Archived(Err(self.failure(failure))),
            Input::Committed(CommitAck::Failed(failure)) => {
                Input::Committed(CommitAck::Failed(self.failure(failure)))
            }
            other => other,
        }
    }

    /// The failure without secrets in its message.
    pub fn failure(&self, mut failure: Failure) -> Failure {
        match &mut failure {
            Failure::Unavailable { message, .. }
            | Failure::Unusable { message }
            | Failure::Store { message }
            | Failure::Broken { message } => *message = self.redact_arc(message),
            Failure::ContextOverflow { .. }
            | Failure::TooManyBytes
            | Failure::TimedOut { .. }
            | Failure::NotASummary(_) => {}
        }
        failure
    }
}
