//! Chooses what is shown. Each stage adds items within its share of the budget; the shares of stages that
//! have little to say fall to the next.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::DigestSource;
use super::load::{Mark, Piece, load};
use super::pool::{Line, Pool, recency};
use crate::count::{TokenCounter, Weight};
use crate::ledger::{Ledger, Row};

/// Shares of the budget, in percent.
mod share {
    /// The first and the newest request, each.
    pub(super) const REQUEST: u64 = 15;
    /// Standing rules.
    pub(super) const RULES: u64 = 15;
    /// The end of the model's last text.
    pub(super) const STANDING: u64 = 6;
    /// Facts of the ledger.
    pub(super) const FACTS: u64 = 22;
    /// The summary before.
    pub(super) const PREVIOUS: u64 = 30;
    /// All of the user's words together.
    pub(super) const USER: u64 = 62;
    /// The same where no tool is used.
    pub(super) const USER_IN_TALK: u64 = 75;
    /// One message of the user: pastes are cut.
    pub(super) const MESSAGE: u64 = 45;
    /// Of what then is left: names. The course in lines takes the rest.
    pub(super) const NAMES: u64 = 40;
    /// The same where no tool is used.
    pub(super) const NAMES_IN_TALK: u64 = 15;
    /// Of the course: lines of results and written text.
    pub(super) const OUTPUT: u64 = 15;
}

/// What names count in a line of a file, read or written.
const COPY_WORTH: f64 = 0.3;
/// Such a line is shown for names worth this much, or not at all.
const LEAST_COPY_WORTH: f64 = 0.12;
/// The worth of one unit of idf, where an entity that will surely be needed is worth 1.
const WORD_WORTH: f64 = 0.006;
/// What a line costs beside its text (mark, line end), in quarter tokens.
const LINE_OVERHEAD: f64 = 120.0;
/// Tokens for the newest request, however small the budget is.
const LEAST_REQUEST: u64 = 48;
/// Shorter lines (in quarter tokens) say nothing by themselves.
const MIN_LINE: u32 = 12;
/// A stage ends when so many candidates in a row did not fit.
pub(super) const MAX_MISSES: usize = 64;
/// A candidate's value is worked out anew at most so often.
const MAX_REVALUED: u8 = 12;

/// Something to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// A standing rule of the ledger whose message is not among the removed ones.
    Rule(usize),
    /// A fact of the ledger.
    Row(usize),
    /// A fact in its short form.
    ShortRow(usize),
    /// A line of the pool.
    Line(usize),
    /// An entity by name.
    Name(u32),
}

/// The items chosen so far, the most important first.
pub(super) struct Selection<'p> {
    pub(super) pool: &'p Pool<'p>,
    pub(super) pieces: &'p [Piece<'p>],
    pub(super) rows: &'p [Row],
    pub(super) rules: Vec<String>,
    pub(super) items: Vec<Item>,
    pub(super) counter: &'p dyn TokenCounter,
    pub(super) budget: u64,
    pub(super) used: Weight,
    taken: Vec<bool>,
    /// Lines shown, by what they say: a hook's text stands behind every result.
    said: BTreeSet<&'p str>,
    pub(super) shown: Vec<bool>,
    shown_words: Vec<bool>,
    sections: BTreeSet<&'static str>,
    /// Rules that are shown beside the digest.
    beside: BTreeSet<&'p str>,
}

