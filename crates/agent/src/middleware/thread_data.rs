//! A folder for each thread, which subagents share with the agent that they work for.

use super::{Hooked, Middleware};
use crate::context::{Role, RunContext};
use crate::error::AgentError;
use crate::state::{State, Update};
use crate::workspace::Workspace;

/// Makes the workspace of the thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadData;

impl Middleware for ThreadData {
    fn name(&self) -> &'static str {
        "thread_data"
    }

    fn before_agent<'a>(&'a self, cx: &'a RunContext, _: &'a State) -> Hooked<'a> {
        Box::pin(async move {
            let key = match &cx.role {
                Role::Lead => &cx.key,
                Role::Subagent { parent, .. } => parent,
            };
            let Some(folder) = cx.core.workspace(key) else {
                return Ok(Update::none());
            };
            let space = Workspace::open(&folder).map_err(|why| AgentError::Middleware {
                who: self.name().into(),
                what: format!("the workspace cannot be made: {why}").into(),
            })?;
            let _ = cx.workspace.set(space);
            Ok(Update::none())
        })
    }
}
