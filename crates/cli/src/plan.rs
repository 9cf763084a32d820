//! `conspectus plan`: what would go and stay, and why.

use conspectus::{Conversation, Embedded, Outcome, UnitLine, compact, units};
use serde::Serialize;

use crate::Done;
use crate::fail::{Exit, Fail};
use crate::inspect::look;
use crate::job::LookJob;
use crate::read::Opened;
use crate::report::ConversationResult;
use crate::show;

/// One conversation.
#[derive(Debug, Serialize)]
pub(crate) struct Planned {
    /// Whether `compact` with the same options would change anything now. If no trigger is reached, the plan
    /// is the one for when it is.
    pub(crate) now: bool,
    /// What a compaction comes to.
    #[serde(flatten)]
    pub(crate) result: ConversationResult,
    /// Unit by unit.
    pub(crate) units: Vec<UnitLine>,
}

pub(crate) fn run(job: &LookJob) -> Done {
    look(job, "plan", &planned, &show::plan)
}

/// A compaction in memory says more than a bare plan: also what is shortened and what the summary takes.
fn planned(job: &LookJob, opened: &Opened, conversation: &Conversation) -> Result<Planned, Fail> {
    let mut request = job.policy.request(opened.document.format(), conversation)?;
    let once = |request: &_| {
        compact(conversation, request, &mut Embedded::default())
            .map_err(|error| Fail::new(Exit::Config, error))
    };
    let mut compaction = once(&request)?;
    let is_early = compaction.report.outcome == Outcome::Skipped;
    if is_early {
        request.only_if_triggered = false;
        compaction = once(&request)?;
    }
    Ok(Planned {
        now: !is_early && compaction.is_change(),
        units: units(conversation, &compaction),
        result: ConversationResult::of(conversation, &compaction),
    })
}
