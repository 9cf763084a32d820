//! What a rule is about, in a form in which two can be compared: what it wants of it, which values it names, and
//! its topics as notions that do not depend on words.

use serde::{Deserialize, Serialize};

use super::lexicon::{Class, Sign, name_of};
use super::reading::Reading;
use super::token::{Kind, hash_of};

/// What is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wish {
    /// It is to be so.
    #[default]
    Require,
    /// It must not be.
    Forbid,
    /// It may be.
    Permit,
    /// It need not be.
    Exempt,
}

/// A value that a rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Value {
    /// Its class.
    pub(super) class: u8,
    /// What is counted, for amounts.
    pub(super) unit: u16,
    pub(super) value: u32,
    pub(super) is_denied: bool,
}

/// A topic: a notion, or the stem of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Topic {
    pub(super) id: u32,
    /// 1 for what says little by itself, else 2.
    pub(super) weight: u8,
    /// A name, path or number.
    pub(super) is_proper: bool,
}

/// A word of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Word {
    pub(super) id: u32,
    pub(super) is_proper: bool,
    /// Behind it stands where or to whom: of such things there is one.
    pub(super) is_place: bool,
}

/// What a rule is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) wish: Wish,
    pub(super) values: Vec<Value>,
    pub(super) topics: Vec<Topic>,
    /// The words of an order in their row, for telling which one changed.
    pub(super) row: Vec<Word>,
}

/// Words of a row that are compared.
const MAX_ROW: usize = 14;
/// Topics of one rule.
const MAX_TOPICS: usize = 24;

impl Shape {
    /// The shape of a sentence.
    pub(super) fn of(r: &Reading) -> Self {
        let mut values: Vec<Value> = r
            .values
            .iter()
            .map(|v| Value {
                class: v.class as u8,
                unit: v.unit,
                value: v.value,
                is_denied: v.is_denied,
            })
            .collect();
        let mut topics = topics(r);
        if let Some(name) = name(r) {
            values.push(name);
            topics.clear();
        }
        values.sort_unstable();
        values.dedup();
        let words = (0..r.len()).filter(|at| r.tokens.all[*at].kind != Kind::Mark);
        let fillers = |at: &usize| !r.is_any_at(*at, &[Sign::Filler, Sign::Always]);
        Self {
            wish: wish(r),
            values,
            topics,
            row: words
                .filter(fillers)
                .take(MAX_ROW)
                .map(|at| Word {
                    id: short(r.tokens.all[at].hash),
                    is_proper: r.is_proper(at),
                    is_place: is_place(r.tokens.text(at)),
                })
                .collect(),
        }
    }

    /// Topics that are not implied by the class: that one indents is what tabs are about.
    pub(super) fn beside(&self, class: u8) -> impl Iterator<Item = &Topic> {
        let implied = implied(class);
        self.topics
            .iter()
            .filter(move |t| t.weight > 1 && !implied.iter().any(|name| t.id == notion(name)))
    }
}

fn wish(r: &Reading) -> Wish {
    let stops = r.openings.iter().any(|at| {
        r.tokens.text(*at) == "stop"
            && r.tokens
                .get(at + 1)
                .is_some_and(|word| word.ends_with("ing"))
    });
    // `You can … without asking` is no need to ask.
    let without = |at: usize| {
        matches!(
            r.tokens.text(at),
            "without" | "ohne" | "sans" | "sin" | "sem" | "senza" | "zonder" | "без" | "bez"
        )
    };
    if r.has(Sign::YouNeedNot) || r.has(Sign::YouMay) && (0..r.len()).any(without) {
        return Wish::Exempt;
    }
    let forbids = [Sign::Never, Sign::MustNot, Sign::YouMustNot]
        .iter()
        .any(|s| r.has(*s));
    let dont = r
        .all(Sign::Dont)
        .any(|s| r.is_dense() || r.openings.contains(&s.at) || s.len > 1 || r.begins(Sign::Verb));
    let no = r
        .all(Sign::No)
        .any(|s| r.openings.first() == Some(&s.at) || r.begins(Sign::Verb));
    if forbids || dont || no || stops {
        return Wish::Forbid;
    }
    if r.has(Sign::YouMay) || r.has(Sign::Allowed) && !r.has(Sign::Must) {
        return Wish::Permit;
    }
    Wish::Require
}

