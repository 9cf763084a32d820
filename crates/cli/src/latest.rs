//! Finds the newest session of a program that keeps its sessions in the home directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::args::Program;
use crate::fail::{Exit, Fail};

/// The newest session file.
pub(crate) fn session(program: Program) -> Result<PathBuf, Fail> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    match program {
        Program::Claude => claude(std::env::var_os("CLAUDE_CONFIG_DIR"), home),
        Program::Codex => codex(std::env::var_os("CODEX_HOME"), home),
    }
}

fn claude(config_dir: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, Fail> {
    let dir = folder(
        "claude",
        ("CLAUDE_CONFIG_DIR", config_dir),
        (".claude", home),
    )?;
    let dir = dir.join("projects");
    let looked = dir.join("*").join("*.jsonl");
    newest(sessions(&dir)).ok_or_else(|| none("claude", &looked, "CLAUDE_CONFIG_DIR"))
}

fn codex(config_dir: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, Fail> {
    let dir = folder("codex", ("CODEX_HOME", config_dir), (".codex", home))?;
    let dir = dir.join("sessions");
    let looked = dir.join("**").join("rollout-*.jsonl");
    let mut found = Vec::new();
    rollouts(&dir, DAYS, &mut found);
    newest(found).ok_or_else(|| none("codex", &looked, "CODEX_HOME"))
}

/// Where the program keeps its things: what its variable says, or its own folder in the home directory.
fn folder(
    program: &str,
    (variable, named): (&str, Option<OsString>),
    (own, home): (&str, Option<OsString>),
) -> Result<PathBuf, Fail> {
    let not_empty = |dir: &OsString| !dir.is_empty();
    let home = home
        .filter(not_empty)
        .map(|home| PathBuf::from(home).join(own));
    let named = named.filter(not_empty).map(PathBuf::from);
    named.or(home).ok_or_else(|| {
        let why = format!("neither {variable} nor HOME is set; name the session file instead");
        Fail::about(Exit::Input, format!("--latest {program}"), &why)
    })
}

fn none(program: &str, looked: &Path, variable: &str) -> Fail {
    let looked = looked.display();
    let why = format!("no session found in {looked}; set {variable}, or name the session file");
    Fail::about(Exit::Input, format!("--latest {program}"), &why)
}

fn newest(found: Vec<(SystemTime, PathBuf)>) -> Option<PathBuf> {
    found.into_iter().max().map(|(_, path)| path)
}

/// Year, month and day: how deep Codex's sessions lie.
const DAYS: usize = 3;

/// All `rollout-*.jsonl` below `dir`, but for what we wrote.
fn rollouts(dir: &Path, levels: usize, found: &mut Vec<(SystemTime, PathBuf)>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if levels > 0 {
                rollouts(&path, levels - 1, found);
            }
            continue;
        }
        let is_session = name.starts_with("rollout-")
            && name.ends_with(".jsonl")
            && !name.ends_with(".compacted.jsonl");
        let written = std::fs::metadata(&path).and_then(|m| m.modified());
        if let (true, Ok(written)) = (is_session, written) {
            found.push((written, path));
        }
    }
}

/// All `*/*.jsonl` that are main sessions: no sub-agent's file and nothing that we wrote.
fn sessions(projects: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for project in std::fs::read_dir(projects).into_iter().flatten().flatten() {
        let Ok(files) = std::fs::read_dir(project.path()) else {
            continue;
        };
        for file in files.flatten() {
            let path = file.path();
            let name = file.file_name().to_string_lossy().into_owned();
            let is_session = name.ends_with(".jsonl")
                && !name.starts_with("agent-")
                && !name.starts_with('.')
                && !name.ends_with(".compacted.jsonl");
            let written = std::fs::metadata(&path).and_then(|m| m.modified());
            if let (true, Ok(written)) = (is_session && path.is_file(), written) {
                found.push((written, path));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    fn message(result: Result<PathBuf, Fail>) -> String {
        result.expect_err("there is none").message()
    }

    #[test]
    fn the_newest_main_session_wins() {
        let dir = tempfile::tempdir().expect("a directory");
        let projects = dir.path().join("projects");
        fs::create_dir_all(projects.join("-a")).expect("made");
        fs::create_dir_all(projects.join("-b")).expect("made");
        let add = |path: &str, seconds: u64| {
            let file = File::create(projects.join(path)).expect("made");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_modified(time).expect("dated");
        };
        add("-a/old.jsonl", 10);
        add("-b/new.jsonl", 20);
        add("-a/agent-x.jsonl", 30);
        add("-a/new.compacted.jsonl", 30);
        add("-a/notes.txt", 30);
        let found = claude(Some(dir.path().into()), None).expect("found");
        assert_eq!(found, projects.join("-b/new.jsonl"));
    }

    #[test]
    fn the_newest_rollout_wins() {
        let dir = tempfile::tempdir().expect("a directory");
        let sessions = dir.path().join("sessions");
        let add = |path: &str, seconds: u64| {
            let path = sessions.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::create(path)
                .expect("made")
                .set_modified(time)
                .expect("dated");
        };
        add("2026/01/01/rollout-old.jsonl", 10);
        add("2026/01/02/rollout-new.jsonl", 20);
        add("2026/01/02/rollout-new.compacted.jsonl", 30);
        add("2026/01/02/other.jsonl", 30);
        let found = codex(Some(dir.path().into()), None).expect("found");
        assert_eq!(found, sessions.join("2026/01/02/rollout-new.jsonl"));
        assert_eq!(
            message(codex(None, Some("/nowhere".into()))),
            "--latest codex: no session found in /nowhere/.codex/sessions/**/rollout-*.jsonl; \
             set CODEX_HOME, or name the session file"
        );
    }

    #[test]
    fn an_error_says_where_it_looked() {
        assert_eq!(
            message(claude(None, Some("/nowhere".into()))),
            "--latest claude: no session found in /nowhere/.claude/projects/*/*.jsonl; \
             set CLAUDE_CONFIG_DIR, or name the session file"
        );
        assert_eq!(
            message(claude(None, None)),
            "--latest claude: neither CLAUDE_CONFIG_DIR nor HOME is set; name the session file instead"
        );
    }
}
