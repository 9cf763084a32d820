//! The tools of agents: files in a workspace, delegated work, what was said before.

mod files;
mod recall;
mod search;
mod task;

pub use files::{ListDir, ReadFile, WriteFile};
pub use recall::Recall;
pub use search::Search;
pub use task::Task;
pub(crate) use task::{Named, key as subagent_key};

use std::path::PathBuf;

use crate::context::RunContext;

/// Where a path of a call leads to read: into the skills, else into the workspace.
fn readable(cx: &RunContext, path: &str) -> Result<PathBuf, String> {
    match cx.skills().resolve(path) {
        Some(found) => found,
        None => writable(cx, path),
    }
}

/// Where a path of a call leads to write.
fn writable(cx: &RunContext, path: &str) -> Result<PathBuf, String> {
    let space = cx.workspace().ok_or("this agent has no workspace")?;
    space.resolve(path)
}
