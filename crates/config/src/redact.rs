//! `redact:` of the section: on, off, or a map of patterns. A pattern that cannot be used is refused on its line.

use std::sync::Arc;

use conspectus_core::redact::{BadPattern, PatternList, RedactOption, Redactor};

use crate::error::{ConfigError, Problem, shown};
use crate::reader::{Reader, below};
use crate::value::{boolean, one_of, text, wrong};
use crate::yaml::{Entry, Node, Value};

/// The map's keys.
pub(crate) const REDACT: [&str; 3] = ["enabled", "patterns", "allow"];

impl Reader {
    pub(crate) fn redact(
        &mut self,
        entry: &Entry,
        redact: &mut RedactOption,
    ) -> Result<(), ConfigError> {
        let entries = match &entry.node.value {
            Value::Map(entries) => entries,
            Value::Null => return Ok(()),
            _ => {
                let on = boolean(&entry.node).map_err(|_| {
                    let expected = format!("true, false or a map of {}", one_of(&REDACT));
                    self.fail(entry.node.line, "redact", wrong(&entry.node, &expected))
                })?;
                redact.enabled = Some(on);
                return Ok(());
            }
        };
        self.once(entries, "redact")?;
        for entry in entries {
            match entry.key.as_str() {
                "enabled" => {
                    redact.enabled = Some(self.value(entry, "redact.enabled", boolean)?);
                }
                "patterns" => redact.patterns = self.patterns(entry, PatternList::Patterns)?,
                "allow" => redact.allow = self.patterns(entry, PatternList::Allow)?,
                _ => self.unknown(entry, "redact", &REDACT)?,
            }
        }
        Ok(())
    }

    fn patterns(&self, entry: &Entry, list: PatternList) -> Result<Vec<Arc<str>>, ConfigError> {
        let items: &[Node] = match &entry.node.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => {
                let problem = wrong(&entry.node, "a list of regular expressions, [] for none");
                let path = below("redact", &entry.key);
                return Err(self.fail(entry.node.line, &path, problem));
            }
        };
        let read = |(index, item): (usize, &Node)| {
            let pattern = text(item, "a regular expression").and_then(|pattern| {
                let problem = |bad: BadPattern| Problem::Found {
                    found: shown(&pattern),
                    expected: format!("a regular expression to search with ({})", bad.reason),
                };
                one(&pattern, list).map_err(problem)?;
                Ok(Arc::from(pattern))
            });
            pattern.map_err(|problem| {
                self.fail(item.line, &format!("{}[{index}]", list.name()), problem)
            })
        };
        items.iter().enumerate().map(read).collect()
    }
}

fn one(pattern: &str, list: PatternList) -> Result<(), BadPattern> {
    let mut option = RedactOption::default();
    match list {
        PatternList::Patterns => option.patterns.push(pattern.into()),
        PatternList::Allow => option.allow.push(pattern.into()),
    }
    Redactor::new(&option).map(|_| ())
}
