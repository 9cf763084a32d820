//! The map `agents:` at the top of the file: which model the conversations of an agent run on.
//!
//! An agent is a name, as `agent_name` of a thread or a request says it. Its model is a name of the list `models:`, said
//! by itself or as the field `model`; other fields belong to other programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{ConfigError, Place, Problem};
use crate::models::Model;
use crate::value::{nullable, one_of, text, wrong};
use crate::yaml::{Entry, Node, Value};

/// The name of the map.
pub(crate) const AGENTS: &str = "agents";

const MODEL: &str = "model";

/// Agents by name, each with its model.
pub(crate) type Agents = BTreeMap<Arc<str>, Arc<str>>;

/// Reads the map.
pub(crate) fn read(
    file: &Arc<str>,
    section: &Entry,
    models: &[Model],
) -> Result<Agents, ConfigError> {
    let fail = |line: usize, path: &str, problem| {
        Err(ConfigError::Option {
            place: Place {
                file: Some(file.clone()),
                line: Some(line),
                option: match path {
                    "" => AGENTS.to_owned(),
                    path => format!("{AGENTS}.{path}"),
                },
            },
            problem,
        })
    };
    let entries = match &section.node.value {
        Value::Null => return Ok(Agents::new()),
        Value::Map(entries) => entries.as_slice(),
        _ => {
            let problem = wrong(&section.node, "a map of agents and their models");
            return fail(section.line, "", problem);
        }
    };
    let names: Vec<&str> = models.iter().map(|model| &*model.name).collect();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    let mut agents = Agents::new();
    for entry in entries {
        let agent = entry.key.trim();
        if let Some(first) = lines.insert(agent, entry.line) {
            return fail(entry.line, agent, Problem::Twice { first });
        }
        let model = match model_of(&entry.node) {
            Ok(Some(model)) => model,
            Ok(None) => continue,
            Err(problem) => return fail(entry.node.line, agent, problem),
        };
        if !names.contains(&model.as_str()) {
            let problem = Problem::Found {
                found: "a model that is not there".to_owned(),
                expected: match names.as_slice() {
                    [] => "a name of the list models, which is not there".to_owned(),
                    names => format!("a name of the list models: {}", one_of(names)),
                },
            };
            return fail(entry.node.line, agent, problem);
        }
        agents.insert(agent.into(), model.as_str().into());
    }
    Ok(agents)
}

/// The model that an agent's entry says; `None`: the one that all run on.
fn model_of(node: &Node) -> Result<Option<String>, Problem> {
    let name = |node: &Node| {
        let name = text(node, "a model's name, or a map with the field model")?;
        Ok(name.trim().to_owned())
    };
    match &node.value {
        Value::Map(fields) => match fields.iter().find(|field| field.key == MODEL) {
            Some(field) => nullable(&field.node, name),
            None => Ok(None),
        },
        _ => nullable(node, name),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    const MODELS: &str = "models:\n  - name: large\n  - name: small\n";

    #[test]
    fn reads_what_is_written() {
        let file = format!(
            "{MODELS}agents:\n  scribe: small\n  planner: {{model: large, skills: [tea]}}\n  guest: null\n  other: {{skills: []}}\n"
        );
        let config = Config::load("c.yaml", &file).expect("loads");
        let agents: Vec<_> = config
            .agents()
            .iter()
            .map(|(agent, model)| (&**agent, &**model))
            .collect();
        assert_eq!(agents, [("planner", "large"), ("scribe", "small")]);
        for nothing in ["", "agents:\n", "agents: {}\n"] {
            let config = Config::load("c.yaml", nothing).expect("loads");
            assert!(config.agents().is_empty());
        }
    }

    #[test]
    fn says_what_is_wrong() {
        #[track_caller]
        fn check(agents: &str, expect: &str) {
            let file = format!("{MODELS}agents: {agents}\n");
            let error = Config::load("c.yaml", &file).expect_err("is refused");
            assert_eq!(error.to_string(), format!("c.yaml:4: agents{expect}"));
        }
        check(
            "{scribe: smal}",
            ".scribe: found a model that is not there, expected a name of the list models: large or small",
        );
        check(
            "{scribe: [small]}",
            ".scribe: found a list, expected a model's name, or a map with the field model",
        );
        check(
            "{scribe: small, scribe: large}",
            ".scribe: given twice, first on line 4; remove one",
        );
        check(
            "[scribe]",
            ": found a list, expected a map of agents and their models",
        );
        let alone = Config::load("c.yaml", "agents: {scribe: small}\n").expect_err("is refused");
        assert!(alone.to_string().contains("which is not there"), "{alone}");
    }
}
