//! What can be typed. Nothing is done here; [`crate::job`] turns it into what is to be done.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use conspectus::core::policy::{KeepOption, Preset};
use conspectus_config::{TriggerArg, parse_keep, parse_preset, parse_trigger};

const SIZES: &str = "\
A trigger: sizes joined by commas must all be reached; of several --trigger any one is enough.
A fraction is one of the model's window, which --max-context tells.";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; also when there was nothing to do, which is then said
  2  wrong usage
  3  configuration error
  4  an input cannot be read
  5  an output cannot be written
  6  a compaction failed or was rejected
With several files the others are still done, and the highest code wins.";

const ABOUT: &str = "\
Keeps long conversations of LLM agents inside the model's context window.

Shortens oversized tool results, replaces the older part by a summary, and keeps what must not be lost:
the system prompt, the current request, whole pairs of call and result. Reads and writes OpenAI chat and
Responses, Anthropic, LangChain, Claude Code and Codex files, and finds out by itself which one a file is.";

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
  producer | conspectus compact - | consumer
      the report goes to standard error";

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

const CONFIG_EXAMPLES: &str = "\
Examples:
  conspectus config example > config.yaml
      every option at its default, explained
  conspectus config check config.yaml --max-context 128000
      what it comes to in numbers; exit code 3 if it cannot work
  conspectus config schema > config.schema.json";

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
    #[command(after_help = format!("{SIZES}\n\n{COMPACT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Compact(CompactArgs),
    /// Show where the tokens are, what is wrong, and what would fire
    #[command(after_help = format!("{SIZES}\n\n{INSPECT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Inspect(LookArgs),
    /// Show what would go and stay, and why, a line a unit
    #[command(after_help = format!("{SIZES}\n\n{PLAN_EXAMPLES}\n\n{EXIT_CODES}"))]
    Plan(LookArgs),
    /// Check a configuration file, or print one to begin with
    #[command(after_help = CONFIG_EXAMPLES, disable_help_subcommand = true)]
    Config(ConfigArgs),
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
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// File, directory, or - for standard output [default: x.json -> x.compacted.json]
    #[arg(long, short, value_name = "PATH", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Replace an existing output
    #[arg(long, help_heading = "Output")]
    pub(crate) overwrite: bool,

    /// Do everything but write
    #[arg(long, short = 'n', help_heading = "Output")]
    pub(crate) dry_run: bool,

    /// Print one JSON document instead of a report
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
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

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
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

    /// openai, anthropic, langchain, claude, responses or codex [default: by content]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub(crate) format: Option<conspectus::Format>,

    /// Keep what cannot be understood as it is, instead of refusing the file
    #[arg(long, help_heading = "Input")]
    pub(crate) lenient: bool,
}

/// Programs whose sessions can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    Claude,
    Codex,
}

/// When, what stays, and how: over the configuration file where there is one.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// A YAML file with a section summarization:, else what CONSPECTUS_CONFIG names
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The model that the conversation runs on, by its name in the file's list models:
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

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
