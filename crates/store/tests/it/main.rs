//! What must hold for every store, and what for each of them.

mod chat;
mod contract;
mod kill;
mod postgres;
mod purge;
mod reload;
mod sqlite;
mod support;
mod threads;
mod trouble;
