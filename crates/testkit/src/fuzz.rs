//! What fuzzing checks: one function a target, any bytes in, a panic when something does not hold.
//!
//! The programs in `fuzz/` hand them what the fuzzer finds; `tests/it/fuzz.rs` runs the same functions over the
//! committed corpus and over [`mutated`] copies of it, so that they also hold on every commit.

mod answer;
mod config;
mod formats;
mod frame;
mod mutated;
mod splice;

pub use answer::answer;
pub use config::config;
pub use formats::{
    anthropic, claude, cline, copilot, detect, gemini, gemini_cli, goose, inspect, langchain,
    neutral, openai, openhands, pi, swe_agent,
};
pub use frame::frame_target;
pub use mutated::mutated;
pub use splice::splice;

/// A target: its name, which is also that of its corpus, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 19] = [
    ("openai", openai),
    ("anthropic", anthropic),
    ("langchain", langchain),
    ("claude", claude),
    ("gemini", gemini),
    ("gemini_cli", gemini_cli),
    ("copilot", copilot),
    ("cline", cline),
    ("pi", pi),
    ("openhands", openhands),
    ("swe_agent", swe_agent),
    ("inspect", inspect),
    ("goose", goose),
    ("neutral", neutral),
    ("detect", detect),
    ("splice", splice),
    ("config", config),
    ("frame", frame_target),
    ("answer", answer),
];

/// Nothing larger is tried: size has tests of its own.
const MAX_BYTES: usize = 1 << 20;

/// A value that no message may repeat.
const SECRET: &str = "sk-Zx81fuzzsecretfuzzsecret99";
