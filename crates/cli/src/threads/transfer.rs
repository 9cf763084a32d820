//! Threads and files: messages come from them, whole threads go into them and come back.

use std::fs::Permissions;
use std::path::Path;

use conspectus::threads::Json;
use serde_json::{Value, json};

use super::bring::{self, Brought};
use super::place::{Ask, Place, checked};
use super::trouble::Trouble;
use super::{Told, reading, tell, told_thread, writing};
use crate::Done;
use crate::args::{CommonArgs, FromFile, OfThread};
use crate::atomic::{self, Wrote};
use crate::fail::{Exit, Fail};
use crate::show::{count, plain};
use crate::ui::write_out;

/// The most messages and bytes that are sent at once.
const MOST_MESSAGES: usize = 500;
const MOST_BYTES: usize = 4 << 20;

/// `thread import`.
pub(super) fn import(
    from: &FromFile,
    id: Option<String>,
    title: Option<&str>,
    common: &CommonArgs,
) -> Result<Told, Fail> {
    let input = bring::input(from);
    let brought = bring::read(from)?;
    let own = match &brought {
        Brought::Export { id, .. } => Some(id.clone()),
        Brought::Messages(_) => bring::id_of(&input),
    };
    let Some(id) = id.or(own) else {
        let why = "no id can be made of the file's name; say one with --id";
        return Err(Fail::about(Exit::Usage, input.name(), why));
    };
    let id = checked(&id)?;
    let messages = match brought {
        Brought::Export { .. } if title.is_some() => {
            let why = "an export has its own title; leave it out";
            return Err(Fail::about(Exit::Usage, "--title", why));
        }
        Brought::Export { lines, .. } => {
            let place = writing(common)?;
            return told_thread(&*place, &id, &Ask::Import(&lines), "imported");
        }
        Brought::Messages(messages) => messages,
    };
    let place = writing(common)?;
    let fail = |trouble: Trouble| trouble.fail(&id, place.name());
    let create = Ask::Create {
        title,
        policy: None,
    };
    place.ask(&id, &create).map_err(fail)?;
    if let Err(why) = append(&*place, &id, &messages) {
        // Nothing half made is left.
        let _ = place.ask(&id, &Ask::Delete);
        return Err(why);
    }
    told_thread(&*place, &id, &Ask::Get, "imported")
}

/// Appends in pieces that a service takes; the answer is one for all.
fn append(place: &dyn Place, id: &str, messages: &[Json]) -> Result<Value, Fail> {
    let (mut ids, mut new) = (Vec::new(), 0);
    let mut checkpoint = Value::Null;
    let mut rest = messages;
    loop {
        let mut bytes = 0;
        let fits = rest.iter().take(MOST_MESSAGES).take_while(|message| {
            bytes += message.as_str().len();
            bytes <= MOST_BYTES
        });
        // One that is too large alone goes alone.
        let some = fits.count().max(1).min(rest.len());
        let (now, later) = rest.split_at(some);
        let mut answer = place
            .ask(id, &Ask::Append(now))
            .map_err(|trouble| trouble.fail(id, place.name()))?;
        new += answer["new"].as_u64().unwrap_or(0);
        if let Value::Array(some) = answer["ids"].take() {
            ids.extend(some);
        }
        checkpoint = match answer["checkpoint_id"].take() {
            Value::Null => checkpoint,
            newer => newer,
        };
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    Ok(json!({ "ids": ids, "new": new, "checkpoint_id": checkpoint }))
}

/// `thread append`.
pub(super) fn added(from: &FromFile, id: &str, common: &CommonArgs) -> Result<Told, Fail> {
    let messages = match bring::read(from)? {
        Brought::Messages(messages) => messages,
        Brought::Export { .. } => {
            let why = "it is a thread that was exported; conspectus thread import makes one of it";
            return Err(Fail::about(Exit::Input, bring::input(from).name(), why));
        }
    };
    let place = reading(common)?;
    let id = checked(id)?;
    let result = append(&*place, &id, &messages)?;
    let named = (id.to_string(), place.name().to_owned());
    Ok(Told {
        place: place.name().to_owned(),
        thread: Some(id.to_string()),
        result,
        exit: Exit::Done,
        text: Box::new(move |answer, style| {
            let new = answer["new"].as_u64().unwrap_or(0);
            let there = answer["ids"].as_array().map_or(0, Vec::len) as u64 - new;
            let there = match there {
                0 => String::new(),
                n => format!(", {} there already", count(n, "message")),
            };
            format!(
                "{}  in {}: {} added{there}\n",
                style.bold(&named.0),
                plain(&named.1),
                count(new, "message")
            )
        }),
    })
}

/// `thread export`.
pub(super) fn export(thread: &OfThread, out: &Path, overwrite: bool) -> Done {
    let is_stdout = out.as_os_str() == "-";
    if is_stdout && thread.common.json {
        let why = "standard output already takes the thread; give --out a file";
        return Err(Fail::about(Exit::Usage, "--json", why));
    }
    let read = || -> Result<(Box<dyn Place>, String), Fail> {
        let place = reading(&thread.common)?;
        let id = checked(&thread.id)?;
        let answer = place.ask(&id, &Ask::Export);
        let answer = answer.map_err(|trouble| trouble.fail(&id, place.name()))?;
        Ok((place, answer.as_str().unwrap_or_default().to_owned()))
    };
    if is_stdout {
        let (_, lines) = read()?;
        write_out(lines.as_bytes())?;
        return Ok(Exit::Done);
    }
    tell("thread export", thread.common.json, || {
        let (place, lines) = read()?;
        let name = out.display().to_string();
        let wrote = atomic::write(out, lines.as_bytes(), private(), overwrite);
        let wrote = wrote.map_err(|refused| refused.fail(&name))?;
        let state = match wrote {
            Wrote::New => "written",
            Wrote::Replaced => "replaced",
            Wrote::Same => "already_there",
        };
        let id = thread.id.clone();
        Ok(Told {
            place: place.name().to_owned(),
            thread: Some(thread.id.clone()),
            result: json!({ "path": name, "state": state, "bytes": lines.len() }),
            exit: Exit::Done,
            text: Box::new(move |_, style| {
                let lines = count(lines.lines().count() as u64, "line");
                format!("{id}  {lines} written to {}\n", style.bold(&plain(&name)))
            }),
        })
    })
}

/// A conversation is its owner's alone.
#[cfg(unix)]
fn private() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private() -> Option<Permissions> {
    None
}
