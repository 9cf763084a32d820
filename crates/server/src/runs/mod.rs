//! Runs of agents, as LangGraph's clients ask for them and read them. What a run does is the agent's business
//! ([`conspectus_agent`]); here it becomes their words.

mod begun;
mod modes;
mod shown;
mod tell;

pub(crate) use begun::Begun;
pub(crate) use modes::Modes;
pub(crate) use shown::{Interrupt, Run, Where, ended, interrupts, shown};
pub(crate) use tell::{Out, Teller};
