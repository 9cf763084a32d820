//! The test kit's own tests: what others lean on must hold by itself.

mod formats;
mod fuzz;
mod scenarios;
mod shapes;
mod simulations;
mod transcripts;
