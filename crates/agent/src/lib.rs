//! The agent runtime: a lead agent, subagents and the middlewares around them, over stored threads.
//!
//! The state of a run is the stored thread: all that was said is there before the model is asked again, so a run that is
//! killed goes on where it was. Compaction is the engine's ([`conspectus`]); this crate asks for it before every model
//! call, with the model that the run executes with, and captures before it what no summary may lose.
//!
//! | to | take |
//! |---|---|
//! | begin, watch, join, stop and resume runs | [`Runs`], made of a [`Setup`] |
//! | hear what happens | [`Events`], [`RunEvent`] |
//! | say what an agent is | [`Profile`], [`Subagent`], [`Limits`] |
//! | give it tools | [`Tool`], [`tools`] |
//! | change what happens around its model and tools | [`Middleware`], [`Stack`] |
//! | know what outlives a summary | [`channel`] |
//!
//! There is no runtime in here: time is the threads' clock, and [`Setup::spawn`] begins tasks. With Tokio that is
//! `Arc::new(|task| { tokio::spawn(task); })`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use conspectus::AgentModels;
//! use conspectus::store::ThreadKey;
//! use conspectus_agent::channel::skill::Reads;
//! use conspectus_agent::{AgentError, Profile, RunEnd, Runs, Setup, Skills, StartRun, Store};
//! use serde_json::json;
//!
//! async fn ask(threads: Arc<Store>, models: AgentModels) -> Result<RunEnd, AgentError> {
//!     let runs = Runs::new(Setup {
//!         threads,
//!         models,
//!         lead: Profile::lead("You mend boilers.", &Reads::default()),
//!         agents: Vec::new(),
//!         subagents: Vec::new(),
//!         max_parallel_subagents: 3,
//!         workspaces: None,
//!         skills: Skills::none(),
//!         spawn: Arc::new(|task| drop(task)),
//!     });
//!     let key = ThreadKey::new("ann", "boiler-7");
//!     let start = StartRun {
//!         run_id: "run-1".into(),
//!         input: vec![json!({"type": "human", "content": "Turn the valve a little."})],
//!         ..StartRun::default()
//!     };
//!     let mut events = runs.start(&key, start).await?;
//!     while let Some(told) = events.next().await {
//!         println!("{}: {:?}", told.seq, told.event);
//!     }
//!     runs.join(&key, "run-1").await
//! }
//! ```

mod agent;
mod cancel;
pub mod channel;
mod context;
mod error;
mod event;
mod limits;
mod message;
pub mod middleware;
mod run;
mod runs;
mod skills;
mod stack;
mod state;
mod text;
mod tool;
pub mod tools;
mod wait;
mod workspace;

pub use agent::{Profile, Setup, Spawn, Subagent};
pub use cancel::{Cancel, Why};
pub use context::{Role, RunContext, Store};
pub use error::AgentError;
pub use event::{EventLog, Events, Question, RunEvent, Told};
pub use limits::Limits;
pub use message::{Called, Kind, Message};
pub use middleware::{Hooked, Middleware, ModelRequest, NextModel, NextTool, Shown};
pub use runs::{ResumeRun, RunEnd, RunState, Runs, StartRun};
pub use skills::{Listed, Skills};
pub use stack::Stack;
pub use state::{State, Update};
pub use tool::{Tool, ToolCall, ToolOutcome, ToolResult, Tools};
pub use workspace::{MOUNT, Workspace};
