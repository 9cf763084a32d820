//! Writes a file so that whoever looks sees the old one or the complete new one, also after a kill.
//!
//! The bytes go into a hidden temporary file in the same directory, `.NAME.conspectus-PID-N.tmp`, are synced, and
//! the file takes its name at once. On any error the temporary file is removed. A killed run cannot do that: its
//! file is removed by the next run that writes the same output. Whoever writes holds a lock on its temporary file,
//! and the system lets go of the locks of the dead, so no file of a run that is still alive is touched.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::fail::{Exit, Fail, io_words};

/// What writing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// A new file.
    New,
    /// In place of another one.
    Replaced,
    /// The file was there, with exactly these bytes.
    Same,
}

/// Why nothing was written.
#[derive(Debug)]
pub(crate) enum Refused {
    /// There is a file and it must not be replaced.
    Exists,
    /// The system refused.
    Io(io::Error),
}

impl Refused {
    /// What to tell people about the file of this name.
    pub(crate) fn fail(self, name: &str) -> Fail {
        match self {
            Self::Io(why) => Fail::about(Exit::Output, name, &io_words(&why)),
            Self::Exists => {
                let why = "is already there and was left alone; use --overwrite to replace it";
                Fail::about(Exit::Output, name, why)
            }
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is there before anything is written.
#[derive(Debug)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// A file with exactly these bytes.
    Same,
    /// A file that may be replaced, with its permissions.
    File(Permissions),
    /// A device or pipe, which holds nothing that could be lost.
    Device,
}

/// Looks whether `bytes` may be written to `path`.
///
/// # Errors
/// When something is there and `overwrite` is off, or the system refuses.
pub(crate) fn before(path: &Path, bytes: &[u8], overwrite: bool) -> Result<Before, Refused> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Before::Nothing),
        Err(error) => return Err(error.into()),
    };
    if found.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    if !found.is_file() {
        return Ok(Before::Device);
    }
    if found.len() == bytes.len() as u64 && fs::read(path)? == bytes {
        return Ok(Before::Same);
    }
    match overwrite {
        true => Ok(Before::File(found.permissions())),
        false => Err(Refused::Exists),
    }
}

/// Writes `bytes` to `path`, with these permissions where given. The directory must exist.
///
/// # Errors
/// When something is there and `overwrite` is off, or the system refuses. What was there is then unharmed.
pub(crate) fn write(
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
    overwrite: bool,
) -> Result<Wrote, Refused> {
    // Through a link, so that the link stays one.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (permissions, wrote) = match before(path, bytes, overwrite)? {
        Before::Nothing => (permissions, Wrote::New),
        Before::File(own) => (Some(own), Wrote::Replaced),
        Before::Same => return Ok(Wrote::Same),
        Before::Device => {
            OpenOptions::new()
                .write(true)
                .open(path)?
                .write_all(bytes)?;
            return Ok(Wrote::New);
        }
    };
    let temporary = Temporary::beside(path)?;
    temporary.fill(bytes, permissions)?;
    temporary.take_name(path, overwrite)?;
    Ok(wrote)
}

