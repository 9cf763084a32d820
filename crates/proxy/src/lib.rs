//! The drop-in proxy of Conspectus.
//!
//! A client's base URL is pointed at it; what it sends goes on to the upstream as it came, and the answer comes back as
//! it came, chunk for chunk. When a conversation grows towards the window of its model it is compacted on the way, by the
//! engine's own machines: the messages that go up are then a projection of those that came, the same one with every
//! request until the next compaction, so that the provider's cache keeps hitting.
//!
//! - [`Upstream`]: where requests go, from the configuration only.
//! - [`Settings`]: what else is said.
//! - [`Proxy`]: bound to an address, and run.
//!
//! Whatever goes wrong in here, the request goes on as it came: a compaction never makes a request fail that would have
//! succeeded. `docs/proxy.md` says what is done for which client.

mod answer;
mod api;
mod asked;
mod binding;
mod body;
mod book;
mod capsule;
mod conversation;
mod figures;
mod guard;
mod handle;
mod headers;
mod keeper;
mod lanes;
mod list;
mod note;
mod own_summary;
mod proxy;
mod rewrite;
mod scan;
mod sealed;
mod send;
mod settings;
mod strict;
mod sweep;
mod tee;
#[cfg(feature = "tracing")]
mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "untraced.rs"]
mod trace;
mod upstream;
mod waiting;
mod way;

pub use book::Room;
pub use proxy::Proxy;
pub use settings::{CapsuleKey, DEFAULT_LISTEN, Keep, Limits, Settings, SettingsError, Summaries};
pub use strict::{STRICT, Strict};
pub use upstream::{NameOf, Upstream, UpstreamError};
