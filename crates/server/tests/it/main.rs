//! The service as clients see it: a real server on a port of its own, asked over TCP.

mod changes;
mod compact;
mod documents;
mod events;
mod guard;
mod langgraph;
mod limits;
mod messages;
mod operation;
mod page;
mod runs;
mod stop;
mod support;
mod threads;
