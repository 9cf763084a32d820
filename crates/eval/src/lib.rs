//! What survives a compaction, measured without a model: the same definitions as the shared evaluation
//! (`data/tools/retention_eval.py`), over parts of conversations. Pure: no files, no clock, no network.

pub mod answers;
pub mod baseline;
pub mod bounds;
pub mod entity;
pub mod forward;
pub mod part;
pub mod words;

pub use answers::{Answers, Question, Questions};
pub use baseline::{keep_last, mask_results};
pub use bounds::{oracle, random_lines};
pub use entity::{Kind, entities, occurs, recall};
pub use forward::{Later, later};
pub use part::{Part, PartKind, groups, render, tokens};
pub use words::{normal, user_words};
