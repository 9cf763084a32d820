//! The pure core of Conspectus: everything that decides, and nothing that performs. No I/O, no clock, no
//! randomness, no async. Programs mostly depend on the package `conspectus`, which opens files, drives the
//! machines and re-exports this crate; come here to build a surface or a driver of your own, or to change
//! what is decided.
//!
//! # Three shapes
//!
//! - **A message is a view.** [`MessageView`](view::MessageView) holds facts: role, parts with kind and
//!   length, a digest, and a [`Handle`](id::Handle), the surface's own name for its payload. Text is asked
//!   for on demand through [`Texts`](view::Texts), so the core never owns the bytes.
//! - **A compaction is a record.** [`Record`](record::Record) says what was folded and shortened and holds
//!   the summary. It is appended; messages are never edited. Undo, redo and branching move a pointer.
//! - **A request is a projection.** [`Projection`](projection::Projection) is an edit script over handles,
//!   a pure function of history and record: keep this, patch that part, insert this block. Its frozen
//!   beginning stays the same between two compactions, so a provider's prefix cache stays valid.
//!
//! # Two machines
//!
//! [`Thread`](thread::Thread) is one conversation. [`Thread::before_call`](thread::Thread::before_call)
//! says *send*, *start this attempt* or *wait*. [`Attempt`](attempt::Attempt) is one compaction: prune,
//! summarise, accept, hooks, archive, commit. It performs nothing: [`poll`](attempt::Attempt::poll) gives an
//! [`Effect`](effect::Effect), the driver performs it and tells what happened by
//! [`feed`](attempt::Attempt::feed). Both are values: they can be cloned, hashed, and replayed from a log of
//! what they were told. A rule that stands in a driver is a bug.
//!
//! # A compaction by hand
//!
//! A surface first. This one holds strings; `conspectus-wire` does the same over the bytes of a request.
//!
//! ```
//! use std::borrow::Cow;
//! use std::sync::Arc;
//!
//! use conspectus_core::attempt::Poll;
//! use conspectus_core::count::Estimator;
//! use conspectus_core::effect::{CommitAck, Effect, Input};
//! use conspectus_core::id::{Handle, Ident};
//! use conspectus_core::outcome::Outcome;
//! use conspectus_core::policy::{Clause, ModelProfile, Options, Policy, TriggerOption};
//! use conspectus_core::projection::{BlockKind, Piece};
//! use conspectus_core::thread::{Decision, Sources, Thread};
//! use conspectus_core::view::{MessageView, Part, PartKind, PartRef, Role, Texts};
//!
//! #[derive(Default)]
//! struct Memory(Vec<String>);
//!
//! impl Memory {
//!     fn say(&mut self, role: Role, text: String) -> MessageView {
//!         let handle = Handle(self.0.len() as u32);
//!         let parts = vec![Part::new(PartKind::Text, text.len())];
//!         let ident = Ident::of(&format!("{role:?} {text}"));
//!         self.0.push(text);
//!         MessageView::new(handle, role, parts, ident)
//!     }
//! }
//!
//! impl Texts for Memory {
//!     fn text(&self, at: PartRef) -> Cow<'_, str> {
//!         Cow::Borrowed(&self.0[at.message.0 as usize])
//!     }
//!     fn json(&self, _: PartRef) -> Option<Cow<'_, str>> {
//!         None
//!     }
//! }
//!
//! // Options become numbers in one place.
//! let at_2000 = Clause { tokens: Some(2_000), ..Clause::default() };
//! let options = Options { trigger: TriggerOption::Any(vec![at_2000]), ..Options::default() };
//! let policy = Policy::resolve(&options, &ModelProfile::default())?.policy;
//!
//! // A conversation grows.
//! let mut memory = Memory::default();
//! let mut views = vec![memory.say(Role::System, "You tend a garden.".into())];
//! for day in 1..=40 {
//!     let report = format!("Day {day}: bed {day} has {} weeds and wants water. ", day * 3);
//!     views.push(memory.say(Role::User, report.repeat(4)));
//!     views.push(memory.say(Role::Assistant, format!("Bed {day} is weeded and watered.")));
//! }
//! views.push(memory.say(Role::User, "What is left to do?".into()));
//! let src = Sources { texts: &memory, counter: &Estimator };
//! let mut thread = Thread::new(Arc::new(policy));
//! thread.append(views, src);
//!
//! // Before the next call of the model: is there something to do? No models to ask: `&[]`, so the
//! // summary is the digest.
//! let now = 0;
//! let Decision::Start(mut attempt, _mode) = thread.before_call(now, &[], src) else {
//!     panic!("the trigger is reached");
//! };
//!
//! // The driver: perform what is asked, feed what happened.
//! let report = loop {
//!     let input = match attempt.poll(now, src) {
//!         Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
//!         Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
//!         Poll::Do(Effect::Commit(record, expect)) => {
//!             let ack = thread.commit(&record, expect, src);
//!             assert!(matches!(ack, CommitAck::Ok(_)));
//!             Input::Committed(ack)
//!         }
//!         Poll::Do(Effect::Emit(_) | Effect::WakeAt(_)) => continue,
//!         Poll::Do(other) => unreachable!("without a model, {other:?} is not asked for"),
//!         Poll::Idle => unreachable!("everything was answered at once"),
//!         Poll::Done(report) => break *report,
//!     };
//!     attempt.feed(now, input, src);
//! };
//! thread.ended(attempt.id(), report.outcome, now);
//! assert_eq!(report.outcome, Outcome::Compacted);
//! assert!(report.measured.tokens_after.is_some_and(|after| after < 2_000));
//!
//! // What is sent now: the system prompt, the summary, the end.
//! let request = thread.projection();
//! let is_summary = |piece: &&Piece| {
//!     matches!(piece, Piece::Insert(block) if block.kind == BlockKind::Summary)
//! };
//! assert_eq!(request.pieces().next(), Some(&Piece::Keep(Handle(0))));
//! assert_eq!(request.pieces().filter(is_summary).count(), 1);
//! assert_eq!(request.pieces().last(), Some(&Piece::Keep(Handle(81))));
//!
//! // The history still holds all of it.
//! assert_eq!(thread.branch().len(), 82);
//! thread.undo(src);
//! assert!(thread.projection().is_untouched());
//! # Ok::<(), conspectus_core::policy::PolicyError>(())
//! ```
//!
//! A real driver also answers [`Effect::Call`](effect::Effect::Call) with a model's reply, waits at
//! [`Poll::Idle`](attempt::Poll::Idle), and writes to a store. The blocking one is `drive` in the package
//! `conspectus`; the async one there is `Compactor`.
//!
//! # Where to read on
//!
//! | to learn | read |
//! |---|---|
//! | what stays, and why | [`plan::Stay`], [`plan`] |
//! | how a call and its answers are found and kept together | [`mod@unit`] |
//! | what is shortened, and how | [`prune`], [`patch`] |
//! | how options become numbers | [`policy`] |
//! | how tokens are counted, and a counter of one's own | [`count`] |
//! | how the summary without a model is made | [`digest`], [`ledger`] |
//! | what code keeps beside every summary | [`durable`], [`ledger::Rules`], [`frame`] |
//! | how a model is asked, and when its reply counts | [`summary`], [`effect::Refusal`], [`summary::Fidelity`] |
//! | how secrets are taken out | [`redact`] |
//! | what it costs, and when that is even | [`mod@cost`] |
//! | how it can end | [`outcome::Outcome`], [`outcome::Reason`] |
//! | whether a request is in legal order | [`validity`] |

pub mod attempt;
pub mod cost;
pub mod count;
pub mod digest;
pub mod durable;
pub mod effect;
pub mod frame;
pub mod history;
pub mod id;
pub mod json;
pub mod ledger;
pub mod listed;
pub mod outcome;
pub mod parity;
pub mod patch;
pub mod plan;
#[doc(hidden)]
pub mod planted;
pub mod policy;
pub mod project;
pub mod projection;
pub mod prune;
pub mod ranges;
mod reasoning;
pub mod recall;
pub mod record;
pub mod redact;
pub mod summary;
pub mod thread;
pub mod unit;
pub mod validity;
pub mod view;
pub mod way;
pub mod window;

#[cfg(test)]
mod lines;
#[cfg(test)]
mod memory;
