//! Finding text in files.

use std::fs;
use std::path::Path;

use conspectus::{Boxed, ToolSpec};

use super::files::text_of;
use super::readable;
use crate::context::RunContext;
use crate::text::head;
use crate::tool::{Tool, ToolCall, ToolResult, schema};

/// Lines that are shown.
const MAX_HITS: usize = 200;
/// Characters of a line.
const MAX_LINE: usize = 300;
/// Files that are looked into.
const MAX_FILES: usize = 20_000;

/// `search`: lines of files in which a text stands, whatever its case. Links are not followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search;

impl Tool for Search {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "search".into(),
            description:
                "Finds lines of text files in the workspace that contain a text, whatever its case."
                    .into(),
            parameters: schema(&[
                ("query", "string", "The text, taken literally"),
                (
                    "?path",
                    "string",
                    "A folder or file to look in; the whole workspace when left out",
                ),
            ]),
        }
    }

    fn call<'a>(&'a self, cx: &'a RunContext, call: &'a ToolCall) -> Boxed<'a, ToolResult> {
        Box::pin(async move { search(cx, call).map_or_else(ToolResult::error, ToolResult::text) })
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

fn search(cx: &RunContext, call: &ToolCall) -> Result<String, String> {
    let query = call.text("query").filter(|query| !query.trim().is_empty());
    let query = query.ok_or("`query` is missing")?.to_lowercase();
    let path = call.text("path").unwrap_or("");
    let root = readable(cx, path)?;
    if !root.exists() {
        return Err(format!("there is no {path:?}"));
    }
    let mut found = Found {
        query,
        lines: Vec::new(),
        more: 0,
        files: 0,
    };
    let name = path.trim_end_matches('/').to_owned();
    found.look(&root, &name);
    if found.lines.is_empty() {
        return Ok("nothing was found".to_owned());
    }
    if found.more > 0 {
        found.lines.push(format!(
            "({} more lines; search for something narrower)",
            found.more
        ));
    }
    if found.files >= MAX_FILES {
        found.lines.push(format!(
            "(only the first {MAX_FILES} files were looked into)"
        ));
    }
    Ok(found.lines.join("\n"))
}

struct Found {
    query: String,
    lines: Vec<String>,
    more: usize,
    files: usize,
}

impl Found {
    fn look(&mut self, at: &Path, name: &str) {
        let Ok(meta) = fs::symlink_metadata(at) else {
            return;
        };
        if meta.is_dir() {
            let mut entries: Vec<_> = fs::read_dir(at).into_iter().flatten().flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let own = entry.file_name().to_string_lossy().into_owned();
                let name = match name {
                    "" => own,
                    folder => format!("{folder}/{own}"),
                };
                self.look(&entry.path(), &name);
            }
        } else if meta.is_file() && self.files < MAX_FILES {
            self.files += 1;
            // What is no text is passed over.
            for (n, line) in text_of(at, name).unwrap_or_default().lines().enumerate() {
                if !line.to_lowercase().contains(&self.query) {
                    continue;
                }
                match self.lines.len() < MAX_HITS {
                    true => self.lines.push(format!(
                        "{name}:{}: {}",
                        n + 1,
                        head(line.trim(), MAX_LINE)
                    )),
                    false => self.more += 1,
                }
            }
        }
    }
}
