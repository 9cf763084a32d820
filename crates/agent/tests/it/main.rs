//! Agents on stored threads, in virtual time, with models that say what they are told to.

mod compacting;
mod delegating;
mod docs;
mod long_run;
mod losses;
mod ownership;
mod running;
mod stopping;
mod world;
