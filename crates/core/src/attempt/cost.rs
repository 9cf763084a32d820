//! What an attempt costs and saves, in tokens of the provider's cache and in money.

use std::sync::Arc;

use crate::attempt::{Attempt, Snapshot};
use crate::cost::{Change, Cost, SummaryCall, Warmth, cost, spent_micros};
use crate::count::Weight;
use crate::effect::{Input, Route, SummaryInput, SummaryRequest};
use crate::outcome::Reason;
use crate::plan::{Fate, Stay};
use crate::record::{Author, Patches};
use crate::thread::Sources;
use crate::way::{self, Sizes, Why};

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) model: Option<Arc<str>>,
    /// What it is known to have cost.
    pub(super) micros: u64,
}

impl Snapshot {
    /// A change of which the beginning that stays is known by the counter, told on the footing of the size.
    fn change(&self, same: u64, after: u64) -> Change {
        let size = &self.size;
        let same = size.told(same.min(size.request));
        Change {
            same,
            before: size.told(size.request).saturating_sub(same),
            after: size.told(after).saturating_sub(same),
        }
    }

    /// What shortening these messages and nothing else changes.
    pub(super) fn pruning_change(&self, new: &Patches, saved: u64, src: Sources<'_>) -> Change {
        let path = self.branch.path();
        let first = (0..path.len()).find(|at| new.contains_key(&path[*at]));
        let first = first.unwrap_or(path.len());
        let sent = (0..first).filter(|at| !self.was_folded(*at));
        let before: Weight = sent
            .map(|at| self.branch.patched_weight(at, &self.weights))
            .sum();
        let summary = self.active.as_ref().and_then(|r| {
            let summary = r.summary.as_ref()?;
            let is_before = first > self.branch.leading_system();
            is_before.then(|| self.summary_weight(&summary.text, &r.durable, r.placement, src))
        });
        let same = src
            .counter
            .tokens(self.fixed.weight + before + summary.unwrap_or(0));
        self.change(same, self.size.request.saturating_sub(saved))
    }

    /// Its cost, where the prices are known.
    pub(super) fn pruning_cost(&self, change: Change) -> Option<Cost> {
        let prices = self.policy.cost.prices.as_ref()?;
        Some(cost(change, SummaryCall::None, prices, self.warmth))
    }
}

impl Attempt {
    /// What a summary changes with which the request has `after` tokens: all behind the system messages.
    pub(super) fn summary_change(&self, after: u64, src: Sources<'_>) -> Change {
        let s = &self.s;
        let system = s
            .plan
            .staying()
            .filter(|(_, why)| *why == Stay::LeadingSystem);
        let weight: Weight = system.map(|(at, _)| s.branch.weight(at, at + 1)).sum();
        s.change(src.counter.tokens(s.fixed.weight + weight), after)
    }

    /// What a summary of so many tokens by this author costs, where the prices are known.
    pub(super) fn summary_cost(
        &self,
        change: Change,
        author: &Author,
        summary: u64,
        src: Sources<'_>,
    ) -> Option<Cost> {
        let s = &self.s;
        let prices = s.policy.cost.prices.as_ref()?;
        let call = match author {
            Author::Digest => SummaryCall::None,
            Author::Model(model) => {
                let of = |route: &&Route| route.model == *model;
                let route = s.routes.iter().find(of);
                let instruction = route.map_or(0, |route| {
                    let text = self.instruction(None, route, 0, src);
                    src.counter.tokens(src.counter.text(&text))
                });
                let is_replayed = |route: &Route| {
                    let made = self.replayed;
                    made.unwrap_or_else(|| self.replays(route, src).0)
                };
                match route {
                    Some(route) if is_replayed(route) => SummaryCall::Replay {
                        instruction,
                        summary,
                    },
                    _ => SummaryCall::Transcript {
                        input: self.folded_tokens(src) + instruction,
                        summary,
                        prices: s.policy.cost.prices_of(model.as_deref())?,
                    },
                }
            }
        };
        Some(cost(change, call, prices, s.warmth))
    }

