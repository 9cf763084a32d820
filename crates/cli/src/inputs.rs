//! The inputs: files as they were named, and what was found in directories.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::fail::{Exit, Fail, io_words};
use crate::show;

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    File {
        /// Its path, as it was named or found.
        path: PathBuf,
        /// Its path below the directory that was named, where one was; else its name.
        below: PathBuf,
        /// It was found in a directory, so it need not be a conversation.
        found: bool,
    },
}

impl Input {
    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }

    /// Its name for progress, on one short line.
    pub(crate) fn short_name(&self) -> String {
        match self {
            Self::Stdin => self.name(),
            Self::File { path, .. } => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                show::clip(&show::plain(&name.to_string_lossy()), 44)
            }
        }
    }

    /// Whether it was found rather than named.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self, Self::File { found: true, .. })
    }
}

/// A file of a directory that is no conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Skipped {
    /// Its path.
    pub(crate) path: String,
    /// Why.
    pub(crate) why: String,
}

/// Everything that was named, directories opened.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// What to read, in order.
    pub(crate) all: Vec<Input>,
    /// What is not even tried.
    pub(crate) skipped: Vec<Skipped>,
    /// A directory was among them.
    pub(crate) has_directory: bool,
    /// Directories that cannot be listed.
    pub(crate) failed: Vec<Fail>,
}

/// Opens the directories among `paths`. What does not exist is an input all the same: reading it will say so.
///
/// # Errors
/// When standard input is named beside others.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Inputs, Fail> {
    let mut inputs = Inputs::default();
    for path in paths {
        if path.as_os_str() == "-" {
            if paths.len() > 1 {
                return Err(Fail::about(
                    Exit::Usage,
                    "-",
                    "standard input must be the only input",
                ));
            }
            inputs.all.push(Input::Stdin);
        } else if path.is_dir() {
            inputs.has_directory = true;
            walk(path, Path::new(""), &mut inputs);
        } else {
            inputs.all.push(Input::File {
                path: path.clone(),
                below: path.file_name().map(PathBuf::from).unwrap_or_default(),
                found: false,
            });
        }
    }
    Ok(inputs)
}

/// Files by name, then directories by name; nothing hidden, no links to directories.
fn walk(dir: &Path, below: &Path, inputs: &mut Inputs) {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            let why = io_words(&error);
            inputs
                .failed
                .push(Fail::about(Exit::Input, dir.display(), &why));
            return;
        }
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let mut directories = Vec::new();
    for name in names {
        let path = dir.join(&name);
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let is_link = fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        if path.is_dir() {
            if !is_link {
                directories.push(name);
            }
            continue;
        }
        match refusal(&path) {
            Some(why) => inputs.skipped.push(Skipped {
                path: path.display().to_string(),
                why: why.to_owned(),
            }),
            None => inputs.all.push(Input::File {
                path,
                below: below.join(&name),
                found: true,
            }),
        }
    }
    for name in directories {
        walk(&dir.join(&name), &below.join(&name), inputs);
    }
}

/// Why a file that was found cannot be a conversation, as far as its name and first bytes tell.
fn refusal(path: &Path) -> Option<&'static str> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if stem.ends_with(".compacted") {
        return Some("already compacted");
    }
    if !path.is_file() {
        return Some("not a regular file");
    }
    let mut head = [0; 512];
    // What cannot be opened is told when it is read.
    let read = fs::File::open(path).and_then(|mut file| file.read(&mut head));
    let head = &head[..read.ok()?];
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    match head.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => None,
        Some(_) => Some("not JSON"),
        None if head.is_empty() => Some("empty"),
        None => None,
    }
}
