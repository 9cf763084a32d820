//! What can be wrong with options: [`PolicyError`] stops, [`PolicyWarning`] is said once and lived with.
//!
//! Both name the option, what was found and what is allowed. A [`Conflict`] between two options is an error
//! in the `default` preset and a warning in the others, whose originals take it.

use std::fmt;
use std::sync::Arc;

use super::Preset;

/// Which option a problem is about. Shown as `trigger[1].tokens`, or `keep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    /// The option's name in a configuration file.
    pub option: &'static str,
    /// Which clause of the trigger, from 0.
    pub clause: Option<usize>,
    /// Which size, where several are possible.
    pub unit: Option<Unit>,
}

impl At {
    /// An option as a whole.
    pub const fn option(option: &'static str) -> Self {
        At {
            option,
            clause: None,
            unit: None,
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.option)?;
        if let Some(clause) = self.clause {
            write!(f, "[{clause}]")?;
        }
        if let Some(unit) = self.unit {
            write!(f, ".{unit}")?;
        }
        Ok(())
    }
}

/// What a size is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Tokens.
    Tokens,
    /// Messages.
    Messages,
    /// A share of the window.
    Fraction,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Tokens => "tokens",
            Unit::Messages => "messages",
            Unit::Fraction => "fraction",
        })
    }
}

/// A number as it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(u64),
    /// Any other, infinities and not-a-number included.
    Real(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(n) => n.fmt(f),
            Number::Real(x) => x.fmt(f),
        }
    }
}

/// Two options that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// What stays is not less than what triggers.
    #[error(
        "keep: found {keep} {unit}, allowed is less than the {trigger} {unit} of {trigger_at}; lower one or raise the other"
    )]
    KeepNotBelowTrigger {
        /// The trigger.
        trigger_at: At,
        /// Its size.
        trigger: u64,
        /// What is kept.
        keep: u64,
        /// The unit of both.
        unit: Unit,
    },
    /// The trigger lies where no request can be.
    #[error(
        "{trigger_at}: found {trigger} tokens, allowed is less than {limit} (window {window} less {output_reserve} for the reply); lower it"
    )]
    TriggerNotBelowLimit {
        /// The trigger.
        trigger_at: At,
        /// Its size in tokens.
        trigger: u64,
        /// The most that a request may hold.
        limit: u64,
        /// The window.
        window: u64,
        /// What of it belongs to the reply.
        output_reserve: u64,
    },
    /// What stays fills all that a request may hold.
    #[error(
        "keep: found {keep} tokens, allowed is less than {limit} (window {window} less {output_reserve} for the reply); lower it"
    )]
    KeepNotBelowLimit {
        /// What is kept, in tokens.
        keep: u64,
        /// The most that a request may hold.
        limit: u64,
        /// The window.
        window: u64,
        /// What of it belongs to the reply.
        output_reserve: u64,
    },
    /// A summary alone may be as large as the trigger, or as all that a request may hold.
    #[error(
        "max_summary_tokens: found {summary} tokens, allowed is less than {below}, where a compaction is due again; lower it"
    )]
    SummaryTooLarge {
        /// The summary's cap in tokens.
        summary: u64,
        /// What it must stay below.
        below: u64,
    },
}

impl Conflict {
    /// The option that is the one to change.
    pub fn at(&self) -> At {
        match *self {
            Conflict::TriggerNotBelowLimit { trigger_at, .. } => trigger_at,
            Conflict::KeepNotBelowTrigger { .. } | Conflict::KeepNotBelowLimit { .. } => {
                At::option("keep")
            }
            Conflict::SummaryTooLarge { .. } => At::option("max_summary_tokens"),
        }
    }
}

