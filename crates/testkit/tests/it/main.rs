//! The test kit's own tests: what others lean on must hold by itself.

mod campaign;
mod compactor;
mod documents;
mod end_to_end;
mod formats;
mod fuzz;
mod invariants;
mod replay;
mod scenarios;
mod shapes;
mod simulations;
mod telemetry;
#[cfg(feature = "tracing")]
mod traces;
mod transcripts;
