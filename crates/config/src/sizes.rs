//! `trigger` and `keep`: sizes in deer-flow's form `{type, value}` or by name, `{tokens: 4000}`.

use conspectus_core::policy::{At, Clause, KeepOption, TriggerOption, Unit};

use crate::error::{ConfigError, Problem, shown};
use crate::reader::{Reader, below, entry};
use crate::suggest::nearest;
use crate::value::{FRACTION, fraction, one_of, share, whole, whole_from, word, wrong};
use crate::yaml::{Entry, Node, Value};

const UNITS: [(&str, Unit); 3] = [
    ("tokens", Unit::Tokens),
    ("messages", Unit::Messages),
    ("fraction", Unit::Fraction),
];

const A_SIZE: &str =
    "{type: tokens, messages or fraction, value: a number}, or {tokens: a number} and so on";

impl Reader {
    /// `null`, `auto`, one clause, or a list of them.
    pub(crate) fn trigger(&mut self, node: &Node) -> Result<TriggerOption, ConfigError> {
        match &node.value {
            Value::Null => Ok(TriggerOption::Never),
            Value::Scalar { text, .. } if text == "auto" => Ok(TriggerOption::Auto),
            Value::Map(entries) => {
                let clause = self.clause(entries, node, "trigger", 0)?;
                Ok(TriggerOption::Any(vec![clause]))
            }
            Value::List(items) => {
                let clauses = items.iter().enumerate().map(|(index, item)| {
                    let path = format!("trigger[{index}]");
                    match &item.value {
                        Value::Map(entries) => self.clause(entries, item, &path, index),
                        _ => Err(self.fail(item.line, &path, wrong(item, A_SIZE))),
                    }
                });
                Ok(TriggerOption::Any(clauses.collect::<Result<_, _>>()?))
            }
            Value::Scalar { .. } => {
                let expected = format!("{A_SIZE}, a list of these, auto or null");
                Err(self.fail(node.line, "trigger", wrong(node, &expected)))
            }
        }
    }

    /// `{type, value}`, or sizes by name that must all be reached.
    fn clause(
        &mut self,
        entries: &[Entry],
        node: &Node,
        path: &str,
        index: usize,
    ) -> Result<Clause, ConfigError> {
        let mut clause = Clause::default();
        let at = |unit| At {
            option: "trigger",
            clause: Some(index),
            unit,
        };
        let place = self.places.in_file(node.line, path);
        self.places.set(&at(None).to_string(), place);
        for (unit, line, path, node) in self.sizes(entries, node, path)? {
            let place = self.places.in_file(line, &path);
            self.places.set(&at(Some(unit)).to_string(), place);
            let fail = |problem| self.fail(line, &path, problem);
            match unit {
                Unit::Tokens => clause.tokens = Some(whole(node, 1).map_err(fail)?),
                Unit::Messages => clause.messages = Some(whole(node, 1).map_err(fail)?),
                Unit::Fraction => clause.fraction = Some(share(node).map_err(fail)?),
            }
        }
        Ok(clause)
    }

    /// `auto` or one size.
    pub(crate) fn keep(&mut self, node: &Node) -> Result<KeepOption, ConfigError> {
        let entries = match &node.value {
            Value::Scalar { text, .. } if text == "auto" => return Ok(KeepOption::Auto),
            Value::Map(entries) => entries,
            _ => {
                let problem = wrong(node, &format!("{A_SIZE}, or auto"));
                return Err(self.fail(node.line, "keep", problem));
            }
        };
        let sizes = self.sizes(entries, node, "keep")?;
        let [(unit, line, path, value)] = sizes.as_slice() else {
            let found = match sizes.len() {
                0 => "an empty map".to_owned(),
                n => format!("{n} sizes"),
            };
            let expected = "one of tokens, messages and fraction".to_owned();
            return Err(self.fail(node.line, "keep", Problem::Found { found, expected }));
        };
        let place = self.places.in_file(*line, path);
        self.places.set(&format!("keep.{unit}"), place);
        let fail = |problem| self.fail(*line, path, problem);
        Ok(match unit {
            Unit::Tokens => KeepOption::Tokens(whole(value, 0).map_err(fail)?),
            Unit::Messages => KeepOption::Messages(whole(value, 0).map_err(fail)?),
            Unit::Fraction => KeepOption::Fraction(fraction(value).map_err(fail)?),
        })
    }

    /// The sizes of a map in either form: unit, line, path and value of each.
    fn sizes<'n>(
        &mut self,
        entries: &'n [Entry],
        node: &Node,
        path: &str,
    ) -> Result<Vec<(Unit, usize, String, &'n Node)>, ConfigError> {
        self.once(entries, path)?;
        let kind = entry(entries, "type");
        let value = entry(entries, "value");
        if kind.is_none() && value.is_none() {
            let names = UNITS.map(|(name, _)| name);
            let mut sizes = Vec::new();
            for entry in entries {
                let path = below(path, &entry.key);
                match UNITS.iter().find(|(name, _)| *name == entry.key) {
                    Some((_, unit)) => sizes.push((*unit, entry.node.line, path, &entry.node)),
                    // A size that we do not know would be a condition left out: never ignored.
                    None => return Err(self.unknown_size(entry, &path, &names)),
                }
            }
            return Ok(sizes);
        }
        let missing = |what: &str, expected: String| Problem::Found {
            found: format!("no {what}"),
            expected,
        };
        let all = one_of(&UNITS.map(|(name, _)| name));
        let Some(kind) = kind else {
            let problem = missing("type", all);
            return Err(self.fail(node.line, &format!("{path}.type"), problem));
        };
        let unit = self.value(kind, &format!("{path}.type"), |n| word(n, &UNITS))?;
        let value_path = format!("{path}.value");
        let Some(value) = value else {
            let expected = match unit {
                Unit::Fraction => FRACTION,
                Unit::Tokens | Unit::Messages => whole_from(1),
            };
            let problem = missing("value", expected.to_owned());
            return Err(self.fail(node.line, &value_path, problem));
        };
        for other in entries {
            if UNITS.iter().any(|(name, _)| *name == other.key) {
                let problem = Problem::Both {
                    other: format!("{path}.type"),
                    line: Some(kind.line),
                };
                return Err(self.fail(other.line, &format!("{path}.{}", other.key), problem));
            }
            if !["type", "value"].contains(&other.key.as_str()) {
                self.unknown(other, path, &["type", "value"])?;
            }
        }
        Ok(vec![(unit, value.node.line, value_path, &value.node)])
    }

    fn unknown_size(&self, entry: &Entry, path: &str, known: &[&str]) -> ConfigError {
        let problem = match nearest(&entry.key, known) {
            Some(near) => Problem::Unknown {
                suggestion: Some(near.to_owned()),
            },
            None => Problem::Found {
                found: shown(&entry.key),
                expected: one_of(known),
            },
        };
        self.fail(entry.line, path, problem)
    }
}
