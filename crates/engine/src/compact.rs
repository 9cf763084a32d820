//! One conversation of a document, compacted.

use std::sync::Arc;

use conspectus_core::attempt::Attempt;
use conspectus_core::count::{TokenCounter, counter_for};
use conspectus_core::effect::Millis;
use conspectus_core::outcome::{Outcome, Report};
use conspectus_core::plan::Plan;
use conspectus_core::policy::{
    ModelProfile, Options, Policy, PolicyError, PolicyWarning, TriggerOption,
};
use conspectus_core::projection::Projection;
use conspectus_core::thread::{Decision, Fixed, Manual, Size, Sources, Thread};
use conspectus_wire::Conversation;

use crate::drive::{Host, drive};

/// What is asked for.
#[derive(Clone)]
pub struct CompactRequest {
    /// The options.
    pub options: Options,
    /// The model that the conversation runs on.
    pub model: ModelProfile,
    /// A counter of one's own; `None`: what the policy says.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// Only if a trigger is reached.
    pub only_if_triggered: bool,
    /// What the command adds.
    pub manual: Manual,
    /// The command itself switches compaction on where the options do not say, as with a preset that is off
    /// unless told. Options that say `enabled: false` still win.
    pub enable: bool,
}

impl CompactRequest {
    /// A person's command: a trigger among the options is a check, without one none is needed.
    pub fn command(options: Options) -> Self {
        let only_if_triggered =
            matches!(options.trigger, TriggerOption::Any(_) | TriggerOption::Auto);
        Self {
            options,
            model: ModelProfile::default(),
            counter: None,
            only_if_triggered,
            manual: Manual::default(),
            enable: false,
        }
    }
}

/// Why nothing could be tried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The options cannot work.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// What a compaction came to.
pub struct Compaction {
    /// How it ended.
    pub report: Report,
    /// The conversation with its record.
    pub thread: Thread,
    /// What went and stayed.
    pub plan: Plan,
    /// What the policy's owner should be told.
    pub warnings: Vec<PolicyWarning>,
    /// What counted.
    pub counter: Arc<dyn TokenCounter>,
    /// The size before.
    pub size: Size,
}

impl Compaction {
    /// The request that would be sent now.
    pub fn projection(&self) -> Projection {
        self.thread.projection()
    }

    /// The summary in force.
    pub fn summary(&self) -> Option<&str> {
        self.thread
            .active()?
            .summary
            .as_ref()
            .map(|s| s.text.as_ref())
    }

    /// Whether anything changed.
    pub fn is_change(&self) -> bool {
        matches!(self.report.outcome, Outcome::Compacted | Outcome::Pruned)
            || self.thread.active().is_some()
    }
}

/// A thread that holds a conversation, with what its policy asks for.
pub struct OpenThread {
    /// The thread.
    pub thread: Thread,
    /// The counter of its policy, or the request's own.
    pub counter: Arc<dyn TokenCounter>,
    /// What the policy's owner should be told.
    pub warnings: Vec<PolicyWarning>,
}

/// Fills a thread with a conversation.
///
/// # Errors
/// When the options cannot work.
pub fn open_thread(
    conversation: &Conversation,
    request: &CompactRequest,
) -> Result<OpenThread, Error> {
    let mut resolved = Policy::resolve(&request.options, &request.model)?;
    if request.enable && request.options.enabled.is_none() {
        resolved.policy.enabled = true;
    }
    resolved.policy.binds_reasoning |= conversation.binds_reasoning();
    let counter = request
        .counter
        .clone()
        .unwrap_or_else(|| counter_for(resolved.policy.counter));
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let mut thread = Thread::new(Arc::new(resolved.policy));
    let fixed = conversation.fixed();
    thread.set_fixed(Fixed::of(
        [fixed.system.as_str(), fixed.tools.as_str()],
        src.counter,
    ));
    thread.append(conversation.views().iter().cloned(), src);
    Ok(OpenThread {
        thread,
        counter,
        warnings: resolved.warnings,
    })
}

/// Compacts a conversation. Whatever happens, the conversation itself is untouched: the result is a projection.
///
/// # Errors
/// When the options cannot work. Everything that happens later is an outcome in the report.
pub fn compact(
    conversation: &Conversation,
    request: &CompactRequest,
    host: &mut dyn Host,
) -> Result<Compaction, Error> {
    let Prepared {
        mut thread,
        opened,
        begun,
    } = Opened::begin(conversation, request, host.now())?;
    let counter = opened.counter.clone();
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let report = match begun {
        Ok(attempt) => drive(&mut thread, *attempt, src, host),
        Err(report) => report,
    };
    Ok(opened.end(thread, report))
}

/// The attempt to run, or the report of a check that begins none.
pub(crate) type Begun = Result<Box<Attempt>, Report>;

/// A compaction that is decided and not begun: what would go is known, and nobody was asked.
pub struct Prepared {
    pub(crate) thread: Thread,
    pub(crate) opened: Opened,
    pub(crate) begun: Begun,
}

impl Prepared {
    /// What goes and stays.
    pub fn plan(&self) -> &Plan {
        &self.opened.plan
    }

    /// The size before.
    pub fn size(&self) -> &Size {
        &self.opened.size
    }

    /// What the options came to.
    pub fn policy(&self) -> &Policy {
        self.thread.policy()
    }

    /// Tokens of what goes, before anything is shortened.
    pub fn folded_tokens(&self) -> u64 {
        let branch = self.thread.branch();
        let going = self.opened.plan.going();
        let weight = going.map(|at| branch.weight(at, at + 1)).sum();
        self.opened.counter.tokens(weight)
    }
}

/// A compaction that is about to run, by whichever driver: what is known beside its thread.
pub(crate) struct Opened {
    pub(crate) counter: Arc<dyn TokenCounter>,
    warnings: Vec<PolicyWarning>,
    plan: Plan,
    size: Size,
}

impl Opened {
    /// The thread with its attempt, or why there is none.
    pub(crate) fn begin(
        conversation: &Conversation,
        request: &CompactRequest,
        now: Millis,
    ) -> Result<Prepared, Error> {
        let OpenThread {
            mut thread,
            counter,
            warnings,
        } = open_thread(conversation, request)?;
        let src = Sources {
            texts: conversation,
            counter: counter.as_ref(),
        };
        let manual = Manual {
            force: !request.only_if_triggered,
            ..request.manual.clone()
        };
        let plan = thread.preview(&manual, src);
        let size = thread.size(src);
        let begun = match thread.manual(now, &manual, src) {
            Decision::Start(attempt, _) => Ok(attempt),
            Decision::Send(report) => Err(report),
            Decision::Wait(_) => unreachable!("a new thread has no attempt under way"),
        };
        let opened = Self {
            counter,
            warnings,
            plan,
            size,
        };
        Ok(Prepared {
            thread,
            opened,
            begun,
        })
    }

    /// What it came to.
    pub(crate) fn end(self, thread: Thread, report: Report) -> Compaction {
        Compaction {
            report,
            thread,
            plan: self.plan,
            warnings: self.warnings,
            counter: self.counter,
            size: self.size,
        }
    }
}
