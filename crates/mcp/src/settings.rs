//! Which servers there are, and what may go wrong with one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpSettings {
    /// Its name, which stands in the names of its tools.
    pub name: Arc<str>,
    /// Where it is.
    pub place: Place,
    /// The tools of it that agents have, by the server's own names; `None`: all.
    pub tools: Option<Vec<Arc<str>>>,
    /// The time for beginning it and asking for its tools.
    pub start: Duration,
    /// The time for one call.
    pub timeout: Duration,
    /// Characters of a result beyond which its middle is left out.
    pub max_result_chars: usize,
}

impl McpSettings {
    /// A server with the usual limits: 30 seconds to begin, 2 minutes and 50,000 characters a call.
    pub fn new(name: impl Into<Arc<str>>, place: Place) -> Self {
        Self {
            name: name.into(),
            place,
            tools: None,
            start: Duration::from_secs(30),
            timeout: Duration::from_secs(120),
            max_result_chars: 50_000,
        }
    }
}

/// Where a server is.
#[derive(Clone)]
pub enum Place {
    /// A program that is begun, and spoken to by its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment, over those that this process has.
        env: Vec<(String, String)>,
    },
    /// An address, spoken to by streamable HTTP.
    Url {
        /// The address.
        url: String,
        /// Headers that go with every request.
        headers: Vec<(String, String)>,
    },
}

impl Place {
    /// A program.
    pub fn command<A: Into<String>>(
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::Command {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
        }
    }

    /// An address.
    pub fn url(url: impl Into<String>) -> Self {
        Self::Url {
            url: url.into(),
            headers: Vec::new(),
        }
    }
}

/// Without arguments, variables and headers, which may be secret: the program, or the address.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, .. } => f.write_str(command),
            // What follows the path may be a key.
            Self::Url { url, .. } => f.write_str(url.split(['?', '#']).next().unwrap_or_default()),
        }
    }
}

/// As [`fmt::Display`].
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why there is no word from a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be begun.
    #[error("the program {command} cannot be started: {why}")]
    Start {
        /// The program.
        command: String,
        /// What the system says.
        why: String,
    },
    /// The address cannot be asked.
    #[error("the address cannot be asked: {0}")]
    Address(String),
    /// It does not speak as a server should, or ended before it did.
    #[error("no answer as of an MCP server: {0}")]
    Handshake(String),
    /// Whoever began us does not speak as a client should.
    #[error("no word as of an MCP client: {0}")]
    NoClient(String),
    /// It took too long.
    #[error("no answer within {} seconds", .0.as_secs())]
    Silent(Duration),
    /// It ended, or the connection broke.
    #[error("the server is gone")]
    Gone,
    /// It said no.
    #[error("{0}")]
    Refused(String),
    /// Tools are named that it does not have.
    #[error("it has no tool {unknown}; it has {there}")]
    NoTool {
        /// The tool.
        unknown: String,
        /// Those that it has.
        there: String,
    },
}
