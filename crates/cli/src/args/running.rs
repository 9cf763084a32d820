//! What can be typed about that which runs until it is told to stop: a chat, the service, the proxy, and MCP.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::{PlaceArgs, Provider};

pub(super) const CHAT_EXAMPLES: &str = "\
In it, /help lists what can be typed besides messages: /compact, /undo, /redo, /status, /recall and others.
Ctrl-C stops the answer that is being written; once more, or when nothing is, it leaves.

Examples:
  conspectus chat --config config.yaml
      with the models and agents of a file
  conspectus chat --thread boiler --model qwen3 --base-url http://127.0.0.1:8080/v1
      a model on this machine; the same thread is gone on with the next time
  echo \"What was the valve called?\" | conspectus chat --thread boiler
      one question; the answer on standard output, all else on standard error";

pub(super) const MCP_EXAMPLES: &str = "\
ls begins each server, asks it, and ends it again; exit code 3 if one of them does not answer as it should.
serve speaks by standard input and output until its input ends.

Examples:
  conspectus mcp ls --config config.yaml
  claude mcp add conspectus -- conspectus mcp serve
      what was said in the threads of the user's own store, for a client such as Claude Code";

pub(super) const SERVE_EXAMPLES: &str = "\
Examples:
  conspectus serve
      on http://127.0.0.1:7437, for this machine only, in a file of the user's own
  conspectus serve --config config.yaml --store postgres://db/threads --listen 0.0.0.0:7437 --tokens tokens.txt
  conspectus serve --config config.yaml
      with upstreams in its section proxy:, the proxy runs beside the service
  conspectus serve --listen 127.0.0.1:0 --store memory
      on a free port, which the first line of the output names; forgotten at the end";

pub(super) const PROXY_EXAMPLES: &str = "\
Examples:
  conspectus proxy --upstream https://api.openai.com
      then point a client's base URL at http://127.0.0.1:7438/v1; docs/proxy.md has the line for each client
  conspectus proxy -u openai=https://api.openai.com -u anthropic=https://api.anthropic.com --log
      Anthropic's calls go to anthropic, others to openai; a line a request on standard error
  conspectus proxy --config config.yaml
      the upstreams of its section proxy:, and all else that stands there
  conspectus proxy --upstream http://127.0.0.1:8000/v1 --observe
      everything goes through as it came; says what would have been saved";

/// `chat`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ChatArgs {
    /// The thread to begin or go on with [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,

    /// The agent, by its name in the configuration [default: the thread's, else lead]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// A YAML file, else what CONSPECTUS_CONFIG names
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// sqlite:PATH or postgres://… [default: as serve]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,

    /// The model [default: the agent's, else the first of the configuration's list]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) model: Option<String>,

    /// Where it is [default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, or its own]
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(crate) base_url: Option<String>,

    /// The API there: openai or anthropic [default: by name; with a URL openai]
    #[arg(
        long,
        value_name = "API",
        hide_possible_values = true,
        help_heading = "Model"
    )]
    pub(crate) provider: Option<Provider>,

    /// The variable with the key [default: the API's usual one; with a URL none]
    #[arg(long, value_name = "VARIABLE", help_heading = "Model")]
    pub(crate) api_key_env: Option<String>,

    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Model")]
    pub(crate) max_context: Option<u64>,
}

/// `mcp`.
#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) what: McpCommand,
}

/// What is done by MCP.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Begin the servers of the configuration, and list the tools that agents have of them
    Ls {
        /// A YAML file, else what CONSPECTUS_CONFIG names
        #[arg(long, short, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Print one JSON document instead of a report
        #[arg(long)]
        json: bool,
    },
    /// Offer threads to an MCP client that begins this command: threads, recall, compact
    Serve {
        /// The thread that is meant where a call names none
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        #[command(flatten)]
        place: PlaceArgs,
        /// The YAML file of the service or of files, else what CONSPECTUS_CONFIG names
        #[arg(long, short, value_name = "FILE", conflicts_with = "server")]
        config: Option<PathBuf>,
    },
}

/// What runs until it is told to stop: where, on what, and for whom.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlaceToRun {
    /// A YAML file (docs/configuration.md), else what CONSPECTUS_CONFIG names
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Address and port [default: 127.0.0.1:7437, for the proxy 127.0.0.1:7438]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,

    /// sqlite:PATH, postgres://… or memory [default: a file of the user's own]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,

    /// The file with the digests of tokens; needed beyond this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: Option<PathBuf>,
}

/// `serve`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) at: PlaceToRun,
}

/// `proxy`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ProxyArgs {
    /// URL, or NAME=URL, which paths that begin with /NAME mean; may be given again
    #[arg(long, short, value_name = "URL")]
    pub(crate) upstream: Vec<String>,

    #[command(flatten)]
    pub(crate) at: PlaceToRun,

    /// Summaries by the conversation's own model, with the client's key
    #[arg(long)]
    pub(crate) summarize: bool,

    /// The same by another model of the same upstream
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,

    /// Change nothing, and say what would have been done
    #[arg(long)]
    pub(crate) observe: bool,

    /// This upstream's servers are strict; NAME=RULE,RULE for some rules only
    #[arg(long, value_name = "NAME")]
    pub(crate) strict: Vec<String>,

    /// No headers of our own in answers
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// A line a request on standard error, without anything of what it holds
    #[arg(long)]
    pub(crate) log: bool,
}
