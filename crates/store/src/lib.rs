//! Threads that survive: the stores behind [`conspectus::store::ThreadStore`].
//!
//! | store | for | feature |
//! |---|---|---|
//! | [`MemoryStore`] | tests, and hosts that keep nothing | |
//! | [`SqliteStore`] | one machine: one file of mode 0600, nothing to install | `sqlite` |
//! | [`PostgresStore`] | many instances of a service on one database | `postgres` |
//!
//! All pass one contract suite (`tests/it/contract.rs`). The two databases share their tables and statements, so they
//! also behave alike where the contract is silent.
//!
//! ```
//! use conspectus::store::{ThreadKey, ThreadStore};
//! use conspectus_store::MemoryStore;
//!
//! # async fn run() -> Result<(), conspectus::store::StoreError> {
//! let store = MemoryStore::default();
//! let key = ThreadKey::new("tenant", "thread");
//! assert!(store.create(&key, "", 0).await?);
//! assert_eq!(store.head(&key).await?.expect("just created").nodes, 0);
//! # Ok(())
//! # }
//! ```
//!
//! What is promised, the tables, search, purging, versions and backup are in `docs/store.md`.

mod common;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod schema;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod statements;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod threads;
#[cfg(feature = "sqlite")]
mod worker;

pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use sql::{Failpoint, STEPS};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};

#[cfg(all(doctest, feature = "sqlite", feature = "postgres"))]
#[doc = include_str!("../../../docs/store.md")]
struct Guide;
