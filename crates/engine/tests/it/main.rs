//! The library from outside.

mod cost_docs;
