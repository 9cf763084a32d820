//! In place of [`mcp`](crate::mcp) in a program that was built without threads: says so.

use crate::Done;
use crate::args::McpArgs;
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without threads; build it with: cargo install --path crates/cli --features threads";

/// Nobody answers.
pub(crate) fn run(_: &McpArgs) -> Done {
    Err(Fail::about(Exit::Usage, "mcp", BUILD))
}
