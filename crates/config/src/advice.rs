//! Advice: what can be done, and is usually done differently. Nothing here is an error; only what applies is said.
//!
//! The ranges and the three problems with their answers are deer-flow's, from the document that its
//! configuration comes with.

use std::fmt;
use std::sync::Arc;

use conspectus_core::policy::{
    At, Clause, DefaultKeep, KeepOption, ModelProfile, Options, Policy, Preset, Strategy,
    TriggerOption, Unit, WindowSource,
};

use crate::error::Place;
use crate::models::Model;
use crate::place::Places;

/// Whole percents of the window at which a trigger is recommended.
const TRIGGER_PERCENT: (u64, u64) = (60, 80);
/// Messages at which a trigger is recommended.
const TRIGGER_MESSAGES: (u64, u64) = (50, 100);
/// What is recommended to keep.
const KEEP_MESSAGES: (u64, u64) = (15, 25);
const KEEP_TOKENS: (u64, u64) = (2_000, 4_000);
const KEEP_FRACTION: (f64, f64) = (0.2, 0.4);
/// A call that is given more than this is slow.
const LONG_CALL: u64 = 16_000;
/// A summary of less than this loses most of what it is about.
const SMALL_SUMMARY: u64 = 256;
/// Messages of less than this on average are short.
const SHORT_MESSAGE: u64 = 200;

/// One piece of advice and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The option that it is about.
    pub place: Place,
    /// What is advised.
    pub tip: Tip,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.tip)
    }
}

/// One of the three problems that people report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// Summaries lose what matters.
    LosesContext,
    /// Calls of the summariser take too long, or come too often.
    Slow,
    /// The model's limit is reached all the same.
    StillTooLong,
}

/// What is advised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Tip {
    /// A trigger fires when most of the window is still free.
    #[error(
        "fires at {percent}% of the window of {window} tokens; {low} to {high} tokens (60–80%) are usual, and each compaction costs the prefix cache"
    )]
    EarlyTrigger {
        /// Its share of the window.
        percent: u64,
        /// The window.
        window: u64,
        /// 60% of it.
        low: u64,
        /// 80% of it.
        high: u64,
    },
    /// A trigger counts few or many messages.
    #[error("fires at {messages} messages; 50–100 are usual, depending on how long they are")]
    TriggerMessages {
        /// The messages.
        messages: u64,
    },
    /// Few or many messages are kept.
    #[error("keeps {messages} messages; 15–25 are usual")]
    KeepMessages {
        /// The messages.
        messages: u64,
    },
    /// Few or many tokens are kept.
    #[error("keeps {tokens} tokens; 2,000–4,000 are usual")]
    KeepTokens {
        /// The tokens.
        tokens: u64,
    },
    /// A small or large share is kept.
    #[error("keeps {fraction} of the window; 0.2–0.4 is usual")]
    KeepFraction {
        /// The share.
        fraction: f64,
    },
    /// The summariser sees only the end of what is folded: `strict_parity` does as the peers.
    #[error(
        "summaries may lose context: the summariser is given at most {trim} tokens of the {folded} or so that are folded, and strict_parity does not make further calls; raise it, leave strict_parity out, or fire earlier"
    )]
    TrimLoses {
        /// What it is given.
        trim: u64,
        /// What is folded.
        folded: u64,
    },
    /// A summary of a few words.
    #[error(
        "summaries may lose context: {tokens} tokens hold a few sentences; raise it, keep more messages, fire earlier, or say in summary_prompt what matters most"
    )]
    SmallSummary {
        /// The cap.
        tokens: u64,
    },
    /// Little stays and it is long until the next summary.
    #[error(
        "summaries may lose context: little is kept and all else waits until {percent}% of the window; raise keep, fire earlier, say in summary_prompt what matters most, or take a more capable model for summaries"
    )]
    LateAndLittle {
        /// The trigger's share of the window.
        percent: u64,
    },
    /// A call that is given very much.
    #[error(
        "summaries may take long: one call is given {}; set it to 4000 or so, the rest goes to further calls at the same time, or take a faster model for summaries",
        match .trim { Some(n) => format!("up to {n} tokens"), None => "as much as its window takes".to_owned() }
    )]
    LongCalls {
        /// The cap, if there is one.
        trim: Option<u64>,
    },
    /// Compactions that follow on each other.
    #[error(
        "summaries may come often: {keep} of {trigger} {unit} stay each time, so the trigger is soon reached again; keep at most half, or raise the trigger"
    )]
    Often {
        /// What is kept.
        keep: u64,
        /// The trigger.
        trigger: u64,
        /// The unit of both.
        unit: Unit,
    },
    /// A trigger close to the limit.
    #[error(
        "the limit may still be reached: it fires at {percent}% of the window of {window} tokens, which leaves little room for the reply and the next results; lower it to {low}–{high} tokens (60–80%)"
    )]
    LateTrigger {
        /// Its share of the window.
        percent: u64,
        /// The window.
        window: u64,
        /// 60% of it.
        low: u64,
        /// 80% of it.
        high: u64,
    },
    /// Only messages are counted.
    #[error(
        "the limit may still be reached: a few large messages fill the window before there are {messages}; add {{fraction: 0.8}} or {{tokens: …}} as another trigger"
    )]
    OnlyMessages {
        /// The messages.
        messages: u64,
    },
    /// What is kept alone is likely to be over the trigger.
    #[error(
        "the limit may still be reached: {messages} messages stay whatever their size, and the trigger leaves {each} tokens for each; keep fewer, or set prune: true so that very large results are shortened"
    )]
    LargeMessages {
        /// What is kept.
        messages: u64,
        /// The trigger, divided by them.
        each: u64,
    },
    /// Another model is sent the conversation.
    #[error(
        "{model}{} is sent what is folded, tool results included; leave it out and summaries are written by the model that the conversation runs on",
        place.as_ref().map_or(String::new(), |place| format!(" at {place}"))
    )]
    SentElsewhere {
        /// The model.
        model: Arc<str>,
        /// Its address or provider, where the list of models says.
        place: Option<Arc<str>>,
    },
}

