//! Constraints: the user's standing rules, in their own words, with the message that says them.
//!
//! [`Rules::hear`] reads one more message of the user and costs what it holds. A sentence becomes a rule when
//! it demands something that holds beyond its answer ([`find`]); it ends an earlier rule when it takes it back or
//! gives the same thing another value, in whatever words ([`supersede`]). What ended stays in the history, for
//! audit. The languages are tables of data ([`lexicon`]).

mod find;
mod lexicon;
mod reading;
mod said;
mod shape;
mod supersede;
mod token;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use find::Force;
use lexicon::Class;
use reading::Reading;
use said::{Sentence, sentences};
use shape::Shape;
use supersede::{Effect, TakeBack};

use super::MAX_RULES;
use super::whole::Message;
use crate::digest::said;
use crate::id::Ident;
use crate::redact::Redactor;
use crate::view::{MessageView, Role};

/// Bytes of a rule with the list that it introduces.
const MAX_RULE: usize = 1_200;
/// Rules that ended and are remembered.
pub const MAX_PAST_RULES: usize = 60;
/// The oldest rules that are never evicted.
const FIRST_RULES: usize = 10;
/// A take-back that names no rule as a rule must fit one this well, in hundredths.
const FITS: u64 = 66;
/// One that does may fit more loosely.
const FITS_AS_RULE: u64 = 50;

/// A standing rule in the speaker's own words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The sentence, verbatim, with the list that it introduces.
    pub text: Arc<str>,
    /// Who said it: the user, or the host in a later system message.
    pub role: Role,
    /// Ordinal of the message that says it.
    pub message: u64,
    /// Digest of that message.
    pub ident: Ident,
    /// How firmly it was said.
    pub force: Force,
    /// Ordinal of the message that said it first, where it was said again in other words.
    pub first: u64,
    /// The ordinal that the message had in a history that is not at hand: the rule was read from an earlier
    /// compaction's block.
    pub earlier: Option<u64>,
    /// What it replaced, where its own words do not say what they are about (`actually, Robert`).
    pub instead_of: Option<Arc<str>>,
    /// What it is about.
    shape: Shape,
}

/// Why a rule ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// A later rule says something else of the same thing.
    Changed,
    /// It was said again in other words, which stand now.
    Restated,
    /// It was taken back.
    TakenBack,
}

/// A rule that holds no more.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PastRule {
    /// The sentence, verbatim.
    pub text: Arc<str>,
    /// Ordinal of the message that said it.
    pub message: u64,
    /// Ordinal of the message that ended it.
    pub superseded_by: u64,
    /// How.
    pub ended: Ended,
}

/// The rules of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rules {
    standing: Vec<Rule>,
    past: Vec<PastRule>,
    /// Standing rules that were dropped for lack of room.
    dropped: u64,
}

impl Rules {
    /// The rules that hold, oldest first.
    pub fn standing(&self) -> &[Rule] {
        &self.standing
    }

    /// The rules that ended, oldest first, the newest [`MAX_PAST_RULES`].
    pub fn past(&self) -> &[PastRule] {
        &self.past
    }

    /// Standing rules that were dropped for lack of room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Changes every text.
    pub(super) fn clean(&mut self, clean: impl Fn(&mut Arc<str>)) {
        for rule in &mut self.standing {
            clean(&mut rule.text);
            rule.instead_of.iter_mut().for_each(&clean);
        }
        self.past.iter_mut().for_each(|rule| clean(&mut rule.text));
    }

    /// Reads a text that the user, or the host in a later system message, says in `message`.
    pub(super) fn hear(
        &mut self,
        text: &str,
        message: &MessageView,
        ordinal: u64,
        redactor: Option<&Redactor>,
    ) {
        let text = said(text);
        let speaker = Speaker {
            role: message.role,
            ident: message.ident,
            ordinal,
            words: Message::new(&text, redactor),
        };
        let all = sentences(&text);
        let before = self.standing.len();
        let mut around = None;
        let mut taken_with_intro = None;
        // Items below `Rules:` are rules, however they are worded.
        let mut rule_list = None;
        for (nth, sentence) in all.iter().enumerate() {
            if sentence.item_of.is_some() && sentence.item_of == taken_with_intro {
                continue;
            }
            let reading = Reading::of(sentence.text, around);
            around = Some(reading.lang).filter(|_| reading.len() > 4).or(around);
            if sentence.with_list.is_some() && is_heading_of_rules(&reading) {
                rule_list = Some(nth);
                continue;
            }
            let is_listed = sentence.item_of.is_some() && sentence.item_of == rule_list;
            if self.sentence(sentence, &reading, is_listed, &speaker)
                && sentence.with_list.is_some()
            {
                taken_with_intro = Some(nth);
            }
        }
        if message.flags.pinned {
            self.pin(&text, before, &speaker);
        }
    }

