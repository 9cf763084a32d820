//! Everything that can be done with stored threads, once: for the service, the command line, the proxy and the agent.
//!
//! [`Threads`] knows no HTTP, no runtime and no SQL. Its ports are the [`ThreadStore`], the [`Compactor`] and its
//! [`Clock`]. One file is one thing that can be done:
//!
//! | to | call |
//! |---|---|
//! | make, look at, find, change, remove threads | [`create`](Threads::create), [`get`](Threads::get), [`list`](Threads::list), [`patch`](Threads::patch), [`delete`](Threads::delete) |
//! | add messages, keep one for good or no more | [`append`](Threads::append), [`pin`](Threads::pin), [`unpin`](Threads::unpin) |
//! | read a state, and those before it | [`state`](Threads::state), [`history`](Threads::history) |
//! | show people everything | [`visible`](Threads::visible) |
//! | know what the model would be sent | [`request`](Threads::request), [`request_in_parts`](Threads::request_in_parts) |
//! | keep in step with a list that a client keeps | [`mirror`](Threads::mirror) |
//! | compact, or see what that would do | [`compact`](Threads::compact), [`apply`](Threads::apply) |
//! | take back, put back, branch off | [`undo`](Threads::undo), [`redo`](Threads::redo), [`branch`](Threads::branch), [`rewind`](Threads::rewind) |
//! | run on one, as an agent does | [`hold`](Threads::hold), [`before_call`](Threads::before_call), [`compact_under`](Threads::compact_under), [`note`](Threads::note) |
//! | find what was folded | [`recall`](Threads::recall) |
//! | know where a thread stands | [`status`](Threads::status), [`log`](Threads::log), [`attempts`](Threads::attempts), [`events`](Threads::events), [`subscribe`](Threads::subscribe) |
//! | see how full it is, and how it came there | [`gauge`](Threads::gauge), [`curve`](Threads::curve), [`tree`](Threads::tree), [`registries`](Threads::registries) |
//! | carry it elsewhere | [`export`](Threads::export), [`import`](Threads::import) |
//! | take something out for good | [`purge`](Threads::purge), [`expire`](Threads::expire) |
//!
//! ```
//! use conspectus::Clock;
//! use conspectus::store::ThreadKey;
//! use conspectus::threads::{Append, CompactThread, CreateThread, Json, Threads, ThreadsError};
//!
//! async fn a_thread(threads: &Threads<impl Clock>) -> Result<(), ThreadsError> {
//!     let key = ThreadKey::new("ann", "boiler-7");
//!     threads.create(&key, CreateThread::default()).await?;
//!     let said = r#"{"type": "human", "content": "Turn the valve a little."}"#;
//!     let messages = vec![Json::parse(said).expect("it is JSON")];
//!     threads.append(&key, &Append { messages, ..Append::default() }).await?;
//!     let compacted = threads.compact(&key, &CompactThread::default()).await?;
//!     assert_eq!(compacted.outcome.as_str(), "nothing_to_compact");
//!     Ok(())
//! }
//! ```
//!
//! Whatever changes a thread is one write, compared with the revision that was read, and tried again where somebody else
//! was faster. Times in threads are the clock's, so it must show milliseconds since 1970 and agree between processes
//! that share a store.

mod append;
mod attempt;
mod attempts;
mod branch;
mod changes;
mod checkpoint;
mod compact;
mod curve;
mod error;
mod events;
mod export;
mod gauge;
mod halves;
mod home;
mod info;
mod journal;
mod json;
mod kept;
mod lease;
mod log;
mod message;
mod meta;
mod mirror;
mod moves;
mod note;
mod open;
mod outdated;
mod overlay;
mod parts;
mod pin;
mod preview;
mod purge;
mod recall;
mod registries;
mod request;
mod settings;
mod shelf;
mod skills;
mod state;
mod status;
mod tree;
mod turns;
mod values;
mod visible;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conspectus_core::effect::Millis;

pub use append::{Append, Appended, check_messages};
pub use attempts::{Attempted, PassedOver};
pub use changes::{Changed, Changes};
pub use checkpoint::CheckpointId;
pub use compact::{BeforeFold, CompactThread, Compacted, Folding};
pub use curve::{Curve, CurveMark, CurvePoint};
pub use error::ThreadsError;
pub use events::{Subscription, ThreadEvent, Told};
pub use gauge::Gauge;
pub use halves::to_value;
pub use info::{
    CreateThread, IfExists, ListThreads, PatchThread, SortBy, ThreadInfo, ThreadStatus,
};
pub use json::Json;
pub use kept::KeptOpen;
pub use lease::Held;
pub use log::LogEntry;
pub use meta::{LastAttempt, Metadata, Origin, RunsOn};
pub use mirror::{ClientList, InStep, Mirror, Mirrored};
pub use moves::{Moved, Place};
pub use note::{Note, RunMark, RunStatus};
pub use outdated::{About, Later};
pub use parts::{CachedPrefix, PartKind, RequestInParts, RequestPart};
pub use purge::{Purge, Purged};
pub use recall::{Recall, Recalled};
pub use registries::{ListedFile, ListedPin, ListedRule, Registries};
pub use request::{BeforeCall, Request};
pub use settings::{RunModel, Settings};
pub use state::{Cause, ThreadState};
pub use status::{
    BreakerReport, BudgetReport, NextTrigger, SavedReport, ThreadStatusReport, WindowReport,
};
pub use tree::{HeadRow, Segment, Tree};
pub use values::Values;
pub use visible::{Fold, Page, Visible, VisibleMessage};

use crate::clock::Clock;
use crate::compactor::Compactor;
use crate::store::ThreadStore;
use crate::telemetry::traced;
use events::Bells;

/// Threads in a store.
pub struct Threads<C> {
    store: Arc<dyn ThreadStore>,
    compactor: Arc<Compactor<C>>,
    settings: Settings,
    bells: Arc<Bells>,
    /// Leases asked for so far: each has a holder of its own.
    leases: AtomicU64,
    kept: Arc<KeptOpen>,
}

impl<C: Clock> Threads<C> {
    /// How often a write is made again because somebody else was faster.
    const TRIES: u32 = 50;

    /// Threads in this store. The compactor's models carry the names of [`Settings::models`].
    pub fn new(
        store: Arc<dyn ThreadStore>,
        compactor: Arc<Compactor<C>>,
        settings: Settings,
    ) -> Self {
        Self {
            store: traced(store),
            compactor,
            settings,
            bells: Arc::default(),
            leases: AtomicU64::new(0),
            kept: Arc::new(KeptOpen::new(KeptOpen::ROOM_BYTES)),
        }
    }

    /// Threads stay open between two requests within this room, instead of one of [`KeptOpen::ROOM_BYTES`].
    #[must_use]
    pub fn keeping_open(mut self, kept: Arc<KeptOpen>) -> Self {
        self.kept = kept;
        self
    }

    /// What they run with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What runs attempts.
    pub fn compactor(&self) -> &Arc<Compactor<C>> {
        &self.compactor
    }

    /// The time.
    pub fn now(&self) -> Millis {
        self.compactor.clock().now()
    }

    pub(crate) fn store(&self) -> &dyn ThreadStore {
        self.store.as_ref()
    }

    pub(crate) fn bells(&self) -> &Arc<Bells> {
        &self.bells
    }

    pub(crate) fn kept_open(&self) -> &KeptOpen {
        &self.kept
    }

    /// A name for a lease that nobody else has.
    pub(crate) fn holder(&self) -> String {
        let nth = self.leases.fetch_add(1, Ordering::Relaxed);
        format!("{}/{nth}", self.settings.instance)
    }
}
