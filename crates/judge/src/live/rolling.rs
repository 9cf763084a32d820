//! Ten compactions of a session that goes on, by one way of carrying the summary along: what of the first rounds is
//! still in it?

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus::core::count::counter_for;
use conspectus::core::effect::Millis;
use conspectus::core::policy::ModelProfile;
use conspectus::core::policy::OnFailure;
use conspectus::core::record::Author;
use conspectus::core::view::{MessageView, PartKind, PartRef, Role, Texts};
use conspectus::{Conversation, Options, Outcome, Policy, Sources, Thread};

use super::names::{names, share};
use super::run::{Setup, once};

/// One round.
#[derive(Clone, Debug)]
pub struct Round {
    /// How it ended.
    pub outcome: Outcome,
    /// The summary was written by the model in this round.
    pub by_model: bool,
    /// Calls.
    pub calls: usize,
    /// Answers that were refused.
    pub refused: usize,
    /// The time of its calls.
    pub took_ms: Millis,
    /// Tokens of the summary alone.
    pub summary_tokens: u64,
    /// Of the names of the first rounds: in the summary now.
    pub early: (usize, usize),
}

/// What ten rounds came to.
#[derive(Clone, Debug)]
pub struct Rolled {
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Of the names that came up in the first half of the rounds and were said twice or by the user: in the last summary, of all.
    pub key: (usize, usize),
    /// Of those that the user or the assistant writes again after the last round.
    pub needed: (usize, usize),
    /// Of those of the later rounds.
    pub late: (usize, usize),
    /// The last summary.
    pub summary: String,
}

/// Runs `rounds` rounds of about `round_tokens` each.
///
/// # Errors
/// When the options cannot work or the model cannot be made.
pub async fn roll(
    conversation: &Conversation,
    rounds: usize,
    round_tokens: u64,
    setup: &Setup,
) -> anyhow::Result<Rolled> {
    let (model, compactor) = setup.compactor()?;
    let options = Options {
        // The digest would bring back what the model lost.
        on_failure: Some(OnFailure::Unchanged),
        ..setup.options()
    };
    let policy = Policy::resolve(&options, &ModelProfile::default())?.policy;
    let counter = counter_for(policy.counter);
    let src = Sources {
        texts: conversation,
        counter: counter.as_ref(),
    };
    let mut thread = Thread::new(Arc::new(policy));
    let mut views = conversation.views().iter();
    let (mut early, mut late) = (Mentions::default(), Mentions::default());
    let mut out = Vec::new();
    for round in 0..rounds {
        let mut tokens = 0;
        for view in views.by_ref() {
            tokens += counter
                .tokens(counter.message(view, conversation))
                .min(round_tokens / 2);
            thread.append([view.clone()], src);
            let said = if round < rounds / 2 {
                &mut early
            } else {
                &mut late
            };
            said.add(view, conversation);
            if tokens >= round_tokens {
                break;
            }
        }
        let (report, after) = once(&compactor, thread, conversation, setup).await;
        thread = after;
        let asked = model.take();
        let summary = thread.active().and_then(|r| r.summary.clone());
        let text = summary.as_ref().map_or("", |s| s.text.as_ref());
        let failed = asked
            .iter()
            .filter(|a| a.answer.is_err() || a.refused.is_some())
            .count();
        let key = early.key();
        out.push(Round {
            outcome: report.outcome,
            by_model: report.outcome == Outcome::Compacted
                && summary
                    .as_ref()
                    .is_some_and(|s| matches!(s.author, Author::Model(_))),
            calls: asked.len(),
            refused: failed,
            took_ms: asked.iter().map(|a| a.took_ms).sum(),
            summary_tokens: counter.tokens(counter.text(text)),
            early: (share(&key, text), key.len()),
        });
    }
    let summary = thread.active().and_then(|r| r.summary.clone());
    let summary = summary.map_or(String::new(), |s| s.text.to_string());
    let mut after = Mentions::default();
    views.for_each(|view| after.add(view, conversation));
    let of = |names: &BTreeSet<String>| (share(names, &summary), names.len());
    let key = early.key();
    let needed = early.all().intersection(&after.written).cloned().collect();
    let late = late.key().difference(&key).cloned().collect();
    Ok(Rolled {
        rounds: out,
        key: of(&key),
        needed: of(&needed),
        late: of(&late),
        summary,
    })
}

/// Names by how they were mentioned.
#[derive(Default)]
struct Mentions {
    /// By the user.
    user: BTreeSet<String>,
    /// In one message.
    once: BTreeSet<String>,
    /// In more.
    often: BTreeSet<String>,
    /// By user or assistant, in words or arguments.
    written: BTreeSet<String>,
}

impl Mentions {
    fn add(&mut self, view: &MessageView, texts: &dyn Texts) {
        if view.role == Role::System {
            return;
        }
        let mut mine = BTreeSet::new();
        for (part, at) in view.parts.iter().zip(0..) {
            if matches!(part.kind, PartKind::Reasoning { .. }) {
                continue;
            }
            let at = PartRef {
                message: view.handle,
                part: at,
            };
            // Of long results only the ends are shown to the model.
            let text = texts.text(at);
            let text = match text.len() > 1_600 {
                true => text.chars().take(400).collect(),
                false => text.to_string(),
            };
            let found = names(&text);
            let is_result = matches!(part.kind, PartKind::Result { .. }) || part.inside.is_some();
            if !is_result {
                self.written.extend(found.iter().cloned());
            }
            if view.role == Role::User && !is_result && !view.flags.hidden {
                self.user.extend(found.iter().cloned());
            }
            mine.extend(found);
        }
        self.often.extend(mine.intersection(&self.once).cloned());
        self.once.extend(mine);
    }

    /// Said by the user, or in more than one message.
    fn key(&self) -> BTreeSet<String> {
        self.user.union(&self.often).cloned().collect()
    }

    fn all(&self) -> BTreeSet<String> {
        self.once.clone()
    }
}
