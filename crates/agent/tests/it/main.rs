//! Agents on stored threads, in virtual time, with models that say what they are told to.

mod compacting;
mod delegating;
mod long_run;
mod ownership;
mod running;
mod stopping;
mod world;
