//! Threads on the command line: `thread`, `compact --thread` and `recall`, in a store or behind a service.
//!
//! What was typed becomes a question ([`place::Ask`]); the place answers it with JSON ([`embedded`], [`remote`]); that is
//! shown ([`show`]) or printed as it is (`--json`). Nothing here decides anything about a conversation.

mod bring;
mod compacting;
pub(crate) mod embedded;
mod glimpse;
mod offered;
pub(crate) mod place;
mod remote;
pub(crate) mod show;
pub(crate) mod store;
mod transfer;
pub(crate) mod tree;
mod trouble;

use std::path::Path;

use conspectus::Models;
use conspectus::threads::{Page, Purge, Recall, RunModel};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) use self::compacting::compact;
use self::compacting::compaction;
pub(crate) use self::offered::offer;
use self::place::{Ask, Missing, Place, checked, open};
use crate::Done;
use crate::args::{CommonArgs, OfThread, PolicyArgs, RecallArgs, SummaryArgs, ThreadCommand};
use crate::asking;
use crate::fail::{Exit, Fail, io_words};
use crate::inputs::Input;
use crate::job;
use crate::read::bytes_of;
use crate::show::{Style, plain};
use crate::ui::{self, Stream, Talk, Ui};

/// The models of a store's threads.
pub(crate) struct Runs {
    models: Models,
    listed: Vec<RunModel>,
}

/// Makes the report of what was answered.
type Text = Box<dyn FnOnce(&Value, Style) -> String>;

/// What a command came to.
struct Told {
    /// Where.
    place: String,
    /// Which thread, where it is one.
    thread: Option<String>,
    /// What the place answered.
    result: Value,
    exit: Exit,
    /// The report.
    text: Text,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    command: &'a str,
    version: &'a str,
    exit_code: u8,
    place: Option<&'a str>,
    thread: Option<&'a str>,
    result: Option<&'a Value>,
    error: Option<ErrorLine>,
}

#[derive(Serialize)]
struct ErrorLine {
    exit_code: u8,
    message: String,
}

/// `thread`.
pub(crate) fn run(command: ThreadCommand) -> Done {
    match command {
        ThreadCommand::Ls {
            text,
            limit,
            after,
            common,
        } => tell("thread ls", common.json, || {
            let place = reading(&common)?;
            let ask = Ask::List {
                text: text.as_deref(),
                limit,
                after: after.as_deref(),
            };
            let shown = place.name().to_owned();
            told(&*place, None, &ask, move |answer, style| {
                show::list(answer, &shown, style)
            })
        }),
        ThreadCommand::Show {
            thread,
            limit,
            before,
            all,
        } => tell("thread show", thread.common.json, || {
            shown(&thread, limit, before, all)
        }),
        ThreadCommand::Request(thread) => tell("thread request", thread.common.json, || {
            asked(&thread, &Ask::Request, |answer, _| {
                format!("{:#}\n", answer["messages"])
            })
        }),
        ThreadCommand::Log {
            thread,
            limit,
            summaries,
        } => tell("thread log", thread.common.json, || {
            let id = thread.id.clone();
            asked(&thread, &Ask::Log { limit }, move |answer, style| {
                show::log(answer, &id, summaries, style)
            })
        }),
        ThreadCommand::New {
            thread,
            title,
            policy,
        } => tell("thread new", thread.common.json, || {
            let policy = policy.as_deref().map(policy_of).transpose()?;
            let ask = Ask::Create {
                title: title.as_deref(),
                policy: policy.as_ref(),
            };
            let place = writing(&thread.common)?;
            told_thread(&*place, &thread.id, &ask, "made")
        }),
        ThreadCommand::Import {
            from,
            id,
            title,
            common,
        } => tell("thread import", common.json, || {
            transfer::import(&from, id, title.as_deref(), &common)
        }),
        ThreadCommand::Append { id, from, common } => tell("thread append", common.json, || {
            transfer::added(&from, &id, &common)
        }),
        ThreadCommand::Export {
            thread,
            out,
            overwrite,
        } => transfer::export(&thread, &out, overwrite),
        ThreadCommand::Apply { thread, preview } => {
            tell("thread apply", thread.common.json, || {
                let place = reading(&thread.common)?;
                let id = checked(&thread.id)?;
                compaction(&*place, &id, &Ask::Apply(&preview), false)
            })
        }
        ThreadCommand::Undo(thread) => tell("thread undo", thread.common.json, || {
            moved(&thread, &Ask::Undo, "taken back")
        }),
        ThreadCommand::Redo(thread) => tell("thread redo", thread.common.json, || {
            moved(&thread, &Ask::Redo, "in force again")
        }),
        ThreadCommand::Branch {
            thread,
            to,
            at,
            title,
        } => tell("thread branch", thread.common.json, || {
            checked(&to)?;
            let ask = Ask::Branch {
                to: &to,
                at: at.as_deref(),
                title: title.as_deref(),
            };
            let place = reading(&thread.common)?;
            told_thread(&*place, &thread.id, &ask, "branched off")
        }),
        ThreadCommand::Rm { ids, common } => {
            tell("thread rm", common.json, || remove(&ids, &common))
        }
        ThreadCommand::Purge {
            thread,
            message,
            secret_in,
        } => tell("thread purge", thread.common.json, || {
            let purge = match (message, secret_in) {
                (Some(id), _) => Purge::Message(id.into()),
                (None, path) => Purge::Secret(secret(path.as_deref())?.into()),
            };
            let id = thread.id.clone();
            asked(&thread, &Ask::Purge(&purge), move |answer, style| {
                show::purged(answer, &id, style)
            })
        }),
    }
}

