//! Reading a section of which every option is ours: an unknown one is an error.

use std::sync::Arc;

use crate::error::{ConfigError, Place, Problem};
use crate::reader::below;
use crate::suggest::nearest;
use crate::value::{nullable, wrong};
use crate::yaml::{Entry, Node, Value};

/// Reads one section. Paths of options are within it.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) section: &'static str,
}

impl Reader<'_> {
    /// The options of the section, none of them twice.
    pub(crate) fn options<'e>(
        &self,
        section: &'e Entry,
        expected: &str,
    ) -> Result<&'e [Entry], ConfigError> {
        self.entries(&section.node, section.line, "", expected)
    }

    /// The entries of a map, no key twice. `null` has none.
    pub(crate) fn entries<'e>(
        &self,
        node: &'e Node,
        line: usize,
        path: &str,
        expected: &str,
    ) -> Result<&'e [Entry], ConfigError> {
        let entries = match &node.value {
            Value::Null => return Ok(&[]),
            Value::Map(entries) => entries.as_slice(),
            _ => return Err(self.fail(line, path, wrong(node, expected))),
        };
        for (index, entry) in entries.iter().enumerate() {
            if let Some(first) = entries[..index].iter().find(|e| e.key == entry.key) {
                let problem = Problem::Twice { first: first.line };
                return Err(self.fail(entry.line, &below(path, &entry.key), problem));
            }
        }
        Ok(entries)
    }

    /// `null` says nothing.
    pub(crate) fn value<T>(
        &self,
        entry: &Entry,
        read: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<Option<T>, ConfigError> {
        self.below("", entry, read)
    }

    /// The same of an option below a path.
    pub(crate) fn below<T>(
        &self,
        path: &str,
        entry: &Entry,
        read: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<Option<T>, ConfigError> {
        let fail = |problem| self.fail(entry.node.line, &below(path, &entry.key), problem);
        nullable(&entry.node, read).map_err(fail)
    }

    pub(crate) fn list(
        &self,
        entry: &Entry,
        read: impl Fn(&Node) -> Result<Arc<str>, Problem>,
    ) -> Result<Vec<Arc<str>>, ConfigError> {
        let Value::List(items) = &entry.node.value else {
            let problem = wrong(&entry.node, "a list, [] for none");
            return Err(self.fail(entry.node.line, &entry.key, problem));
        };
        let read = |(index, item): (usize, &Node)| {
            read(item).map_err(|p| self.fail(item.line, &format!("{}[{index}]", entry.key), p))
        };
        items.iter().enumerate().map(read).collect()
    }

    /// An option that there is not.
    pub(crate) fn unknown(&self, entry: &Entry, path: &str, known: &[&str]) -> ConfigError {
        let suggestion = nearest(&entry.key, known).map(str::to_owned);
        let problem = Problem::Unknown { suggestion };
        self.fail(entry.line, &below(path, &entry.key), problem)
    }

    pub(crate) fn fail(&self, line: usize, path: &str, problem: Problem) -> ConfigError {
        let option = match path {
            "" => self.section.to_owned(),
            path => format!("{}.{path}", self.section),
        };
        let place = Place {
            file: Some(self.file.clone()),
            line: Some(line),
            option,
        };
        ConfigError::Option { place, problem }
    }
}
