//! The test kit's own tests: what others lean on must hold by itself.

mod scenarios;
mod shapes;
mod transcripts;
