//! What a tool call does, read from its name and arguments. Knows the vocabularies of common agents and,
//! beyond them, the words that tools' names and arguments are usually made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fact::{Todo, TodoState};
use super::{MAX_TODOS, capped, patch, report, shell};

/// One thing that a call does. A call can do several.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Action {
    Read(Arc<str>),
    /// Written whole.
    Create(Arc<str>),
    Edit(Arc<str>),
    Delete(Arc<str>),
    /// A shell command, shortened.
    Command(Arc<str>),
    /// A command that runs tests.
    Test(Arc<str>),
    Branch(Arc<str>),
    Commit(Arc<str>),
    Plan(Vec<Todo>),
    Delegate {
        agent: Option<Arc<str>>,
        task: Arc<str>,
        /// The id that the work goes by.
        job: Option<Arc<str>>,
    },
    Fetch(Arc<str>),
}

const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "filename",
    "filepath",
    "filePath",
    "file",
    "file_name",
    "notebook_path",
    "target_file",
    "absolute_path",
    "relative_path",
    "file_path_to_edit",
];
const NEW_TEXT_KEYS: &[&str] = &[
    "new_str",
    "new_string",
    "newText",
    "new_text",
    "new_content",
    "diff",
    "patch",
    "edits",
    "code_edit",
    "replace",
    "insert_line",
    "new_source",
    "oldText",
];
const WHOLE_TEXT_KEYS: &[&str] = &["content", "contents", "file_text", "text", "data"];
/// Calls do at most this many things each.
const MAX_ACTIONS: usize = 64;

/// What calling `tool` with `arguments` (JSON text or free text) does.
pub(crate) fn actions(tool: &str, arguments: &str) -> Vec<Action> {
    let words = words_of(tool);
    let has = |any: &[&str]| words.iter().any(|w| any.contains(&w.as_str()));
    let is_shell = has(&[
        "bash",
        "shell",
        "exec",
        "execute",
        "terminal",
        "command",
        "cmd",
        "sh",
        "powershell",
        "run",
        "ipython",
    ]);
    let mut out = Vec::new();
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(fields)) => from_fields(&fields, &words, is_shell, &mut out),
        Ok(Value::String(text)) => from_text(&text, is_shell, &mut out),
        Ok(Value::Array(words)) if is_shell => command(&Value::Array(words), &mut out),
        Ok(_) => {}
        Err(_) => from_text(arguments, is_shell, &mut out),
    }
    out.truncate(MAX_ACTIONS);
    out
}

fn from_text(text: &str, is_shell: bool, out: &mut Vec<Action>) {
    if text.contains("*** Begin Patch") && !text.contains("<<") {
        patch::envelope(text, out);
    } else if text.starts_with("--- ") || text.starts_with("diff --git ") {
        patch::unified(text, out);
    } else if is_shell {
        shell::command(text, out);
    }
}

fn from_fields(
    fields: &serde_json::Map<String, Value>,
    words: &[String],
    is_shell: bool,
    out: &mut Vec<Action>,
) {
    let has = |any: &[&str]| words.iter().any(|w| any.contains(&w.as_str()));
    let text = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| fields.get(*key)?.as_str().filter(|s| !s.trim().is_empty()))
    };
    let any = |keys: &[&str]| keys.iter().any(|key| fields.contains_key(*key));

    if let Some(todos) = ["todos", "plan", "todo_list", "steps", "task_list", "tasks"]
        .iter()
        .find_map(|key| plan(fields.get(*key)?))
    {
        out.push(Action::Plan(todos));
        return;
    }
    for key in ["input", "patch", "patchText", "diff"] {
        if let Some(text) = fields.get(key).and_then(Value::as_str) {
            from_text(text, false, out);
        }
    }
    // Editors with sub-commands: the argument `command` says what is done to `path`.
    let verb = text(&["command", "action", "operation", "mode"]).filter(|v| is_verb(v));
    if let Some(name) = text(PATH_KEYS).and_then(path) {
        out.extend(file_action(
            words,
            verb,
            any(NEW_TEXT_KEYS),
            any(WHOLE_TEXT_KEYS),
            &name,
        ));
    } else if let Some(paths) = fields
        .get("paths")
        .or(fields.get("files"))
        .and_then(Value::as_array)
    {
        for item in paths.iter().take(MAX_ACTIONS) {
            let name = item
                .as_str()
                .or_else(|| item.get("path")?.as_str())
                .and_then(path);
            out.extend(name.and_then(|name| file_action(words, verb, false, false, &name)));
        }
    }
    if has(&["move", "rename"])
        && let (Some(from), Some(to)) = (
            text(&["source", "from", "old_path", "src", "source_path"]).and_then(path),
            text(&[
                "destination",
                "to",
                "new_path",
                "dst",
                "dest",
                "destination_path",
            ])
            .and_then(path),
        )
    {
        out.push(Action::Delete(from));
        out.push(Action::Create(to));
    }
    if verb.is_none() {
        let line = ["command", "cmd", "script", "commands"]
            .iter()
            .find_map(|key| fields.get(*key));
        match line {
            Some(line) if is_shell || !any(PATH_KEYS) => command(line, out),
            _ => {}
        }
    }
    if let Some(url) = text(&["url", "uri", "link"]).filter(|u| u.starts_with("http")) {
        out.push(Action::Fetch(capped(url)));
    }
    let delegates = has(&["task", "agent", "subagent", "delegate", "dispatch", "spawn"])
        && !has(&[
            "output", "stop", "list", "get", "wait", "status", "kill", "update", "create",
        ]);
    if delegates
        && let Some(task) = text(&[
            "description",
            "title",
            "task",
            "prompt",
            "message",
            "objective",
            "goal",
        ])
    {
        out.push(Action::Delegate {
            agent: text(&["subagent_type", "agent", "agent_type", "name"]).map(capped),
            task: capped(task),
            job: report::job(fields),
        });
    }
}

