//! Conversation compaction for LLM agents.
//!
//! Conspectus keeps a long conversation inside the model's context window without losing the thread: it
//! shortens oversized tool results for free, replaces the older part by a summary when that is not enough,
//! and keeps by code what must survive: the system prompt, the current request, pins, pending calls, whole
//! units of call and answer.
//!
//! # A conversation in a file
//!
//! ```
//! use conspectus::{CompactRequest, Document, Embedded, OpenOptions, Options, compact};
//!
//! let long = "tea and more tea. ".repeat(400);
//! let file = format!(
//!     r#"[{{"role":"user","content":"Make tea. {long}"}},{{"role":"assistant","content":"Done. {long}"}},
//!        {{"role":"user","content":"And coffee?"}}]"#
//! );
//! let document = Document::open(file.into_bytes(), &OpenOptions::default())?;
//! let request = CompactRequest::command(Options::default());
//! let compaction = compact(&document.conversations()[0], &request, &mut Embedded::default())?;
//!
//! assert_eq!(compaction.report.outcome.as_str(), "compacted");
//! let smaller = document.render(&[(0, &compaction.projection())], &Default::default())?;
//! assert!(String::from_utf8(smaller)?.contains("And coffee?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A model that writes the summary
//!
//! Without one the summary is the digest, made by code. A model is a method of a [`Host`] and a
//! [`Route`](core::effect::Route) that says what it takes. Whatever it answers is judged before it counts;
//! when it fails for good, the digest takes its place unless the options say otherwise.
//!
//! ```
//! use conspectus::core::effect::{
//!     Failure, Finish, Millis, Reply, Route, SummaryInput, SummaryRequest,
//! };
//! use conspectus::{CompactRequest, Document, Host, OpenOptions, Options, compact};
//!
//! struct MyModel;
//!
//! impl Host for MyModel {
//!     fn call(&mut self, ask: &SummaryRequest, _: &Route, _: Millis) -> Result<Reply, Failure> {
//!         let SummaryInput::Transcript { system, document } = &ask.input else {
//!             return Err(Failure::Unusable { message: "takes transcripts only".into() });
//!         };
//!         // Send both to a model here, and ask for at most `ask.max_output_tokens`.
//!         assert!(!system.is_empty() && document.contains("Make tea."));
//!         let text = "The user had tea made, which was done.".into();
//!         Ok(Reply { text, finish: Finish::Stop, usage: None })
//!     }
//! }
//!
//! # let long = "tea and more tea. ".repeat(400);
//! # let file = format!(
//! #     r#"[{{"role":"user","content":"Make tea. {long}"}},{{"role":"assistant","content":"Done. {long}"}},
//! #        {{"role":"user","content":"And coffee?"}}]"#
//! # );
//! # let document = Document::open(file.into_bytes(), &OpenOptions::default())?;
//! let mut request = CompactRequest::command(Options::default());
//! request.manual.routes = vec![Route {
//!     model: Some("my-model".into()),
//!     replay: false,
//!     max_input: 100_000,
//!     max_output: 4_000,
//!     takes_schema: false,
//! }];
//! let compaction = compact(&document.conversations()[0], &request, &mut MyModel)?;
//! assert_eq!(compaction.summary(), Some("The user had tea made, which was done."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where calls should not block, and those of one attempt should run side by side, a model is a [`ChatModel`],
//! [`Models`] says which name means which, and a [`Compactor`] runs attempts under any runtime, or none:
//!
//! ```
//! use std::sync::Arc;
//!
//! use conspectus::core::effect::{Failure, Finish, Reply};
//! use conspectus::{
//!     Alone, Boxed, ChatModel, Clock, CompactRequest, Compaction, Compactor, Control, Conversation, Error,
//!     ModelCall, Models,
//! };
//!
//! struct MyModel;
//!
//! impl ChatModel for MyModel {
//!     fn call<'a>(
//!         &'a self,
//!         call: ModelCall,
//!         alive: &'a (dyn Fn() + Send + Sync),
//!     ) -> Boxed<'a, Result<Reply, Failure>> {
//!         Box::pin(async move {
//!             // Send `call.prompt` to a model here, and end within `call.timeout_ms`.
//!             alive();
//!             Ok(Reply { text: "The user had tea made.".into(), finish: Finish::Stop, usage: None })
//!         })
//!     }
//! }
//!
//! /// `clock`: the runtime's time; `request.manual.routes` names the models to ask, in order.
//! async fn with_my_model(
//!     conversation: &Conversation,
//!     request: &CompactRequest,
//!     clock: impl Clock,
//! ) -> Result<Compaction, Error> {
//!     let models = Models::new().with::<String>("my-model", Ok(Arc::new(MyModel)));
//!     Compactor::new(models, clock).compact(conversation, request, &Alone, &Control::new()).await
//! }
//! ```
//!
//! The crate `conspectus-providers` has models over HTTP, and a clock of tokio's.
//!
//! With [`Replaying`] around it, a conversation that is a request is sent to its own model once more, byte for byte,
//! where that is the better way: nearly all of it is in the provider's cache then.
//!
//! # A conversation that goes on
//!
//! Keep a [`Thread`]: append what arrives, ask [`Thread::before_call`] before each model call, run what it
//! starts with [`drive`] or [`Compactor::run`], and send [`Thread::projection`]. The core knows no clock and no
//! network: a [`Host`], or [`Surroundings`] beside a [`Compactor`], is what performs. [`open_thread`] fills a
//! thread from a file; the guide of [`core`] builds one by hand.
//!
//! # Where to read on
//!
//! | to learn | read |
//! |---|---|
//! | how a compaction can end, and why | [`Outcome`], [`Reason`], [`Report`] |
//! | what would go and stay | [`units`](units()), [`stays`], [`Thread::preview`] |
//! | where the tokens of a conversation are | [`inspect`](inspect()) |
//! | what a model's window and prices are | [`catalog`] |
//! | what a compaction costs and saves | [`Economics`] |
//! | how an attempt under way is stopped | [`Control`] |
//! | how a thread is shared with an attempt | [`Home`], [`Shared`] |
//! | what can be done with threads in a store | [`threads`], [`store`] |
//! | what an agent asks its model | [`AgentModel`], [`TurnRequest`] |
//! | who is told of compactions | [`telemetry`] |
//! | which files can be opened | [`Format`], [`wire`] |

