//! What can be typed. Nothing is done here; [`crate::job`] turns it into what is to be done.

mod running;
mod threads;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use conspectus::core::policy::{KeepOption, OnFailure, Preset, Strategy};
use conspectus_config::{
    TriggerArg, parse_keep, parse_on_failure, parse_preset, parse_strategy, parse_trigger,
};

#[cfg(feature = "threads")]
pub(crate) use running::McpCommand;
#[cfg(feature = "serve")]
pub(crate) use running::PlaceToRun;
use running::{CHAT_EXAMPLES, MCP_EXAMPLES, PROXY_EXAMPLES, SERVE_EXAMPLES};
pub(crate) use running::{ChatArgs, McpArgs, ProxyArgs, ServeArgs};
#[cfg(feature = "threads")]
pub(crate) use threads::{CommonArgs, FromFile, OfThread};
pub(crate) use threads::{PlaceArgs, RecallArgs, ThreadArgs, ThreadCommand};
use threads::{RECALL_EXAMPLES, THREAD_EXAMPLES, THREADS};

const SIZES: &str = "\
A trigger: sizes joined by commas must all be reached; of several --trigger any one is enough.
A fraction is one of the model's window, which --max-context tells.";

const MODELS: &str = "\
Models: without one the summary is an extract, and nothing leaves this machine. --model NAME sends what is
folded to NAME; models that the configuration lists are asked without it. Each reply is judged; when none is
good enough, --on-failure says what then. Needs a program built with the feature models (docs/cli.md).";

const EXIT_CODES: &str = "\
Exit codes:
    0  done; also when there was nothing to do, which is then said
    2  wrong usage
    3  configuration error
    4  an input cannot be read; a thread, store or service is not there
    5  an output cannot be written
    6  a compaction failed or was rejected; a thread cannot be changed as it stands
  130  stopped by Ctrl-C
With several files the others are still done, and the highest code wins.";

const ABOUT: &str = "\
Keeps long conversations of LLM agents inside the model's context window.

Shortens oversized tool results, replaces the older part by a summary, and keeps what must not be lost:
the system prompt, the current request, whole pairs of call and result. Reads and writes OpenAI chat and
Responses, Anthropic, Gemini, LangChain, Claude Code, Codex, Cline and mini-swe-agent files; reads Gemini CLI,
Copilot CLI, pi, OpenHands, SWE-agent, Inspect and goose logs. Finds out by itself which one a file is.";

const EXAMPLES: &str = "\
Examples:
  conspectus inspect session.jsonl             where the tokens are
  conspectus plan session.jsonl                what would go and stay
  conspectus compact session.jsonl             writes session.compacted.jsonl";

const COMPACT_EXAMPLES: &str = "\
Examples:
  conspectus compact session.jsonl
      writes session.compacted.jsonl beside it
  conspectus compact --latest claude --dry-run
      the newest Claude Code session; shows what would come out, writes nothing
  conspectus compact chat.json --trigger tokens=4000 --keep messages=20
      only if it has 4,000 tokens or more; the last 20 messages stay
  conspectus compact threads/ --out smaller/
      every conversation file in a directory
  conspectus compact run.traj --to openai
      a log that is not written back, as chat messages: run.compacted.json
  producer | conspectus compact - | consumer
      the report goes to standard error
  conspectus compact chat.json --model gpt-5-mini --fallback claude-haiku-4-5 --focus \"the failing test\"
      a summary by a model; the keys are in OPENAI_API_KEY and ANTHROPIC_API_KEY
  conspectus compact --thread demo
      a thread in the user's own store; --store and --server name others
  conspectus compact chat.json --model qwen3 --base-url http://127.0.0.1:8080/v1
      by a model on this machine, without a key";

const INSPECT_EXAMPLES: &str = "\
Examples:
  conspectus inspect session.jsonl
  conspectus inspect --lenient broken.jsonl
      what is readable of a damaged file
  conspectus inspect chat.json --trigger fraction=0.8 --max-context 128000
      whether the trigger is reached, and where it would have fired";

const PLAN_EXAMPLES: &str = "\
Examples:
  conspectus plan session.jsonl
  conspectus plan chat.json --keep messages=20 --prune-over 2000
  conspectus plan runs.json --conversation 3
      one of several conversations in a file";

const EVAL: &str = "\
Each conversation is cut at half and at three quarters, and what lies before the cut is compacted. Counted is
how many of the names that are written again behind the cut still stand there (names), of the files that were
edited (files), and of the user's words (words). Sizes: a CJK character is a token, four others are one.
Bounds: random lines need no thought, the oracle knows what will be needed. More is in docs/retention.md.";

const EVAL_EXAMPLES: &str = "\
Examples:
  conspectus eval --latest claude
      what of your newest Claude Code session would survive
  conspectus eval sessions/ --budget 5,10 --csv figures.csv --svg chart.svg";

