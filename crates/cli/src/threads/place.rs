//! Where threads are, and what can be asked there. There are two such places, a store that is opened here and a
//! service; both give the same JSON for the same question, so that one set of reports serves both.

use std::sync::Arc;

use conspectus::threads::{CompactThread, Json, Page, Purge, Recall};
use serde_json::Value;

use super::embedded::Embedded;
use super::remote::Remote;
use super::trouble::Trouble;
use crate::args::PlaceArgs;
use crate::fail::{Exit, Fail};
use crate::job::PolicyJob;

/// A question, or something to do. Answers are what the service's API says (`docs/service.md`).
pub(super) enum Ask<'a> {
    /// A page of threads, by id.
    List {
        text: Option<&'a str>,
        limit: u32,
        after: Option<&'a str>,
    },
    /// Where a thread stands.
    Status,
    /// The thread itself: title, metadata, sizes.
    Get,
    /// What people see.
    Visible(&'a Page),
    /// What the model would be sent.
    Request,
    /// Its compactions, newest first.
    Log {
        limit: u32,
    },
    /// A new thread.
    Create {
        title: Option<&'a str>,
        policy: Option<&'a Value>,
    },
    /// More messages.
    Append(&'a [Json]),
    /// A compaction.
    Compact(&'a CompactThread),
    /// A preview to put in force.
    Apply(&'a str),
    Undo,
    Redo,
    /// Another thread from a place of this one.
    Branch {
        to: &'a str,
        at: Option<&'a str>,
        title: Option<&'a str>,
    },
    /// What was said.
    Recall(&'a Recall),
    /// The thread as JSON lines, in one string.
    Export,
    /// A thread from such lines.
    Import(&'a str),
    /// Away with it.
    Delete,
    /// Away with a part of it.
    Purge(&'a Purge),
}

/// A place with threads.
pub(super) trait Place {
    /// Its name for people, without anything secret.
    fn name(&self) -> &str;

    /// Asks about a thread; which one does not matter for [`Ask::List`].
    ///
    /// # Errors
    /// When it is not there, or the place cannot be reached or does not do it.
    fn ask(&self, thread: &str, ask: &Ask<'_>) -> Result<Value, Trouble>;
}

/// Whether a store may be made where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Somebody wants to put something there.
    Make,
    /// It is only read: a new one would hide a wrong path.
    Refuse,
}

/// The place that the flags name; `policy`: what a store's threads run with.
///
/// # Errors
/// When it cannot be opened, or no token can be read.
pub(super) fn open(
    args: &PlaceArgs,
    missing: Missing,
    policy: impl FnOnce() -> Result<(PolicyJob, super::Runs), Fail>,
) -> Result<Box<dyn Place + Send>, Fail> {
    match &args.server {
        Some(url) => Ok(Box::new(Remote::new(url, args.token_file.as_deref())?)),
        None => {
            let (policy, runs) = policy()?;
            Ok(Box::new(Embedded::open(args, missing, &policy, runs)?))
        }
    }
}

/// Checks an id before it becomes part of a path.
///
/// # Errors
/// When no thread can have it.
pub(crate) fn checked(id: &str) -> Result<Arc<str>, Fail> {
    const MAX: usize = 64;
    let is_id = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=MAX).contains(&id.len()) && id.bytes().all(is_id) {
        return Ok(id.into());
    }
    let shown: String = id.chars().take(MAX).collect();
    let why = "the id of a thread is 1 to 64 letters, digits, - and _";
    Err(Fail::about(Exit::Usage, shown, why))
}
