//! What can go wrong with threads, as an exit code and a sentence that names the thread and the place. A store's errors
//! and a service's problems have the same codes, so both are said alike.

use conspectus::store::StoreError;
use conspectus::threads::ThreadsError;

use crate::fail::{Exit, Fail};

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The code that the service has for it.
    pub(super) code: String,
    /// What happened, and what to try.
    pub(super) detail: String,
}

impl Trouble {
    pub(super) fn new(code: &str, detail: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            detail: detail.into(),
        }
    }

    /// For whoever asked about `thread` at `place`.
    pub(super) fn fail(&self, thread: &str, place: &str) -> Fail {
        let about = |why: String| match thread {
            "" => format!("{place}: {why}"),
            thread => format!("{thread} in {place}: {why}"),
        };
        let detail = self.detail.clone();
        let (exit, text) = match self.code.as_str() {
            "thread_not_found" => {
                let why =
                    "there is no such thread; conspectus thread ls lists those that are there";
                (Exit::Input, about(why.to_owned()))
            }
            "thread_exists" => {
                let why = "there is such a thread already; take another id, or remove that one with conspectus thread rm";
                (Exit::Output, about(why.to_owned()))
            }
            "run_in_flight" => {
                let why = "a run or another attempt has the thread; try again when it is over";
                (Exit::Compaction, about(why.to_owned()))
            }
            "nothing_to_do" | "preview_stale" | "history_changed" | "deferred"
            | "message_id_taken" => (Exit::Compaction, about(detail)),
            "unauthorized" => {
                let why = format!(
                    "{detail}; put the token into CONSPECTUS_TOKEN, or name its file with --token-file"
                );
                (Exit::Config, format!("{place}: {why}"))
            }
            "host_not_allowed" | "origin_not_allowed" | "invalid_policy" => {
                (Exit::Config, about(detail))
            }
            "store_full" | "store_read_only" | "contended" | "store_busy" => {
                (Exit::Output, about(detail))
            }
            "unreachable" => (Exit::Input, format!("{place}: {detail}")),
            _ => (Exit::Input, about(detail)),
        };
        Fail::new(exit, anyhow::anyhow!(text))
    }
}

impl From<ThreadsError> for Trouble {
    fn from(error: ThreadsError) -> Self {
        let code = match &error {
            ThreadsError::NotFound(_) | ThreadsError::Store(StoreError::NoThread) => {
                "thread_not_found"
            }
            ThreadsError::Exists(_) => "thread_exists",
            ThreadsError::NoMessage(_) => "message_not_found",
            ThreadsError::NoCheckpoint(_) => "checkpoint_not_found",
            ThreadsError::NoPreview(_) => "preview_not_found",
            ThreadsError::IdTaken(_) => "message_id_taken",
            ThreadsError::Stale(_) => "preview_stale",
            ThreadsError::NothingTo(_) => "nothing_to_do",
            ThreadsError::Busy => "run_in_flight",
            ThreadsError::Contended => "contended",
            ThreadsError::Policy(_) | ThreadsError::BadPolicy(_) => "invalid_policy",
            ThreadsError::Store(StoreError::Full) => "store_full",
            ThreadsError::Store(StoreError::ReadOnly(_)) => "store_read_only",
            ThreadsError::Store(StoreError::Busy) => "store_busy",
            ThreadsError::Store(StoreError::Unreachable(_)) => "unreachable",
            ThreadsError::Restore(_) => "thread_damaged",
            _ => "invalid_request",
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_and_place_are_named() {
        let check = |code: &str, thread: &str, expect: (Exit, &str)| {
            let fail = Trouble::new(code, "it is so").fail(thread, "sqlite:t.db");
            assert_eq!((fail.exit, fail.message().as_str()), expect);
        };
        check(
            "nothing_to_do",
            "tea",
            (Exit::Compaction, "tea in sqlite:t.db: it is so"),
        );
        check(
            "thread_not_found",
            "tea",
            (
                Exit::Input,
                "tea in sqlite:t.db: there is no such thread; conspectus thread ls lists those that are there",
            ),
        );
        check("store_full", "", (Exit::Output, "sqlite:t.db: it is so"));
        check("news", "tea", (Exit::Input, "tea in sqlite:t.db: it is so"));
    }
}
