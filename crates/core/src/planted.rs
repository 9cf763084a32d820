//! Bugs planted one at a time, to show that the properties and the campaign would find them.
//!
//! Only with the feature `planted`, which nothing turns on by default: without it `planted` is `false` for
//! every bug and the compiler takes the branches out. With it a bug is planted for the current thread alone.

macro_rules! bugs {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal;)+) => {
        /// A bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Bug {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Bug {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

bugs! {
    /// A call stays and its answer goes, or the other way round.
    CutInsideUnit "cut inside a unit";
    /// Planner and commit overlook pins.
    LostPin "lost pin";
    /// The planner overlooks the newest request.
    CurrentRequestDropped "current request dropped";
    /// The last two messages of the frozen part change places.
    SwappedOrder "swapped order";
    /// The summary stands in the request twice.
    SummaryTwice "summary shown twice";
    /// A call that was never answered gets no stand-in.
    StandInMissing "stand-in missing";
    /// Answers to no call are sent.
    OrphanKept "orphan kept";
    /// Messages that came while an attempt ran are not shown after its commit.
    LateMessageLost "late message lost at commit";
    /// A report of usage from before the record still anchors the size.
    StaleUsage "stale usage anchor";
    /// What reports taught is added to a count without a bound.
    UnboundedOffset "unbounded offset";
    /// Answers that are not sent are counted.
    UnsentCounted "unsent answers counted";
    /// What was pruned is pruned again.
    PruneAgain "pruned again";
    /// Pruning leaves twice the limit.
    PruneOverLimit "pruned over the limit";
    /// The last unit that goes is not shown to the summariser.
    CoverageHole "coverage hole";
    /// Chunks are larger than the summariser's input.
    ChunkTooLarge "chunks too large";
    /// A summary need not be smaller than what it replaces.
    GainUnchecked "gain not checked";
    /// A blank reply is a summary.
    BlankAccepted "blank summary accepted";
    /// The summary can close its frame.
    OpenFrame "open frame";
    /// That nothing arrived since the last compaction is forgotten.
    NeverSettled "never settled";
    /// A lost acknowledgement counts as a failure.
    AckForgotten "lost acknowledgement not looked up";
    /// Secrets are shown to the summariser.
    SecretShown "secret shown to the summariser";
    /// The oldest rule of the user that was folded does not stand beside the summary.
    RuleLost "standing rule lost";
    /// A report of nothing takes the place of the one before.
    EmptyReport "report of nothing counted";
}

#[cfg(feature = "planted")]
std::thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug for the current thread, instead of the one before; `None` takes it out.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether the bug is planted.
#[cfg(feature = "planted")]
pub(crate) fn planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Whether the bug is planted: never.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub(crate) const fn planted(_: Bug) -> bool {
    false
}
