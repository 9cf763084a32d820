//! MCP servers as the configuration says them: begun for `chat` and `serve`, shown by `conspectus mcp ls`.

use std::path::PathBuf;
use std::time::Duration;

use conspectus_config::{Config, McpPlace, McpServer, Secret};
use conspectus_mcp::{Listed, McpServers, McpSettings, McpTool, Place};
use serde::Serialize;

use crate::Done;
use crate::args::{CommonArgs, McpArgs, McpCommand};
use crate::fail::{Exit, Fail, io_words};
use crate::job::{load, named_file};
use crate::threads;
use crate::ui::{Stream, Talk, Ui};

/// The servers of a configuration, begun.
pub(crate) struct Begun {
    servers: McpServers,
    /// What each has, in the order of the file.
    listed: Vec<Listed>,
    /// Those that cannot be begun at all, and why.
    impossible: Vec<(String, String)>,
}

impl Begun {
    /// Begins all. Without servers it takes no time.
    pub(crate) async fn of(config: &Config) -> Self {
        let mut settings = Vec::new();
        let mut impossible = Vec::new();
        for server in config.mcp() {
            match settings_of(server) {
                Ok(made) => settings.push(made),
                Err(why) => impossible.push((server.name.to_string(), why)),
            }
        }
        let servers = McpServers::new(settings);
        let listed = servers.connect().await;
        Self {
            servers,
            listed,
            impossible,
        }
    }

    /// All tools that there are.
    pub(crate) fn tools(&self) -> Vec<McpTool> {
        let tools = self.listed.iter().filter_map(|one| one.tools.as_ref().ok());
        tools.flatten().cloned().collect()
    }

    /// What is wrong, a line a server.
    pub(crate) fn troubles(&self) -> impl Iterator<Item = String> {
        let silent = self.listed.iter().filter_map(|one| {
            let why = one.tools.as_ref().err()?;
            Some((one.name.to_string(), why.to_string()))
        });
        let all = self.impossible.iter().cloned().chain(silent);
        all.map(|(name, why)| format!("MCP server {name}: {why}; agents do without it"))
    }

    /// Ends all.
    pub(crate) async fn end(&self) {
        self.servers.end().await;
    }
}

/// What a server is begun with.
///
/// # Errors
/// A variable that is not set.
fn settings_of(server: &McpServer) -> Result<McpSettings, String> {
    let reveal = |secret: &Secret| {
        let value = secret.reveal(|name| {
            let value = std::env::var_os(name)?.into_string().ok()?;
            (!value.is_empty()).then_some(value)
        });
        value.ok_or_else(|| {
            let name = secret.variable().unwrap_or("?");
            format!("the environment variable {name} is not set")
        })
    };
    let all = |pairs: &[(std::sync::Arc<str>, Secret)]| {
        let pair =
            |(name, value): &(std::sync::Arc<str>, Secret)| Ok((name.to_string(), reveal(value)?));
        pairs.iter().map(pair).collect::<Result<Vec<_>, String>>()
    };
    let place = match &server.place {
        McpPlace::Command { command, args, env } => Place::Command {
            command: command.to_string(),
            args: args.iter().map(ToString::to_string).collect(),
            env: all(env)?,
        },
        McpPlace::Url { url, headers } => Place::Url {
            url: reveal(url)?,
            headers: all(headers)?,
        },
    };
    let mut settings = McpSettings::new(server.name.clone(), place);
    settings.tools.clone_from(&server.tools);
    let time = |said: Option<u64>, unless| said.map_or(unless, Duration::from_millis);
    settings.start = time(server.start_ms, settings.start);
    settings.timeout = time(server.timeout_ms, settings.timeout);
    if let Some(most) = server.max_result_chars {
        settings.max_result_chars = usize::try_from(most).unwrap_or(usize::MAX);
    }
    Ok(settings)
}

#[derive(Serialize)]
struct Report<'a> {
    servers: Vec<ServerLine<'a>>,
}

#[derive(Serialize)]
struct ServerLine<'a> {
    name: &'a str,
    tools: Vec<ToolLine<'a>>,
    /// Why there are none.
    error: Option<String>,
}

#[derive(Serialize)]
struct ToolLine<'a> {
    /// As models call it, and as `tools:` of an agent does.
    name: &'a str,
    /// As the server does.
    name_there: &'a str,
    description: &'a str,
}

/// `mcp`.
pub(crate) fn run(args: &McpArgs) -> Done {
    match &args.what {
        McpCommand::Ls { config, json } => list(config.clone(), *json),
        McpCommand::Serve {
            thread,
            place,
            config,
        } => {
            let common = CommonArgs {
                place: place.clone(),
                config: config.clone(),
                json: false,
            };
            threads::offer(&common, thread.as_deref())
        }
    }
}

/// Shows servers and their tools.
fn list(path: Option<PathBuf>, is_json: bool) -> Done {
    let path = path.or_else(named_file);
    let config = load(path.as_deref())?;
    if config.mcp().is_empty() {
        let why =
            "there are no servers; a section mcp: of the configuration names them (docs/agent.md)";
        return Err(Fail::about(Exit::Usage, "mcp", why));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|why| Fail::about(Exit::Usage, "mcp", &io_words(&why)))?;
    let begun = runtime.block_on(Begun::of(&config));
    let report = Report {
        servers: config
            .mcp()
            .iter()
            .map(|server| line(&begun, &server.name))
            .collect(),
    };
    let ui = Ui::new(Stream::Out, false, Talk::Normal);
    let said = match is_json {
        true => ui.json(&report),
        false => ui.say(&text(&report)),
    };
    runtime.block_on(begun.end());
    said?;
    let is_fine = report.servers.iter().all(|server| server.error.is_none());
    Ok(if is_fine { Exit::Done } else { Exit::Config })
}

fn line<'a>(begun: &'a Begun, name: &'a str) -> ServerLine<'a> {
    let listed = begun.listed.iter().find(|one| &*one.name == name);
    let impossible = begun.impossible.iter().find(|(one, _)| one == name);
    let (tools, error) = match (listed, impossible) {
        (Some(Listed { tools: Ok(all), .. }), _) => (all.as_slice(), None),
        (
            Some(Listed {
                tools: Err(why), ..
            }),
            _,
        ) => (&[][..], Some(why.to_string())),
        (None, found) => (&[][..], found.map(|(_, why)| why.clone())),
    };
    let tool = |tool: &'a McpTool| ToolLine {
        name: tool.name(),
        name_there: tool.name_there(),
        description: tool.description(),
    };
    ServerLine {
        name,
        tools: tools.iter().map(tool).collect(),
        error,
    }
}

fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    for server in &report.servers {
        match &server.error {
            Some(why) => out.push_str(&format!("{}: {why}\n", server.name)),
            None => out.push_str(&format!("{}: {}\n", server.name, many(server.tools.len()))),
        }
        for tool in &server.tools {
            let first = tool.description.lines().next().unwrap_or_default();
            out.push_str(format!("  {}  {first}", tool.name).trim_end());
            out.push('\n');
        }
    }
    out
}

fn many(count: usize) -> String {
    match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}
