//! Environment variables over the file: `CONSPECTUS_SUMMARIZATION_KEEP` is `summarization.keep`.
//!
//! The name follows from the option's path, in capitals and joined by `_`. A value is read by the file's own
//! reader, so it means what it means there. Who starts us passes the environment in; nothing is read here.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use conspectus_core::policy::Options;

use crate::error::{ConfigError, ConfigWarning, Place, Problem, shown};
use crate::place::{Places, SECTION, Variable};
use crate::reader::{Reader, below};
use crate::section::{BREAKER, OPTIONS, PRESETS, PRUNE, SAME, core_name};
use crate::suggest::{is_near, nearest};
use crate::value::{boolean, word};
use crate::yaml::{self, Entry, Node, Value, is_null};

/// Names the configuration file, for programs that are not told one.
pub const FILE_VARIABLE: &str = "CONSPECTUS_CONFIG";

/// All that is ours begins so, and much of it is not for us here.
const OURS: &str = "CONSPECTUS_";

/// Where a value stands in a variable that is one line.
const LINE: usize = 1;

/// What the environment says, by the option's path. A path sorts before those below it, so that
/// `prune.duplicates` is laid over `prune`.
type Said = BTreeMap<String, (Variable, String)>;

/// Lays the environment over what the file says.
pub(crate) fn lay_over<N: AsRef<OsStr>, V: AsRef<OsStr>>(
    environment: impl IntoIterator<Item = (N, V)>,
    options: &mut Options,
    places: &mut Places,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<(), ConfigError> {
    let said = said(environment, warnings)?;
    not_twice_by_name(&said)?;
    if let Some((variable, value)) = said.get("preset") {
        let preset = word(&scalar(value.trim()), &PRESETS);
        options.preset = preset.map_err(|problem| variable.fail(problem))?;
    }
    for (path, (variable, value)) in said {
        let node = value_of(&path, &value).map_err(|problem| variable.fail(problem))?;
        if path == "prune" && matches!(boolean(&node), Ok(true)) {
            // On again, where the file turned it off.
            options.prune.max_result_chars = options.prune.max_result_chars.filter(|n| *n > 0);
        }
        let mut reader = Reader {
            preset: options.preset,
            places: Places::of_variable(variable.clone()),
            warnings: Vec::new(),
        };
        reader.option(&entry_at(&path, node), options)?;
        match path.contains('.') {
            true => places.set(&path, variable.place("")),
            false => places.take_over(core_name(&path), reader.places),
        }
        warnings.extend(reader.warnings);
    }
    Ok(())
}

/// The variables that say something. One that is empty says nothing.
fn said<N: AsRef<OsStr>, V: AsRef<OsStr>>(
    environment: impl IntoIterator<Item = (N, V)>,
    warnings: &mut Vec<ConfigWarning>,
) -> Result<Said, ConfigError> {
    let known = known();
    // The order of an environment means nothing; what is told must not depend on it.
    let ours: BTreeMap<String, V> = environment
        .into_iter()
        .map(|(name, value)| (name.as_ref().to_string_lossy().into_owned(), value))
        .filter(|(name, _)| is_ours(name))
        .collect();
    let mut said = Said::new();
    for (name, value) in ours {
        let Some(path) = known.get(&name) else {
            warnings.extend(unknown(&name, &known)?);
            continue;
        };
        let variable = Variable {
            name,
            path: path.clone(),
        };
        let Some(value) = value.as_ref().to_str() else {
            return Err(variable.fail(Problem::Found {
                found: "bytes that are no text".to_owned(),
                expected: "UTF-8".to_owned(),
            }));
        };
        if !value.trim().is_empty() {
            said.insert(path.clone(), (variable, value.to_owned()));
        }
    }
    Ok(said)
}

/// The options' paths by the name of their variable.
fn known() -> BTreeMap<String, String> {
    let top = OPTIONS.iter().map(|option| (*option).to_owned());
    let prune = PRUNE.iter().map(|option| below("prune", option));
    let breaker = BREAKER.iter().map(|option| below("breaker", option));
    let paths = top.chain(prune).chain(breaker);
    paths.map(|path| (variable_of(&path), path)).collect()
}

fn variable_of(path: &str) -> String {
    format!("{OURS}{SECTION}_{}", path.replace('.', "_")).to_uppercase()
}

fn is_ours(name: &str) -> bool {
    let start = name.get(..OURS.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// A variable of ours that is no option: an error if it can be nothing else, a warning if it is nearly one, and
/// nothing if it may be meant for another program.
fn unknown(
    name: &str,
    known: &BTreeMap<String, String>,
) -> Result<Option<ConfigWarning>, ConfigError> {
    let place = |name: &str| Place {
        file: None,
        line: None,
        option: below("", name),
    };
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix(OURS).unwrap_or_default();
    let section = SECTION.to_uppercase();
    if let Some(option) = rest.strip_prefix(&section) {
        let paths: Vec<String> = known.values().map(|path| path.replace('.', "_")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let suggestion = nearest(option.trim_matches('_'), &paths).map(variable_of);
        return Err(ConfigError::Option {
            place: place(name),
            problem: Problem::Unknown { suggestion },
        });
    }
    // The section left out, or misspelt with or without the option.
    let rest = rest.to_ascii_lowercase();
    let near = known.iter().find(|(_, path)| {
        let option = path.replace('.', "_");
        rest == option || is_near(&rest, &format!("{SECTION}_{option}"), 3)
    });
    let near = match near {
        Some((variable, _)) => variable,
        None if name != FILE_VARIABLE && is_near(&rest, "config", 1) => FILE_VARIABLE,
        None => return Ok(None),
    };
    Ok(Some(ConfigWarning::Misspelt {
        place: place(name),
        meant: near.to_owned(),
    }))
}

/// No option is said under two names.
fn not_twice_by_name(said: &Said) -> Result<(), ConfigError> {
    let limit = ("prune.max_result_chars", "max_result_chars");
    for (name, other) in SAME.into_iter().chain([limit]) {
        if let (Some((first, _)), Some((second, _))) = (said.get(name), said.get(other)) {
            return Err(second.fail(Problem::Both {
                other: first.name.clone(),
                line: None,
            }));
        }
    }
    Ok(())
}

/// What a variable holds, as the file would hold it: lists and maps in braces, sizes also as flags are written.
fn value_of(path: &str, value: &str) -> Result<Node, Problem> {
    let text = value.trim();
    // Texts are taken as they are: a prompt may begin with a brace.
    let is_text = matches!(path, "model_name" | "summary_model" | "summary_prompt");
    if !is_text && text.starts_with(['{', '[']) {
        return yaml::parse(text).map_err(|fault| Problem::Found {
            found: shown(text),
            expected: format!("a value as in the file ({})", fault.reason),
        });
    }
    let items = text.split(',').map(str::trim);
    let value = match path {
        "trigger" if text == "never" => Value::Null,
        "trigger" | "keep" if text.contains('=') => Value::Map(
            items
                .map(|item| {
                    let (unit, size) = item.split_once('=').unwrap_or((item, ""));
                    entry(unit.trim(), scalar(size.trim()))
                })
                .collect(),
        ),
        "skill_file_read_tool_names" => Value::List(items.map(scalar).collect()),
        _ => return Ok(scalar(text)),
    };
    Ok(Node { line: LINE, value })
}

fn scalar(text: &str) -> Node {
    let value = match is_null(text) {
        true => Value::Null,
        false => Value::Scalar {
            text: text.to_owned(),
            quoted: false,
        },
    };
    Node { line: LINE, value }
}

fn entry(key: &str, node: Node) -> Entry {
    Entry {
        key: key.to_owned(),
        line: LINE,
        node,
    }
}

/// The option at a path, as an entry of the section.
fn entry_at(path: &str, node: Node) -> Entry {
    match path.split_once('.') {
        None => entry(path, node),
        Some((map, key)) => {
            let value = Value::Map(vec![entry(key, node)]);
            entry(map, Node { line: LINE, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_options_share_a_variable() {
        let all = OPTIONS.len() + PRUNE.len() + BREAKER.len();
        assert_eq!(known().len(), all);
    }
}
