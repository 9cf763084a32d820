//! What can be typed about threads: where they are, and what is done about them.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

pub(super) const RECALL_EXAMPLES: &str = "\
Examples:
  conspectus recall --thread demo flight number
  conspectus recall --thread demo --id msg-3f0a --before 2 --after 2";

pub(super) const THREAD_EXAMPLES: &str = "\
Examples:
  conspectus thread import session.jsonl --id demo
      a conversation of any format that is read, or what export wrote
  conspectus thread ls
  conspectus compact --thread demo
  conspectus thread log demo
  conspectus thread undo demo
  conspectus thread show demo --server http://127.0.0.1:7437
      the same of a running service; its token is in CONSPECTUS_TOKEN";

pub(super) const THREADS: &str = "\
Where: --store names a file (sqlite:PATH); without it the one of the configuration's section server:, else the
user's own, which serve uses too. --server names a running service instead. Needs a program built with the
feature threads (docs/cli.md).";

/// Where threads are.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Thread")]
pub(crate) struct PlaceArgs {
    /// The store: sqlite:PATH or postgres://… [default: as serve]
    #[arg(long, value_name = "STORE", conflicts_with = "server")]
    pub(crate) store: Option<String>,

    /// Whose threads they are; a service knows it by the token [default: default]
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    pub(crate) tenant: Option<String>,

    /// A running service instead of a store
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,

    /// The file with the service's token [default: the variable CONSPECTUS_TOKEN]
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
}

impl PlaceArgs {
    /// The first of the flags that was given.
    pub(crate) fn said(&self) -> Option<&'static str> {
        let said = [
            (self.store.is_some(), "--store"),
            (self.tenant.is_some(), "--tenant"),
            (self.server.is_some(), "--server"),
        ];
        said.into_iter()
            .find_map(|(said, flag)| said.then_some(flag))
    }
}

/// What every command on threads takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// A YAML file with sections server:, models: and summarization:, else what CONSPECTUS_CONFIG names
    #[arg(
        long,
        short,
        value_name = "FILE",
        help_heading = "Thread",
        conflicts_with = "server"
    )]
    pub(crate) config: Option<PathBuf>,

    /// Print one JSON document instead of a report
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// `thread`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ThreadArgs {
    #[command(subcommand)]
    pub(crate) what: ThreadCommand,
}

/// What is done about threads.
#[derive(Debug, Subcommand)]
pub(crate) enum ThreadCommand {
    /// List threads
    Ls {
        /// Only those in whose title or id this stands
        #[arg(value_name = "TEXT")]
        text: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Those behind this id
        #[arg(long, value_name = "ID")]
        after: Option<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Show where a thread stands, and its newest messages
    Show {
        #[command(flatten)]
        thread: OfThread,
        /// At most so many messages
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// The newest of those before this place
        #[arg(long, value_name = "PLACE")]
        before: Option<u64>,
        /// Also what was folded
        #[arg(long)]
        all: bool,
    },
    /// Print what the model would be sent now, as a list of LangChain messages
    Request(OfThread),
    /// Show its compactions: what went, what it cost, what it saved
    Log {
        #[command(flatten)]
        thread: OfThread,
        /// The newest so many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Whole summaries
        #[arg(long)]
        summaries: bool,
    },
    /// Make an empty thread
    New {
        #[command(flatten)]
        thread: OfThread,
        /// Its title
        #[arg(long)]
        title: Option<String>,
        /// A JSON file with options of its own, as in the section summarization:
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Make a thread of what export wrote, or of any conversation that is read
    Import {
        #[command(flatten)]
        from: FromFile,
        /// The thread's id [default: the export's, or by the file's name]
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        /// Its title
        #[arg(long)]
        title: Option<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Add the messages of a file
    Append {
        /// The thread
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        from: FromFile,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Write a thread with everything of it as JSON lines
    Export {
        #[command(flatten)]
        thread: OfThread,
        /// File, or - for standard output
        #[arg(
            long,
            short,
            value_name = "PATH",
            default_value = "-",
            help_heading = "Output"
        )]
        out: PathBuf,
        /// Replace an existing file
        #[arg(long, help_heading = "Output")]
        overwrite: bool,
    },
    /// Put in force what compact --dry-run made, without asking a model again
    Apply {
        #[command(flatten)]
        thread: OfThread,
        /// The preview's name, as the dry run told it
        #[arg(value_name = "PREVIEW")]
        preview: String,
    },
    /// Take the compaction in force back
    Undo(OfThread),
    /// Put the compaction that was taken back last in force again
    Redo(OfThread),
    /// Make a thread that goes on from a place in this one
    Branch {
        #[command(flatten)]
        thread: OfThread,
        /// The new thread's id
        #[arg(value_name = "NEW")]
        to: String,
        /// Behind the message with this id, or at this checkpoint [default: the newest]
        #[arg(long, value_name = "PLACE")]
        at: Option<String>,
        /// The new thread's title
        #[arg(long)]
        title: Option<String>,
    },
    /// Remove threads with everything of them
    Rm {
        /// The threads
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Take a message or a text out for good, everywhere: it cannot be undone
    #[command(group = clap::ArgGroup::new("out").required(true))]
    Purge {
        #[command(flatten)]
        thread: OfThread,
        /// The message with this id
        #[arg(long, value_name = "MESSAGE", group = "out")]
        message: Option<String>,
        /// The text in this file, or on standard input for -
        #[arg(long, value_name = "FILE", group = "out")]
        secret_in: Option<PathBuf>,
    },
}

/// A thread by its id.
#[derive(Debug, ClapArgs)]
pub(crate) struct OfThread {
    /// The thread
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// A file with messages.
#[derive(Debug, ClapArgs)]
pub(crate) struct FromFile {
    /// File, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The name of its format, as inspect prints it [default: by content]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub(crate) format: Option<conspectus::Format>,

    /// The conversation with this label, where a file holds several
    #[arg(long, value_name = "LABEL", help_heading = "Input")]
    pub(crate) conversation: Option<String>,
}

/// `recall`.
#[derive(Debug, ClapArgs)]
pub(crate) struct RecallArgs {
    /// Words that stand in what is looked for
    #[arg(
        value_name = "WORDS",
        required_unless_present_any = ["id", "reference"],
        conflicts_with_all = ["id", "reference"]
    )]
    pub(crate) query: Vec<String>,

    /// In this thread
    #[arg(long, value_name = "ID", help_heading = "Thread")]
    pub(crate) thread: String,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "id")]
    pub(crate) limit: u32,

    /// Only what a compaction folded
    #[arg(long, conflicts_with = "id")]
    pub(crate) folded: bool,

    /// Instead of words one message, by its id
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) id: Option<String>,

    /// Instead of words the reference that stands in the marker of what was shortened, cx-…
    #[arg(long, value_name = "REFERENCE", conflicts_with_all = ["id", "limit", "folded"])]
    pub(crate) reference: Option<String>,

    /// So many messages before it too
    #[arg(long, value_name = "N", default_value_t = 0, requires = "id")]
    pub(crate) before: u32,

    /// So many messages behind it too
    #[arg(long, value_name = "N", default_value_t = 0, requires = "id")]
    pub(crate) after: u32,

    /// Messages in full
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
