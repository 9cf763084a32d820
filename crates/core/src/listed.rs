//! A list that its host replaces: the compaction of LangChain's middleware, which owns no thread. It is given a list of
//! messages, says what becomes of it, and the host writes a new list.
//!
//! [`Listed`] is a machine like [`Attempt`](crate::attempt::Attempt): it performs nothing, [`Listed::poll`] says what it
//! wants to know or have done, [`Listed::feed`] tells it. Counters of a host count whole lists and may raise, so they are
//! asked by [`ListAsk::Count`]; the built-in formula is additive and needs no asking.
//!
//! When it fires and where it cuts are LangChain's rules. What it loses there is not lost here unless
//! [`ListRules::is_strict`]: units stay whole, so do the leading system messages and the current request; everything that
//! goes is read by the summariser, in several calls where it is too much for one, each of which is given the summary so
//! far; a blank answer replaces nothing; what would gain less than a tenth is not begun, nor, where
//! what stays reaches the trigger by itself, what would have to be done again next turn.

mod ask;
mod rules;

use std::sync::Arc;

use crate::count::{Scaling, Weight};
use crate::history::History;
use crate::parity;
use crate::plan::{KeepBudget, PlanRules, Stay, plan};
use crate::unit::Pos;
use crate::view::Role;
use crate::window::Branch;

pub use ask::{ListAnswer, ListAsk, ListBeside, ListCall, ListEnd, ListMessage, ListWhy};
use rules::KEEP_MESSAGES;
pub use rules::{ListClause, ListKeep, ListRules};

/// A compaction gains at least this share of what fired it.
const LEAST_GAIN: f64 = 0.1;
/// Where what stays reaches the trigger by itself, the next turn would fire again: so it waits until there is more to
/// fold. More of it where the window is known, so long as there is room.
const GAIN_OVER: f64 = 0.2;
const GAIN_OVER_IN_WINDOW: f64 = 1.0 / 3.0;
/// This much of the window is full.
const FULL: f64 = 0.9;

/// Where it stands.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// The size of the whole list is counted.
    Total,
    /// It is asked whose model it is, since the newest report says enough.
    Provider(f64),
    /// Whether everything fits into what is kept.
    Fits(f64),
    /// The earliest start that fits is searched, between `low` and `high`.
    Search {
        target: f64,
        low: usize,
        high: usize,
        found: Option<usize>,
    },
    /// What goes is weighed.
    Gain,
    /// Whether the first of the calls that are left is too large is counted.
    Measure,
    /// The first of them is made.
    Call,
    Ended(ListEnd),
}

/// Calls that are left, the next one last.
#[derive(Clone, Debug, PartialEq)]
struct Job {
    messages: Vec<Pos>,
    slice: Option<(usize, usize)>,
    is_measured: bool,
}

/// One list under compaction.
#[derive(Clone, Debug)]
pub struct Listed {
    messages: Vec<ListMessage>,
    beside: Option<ListBeside>,
    rules: ListRules,
    /// Counts are made here, by the built-in formula.
    counts: bool,
    phase: Phase,
    total: f64,
    /// The lowest sizes that were reached, of tokens and of messages.
    by_tokens: Option<f64>,
    by_messages: Option<f64>,
    branch: Branch,
    leading: Vec<Pos>,
    kept: Vec<Pos>,
    going: Vec<Pos>,
    jobs: Vec<Job>,
    summary: Option<Arc<str>>,
    was_blank: bool,
}

impl Listed {
    /// A list. `counts`: by the built-in formula; else the host is asked.
    pub fn new(messages: Vec<ListMessage>, rules: ListRules, counts: bool) -> Self {
        Self {
            messages,
            beside: None,
            rules,
            counts,
            phase: Phase::Total,
            total: 0.0,
            by_tokens: None,
            by_messages: None,
            branch: Branch::default(),
            leading: Vec::new(),
            kept: Vec::new(),
            going: Vec::new(),
            jobs: Vec::new(),
            summary: None,
            was_blank: false,
        }
    }

    /// With a summary that stands beside the list.
    #[must_use]
    pub fn beside(mut self, beside: ListBeside) -> Self {
        self.summary = Some(beside.summary.clone());
        self.beside = Some(beside);
        self
    }