impl Tip {
    /// The problem that it answers, if it is one of the three.
    pub fn symptom(&self) -> Option<Symptom> {
        match self {
            Tip::TrimLoses { .. } | Tip::SmallSummary { .. } | Tip::LateAndLittle { .. } => {
                Some(Symptom::LosesContext)
            }
            Tip::LongCalls { .. } | Tip::Often { .. } => Some(Symptom::Slow),
            Tip::LateTrigger { .. } | Tip::OnlyMessages { .. } | Tip::LargeMessages { .. } => {
                Some(Symptom::StillTooLong)
            }
            _ => None,
        }
    }
}

/// What applies to a policy that is on. Only what was said is judged, never a default.
pub(crate) fn advise(
    options: &Options,
    policy: &Policy,
    run: &ModelProfile,
    models: &[Model],
    places: &Places,
) -> Vec<Advice> {
    if !policy.enabled {
        return Vec::new();
    }
    let mut adviser = Adviser {
        options,
        policy,
        places,
        all: Vec::new(),
    };
    adviser.triggers();
    adviser.keep();
    adviser.both();
    adviser.summaries();
    adviser.elsewhere(run, models);
    adviser.all
}

struct Adviser<'a> {
    options: &'a Options,
    policy: &'a Policy,
    places: &'a Places,
    all: Vec<Advice>,
}

