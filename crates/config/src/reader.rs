//! What reading any part of the section needs: values with their place, and keys that are unknown or twice.

use std::collections::BTreeMap;

use conspectus_core::policy::Preset;

use crate::error::{ConfigError, ConfigWarning, Problem, looks_secret, shown};
use crate::place::Places;
use crate::suggest::nearest;
use crate::value::{nullable, small, whole, word};
use crate::yaml::{Entry, Node};

/// Reads the section of one file.
pub(crate) struct Reader {
    /// Decides whether an unknown key is an error.
    pub(crate) preset: Preset,
    pub(crate) places: Places,
    pub(crate) warnings: Vec<ConfigWarning>,
}

impl Reader {
    pub(crate) fn word<T: Copy>(
        &self,
        entry: &Entry,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ConfigError> {
        self.value(entry, &entry.key, |n| nullable(n, |n| word(n, words)))
    }

    pub(crate) fn number(&self, entry: &Entry, min: u64) -> Result<Option<u64>, ConfigError> {
        self.value(entry, &entry.key, |n| nullable(n, |n| whole(n, min)))
    }

    pub(crate) fn count(&self, entry: &Entry, min: u64) -> Result<Option<u32>, ConfigError> {
        self.value(entry, &entry.key, |n| nullable(n, |n| small(n, min)))
    }

    pub(crate) fn value<T>(
        &self,
        entry: &Entry,
        path: &str,
        read: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<T, ConfigError> {
        read(&entry.node).map_err(|problem| self.fail(entry.node.line, path, problem))
    }

    pub(crate) fn fail(&self, line: usize, path: &str, problem: Problem) -> ConfigError {
        ConfigError::Option {
            place: self.places.in_file(line, path),
            problem,
        }
    }

    /// No key of a map stands twice.
    pub(crate) fn once(&self, entries: &[Entry], path: &str) -> Result<(), ConfigError> {
        let mut seen = BTreeMap::new();
        for entry in entries {
            if let Some(first) = seen.insert(&entry.key, entry.line) {
                return Err(self.fail(
                    entry.line,
                    &below(path, &entry.key),
                    Problem::Twice { first },
                ));
            }
        }
        Ok(())
    }

    /// An error in our preset, a warning in those whose originals pass over it.
    pub(crate) fn unknown(
        &mut self,
        entry: &Entry,
        path: &str,
        known: &[&str],
    ) -> Result<(), ConfigError> {
        let place = self.places.in_file(entry.line, &below(path, &entry.key));
        let suggestion = nearest(&entry.key, known).map(|name| below(path, name));
        let problem = Problem::Unknown { suggestion };
        if self.preset == Preset::Default {
            return Err(ConfigError::Option { place, problem });
        }
        self.warnings.push(ConfigWarning::Ignored {
            place,
            problem,
            preset: self.preset.name(),
        });
        Ok(())
    }
}

/// The value of a key.
pub(crate) fn entry<'n>(entries: &'n [Entry], key: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key == key)
}

/// A key below a path, as a message may show it: whatever stands there as a key was typed by someone.
pub(crate) fn below(path: &str, key: &str) -> String {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let plain = !key.is_empty() && key.len() <= 40 && key.bytes().all(is_word);
    let key = if plain && !looks_secret(key) {
        key.to_owned()
    } else {
        shown(key)
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
