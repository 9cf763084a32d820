//! Skills that were loaded: references captured from stamped reads of `SKILL.md` files, never their bodies.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::message::{Called, Kind, Message};
use crate::text::{collapsed, head};

/// Entries that are kept, those read last.
pub const MAX_ENTRIES: usize = 8;
/// Characters of a description.
pub const MAX_DESCRIPTION: usize = 500;
/// The member of `additional_kwargs` that a read is stamped with.
pub const STAMP: &str = "skill_context_entry";
/// The file that a skill is.
pub const FILE: &str = "SKILL.md";

/// A loaded skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// The name of its folder.
    pub name: Arc<str>,
    /// Where its file is, under the skills' root.
    pub path: Arc<str>,
    /// What it is for, on one line.
    pub description: Arc<str>,
    /// The place of the message that loaded it.
    pub loaded_at: u64,
}

/// What counts as loading a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Where skills are, as paths in calls name it.
    pub root: Arc<str>,
    /// Tools that read files; none: nothing is captured.
    pub tools: Vec<Arc<str>>,
}

impl Default for Reads {
    fn default() -> Self {
        let tools = ["read_file", "read", "view", "cat"];
        Self {
            root: "/mnt/skills".into(),
            tools: tools.map(Arc::from).to_vec(),
        }
    }
}

/// What was captured, and what is odd about reads that were not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Skills, in the order of their reads.
    pub skills: Vec<Skill>,
    /// For people.
    pub warnings: Vec<String>,
}

impl Reads {
    /// A path as it is compared: absolute, without `.`, `..` and doubled slashes. `None`: it leads above the root of the
    /// file system.
    pub fn normal(path: &str) -> Option<String> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(format!("/{}", parts.join("/")))
    }

    /// The skill's file that a path names, if it is one under the root.
    pub fn file(&self, path: &str) -> Option<String> {
        let path = path.trim();
        if !path.starts_with('/') || path.contains('\0') {
            return None;
        }
        let (path, root) = (Self::normal(path)?, Self::normal(&self.root)?);
        let inside = match root.as_str() {
            "/" => path.strip_prefix('/')?,
            root => path.strip_prefix(root)?.strip_prefix('/')?,
        };
        // A skill has a folder of its own.
        let (folder, file) = inside.rsplit_once('/')?;
        (file == FILE && !folder.is_empty()).then_some(path)
    }

    /// The skill's file that a call reads.
    fn of_call(&self, call: &Called) -> Option<String> {
        if !self.tools.contains(&call.name) {
            return None;
        }
        let keys = ["path", "file_path", "filepath"];
        let path = keys.iter().find_map(|key| call.args.get(*key)?.as_str())?;
        self.file(path)
    }

    /// Skills loaded by messages behind `from`; `base` messages stand before the first of `messages`.
    pub fn capture(&self, messages: &[Message], from: usize, base: u64) -> Captured {
        let mut captured = Captured::default();
        if self.tools.is_empty() {
            return captured;
        }
        for (at, message) in messages.iter().enumerate().skip(from) {
            let Some(id) = message.answers().filter(|_| message.kind() == Kind::Tool) else {
                continue;
            };
            let Some(call) = call_of(&messages[..at], id) else {
                continue;
            };
            let Some(path) = self.of_call(&call).filter(|_| !message.is_error()) else {
                continue;
            };
            let Some(entry) = message.extra(STAMP).filter(|entry| entry.is_object()) else {
                if !message.text().starts_with("Error:") {
                    captured
                        .warnings
                        .push(format!("the read of {path} carries no {STAMP}"));
                }
                continue;
            };
            let stamped = entry.get("path").and_then(Value::as_str);
            if stamped.and_then(|path| self.file(path)).as_ref() != Some(&path) {
                captured
                    .warnings
                    .push(format!("the read of {path} is stamped with another path"));
                continue;
            }
            captured.skills.push(Skill {
                name: name_of(&path).into(),
                description: one_line(entry.get("description")).into(),
                path: path.into(),
                loaded_at: base + at as u64,
            });
        }
        captured
    }
}

/// The newest call of this id.
fn call_of(messages: &[Message], id: &str) -> Option<Called> {
    let mut newest = messages.iter().rev().flat_map(Message::calls);
    newest.find(|call| *call.id == *id)
}

/// The folder that a skill's file lies in.
pub fn name_of(path: &str) -> &str {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit('/').next().unwrap_or(folder)
}

fn one_line(description: Option<&Value>) -> String {
    let text = description.and_then(Value::as_str).unwrap_or_default();
    head(&collapsed(text), MAX_DESCRIPTION)
}

/// What a read of a skill's file is stamped with.
pub fn stamp(path: &str, description: &str) -> Value {
    json!({"path": path, "description": head(&collapsed(description), MAX_DESCRIPTION)})
}

/// The reducer: by path; one that is read again is the newest; the newest [`MAX_ENTRIES`] are kept.
pub fn reduce(known: &[Skill], news: &[Skill]) -> Vec<Skill> {
    let mut all = known.to_vec();
    for skill in news {
        all.retain(|known| known.path != skill.path);
        all.push(skill.clone());
    }
    let over = all.len().saturating_sub(MAX_ENTRIES);
    all.drain(..over);
    all
}

/// Entries as they were stored. Members that are not known any more are dropped; what is no entry is none.
pub fn read(stored: &Value) -> Vec<Skill> {
    let entries = stored.as_array().into_iter().flatten();
    entries
        .filter_map(|entry| serde_json::from_value(entry.clone()).ok())
        .collect()
}

/// `name` and `description` of the front matter at the beginning of a skill's file: lines of `key: value` between two
/// lines of `---`. A value may stand in quotes, or be folded (`>`, `|`) over the indented lines behind it.
pub fn front_matter(text: &str) -> Option<FrontMatter> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut found = FrontMatter::default();
    let (mut key, mut value) = (String::new(), String::new());
    for line in lines {
        if line.trim_end() == "---" {
            found.take(&key, &value);
            return Some(found);
        }
        let is_indented = line.starts_with([' ', '\t']);
        match line.split_once(':').filter(|_| !is_indented) {
            Some((next, rest)) => {
                found.take(&key, &value);
                next.trim().clone_into(&mut key);
                let rest = rest.trim();
                let is_folded = matches!(rest, ">" | "|" | ">-" | "|-" | ">+" | "|+");
                if is_folded { "" } else { rest }.clone_into(&mut value);
            }
            None => {
                value.push(' ');
                value.push_str(line.trim());
            }
        }
    }
    // It never ends, so it is none.
    None
}

/// What a skill says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// Its name.
    pub name: Option<String>,
    /// What it is for, on one line.
    pub description: Option<String>,
}

impl FrontMatter {
    fn take(&mut self, key: &str, value: &str) {
        let value = collapsed(value);
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        let value = unquoted.unwrap_or(&value).to_owned();
        match key {
            "name" => self.name = Some(value),
            "description" => self.description = Some(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