impl<'p> Selection<'p> {
    pub(super) fn new(
        pool: &'p Pool<'p>,
        pieces: &'p [Piece<'p>],
        rows: &'p [Row],
        counter: &'p dyn TokenCounter,
        budget: u64,
    ) -> Self {
        Self {
            pool,
            pieces,
            rows,
            rules: Vec::new(),
            items: Vec::new(),
            counter,
            budget,
            used: 0,
            taken: vec![false; pool.lines.len()],
            said: BTreeSet::new(),
            shown: vec![false; pool.entities.len()],
            shown_words: vec![false; pool.word_count()],
            sections: BTreeSet::new(),
            beside: BTreeSet::new(),
        }
    }

    /// What stays in sight need not be said again.
    pub(super) fn see_kept(&mut self, source: &DigestSource<'p>) {
        let kept = DigestSource {
            messages: source.kept,
            previous: None,
            ..*source
        };
        for piece in load(&kept) {
            self.see(&piece.text);
        }
        // The model knows its tools by name.
        for (_, _, tool) in source.messages.iter().flat_map(|m| m.calls()) {
            self.see_names(tool);
        }
    }

    /// What is shown beside the digest need not be said again: neither rules nor what the user says there word for word.
    pub(super) fn see_beside(&mut self, source: &DigestSource<'p>) {
        if source.beside.is_empty() {
            return;
        }
        self.see(source.beside);
        let rules = source.ledger.rules().iter();
        self.beside = rules
            .map(|rule| rule.text.as_ref())
            .filter(|text| source.beside.contains(text))
            .collect();
        let is_user = |m: Mark| matches!(m, Mark::User | Mark::System);
        for (at, line) in self.pool.lines.iter().enumerate() {
            if is_user(line.mark) && source.beside.contains(line.text) {
                self.taken[at] = true;
            }
        }
    }

    /// What stands between two neighbouring lines of one piece: white space, at most a blank line.
    pub(super) fn between(&self, line: usize, next: usize) -> &'p str {
        let (line, next) = (&self.pool.lines[line], &self.pool.lines[next]);
        let text = &self.pieces[line.piece].text;
        match text.get(line.start + line.text.len()..next.start) {
            Some(gap) if gap.len() <= 3 => gap,
            Some(gap) if gap.contains("\n\n") => "\n\n",
            _ => "\n",
        }
    }

    /// Runs all stages.
    pub(super) fn fill(&mut self, ledger: &Ledger) {
        let all = self.budget;
        let part = |percent: u64| all.saturating_mul(percent) / 100;
        let is_user = |m| m == Mark::User || m == Mark::System;
        // In plain talk sentences carry what matters; names alone are for those who act on them.
        let acts = self.pieces.iter().any(|p| p.mark == Mark::Call);
        let (user, names) = if acts {
            (share::USER, share::NAMES)
        } else {
            (share::USER_IN_TALK, share::NAMES_IN_TALK)
        };
        self.everything(is_user, part(user));
        self.requests(part(share::REQUEST));
        self.rules(ledger, part(share::RULES));
        self.facts(part(share::FACTS));
        self.standing(part(share::STANDING));
        self.lines(|m| m == Mark::Previous, part(share::PREVIOUS));
        let said = self.spent_on(is_user);
        self.said(
            is_user,
            part(user).saturating_sub(said),
            part(share::MESSAGE),
        );
        let names = self.left() * names / 100;
        let course = self.left() - names;
        self.lines(is_output, course * share::OUTPUT / 100);
        let is_course = |m| !is_output(m) && m != Mark::Previous;
        self.lines(is_course, self.left().saturating_sub(names));
        self.names(self.left());
        self.lines(|_| true, self.left());
        if self.drop_repeated_names() > 0 {
            self.lines(|_| true, self.left());
        }
    }

    /// All lines with a wanted mark, if they fit together.
    fn everything(&mut self, wanted: impl Fn(Mark) -> bool, tokens: u64) {
        let lines: Vec<usize> = (0..self.pool.lines.len())
            .filter(|at| wanted(self.pool.lines[*at].mark) && !self.taken[*at])
            .collect();
        let mut limit = self.limit(tokens);
        let mut weight: Weight = 0;
        for at in &lines {
            weight += self.counter.text(self.pool.lines[*at].text);
            if weight > limit {
                return;
            }
        }
        for at in lines {
            self.take_line(at, &mut limit);
        }
    }

    fn left(&self) -> u64 {
        self.budget.saturating_sub(self.counter.tokens(self.used))
    }

    /// Takes the item if its text fits both the budget and the stage's limit.
    pub(super) fn take(
        &mut self,
        item: Item,
        text: &str,
        section: &'static str,
        limit: &mut Weight,
    ) -> bool {
        let head = if self.sections.contains(section) {
            0
        } else {
            let head = super::render::head_of(section, self.budget);
            self.counter.text(head) + self.counter.text("\n\n")
        };
        let weight = self.counter.text(text);
        let total = self.used.saturating_add(weight).saturating_add(head);
        if weight > *limit || self.counter.tokens(total) > self.budget {
            return false;
        }
        *limit -= weight;
        self.used = total;
        self.sections.insert(section);
        self.items.push(item);
        true
    }

    pub(super) fn see(&mut self, text: &str) {
        let (pool, shown, words) = (self.pool, &mut self.shown, &mut self.shown_words);
        pool.seen_in(text, &mut |id| shown[id as usize] = true);
        pool.words_in(text, &mut |word| words[word as usize] = true);
    }

    fn see_names(&mut self, text: &str) {
        let (pool, shown) = (self.pool, &mut self.shown);
        pool.seen_in(text, &mut |id| shown[id as usize] = true);
    }

    fn take_line(&mut self, index: usize, limit: &mut Weight) -> bool {
        if self.taken[index] {
            return true;
        }
        let line = &self.pool.lines[index];
        let text = format!("R: {}\n", line.text);
        let section = super::render::section_of(line.mark);
        if !self.take(Item::Line(index), &text, section, limit) {
            return false;
        }
        self.taken[index] = true;
        let text = line.text;
        self.said.insert(text);
        self.see(text);
        true
    }

    /// A weight that is about `tokens` by the counter, for stage limits.
    pub(super) fn limit(&self, tokens: u64) -> Weight {
        // Counters turn a sum into tokens linearly: find the scale on a large sum.
        let unit = 1_u64 << 20;
        let scale = self.counter.tokens(unit).max(1);
        ((u128::from(tokens) * u128::from(unit)) / u128::from(scale))
            .try_into()
            .unwrap_or(u64::MAX)
    }

    /// The newest and the first request, from both ends inwards.
    fn requests(&mut self, tokens: u64) {
        let user = |p: &Piece<'_>| p.mark == Mark::User;
        let newest = self.pieces.iter().rposition(user);
        let first = self.pieces.iter().position(user);
        let mut pieces: Vec<usize> = newest.into_iter().chain(first).collect();
        pieces.dedup();
        for (nth, piece) in pieces.into_iter().enumerate() {
            let least = if nth == 0 { LEAST_REQUEST } else { 0 };
            self.ends_of(piece, tokens.max(least));
        }
    }

    fn ends_of(&mut self, piece: usize, tokens: u64) {
        let mut limit = self.limit(tokens);
        let mut lines: Vec<usize> = self.lines_of(piece).collect();
        // Greetings and closing words come after what they stand around.
        let is_short = |at: usize| self.pool.lines[at].size < MIN_LINE;
        if self.pieces[piece].mark != Mark::User {
            lines.retain(|at| !is_short(*at));
        }
        lines.sort_by_key(|at| (is_short(*at), self.pool.lines[*at].depth, *at));
        for at in lines {
            if !self.take_line(at, &mut limit) {
                break;
            }
        }
    }

    fn lines_of(&self, piece: usize) -> std::ops::Range<usize> {
        let start = self.pool.lines.partition_point(|l| l.piece < piece);
        start..self.pool.lines.partition_point(|l| l.piece <= piece)
    }

    /// Standing rules: where their message is among the removed ones their line is taken, else the rule.
    fn rules(&mut self, ledger: &Ledger, tokens: u64) {
        let mut limit = self.limit(tokens);
        let mut said: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, line) in self.pool.lines.iter().enumerate() {
            if matches!(line.mark, Mark::User | Mark::System) {
                said.entry(line.text).or_insert(at);
            }
        }
        // The newest speak first when there is not room for all.
        let shown = std::mem::take(&mut self.beside);
        let open = ledger.rules().iter().rev();
        for rule in open.filter(|rule| !shown.contains(rule.text.as_ref())) {
            if let Some(at) = said.get(rule.text.as_ref()) {
                self.take_line(*at, &mut limit);
            } else {
                let item = Item::Rule(self.rules.len());
                let text = format!("- {}\n", rule.text);
                self.rules.push(rule.text.to_string());
                if self.take(item, &text, super::render::RULES, &mut limit) {
                    self.see(&text);
                }
            }
        }
    }

    fn facts(&mut self, tokens: u64) {
        let mut limit = self.limit(tokens);
        let mut misses = 0;
        for (at, row) in self.rows.iter().enumerate() {
            let text = format!("{}, ", row.text);
            let short = row.short.as_deref().map(|s| format!("{s}, "));
            let item = if self.take(Item::Row(at), &text, row.label, &mut limit) {
                Some(text)
            } else {
                short.filter(|s| self.take(Item::ShortRow(at), s, row.label, &mut limit))
            };
            match item {
                Some(text) => self.see(&text),
                None => misses += 1,
            }
            if misses > MAX_MISSES {
                break;
            }
        }
    }

    /// The last thing the model said: where the work stands.
    fn standing(&mut self, tokens: u64) {
        let last = self.pieces.iter().rposition(|p| p.mark == Mark::Assistant);
        if let Some(piece) = last {
            self.ends_of(piece, tokens);
        }
    }

    fn spent_on(&self, wanted: impl Fn(Mark) -> bool) -> u64 {
        let weight = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Line(at) => Some(&self.pool.lines[*at]).filter(|l| wanted(l.mark)),
                _ => None,
            })
            .map(|line| self.counter.text(line.text))
            .sum();
        self.counter.tokens(weight)
    }

    /// Greedy choice of lines with a wanted mark, by value for each token.
    fn lines(&mut self, wanted: impl Fn(Mark) -> bool, tokens: u64) {
        self.said(wanted, tokens, u64::MAX);
    }

    /// The same with a limit for each piece, what is taken of it already included.
    fn said(&mut self, wanted: impl Fn(Mark) -> bool, tokens: u64, each: u64) {
        let mut limit = self.limit(tokens);
        let each = self.limit(each);
        let mut spent: BTreeMap<usize, Weight> = BTreeMap::new();
        for item in &self.items {
            if let Item::Line(at) = item {
                let line = &self.pool.lines[*at];
                *spent.entry(line.piece).or_default() += self.counter.text(line.text);
            }
        }
        let mut heap: BinaryHeap<(u64, std::cmp::Reverse<usize>, u8)> = BinaryHeap::new();
        for (at, line) in self.pool.lines.iter().enumerate() {
            if !self.taken[at]
                && wanted(line.mark)
                && (line.size >= MIN_LINE || line.mark == Mark::User)
            {
                heap.push((self.density(line), std::cmp::Reverse(at), 0));
            }
        }
        let mut misses = 0;
        while let Some((was, std::cmp::Reverse(at), revalued)) = heap.pop() {
            let line = &self.pool.lines[at];
            // Values only fall: a fresh value that still leads is the best there is.
            let now = self.density(line);
            if now < was && revalued < MAX_REVALUED {
                heap.push((now, std::cmp::Reverse(at), revalued + 1));
                continue;
            }
            if now == 0 || (is_output(line.mark) && self.said.contains(line.text)) {
                continue;
            }
            let spent = spent.entry(line.piece).or_default();
            if *spent > each {
                continue;
            }
            let before = limit;
            if self.take_line(at, &mut limit) {
                *spent += before - limit;
                misses = 0;
            } else {
                misses += 1;
                if misses > MAX_MISSES {
                    break;
                }
            }
        }
    }

    fn density(&self, line: &Line<'_>) -> u64 {
        let entities: f64 = line
            .entities
            .iter()
            .filter(|id| !self.shown[**id as usize])
            .map(|id| self.pool.entity_value(*id))
            .sum();
        let words = self.pool.word_value(line, &self.shown_words) * WORD_WORTH;
        // A line out of a file tells little by itself, and the file can be read again.
        let is_copy = line.listing || line.mark == Mark::Written;
        if is_copy && entities < LEAST_COPY_WORTH {
            return 0;
        }
        let entities = if is_copy {
            entities * COPY_WORTH
        } else {
            entities
        };
        let ends = if line.depth < 2 { 1.3 } else { 1.0 };
        let (role, by_time) = match line.mark {
            Mark::User => (3.0 * self.pool.brevity(line), 1.0),
            Mark::System | Mark::Previous => (2.0, 1.0),
            Mark::Assistant => (1.3, recency(line.message, self.pool.messages())),
            Mark::Call => (0.7, recency(line.message, self.pool.messages())),
            Mark::Result if line.error => (0.8, recency(line.message, self.pool.messages())),
            Mark::Result if line.listing => (0.1, 1.0),
            Mark::Result => (0.25, 1.0),
            Mark::Thought => (0.5, recency(line.message, self.pool.messages())),
            Mark::Host => (0.4, 1.0),
            Mark::Written => (0.1, 1.0),
        };
        quantised(
            (entities + words * role * ends * by_time) / (f64::from(line.size) + LINE_OVERHEAD),
        )
    }
}

fn is_output(mark: Mark) -> bool {
    matches!(mark, Mark::Result | Mark::Written)
}

/// A density as an integer, so that it orders totally and alike everywhere.
pub(super) fn quantised(value: f64) -> u64 {
    // A float to integer cast saturates: no value is out of range.
    (value * 1e9) as u64
}