    /// The size of the whole, once it was counted.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Messages of the request: the list, and the summary beside it.
    fn shown(&self) -> usize {
        self.messages.len() + usize::from(self.beside.is_some())
    }

    /// What it wants now. What it can count itself it does not ask for.
    pub fn poll(&mut self) -> ListAsk {
        loop {
            let ask = self.ask();
            match ask {
                ListAsk::Count { messages, is_total } if self.counts => {
                    let tokens = self.count(&messages, is_total);
                    self.feed(ListAnswer::Counted(tokens));
                }
                ask => return ask,
            }
        }
    }

    fn ask(&self) -> ListAsk {
        let count = |messages, is_total| ListAsk::Count { messages, is_total };
        let job = self.jobs.last();
        match &self.phase {
            Phase::Total => count((0..self.shown()).collect(), true),
            Phase::Fits(_) => count((0..self.messages.len()).collect(), true),
            Phase::Provider(_) => ListAsk::Provider,
            Phase::Search { low, high, .. } => {
                count(((low + high) / 2..self.messages.len()).collect(), false)
            }
            // By the same counter as the total.
            Phase::Gain => count(self.new_going().collect(), true),
            Phase::Measure => count(job.map(|j| j.messages.clone()).unwrap_or_default(), false),
            Phase::Call => {
                let job = job.expect("a call is made of a job");
                ListAsk::Summarise(ListCall {
                    messages: job.messages.clone(),
                    slice: job.slice,
                    earlier: self.summary.clone(),
                    is_divisible: !self.rules.is_strict && job.messages.len() > 1,
                })
            }
            Phase::Ended(end) => ListAsk::Done(end.clone()),
        }
    }

    /// Tells it what it asked for. An answer to something else changes nothing.
    pub fn feed(&mut self, answer: ListAnswer) {
        match (self.phase.clone(), answer) {
            (Phase::Total, ListAnswer::Counted(tokens)) => {
                self.total = tokens;
                match self.newest_report().filter(|told| self.would_fire(*told)) {
                    Some(told) if !self.is_triggered(None) => self.phase = Phase::Provider(told),
                    _ => self.decide(None),
                }
            }
            (Phase::Provider(told), ListAnswer::Provider(provider)) => {
                let reported = self.scaling().reported(provider.as_deref());
                self.decide(reported.map(|_| told));
            }
            (Phase::Fits(target), ListAnswer::Counted(tokens)) => match tokens <= target {
                true => self.end(ListWhy::NothingToFold),
                false => {
                    let high = self.messages.len();
                    self.search(Phase::Search {
                        target,
                        low: 0,
                        high,
                        found: None,
                    });
                }
            },
            (
                Phase::Search {
                    target, low, high, ..
                },
                ListAnswer::Counted(tokens),
            ) if tokens <= target => {
                let middle = (low + high) / 2;
                self.search(Phase::Search {
                    target,
                    low,
                    high: middle,
                    found: Some(middle),
                });
            }
            (
                Phase::Search {
                    target,
                    low,
                    high,
                    found,
                },
                ListAnswer::Counted(_),
            ) => {
                self.search(Phase::Search {
                    target,
                    low: (low + high) / 2 + 1,
                    high,
                    found,
                });
            }
            (Phase::Gain, ListAnswer::Counted(tokens)) => {
                let messages = self.new_going().count() as f64;
                let all = self.shown() as f64;
                let pays = self.rules.is_forced
                    || self.pays(tokens, self.total, self.by_tokens)
                    || self.pays(messages, all, self.by_messages);
                match pays {
                    true => self.begin(),
                    false => self.end(ListWhy::TooLittle),
                }
            }
            (Phase::Measure, ListAnswer::Counted(tokens)) => self.measured(tokens),
            (Phase::Call, ListAnswer::TooLarge) => {
                if let Some(job) = self.jobs.pop_if(|job| job.messages.len() > 1) {
                    self.halve(&job);
                }
            }
            (Phase::Call, ListAnswer::Summary(text)) => self.answered(text),
            _ => {}
        }
    }

    fn end(&mut self, why: ListWhy) {
        self.phase = Phase::Ended(ListEnd::Nothing(why));
    }

    // When

