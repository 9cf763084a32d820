//! What can be wrong with a configuration, and where: file, line, option, what was found, what is allowed.
//!
//! No message shows a value that may be a secret.

use std::fmt;
use std::sync::Arc;

use conspectus_core::policy::{PolicyError, PolicyWarning};

/// Where an option was given. Shown as `config.yaml:7: summarization.keep`, `CONSPECTUS_SUMMARIZATION_KEEP` or
/// `--keep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named to us.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The option: its path in the file, the environment variable, or the flag.
    pub option: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.option)
    }
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not YAML.
    #[error("{file}:{line}:{column}: cannot be read as YAML: {reason}")]
    Syntax {
        /// The file.
        file: Arc<str>,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser says. Holds nothing of the text but a single character.
        reason: String,
    },
    /// An option of the file, an environment variable or a flag does not hold what it may hold.
    #[error("{place}: {problem}")]
    Option {
        /// Where.
        place: Place,
        /// What.
        problem: Problem,
    },
    /// The options do not make a policy for this model.
    #[error("{place}: {}", .problem.without_option())]
    Policy {
        /// Where.
        place: Place,
        /// What.
        problem: Box<PolicyError>,
    },
}

/// What is wrong with one option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It holds something else than it may.
    #[error("found {found}, expected {expected}")]
    Found {
        /// What it holds, shortened, and not shown if it may be a secret.
        found: String,
        /// What it may hold.
        expected: String,
    },
    /// There is no such option.
    #[error("unknown option{}", did_you_mean(.suggestion.as_deref()))]
    Unknown {
        /// The one that was probably meant.
        suggestion: Option<String>,
    },
    /// The same key twice.
    #[error("given twice, first on line {first}; remove one")]
    Twice {
        /// The line of the first.
        first: usize,
    },
    /// Two names of one option.
    #[error("given together with {other}{}, which means the same; remove one", at_line(*.line))]
    Both {
        /// The other name.
        other: String,
        /// Its line, if it stands in a file.
        line: Option<usize>,
    },
    /// An option at the top of the file.
    #[error("stands outside of its section; indent it below summarization:")]
    Outside,
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |s| format!(", did you mean {s}?"))
}

/// Something that is taken as it is and that the user should know.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigWarning {
    /// An option that does not exist, in a preset whose original does not mind.
    #[error("{place}: {problem} (ignored, as preset {preset} does)")]
    Ignored {
        /// Where.
        place: Place,
        /// What.
        problem: Problem,
        /// The preset's name.
        preset: &'static str,
    },
    /// An environment variable that is nearly ours.
    #[error("{place}: is not read, did you mean {meant}?")]
    Misspelt {
        /// The variable.
        place: Place,
        /// The one that was probably meant.
        meant: String,
    },
    /// Options of an older deer-flow.
    #[error(
        "{place}: {} no longer used; loaded skills are remembered as references instead",
        if *.several { "and the other preserve_recent_skill_* options are" } else { "is" }
    )]
    Legacy {
        /// The first of them.
        place: Place,
        /// Whether there are more.
        several: bool,
    },
    /// A figure of the state, which configuration cannot set.
    #[error("{place}: is a figure that can be read only; it is ignored")]
    ReadOnly {
        /// Where.
        place: Place,
    },
    /// A key that everybody can read who can read the file.
    #[error(
        "{place}: the key stands in the file itself; put it into an environment variable and write $NAME"
    )]
    KeyInFile {
        /// Where.
        place: Place,
    },
    /// A prompt without the conversation.
    #[error(
        "{place}: has no {{messages}}, so the conversation would not be in it; add {{messages}} where it belongs"
    )]
    PromptWithoutMessages {
        /// Where.
        place: Place,
    },
    /// Something about the numbers that follow.
    #[error("{place}: {}", .problem.without_option())]
    Policy {
        /// Where.
        place: Place,
        /// What.
        problem: PolicyWarning,
    },
}

/// A value as a message may show it: one line, short, and not if it looks like a key.
pub(crate) fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let chars = text.chars().count();
    if looks_secret(text) {
        return format!("a text of {chars} characters (not shown)");
    }
    if chars <= MAX_CHARS {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(MAX_CHARS).collect();
    format!("{head:?}… ({chars} characters)")
}

/// Long runs that mix letters and digits, and what providers put in front of their keys.
pub(crate) fn looks_secret(text: &str) -> bool {
    const PREFIXES: [&str; 8] = ["sk-", "pk-", "ghp_", "gho_", "xox", "AKIA", "AIza", "hf_"];
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_+/=.".contains(c)))
        .any(|word| {
            PREFIXES.iter().any(|prefix| word.starts_with(prefix))
                || word.len() >= 16
                    && word.contains(|c: char| c.is_ascii_digit())
                    && word.contains(|c: char| c.is_ascii_alphabetic())
        })
        || text.to_ascii_lowercase().contains("bearer ")
        || text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        for text in [
            "sk-abc",
            "Bearer abcdef",
            "a1b2c3d4e5f6a7b8c9d0",
            "postgres://user:pass@host/db",
            "key=AKIAIOSFODNN7",
        ] {
            let shown = shown(text);
            assert!(shown.ends_with("(not shown)"), "{text} as {shown}");
        }
        assert_eq!(shown("abc"), r#""abc""#);
        assert_eq!(shown("a\nb"), r#""a\nb""#);
        let long = "word ".repeat(20);
        assert_eq!(shown(&long), format!("{:?}… (100 characters)", &long[..40]));
    }
}
