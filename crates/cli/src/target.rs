//! Where a result is written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::fail::{Exit, Fail};
use crate::inputs::{Input, Inputs};

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Beside each input, `.compacted` before the extension.
    Beside,
    /// Standard output.
    Stdout,
    /// This file.
    File(PathBuf),
    /// This directory, under the input's own name.
    Dir(PathBuf),
}

/// Where one result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// This file.
    File(PathBuf),
}

impl Destination {
    /// What `--out` means for these inputs.
    ///
    /// # Errors
    /// When several results would go to one place.
    pub(crate) fn choose(out: Option<&Path>, inputs: &Inputs) -> Result<Self, Fail> {
        let several = inputs.has_directory || inputs.all.len() > 1;
        let is_stdin = inputs.all == [Input::Stdin];
        let usage = |why: &str| Err(Fail::about(Exit::Usage, "--out", why));
        let Some(out) = out else {
            return Ok(if is_stdin { Self::Stdout } else { Self::Beside });
        };
        if out.as_os_str() == "-" {
            return match several {
                true => {
                    usage("several conversations cannot go to standard output; give a directory")
                }
                false => Ok(Self::Stdout),
            };
        }
        let ends_as_directory = out.as_os_str().to_string_lossy().ends_with(['/', '\\']);
        if out.is_dir() || ends_as_directory || several {
            if is_stdin {
                return usage("standard input has no name; give a file instead of a directory");
            }
            if out.exists() && !out.is_dir() {
                return usage("several conversations cannot go to one file; give a directory");
            }
            return Ok(Self::Dir(out.to_path_buf()));
        }
        Ok(Self::File(out.to_path_buf()))
    }

    /// Where the result for this input goes; with another `extension` if its form is another.
    pub(crate) fn target(&self, input: &Input, extension: Option<&str>) -> Target {
        let named = |path: PathBuf| {
            Target::File(match extension {
                Some(extension) => path.with_extension(extension),
                None => path,
            })
        };
        match (self, input) {
            (Self::File(path), _) => Target::File(path.clone()),
            (Self::Dir(dir), Input::File { below, .. }) => named(dir.join(below)),
            (Self::Beside, Input::File { path, .. }) => {
                let path = path.with_file_name(compacted_name(path));
                // A name without an extension ends with what marks it as ours.
                match (path.extension(), extension) {
                    (Some(mark), Some(extension)) if mark == "compacted" => {
                        let mut name = path.clone().into_os_string();
                        name.push(".");
                        name.push(extension);
                        Target::File(name.into())
                    }
                    _ => named(path),
                }
            }
            (Self::Stdout, _) | (_, Input::Stdin) => Target::Stdout,
        }
    }

    /// Whether a result is wanted although nothing changed: somebody named the place and waits for it.
    pub(crate) fn is_named(&self) -> bool {
        *self != Self::Beside
    }
}

/// Two inputs must not share an output.
#[derive(Debug, Default)]
pub(crate) struct Taken(BTreeMap<PathBuf, String>);

impl Taken {
    /// # Errors
    /// When another input of this run already goes there.
    pub(crate) fn take(&mut self, target: &Target, input: &Input) -> Result<(), Fail> {
        let Target::File(path) = target else {
            return Ok(());
        };
        match self.0.insert(path.clone(), input.name()) {
            None => Ok(()),
            Some(other) => {
                let why = format!(
                    "{} already goes to {}; name them apart or run twice",
                    other,
                    path.display()
                );
                Err(Fail::about(Exit::Output, input.name(), &why))
            }
        }
    }
}

/// `session.jsonl` -> `session.compacted.jsonl`.
fn compacted_name(path: &Path) -> OsString {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".compacted");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, expect: &str| {
            assert_eq!(compacted_name(Path::new(name)), OsString::from(expect));
        };
        check("session.jsonl", "session.compacted.jsonl");
        check("a/b.c.json", "b.c.compacted.json");
        check("chat", "chat.compacted");
        check(".hidden", ".hidden.compacted");
    }
}