/// Sub-commands of file editors. Anything else under `command` is a shell line.
fn is_verb(text: &str) -> bool {
    matches!(
        text,
        "view"
            | "create"
            | "str_replace"
            | "insert"
            | "undo_edit"
            | "read"
            | "write"
            | "edit"
            | "delete"
            | "append"
            | "replace"
            | "move"
            | "rename"
            | "open"
    )
}

fn file_action(
    words: &[String],
    verb: Option<&str>,
    has_new: bool,
    has_whole: bool,
    name: &Arc<str>,
) -> Option<Action> {
    let has = |any: &[&str]| match verb {
        Some(verb) => verb.split('_').any(|w| any.contains(&w)),
        None => words.iter().any(|w| any.contains(&w.as_str())),
    };
    let name = name.clone();
    Some(if has(&["delete", "remove", "unlink"]) {
        Action::Delete(name)
    } else if has(&[
        "edit", "replace", "patch", "insert", "append", "modify", "update", "apply", "undo",
    ]) {
        Action::Edit(name)
    } else if has(&["write", "create", "save", "overwrite"]) {
        Action::Create(name)
    } else if has(&["read", "view", "open", "cat", "show", "load"]) {
        Action::Read(name)
    } else if has(&["grep", "glob", "search", "find", "list", "ls", "tree"]) {
        return None;
    } else if has_new {
        Action::Edit(name)
    } else if has_whole {
        Action::Create(name)
    } else {
        return None;
    })
}

fn command(line: &Value, out: &mut Vec<Action>) {
    match line {
        Value::String(line) => shell::command(line, out),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, flag, script] if matches!(*flag, "-c" | "-lc" | "-ic" | "-Command") => {
                    shell::command(script, out);
                }
                ["apply_patch", text] => patch::envelope(text, out),
                words => shell::words(words, out),
            }
        }
        _ => {}
    }
}

/// A list of steps, if that is what the value is.
fn plan(value: &Value) -> Option<Vec<Todo>> {
    let parsed;
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) => {
            parsed = serde_json::from_str::<Vec<Value>>(text).ok()?;
            &parsed
        }
        _ => return None,
    };
    let todos: Vec<Todo> = items
        .iter()
        .filter_map(|item| {
            let text = ["content", "step", "text", "title", "task", "description"]
                .iter()
                .find_map(|key| item.get(*key)?.as_str())?;
            let state = match item.get("status").and_then(Value::as_str).unwrap_or("") {
                "completed" | "done" | "cancelled" | "canceled" | "complete" => TodoState::Done,
                "in_progress" | "active" | "doing" | "in-progress" => TodoState::Active,
                _ if item.get("done").and_then(Value::as_bool) == Some(true) => TodoState::Done,
                _ => TodoState::Open,
            };
            Some(Todo {
                text: capped(text),
                state,
            })
        })
        .take(MAX_TODOS)
        .collect();
    (!todos.is_empty() || items.is_empty()).then_some(todos)
}

/// A path as a fact: trimmed, not empty, of bearable length, on one line.
pub(super) fn path(text: &str) -> Option<Arc<str>> {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    let sound = !text.is_empty() && text.len() <= 300 && !text.contains(char::is_control);
    sound.then(|| text.into())
}

/// The lower-case words that a tool's name is made of: `MultiEdit` and `mcp__fs__multi_edit` alike.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower_before = false;
    for c in name.chars().take(200) {
        if !c.is_alphanumeric() {
            lower_before = false;
            words.push(String::new());
            continue;
        }
        if words.is_empty() || (c.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|w| !w.is_empty());
    words
}
