//! A summary checked against its source: names, numbers and quotations that the source does not hold are
//! flagged or cut, and claims about the state of the work are overridden by what the log shows.
//!
//! Weak models invent paths and say that open work is done. Whoever goes on from the summary cannot check
//! that: the messages are gone. So code does, before the summary is committed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::claims::{self, Verdict};
use crate::digest::{EntityKind, entities};
use crate::ledger::Ledger;

/// What happens to a line of a summary that says what its source does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// It stays, and says behind it what was not found.
    #[default]
    Flag,
    /// It goes.
    Cut,
    /// Nothing is checked.
    Off,
}

/// A summary after the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The text.
    pub text: String,
    /// Names, numbers and quotations in it that the source does not hold.
    pub unfounded: u32,
    /// Claims about the state of the work that the log does not show, or shows otherwise.
    pub overridden: u32,
}

/// Checks `summary` against the texts it was made of and the facts of the thread.
///
/// A summary that would lose every line keeps them all, flagged: saying something doubtful, marked as such,
/// is better than saying nothing.
pub fn check<'s>(
    summary: &str,
    source: impl Iterator<Item = &'s str> + Clone,
    ledger: &Ledger,
    how: Fidelity,
) -> Checked {
    let whole = || Checked {
        text: summary.to_owned(),
        unfounded: 0,
        overridden: 0,
    };
    if how == Fidelity::Off {
        return whole();
    }
    let known = Known::new(source, ledger);
    let mut out = Checked {
        text: String::new(),
        unfounded: 0,
        overridden: 0,
    };
    let mut section = String::new();
    let mut lines = 0;
    let mut is_said = false;
    for line in summary.split('\n') {
        if line.starts_with('#') {
            section = line.trim_start_matches('#').trim().to_lowercase();
            push(&mut out.text, &mut lines, line);
            continue;
        }
        let strange = known.missing(line);
        let verdict = claims::judge(line, &section, ledger, &|words| known.told(words));
        out.unfounded += u32::try_from(strange.len()).unwrap_or(u32::MAX);
        out.overridden += u32::from(verdict != Verdict::Fine);
        if how == Fidelity::Cut && (!strange.is_empty() || verdict == Verdict::NotShown) {
            continue;
        }
        is_said |= !line.trim().is_empty();
        // The end of a line stays at its end.
        let (line, end) = match line.strip_suffix('\r') {
            Some(line) => (line, "\r"),
            None => (line, ""),
        };
        let mut line = match verdict {
            Verdict::Fine => line.to_owned(),
            Verdict::NotShown => format!("{line} [the log does not show this]"),
            Verdict::Otherwise(fact) if how == Fidelity::Cut => format!("- {fact}"),
            Verdict::Otherwise(fact) => format!("{line} [the log shows otherwise: {fact}]"),
        };
        if !strange.is_empty() {
            line.push_str(" [not found in the messages: ");
            line.push_str(&strange.join(", "));
            line.push(']');
        }
        line.push_str(end);
        push(&mut out.text, &mut lines, &line);
    }
    if !is_said && how == Fidelity::Cut && !summary.trim().is_empty() {
        return check(summary, known.texts.iter().copied(), ledger, Fidelity::Flag);
    }
    out
}

fn push(out: &mut String, lines: &mut usize, line: &str) {
    if *lines > 0 {
        out.push('\n');
    }
    *lines += 1;
    out.push_str(line);
}

/// What the source holds.
struct Known<'s> {
    texts: Vec<&'s str>,
    /// The same in lower case, made when the first claim asks for it.
    lowered: OnceCell<Vec<String>>,
    names: BTreeSet<String>,
    ledger: String,
}

impl<'s> Known<'s> {
    fn new(source: impl Iterator<Item = &'s str>, ledger: &Ledger) -> Self {
        let texts: Vec<&str> = source.collect();
        let rows = ledger.rows().into_iter().map(|row| row.text);
        let rules = ledger.rules().iter().map(|rule| rule.text.to_string());
        let ledger: Vec<String> = rows.chain(rules).collect();
        let ledger = ledger.join("\n");
        let mut names = BTreeSet::new();
        for text in texts.iter().copied().chain([ledger.as_str()]) {
            entities(text, &mut |_, name| {
                names.insert(folded(name));
            });
        }
        Self {
            texts,
            lowered: OnceCell::new(),
            names,
            ledger,
        }
    }

