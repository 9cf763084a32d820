//! `conspectus compact`: every input is read, its conversations are compacted, the result is written.

use std::fs;

use conspectus::core::projection::Projection;
use conspectus::core::record::Author;
use conspectus::{
    Compaction, Conversation, Document, Embedded, Format, OpenOptions, Outcome, RenderContext,
    Shortened, StayShare, compact, shortened, stays,
};
use serde::Serialize;

use crate::Done;
use crate::atomic::{self, Refused, Wrote};
use crate::fail::{Exit, Fail, guarded, io_words};
use crate::inputs::{Input, Inputs, Skipped};
use crate::job::{CompactJob, PolicyJob};
use crate::read::{self, FaultLine, Opened, Read};
use crate::show;
use crate::target::{Destination, Taken, Target};
use crate::ui::{self, Stream, Ui};

/// From here on an input is worth showing progress for, in bytes.
const LONG_INPUT: u64 = 2_000_000;

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
    #[serde(skip)]
    pub(crate) verdict: Outcome,
}

/// A summary.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryLine {
    /// `digest` (made without a model) or `model`.
    pub(crate) author: &'static str,
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

/// The JSON document.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    version: &'static str,
    exit_code: u8,
    results: &'a [FileResult],
    skipped: &'a [Skipped],
    warnings: &'a [String],
    errors: &'a [ErrorLine],
}

pub(crate) fn run(job: &CompactJob) -> Done {
    let stream = match job.destination {
        Destination::Stdout if !job.dry_run => Stream::Err,
        _ => Stream::Out,
    };
    let ui = Ui::new(stream, is_long(&job.inputs.all));
    let errors = begin(&job.policy, &job.inputs);
    let mut skipped = job.inputs.skipped.clone();
    let mut results: Vec<FileResult> = Vec::new();
    let mut taken = Taken::default();
    let files = job.inputs.all.len();
    for (at, input) in job.inputs.all.iter().enumerate() {
        let doing = |what: &str| ui.progress(&format!("{what} ({} of {files})", at + 1));
        doing(&input.name());
        match one(job, input, &mut taken, &doing) {
            Ok(result) => {
                if !job.json && !result.conversations.is_empty() {
                    let gap = if results.is_empty() { "" } else { "\n" };
                    ui.say(&format!("{gap}{}", show::file(&result, ui.style)))?;
                }
                if let Some(error) = &result.error {
                    ui.progress("");
                    ui::error(&error.message);
                }
                results.push(result);
            }
            Err(found) => skipped.push(found),
        }
    }
    ui.progress("");
    let exits = results.iter().map(FileResult::exit);
    let exit = exits.chain(errors.iter().map(|e| e.exit)).max();
    let exit = exit.unwrap_or(Exit::Done);
    if job.json {
        ui.json(&Report {
            command: "compact",
            version: env!("CARGO_PKG_VERSION"),
            exit_code: exit.code(),
            results: &results,
            skipped: &skipped,
            warnings: &job.policy.warnings,
            errors: &errors,
        })?;
    } else if !skipped.is_empty() {
        ui.say(&show::skipped(&skipped, results.is_empty(), ui.style))?;
    }
    if results.is_empty() && errors.is_empty() {
        return Err(nothing_found());
    }
    Ok(exit)
}

/// Says what is to be said before the first input: warnings, and directories that cannot be listed.
pub(crate) fn begin(policy: &PolicyJob, inputs: &Inputs) -> Vec<ErrorLine> {
    policy.warnings.iter().for_each(|w| ui::warning(w));
    inputs
        .failed
        .iter()
        .for_each(|fail| ui::error(&fail.message()));
    inputs.failed.iter().map(ErrorLine::from).collect()
}

/// A directory without any conversation.
pub(crate) fn nothing_found() -> Fail {
    Fail::new(
        Exit::Input,
        anyhow::anyhow!("no conversation was found there; name a file, perhaps with --format"),
    )
}

/// Whether progress is worth showing.
pub(crate) fn is_long(inputs: &[Input]) -> bool {
    let bytes = |input: &Input| match input {
        Input::File { path, .. } => fs::metadata(path).map_or(0, |m| m.len()),
        Input::Stdin => 0,
    };
    inputs.iter().map(bytes).fold(0, u64::saturating_add) >= LONG_INPUT
}

/// One input. `Err`: a file of a directory that is none of ours.
fn one(
    job: &CompactJob,
    input: &Input,
    taken: &mut Taken,
    doing: &dyn Fn(&str),
) -> Result<FileResult, Skipped> {
    let opened = match guarded(&input.name(), || read::open(input, &job.read)) {
        Ok(Read::Opened(opened)) => opened,
        Ok(Read::Skipped(skipped)) => return Err(skipped),
        Err(fail) => {
            return Ok(FileResult {
                error: Some((&fail).into()),
                ..FileResult::of(input)
            });
        }
    };
    let mut result = FileResult {
        format: Some(opened.document.format()),
        bytes_before: Some(opened.bytes.len() as u64),
        faults: opened
            .document
            .faults()
            .iter()
            .map(FaultLine::from)
            .collect(),
        ..FileResult::of(input)
    };
    let done = guarded(&input.name(), || {
        process(job, input, &opened, taken, doing, &mut result)
    });
    if let Err(fail) = done {
        result.error = Some((&fail).into());
    }
    Ok(result)
}

