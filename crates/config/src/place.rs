//! Which option was given where, so that a problem found later can be located.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::policy::At;

use crate::error::{ConfigError, Place, Problem};

/// The name of the section that we read.
pub(crate) const SECTION: &str = "summarization";

/// An environment variable and the path of the option that it holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) path: String,
}

impl Variable {
    /// The variable, or what stands in it below the option.
    pub(crate) fn place(&self, path: &str) -> Place {
        let rest = path.strip_prefix(&self.path).unwrap_or_default();
        Place {
            file: None,
            line: None,
            option: format!("{}{rest}", self.name),
        }
    }

    pub(crate) fn fail(&self, problem: Problem) -> ConfigError {
        let place = self.place("");
        ConfigError::Option { place, problem }
    }
}

/// Places by the core's name of the option ([`At`] as text).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Places {
    /// What is read is not a file but this.
    variable: Option<Variable>,
    file: Option<Arc<str>>,
    section_line: Option<usize>,
    by_option: BTreeMap<String, Place>,
}

impl Places {
    pub(crate) fn of_file(file: &Arc<str>, section_line: Option<usize>) -> Self {
        Places {
            file: Some(file.clone()),
            section_line,
            ..Places::default()
        }
    }

    pub(crate) fn of_variable(variable: Variable) -> Self {
        Places {
            variable: Some(variable),
            ..Places::default()
        }
    }

    /// A place in what is read: `path` below the section.
    pub(crate) fn in_file(&self, line: usize, path: &str) -> Place {
        if let Some(variable) = &self.variable {
            return variable.place(path);
        }
        Place {
            file: self.file.clone(),
            line: Some(line),
            option: format!("{SECTION}.{path}"),
        }
    }

    pub(crate) fn set(&mut self, option: &str, place: Place) {
        self.by_option.insert(option.to_owned(), place);
    }

    /// Whatever was said of an option before no longer holds: its clauses have no place either.
    pub(crate) fn forget(&mut self, option: &str) {
        self.by_option.retain(|name, _| {
            let rest = name.strip_prefix(option);
            !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        });
    }

    /// What was said of an option before no longer holds, but what these say.
    pub(crate) fn take_over(&mut self, option: &str, said: Places) {
        self.forget(option);
        self.by_option.extend(said.by_option);
    }

    /// The options that something was said of, each with its place: `keep`, `prune.when`, no parts of a size.
    pub(crate) fn said(&self) -> impl Iterator<Item = (&str, &Place)> {
        let is_part = |name: &str| name.contains('[') || name.starts_with("keep.");
        let all = self.by_option.iter().map(|(name, place)| (&**name, place));
        all.filter(move |(name, _)| !is_part(name))
    }

    /// The place of an option, as near as it is known; a preset's default stands where the section does.
    pub(crate) fn find(&self, at: At) -> Place {
        let without_unit = At { unit: None, ..at };
        let names = [at, without_unit, At::option(at.option)];
        let found = names
            .iter()
            .find_map(|name| self.by_option.get(&name.to_string()));
        found.cloned().unwrap_or_else(|| Place {
            file: self.file.clone(),
            line: self.section_line,
            option: match self.file {
                Some(_) => format!("{SECTION}.{at}"),
                None => at.to_string(),
            },
        })
    }
}