    /// What `line` names or quotes and the source does not hold, each once, in order.
    fn missing<'l>(&self, line: &'l str) -> Vec<&'l str> {
        let mut out: Vec<&str> = Vec::new();
        let mut covered: Vec<std::ops::Range<usize>> = Vec::new();
        let span = |name: &str| {
            let start = name.as_ptr() as usize - line.as_ptr() as usize;
            start..start + name.len()
        };
        entities(line, &mut |kind, name| {
            let at = span(name);
            // A longer name comes before the ones inside it, and speaks for them.
            let inside = covered
                .iter()
                .any(|c| c.start <= at.start && at.end <= c.end);
            if inside || !is_telling(kind, name) {
                return;
            }
            covered.push(at);
            if !self.holds(kind, name) && !out.contains(&name) {
                out.push(name);
            }
        });
        for quote in quotes(line) {
            if !self.says(quote) {
                out.push(quote);
            }
        }
        out
    }

    fn holds(&self, kind: EntityKind, name: &str) -> bool {
        let folded = folded(name);
        if self.names.contains(&folded) || self.says(name) {
            return true;
        }
        match kind {
            // The same day in other words.
            EntityKind::Date => name
                .split('-')
                .all(|piece| self.says(piece.trim_start_matches('0'))),
            // A path may be told from another folder.
            EntityKind::Path => {
                let end = folded.trim_start_matches(['.', '/', '~']);
                self.names.iter().any(|known| known.ends_with(end))
            }
            _ => false,
        }
    }

    /// Whether one of the words, in lower case, stands in the source.
    fn told(&self, words: &[&str]) -> bool {
        let lowered = || self.texts.iter().map(|text| text.to_lowercase()).collect();
        let texts = self.lowered.get_or_init(lowered);
        texts
            .iter()
            .any(|text| words.iter().any(|word| text.contains(word)))
    }

    fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|known| known.contains(text)) || self.ledger.contains(text)
    }
}

/// Whether a model that invents such a name does harm. Names of products (`JavaScript`) and small counts are
/// the summary's own words.
fn is_telling(kind: EntityKind, name: &str) -> bool {
    match kind {
        EntityKind::Ident => name.contains(['_', '@']),
        EntityKind::Number => name.bytes().filter(u8::is_ascii_digit).count() >= 3,
        _ => true,
    }
}

/// How names are compared: without case, and numbers without thousands' separators and signs of money.
fn folded(name: &str) -> String {
    let numeric = name
        .bytes()
        .all(|b| b.is_ascii_digit() || b".,$-".contains(&b));
    if numeric {
        name.replace([',', '$'], "")
    } else {
        name.to_lowercase()
    }
}

/// Longer quotations in `line`.
fn quotes(line: &str) -> impl Iterator<Item = &str> {
    const LEAST: usize = 12;
    let pairs = [('"', '"'), ('“', '”'), ('「', '」'), ('«', '»')];
    pairs.into_iter().flat_map(move |(open, close)| {
        let mut rest = line;
        std::iter::from_fn(move || {
            loop {
                let (_, from) = rest.split_once(open)?;
                let (inside, after) = from.split_once(close)?;
                rest = after;
                let quote = inside.trim().trim_end_matches(['.', ',', '…']);
                if quote.len() >= LEAST && !quote.contains("...") && !quote.contains('…') {
                    return Some(quote);
                }
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "user: move src/lib/auth.rs to src/auth/mod.rs, order ORD1234 cost $1,250.50 on May 16, 2024\n\
        assistant: done; getUser_name is in /repo/src/auth/mod.rs now. The port is 8443.\n";

    #[track_caller]
    fn checked(summary: &str, how: Fidelity, expect: &str) {
        let got = check(summary, [SOURCE].into_iter(), &Ledger::default(), how);
        assert_eq!(got.text, expect);
    }

    #[test]
    fn what_the_source_holds_passes() {
        for line in [
            "- moved `src/lib/auth.rs` to `auth/mod.rs`",
            "- ORD1234 cost 1250.50 on 2024-05-16",
            "- the port is 8443, see getUser_name, in JavaScript",
            "- the user said \"cost $1,250.50\"",
            "- 12 files were looked at",
        ] {
            checked(line, Fidelity::Flag, line);
            checked(line, Fidelity::Cut, line);
        }
    }

    #[test]
    fn what_it_does_not_hold_is_flagged_or_cut() {
        let summary = "## State\n- moved src/lib/auth.rs\n- also wrote src/db/pool.rs, port 9999";
        checked(
            summary,
            Fidelity::Flag,
            "## State\n- moved src/lib/auth.rs\n- also wrote src/db/pool.rs, port 9999 [not found in the messages: src/db/pool.rs, 9999]",
        );
        checked(summary, Fidelity::Cut, "## State\n- moved src/lib/auth.rs");
        checked(summary, Fidelity::Off, summary);
        checked(
            "- the user wrote \"delete all the tables\"",
            Fidelity::Flag,
            "- the user wrote \"delete all the tables\" [not found in the messages: delete all the tables]",
        );
    }

    #[test]
    fn line_ends_stay() {
        for text in ["one\r\n\ntwo\r", "\n\nfirst\n", ""] {
            checked(text, Fidelity::Flag, text);
        }
        checked(
            "x/y/z.rs\r\n",
            Fidelity::Flag,
            "x/y/z.rs [not found in the messages: x/y/z.rs]\r\n",
        );
    }

    #[test]
    fn cutting_never_leaves_nothing() {
        checked(
            "see nowhere/at/all.rs",
            Fidelity::Cut,
            "see nowhere/at/all.rs [not found in the messages: nowhere/at/all.rs]",
        );
    }
}