    fn decide(&mut self, reported: Option<f64>) {
        if !self.is_triggered(reported) && !self.rules.is_forced {
            return self.end(ListWhy::Skipped);
        }
        let of_window = |share: f64| self.rules.window.map(|window| (window * share).trunc());
        let target = match self.rules.keep {
            ListKeep::Messages(n) => return self.keep_messages(n),
            ListKeep::Tokens(tokens) => Some(tokens.trunc()),
            ListKeep::Fraction(share) => of_window(share),
        };
        match target {
            None => self.keep_messages(KEEP_MESSAGES),
            Some(_) if self.messages.is_empty() => self.end(ListWhy::NothingToFold),
            Some(target) => self.phase = Phase::Fits(target.max(1.0)),
        }
    }

    /// Whether a clause is reached, and by what. `reported`: what the newest reply's provider said.
    fn is_triggered(&mut self, reported: Option<f64>) -> bool {
        let reached = |clause: &ListClause| self.reaches(clause, reported);
        let fired: Vec<ListClause> = self.rules.trigger.iter().copied().filter(reached).collect();
        let lowest = |sizes: &dyn Fn(&ListClause) -> Option<f64>| {
            fired.iter().filter_map(sizes).reduce(f64::min)
        };
        let by_tokens = lowest(&|c| c.tokens.or_else(|| self.share(c.fraction?)));
        self.by_messages = lowest(&|c| c.messages);
        self.by_tokens = by_tokens;
        !fired.is_empty()
    }

    fn would_fire(&self, reported: f64) -> bool {
        self.rules
            .is_reached(self.shown(), self.total, Some(reported))
    }

    fn reaches(&self, clause: &ListClause, reported: Option<f64>) -> bool {
        self.rules
            .reaches(clause, self.shown(), self.total, reported)
    }

    fn share(&self, share: f64) -> Option<f64> {
        self.rules.share(share)
    }

    /// Whether folding `part` of `all` is worth a call. `limit`: what fired, if this did.
    fn pays(&self, part: f64, all: f64, limit: Option<f64>) -> bool {
        let Some(limit) = limit else { return false };
        let is_still_over = all - part >= limit;
        let least = match self.rules.window {
            _ if !is_still_over => LEAST_GAIN,
            Some(window) if self.total >= window * FULL => LEAST_GAIN,
            Some(_) => GAIN_OVER_IN_WINDOW,
            None => GAIN_OVER,
        };
        part > 0.0 && part >= all * least
    }

    // Counting

    fn scaling(&self) -> Scaling {
        let mut scaling = Scaling::default();
        for (at, message) in self.messages.iter().enumerate() {
            scaling.add(at, &message.view, message.weight, true);
        }
        scaling
    }

    fn newest_report(&self) -> Option<f64> {
        let mut newest_first = self.messages.iter().rev();
        let reply = newest_first.find(|m| m.view.role == Role::Assistant)?;
        let usage = reply.view.usage.as_ref()?;
        usage.provider.as_ref()?;
        usage
            .reported_total
            .filter(|told| *told > 0)
            .map(|told| told as f64)
    }

    fn count(&self, messages: &[Pos], is_total: bool) -> f64 {
        let weight = |at: &Pos| match self.messages.get(*at) {
            Some(message) => message.weight,
            None => self.beside.as_ref().map_or(0, |beside| beside.weight),
        };
        match is_total && messages.len() >= self.messages.len() {
            true => {
                let beside = messages.get(self.messages.len()).map_or(0, weight);
                self.scaling()
                    .total((0, 0), (u64::from(beside > 0), beside)) as f64
            }
            false => messages.iter().map(weight).sum::<Weight>() as f64,
        }
    }

    // Where

    fn keep_messages(&mut self, n: usize) {
        match self.messages.len().checked_sub(n) {
            None | Some(0) => self.end(ListWhy::NothingToFold),
            Some(cut) => self.cut(cut),
        }
    }

    /// Binary search, as there: counts of a host need not be monotone.
    fn search(&mut self, search: Phase) {
        let len = self.messages.len();
        match search {
            Phase::Search {
                low, high, found, ..
            } if low >= high => {
                let cut = found.unwrap_or(low);
                self.cut(match cut >= len {
                    true => len - 1,
                    false => cut,
                });
            }
            search => self.phase = search,
        }
    }

