//! What the command line says over the file: its value syntax and [`Overrides`].
//!
//! `tokens=4000` is a size; `tokens=4000,messages=20` is both at once (AND); a flag given again is another
//! way to fire (OR).

use std::sync::Arc;

use conspectus_core::policy::{
    Clause, KeepOption, OnFailure, Placement, Preset, Strategy, TriggerOption, Unit,
};

use crate::error::shown;
use crate::section::{ON_FAILURE, PRESETS, STRATEGIES};
use crate::value::{FRACTION, one_of, parse_real, parse_whole, whole_from};

/// Options given beside the file. They win over it; what is `None` or empty says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `--preset`.
    pub preset: Option<Preset>,
    /// On or off.
    pub enabled: Option<bool>,
    /// `--trigger`, as often as given: any of them fires.
    pub trigger: Vec<TriggerArg>,
    /// `--keep`.
    pub keep: Option<KeepOption>,
    /// `--max-context`: the window in tokens.
    pub max_context: Option<u64>,
    /// `--output-reserve`: tokens of the window that belong to the reply.
    pub output_reserve: Option<u64>,
    /// `--prune-over`: characters of a result; 0 turns pruning off.
    pub prune_over: Option<u64>,
    /// `--summary-model`.
    pub model: Option<Arc<str>>,
    /// `--strategy`.
    pub strategy: Option<Strategy>,
    /// `--placement`.
    pub placement: Option<Placement>,
    /// `--on-failure`.
    pub on_failure: Option<OnFailure>,
    /// `--max-summary-tokens`.
    pub max_summary_tokens: Option<u64>,
    /// `--strict-parity`.
    pub strict_parity: Option<bool>,
}

/// One `--trigger`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TriggerArg {
    /// `auto`: from the window.
    Auto,
    /// `never`.
    Never,
    /// Sizes that must all be reached.
    Clause(Clause),
}

/// A flag's value that cannot be used. The command line puts the flag in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlagError {
    /// It is not what the flag takes.
    #[error("found {found}, expected {expected}")]
    Found {
        /// What was given, shortened.
        found: String,
        /// What is taken.
        expected: String,
    },
    /// A size twice in one clause.
    #[error("{unit} is given twice; to fire on either, give the flag twice")]
    Twice {
        /// The size.
        unit: &'static str,
    },
    /// Several sizes where one is kept.
    #[error("found several sizes, expected one of tokens, messages and fraction")]
    Several,
}

/// Reads `tokens=4000`, `tokens=4000,messages=20`, `fraction=0.8`, `auto` or `never`.
///
/// # Errors
/// Says what was found and what is taken.
pub fn parse_trigger(text: &str) -> Result<TriggerArg, FlagError> {
    match text.trim() {
        "auto" => Ok(TriggerArg::Auto),
        "never" | "null" => Ok(TriggerArg::Never),
        text => clause(text, 1, ", auto or never").map(TriggerArg::Clause),
    }
}

/// Reads `messages=20`, `tokens=3000`, `fraction=0.3` or `auto`.
///
/// # Errors
/// Says what was found and what is taken.
pub fn parse_keep(text: &str) -> Result<KeepOption, FlagError> {
    let text = text.trim();
    if text == "auto" {
        return Ok(KeepOption::Auto);
    }
    match clause(text, 0, " or auto")? {
        Clause {
            tokens: Some(n),
            messages: None,
            fraction: None,
        } => Ok(KeepOption::Tokens(n)),
        Clause {
            tokens: None,
            messages: Some(n),
            fraction: None,
        } => Ok(KeepOption::Messages(n)),
        Clause {
            tokens: None,
            messages: None,
            fraction: Some(f),
        } => Ok(KeepOption::Fraction(f)),
        _ => Err(FlagError::Several),
    }
}

/// Reads a preset's name.
///
/// # Errors
/// Says what was found and which names there are.
pub fn parse_preset(text: &str) -> Result<Preset, FlagError> {
    word(text, &PRESETS)
}

/// Reads a strategy's name.
///
/// # Errors
/// Says what was found and which names there are.
pub fn parse_strategy(text: &str) -> Result<Strategy, FlagError> {
    word(text, &STRATEGIES)
}

/// Reads what happens after every model failed.
///
/// # Errors
/// Says what was found and which names there are.
pub fn parse_on_failure(text: &str) -> Result<OnFailure, FlagError> {
    word(text, &ON_FAILURE)
}

fn word<T: Copy, const N: usize>(text: &str, words: &[(&str, T); N]) -> Result<T, FlagError> {
    let found = words.iter().find(|(name, _)| *name == text.trim());
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| not(text, one_of(&words.each_ref().map(|(name, _)| *name))))
}

/// All `--trigger` flags together, or the word among them that stands alone.
pub(crate) fn any_of(triggers: &[TriggerArg]) -> Result<TriggerOption, &'static str> {
    let mut clauses = Vec::new();
    for trigger in triggers {
        let (word, option) = match trigger {
            TriggerArg::Clause(clause) => {
                clauses.push(*clause);
                continue;
            }
            TriggerArg::Auto => ("auto", TriggerOption::Auto),
            TriggerArg::Never => ("never", TriggerOption::Never),
        };
        return match triggers {
            [_] => Ok(option),
            _ => Err(word),
        };
    }
    Ok(TriggerOption::Any(clauses))
}