fn process(
    job: &CompactJob,
    input: &Input,
    opened: &Opened,
    taken: &mut Taken,
    doing: &dyn Fn(&str),
    result: &mut FileResult,
) -> Result<(), Fail> {
    let document = &opened.document;
    let request = job.policy.request(document.format());
    let count = document.conversations().len();
    let mut edits: Vec<(usize, Projection)> = Vec::new();
    for (at, conversation) in document.conversations().iter().enumerate() {
        if count > 1 {
            doing(&format!(
                "{}: conversation {} of {count}",
                input.name(),
                at + 1
            ));
        }
        let compaction = compact(conversation, &request, &mut Embedded::default())
            .map_err(|error| Fail::new(Exit::Config, error))?;
        if compaction.is_change() {
            edits.push((at, compaction.projection()));
        }
        let done = ConversationResult::of(conversation, &compaction);
        result.conversations.push(done);
    }
    let bytes = if edits.is_empty() {
        opened.bytes.clone()
    } else {
        render(input, opened, &edits, result, request.only_if_triggered)?
    };
    result.bytes_after = Some(bytes.len() as u64);
    let failed = result.conversations.iter().any(|c| c.exit() != Exit::Done);
    // A place that was named gets the conversation even if it is the same; beside the input it would be a
    // useless copy. After a failure nothing is passed on as if it were done.
    if edits.is_empty() && (failed || !job.destination.is_named()) {
        return Ok(());
    }
    let target = job.destination.target(input);
    taken.take(&target, input)?;
    result.output = Some(put(job, input, &target, &bytes)?);
    Ok(())
}

/// The file again with what was compacted, read back to be sure of it.
fn render(
    input: &Input,
    opened: &Opened,
    edits: &[(usize, Projection)],
    result: &FileResult,
    automatic: bool,
) -> Result<Vec<u8>, Fail> {
    let first = edits
        .first()
        .and_then(|(at, _)| result.conversations.get(*at));
    let context = RenderContext {
        now_ms: opened.written_ms,
        id_seed: opened.seed(),
        tokens_before: first.map_or(0, |c| c.tokens_before),
        tokens_after: first.map_or(0, |c| c.tokens_after),
        automatic,
    };
    let edits: Vec<(usize, &Projection)> = edits.iter().map(|(at, p)| (*at, p)).collect();
    let bytes = opened
        .document
        .render(&edits, &context)
        .map_err(|error| Fail::about(Exit::Compaction, input.name(), &error.to_string()))?;
    let options = OpenOptions {
        format: Some(opened.document.format()),
        lenient: true,
    };
    let again = Document::open(bytes.clone(), &options).map(|d| d.conversations().len());
    match again {
        Ok(count) if count == opened.document.conversations().len() => Ok(bytes),
        _ => Err(Fail::about(
            Exit::Compaction,
            input.name(),
            "the result could not be read back, so nothing was written; this is a fault of this program, \
             please report it",
        )),
    }
}

fn put(job: &CompactJob, input: &Input, target: &Target, bytes: &[u8]) -> Result<Written, Fail> {
    let path = match target {
        Target::Stdout => {
            if !job.dry_run {
                ui::write_out(bytes)?;
            }
            let state = match job.dry_run {
                true => WrittenState::DryRun,
                false => WrittenState::Written,
            };
            return Ok(Written {
                path: "-".to_owned(),
                state,
            });
        }
        Target::File(path) => path,
    };
    let name = path.display().to_string();
    let written = |state| Written {
        path: name.clone(),
        state,
    };
    if job.dry_run {
        return Ok(written(WrittenState::DryRun));
    }
    let fail = |error: std::io::Error| Fail::about(Exit::Output, &name, &io_words(&error));
    if let (Destination::Dir(_), Some(dir)) = (&job.destination, path.parent()) {
        fs::create_dir_all(dir).map_err(fail)?;
    }
    let permissions = match input {
        Input::File { path, .. } => fs::metadata(path).ok().map(|m| m.permissions()),
        Input::Stdin => None,
    };
    match atomic::write(path, bytes, permissions, job.overwrite) {
        Ok(Wrote::New) => Ok(written(WrittenState::Written)),
        Ok(Wrote::Replaced) => Ok(written(WrittenState::Replaced)),
        Ok(Wrote::Same) => Ok(written(WrittenState::AlreadyThere)),
        Err(Refused::Io(error)) => Err(fail(error)),
        Err(Refused::Exists) => Err(Fail::about(
            Exit::Output,
            &name,
            "is already there and was left alone; use --overwrite to replace it, or --out to write elsewhere",
        )),
    }
}

impl FileResult {
    fn of(input: &Input) -> Self {
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

    fn exit(&self) -> Exit {
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
            counted_before: size.estimated,
            counted_after: tokens_after.saturating_add_signed(size.footing().saturating_neg()),
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
                tokens: measured.summary_tokens,
                text: summary.text.to_string(),
            }),
            shortened: shortened(conversation, compaction),
            stays: stays(conversation, compaction),
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
            Outcome::Rejected
            | Outcome::Failed
            | Outcome::Cancelled
            | Outcome::Conflict
            | Outcome::Deferred => Exit::Compaction,
        }
    }
}