impl Adviser<'_> {
    fn say(&mut self, at: At, tip: Tip) {
        let place = self.places.find(at);
        self.all.push(Advice { place, tip });
    }

    fn clauses(&self) -> &[Clause] {
        match &self.options.trigger {
            TriggerOption::Any(clauses) => clauses,
            _ => &[],
        }
    }

    /// The window, where it was not just assumed.
    fn window(&self) -> Option<u64> {
        let window = self.policy.window;
        (self.policy.window_source != WindowSource::Assumed && window > 0).then_some(window)
    }

    fn percent(&self, tokens: u64) -> Option<u64> {
        let window = self.window()?;
        u64::try_from(u128::from(tokens) * 100 / u128::from(window)).ok()
    }

    fn triggers(&mut self) {
        let clauses = self.clauses().to_vec();
        for (index, clause) in clauses.iter().enumerate() {
            let at = |unit| At {
                option: "trigger",
                clause: Some(index),
                unit: Some(unit),
            };
            let Some(threshold) = self.policy.triggers.get(index).copied() else {
                continue;
            };
            match (threshold.tokens, threshold.messages) {
                (Some(tokens), None) => {
                    let unit = match clause.tokens {
                        Some(_) => Unit::Tokens,
                        None => Unit::Fraction,
                    };
                    self.share(at(unit), tokens);
                }
                (None, Some(messages)) if is_outside(messages, TRIGGER_MESSAGES) => {
                    self.say(at(Unit::Messages), Tip::TriggerMessages { messages });
                }
                _ => {}
            }
        }
        let messages = self.policy.triggers.iter().filter_map(|t| t.messages).min();
        if let Some(messages) = messages
            && !clauses.is_empty()
            && self.policy.trigger_tokens().is_none()
        {
            self.say(At::option("trigger"), Tip::OnlyMessages { messages });
        }
    }

    fn share(&mut self, at: At, tokens: u64) {
        let (Some(window), Some(percent)) = (self.window(), self.percent(tokens)) else {
            return;
        };
        let part = |percent| {
            u64::try_from(u128::from(window) * u128::from(percent) / 100).unwrap_or(window)
        };
        let (low, high) = (part(TRIGGER_PERCENT.0), part(TRIGGER_PERCENT.1));
        if tokens < low {
            self.say(
                at,
                Tip::EarlyTrigger {
                    percent,
                    window,
                    low,
                    high,
                },
            );
        } else if tokens > high {
            self.say(
                at,
                Tip::LateTrigger {
                    percent,
                    window,
                    low,
                    high,
                },
            );
        }
    }

    fn keep(&mut self) {
        let at = |unit| At {
            unit: Some(unit),
            ..At::option("keep")
        };
        let default = self.options.preset.values().keep;
        match self.options.keep {
            // A preset's own figure is no surprise to who chose the preset.
            Some(KeepOption::Messages(n)) if default == DefaultKeep::Messages(n) => {}
            Some(KeepOption::Messages(messages)) if is_outside(messages, KEEP_MESSAGES) => {
                self.say(at(Unit::Messages), Tip::KeepMessages { messages });
            }
            Some(KeepOption::Tokens(tokens)) if is_outside(tokens, KEEP_TOKENS) => {
                self.say(at(Unit::Tokens), Tip::KeepTokens { tokens });
            }
            Some(KeepOption::Fraction(fraction))
                if fraction < KEEP_FRACTION.0 || fraction > KEEP_FRACTION.1 =>
            {
                self.say(at(Unit::Fraction), Tip::KeepFraction { fraction });
            }
            _ => {}
        }
    }

    /// What trigger and keep come to together.
    fn both(&mut self) {
        use conspectus_core::policy::Keep;
        let asked = self.options.keep.is_some() && !self.clauses().is_empty();
        if !asked {
            return;
        }
        let tokens = self.policy.trigger_tokens();
        let messages = self.policy.triggers.iter().filter_map(|t| t.messages).min();
        let at = At::option("keep");
        match (self.policy.keep, tokens, messages) {
            (Keep::Tokens(keep), Some(trigger), _) if is_most(keep, trigger) => {
                let unit = Unit::Tokens;
                self.say(
                    at,
                    Tip::Often {
                        keep,
                        trigger,
                        unit,
                    },
                );
            }
            (Keep::Messages(keep), _, Some(trigger)) if is_most(keep, trigger) => {
                let unit = Unit::Messages;
                self.say(
                    at,
                    Tip::Often {
                        keep,
                        trigger,
                        unit,
                    },
                );
            }
            _ => {}
        }
        if let (Keep::Messages(messages), Some(trigger), None) =
            (self.policy.keep, tokens, self.policy.prune)
            && messages > 0
            && trigger / messages < SHORT_MESSAGE
        {
            let each = trigger / messages;
            self.say(at, Tip::LargeMessages { messages, each });
        }
        let little = match self.policy.keep {
            Keep::Messages(n) => n < KEEP_MESSAGES.0,
            Keep::Tokens(n) => n < KEEP_TOKENS.0,
            Keep::Auto => false,
        };
        if let Some(percent) = tokens.and_then(|tokens| self.percent(tokens))
            && percent > TRIGGER_PERCENT.1
            && little
        {
            self.say(at, Tip::LateAndLittle { percent });
        }
    }

    fn summaries(&mut self) {
        let summary = &self.policy.summary;
        if summary.strategy == Strategy::Digest {
            return;
        }
        let (trim, cap) = (summary.trim_tokens.tokens(), summary.max_tokens);
        let at = At::option("trim_tokens_to_summarize");
        // Replay sends what is in the cache already, and a preset's own figure is no surprise.
        let default = self.options.preset.values().trim_tokens;
        if self
            .options
            .trim_tokens
            .is_some_and(|asked| asked != default)
            && summary.strategy != Strategy::Replay
            && trim.is_none_or(|trim| trim > LONG_CALL)
        {
            self.say(at, Tip::LongCalls { trim });
        }
        let drops = matches!(self.options.preset, Preset::Langchain | Preset::Deerflow);
        if let (Some(trim), Some(folded)) = (trim, self.policy.trigger_tokens())
            && self.policy.strict_parity
            && drops
            && folded / 2 > trim
        {
            self.say(at, Tip::TrimLoses { trim, folded });
        }
        if self.options.max_summary_tokens.is_some() && cap < SMALL_SUMMARY {
            self.say(
                At::option("max_summary_tokens"),
                Tip::SmallSummary { tokens: cap },
            );
        }
    }

    fn elsewhere(&mut self, run: &ModelProfile, models: &[Model]) {
        let summary = &self.policy.summary;
        let Some(model) = summary
            .model
            .clone()
            .filter(|m| run.name.as_ref() != Some(m))
        else {
            return;
        };
        // Replay is warned of by the policy, and the digest asks nobody.
        if matches!(summary.strategy, Strategy::Replay | Strategy::Digest) {
            return;
        }
        let known = |name: &Arc<str>| models.iter().find(|m| m.name == *name);
        if let (Some(one), Some(other)) = (known(&model), run.name.as_ref().and_then(known))
            && one.is_same_place(other)
        {
            return;
        }
        let place = known(&model).and_then(|m| m.base_url.clone().or_else(|| m.provider.clone()));
        self.say(At::option("model"), Tip::SentElsewhere { model, place });
    }
}

fn is_outside(n: u64, (low, high): (u64, u64)) -> bool {
    n < low || n > high
}

/// More than half, but not all: that is a contradiction, which the policy itself names.
fn is_most(part: u64, whole: u64) -> bool {
    part > whole / 2 && part < whole
}
