//! In place of [`threads`](crate::threads) in a program that was built without a store: says so.

use crate::Done;
use crate::args::{CompactArgs, RecallArgs, ThreadCommand};
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without threads; build it with: cargo install --path crates/cli --features threads";

/// `thread`, of which there is none.
pub(crate) fn run(_: ThreadCommand) -> Done {
    Err(Fail::about(Exit::Usage, "thread", BUILD))
}

/// `compact --thread`, of which there is none.
pub(crate) fn compact(_: CompactArgs) -> Done {
    Err(Fail::about(Exit::Usage, "--thread", BUILD))
}

/// `recall`, which finds nothing.
pub(crate) fn recall(_: &RecallArgs) -> Done {
    Err(Fail::about(Exit::Usage, "recall", BUILD))
}
