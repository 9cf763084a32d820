//! The sections about agents: the map `agents:`, and `subagents:`, `skills:`, `memory:` and `tools:`.
//!
//! An agent is a name, as `agent_name` of a thread or a request says it. Its entry is a model's name, or a map.
//!
//! deer-flow's file has sections of the same names. What it says there and we know is read; its other fields, and its
//! list `tools:`, belong to it and are passed over.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::policy::Preset;

use crate::error::{ConfigError, ConfigWarning, Place, Problem};
use crate::models::Model;
use crate::reader::below;
use crate::suggest::nearest;
use crate::value::{boolean, nullable, one_of, text, whole, wrong};
use crate::yaml::{Entry, Node, Value};

pub(crate) const AGENTS: &str = "agents";
pub(crate) const SUBAGENTS: &str = "subagents";
pub(crate) const SKILLS: &str = "skills";
pub(crate) const MEMORY: &str = "memory";
pub(crate) const TOOLS: &str = "tools";

/// Every field of an agent that is read.
pub(crate) const AGENT_FIELDS: [&str; 7] = [
    "description",
    "system_prompt",
    "model",
    "tools",
    "max_model_calls",
    "max_tokens",
    "max_output_tokens",
];
pub(crate) const SUBAGENTS_FIELDS: [&str; 3] = ["max_parallel", "timeout_ms", "types"];
pub(crate) const SKILLS_FIELDS: [&str; 2] = ["path", "container_path"];
pub(crate) const MEMORY_FIELDS: [&str; 1] = ["enabled"];
pub(crate) const TOOLS_FIELDS: [&str; 4] = [
    "workspaces",
    "timeout_ms",
    "max_parallel",
    "max_result_chars",
];

/// What the file says about agents. What it leaves open is decided by whoever makes them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentSections {
    /// Agents that runs can name. One called `lead` is the one of runs that name none.
    pub agents: Vec<Agent>,
    /// Those that an agent can give work to.
    pub subagents: Subagents,
    /// Skills.
    pub skills: Skills,
    /// Whether something is remembered beyond a thread.
    pub memory: Memory,
    /// What tools may do.
    pub tools: Tools,
}

impl AgentSections {
    /// Which model an agent's conversations run on, for agents that say so.
    pub(crate) fn models(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        let agents = self.agents.iter();
        let said = agents.filter_map(|agent| Some((agent.name.clone(), agent.model.clone()?)));
        said.collect()
    }
}

/// A kind of agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agent {
    /// Its name. No two share one.
    pub name: Arc<str>,
    /// What it is for, as an agent that gives it work is told.
    pub description: Option<Arc<str>>,
    /// What it is told.
    pub system_prompt: Option<Arc<str>>,
    /// The model of the list `models:` that it runs on.
    pub model: Option<Arc<str>>,
    /// Its tools by name; `None`: all that it can have.
    pub tools: Option<Vec<Arc<str>>>,
    /// Model calls of one run.
    pub max_model_calls: Option<u64>,
    /// Tokens of all model calls of one run.
    pub max_tokens: Option<u64>,
    /// Tokens of one reply.
    pub max_output_tokens: Option<u64>,
}

/// The section `subagents:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subagents {
    /// So many run at once.
    pub max_parallel: Option<u64>,
    /// The time for one piece of work.
    pub timeout_ms: Option<u64>,
    /// The kinds that there are.
    pub types: Vec<Agent>,
}

/// The section `skills:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skills {
    /// The folder that they are in; `None`: there are none.
    pub path: Option<Arc<str>>,
    /// How paths in calls name that folder.
    pub container_path: Option<Arc<str>>,
}

/// The section `memory:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Off only where that is said.
    pub enabled: Option<bool>,
}

/// The section `tools:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tools {
    /// The folder under which each thread has its own; `None`: agents have no files.
    pub workspaces: Option<Arc<str>>,
    /// The time for one call.
    pub timeout_ms: Option<u64>,
    /// Calls of one reply that run at once.
    pub max_parallel: Option<u64>,
    /// Characters of a result beyond which its middle is left out.
    pub max_result_chars: Option<u64>,
}