const CONFIG_EXAMPLES: &str = "\
Examples:
  conspectus config example > config.yaml
      every option at its default, explained
  conspectus config check config.yaml --max-context 128000
      what it comes to in numbers; exit code 3 if it cannot work
  conspectus config schema > config.schema.json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  conspectus completions bash > ~/.local/share/bash-completion/completions/conspectus
  conspectus completions zsh > \"${fpath[1]}/_conspectus\"
  conspectus completions fish > ~/.config/fish/completions/conspectus.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  conspectus man compact | man -l -
  conspectus man --out ~/.local/share/man/man1";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "conspectus",
    version,
    about = ABOUT,
    after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compact conversations in files
    #[command(after_help = format!("{SIZES}\n\n{MODELS}\n\n{COMPACT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Compact(CompactArgs),
    /// Show where the tokens are, what is wrong, and what would fire
    #[command(after_help = format!("{SIZES}\n\n{INSPECT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Inspect(LookArgs),
    /// Show what would go and stay, and why, a line a unit
    #[command(after_help = format!("{SIZES}\n\n{PLAN_EXAMPLES}\n\n{EXIT_CODES}"))]
    Plan(LookArgs),
    /// Measure what survives a compaction, by ways to compact, at equal sizes
    #[command(after_help = format!("{EVAL}\n\n{EVAL_EXAMPLES}\n\n{EXIT_CODES}"))]
    Eval(EvalArgs),
    /// Find again what was said in a thread, whatever was compacted
    #[command(after_help = format!("{THREADS}\n\n{RECALL_EXAMPLES}\n\n{EXIT_CODES}"))]
    Recall(RecallArgs),
    /// List, show and change threads in a store or behind a service
    #[command(
        after_help = format!("{THREADS}\n\n{THREAD_EXAMPLES}\n\n{EXIT_CODES}"),
        disable_help_subcommand = true
    )]
    Thread(ThreadArgs),
    /// Talk to an agent in the terminal; the conversation is kept as a thread
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(ChatArgs),
    /// Tools of MCP servers for agents, and threads for MCP clients
    #[command(after_help = MCP_EXAMPLES, disable_help_subcommand = true)]
    Mcp(McpArgs),
    /// Keep threads, compact them and run agents on them over HTTP
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Stand between clients and their provider, and compact on the way
    #[command(after_help = PROXY_EXAMPLES)]
    Proxy(ProxyArgs),
    /// Check a configuration file, or print one to begin with
    #[command(after_help = CONFIG_EXAMPLES, disable_help_subcommand = true)]
    Config(ConfigArgs),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell's
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print a page for man
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

/// `man`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// The page of this command, such as compact or config check [default: of the program]
    #[arg(value_name = "COMMAND", num_args = 0..)]
    pub(crate) command: Vec<String>,

    /// Write the pages of all commands into this directory instead
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

/// `config`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: ConfigCommand,
}

/// What is done about the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say what a file comes to in numbers, and what speaks against it
    Check(CheckArgs),
    /// Print a file to begin with: default, deerflow, langchain or nous
    Example {
        /// Whose
        #[arg(value_name = "PRESET", default_value = "default", value_parser = parse_preset)]
        preset: Preset,
    },
    /// Print the JSON Schema of the file, for editors and checks
    Schema,
}

/// `config check`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// The YAML file [default: what CONSPECTUS_CONFIG names, else none]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The model that conversations run on, by its name in the file's list models:
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_context: Option<u64>,

    /// Print one JSON document instead of a report
    #[arg(long)]
    pub(crate) json: bool,
}

/// `compact`.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("inputs", |files| files.required_unless_present("thread")))]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Instead of a file this thread, where it lives
    #[arg(
        long,
        value_name = "ID",
        help_heading = "Thread",
        conflicts_with_all = [
            "inputs", "latest", "format", "lenient", "out", "to", "overwrite", "quiet", "fallback"
        ]
    )]
    pub(crate) thread: Option<String>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// File, directory, or - for standard output [default: x.json -> x.compacted.json]
    #[arg(long, short, value_name = "PATH", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// In another form: openai (chat messages) or neutral (role and parts); logs need it
    #[arg(
        long,
        value_name = "FORM",
        help_heading = "Output",
        hide_possible_values = true
    )]
    pub(crate) to: Option<To>,

    /// Replace an existing output
    #[arg(long, help_heading = "Output")]
    pub(crate) overwrite: bool,

    /// Do everything but write and ask models; of a thread make a preview, for thread apply
    #[arg(long, short = 'n', help_heading = "Output")]
    pub(crate) dry_run: bool,

    /// Print one JSON document instead of a report
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// No report, advice or progress: only warnings and errors
    #[arg(long, short, help_heading = "Output", conflicts_with = "json")]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) summary: SummaryArgs,

    /// Whatever the triggers of the configuration say
    #[arg(long, help_heading = "Policy", conflicts_with_all = ["trigger", "if_due"])]
    pub(crate) force: bool,

    /// Only if a trigger is reached; of a thread its own or the service's
    #[arg(long, help_heading = "Policy")]
    pub(crate) if_due: bool,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// Who writes the summary, and how.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Summary")]