/// Options that no policy follows from. Nothing runs until the option that [`PolicyError::at`] names is changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A number that the option does not take.
    #[error("{at}: found {found}, expected {allowed}")]
    OutOfRange {
        /// The option.
        at: At,
        /// What it holds.
        found: Number,
        /// What it may hold.
        allowed: &'static str,
    },
    /// A trigger clause that names no size.
    #[error("{at}: found an empty clause, expected at least one of tokens, messages and fraction")]
    EmptyClause {
        /// The clause.
        at: At,
    },
    /// Enabled, but nothing would ever start it.
    #[error(
        "trigger: found none, expected at least one of tokens, messages and fraction, since preset {} is enabled; or say enabled: false",
        .preset.name()
    )]
    NoTrigger {
        /// The preset that asks for one.
        preset: Preset,
    },
    /// A share of a window that nobody knows.
    #[error(
        "{at}: found a fraction, but the model's window is not known; set max_context, or give tokens instead"
    )]
    UnknownWindow {
        /// The option.
        at: At,
    },
    /// The raw conversation would go to another model.
    #[error(
        "strategy: found replay with another model for summaries, which would be sent the raw conversation; use strategy: transcript, leave the model out, or take preset: nous"
    )]
    ReplayElsewhere,
    /// A pattern of secrets that cannot be used.
    #[error("{at}: found a pattern that is no regular expression to search with: {reason}")]
    BadPattern {
        /// Which one: the list, and its place there.
        at: At,
        /// What is wrong with it.
        reason: Arc<str>,
    },
    /// Two options contradict each other.
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

impl PolicyError {
    /// The option to change.
    pub fn at(&self) -> At {
        match self {
            PolicyError::OutOfRange { at, .. }
            | PolicyError::BadPattern { at, .. }
            | PolicyError::EmptyClause { at }
            | PolicyError::UnknownWindow { at } => *at,
            PolicyError::NoTrigger { .. } => At::option("trigger"),
            PolicyError::ReplayElsewhere => At::option("strategy"),
            PolicyError::Conflict(conflict) => conflict.at(),
        }
    }

    /// What is wrong with it, without its name: for those who know where it was given.
    pub fn without_option(&self) -> String {
        without(self.at(), &self.to_string())
    }
}

/// Something that is taken as it is and that the user should know. Said once, when options are resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyWarning {
    /// Nobody knows the window, and the trigger follows from it.
    #[error(
        "max_context: the {} is not known: {window} tokens are assumed until an overflow error says better; set max_context",
        window_of(.model.as_deref())
    )]
    WindowAssumed {
        /// The model, where it has a name.
        model: Option<Arc<str>>,
        /// What is assumed.
        window: u64,
    },
    /// More was asked for the reply than a quarter of the window.
    #[error(
        "output_reserve: {asked} tokens are more than a quarter of the window of {window}: {used} are used"
    )]
    ReserveClamped {
        /// What was asked for.
        asked: u64,
        /// The window.
        window: u64,
        /// What is used.
        used: u64,
    },
    /// The raw conversation goes to another model.
    #[error(
        "model: the raw conversation, tool results included, will be sent to the provider of {model}, and the prefix cache is not used"
    )]
    ReplayElsewhere {
        /// The model.
        model: Arc<str>,
    },
    /// `strict_parity` with the preset that has no peer.
    #[error("strict_parity: preset default has no peer to be strict about, this changes nothing")]
    NoPeer,
    /// Two options contradict each other, and the preset's original takes that.
    #[error("{0}")]
    Conflict(Conflict),
}

impl PolicyWarning {
    /// The option that it is about.
    pub fn at(&self) -> At {
        match self {
            PolicyWarning::WindowAssumed { .. } => At::option("max_context"),
            PolicyWarning::ReserveClamped { .. } => At::option("output_reserve"),
            PolicyWarning::ReplayElsewhere { .. } => At::option("model"),
            PolicyWarning::NoPeer => At::option("strict_parity"),
            PolicyWarning::Conflict(conflict) => conflict.at(),
        }
    }

    /// What there is to say of it, without its name: for those who know where it was given.
    pub fn without_option(&self) -> String {
        without(self.at(), &self.to_string())
    }
}

fn window_of(model: Option<&str>) -> String {
    match model {
        Some(name) => format!("window of model {name}"),
        None => "model's window".to_owned(),
    }
}

/// Every message begins with its option.
fn without(at: At, message: &str) -> String {
    let rest = message.strip_prefix(&format!("{at}: "));
    rest.unwrap_or(message).to_owned()
}
