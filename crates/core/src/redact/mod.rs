//! Secrets are taken out of everything that is written about a conversation: what a summariser is given, the
//! summary, records, failure messages and events. The conversation itself is never touched.
//!
//! [`Redactor::redact`] replaces each match by a short marker and is a function of the text alone: the same text
//! gives the same bytes, and a text that was redacted is left as it is. Common secrets are known by what their
//! makers put in front of them (`tokens`), by their form (`blocks`) or by the name they stand behind
//! (`named`); a configuration adds patterns of its own.
//!
//! Cost: what is built in reads a text once and looks at most `LOOK_AHEAD` bytes ahead of any place, so it is
//! linear for any input. A pattern of the configuration is a regular expression without backtracking, of bounded
//! size.

mod blocks;
mod inputs;
mod marker;
mod named;
mod shown;
#[cfg(test)]
mod tests;
mod tokens;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

pub use shown::Shown;

/// No rule that is built in looks further than this to decide; what it then takes may be longer.
const LOOK_AHEAD: usize = 300;
/// Compiled size of one pattern.
const PATTERN_BYTES: usize = 1 << 20;
/// After this many rounds a stretch that still holds a match goes as a whole.
const ROUNDS: usize = 4;
/// What patterns of the configuration find.
const CUSTOM: &str = "custom";

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactOption {
    /// Off leaves every text as it is. `None`: on.
    pub enabled: Option<bool>,
    /// Regular expressions beside those that are built in.
    pub patterns: Vec<Arc<str>>,
    /// Regular expressions: what one of them matches as a whole is no secret.
    pub allow: Vec<Arc<str>>,
}

/// A list of patterns of [`RedactOption`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternList {
    /// [`RedactOption::patterns`].
    Patterns,
    /// [`RedactOption::allow`].
    Allow,
}

impl PatternList {
    /// The option's name in a configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Patterns => "redact.patterns",
            Self::Allow => "redact.allow",
        }
    }
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}[{index}]: {reason}", .list.name())]
pub struct BadPattern {
    /// Which list it stands in.
    pub list: PatternList,
    /// Its place there, from 0.
    pub index: usize,
    /// What is wrong with it, in one line.
    pub reason: Arc<str>,
}

/// Replaces secrets. Cheap to clone; equal and of equal hash when made of the same options.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RedactOption", into = "RedactOption")]
pub struct Redactor {
    asked: RedactOption,
    compiled: Arc<Compiled>,
}

#[derive(Debug, Default)]
struct Compiled {
    patterns: Vec<Regex>,
    allow: Vec<Regex>,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is: `openai key`, `password`, …; `custom` for a configured pattern.
    pub kind: &'static str,
}

impl Redactor {
    /// A redactor of what is built in and these options.
    ///
    /// # Errors
    /// The first pattern that is no regular expression, is too large, or matches nothing at all.
    pub fn new(option: &RedactOption) -> Result<Self, BadPattern> {
        let compiled = Compiled {
            patterns: compile(&option.patterns, PatternList::Patterns)?,
            allow: compile(&option.allow, PatternList::Allow)?,
        };
        Ok(Self {
            asked: RedactOption {
                // On is what nobody has to say.
                enabled: option.enabled.filter(|on| !on),
                ..option.clone()
            },
            compiled: Arc::new(compiled),
        })
    }

    /// One that leaves every text as it is.
    pub fn off() -> Self {
        let enabled = Some(false);
        Self {
            asked: RedactOption {
                enabled,
                ..RedactOption::default()
            },
            compiled: Arc::default(),
        }
    }

    /// What it was made of.
    pub fn option(&self) -> &RedactOption {
        &self.asked
    }

    /// Whether it does anything.
    pub fn is_on(&self) -> bool {
        self.asked.enabled != Some(false)
    }

    /// Whether it does more than what is built in.
    pub(crate) fn has_patterns(&self) -> bool {
        self.is_on() && !self.asked.patterns.is_empty()
    }

