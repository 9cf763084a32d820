//! `conspectus compact`: every input is read, its conversations are compacted, the result is written.

use std::borrow::Cow;
use std::fs;

use crate::Done;
use crate::asking::Telling;
use crate::atomic::{self, Before, Refused, Wrote};
use crate::fail::{Exit, Fail, guarded, io_words};
use crate::inputs::{Input, Skipped};
use crate::job::CompactJob;
use crate::read::{self, FaultLine, Opened, Read};
use crate::report::{ConversationResult, FileResult, Written, WrittenState};
use crate::round::Round;
use crate::show;
use crate::target::{Destination, Taken, Target};
use crate::ui::{self, ProgressLine, Stream, Talk};
use conspectus::core::projection::Projection;
use conspectus::wire::Target as Form;
use conspectus::{Document, OpenOptions, RenderContext};

pub(crate) fn run(job: &CompactJob) -> Done {
    let stream = match job.destination {
        Destination::Stdout if !job.dry_run => Stream::Err,
        _ => Stream::Out,
    };
    let talk = match (job.json, job.quiet) {
        (true, _) => Talk::Json,
        (_, true) => Talk::Quiet,
        _ => Talk::Normal,
    };
    let mut round = Round::begin("compact", stream, talk, Some(&job.policy), &job.inputs);
    let mut results: Vec<FileResult> = Vec::new();
    let mut taken = Taken::default();
    let files = job.inputs.all.len();
    for (at, input) in job.inputs.all.iter().enumerate() {
        let doing = |what: &str| {
            round
                .ui
                .progress(&format!("{what} ({} of {files})", at + 1))
        };
        doing(&input.short_name());
        let telling = Telling {
            progress: ProgressLine::new(talk),
            is_told: talk == Talk::Normal,
            is_dry: job.dry_run,
        };
        let doing = Doing {
            what: &doing,
            telling,
        };
        match one(job, input, &mut taken, &doing) {
            Ok(result) => {
                if !result.conversations.is_empty() {
                    round.show(|style| show::file(&result, style))?;
                }
                if let Some(error) = &result.error {
                    round.ui.progress("");
                    ui::error(&error.message);
                }
                let is_stopped = result.is_stopped();
                results.push(result);
                if is_stopped {
                    break;
                }
            }
            Err(found) => round.skip(found),
        }
    }
    round.ui.progress("");
    let exits = results.iter().map(FileResult::exit);
    round.end(&results, exits)
}

/// What is said while it works.
struct Doing<'a> {
    what: &'a dyn Fn(&str),
    telling: Telling,
}

/// One input. `Err`: a file of a directory that is none of ours.
fn one(
    job: &CompactJob,
    input: &Input,
    taken: &mut Taken,
    doing: &Doing<'_>,
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
        bytes_before: Some(opened.document.bytes().len() as u64),
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
    doing: &Doing<'_>,
    result: &mut FileResult,
) -> Result<(), Fail> {
    let document = &opened.document;
    let to = form(job, input, document)?;
    let count = document.conversations().len();
    let mut edits: Vec<(usize, Projection)> = Vec::new();
    let mut automatic = false;
    for (at, conversation) in document.conversations().iter().enumerate() {
        if count > 1 {
            (doing.what)(&format!(
                "{}: conversation {} of {count}",
                input.short_name(),
                at + 1
            ));
        }
        let request = job.request(document.format(), conversation)?;
        automatic = request.only_if_triggered;
        let (compaction, asked) = job.compact((document, at), &request, &doing.telling)?;
        if compaction.is_change() {
            edits.push((at, compaction.projection()));
        }
        result.conversations.push(ConversationResult {
            asked,
            ..ConversationResult::of(conversation, &compaction)
        });
        // Half of a file is of no use to whoever stopped it.
        if result.is_stopped() {
            return Ok(());
        }
    }
    let bytes = if edits.is_empty() && to.is_none() {
        Cow::Borrowed(opened.document.bytes())
    } else {
        let rendered = render(input, opened, &edits, to, result, automatic)?;
        Cow::Owned(rendered)
    };
    result.bytes_after = Some(bytes.len() as u64);
    let failed = result.conversations.iter().any(|c| c.exit() != Exit::Done);
    // A place that was named gets the conversation even if it is the same; beside the input it would be a
    // useless copy. After a failure nothing is passed on as if it were done.
    let is_asked = job.destination.is_named() || to.is_some();
    if edits.is_empty() && (failed || !is_asked) {
        return Ok(());
    }
    let target = job
        .destination
        .target(input, to.map(|to| extension(to, count)));
    taken.take(&target, input)?;
    result.output = Some(put(job, input, &target, &bytes)?);
    Ok(())
}

/// The form to write: the input's own without one.
///
/// # Errors
/// When the input's own is a log's, which nothing reads back.
fn form(job: &CompactJob, input: &Input, document: &Document) -> Result<Option<Form>, Fail> {
    let format = document.format();
    let other = job.to.filter(|to| to.format() != format);
    if other.is_none() && !format.is_written_in_place() {
        let why = format!(
            "{format} files are logs that nothing reads back, so nothing was written; add --to openai for chat \
             messages or --to neutral for role and parts"
        );
        return Err(Fail::about(Exit::Usage, input.name(), &why));
    }
    Ok(other)
}

/// Several conversations as chat messages are one a line.
fn extension(form: Form, conversations: usize) -> &'static str {
    match form {
        Form::OpenAi if conversations > 1 => "jsonl",
        _ => "json",
    }
}

/// The file again with what was compacted, read back to be sure of it.
fn render(
    input: &Input,
    opened: &Opened,
    edits: &[(usize, Projection)],
    to: Option<Form>,
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
        cache_summary: false,
    };
    let edits: Vec<(usize, &Projection)> = edits.iter().map(|(at, p)| (*at, p)).collect();
    let bytes = match to {
        None => opened.document.render(&edits, &context),
        Some(form) => opened.document.convert(&edits, form),
    };
    let bytes =
        bytes.map_err(|error| Fail::about(Exit::Compaction, input.name(), &error.to_string()))?;
    let options = OpenOptions {
        format: Some(to.map_or(opened.document.format(), Form::format)),
        lenient: true,
    };
    match Document::open(bytes, &options) {
        Ok(again) if again.conversations().len() == opened.document.conversations().len() => {
            Ok(again.into_bytes())
        }
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
    let fail = |error: std::io::Error| Fail::about(Exit::Output, &name, &io_words(&error));
    let refused = |refused| match refused {
        Refused::Io(error) => fail(error),
        Refused::Exists => Fail::about(
            Exit::Output,
            &name,
            "is already there and was left alone; use --overwrite to replace it, or --out to write elsewhere",
        ),
    };
    if job.dry_run {
        return match atomic::before(path, bytes, job.overwrite).map_err(refused)? {
            Before::Same => Ok(written(WrittenState::AlreadyThere)),
            _ => Ok(written(WrittenState::DryRun)),
        };
    }
    if let (Destination::Dir(_), Some(dir)) = (&job.destination, path.parent()) {
        fs::create_dir_all(dir).map_err(fail)?;
    }
    let permissions = match input {
        Input::File { path, .. } => fs::metadata(path).ok().map(|m| m.permissions()),
        Input::Stdin => None,
    };
    let wrote = atomic::write(path, bytes, permissions, job.overwrite).map_err(refused)?;
    Ok(written(match wrote {
        Wrote::New => WrittenState::Written,
        Wrote::Replaced => WrittenState::Replaced,
        Wrote::Same => WrittenState::AlreadyThere,
    }))
}