fn topics(r: &Reading) -> Vec<Topic> {
    let mut taken = vec![false; r.len()];
    let mut out = Vec::new();
    let mut add = |id, weight, is_proper| {
        if out.len() < MAX_TOPICS {
            out.push(Topic {
                id,
                weight,
                is_proper,
            });
        }
    };
    for value in &r.values {
        taken[value.at..value.at + value.len].fill(true);
    }
    for concept in &r.concepts {
        let place = concept.at..concept.at + concept.len;
        if taken[place.clone()].iter().any(|t| *t) {
            continue;
        }
        taken[place].fill(true);
        let weight = if concept.is_light { 1 } else { 2 };
        add(notion(name_of(concept.concept)), weight, false);
    }
    let mut before: Option<usize> = None;
    for (at, token) in r.tokens.all.iter().enumerate() {
        let is_open = !taken[at] && (!r.is_frame[at] || token.quoted);
        match token.kind {
            Kind::Word if is_open => {
                let word = r.tokens.text(at);
                if !word.chars().all(|c| c.is_ascii_digit() || c == '.') {
                    add(
                        short(hash_of(stem(word))),
                        2,
                        r.is_proper(at) || token.quoted,
                    );
                }
            }
            Kind::Dense if is_open => {
                // Pairs of neighbours: a word is mostly two characters.
                if before.is_some_and(|b| b + 1 == at) {
                    let start = r.tokens.all[at - 1].start as usize;
                    add(
                        short(hash_of(&r.tokens.lower[start..token.end as usize])),
                        2,
                        false,
                    );
                }
                before = Some(at);
            }
            _ => {}
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// How somebody wants to be called: all that is said beside it.
fn name(r: &Reading) -> Option<Value> {
    let called = r.all(Sign::CallMe).next()?;
    let behind = called.at + called.len..r.len();
    let place = if behind.is_empty()
        || matches!(r.lang, super::lexicon::Lang::Ja | super::lexicon::Lang::Ko)
    {
        0..called.at
    } else {
        behind
    };
    let words = place.filter(|at| !r.is_frame[*at] && r.tokens.all[*at].kind != Kind::Mark);
    let said: String = words.take(4).map(|at| r.tokens.text(at)).collect();
    (!said.is_empty()).then(|| Value {
        class: Class::Name as u8,
        unit: 0,
        value: short(hash_of(&said)),
        is_denied: false,
    })
}

/// The notions that a class is about anyway.
fn implied(class: u8) -> &'static [&'static str] {
    let is = |c: Class| c as u8 == class;
    match () {
        () if is(Class::Indent) => &["indent", "code", "file", "line"],
        () if is(Class::Natural)
            || is(Class::Length)
            || is(Class::Tone)
            || is(Class::Shape)
            || is(Class::Audience) =>
        {
            &["reply", "language", "message", "explain", "use", "format"]
        }
        () if is(Class::Units) || is(Class::Temperature) || is(Class::Numerals) => {
            &["measurement", "number", "reply", "use"]
        }
        () if is(Class::DateForm) || is(Class::Clock) || is(Class::Zone) => {
            &["date", "format", "reply", "number"]
        }
        () if is(Class::Currency) => &["budget", "number", "reply"],
        () if is(Class::Region) || is(Class::Cloud) || is(Class::Environment) => {
            &["deploy", "deploy target"]
        }
        () if is(Class::JsPackages) || is(Class::PyPackages) => &["dependency"],
        () if is(Class::JsTests) || is(Class::PyTests) => &["test"],
        () if is(Class::Database) => &["database"],
        () if is(Class::Publication) => &["paper", "cite"],
        () if is(Class::SourceKind) => &["cite"],
        () if is(Class::Case) => &["name"],
        () if is(Class::Quotes) || is(Class::Semicolons) || is(Class::Code) => &["code"],
        () if is(Class::Formatter) => &["format", "code", "lint"],
        () if is(Class::Search) => &["search"],
        () if is(Class::Branch) => &["branch"],
        () if is(Class::Merge) => &["merge"],
        () => &[],
    }
}

fn is_place(word: &str) -> bool {
    matches!(
        word,
        "to" | "in"
            | "into"
            | "under"
            | "at"
            | "as"
            | "on"
            | "nach"
            | "unter"
            | "auf"
            | "an"
            | "à"
            | "dans"
            | "sous"
            | "en"
            | "a"
            | "al"
            | "bajo"
            | "em"
            | "para"
            | "sob"
            | "su"
            | "naar"
            | "onder"
            | "в"
            | "на"
            | "к"
            | "w"
            | "do"
            | "na"
    )
}

fn notion(name: &str) -> u32 {
    short(hash_of(name) ^ 0x5bd1_e995)
}

fn short(hash: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the low half of a hash")]
    let low = (hash ^ hash >> 32) as u32;
    low
}

/// A word without what inflects it, roughly.
fn stem(word: &str) -> &str {
    if word.is_ascii() {
        for end in ["ings", "ing", "ies", "ied", "es", "ed", "s"] {
            if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() >= 3) {
                return stem.strip_suffix('e').unwrap_or(stem);
            }
        }
        return word
            .strip_suffix('e')
            .filter(|stem| stem.len() >= 3)
            .unwrap_or(word);
    }
    // Inflected languages: the beginning tells.
    match word.char_indices().nth(5) {
        Some((at, _)) => &word[..at],
        None => word,
    }
}