pub mod catalog;
mod clock;
mod compact;
mod compactor;
mod control;
mod cost;
mod drive;
mod home;
mod inspect;
mod jobs;
mod model;
mod partials;
mod perform;
pub mod purge;
mod replaying;
mod shortened;
pub mod store;
pub mod telemetry;
pub mod terms;
mod text;
pub mod threads;
mod turn;
mod units;

pub use clock::Clock;
pub use compact::{CompactRequest, Compaction, Error, OpenThread, Prepared, compact, open_thread};
pub use compactor::{Alone, Compactor, Surroundings};
pub use conspectus_core as core;
pub use conspectus_core::count::TokenCounter;
pub use conspectus_core::outcome::{Measured, Moment, Outcome, Reason, Report};
pub use conspectus_core::policy::{ModelProfile, Options, Policy, Preset};
pub use conspectus_core::projection::Projection;
pub use conspectus_core::thread::{Decision, Manual, Sources, Thread};
pub use conspectus_tokens as tokens;
pub use conspectus_wire as wire;
pub use conspectus_wire::{
    Conversation, Document, Format, OpenOptions, ReadError, RenderContext, WriteError,
};
pub use control::Control;
pub use cost::{Both, Economics};
pub use drive::{Embedded, Host, drive};
pub use home::{Home, Shared};
pub use inspect::{Inspection, LargeMessage, LargeResult, Share, TriggerState, inspect};
pub use model::{About, Boxed, ChatModel, Meter, ModelCall, Models, Prompt};
pub use partials::Partials;
pub use perform::{Performed, ended, perform};
pub use replaying::Replaying;
pub use shortened::{Shortened, shortened};
pub use turn::{AgentModel, AgentModels, Delta, ToolSpec, Turn, TurnCall, TurnRequest};
pub use units::{StayShare, UnitLine, stays, units};

/// The code of the project's first page compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
