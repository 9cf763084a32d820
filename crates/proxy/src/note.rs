//! What is said about a request: in headers, in a line, in figures. Never anything of what it holds.

use std::fmt;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};

/// What was done with a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Done {
    /// It was not looked at.
    #[default]
    Passed,
    /// It was looked at, and nothing had to be done.
    Untouched,
    /// The compaction in force was applied again.
    Applied,
    /// It was compacted now, and the compaction applied.
    Compacted,
    /// The upstream refused it; it was compacted and sent once more.
    Recovered,
    /// What would have been done is said; it was sent as it came.
    Observed,
    /// Something of ours failed; it was sent as it came.
    FailedOpen,
    /// It was answered here.
    Answered,
    /// It was refused here.
    Refused,
}

impl Done {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Untouched => "untouched",
            Self::Applied => "applied",
            Self::Compacted => "compacted",
            Self::Recovered => "recovered",
            Self::Observed => "observed",
            Self::FailedOpen => "failed_open",
            Self::Answered => "answered",
            Self::Refused => "refused",
        }
    }
}

/// What is known of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub(crate) done: Done,
    /// The thread, where it is known already.
    pub(crate) thread: Option<Arc<str>>,
    /// Tokens that were not sent.
    pub(crate) saved: u64,
    /// Why it was sent as it came, in words that hold nothing of it.
    pub(crate) why: Option<String>,
}

impl Note {
    pub(crate) fn of(done: Done) -> Self {
        Self {
            done,
            ..Self::default()
        }
    }

    /// Something of ours failed.
    pub(crate) fn failed(why: impl fmt::Display) -> Self {
        let mut why = why.to_string();
        why.retain(|c| !c.is_control());
        why.truncate(why.floor_char_boundary(200));
        Self {
            why: Some(why),
            ..Self::of(Done::FailedOpen)
        }
    }

    /// As headers of the answer.
    pub(crate) fn put(&self, headers: &mut HeaderMap) {
        headers.insert(
            "x-conspectus-outcome",
            HeaderValue::from_static(self.done.as_str()),
        );
        let thread = self
            .thread
            .as_ref()
            .and_then(|t| HeaderValue::from_str(t).ok());
        if let Some(thread) = thread {
            headers.insert("x-conspectus-thread", thread);
        }
        if self.saved > 0 {
            headers.insert("x-conspectus-saved", self.saved.into());
        }
    }
}

/// A line about a request.
pub(crate) struct Line<'a> {
    pub(crate) call: &'static str,
    pub(crate) upstream: &'a str,
    pub(crate) status: u16,
    pub(crate) note: &'a Note,
    pub(crate) up: u64,
    pub(crate) down: u64,
    /// Until the answer began, and until it ended.
    pub(crate) ms: (u64, u64),
    /// Input tokens, and those of them that came from the provider's cache.
    pub(crate) usage: Option<(u64, u64)>,
    /// What the saved tokens would have cost, in micro-dollars; 0 where the price is not known.
    pub(crate) micros: u64,
    /// The answer broke off, or the client left.
    pub(crate) is_cut: bool,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} upstream={} status={} outcome={} up={} down={} begin_ms={} ms={}",
            self.call,
            self.upstream,
            self.status,
            self.note.done.as_str(),
            self.up,
            self.down,
            self.ms.0,
            self.ms.1
        )?;
        if let Some((input, cached)) = self.usage {
            write!(f, " input_tokens={input} cached_tokens={cached}")?;
        }
        if self.note.saved > 0 {
            write!(f, " saved_tokens={}", self.note.saved)?;
        }
        if self.micros > 0 {
            let (dollars, rest) = (self.micros / 1_000_000, self.micros % 1_000_000);
            write!(f, " saved_dollars={dollars}.{rest:06}")?;
        }
        if let Some(thread) = &self.note.thread {
            write!(f, " thread={thread}")?;
        }
        if self.is_cut {
            f.write_str(" cut=true")?;
        }
        if let Some(why) = &self.note.why {
            write!(f, " why={why:?}")?;
        }
        Ok(())
    }
}
