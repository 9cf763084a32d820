//! A conversation that goes on: [`Thread`] and the attempt that it started, driven from Python by poll and feed.

mod driving;
mod entry;
mod making;
mod reading;

use std::sync::Arc;

use conspectus::core::attempt::Attempt;
use conspectus::core::view::Texts;
use conspectus::{Partials, Sources, Thread, TokenCounter};
use pyo3::prelude::*;

use crate::document::Document;
use crate::message::Shelf;
use crate::policy::Policy;

/// Where the messages lie.
enum Surface {
    Shelf(Shelf),
    Document(Document, usize),
}

impl Surface {
    fn texts(&self) -> &dyn Texts {
        match self {
            Self::Shelf(shelf) => shelf,
            // Its conversation was there when it was opened.
            Self::Document(document, at) => &document.0.conversations()[*at],
        }
    }
}

/// A conversation.
#[pyclass(module = "conspectus._native")]
pub(crate) struct Conversation {
    policy: Policy,
    counter: Arc<dyn TokenCounter>,
    surface: Surface,
    thread: Thread,
    attempt: Option<Box<Attempt>>,
    partials: Partials,
    wakes: Vec<u64>,
    /// The time that was told last.
    now: u64,
}

impl Conversation {
    fn src(&self) -> Sources<'_> {
        Sources {
            texts: self.surface.texts(),
            counter: self.counter.as_ref(),
        }
    }

    /// The thread with what it reads through.
    fn split(&mut self) -> (&mut Thread, Sources<'_>) {
        let src = Sources {
            texts: self.surface.texts(),
            counter: self.counter.as_ref(),
        };
        (&mut self.thread, src)
    }
}