/// Reads the sections that are there. `preset` decides what a field means that is nearly one of ours: an error in our own.
pub(crate) fn read(
    file: &Arc<str>,
    sections: [Option<&Entry>; 5],
    models: &[Model],
    preset: Preset,
) -> Result<(AgentSections, Vec<ConfigWarning>), ConfigError> {
    let mut reader = Reader {
        file,
        models,
        preset,
        warnings: Vec::new(),
    };
    let [agents, subagents, skills, memory, tools] = sections;
    let read = AgentSections {
        agents: match agents {
            Some(entry) => reader.all(entry, AGENTS)?,
            None => Vec::new(),
        },
        subagents: reader.subagents(subagents)?,
        skills: reader.skills(skills)?,
        memory: reader.memory(memory)?,
        tools: reader.tools(tools)?,
    };
    Ok((read, reader.warnings))
}

struct Reader<'a> {
    file: &'a Arc<str>,
    models: &'a [Model],
    preset: Preset,
    warnings: Vec<ConfigWarning>,
}

impl Reader<'_> {
    fn subagents(&mut self, section: Option<&Entry>) -> Result<Subagents, ConfigError> {
        let fields = self.section(section, SUBAGENTS, &SUBAGENTS_FIELDS)?;
        Ok(Subagents {
            max_parallel: fields.number(self, "max_parallel", 1)?,
            timeout_ms: fields.number(self, "timeout_ms", 1)?,
            types: match fields.get("types") {
                Some(entry) => self.all(entry, &format!("{SUBAGENTS}.types"))?,
                None => Vec::new(),
            },
        })
    }

    fn skills(&mut self, section: Option<&Entry>) -> Result<Skills, ConfigError> {
        let fields = self.section(section, SKILLS, &SKILLS_FIELDS)?;
        let path = |n: &Node| {
            text(n, "an absolute path").and_then(|path| match path.starts_with('/') {
                true => Ok(path),
                false => Err(wrong(n, "an absolute path")),
            })
        };
        Ok(Skills {
            path: fields.text(self, "path", "the path of a folder")?,
            container_path: fields.value(self, "container_path", path)?.map(Into::into),
        })
    }

    fn memory(&mut self, section: Option<&Entry>) -> Result<Memory, ConfigError> {
        let fields = self.section(section, MEMORY, &MEMORY_FIELDS)?;
        Ok(Memory {
            enabled: fields.value(self, "enabled", boolean)?,
        })
    }

    fn tools(&mut self, section: Option<&Entry>) -> Result<Tools, ConfigError> {
        // A list is deer-flow's.
        let section = section.filter(|entry| !matches!(entry.node.value, Value::List(_)));
        let fields = self.section(section, TOOLS, &TOOLS_FIELDS)?;
        Ok(Tools {
            workspaces: fields.text(self, "workspaces", "the path of a folder")?,
            timeout_ms: fields.number(self, "timeout_ms", 1)?,
            max_parallel: fields.number(self, "max_parallel", 1)?,
            max_result_chars: fields.number(self, "max_result_chars", 1)?,
        })
    }

    /// A map of agents.
    fn all(&mut self, section: &Entry, path: &str) -> Result<Vec<Agent>, ConfigError> {
        let entries = match &section.node.value {
            Value::Null => return Ok(Vec::new()),
            Value::Map(entries) => entries,
            _ => {
                let problem = wrong(&section.node, "a map of agents and their models");
                return Err(self.fail(section.line, path, problem));
            }
        };
        let mut all: Vec<Agent> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let name = entry.key.trim();
            let path = below(path, name);
            let first = entries[..index].iter().find(|e| e.key.trim() == name);
            if let Some(first) = first {
                let problem = Problem::Twice { first: first.line };
                return Err(self.fail(entry.line, &path, problem));
            }
            all.push(self.agent(name, entry, &path)?);
        }
        Ok(all)
    }

    fn agent(&mut self, name: &str, entry: &Entry, path: &str) -> Result<Agent, ConfigError> {
        let name = Arc::from(name);
        let of_map = matches!(entry.node.value, Value::Map(_));
        if !of_map {
            let model = nullable(&entry.node, |node| self.model(node));
            let model = model.map_err(|problem| self.fail(entry.node.line, path, problem))?;
            return Ok(Agent {
                name,
                model,
                ..Agent::default()
            });
        }
        let fields = self.map(&entry.node, path, &AGENT_FIELDS, "a map of options")?;
        let model = fields.get("model").map(|entry| {
            let read = self.model(&entry.node);
            read.map_err(|problem| self.fail(entry.node.line, path, problem))
        });
        let tools = fields.get("tools").map(|entry| {
            let path = below(path, "tools");
            let Value::List(items) = &entry.node.value else {
                let problem = wrong(&entry.node, "a list of tools by name, [] for none");
                return Err(self.fail(entry.line, &path, problem));
            };
            let name = |(index, item): (usize, &Node)| {
                let read = text(item, "a tool's name").map(Arc::from);
                read.map_err(|problem| self.fail(item.line, &format!("{path}[{index}]"), problem))
            };
            items.iter().enumerate().map(name).collect()
        });
        Ok(Agent {
            name,
            description: fields.text(self, "description", "what it is for")?,
            system_prompt: fields.text(self, "system_prompt", "what it is told")?,
            model: model.transpose()?,
            tools: tools.transpose()?,
            max_model_calls: fields.number(self, "max_model_calls", 1)?,
            max_tokens: fields.number(self, "max_tokens", 1)?,
            max_output_tokens: fields.number(self, "max_output_tokens", 1)?,
        })
    }

    /// A name of the list `models:`.
    fn model(&self, node: &Node) -> Result<Arc<str>, Problem> {
        let name = text(node, "a model's name, or a map with the field model")?;
        let names: Vec<&str> = self.models.iter().map(|model| &*model.name).collect();
        let name = name.trim();
        if names.contains(&name) {
            return Ok(name.into());
        }
        Err(Problem::Found {
            found: "a model that is not there".to_owned(),
            expected: match names.as_slice() {
                [] => "a name of the list models, which is not there".to_owned(),
                names => format!("a name of the list models: {}", one_of(names)),
            },
        })
    }

    fn section<'n>(
        &mut self,
        section: Option<&'n Entry>,
        name: &str,
        known: &[&str],
    ) -> Result<Fields<'n>, ConfigError> {
        match section {
            Some(entry) if entry.node.value != Value::Null => {
                self.map(&entry.node, name, known, "a map of options")
            }
            _ => Ok(Fields {
                path: name.to_owned(),
                entries: &[],
            }),
        }
    }

    /// The fields of a map, none of them twice or nearly one of ours.
    fn map<'n>(
        &mut self,
        node: &'n Node,
        path: &str,
        known: &[&str],
        expected: &str,
    ) -> Result<Fields<'n>, ConfigError> {
        let Value::Map(entries) = &node.value else {
            return Err(self.fail(node.line, path, wrong(node, expected)));
        };
        for (index, entry) in entries.iter().enumerate() {
            let at = below(path, &entry.key);
            if let Some(first) = entries[..index].iter().find(|e| e.key == entry.key) {
                let problem = Problem::Twice { first: first.line };
                return Err(self.fail(entry.line, &at, problem));
            }
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let Some(near) = nearest(&entry.key, known) else {
                continue;
            };
            let problem = Problem::Unknown {
                suggestion: Some(near.to_owned()),
            };
            if self.preset == Preset::Default {
                return Err(self.fail(entry.line, &at, problem));
            }
            self.warnings.push(ConfigWarning::Ignored {
                place: self.place(entry.line, &at),
                problem,
                preset: self.preset.name(),
            });
        }
        Ok(Fields {
            path: path.to_owned(),
            entries,
        })
    }

    fn fail(&self, line: usize, path: &str, problem: Problem) -> ConfigError {
        ConfigError::Option {
            place: self.place(line, path),
            problem,
        }
    }

    fn place(&self, line: usize, path: &str) -> Place {
        Place {
            file: Some(self.file.clone()),
            line: Some(line),
            option: path.to_owned(),
        }
    }
}

