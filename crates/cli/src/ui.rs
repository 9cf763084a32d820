//! The terminal: where a report goes, whether it may be coloured, and progress on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use crate::fail::Fail;
use crate::show::Style;

/// Where the report goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error, because standard output takes the conversation.
    Err,
}

/// The terminal.
pub(crate) struct Ui {
    stream: Stream,
    /// How the report may look.
    pub(crate) style: Style,
    progress: ProgressLine,
    quiet: bool,
}

/// What a program says beside its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Progress, where it takes long.
    Normal,
    /// No progress: the report is for programs.
    Json,
    /// Nothing, nor a report.
    Quiet,
}

/// The line on a terminal that says what is being done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgressLine(bool);

impl ProgressLine {
    /// Where there is a terminal, and unless nothing is to be said.
    pub(crate) fn new(talk: Talk) -> Self {
        Self(talk == Talk::Normal && io::stderr().is_terminal())
    }

    /// Whether anybody sees it.
    #[cfg_attr(not(feature = "models"), expect(dead_code, reason = "nobody is asked"))]
    pub(crate) fn is_shown(self) -> bool {
        self.0
    }

    /// Shows this in place of what was shown before; nothing for "".
    pub(crate) fn show(self, text: &str) {
        if self.0 {
            let short: String = text.chars().take(78).collect();
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{short}");
        }
    }
}

impl Ui {
    /// A report on `stream`. `is_long`: the work may take long enough to show progress.
    pub(crate) fn new(stream: Stream, is_long: bool, talk: Talk) -> Self {
        let is_terminal = match stream {
            Stream::Out => io::stdout().is_terminal(),
            Stream::Err => io::stderr().is_terminal(),
        };
        let said_no = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
            || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Self {
            stream,
            style: Style::new(is_terminal && !said_no),
            progress: match is_long {
                true => ProgressLine::new(talk),
                false => ProgressLine(false),
            },
            quiet: talk == Talk::Quiet,
        }
    }

    /// Prints a piece of the report.
    ///
    /// # Errors
    /// When nobody listens any more.
    pub(crate) fn say(&self, text: &str) -> Result<(), Fail> {
        self.progress("");
        if self.quiet {
            return Ok(());
        }
        Ok(match self.stream {
            Stream::Out => write_out(text.as_bytes()),
            Stream::Err => io::stderr().lock().write_all(text.as_bytes()),
        }?)
    }

    /// Prints the report of a whole run as one JSON document on standard output.
    ///
    /// # Errors
    /// When nobody listens any more.
    pub(crate) fn json(&self, report: &impl serde::Serialize) -> Result<(), Fail> {
        let mut text = serde_json::to_string_pretty(report).map_err(io::Error::from)?;
        text.push('\n');
        Ok(write_out(text.as_bytes())?)
    }

    /// Shows what is being done, in place of what was shown before; nothing for "".
    pub(crate) fn progress(&self, text: &str) {
        self.progress.show(text);
    }
}

/// Writes to standard output.
///
/// # Errors
/// When nobody listens any more, or the disk is full.
pub(crate) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// What is about to be done, on standard error.
#[cfg(feature = "models")]
pub(crate) fn note(text: &str) {
    say_err(&format!("{text}\n"));
}

/// A line with colours of ours on standard error.
#[cfg(feature = "threads")]
pub(crate) fn note_styled(line: &str) {
    // There is nowhere left to complain.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A warning on standard error.
pub(crate) fn warning(text: &str) {
    say_err(&format!("warning: {text}\n"));
}

/// Advice on standard error.
pub(crate) fn advice(text: &str) {
    say_err(&format!("advice: {text}\n"));
}

/// An error on standard error.
pub(crate) fn error(text: &str) {
    say_err(&format!("error: {text}\n"));
}

fn say_err(text: &str) {
    // There is nowhere left to complain.
    let _ = io::stderr()
        .lock()
        .write_all(crate::show::plain_lines(text).as_bytes());
}
