//! The command line of Conspectus: compacts conversations in files, looks into them, and says what a
//! compaction would do.
//!
//! What was typed ([`args`]) becomes what is to be done ([`job`]); a command does it and hands back plain
//! values ([`compact`], [`inspect`], [`plan`]); these are shown ([`show`]) or printed as JSON.

#[cfg(feature = "threads")]
mod agents;
mod args;
mod asked;
#[cfg(feature = "models")]
mod asking;
#[cfg(not(feature = "models"))]
#[path = "asking_nobody.rs"]
mod asking;
mod atomic;
#[cfg(feature = "threads")]
mod chat;
#[cfg(not(feature = "threads"))]
#[path = "chat_nobody.rs"]
mod chat;
mod check;
mod compact;
mod eval;
mod fail;
mod inputs;
mod inspect;
mod job;
mod latest;
#[cfg(feature = "threads")]
mod mcp;
#[cfg(not(feature = "threads"))]
#[path = "mcp_nobody.rs"]
mod mcp;
mod models;
mod pages;
mod plan;
#[cfg(feature = "proxy")]
mod proxying;
#[cfg(not(feature = "proxy"))]
#[path = "proxying_nobody.rs"]
mod proxying;
mod read;
mod report;
mod round;
#[cfg(feature = "serve")]
mod serving;
#[cfg(not(feature = "serve"))]
#[path = "serving_nobody.rs"]
mod serving;
mod show;
mod target;
#[cfg(feature = "threads")]
mod threads;
#[cfg(not(feature = "threads"))]
#[path = "threads_nobody.rs"]
mod threads;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Command};
use crate::fail::{Exit, Fail};

fn main() -> ExitCode {
    fail::quiet_panics();
    let args = Args::parse();
    let done = match args.command {
        Command::Compact(args) if args.thread.is_some() => threads::compact(args),
        Command::Recall(args) => threads::recall(&args),
        Command::Thread(args) => threads::run(args.what),
        Command::Compact(args) => job::compact(args).and_then(|job| compact::run(&job)),
        Command::Inspect(args) => job::look(args).and_then(|job| inspect::run(&job)),
        Command::Plan(args) => job::look(args).and_then(|job| plan::run(&job)),
        Command::Eval(args) => job::eval(args).and_then(|job| eval::run(&job)),
        Command::Chat(args) => chat::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Serve(args) => serving::run(&args),
        Command::Proxy(args) => proxying::run(&args),
        Command::Config(args) => check::run(args.what),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man(args) => pages::man(&args),
    };
    let exit = done.unwrap_or_else(|fail| {
        // Who closed our output wants no more of it, and no complaint.
        if fail.is_broken_pipe() {
            return Exit::Done;
        }
        ui::error(&fail.message());
        fail.exit
    });
    ExitCode::from(exit.code())
}

/// What a command comes to.
type Done = Result<Exit, Fail>;
