//! What asking models came to, as values: part of the report.

use serde::Serialize;

/// Who was asked for a summary of one conversation, and what it took.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Asked {
    /// The models, in the order in which they would be asked.
    pub(crate) chain: Vec<String>,
    /// What was expected before.
    pub(crate) estimate: Estimate,
    /// A dry run: nobody was asked, and the summary is the digest's.
    pub(crate) dry_run: bool,
    /// Models that gave no summary, and why.
    pub(crate) passed_over: Vec<PassedOver>,
    /// What each model was asked.
    pub(crate) used: Vec<UsedLine>,
    /// What all of it cost in millionths of a dollar; `None`: some price or usage is not known.
    pub(crate) micros: Option<u64>,
}

/// What the first model is expected to be sent and to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Estimate {
    /// Calls, if none has to be made again.
    pub(crate) calls: u64,
    /// Tokens of all calls together.
    pub(crate) input_tokens: u64,
    /// At most.
    pub(crate) output_tokens: u64,
    /// At most, in millionths of a dollar, where the prices are known.
    pub(crate) micros: Option<u64>,
}

/// What is about to happen, or would, but for a dry run.
#[cfg(feature = "models")]
pub(crate) struct Ahead<'a> {
    /// Nobody is asked.
    pub(crate) is_dry: bool,
    /// The model that is asked first.
    pub(crate) model: &'a str,
    /// Where it is, when that can be said.
    pub(crate) place: Option<&'a str>,
    /// What it is expected to take.
    pub(crate) estimate: Estimate,
}

/// A model that was given up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PassedOver {
    pub(crate) model: String,
    pub(crate) failure: String,
    /// What to try.
    #[serde(rename = "try")]
    pub(crate) hint: Option<&'static str>,
}

/// What one model was asked and told us.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UsedLine {
    pub(crate) model: String,
    #[serde(flatten)]
    pub(crate) used: Used,
    /// In millionths of a dollar; `None`: its prices are not known, or it did not say what it used.
    pub(crate) micros: Option<u64>,
}

/// Calls and tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Used {
    /// Calls that were begun.
    pub(crate) calls: u64,
    /// Of these: failed. Replies that were no summary are not among them.
    pub(crate) failed: u64,
    /// Replies without a word about usage.
    pub(crate) unreported: u64,
    /// Tokens sent, cached ones included.
    pub(crate) input_tokens: u64,
    /// Of these: read from the provider's cache.
    pub(crate) cache_read_tokens: u64,
    /// Of these: written to it.
    pub(crate) cache_write_tokens: u64,
    /// Tokens written, reasoning included.
    pub(crate) output_tokens: u64,
}

impl Used {
    /// Adds what was used elsewhere.
    pub(crate) fn join(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.unreported += other.unreported;
        self.input_tokens += other.input_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.output_tokens += other.output_tokens;
    }
}