    /// What the host pinned is a rule: those in it, or all of it.
    fn pin(&mut self, text: &str, before: usize, speaker: &Speaker<'_>) {
        let from = before.min(self.standing.len());
        let mut mine = self.standing[from..]
            .iter_mut()
            .filter(|r| r.message == speaker.ordinal)
            .peekable();
        if mine.peek().is_some() {
            mine.for_each(|rule| rule.force = Force::Pinned);
        } else if text.len() <= MAX_RULE && !text.trim().is_empty() {
            let shape = Shape::of(&Reading::of(text, None));
            self.add(text.trim(), Force::Pinned, shape, None, speaker);
        }
    }

    /// Whether the sentence is a rule now.
    fn sentence(
        &mut self,
        sentence: &Sentence<'_>,
        r: &Reading,
        is_listed: bool,
        speaker: &Speaker<'_>,
    ) -> bool {
        let force = find::force(r).or(is_listed.then_some(Force::Plain));
        let is_candidate = force.is_none() && !self.standing.is_empty();
        if force.is_none() && !(is_candidate && supersede::may_change(r)) && !takes_back_perhaps(r)
        {
            return false;
        }
        let shape = Shape::of(r);
        let took = self.take_back(r, &shape, speaker);
        if took && force != Some(Force::Explicit) {
            return false;
        }
        if force.is_none() && (!is_candidate || find::is_question(r)) {
            return false;
        }
        let text = sentence
            .with_list
            .filter(|t| t.len() <= MAX_RULE)
            .unwrap_or(sentence.text);
        let text = speaker.words.part(text);
        let text = text.as_ref();
        if self.standing.iter().any(|rule| rule.text.as_ref() == text) {
            return true;
        }
        let ended = self.end_others(r, &shape, speaker);
        let Some(force) = force.or(ended.force) else {
            return false;
        };
        self.add(text, force, shape, ended.instead_of, speaker);
        if let (Some(first), Some(rule)) = (ended.first, self.standing.last_mut()) {
            rule.first = first;
        }
        true
    }

    /// Ends the rules that the sentence changes or says again.
    fn end_others(&mut self, r: &Reading, shape: &Shape, speaker: &Speaker<'_>) -> Ends {
        let mut ends = Ends::default();
        let is_name = |rule: &Rule| {
            rule.shape
                .values
                .iter()
                .any(|v| v.class == Class::Name as u8)
        };
        let corrected = supersede::bare_name(r, shape)
            .then(|| self.standing.iter().rposition(is_name))
            .flatten();
        let mut ended = Vec::new();
        for (at, rule) in self.standing.iter().enumerate() {
            if rule.force == Force::Pinned {
                continue;
            }
            let effect = match corrected == Some(at) {
                true => Some(Effect::Changed),
                // What one message says at once holds together, unless it corrects itself.
                false if rule.message == speaker.ordinal && !supersede::is_change(r) => None,
                false => supersede::effect(r, shape, &rule.shape),
            };
            if let Some(effect) = effect {
                ended.push((at, effect));
            }
        }
        for (at, effect) in ended.into_iter().rev() {
            let rule = self.standing.remove(at);
            ends.force = ends.force.max(Some(rule.force));
            match effect {
                Effect::Restated => ends.first = Some(rule.first),
                Effect::Changed if find::force(r).is_none() => {
                    ends.instead_of = Some(rule.text.clone())
                }
                Effect::Changed => {}
            }
            let how = match effect {
                Effect::Changed => Ended::Changed,
                Effect::Restated => Ended::Restated,
            };
            self.end(&rule, how, speaker);
        }
        ends
    }

