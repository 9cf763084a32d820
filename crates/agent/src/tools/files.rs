//! Reading, listing and writing files.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use conspectus::{Boxed, ToolSpec};

use super::{readable, writable};
use crate::channel::skill::{STAMP, front_matter, stamp};
use crate::context::RunContext;
use crate::tool::{Tool, ToolCall, ToolResult, schema};

/// Bytes of a file that are read at all.
const MAX_FILE: u64 = 10 << 20;
/// Characters that one read gives.
const MAX_CHARS: usize = 50_000;
/// Entries of a folder that are listed.
const MAX_ENTRIES: usize = 500;

/// `read_file`: a file of the workspace or of a skill. Reads of a skill's file are stamped with what it is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFile;

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".into(),
            description: "Reads a text file of the workspace or of a skill. Long files are read in pieces by line.".into(),
            parameters: schema(&[
                ("path", "string", "The path, relative to the workspace, or a skill's"),
                ("?offset", "integer", "The first line to read, from 1"),
                ("?limit", "integer", "How many lines to read"),
            ]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move { read(cx, call).unwrap_or_else(ToolResult::error) })
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

fn read(cx: &RunContext, call: &ToolCall) -> Result<ToolResult, String> {
    let path = call.text("path").ok_or("`path` is missing")?;
    let text = text_of(&readable(cx, path)?, path)?;
    let from = usize::try_from(call.number("offset").unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    let limit = call
        .number("limit")
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(usize::MAX);
    let mut result = ToolResult::text(piece(&text, from, limit));
    let reads = cx.skills().reads();
    if let Some(path) = reads.file(path) {
        let description = front_matter(&text).and_then(|front| front.description);
        result
            .extra
            .insert(STAMP.into(), stamp(&path, &description.unwrap_or_default()));
    }
    Ok(result)
}

/// So many lines, as far as they fit, with a word about what is left.
fn piece(text: &str, from: usize, limit: usize) -> String {
    if text.is_empty() {
        return "(the file is empty)".to_owned();
    }
    let (mut out, mut used, mut next) = (String::new(), 0, from);
    for line in text.lines().skip(from - 1).take(limit) {
        let size = line.chars().count() + 1;
        if used + size > MAX_CHARS {
            if used == 0 {
                out.extend(line.chars().take(MAX_CHARS));
                out.push('\n');
                next += 1;
            }
            break;
        }
        out.push_str(line);
        out.push('\n');
        used += size;
        next += 1;
    }
    let all = text.lines().count();
    if next <= all {
        out.push_str(&format!(
            "(lines {from} to {} of {all}; read on with offset {next})\n",
            next - 1
        ));
    } else if from > all {
        out.push_str(&format!("(the file has only {all} lines)\n"));
    }
    out
}

pub(super) fn text_of(at: &Path, path: &str) -> Result<String, String> {
    let meta = fs::metadata(at).map_err(|why| failed(path, &why))?;
    if meta.is_dir() {
        return Err(format!("{path:?} is a folder; list it"));
    }
    if meta.len() > MAX_FILE {
        return Err(format!(
            "{path:?} is too large to read ({} bytes); search in it",
            meta.len()
        ));
    }
    let bytes = fs::read(at).map_err(|why| failed(path, &why))?;
    String::from_utf8(bytes).map_err(|_| format!("{path:?} is no text file"))
}

/// Without the place on the host's disk.
fn failed(path: &str, why: &std::io::Error) -> String {
    match why.kind() {
        ErrorKind::NotFound => {
            format!("there is no {path:?}; list the folder to see what is there")
        }
        kind => format!("{path:?}: {kind}"),
    }
}

/// `list_dir`: what is in a folder of the workspace or of the skills.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListDir;

impl Tool for ListDir {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_dir".into(),
            description: "Lists what is in a folder of the workspace; folders end with a slash."
                .into(),
            parameters: schema(&[(
                "?path",
                "string",
                "The folder; the workspace itself when left out",
            )]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move {
            let path = call.text("path").unwrap_or("");
            let listed = readable(cx, path).and_then(|at| list(&at, path));
            listed.map_or_else(ToolResult::error, ToolResult::text)
        })
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

fn list(at: &Path, path: &str) -> Result<String, String> {
    let entries = fs::read_dir(at).map_err(|why| failed(path, &why))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { name + "/" } else { name }
        })
        .collect();
    names.sort();
    if names.is_empty() {
        return Ok("(the folder is empty)".to_owned());
    }
    let more = names.len().saturating_sub(MAX_ENTRIES);
    names.truncate(MAX_ENTRIES);
    let mut out = names.join("\n");
    if more > 0 {
        out.push_str(&format!("\n({more} more)"));
    }
    Ok(out)
}

/// `write_file`: a file of the workspace, written whole or not at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".into(),
            description:
                "Writes a text file of the workspace; what was in it is replaced. Folders are made."
                    .into(),
            parameters: schema(&[
                ("path", "string", "The path, relative to the workspace"),
                ("content", "string", "The whole content"),
            ]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move { write(cx, call).map_or_else(ToolResult::error, ToolResult::text) })
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

fn write(cx: &RunContext, call: &ToolCall) -> Result<String, String> {
    let path = call.text("path").ok_or("`path` is missing")?;
    let content = call.text("content").ok_or("`content` is missing")?;
    if cx.skills().resolve(path).is_some() {
        return Err("skills are only ever read; write into the workspace".to_owned());
    }
    let at = writable(cx, path)?;
    let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else {
        return Err(format!("{path:?} is no file"));
    };
    if at.is_dir() {
        return Err(format!("{path:?} is a folder"));
    }
    fs::create_dir_all(folder).map_err(|why| failed(path, &why))?;
    let mut draft = std::ffi::OsString::from(".");
    draft.push(name);
    draft.push(format!(
        ".{}.draft",
        crate::workspace::part_of_path(&call.id)
    ));
    let draft = folder.join(draft);
    let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, &at));
    if let Err(why) = written {
        let _ = fs::remove_file(&draft);
        return Err(failed(path, &why));
    }
    Ok(format!("wrote {} bytes to {path}", content.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_read_in_pieces() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(piece(text, 1, usize::MAX), text);
        assert_eq!(
            piece(text, 2, 1),
            "two\n(lines 2 to 2 of 3; read on with offset 3)\n"
        );
        assert_eq!(piece(text, 9, 1), "(the file has only 3 lines)\n");
        assert_eq!(piece("", 1, 1), "(the file is empty)");
        let long = "x".repeat(30_000) + "\n" + &"y".repeat(30_000) + "\n" + &"z".repeat(70_000);
        assert!(piece(&long, 1, usize::MAX).contains("read on with offset 2"));
        let last = piece(&long, 3, usize::MAX);
        assert_eq!(last.chars().filter(|c| *c == 'z').count(), MAX_CHARS);
    }
}
