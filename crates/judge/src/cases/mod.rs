//! The public bug reports of `cases/`, run through the engine: one case in, one trace out.
//!
//! Nothing here knows a case or what it expects. A case's messages become a file in their own format, its
//! settings a configuration file, its steps calls of a [`Thread`](conspectus_core::thread::Thread); the trace
//! tells what the thread's state and the rendered bytes then are.

mod counter;
mod crash;
mod disk;
mod generate;
mod json;
mod proxied;
mod run;
mod session;
mod settings;
mod surface;
pub mod trace;
mod world;

pub use crash::DIES;
pub use json::Json;
pub use proxied::Http;
pub use run::{die, run};