    /// Takes back what the sentence says it takes back. Whether anything was.
    fn take_back(&mut self, r: &Reading, shape: &Shape, speaker: &Speaker<'_>) -> bool {
        let back = supersede::takes_back(r, shape);
        let is_open = |rule: &&Rule| rule.force != Force::Pinned && rule.message < speaker.ordinal;
        let gone: Vec<u64> = match back {
            TakeBack::None => return false,
            TakeBack::All => self
                .standing
                .iter()
                .filter(is_open)
                .map(|rule| rule.first)
                .collect(),
            TakeBack::Newest => self
                .standing
                .iter()
                .rev()
                .find(is_open)
                .map(|rule| rule.first)
                .into_iter()
                .collect(),
            TakeBack::Named { as_rule } => {
                let least = if as_rule { FITS_AS_RULE } else { FITS };
                let fits = |rule: &Rule| supersede::named(shape, &rule.shape);
                let best = self
                    .standing
                    .iter()
                    .filter(is_open)
                    .map(fits)
                    .max()
                    .unwrap_or(0);
                let best = |rule: &&Rule| is_open(rule) && best >= least && fits(rule) == best;
                self.standing
                    .iter()
                    .rev()
                    .filter(best)
                    .map(|rule| rule.first)
                    .take(1)
                    .collect()
            }
        };
        let mut at = 0;
        while at < self.standing.len() {
            if gone.contains(&self.standing[at].first) && is_open(&&self.standing[at]) {
                let rule = self.standing.remove(at);
                self.end(&rule, Ended::TakenBack, speaker);
            } else {
                at += 1;
            }
        }
        !gone.is_empty()
    }

    fn end(&mut self, rule: &Rule, ended: Ended, speaker: &Speaker<'_>) {
        if self.past.len() == MAX_PAST_RULES {
            self.past.remove(0);
        }
        self.past.push(PastRule {
            text: rule.text.clone(),
            message: rule.message,
            superseded_by: speaker.ordinal,
            ended,
        });
    }

    fn add(
        &mut self,
        text: &str,
        force: Force,
        shape: Shape,
        instead_of: Option<Arc<str>>,
        speaker: &Speaker<'_>,
    ) {
        if self.standing.len() == MAX_RULES {
            // The oldest of the least firm ones goes, but the first ones set the tone.
            let late = FIRST_RULES..self.standing.len();
            let weakest = late.min_by_key(|at| (self.standing[*at].force, *at));
            self.standing.remove(weakest.unwrap_or(0));
            self.dropped += 1;
        }
        self.standing.push(Rule {
            text: text.into(),
            role: speaker.role,
            message: speaker.ordinal,
            ident: speaker.ident,
            force,
            first: speaker.ordinal,
            earlier: None,
            instead_of,
            shape,
        });
    }

    /// Takes over a rule that an earlier compaction of ours has shown, by the number that it had there.
    pub(super) fn restore(&mut self, text: &str, earlier: u64, block: &MessageView, ordinal: u64) {
        if self.standing.iter().any(|rule| rule.text.as_ref() == text) {
            return;
        }
        let reading = Reading::of(text, None);
        let force = find::force(&reading).unwrap_or(Force::Plain);
        let speaker = Speaker {
            role: block.role,
            ident: block.ident,
            ordinal,
            words: Message::default(),
        };
        self.add(text, force, Shape::of(&reading), None, &speaker);
        if let Some(rule) = self.standing.last_mut() {
            rule.earlier = Some(earlier);
        }
    }
}

/// Who speaks, where.
struct Speaker<'a> {
    role: Role,
    ident: Ident,
    ordinal: u64,
    /// What is said.
    words: Message<'a>,
}

/// What a sentence ended.
#[derive(Default)]
struct Ends {
    /// The firmest force of what was changed.
    force: Option<Force>,
    first: Option<u64>,
    instead_of: Option<Arc<str>>,
}

/// `Rules:`, `My preferences:`.
fn is_heading_of_rules(r: &Reading) -> bool {
    let is_task = |at: usize| r.tokens.text(at).starts_with("instruction");
    r.len() <= 8 && r.has(lexicon::Sign::RuleNoun) && !(0..r.len()).any(is_task)
}

fn takes_back_perhaps(r: &Reading) -> bool {
    r.has(lexicon::Sign::Forget) || r.has(lexicon::Sign::Gone)
}

/// The standing rules that one text alone states, for measuring: what [`Rules`] would hold after a single message.
pub fn rules_of(text: &str) -> Vec<Rule> {
    let message = MessageView::new(
        crate::id::Handle(0),
        Role::User,
        Vec::new(),
        Ident::of(text),
    );
    let mut rules = Rules::default();
    rules.hear(text, &message, 0, None);
    rules.standing
}

#[cfg(test)]
mod tests;
