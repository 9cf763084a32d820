//! What survives a compaction, measured without a model: the same definitions as the shared evaluation
//! (`data/tools/retention_eval.py`), over parts of conversations. Pure: no files, no clock, no network.
//!
//! A [`Session`] is cut into [`Case`]s; a [`Method`] compacts what lies before the cut; the case says how much of what
//! is needed behind it survived.

pub mod answers;
pub mod baseline;
pub mod bounds;
pub mod case;
pub mod chart;
pub mod counter;
pub mod digested;
pub mod entity;
pub mod forward;
pub mod method;
pub mod part;
pub mod session;
pub mod tally;
pub mod words;

pub use answers::{Answers, Question, Questions};
pub use baseline::{keep_last, mask_results};
pub use bounds::oracle;
pub use case::{Case, Score};
pub use chart::chart;
pub use counter::EvalCounter;
pub use digested::Digested;
pub use entity::{Kind, entities, occurs, recall};
pub use forward::{Later, later};
pub use method::{Method, size};
pub use part::{Part, PartKind, groups, render, tokens};
pub use session::Session;
pub use tally::{Cell, Means, Measured, Tally};
pub use words::{normal, user_words};
