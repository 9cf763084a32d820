//! What must hold for every store, and what for each of them.

mod contract;
mod crash;
mod postgres;
mod reload;
mod sqlite;
mod support;
