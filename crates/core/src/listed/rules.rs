//! When a list is compacted, and what of it stays.

/// Messages that stay when a share of the window was asked for and nobody knows the window any more.
pub(super) const KEEP_MESSAGES: usize = 20;

/// An AND clause: reached when everything it names is reached. Sizes may be fractions: LangChain takes any number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ListClause {
    /// Tokens.
    pub tokens: Option<f64>,
    /// Messages.
    pub messages: Option<f64>,
    /// A share of the window.
    pub fraction: Option<f64>,
}

/// What stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListKeep {
    /// This many messages.
    Messages(usize),
    /// This many tokens.
    Tokens(f64),
    /// This share of the window.
    Fraction(f64),
}

/// The rules for one list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRules {
    /// Any of these fires.
    pub trigger: Vec<ListClause>,
    /// What stays.
    pub keep: ListKeep,
    /// The most that the model takes, in tokens, where it is known now.
    pub window: Option<f64>,
    /// What one call of the summariser is given at most, in tokens. Not asked under `is_strict`.
    pub call_cap: Option<f64>,
    /// As LangChain does it, also where that loses.
    pub is_strict: bool,
    /// Whatever the size: no trigger is asked, nor whether it pays.
    pub is_forced: bool,
}

impl ListRules {
    /// Only when: what stays is not asked.
    pub fn of(trigger: Vec<ListClause>, window: Option<f64>) -> Self {
        Self {
            trigger,
            keep: ListKeep::Messages(KEEP_MESSAGES),
            window,
            call_cap: None,
            is_strict: false,
            is_forced: false,
        }
    }

    /// Without the clauses that so many messages cannot reach, whatever they weigh.
    #[must_use]
    pub fn for_messages(mut self, messages: usize) -> Self {
        self.trigger
            .retain(|clause| clause.messages.is_none_or(|n| messages as f64 >= n));
        self
    }

    /// Whether a trigger is reached by this many messages and tokens. `reported`: what the newest reply's provider said.
    pub fn is_reached(&self, messages: usize, total: f64, reported: Option<f64>) -> bool {
        let mut clauses = self.trigger.iter();
        clauses.any(|clause| self.reaches(clause, messages, total, reported))
    }

    pub(super) fn reaches(
        &self,
        clause: &ListClause,
        messages: usize,
        total: f64,
        reported: Option<f64>,
    ) -> bool {
        let met = |limit: f64| total >= limit || reported.is_some_and(|told| told >= limit);
        let names_something = clause
            .tokens
            .or(clause.messages)
            .or(clause.fraction)
            .is_some();
        names_something
            && clause.messages.is_none_or(|n| messages as f64 >= n)
            && clause.tokens.is_none_or(met)
            && clause
                .fraction
                .is_none_or(|share| self.share(share).is_some_and(met))
    }

    /// A share of the window in tokens, at least one.
    pub(super) fn share(&self, share: f64) -> Option<f64> {
        let tokens = (self.window? * share).trunc();
        Some(if tokens <= 0.0 { 1.0 } else { tokens })
    }
}
