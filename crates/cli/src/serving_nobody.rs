//! In place of [`serving`](crate::serving) in a program that was built without the service: says so.

use crate::Done;
use crate::args::ServeArgs;
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without the service; build it with: cargo install --path crates/cli --features serve";

/// Serves nobody.
pub(crate) fn run(_: &ServeArgs) -> Done {
    Err(Fail::about(Exit::Usage, "serve", BUILD))
}
