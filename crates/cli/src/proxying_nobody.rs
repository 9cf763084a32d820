//! In place of [`proxying`](crate::proxying) in a program that was built without the proxy: says so.

use crate::Done;
use crate::args::ProxyArgs;
use crate::fail::{Exit, Fail};

/// How to build with it.
const BUILD: &str = "this program was built without the proxy; build it with: cargo install --path crates/cli --features proxy";

/// Passes nothing on.
pub(crate) fn run(_: &ProxyArgs) -> Done {
    Err(Fail::about(Exit::Usage, "proxy", BUILD))
}
