//! Exit codes, and errors that know theirs.

use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// How the program ends. With several files the highest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done, or nothing to do, and said so.
    Done = 0,
    /// Wrong usage.
    Usage = 2,
    /// The configuration cannot work.
    Config = 3,
    /// An input cannot be read.
    Input = 4,
    /// An output cannot be written.
    Output = 5,
    /// A compaction failed or was rejected.
    Compaction = 6,
    /// Stopped by Ctrl-C.
    Stopped = 130,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// Why something was not done. Names the file, option or line, and what to try.
#[derive(Debug)]
pub(crate) struct Fail {
    /// How the program ends for it.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) error: anyhow::Error,
}

impl Fail {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
        }
    }

    /// Something about a named file or option.
    pub(crate) fn about(exit: Exit, what: impl std::fmt::Display, why: &str) -> Self {
        Self::new(exit, anyhow::anyhow!("{what}: {why}"))
    }

    /// All of it on one line.
    pub(crate) fn message(&self) -> String {
        format!("{:#}", self.error)
    }

    /// Whether somebody closed our output.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Writing to standard output failed.
impl From<io::Error> for Fail {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Exit::Output, error),
            _ => Self::about(Exit::Output, "standard output", &io_words(&error)),
        }
    }
}

/// What the system says, in words for people.
pub(crate) fn io_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "part of the path is not a directory".to_owned(),
        io::ErrorKind::StorageFull => "no space left on the disk".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        io::ErrorKind::FileTooLarge => "larger than a file may be here".to_owned(),
        io::ErrorKind::OutOfMemory => "not enough memory to hold it".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}

thread_local! {
    /// Where this thread last panicked.
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics from printing; [`guarded`] says what is to be said.
pub(crate) fn quiet_panics() {
    set_hook(Box::new(|info| {
        let at = info
            .location()
            .map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        PANICKED_AT.with(|place| place.replace(at));
    }));
}

/// Runs the work on one input. A fault of ours ends that input, not the others.
pub(crate) fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T, Fail>) -> Result<T, Fail> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let at = PANICKED_AT.with(RefCell::take);
        let why = format!(
            "this program has a fault and gave up on it{at}; nothing was written, please report it"
        );
        Err(Fail::about(Exit::Compaction, name, &why))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_one_input() {
        let failed = guarded::<()>("a.json", || panic!("never told")).expect_err("fails");
        assert_eq!(failed.exit, Exit::Compaction);
        let message = failed.message();
        assert!(
            message.starts_with("a.json: this program has a fault"),
            "{message}"
        );
        assert!(!message.contains("never told"), "{message}");
    }
}
