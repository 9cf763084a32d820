//! `conspectus inspect`: where the tokens are, what is wrong, and what would fire.

use conspectus::{Conversation, Format, Inspection, inspect};
use serde::Serialize;

use crate::Done;
use crate::fail::{Exit, Fail, guarded};
use crate::inputs::Input;
use crate::job::LookJob;
use crate::read::{self, FaultLine, Opened, Read};
use crate::report::ErrorLine;
use crate::round::Round;
use crate::show;
use crate::ui::{self, Stream, Talk};

/// One input, looked into.
#[derive(Debug, Serialize)]
pub(crate) struct Looked<T> {
    /// The input.
    pub(crate) input: String,
    /// Its format, where it could be read.
    pub(crate) format: Option<Format>,
    /// Its size.
    pub(crate) bytes: Option<u64>,
    /// Its conversations, in order.
    pub(crate) conversations: Vec<T>,
    /// What was not understood.
    pub(crate) faults: Vec<FaultLine>,
    /// What went wrong.
    pub(crate) error: Option<ErrorLine>,
}

/// One conversation.
#[derive(Debug, Serialize)]
pub(crate) struct Inspected {
    /// Its index or id in the file.
    pub(crate) label: String,
    /// What it holds.
    #[serde(flatten)]
    pub(crate) inspection: Inspection,
}

pub(crate) fn run(job: &LookJob) -> Done {
    look(job, "inspect", &inspected, &show::inspection)
}

fn inspected(
    job: &LookJob,
    opened: &Opened,
    conversation: &Conversation,
) -> Result<Inspected, Fail> {
    let request = job.policy.request(opened.document.format(), conversation)?;
    let inspection =
        inspect(conversation, &request).map_err(|error| Fail::new(Exit::Config, error))?;
    Ok(Inspected {
        label: conversation.label().to_owned(),
        inspection,
    })
}

/// Reads every input, looks at every conversation that is asked for, and shows what was seen.
pub(crate) fn look<T: Serialize>(
    job: &LookJob,
    command: &'static str,
    at: &dyn Fn(&LookJob, &Opened, &Conversation) -> Result<T, Fail>,
    shown: &dyn Fn(&Looked<T>, show::Style) -> String,
) -> Done {
    let talk = if job.json { Talk::Json } else { Talk::Normal };
    let mut round = Round::begin(command, Stream::Out, talk, Some(&job.policy), &job.inputs);
    let mut results: Vec<Looked<T>> = Vec::new();
    for input in &job.inputs.all {
        round.ui.progress(&input.short_name());
        let opened = match guarded(&input.name(), || read::open(input, &job.read)) {
            Ok(Read::Opened(opened)) => Ok(opened),
            Ok(Read::Skipped(found)) => {
                round.skip(found);
                continue;
            }
            Err(fail) => Err(fail),
        };
        let looked = opened.and_then(|opened| {
            guarded(&input.name(), || {
                let mut looked = Looked::of(input, &opened);
                for conversation in chosen(job, input, &opened)? {
                    let name = conversation.label();
                    let doing = format!("{}: conversation {name}", input.short_name());
                    round.ui.progress(&doing);
                    looked.conversations.push(at(job, &opened, conversation)?);
                }
                Ok(looked)
            })
        });
        round.ui.progress("");
        match looked {
            Ok(looked) => {
                round.show(|style| shown(&looked, style))?;
                results.push(looked);
            }
            Err(fail) => {
                ui::error(&fail.message());
                results.push(Looked::failed(input, &fail));
            }
        }
    }
    let exits = results.iter().filter_map(|r| r.error.as_ref());
    round.end(&results, exits.map(|error| error.exit))
}

/// The conversations that are asked for.
fn chosen<'a>(
    job: &LookJob,
    input: &Input,
    opened: &'a Opened,
) -> Result<Vec<&'a Conversation>, Fail> {
    let all = opened.document.conversations();
    let Some(label) = &job.conversation else {
        return Ok(all.iter().collect());
    };
    let found: Vec<_> = all.iter().filter(|c| c.label() == label).collect();
    if found.is_empty() {
        const SHOWN: usize = 10;
        let labels: Vec<&str> = all.iter().take(SHOWN).map(Conversation::label).collect();
        let more = if all.len() > SHOWN { ", …" } else { "" };
        let why = format!(
            "there is no conversation {label:?} in it; there are {}{more}",
            labels.join(", ")
        );
        return Err(Fail::about(Exit::Usage, input.name(), &why));
    }
    Ok(found)
}

impl<T> Looked<T> {
    fn of(input: &Input, opened: &Opened) -> Self {
        let document = &opened.document;
        Self {
            input: input.name(),
            format: Some(document.format()),
            bytes: Some(document.bytes().len() as u64),
            conversations: Vec::new(),
            faults: document.faults().iter().map(FaultLine::from).collect(),
            error: None,
        }
    }

    fn failed(input: &Input, fail: &Fail) -> Self {
        Self {
            input: input.name(),
            format: None,
            bytes: None,
            conversations: Vec::new(),
            faults: Vec::new(),
            error: Some(fail.into()),
        }
    }
}