/// `recall`.
pub(crate) fn recall(args: &RecallArgs) -> Done {
    tell("recall", args.common.json, || {
        let recall = match (&args.id, &args.reference) {
            (_, Some(reference)) => Recall::Reference {
                reference: reference.as_str().into(),
            },
            (Some(id), _) => Recall::Id {
                id: id.as_str().into(),
                before: args.before,
                after: args.after,
            },
            (None, None) => Recall::Words {
                query: args.query.join(" ").into(),
                limit: args.limit,
                folded_only: args.folded,
            },
        };
        let place = reading(&args.common)?;
        let id = checked(&args.thread)?;
        let (named, full) = (args.thread.clone(), args.full);
        told(
            &*place,
            Some(&id),
            &Ask::Recall(&recall),
            move |answer, style| show::recalled(answer, &named, full, style),
        )
    })
}

fn runs(policy: &job::PolicyJob, summary: &SummaryArgs) -> Result<Runs, Fail> {
    let made = asking::threaded(policy.config(), summary, policy.call_timeout_ms())?;
    Ok(Runs {
        models: made.models,
        listed: made.listed,
    })
}

/// A place that has threads.
fn reading(common: &CommonArgs) -> Result<Box<dyn Place + Send>, Fail> {
    place(common, Missing::Refuse)
}

/// A place that may be new.
fn writing(common: &CommonArgs) -> Result<Box<dyn Place + Send>, Fail> {
    place(common, Missing::Make)
}

fn place(common: &CommonArgs, missing: Missing) -> Result<Box<dyn Place + Send>, Fail> {
    open(&common.place, missing, || {
        let (args, summary) = (
            PolicyArgs {
                config: common.config.clone(),
                ..PolicyArgs::default()
            },
            SummaryArgs::default(),
        );
        let policy = job::policy(args, None, &summary)?;
        let runs = runs(&policy, &summary)?;
        Ok((policy, runs))
    })
}

/// Asks, and keeps what is to be told.
fn told(
    place: &dyn Place,
    thread: Option<&str>,
    ask: &Ask<'_>,
    text: impl FnOnce(&Value, Style) -> String + 'static,
) -> Result<Told, Fail> {
    let named = thread.unwrap_or_default();
    let answer = place.ask(named, ask);
    Ok(Told {
        result: answer.map_err(|trouble| trouble.fail(named, place.name()))?,
        place: place.name().to_owned(),
        thread: thread.map(str::to_owned),
        exit: Exit::Done,
        text: Box::new(text),
    })
}

/// The same about a thread that is there.
fn asked(
    thread: &OfThread,
    ask: &Ask<'_>,
    text: impl FnOnce(&Value, Style) -> String + 'static,
) -> Result<Told, Fail> {
    let place = reading(&thread.common)?;
    told(&*place, Some(&checked(&thread.id)?), ask, text)
}

/// The same where the answer is a thread.
fn told_thread(
    place: &dyn Place,
    id: &str,
    ask: &Ask<'_>,
    what: &'static str,
) -> Result<Told, Fail> {
    let shown = place.name().to_owned();
    told(place, Some(&checked(id)?), ask, move |answer, style| {
        show::thread(answer, what, &shown, style)
    })
}

