//! What goes into the machine and what comes out of it.

use std::sync::Arc;

use crate::count::Weight;
use crate::unit::Pos;
use crate::view::MessageView;

/// What stands beside the list: the summary so far, where the host keeps it in a place of its own, as deer-flow does. It
/// counts as a message of the request, goes into the first call of the summariser, and is replaced with the list.
#[derive(Clone, Debug)]
pub struct ListBeside {
    /// Its text.
    pub summary: Arc<str>,
    /// Its tokens as a message, by the built-in formula.
    pub weight: Weight,
}

/// One message of the list.
#[derive(Clone, Debug)]
pub struct ListMessage {
    /// What it is.
    pub view: Arc<MessageView>,
    /// Its tokens by the built-in formula; not read where the host counts.
    pub weight: Weight,
}

/// What the machine wants.
#[derive(Clone, Debug, PartialEq)]
pub enum ListAsk {
    /// Count these messages, as one list; feed `Counted`.
    Count {
        /// By position; one behind the last is the summary that stands beside the list.
        messages: Vec<Pos>,
        /// By the counter of totals, which may scale by reported usage, not that of parts.
        is_total: bool,
    },
    /// Whose model it is, as reports name it; feed `Provider`.
    Provider,
    /// Sum these up; feed `Summary` or `TooLarge`.
    Summarise(ListCall),
    /// It ended. Polling again says the same.
    Done(ListEnd),
}

/// One call of the summariser.
#[derive(Clone, Debug, PartialEq)]
pub struct ListCall {
    /// The messages, ascending.
    pub messages: Vec<Pos>,
    /// Of the one message only this part of its text: which, and of how many.
    pub slice: Option<(usize, usize)>,
    /// The summary of what came before them in this run, to be carried on.
    pub earlier: Option<Arc<str>>,
    /// Too large for the summariser, it can be given in smaller calls.
    pub is_divisible: bool,
}

/// What the machine is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ListAnswer {
    /// Tokens.
    Counted(f64),
    /// The provider.
    Provider(Option<Arc<str>>),
    /// The summariser's text.
    Summary(Arc<str>),
    /// The call was too large for the summariser.
    TooLarge,
}

/// How it ends.
#[derive(Clone, Debug, PartialEq)]
pub enum ListEnd {
    /// The list stays as it is.
    Nothing(ListWhy),
    /// A new list: `leading`, the summary, `kept`.
    Replace {
        /// System messages at the start.
        leading: Vec<Pos>,
        /// The summary.
        summary: Arc<str>,
        /// What stays behind it.
        kept: Vec<Pos>,
    },
}

/// Why the list stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListWhy {
    /// No trigger is reached.
    Skipped,
    /// Everything is kept.
    NothingToFold,
    /// It would gain less than a tenth.
    TooLittle,
    /// The summariser answered with nothing, twice.
    Blank,
}

impl ListWhy {
    /// The word used in every interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::NothingToFold => "nothing_to_compact",
            Self::TooLittle => "too_little",
            Self::Blank => "blank",
        }
    }
}
