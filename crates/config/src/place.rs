//! Which option was given where, so that a problem found later can be located.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::policy::At;

use crate::error::Place;

/// The name of the section that we read.
pub(crate) const SECTION: &str = "summarization";

/// Places by the core's name of the option ([`At`] as text).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Places {
    file: Option<Arc<str>>,
    section_line: Option<usize>,
    by_option: BTreeMap<String, Place>,
}

impl Places {
    pub(crate) fn of_file(file: &Arc<str>, section_line: Option<usize>) -> Self {
        Places {
            file: Some(file.clone()),
            section_line,
            by_option: BTreeMap::new(),
        }
    }

    /// A place in the file: `path` below the section.
    pub(crate) fn in_file(&self, line: usize, path: &str) -> Place {
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