/// A file that removes itself unless it takes its name.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    fn beside(path: &Path) -> io::Result<Self> {
        let dir = directory(path);
        remove_stale(path);
        let id = std::process::id();
        for attempt in 0..100 {
            let start = temporary_start(path);
            let path = dir.join(format!("{start}{id}-{attempt}{TEMPORARY_END}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) if is_taken_away(&file, &path) => {}
                Ok(file) => return Ok(Self { path, file }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    fn fill(&self, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
        let mut file = &self.file;
        // Before the first byte: a private conversation is not readable for others even for a moment.
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn take_name(&self, path: &Path, overwrite: bool) -> Result<(), Refused> {
        if overwrite {
            fs::rename(&self.path, path)?;
        } else {
            // Fails when a file has appeared meanwhile, which a rename would silently replace.
            match fs::hard_link(&self.path, path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(Refused::Exists);
                }
                // Not every file system has links.
                Err(_) => fs::rename(&self.path, path)?,
            }
        }
        // Not every system lets a directory be synced; the file itself is.
        if let Ok(dir) = File::open(directory(path)) {
            let _ = dir.sync_all();
        }
        Ok(())
    }
}

const TEMPORARY_END: &str = ".tmp";

/// What the names of all temporary files for `path` begin with. A long name is cut, so that the whole stays a
/// name that file systems take.
fn temporary_start(path: &Path) -> String {
    const MAX_BYTES: usize = 160;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = &name[..name.floor_char_boundary(MAX_BYTES)];
    format!(".{name}.conspectus-")
}

/// Locks a new temporary file. True: another run that cleans up was faster and took it for a stale one. A file
/// system without locks is no reason not to write.
fn is_taken_away(file: &File, path: &Path) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !path.exists()
}

/// Removes what killed runs left of `path`. What cannot be removed is left: it is in nobody's way.
fn remove_stale(path: &Path) {
    let start = temporary_start(path);
    let entries = fs::read_dir(directory(path)).into_iter().flatten();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let rest = name.strip_prefix(&start);
        let rest = rest.and_then(|rest| rest.strip_suffix(TEMPORARY_END));
        let is_number = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let is_ours = rest.is_some_and(|rest| !rest.is_empty() && is_number(rest));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours || !is_file {
            continue;
        }
        // Not to be emptied by being opened; whoever may not write it may not remove it either.
        let Ok(file) = OpenOptions::new().append(true).open(entry.path()) else {
            continue;
        };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn files(dir: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(dir.path()).expect("listed");
        let mut names: Vec<String> = entries
            .map(|e| e.expect("read").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn new_same_refused_replaced() {
        let dir = dir();
        let path = dir.path().join("a.json");
        let write = |bytes: &[u8], overwrite| write(&path, bytes, None, overwrite);
        assert_eq!(write(b"one", false).expect("written"), Wrote::New);
        assert_eq!(write(b"one", false).expect("same"), Wrote::Same);
        assert!(matches!(write(b"two", false), Err(Refused::Exists)));
        assert_eq!(fs::read(&path).expect("read"), b"one");
        assert_eq!(write(b"two", true).expect("written"), Wrote::Replaced);
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert_eq!(files(&dir), ["a.json"], "no temporary file is left");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let dir = dir();
        let path = dir.path().join("a.json");
        let temporary = Temporary::beside(&path).expect("made");
        temporary.fill(b"ours", None).expect("filled");
        fs::write(&path, "theirs").expect("written");
        assert!(matches!(
            temporary.take_name(&path, false),
            Err(Refused::Exists)
        ));
        drop(temporary);
        assert_eq!(fs::read(&path).expect("read"), b"theirs");
        assert_eq!(files(&dir), ["a.json"]);
    }

    #[test]
    fn killed_while_writing_leaves_the_old_file_and_the_next_run_works() {
        let dir = dir();
        let path = dir.path().join("a.json");
        fs::write(&path, "old").expect("written");
        let half = Temporary::beside(&path).expect("made");
        half.fill(b"hal", None).expect("filled");
        // A killed process runs no destructor, and its lock is gone.
        half.file.unlock().expect("unlocked");
        std::mem::forget(half);
        assert_eq!(fs::read(&path).expect("read"), b"old");
        assert_eq!(
            write(&path, b"new", None, true).expect("written"),
            Wrote::Replaced
        );
        assert_eq!(fs::read(&path).expect("read"), b"new");
        assert_eq!(files(&dir), ["a.json"], "what was left is gone");
    }

    #[test]
    fn only_stale_temporary_files_of_the_same_output_are_removed() {
        let dir = dir();
        let path = dir.path().join("a.json");
        let alive = Temporary::beside(&path).expect("made");
        let others = [
            ".a.json.conspectus-x-0.tmp",
            ".a.json.tmp",
            ".b.json.conspectus-1-0.tmp",
            "a.json.conspectus-1-0.tmp",
        ];
        for name in others.iter().chain(&[".a.json.conspectus-1-0.tmp"]) {
            fs::write(dir.path().join(name), "x").expect("written");
        }
        write(&path, b"new", None, true).expect("written");
        let mut expect: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        let alive_name = alive.path.file_name().expect("named").to_string_lossy();
        expect.extend([alive_name.into_owned(), "a.json".to_owned()]);
        expect.sort();
        assert_eq!(files(&dir), expect);
    }

    #[test]
    fn an_error_leaves_no_temporary_file() {
        let dir = dir();
        let temporary = Temporary::beside(&dir.path().join("a.json")).expect("made");
        temporary.fill(b"x", None).expect("filled");
        let nowhere = dir.path().join("gone").join("a.json");
        assert!(matches!(
            temporary.take_name(&nowhere, true),
            Err(Refused::Io(_))
        ));
        drop(temporary);
        assert_eq!(files(&dir), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_links_stay_links() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = dir();
        let path = dir.path().join("a.json");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        write(&path, b"one", Some(Permissions::from_mode(0o600)), false).expect("written");
        assert_eq!(mode(&path), 0o600);
        write(&path, b"two", Some(Permissions::from_mode(0o644)), true).expect("written");
        assert_eq!(mode(&path), 0o600, "a file that is replaced keeps its own");
        let link = dir.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        write(&link, b"three", None, true).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&path).expect("read"), b"three");
    }
}
