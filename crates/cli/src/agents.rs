//! Agents as the configuration says them, for `serve` and `chat`.

use std::path::PathBuf;
use std::sync::Arc;

use conspectus::AgentModels;
use conspectus_agent::channel::skill::Reads;
use conspectus_agent::{Limits, Profile, Setup, Skills, Store, Subagent};
use conspectus_config::{Agent, AgentSections, Config};
use conspectus_mcp::McpTool;

use crate::fail::{Exit, Fail};

/// The agent of runs that name none.
const LEAD: &str = "lead";
const LEAD_PROMPT: &str = "You are a helpful assistant. Use your tools where they help, and say plainly what you do not know.";
const SUBAGENT_PROMPT: &str = "You do one piece of work for another agent. Do it to the end, then answer with what you found or did, in short.";
/// What a subagent is for whose entry says nothing.
const DESCRIPTION: &str = "Does a piece of work that can be described in a few sentences.";
/// How names of tools of MCP servers begin.
const MCP: &str = "mcp__";
const SUBAGENT_MS: u64 = 900_000;
const PARALLEL_SUBAGENTS: usize = 3;

/// What runs are made with. `more`: tools of MCP servers.
///
/// # Errors
/// A tool that there is not.
pub(crate) fn setup(
    config: &Config,
    threads: Arc<Store>,
    models: AgentModels,
    more: &[McpTool],
) -> Result<Setup, Fail> {
    let sections = config.agent_sections();
    let mut reads = Reads::default();
    if let Some(root) = &sections.skills.container_path {
        reads.root = root.clone();
    }
    if let Some(tools) = &config.options().skill_read_tools {
        reads.tools.clone_from(tools);
    }
    let kinds = Kinds {
        sections,
        reads: &reads,
        more,
    };
    let of_lead = sections.agents.iter().find(|agent| *agent.name == *LEAD);
    let lead = kinds.lead(of_lead)?;
    let agents = sections.agents.iter().filter(|agent| *agent.name != *LEAD);
    let agents = agents.map(|agent| kinds.lead(Some(agent)));
    let types = sections.subagents.types.iter();
    let types = types.map(|agent| kinds.subagent(agent));
    let parallel = sections.subagents.max_parallel;
    Ok(Setup {
        threads,
        models,
        lead,
        agents: agents.collect::<Result<_, _>>()?,
        subagents: types.collect::<Result<_, _>>()?,
        max_parallel_subagents: parallel.map_or(PARALLEL_SUBAGENTS, whole),
        workspaces: sections.tools.workspaces.as_deref().map(PathBuf::from),
        skills: match &sections.skills.path {
            Some(path) => Skills::under(&**path, reads.clone()),
            None => Skills::none(),
        },
        spawn: Arc::new(|task| {
            tokio::spawn(task);
        }),
    })
}

/// Makes agents.
struct Kinds<'a> {
    sections: &'a AgentSections,
    reads: &'a Reads,
    more: &'a [McpTool],
}

impl Kinds<'_> {
    /// An agent that people talk to.
    fn lead(&self, said: Option<&Agent>) -> Result<Profile, Fail> {
        let prompt = said.and_then(|said| said.system_prompt.clone());
        let mut profile = Profile::lead(prompt.unwrap_or_else(|| LEAD_PROMPT.into()), self.reads);
        if self.sections.memory.enabled == Some(false) {
            profile.stack = profile.stack.without("memory");
        }
        self.settle(&mut profile, said, "agents")?;
        Ok(profile)
    }

    fn subagent(&self, said: &Agent) -> Result<Subagent, Fail> {
        let prompt = said.system_prompt.clone();
        let prompt = prompt.unwrap_or_else(|| SUBAGENT_PROMPT.into());
        let mut profile = Profile::subagent(said.name.clone(), prompt, self.reads);
        self.settle(&mut profile, Some(said), "subagents.types")?;
        let description = said.description.clone();
        Ok(Subagent {
            profile: Arc::new(profile),
            description: description.unwrap_or_else(|| DESCRIPTION.into()),
            timeout_ms: self.sections.subagents.timeout_ms.unwrap_or(SUBAGENT_MS),
        })
    }

    /// Name, model, tools and limits.
    fn settle(&self, profile: &mut Profile, said: Option<&Agent>, at: &str) -> Result<(), Fail> {
        let tools = &self.sections.tools;
        let limits = &mut profile.limits;
        *limits = Limits {
            tool_timeout_ms: tools.timeout_ms.unwrap_or(limits.tool_timeout_ms),
            max_parallel_tools: tools.max_parallel.map_or(limits.max_parallel_tools, whole),
            max_result_chars: tools
                .max_result_chars
                .map_or(limits.max_result_chars, whole),
            ..limits.clone()
        };
        profile.tools = profile.tools.clone().with_all(self.more.iter().cloned());
        let Some(said) = said else {
            return Ok(());
        };
        profile.name = said.name.clone();
        profile.model.clone_from(&said.model);
        limits.max_model_calls = said.max_model_calls.unwrap_or(limits.max_model_calls);
        limits.max_tokens = said.max_tokens.or(limits.max_tokens);
        limits.max_output_tokens = said.max_output_tokens.or(limits.max_output_tokens);
        let Some(wanted) = &said.tools else {
            return Ok(());
        };
        let there: Vec<Arc<str>> = profile
            .tools
            .specs()
            .iter()
            .map(|spec| spec.name.clone())
            .collect();
        // A server that did not answer has been told of; without its tools an agent goes on.
        let is_fine = |name: &Arc<str>| there.contains(name) || name.starts_with(MCP);
        if let Some(unknown) = wanted.iter().find(|name| !is_fine(name)) {
            let why = format!("there is no tool {unknown}; there are {}", there.join(", "));
            return Err(Fail::about(
                Exit::Config,
                format!("{at}.{}.tools", said.name),
                &why,
            ));
        }
        let is_wanted = |name: &Arc<str>| {
            let by_server = |wanted: &Arc<str>| {
                let rest = name.strip_prefix(&**wanted);
                wanted.starts_with(MCP) && rest.is_some_and(|rest| rest.starts_with("__"))
            };
            wanted.contains(name) || wanted.iter().any(by_server)
        };
        for name in there.iter().filter(|name| !is_wanted(name)) {
            profile.tools = profile.tools.clone().without(name);
        }
        Ok(())
    }
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