fn shown(thread: &OfThread, limit: u32, before: Option<u64>, is_all: bool) -> Result<Told, Fail> {
    let place = reading(&thread.common)?;
    let id = checked(&thread.id)?;
    let page = Page {
        limit,
        before,
        after: None,
    };
    let mut parts = serde_json::Map::new();
    for (name, ask) in [
        ("thread", Ask::Get),
        ("status", Ask::Status),
        ("visible", Ask::Visible(&page)),
    ] {
        let part = place.ask(&id, &ask);
        let part = part.map_err(|trouble| trouble.fail(&id, place.name()))?;
        parts.insert(name.to_owned(), part);
    }
    let named = place.name().to_owned();
    Ok(Told {
        place: named.clone(),
        thread: Some(id.to_string()),
        result: Value::Object(parts),
        exit: Exit::Done,
        text: Box::new(move |answer, style| {
            let head = show::thread(&answer["thread"], "", &named, style);
            let status = show::status(&answer["status"], style);
            let visible = show::visible(&answer["visible"], is_all, style);
            head + &status + &visible
        }),
    })
}

fn moved(thread: &OfThread, ask: &Ask<'_>, what: &'static str) -> Result<Told, Fail> {
    let place = reading(&thread.common)?;
    let id = checked(&thread.id)?;
    let (named, shown) = (thread.id.clone(), place.name().to_owned());
    told(&*place, Some(&id), ask, move |answer, style| {
        format!(
            "{}  in {}: compaction {} is {what}\n",
            style.bold(&named),
            plain(&shown),
            answer["record"]
        )
    })
}

fn remove(ids: &[String], common: &CommonArgs) -> Result<Told, Fail> {
    for id in ids {
        checked(id)?;
    }
    let place = reading(common)?;
    let (mut removed, mut errors, mut exit) = (Vec::new(), Vec::new(), Exit::Done);
    for id in ids {
        match place.ask(id, &Ask::Delete) {
            Ok(_) => removed.push(id.clone()),
            Err(trouble) => {
                let fail = trouble.fail(id, place.name());
                ui::error(&fail.message());
                exit = exit.max(fail.exit);
                errors.push(json!({ "thread": id, "message": fail.message() }));
            }
        }
    }
    let shown = place.name().to_owned();
    Ok(Told {
        place: place.name().to_owned(),
        thread: None,
        result: json!({ "removed": removed, "errors": errors }),
        exit,
        text: Box::new(move |_, _| {
            let lines = removed.iter();
            lines
                .map(|id| format!("{id}  removed from {}\n", plain(&shown)))
                .collect()
        }),
    })
}

/// Options of a thread's own.
fn policy_of(path: &Path) -> Result<Value, Fail> {
    let fail = |why: &str| Fail::about(Exit::Config, path.display(), why);
    let text = std::fs::read_to_string(path).map_err(|why| fail(&io_words(&why)))?;
    let policy = serde_json::from_str::<Value>(&text);
    let policy = policy.map_err(|why| fail(&format!("it is no JSON: {why}")))?;
    match policy.is_object() {
        true => Ok(policy),
        false => Err(fail("expected an object with options and their values")),
    }
}

/// What is to be taken out. It is no argument, since those can be seen by others, and is never shown.
fn secret(path: Option<&Path>) -> Result<String, Fail> {
    let input = match path {
        Some(path) if path.as_os_str() != "-" => Input::File {
            path: path.to_owned(),
            below: path.to_owned(),
            found: false,
        },
        _ => Input::Stdin,
    };
    let fail = |why: &str| Fail::about(Exit::Input, input.name(), why);
    let (bytes, _) = bytes_of(&input).map_err(|why| fail(&io_words(&why)))?;
    let text = String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8"))?;
    let text = text.trim_end_matches(['\n', '\r']);
    match text.trim().is_empty() {
        true => Err(fail("there is no text in it")),
        false => Ok(text.to_owned()),
    }
}

/// Does it, and tells what it came to: a report, or one JSON document, also of a failure.
fn tell(command: &str, is_json: bool, work: impl FnOnce() -> Result<Told, Fail>) -> Done {
    let talk = if is_json { Talk::Json } else { Talk::Normal };
    let ui = Ui::new(Stream::Out, false, talk);
    let told = match work() {
        Ok(told) => told,
        Err(fail) if is_json && !fail.is_broken_pipe() => {
            ui::error(&fail.message());
            ui.json(&Document {
                command,
                version: env!("CARGO_PKG_VERSION"),
                exit_code: fail.exit.code(),
                place: None,
                thread: None,
                result: None,
                error: Some(ErrorLine {
                    exit_code: fail.exit.code(),
                    message: fail.message(),
                }),
            })?;
            return Ok(fail.exit);
        }
        Err(fail) => return Err(fail),
    };
    match is_json {
        true => ui.json(&Document {
            command,
            version: env!("CARGO_PKG_VERSION"),
            exit_code: told.exit.code(),
            place: Some(&told.place),
            thread: told.thread.as_deref(),
            result: Some(&told.result),
            error: None,
        })?,
        false => ui.say(&(told.text)(&told.result, ui.style))?,
    }
    Ok(told.exit)
}