    fn cut(&mut self, cut: usize) {
        let view = |at: Pos| self.messages[at].view.as_ref();
        let cut = parity::safe_cut(self.messages.len(), cut, view);
        if cut == 0 {
            return self.end(ListWhy::NothingToFold);
        }
        if self.rules.is_strict {
            self.going = (0..cut).collect();
            self.kept = (cut..self.messages.len()).collect();
            self.jobs = vec![Job {
                messages: self.going.clone(),
                slice: None,
                is_measured: true,
            }];
            self.phase = Phase::Call;
            return;
        }
        let mut history = History::default();
        for message in &self.messages {
            let node = history.append(self.branch.head(), message.view.clone());
            self.branch.push(node, message.view.clone(), message.weight);
        }
        let rules = PlanRules {
            keep: Some(KeepBudget::From(cut)),
            // LangChain's agents send a summary before the rest of a turn: it is cut anyway.
            cut_signed_turn: true,
            ..PlanRules::default()
        };
        let plan = plan(
            &self.branch,
            &|_| true,
            &|at| self.messages[at].weight,
            &rules,
        );
        self.going = plan.going().collect();
        let is_leading = |why: Stay| why == Stay::LeadingSystem;
        let staying = || plan.staying();
        self.leading = staying()
            .filter(|(_, why)| is_leading(*why))
            .map(|(at, _)| at)
            .collect();
        self.kept = staying()
            .filter(|(_, why)| !is_leading(*why))
            .map(|(at, _)| at)
            .collect();
        let has_new = self.new_going().next().is_some();
        self.phase = match has_new {
            true => Phase::Gain,
            false => Phase::Ended(ListEnd::Nothing(ListWhy::NothingToFold)),
        };
    }

    /// What goes and is no summary.
    fn new_going(&self) -> impl Iterator<Item = Pos> + '_ {
        let going = self.going.iter().copied();
        going.filter(|at| !self.messages[*at].view.flags.summary)
    }

    // What is asked

    fn begin(&mut self) {
        let messages = self.going.clone();
        self.jobs = vec![Job {
            messages,
            slice: None,
            is_measured: false,
        }];
        self.next();
    }

    fn next(&mut self) {
        self.phase = match self.jobs.last() {
            None => Phase::Ended(ListEnd::Replace {
                leading: self.leading.clone(),
                summary: self.summary.clone().unwrap_or_default(),
                kept: self.kept.clone(),
            }),
            Some(job) if job.is_measured || self.rules.call_cap.is_none() => Phase::Call,
            Some(_) => Phase::Measure,
        };
    }

    fn measured(&mut self, tokens: f64) {
        let cap = self
            .rules
            .call_cap
            .map_or(f64::INFINITY, |cap| cap.max(1.0));
        let Some(mut job) = self.jobs.pop() else {
            return;
        };
        job.is_measured = true;
        match tokens > cap {
            true if job.messages.len() > 1 => self.halve(&job),
            true => {
                // As many as a list of this length can be meant to have.
                let of = (tokens / cap).ceil().min(10_000.0) as usize;
                let slices = (0..of).rev().map(|n| Job {
                    slice: Some((n, of)),
                    ..job.clone()
                });
                self.jobs.extend(slices);
                self.next();
            }
            false => {
                self.jobs.push(job);
                self.next();
            }
        }
    }

    /// In two, at the border of a unit where there is one.
    fn halve(&mut self, job: &Job) {
        let units = self.branch.units();
        let len = job.messages.len();
        let unit = |at: usize| units.index_of(job.messages[at]);
        let is_border = |at: &usize| unit(*at - 1) != unit(*at);
        let distance = |at: &usize| at.abs_diff(len / 2);
        let middle = (1..len)
            .filter(is_border)
            .min_by_key(distance)
            .unwrap_or(len / 2);
        let (first, second) = job.messages.split_at(middle);
        for half in [second, first] {
            self.jobs.push(Job {
                messages: half.to_vec(),
                slice: None,
                is_measured: false,
            });
        }
        self.next();
    }

    fn answered(&mut self, text: Arc<str>) {
        let is_blank = text.trim().is_empty() && !self.rules.is_strict;
        if is_blank {
            // Once more; then the list stays: it is all there is.
            if std::mem::replace(&mut self.was_blank, true) {
                self.end(ListWhy::Blank);
            }
            return;
        }
        self.was_blank = false;
        self.summary = Some(text);
        self.jobs.pop();
        self.next();
    }
}

#[cfg(test)]
mod tests;
