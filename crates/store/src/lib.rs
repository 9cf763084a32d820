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
//! # What is stored
//!
//! Messages as bytes (once a thread for equal ones) with what the core knows of them, records, the log of heads, one
//! state a thread, events, partial results, keys of repeated writes, leases; `tenant` leads every key, and deleting a
//! thread deletes its rows in every table. What learnt limits say belongs to a tenant.
//!
//! Bytes are shared within a thread, not within a tenant: a tenant-wide table would need counted references, and a
//! count that is wrong once loses a message. There is no table of checkpoints: a record holds the ledger and the
//! ranges it folds, the state holds the rest, so the record in force *is* the checkpoint, also after an undo.
//!
//! # Why rusqlite and tokio-postgres
//!
//! They and sqlx cannot share a build, since both link SQLite. Without default features and with what we need (SQLite
//! compiled in, a statement cache, PostgreSQL on tokio), rusqlite 0.43 with tokio-postgres 0.7 asks for half the
//! packages: `cargo tree` names at most 79 against the 157 of sqlx 0.9 with `sqlite`, `postgres` and `runtime-tokio`. Both
//! compile the same C file. What we would use of sqlx (pool, migrations) is some fifty lines here, and it hands SQLite
//! to a thread of its own just as `worker.rs` does, behind a runtime that the embedded store then needs too. Clean
//! builds were begun on a machine that was too busy to finish them: CPU times are still to be measured.

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
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{Failpoint, SqliteOptions, SqliteStore};