pub(crate) struct SummaryArgs {
    /// The model that the conversation runs on; it is asked for the summary too
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Another model for the summary; the one of --model is then the last to be asked
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,

    /// A model to ask when that fails; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) fallback: Vec<String>,

    /// auto, replay, transcript, or digest: an extract, no model is asked
    #[arg(long, value_name = "HOW", value_parser = parse_strategy)]
    pub(crate) strategy: Option<Strategy>,

    /// After every model failed: digest, unchanged or error
    #[arg(long, value_name = "WHAT", value_parser = parse_on_failure)]
    pub(crate) on_failure: Option<OnFailure>,

    /// What the model should pay attention to
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,

    /// Where they are [default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL, or their own]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// The API there: openai or anthropic [default: by name; with a URL openai]
    #[arg(long, value_name = "API", hide_possible_values = true)]
    pub(crate) provider: Option<Provider>,

    /// The variable with the key [default: the API's usual one; with a URL none]
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) api_key_env: Option<String>,
}

/// APIs of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    #[value(name = "openai")]
    OpenAi,
    Anthropic,
}

impl SummaryArgs {
    /// The first of the flags that say nothing unless a model is asked. `--model` is none: it also says the window.
    pub(crate) fn needs_model(&self) -> Option<&'static str> {
        let is_asking = |s| matches!(s, Strategy::Replay | Strategy::Transcript);
        let said = [
            (self.summary_model.is_some(), "--summary-model"),
            (!self.fallback.is_empty(), "--fallback"),
            (self.focus.is_some(), "--focus"),
            (self.strategy.is_some_and(is_asking), "--strategy"),
            (self.base_url.is_some(), "--base-url"),
            (self.provider.is_some(), "--provider"),
            (self.api_key_env.is_some(), "--api-key-env"),
        ];
        said.into_iter()
            .find_map(|(said, flag)| said.then_some(flag))
    }
}

/// `inspect` and `plan`.
#[derive(Debug, ClapArgs)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Only the conversation with this label, where a file holds several
    #[arg(long, value_name = "LABEL", help_heading = "Input")]
    pub(crate) conversation: Option<String>,

    /// Print one JSON document instead of a report
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// The model that the conversation runs on [default: the one that it names itself]
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// `eval`.
#[derive(Debug, ClapArgs)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// What may be left, in percent, joined by commas
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "5,10,25",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) budget: Vec<u32>,

    /// Beside one compaction also so many, one after the other
    #[arg(long, value_name = "N", default_value = "5", value_parser = rounds)]
    pub(crate) compactions: usize,

    /// Print one JSON document instead of a table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Write the figures as comma-separated values, too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,

    /// Draw them, too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,

    /// Replace files that are there
    #[arg(long, help_heading = "Output")]
    pub(crate) overwrite: bool,
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds @ 1..=100) => Ok(rounds),
        _ => Err("give a number from 1 to 100".to_owned()),
    }
}

/// What to read, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReadArgs {
    /// Files, directories, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "latest")]
    pub(crate) inputs: Vec<PathBuf>,

    /// Instead of a file the newest session of a program: claude (Claude Code) or codex
    #[arg(
        long,
        value_name = "PROGRAM",
        help_heading = "Input",
        conflicts_with = "inputs",
        hide_possible_values = true
    )]
    pub(crate) latest: Option<Program>,

    /// The name of the input's format, as inspect prints it [default: by content]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub(crate) format: Option<conspectus::Format>,

    /// Keep what cannot be understood as it is, instead of refusing the file
    #[arg(long, help_heading = "Input")]
    pub(crate) lenient: bool,
}

/// Forms that any conversation can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    #[value(name = "openai")]
    OpenAi,
    Neutral,
}

/// Programs whose sessions can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    Claude,
    Codex,
}

/// When, what stays, and how: over the configuration file where there is one.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// A YAML file with a section summarization:, else what CONSPECTUS_CONFIG names
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Whose defaults: default, deerflow, langchain or nous
    #[arg(long, value_name = "NAME", value_parser = parse_preset)]
    pub(crate) preset: Option<Preset>,

    /// Only if this is reached: tokens=4000, messages=50, fraction=0.8 (see below)
    #[arg(long, value_name = "SIZE", value_parser = parse_trigger)]
    pub(crate) trigger: Vec<TriggerArg>,

    /// What stays of the end: messages=20, tokens=3000 or fraction=0.1
    #[arg(long, value_name = "SIZE", value_parser = parse_keep)]
    pub(crate) keep: Option<KeepOption>,

    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_context: Option<u64>,

    /// Shorten tool results longer than this; 0 leaves all as they are
    #[arg(long, value_name = "CHARS")]
    pub(crate) prune_over: Option<u64>,

    /// Fold more than --keep allows, down to what the structure needs
    #[arg(long)]
    pub(crate) below_keep: bool,

    /// Do as the preset's original does, even where that loses something
    #[arg(long)]
    pub(crate) strict_parity: bool,
}