    /// Whether this model is to be given the conversation itself, and why.
    pub(super) fn replays(&self, route: &Route, src: Sources<'_>) -> (bool, Why) {
        let s = &self.s;
        let instruction = self.instruction(None, route, 0, src);
        let sizes = Sizes {
            conversation: s.size.tokens.max(s.size.request),
            folded: self.folded_tokens(src),
            instruction: src.counter.tokens(src.counter.text(&instruction)),
            summary: self.room_for_text(src).min(route.max_output),
        };
        way::replays(&s.policy, route, &sizes, s.warmth)
    }

    /// Keeps how a model is asked. Only what the policy left open, or what could not be done, needs a word.
    pub(super) fn went(&mut self, replays: bool, why: Why) {
        self.replayed = Some(replays);
        let is_way = |r: &Reason| matches!(r, Reason::Replayed(_) | Reason::Transcribed(_));
        self.reasons.retain(|reason| !is_way(reason));
        if why != Why::Told {
            self.reasons.push(match replays {
                true => Reason::Replayed(why),
                false => Reason::Transcribed(why),
            });
        }
    }

    fn folded_tokens(&self, src: Sources<'_>) -> u64 {
        let s = &self.s;
        let goes = (0..s.branch.len()).filter(|at| s.plan.fates[*at] == Fate::Goes);
        let weight: Weight = goes
            .map(|at| s.branch.patched_weight(at, &self.weights))
            .sum();
        src.counter.tokens(weight)
    }

    /// Whether what it is likely to do is even within the calls that are expected. Without prices, or with a cold cache,
    /// there is nothing to lose.
    pub(crate) fn pays(&self, src: Sources<'_>) -> bool {
        let s = &self.s;
        if s.warmth == Warmth::Cold {
            return true;
        }
        let made = if self.pruned.is_enough || !self.folds {
            s.pruning_cost(s.pruning_change(&self.pruned.patches, self.pruned.saved, src))
        } else {
            let author = s
                .routes
                .first()
                .map_or(Author::Digest, |r| Author::Model(r.model.clone()));
            // Summaries are seldom as long as they may be.
            let summary = s.policy.summary.max_tokens / 2;
            let after = src
                .counter
                .tokens(s.fixed.weight + self.staying_weight(src))
                + summary;
            self.summary_cost(self.summary_change(after, src), &author, summary, src)
        };
        made.is_none_or(|made| made.pays_within(s.policy.cost.expected_calls))
    }

    /// Adds what a call is reported to cost, whatever becomes of it: a reply that is refused, a call that fails or one
    /// that is stopped is paid all the same.
    pub(super) fn paid(&mut self, input: &Input) {
        let (call, usage) = match input {
            Input::Usage(call, usage) => (call, usage),
            Input::Reply(call, reply) => match &reply.usage {
                Some(usage) => (call, usage),
                None => return,
            },
            _ => return,
        };
        let Some(asked) = self.asked.get_mut(call) else {
            return;
        };
        let Some(prices) = self.s.policy.cost.prices_of(asked.model.as_deref()) else {
            return;
        };
        // Reports of one call grow, so what was counted of it is part of what is counted now.
        let micros = spent_micros(usage, &prices).max(asked.micros);
        let more = micros - asked.micros;
        asked.micros = micros;
        self.spent_micros = self.spent_micros.saturating_add(more);
    }

    /// What models were paid so far, in micro-dollars, where they tell their usage and the prices are known.
    pub fn spent_micros(&self) -> u64 {
        self.spent_micros
    }

    /// Whether a call is beyond what may be spent.
    pub(super) fn is_over_budget(&self, route: &Route, request: &SummaryRequest) -> bool {
        let prices = self.s.policy.cost.prices_of(route.model.as_deref());
        let (Some(budget), Some(prices)) = (self.s.budget, prices) else {
            return false;
        };
        let (input, summary) = (request.input_tokens, request.max_output_tokens);
        let call = match request.input {
            SummaryInput::Replay { .. } => SummaryCall::Replay {
                instruction: 0,
                summary,
            },
            SummaryInput::Transcript { .. } => SummaryCall::Transcript {
                input,
                summary,
                prices,
            },
        };
        let all = Change {
            before: input,
            ..Change::default()
        };
        let made = cost(all, call, &prices, self.s.warmth);
        let micros = u64::try_from(made.call_micros).unwrap_or(0);
        self.spent_micros.saturating_add(micros) > budget
    }
}
