//! What words tell: one table of phrases over all languages, each with what it is a sign of.
//!
//! A phrase is a row of tokens: words in scripts with spaces, single characters in scripts without. Looking one
//! up costs one hash of its first token. The tables beside this file are data; a language is one of them.

mod concepts;
mod de;
mod en;
mod es;
mod fr;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod values;
mod zh;

use std::sync::LazyLock;

use super::token::{hash_of, tokens_of};

pub(super) use concepts::name_of;
pub(super) use values::{Class, NUMBERS, UNITS, is_style};

/// What a word or phrase is a sign of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// For good: always, at all times.
    Always,
    /// Never, under no circumstances.
    Never,
    /// Opens a forbidding order: don't, avoid.
    Dont,
    /// No, before a noun.
    No,
    /// A bare not.
    Not,
    /// An obligation whose subject stands elsewhere: must, should.
    Must,
    /// The same, denied.
    MustNot,
    /// An obligation of the one spoken to: you must.
    YouMust,
    /// You must not, you cannot.
    YouMustNot,
    /// You may, feel free.
    YouMay,
    /// You need not.
    YouNeedNot,
    /// What a state of affairs is allowed to be: is fine, are allowed.
    Allowed,
    /// Nothing but.
    Only,
    /// A preference that is stated: I prefer.
    Prefer,
    /// Names what is not wanted behind it: instead of, rather than.
    Instead,
    /// A bound: at most, under, no more than.
    Limit,
    /// How long something holds: from now on, for the rest of this session.
    Scope,
    /// Every, each, all.
    Each,
    /// What the model says: replies, answers.
    Reply,
    /// What the model makes: commits, functions, file names.
    Artefact,
    /// Opens a condition: when, whenever, if.
    When,
    /// Before or after something, unless.
    Around,
    /// An order's verb, in the form in which it opens an order.
    Verb,
    /// An order's verb about how to say or write something.
    Style,
    /// An order to make use of something.
    Use,
    /// An order that holds by its nature: stick to, stay within.
    Hold,
    /// The one spoken to.
    You,
    /// The speaker alone.
    I,
    /// The speaker's team.
    We,
    /// Somebody or something else.
    They,
    /// Words that may stand in front of an order: please, also.
    Filler,
    /// Joins two clauses: and, but.
    Joint,
    /// Opens a question.
    Asks,
    /// Opens a question that is a request: can you.
    AsksPolitely,
    /// Opens what is only imagined.
    Imagined,
    /// Somebody else is quoted: says that.
    Reported,
    /// Holds this once: this time, for now.
    Once,
    /// How the speaker wants to be called.
    CallMe,
    /// A rule by name: the rule is, our convention.
    RuleNoun,
    /// Takes something back: forget, never mind.
    Forget,
    /// Holds no more: no longer, anymore.
    Gone,
    /// What is said now replaces something: actually, instead.
    Actually,
    /// A change of something: switch to, we moved to.
    Switch,
    /// The rules at large: everything, all rules.
    All,
    /// Empty phrases behind a don't: worry, hesitate.
    Idle,
    /// A want: I want, I need.
    Want,
    /// A sign of its language, and no topic.
    Stop,
}

/// A language that has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Lang {
    En,
    De,
    Fr,
    Es,
    Pt,
    It,
    Nl,
    Ru,
    Pl,
    Zh,
    Ja,
    Ko,
}

/// Languages, by number.
pub(super) const LANGS: usize = 12;

/// What a phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A sign, in one language.
    Sign(Lang, Sign),
    /// A value of a class: tabs, of what indents.
    Value(Class, u16),
    /// A notion that has several words: delete, remove. The flag: a verb that says little by itself.
    Concept(u16, bool),
}

/// Phrases separated by `|`, by sign.
pub(super) type Table = &'static [(Sign, &'static str)];

const TABLES: [(Lang, Table); LANGS] = [
    (Lang::En, en::TABLE),
    (Lang::De, de::TABLE),
    (Lang::Fr, fr::TABLE),
    (Lang::Es, es::TABLE),
    (Lang::Pt, pt::TABLE),
    (Lang::It, it::TABLE),
    (Lang::Nl, nl::TABLE),
    (Lang::Ru, ru::TABLE),
    (Lang::Pl, pl::TABLE),
    (Lang::Zh, zh::TABLE),
    (Lang::Ja, ja::TABLE),
    (Lang::Ko, ko::TABLE),
];

/// One phrase.
#[derive(Debug)]
struct Phrase {
    tokens: Vec<Box<str>>,
    meaning: Meaning,
}

/// All phrases, found by their first token.
#[derive(Debug)]
pub(super) struct Lexicon {
    phrases: Vec<Phrase>,
    /// Where the phrases of a hash begin and end, by the hash's low bits.
    slots: Vec<(u32, u32)>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

/// The table of all phrases.
pub(super) fn lexicon() -> &'static Lexicon {
    &LEXICON
}

impl Lexicon {
    fn build() -> Self {
        let mut phrases = Vec::new();
        let mut add = |text: &str, meaning| {
            for phrase in text.split('|').map(str::trim).filter(|p| !p.is_empty()) {
                let tokens = tokens_of(phrase);
                phrases.push(Phrase { tokens, meaning });
            }
        };
        for (lang, table) in TABLES {
            for (sign, text) in table {
                add(text, Meaning::Sign(lang, *sign));
            }
        }
        for (class, values) in values::TABLE {
            for (value, text) in values.iter().enumerate() {
                add(text, Meaning::Value(*class, number(value)));
            }
        }
        for (concept, (is_light, text)) in concepts::TABLE.iter().enumerate() {
            add(text, Meaning::Concept(number(concept), *is_light));
        }
        let size = (phrases.len() * 2).next_power_of_two();
        let slot = |phrase: &Phrase| hash_of(&phrase.tokens[0]) as usize & (size - 1);
        // Longer phrases first, so that the first that fits is the longest.
        phrases.sort_by(|a, b| {
            let key = |p: &Phrase| (slot(p), std::cmp::Reverse(p.tokens.len()));
            key(a).cmp(&key(b)).then_with(|| a.tokens.cmp(&b.tokens))
        });
        let mut slots = vec![(0, 0); size];
        for (at, phrase) in phrases.iter().enumerate() {
            let at = u32::try_from(at).expect("a table has fewer phrases than that");
            let range = &mut slots[slot(phrase)];
            if range.1 == 0 {
                range.0 = at;
            }
            range.1 = at + 1;
        }
        Self { phrases, slots }
    }

    /// Calls `each` with the length in tokens and the meaning of every phrase that begins at `tokens[0]`, longest
    /// first. `hash` is that of the first token.
    pub(super) fn at<'t>(
        &self,
        hash: u64,
        token: impl Fn(usize) -> Option<&'t str>,
        each: &mut dyn FnMut(usize, Meaning),
    ) {
        let (from, to) = self.slots[hash as usize & (self.slots.len() - 1)];
        for phrase in &self.phrases[from as usize..to as usize] {
            let mut row = phrase.tokens.iter().enumerate();
            if row.all(|(at, word)| token(at) == Some(word.as_ref())) {
                each(phrase.tokens.len(), phrase.meaning);
            }
        }
    }
}

fn number(at: usize) -> u16 {
    u16::try_from(at).expect("a table has fewer rows than that")
}
