//! What a compaction came to, as values: shown by [`crate::show`], printed by `--json`. The fields are
//! documented for users in `docs/cli.md`.

use conspectus::core::record::Author;
use conspectus::{
    Compaction, Conversation, Economics, Format, Outcome, Shortened, StayShare, shortened, stays,
};
use serde::Serialize;

use crate::asked::Asked;
use crate::fail::{Exit, Fail};
use crate::inputs::Input;
use crate::read::FaultLine;

/// What became of one input.
#[derive(Debug, Serialize)]
pub(crate) struct FileResult {
    /// The input.
    pub(crate) input: String,
    /// Its format, where it could be read.
    pub(crate) format: Option<Format>,
    /// Its size.
    pub(crate) bytes_before: Option<u64>,
    /// The size of the result.
    pub(crate) bytes_after: Option<u64>,
    /// Where the result is; `None`: nowhere.
    pub(crate) output: Option<Written>,
    /// Its conversations, in order.
    pub(crate) conversations: Vec<ConversationResult>,
    /// What was not understood and is kept as it is.
    pub(crate) faults: Vec<FaultLine>,
    /// What went wrong.
    pub(crate) error: Option<ErrorLine>,
}

/// What became of one conversation.
#[derive(Debug, Serialize)]
pub(crate) struct ConversationResult {
    /// Its index or id in the file.
    pub(crate) label: String,
    /// How it ended.
    pub(crate) outcome: &'static str,
    /// Why.
    pub(crate) reasons: Vec<ReasonLine>,
    /// What went wrong, when something did.
    pub(crate) failure: Option<String>,
    /// What counted.
    pub(crate) counter: String,
    /// Tokens of the request: what the provider last reported, where the conversation tells it, and what was
    /// counted after that.
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    /// The provider's report took part.
    pub(crate) reported: bool,
    /// The same, all of it counted: without what the report shows that the file does not hold.
    pub(crate) counted_before: u64,
    pub(crate) counted_after: u64,
    /// Messages of the active window.
    pub(crate) messages_before: u64,
    /// Without the summary.
    pub(crate) messages_after: u64,
    /// Messages that went into the summary.
    pub(crate) messages_folded: u64,
    /// Messages with shortened parts, those that were folded later included.
    pub(crate) messages_pruned: u64,
    /// Tokens that shortening alone saved.
    pub(crate) tokens_pruned: u64,
    /// The summary, where one was made.
    pub(crate) summary: Option<SummaryLine>,
    /// What is shown shortened.
    pub(crate) shortened: Vec<Shortened>,
    /// What had to stay, by reason.
    pub(crate) stays: Vec<StayShare>,
    /// What it costs and saves by the provider's cache.
    pub(crate) cost: Option<Economics>,
    /// Who was asked for the summary; `None`: nobody.
    pub(crate) asked: Option<Asked>,
    #[serde(skip)]
    pub(crate) verdict: Outcome,
}

/// A summary.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryLine {
    /// `digest` (made without a model) or `model`.
    pub(crate) author: &'static str,
    /// The model's name, where it is known.
    pub(crate) model: Option<String>,
    /// As it is shown to the model, frame included.
    pub(crate) tokens: u64,
    /// Its text.
    pub(crate) text: String,
}

/// A reason.
#[derive(Debug, Serialize)]
pub(crate) struct ReasonLine {
    /// For programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) text: String,
}

/// An error.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorLine {
    /// The exit code that it causes.
    pub(crate) exit_code: u8,
    /// What happened, and what to try.
    pub(crate) message: String,
    #[serde(skip)]
    pub(crate) exit: Exit,
}

impl From<&Fail> for ErrorLine {
    fn from(fail: &Fail) -> Self {
        Self {
            exit_code: fail.exit.code(),
            message: fail.message(),
            exit: fail.exit,
        }
    }
}

/// Where a result is.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    /// The file; `-` is standard output.
    pub(crate) path: String,
    /// What happened there.
    pub(crate) state: WrittenState,
}

/// What happened to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WrittenState {
    /// A new file, or standard output.
    Written,
    /// An existing file was replaced.
    Replaced,
    /// The file was there with exactly these bytes.
    AlreadyThere,
    /// A dry run: it would have been written.
    DryRun,
}

impl FileResult {
    /// Before anything was read.
    pub(crate) fn of(input: &Input) -> Self {
        Self {
            input: input.name(),
            format: None,
            bytes_before: None,
            bytes_after: None,
            output: None,
            conversations: Vec::new(),
            faults: Vec::new(),
            error: None,
        }
    }

    /// Whether somebody stopped it: then nothing more is done.
    pub(crate) fn is_stopped(&self) -> bool {
        let mut verdicts = self.conversations.iter().map(|c| c.verdict);
        verdicts.any(|verdict| verdict == Outcome::Cancelled)
    }

    /// How the program ends for it.
    pub(crate) fn exit(&self) -> Exit {
        let error = self.error.as_ref().map(|e| e.exit);
        let outcomes = self.conversations.iter().map(ConversationResult::exit);
        outcomes.chain(error).max().unwrap_or(Exit::Done)
    }
}

impl ConversationResult {
    pub(crate) fn of(conversation: &Conversation, compaction: &Compaction) -> Self {
        let report = &compaction.report;
        let (measured, size) = (&report.measured, &compaction.size);
        let tokens_after = measured.tokens_after.unwrap_or(measured.tokens_before);
        let summary = compaction.thread.active().and_then(|r| r.summary.as_ref());
        Self {
            label: conversation.label().to_owned(),
            outcome: report.outcome.as_str(),
            reasons: report
                .reasons
                .iter()
                .map(|reason| ReasonLine {
                    code: reason.as_str(),
                    text: reason.to_string(),
                })
                .collect(),
            failure: report.failure.as_ref().map(ToString::to_string),
            counter: compaction.counter.id().to_string(),
            tokens_before: measured.tokens_before,
            tokens_after,
            reported: size.reported,
            counted_before: size.request,
            counted_after: if size.reported {
                size.planned(tokens_after)
            } else {
                tokens_after
            },
            messages_before: measured.messages_before,
            messages_after: measured.messages_after(),
            messages_folded: measured.messages_removed,
            messages_pruned: measured.messages_pruned,
            tokens_pruned: measured.tokens_pruned,
            summary: summary.map(|summary| SummaryLine {
                author: match summary.author {
                    Author::Digest => "digest",
                    Author::Model(_) => "model",
                },
                model: match &summary.author {
                    Author::Digest => None,
                    Author::Model(Some(name)) => Some(name.to_string()),
                    Author::Model(None) => {
                        let run = &compaction.thread.policy().cost.model;
                        run.as_deref().map(str::to_owned)
                    }
                },
                tokens: measured.summary_tokens,
                text: summary.text.to_string(),
            }),
            shortened: shortened(conversation, compaction),
            stays: stays(conversation, compaction),
            cost: compaction.economics(),
            asked: None,
            verdict: report.outcome,
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self.verdict {
            Outcome::Compacted
            | Outcome::Pruned
            | Outcome::Skipped
            | Outcome::NothingToCompact
            | Outcome::Disabled => Exit::Done,
            Outcome::ConfigError => Exit::Config,
            Outcome::Cancelled => Exit::Stopped,
            Outcome::Rejected | Outcome::Failed | Outcome::Conflict | Outcome::Deferred => {
                Exit::Compaction
            }
        }
    }
}