fn clause(text: &str, min: u64, or: &str) -> Result<Clause, FlagError> {
    let mut clause = Clause::default();
    for part in text.split(',') {
        let size = part.split_once('=').and_then(|(name, value)| {
            let unit = unit(name.trim())?;
            Some((unit, value.trim()))
        });
        let Some((unit, value)) = size else {
            let sizes = format!("tokens=4000, messages=20, fraction=0.8{or}");
            return Err(not(part, sizes));
        };
        match unit {
            Unit::Tokens => set(&mut clause.tokens, "tokens", whole(value, "tokens", min)?)?,
            Unit::Messages => set(
                &mut clause.messages,
                "messages",
                whole(value, "messages", min)?,
            )?,
            Unit::Fraction => {
                // Keeping nothing is for the preset to judge.
                let share = parse_real(value)
                    .filter(|f| *f <= 1.0 && (*f > 0.0 || min == 0 && *f == 0.0))
                    .ok_or_else(|| not(value, format!("fraction={FRACTION}")))?;
                set(&mut clause.fraction, "fraction", share)?;
            }
        }
    }
    Ok(clause)
}

fn unit(name: &str) -> Option<Unit> {
    match name {
        "tokens" => Some(Unit::Tokens),
        "messages" => Some(Unit::Messages),
        "fraction" => Some(Unit::Fraction),
        _ => None,
    }
}

fn whole(value: &str, unit: &str, min: u64) -> Result<u64, FlagError> {
    let number = parse_whole(value).filter(|n| *n >= min);
    number.ok_or_else(|| not(value, format!("{unit}={}", whole_from(min))))
}

fn set<T>(slot: &mut Option<T>, unit: &'static str, value: T) -> Result<(), FlagError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(FlagError::Twice { unit }),
    }
}

fn not(found: &str, expected: String) -> FlagError {
    FlagError::Found {
        found: shown(found.trim()),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(tokens: Option<u64>, messages: Option<u64>, fraction: Option<f64>) -> TriggerArg {
        TriggerArg::Clause(Clause {
            tokens,
            messages,
            fraction,
        })
    }

    #[test]
    fn triggers() {
        #[track_caller]
        fn check(text: &str, expect: Result<TriggerArg, &str>) {
            let got = parse_trigger(text).map_err(|e| e.to_string());
            assert_eq!(got, expect.map_err(str::to_owned));
        }
        check("tokens=4000", Ok(sizes(Some(4000), None, None)));
        check("messages=20", Ok(sizes(None, Some(20), None)));
        check("fraction=0.8", Ok(sizes(None, None, Some(0.8))));
        check(
            "tokens=100_000 , messages = 20",
            Ok(sizes(Some(100_000), Some(20), None)),
        );
        check("auto", Ok(TriggerArg::Auto));
        check("never", Ok(TriggerArg::Never));
        let forms = "tokens=4000, messages=20, fraction=0.8, auto or never";
        check("", Err(&format!(r#"found "", expected {forms}"#)));
        check("4000", Err(&format!(r#"found "4000", expected {forms}"#)));
        check(
            "words=3",
            Err(&format!(r#"found "words=3", expected {forms}"#)),
        );
        check(
            "tokens=4000,",
            Err(&format!(r#"found "", expected {forms}"#)),
        );
        check(
            "tokens=abc",
            Err(r#"found "abc", expected tokens=a whole number > 0"#),
        );
        check(
            "tokens=0",
            Err(r#"found "0", expected tokens=a whole number > 0"#),
        );
        check(
            "messages=-2",
            Err(r#"found "-2", expected messages=a whole number > 0"#),
        );
        check(
            "fraction=80",
            Err(r#"found "80", expected fraction=a number above 0 and at most 1"#),
        );
        check(
            "fraction=0",
            Err(r#"found "0", expected fraction=a number above 0 and at most 1"#),
        );
        check(
            "tokens=1,tokens=2",
            Err("tokens is given twice; to fire on either, give the flag twice"),
        );
    }

    #[test]
    fn keeps() {
        #[track_caller]
        fn check(text: &str, expect: Result<KeepOption, &str>) {
            let got = parse_keep(text).map_err(|e| e.to_string());
            assert_eq!(got, expect.map_err(str::to_owned));
        }
        check("messages=20", Ok(KeepOption::Messages(20)));
        check("messages=0", Ok(KeepOption::Messages(0)));
        check("tokens=3000", Ok(KeepOption::Tokens(3000)));
        check("fraction=0.3", Ok(KeepOption::Fraction(0.3)));
        check("auto", Ok(KeepOption::Auto));
        check(
            "20",
            Err(r#"found "20", expected tokens=4000, messages=20, fraction=0.8 or auto"#),
        );
        check(
            "fraction=-0.1",
            Err(r#"found "-0.1", expected fraction=a number above 0 and at most 1"#),
        );
        check(
            "messages=20,tokens=5",
            Err("found several sizes, expected one of tokens, messages and fraction"),
        );
    }

    #[test]
    fn presets_and_triggers_together() {
        assert_eq!(parse_preset("nous"), Ok(Preset::Nous));
        assert_eq!(
            parse_preset("claude").map_err(|e| e.to_string()),
            Err(r#"found "claude", expected default, deerflow, langchain or nous"#.to_owned())
        );
        assert_eq!(parse_strategy("digest"), Ok(Strategy::Digest));
        assert_eq!(
            parse_on_failure("panic").map_err(|e| e.to_string()),
            Err(r#"found "panic", expected digest, unchanged or error"#.to_owned())
        );
        assert_eq!(any_of(&[TriggerArg::Auto]), Ok(TriggerOption::Auto));
        let both = [sizes(Some(1), None, None), TriggerArg::Never];
        assert_eq!(any_of(&both), Err("never"));
    }
}