    /// The text without its secrets. Doing it again changes nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for round in 1..=ROUNDS {
            let mut found = self.find(&out);
            if found.is_empty() {
                break;
            }
            if round == ROUNDS {
                // What is taken out gives its neighbours another edge, so they may match now. A stretch that
                // never comes to rest goes as a whole: its neighbours are markers already, so nothing changes
                // for the others.
                found = marker::stretches(&out)
                    .filter(|range| found.iter().any(|f| range.contains(&f.range.start)))
                    .map(|range| Found {
                        range,
                        kind: CUSTOM,
                    })
                    .collect();
            }
            out = Cow::Owned(replace(&out, &found));
        }
        out
    }

    /// The same for a text that is kept.
    pub fn redact_arc(&self, text: &Arc<str>) -> Arc<str> {
        match self.redact(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(text) => text.into(),
        }
    }

    /// A stretch of a text without its secrets, also where it begins or ends inside of one: a piece would not be known
    /// by itself.
    pub(crate) fn redact_stretch(&self, text: &str, stretch: Range<usize>) -> String {
        let Some(shown) = text.get(stretch.clone()) else {
            return String::new();
        };
        let inside = |found: Found| {
            let start = found.range.start.max(stretch.start);
            let end = found.range.end.min(stretch.end);
            let range = start.checked_sub(stretch.start)?..end.checked_sub(stretch.start)?;
            (!range.is_empty()).then_some(Found { range, ..found })
        };
        let found: Vec<Found> = self.find(text).into_iter().filter_map(inside).collect();
        self.redact(&replace(shown, &found)).into_owned()
    }

    /// What [`Redactor::redact`] would take out first: in order, without overlap, markers left out.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        if !self.is_on() {
            return found;
        }
        for range in marker::stretches(text) {
            let before = found.len();
            let stretch = &text[range.clone()];
            tokens::find(stretch, &mut found);
            blocks::find(stretch, &mut found);
            named::find(stretch, &mut found);
            for pattern in &self.compiled.patterns {
                found.extend(
                    pattern
                        .find_iter(stretch)
                        .filter(|m| !m.is_empty())
                        .map(|m| Found {
                            range: m.range(),
                            kind: CUSTOM,
                        }),
                );
            }
            let mut at = 0;
            found.retain(|f| {
                at += 1;
                at <= before || !self.is_allowed(&stretch[f.range.clone()])
            });
            for f in &mut found[before..] {
                f.range = f.range.start + range.start..f.range.end + range.start;
            }
        }
        merged(found)
    }

    fn is_allowed(&self, secret: &str) -> bool {
        self.compiled.allow.iter().any(|p| p.is_match(secret))
    }
}

/// What is built in, and nothing else.
impl Default for Redactor {
    fn default() -> Self {
        Self {
            asked: RedactOption::default(),
            compiled: Arc::default(),
        }
    }
}

impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        self.asked == other.asked
    }
}

impl Eq for Redactor {}

impl Hash for Redactor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asked.hash(state);
    }
}

impl TryFrom<RedactOption> for Redactor {
    type Error = BadPattern;

    fn try_from(option: RedactOption) -> Result<Self, BadPattern> {
        Self::new(&option)
    }
}

impl From<Redactor> for RedactOption {
    fn from(redactor: Redactor) -> Self {
        redactor.asked
    }
}

fn compile(patterns: &[Arc<str>], list: PatternList) -> Result<Vec<Regex>, BadPattern> {
    let one = |(index, pattern): (usize, &Arc<str>)| {
        let bad = |reason: &str| BadPattern {
            list,
            index,
            reason: reason.into(),
        };
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .size_limit(PATTERN_BYTES)
                .dfa_size_limit(2 * PATTERN_BYTES)
                .build()
        };
        let compiled = build(pattern).map_err(|error| bad(&reason(&error)))?;
        match list {
            PatternList::Patterns if compiled.is_match("") => Err(bad(
                "it matches the empty text; say what a secret has in it",
            )),
            PatternList::Patterns => Ok(compiled),
            PatternList::Allow => {
                build(&format!(r"\A(?:{pattern})\z")).map_err(|error| bad(&reason(&error)))
            }
        }
    };
    patterns.iter().enumerate().map(one).collect()
}

/// The last line of what the library says: the others draw the pattern.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large when compiled; make it shorter".into(),
        other => {
            let said = other.to_string();
            let last = said.lines().last().unwrap_or_default().trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

/// In order, one for what overlaps: of the kind that begins first.
fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.range.end)));
    let mut out: Vec<Found> = Vec::with_capacity(found.len());
    for f in found {
        match out.last_mut() {
            Some(last) if f.range.start < last.range.end => {
                last.range.end = last.range.end.max(f.range.end);
            }
            _ => out.push(f),
        }
    }
    out
}

fn replace(text: &str, found: &[Found]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for f in found {
        out.push_str(&text[done..f.range.start]);
        marker::push(&mut out, f.kind, f.range.len());
        done = f.range.end;
    }
    out.push_str(&text[done..]);
    out
}
