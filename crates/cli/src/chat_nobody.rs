//! In place of [`chat`](crate::chat) in a program that was built without threads: says so.

use crate::Done;
use crate::args::ChatArgs;
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without threads; build it with: cargo install --path crates/cli --features threads";

/// Nobody answers.
pub(crate) fn run(_: &ChatArgs) -> Done {
    Err(Fail::about(Exit::Usage, "chat", BUILD))
}