/// The fields of a map.
struct Fields<'n> {
    path: String,
    entries: &'n [Entry],
}

impl<'n> Fields<'n> {
    fn get(&self, key: &str) -> Option<&'n Entry> {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.filter(|entry| entry.node.value != Value::Null)
    }

    /// `null` says nothing.
    fn value<T>(
        &self,
        reader: &Reader<'_>,
        key: &str,
        read: impl FnOnce(&Node) -> Result<T, Problem>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        nullable(&entry.node, read)
            .map_err(|problem| reader.fail(entry.node.line, &below(&self.path, key), problem))
    }

    fn number(&self, reader: &Reader<'_>, key: &str, min: u64) -> Result<Option<u64>, ConfigError> {
        self.value(reader, key, |node| whole(node, min))
    }

    fn text(
        &self,
        reader: &Reader<'_>,
        key: &str,
        expected: &str,
    ) -> Result<Option<Arc<str>>, ConfigError> {
        let read = self.value(reader, key, |node| text(node, expected))?;
        Ok(read.map(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    const OURS: &str = "summarization: {preset: default}\n";
    const MODELS: &str = "models:\n  - name: large\n  - name: small\n";

    #[test]
    fn an_agent_runs_on_its_model() {
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
    fn a_model_that_is_not_there() {
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

    #[test]
    fn reads_what_is_written() {
        let file = "models: [{name: main}]\nagents:\n  lead:\n    system_prompt: You mend boilers.\n    model: main\n    \
                    tools: [read_file, search]\n    max_model_calls: 50\n\
                    subagents:\n  max_parallel: 2\n  timeout_ms: 60000\n  types:\n    general: {description: Looks things up}\n\
                    skills: {path: skills, container_path: /mnt/skills}\nmemory: {enabled: no}\n\
                    tools: {workspaces: work, max_result_chars: 20_000}\n";
        let config = Config::load("c.yaml", file).expect("loads");
        let all = config.agent_sections();
        let lead = &all.agents[0];
        assert_eq!((&*lead.name, lead.model.as_deref()), ("lead", Some("main")));
        assert_eq!(lead.tools.as_deref().map(<[_]>::len), Some(2));
        assert_eq!((lead.max_model_calls, lead.max_tokens), (Some(50), None));
        assert_eq!(
            all.subagents.types[0].description.as_deref(),
            Some("Looks things up")
        );
        assert_eq!(
            (all.subagents.max_parallel, all.memory.enabled),
            (Some(2), Some(false))
        );
        assert_eq!(all.skills.path.as_deref(), Some("skills"));
        assert_eq!(all.tools.max_result_chars, Some(20_000));
    }

    #[test]
    fn what_is_deer_flows_is_passed_over() {
        let file = "tools:\n  - name: bash\n    use: some.module:tool\nsubagents:\n  timeout_seconds: 900\n  agents: {bash: {max_turns: 80}}\n\
                    memory: {enabled: true, storage_path: memory.json, debounce_seconds: 30}\nskills: {container_path: /mnt/skills}\n";
        let config = Config::load("c.yaml", file).expect("loads");
        assert_eq!(config.warnings(), []);
        assert_eq!(config.agent_sections().memory.enabled, Some(true));
    }

    #[test]
    fn says_what_is_wrong() {
        #[track_caller]
        fn check(sections: &str, expect: &str) {
            let text = format!("{OURS}{sections}\n");
            let error = Config::load("c.yaml", &text).expect_err("is refused");
            assert_eq!(error.to_string(), expect);
        }
        check(
            "agents:\n  a: {modle: main}",
            "c.yaml:3: agents.a.modle: unknown option, did you mean model?",
        );
        check(
            "agents:\n  a: {tools: read_file}",
            "c.yaml:3: agents.a.tools: found \"read_file\", expected a list of tools by name, [] for none",
        );
        check(
            "skills: {container_path: skills}",
            "c.yaml:2: skills.container_path: found \"skills\", expected an absolute path",
        );
        check(
            "tools: {timeout_ms: 0}",
            "c.yaml:2: tools.timeout_ms: found 0, expected a whole number > 0",
        );
        check(
            "memory: {enabled: perhaps}",
            "c.yaml:2: memory.enabled: found \"perhaps\", expected true or false",
        );
    }
}
