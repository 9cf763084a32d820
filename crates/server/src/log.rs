//! One line a request. Never a body, a header, a query or what the path does not name by its pattern.

use std::fmt;
use std::sync::Arc;

/// Where lines go, if anywhere.
#[derive(Clone)]
pub struct Log(Option<Arc<Write>>);

type Write = dyn Fn(&str) + Send + Sync;

impl Log {
    /// To whoever takes a line without its end.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(write)))
    }

    /// To nobody.
    pub fn none() -> Self {
        Self(None)
    }

    /// Writes a line, which is not made when nobody reads it.
    pub fn line(&self, line: impl fmt::Display) {
        if let Some(write) = &self.0 {
            write(&line.to_string());
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// What is said of a request.
pub(crate) struct Line<'a> {
    pub(crate) at: &'a str,
    pub(crate) status: u16,
    pub(crate) method: &'a str,
    /// The route's pattern.
    pub(crate) route: &'a str,
    pub(crate) ms: u64,
    pub(crate) request: &'a str,
    pub(crate) tenant: Option<&'a str>,
    /// A name that passed the check of names.
    pub(crate) thread: Option<&'a str>,
    /// The problem's word.
    pub(crate) code: Option<&'a str>,
    /// What a store said.
    pub(crate) why: Option<&'a str>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {} {}ms",
            self.at, self.status, self.method, self.route, self.ms
        )?;
        let more = [
            ("request", Some(self.request)),
            ("tenant", self.tenant),
            ("thread", self.thread),
            ("code", self.code),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        match self.why {
            // One line is one line.
            Some(why) => write!(f, " why={why:?}"),
            None => Ok(()),
        }
    }
}
