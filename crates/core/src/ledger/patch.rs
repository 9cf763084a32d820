//! Which files a patch text touches: the `*** Update File:` envelope, and unified diffs.

use super::action::{Action, path};

/// The files of an envelope (`*** Begin Patch` … ), in order.
pub(super) fn envelope(text: &str, out: &mut Vec<Action>) {
    if !text.contains("*** ") {
        return;
    }
    let mut current = None;
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("*** ") else {
            continue;
        };
        let Some((verb, name)) = rest.split_once(": ") else {
            continue;
        };
        let Some(name) = path(name) else { continue };
        match verb {
            "Update File" => out.push(Action::Edit(name.clone())),
            "Add File" => out.push(Action::Create(name.clone())),
            "Delete File" => out.push(Action::Delete(name.clone())),
            "Move to" => {
                out.extend(current.take().map(Action::Delete));
                out.push(Action::Create(name.clone()));
            }
            _ => continue,
        }
        current = Some(name);
    }
}

/// The files of a unified diff, by its `+++` lines.
pub(super) fn unified(text: &str, out: &mut Vec<Action>) {
    let mut before = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            let name = name.split('\t').next().unwrap_or(name);
            if name == "/dev/null" {
                out.extend(path(before.strip_prefix("a/").unwrap_or(before)).map(Action::Delete));
            } else {
                let new = before == "/dev/null";
                let name = path(name.strip_prefix("b/").unwrap_or(name));
                out.extend(name.map(|n| {
                    if new {
                        Action::Create(n)
                    } else {
                        Action::Edit(n)
                    }
                }));
            }
        }
        before = line
            .strip_prefix("--- ")
            .map_or("", |name| name.split('\t').next().unwrap_or(name));
    }
}
