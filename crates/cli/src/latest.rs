//! Finds the newest session of a program that keeps its sessions in the home directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::args::Program;
use crate::fail::{Exit, Fail};

/// The newest session file.
pub(crate) fn session(program: Program) -> Result<PathBuf, Fail> {
    match program {
        Program::Claude => claude(
            std::env::var_os("CLAUDE_CONFIG_DIR"),
            std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")),
        ),
    }
}

fn claude(config_dir: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, Fail> {
    let not_empty = |dir: &OsString| !dir.is_empty();
    let dir = match (
        config_dir.filter(not_empty),
        home.filter(not_empty).map(PathBuf::from),
    ) {
        (Some(dir), _) => PathBuf::from(dir).join("projects"),
        (None, Some(home)) => home.join(".claude").join("projects"),
        (None, None) => {
            return Err(Fail::about(
                Exit::Input,
                "--latest claude",
                "neither CLAUDE_CONFIG_DIR nor HOME is set; name the session file instead",
            ));
        }
    };
    newest(&dir).ok_or_else(|| {
        let why = format!(
            "no session found in {}; set CLAUDE_CONFIG_DIR, or name the session file",
            dir.join("*").join("*.jsonl").display()
        );
        Fail::about(Exit::Input, "--latest claude", &why)
    })
}

/// The newest `*/*.jsonl` that is a main session: no sub-agent's file and nothing that we wrote.
fn newest(projects: &Path) -> Option<PathBuf> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for project in std::fs::read_dir(projects).ok()?.flatten() {
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
    found.into_iter().max().map(|(_, path)| path)
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
