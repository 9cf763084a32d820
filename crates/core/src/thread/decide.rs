//! Whether something must be done before the next call of the model.

use serde::{Deserialize, Serialize};

use super::spending::Purse;
use super::{Running, Size, Sources, Thread};
use crate::attempt::{Attempt, Goal, Snapshot};
use crate::cost::Warmth;
use crate::count::weight_of;
use crate::effect::{Millis, Route};
use crate::id::{AttemptId, CallId};
use crate::outcome::{Measured, Moment, Outcome, Reason, Report};
use crate::parity;
use crate::plan::{KeepBudget, Plan, PlanRules, plan};
use crate::planted::{Bug, planted};
use crate::policy::{Keep, Preset};
use crate::view::Role;

/// What a request whose trigger cannot be met may grow by before it is compacted again, unless half of it is more.
const LONGEST_WAIT_TOKENS: u64 = 64_000;

/// Whether the caller waits for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The next call waits for it.
    Foreground,
    /// It runs beside the conversation and is swapped in later.
    Background,
}

/// What to do before the next call.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once a call, and most often the large one"
)]
pub enum Decision {
    /// Send [`Thread::projection`]; the report says why nothing is done.
    Send(Report),
    /// Run this attempt. In the background, send meanwhile.
    Start(Box<Attempt>, Mode),
    /// An attempt is under way and the request does not fit without it.
    Wait(AttemptId),
}

/// What a check before a call would look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing: send. The report says why.
    Nothing(Box<Report>),
    /// An attempt beside the conversation.
    Background,
    /// An attempt that the call waits for.
    Now,
}

/// An attempt should begin.
struct Found {
    /// The call waits for it.
    hard: bool,
    /// It may fold what `keep` would hold.
    below_keep: bool,
}

/// A compaction that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Manual {
    /// Skips the trigger.
    pub force: bool,
    /// May go below `keep`, down to what the structural rules hold.
    pub below_keep: bool,
    /// Another `keep`, for this run only.
    pub keep: Option<Keep>,
    /// What the summary should pay attention to, for this run only.
    pub focus: Option<std::sync::Arc<str>>,
    /// The call through which the model itself asked; its message stays.
    pub invoking: Option<CallId>,
    /// When it happens.
    pub moment: Moment,
    /// The models to ask, in order; empty: the digest.
    pub routes: Vec<Route>,
}

impl Default for Manual {
    fn default() -> Self {
        Self {
            force: true,
            below_keep: false,
            keep: None,
            focus: None,
            invoking: None,
            moment: Moment::Manual,
            routes: Vec::new(),
        }
    }
}

impl Thread {
    /// The check before a model call. O(1) while no trigger is reached.
    pub fn before_call(&mut self, now: Millis, routes: &[Route], src: Sources<'_>) -> Decision {
        let size = self.size(src);
        let Found { hard, below_keep } = match self.look(now, &size, routes, src) {
            Ok(found) => found,
            Err(decision) => return *decision,
        };
        let moment = match (hard, self.branch.views().last().map(|v| v.role)) {
            (false, _) => Moment::Background,
            (true, Some(Role::User))
                if self
                    .branch
                    .views()
                    .last()
                    .is_some_and(|v| v.is_user_request()) =>
            {
                Moment::PreTurn
            }
            (true, _) => Moment::MidTurn,
        };
        let request = Manual {
            moment,
            below_keep,
            routes: routes.to_vec(),
            ..Manual::default()
        };
        let threshold = self
            .policy
            .triggers
            .iter()
            .filter(|t| size.reaches(t, self.policy.reached))
            .filter_map(|t| t.tokens)
            .chain(self.learnt_threshold())
            .min();
        let mode = if hard {
            Mode::Foreground
        } else {
            Mode::Background
        };
        self.start(now, request, &size, threshold, mode, src)
    }

    /// What [`Self::before_call`] would look into now, without a plan: a thread that is
    /// [partial](Thread::is_partial) can tell, too. It may still find that nothing pays.
    pub fn due(&self, now: Millis, routes: &[Route], src: Sources<'_>) -> Due {
        match self.look(now, &self.size(src), routes, src) {
            Ok(Found { hard: true, .. }) => Due::Now,
            Ok(_) => Due::Background,
            Err(decision) => match *decision {
                Decision::Send(report) => Due::Nothing(Box::new(report)),
                Decision::Wait(_) | Decision::Start(..) => Due::Now,
            },
        }
    }

    /// Whether an attempt should begin, as far as sizes and what happened before tell.
    fn look(
        &self,
        now: Millis,
        size: &Size,
        routes: &[Route],
        src: Sources<'_>,
    ) -> Result<Found, Box<Decision>> {
        let send = |outcome, reasons| {
            let measured = self.measure(size, src);
            let report = Report::without_attempt(outcome, measured, reasons);
            Err(Box::new(Decision::Send(report)))
        };
        if !self.policy.enabled || self.policy.triggers.is_empty() {
            return send(Outcome::Disabled, Vec::new());
        }
        let hard = self.is_triggered(size);
        let soft = self
            .policy
            .soft_tokens
            .is_some_and(|soft| size.tokens >= soft);
        if let Some(running) = &self.running {
            return match hard {
                true => Err(Box::new(Decision::Wait(running.attempt))),
                false => send(Outcome::Deferred, vec![Reason::AttemptRunning]),
            };
        }
        // In the background only a model's summary pays: the digest costs nothing to wait for.
        if !hard && (!soft || routes.is_empty()) {
            return send(Outcome::Skipped, Vec::new());
        }
        if let Some(reason) = self.not_now(now) {
            return send(Outcome::Deferred, reason);
        }
        let is_quiet = self.quiet_until.is_some_and(|until| size.tokens < until);
        let is_over = self.shrunk && size.tokens > self.policy.input_limit();
        let below_keep = self.is_settled() && is_over;
        if is_quiet || (self.is_settled() && !below_keep) {
            return send(Outcome::NothingToCompact, self.irreducible_reasons(size));
        }
        Ok(Found { hard, below_keep })
    }

    /// A command: no trigger is needed unless `force` is false.
    pub fn manual(&mut self, now: Millis, request: &Manual, src: Sources<'_>) -> Decision {
        let threshold = if request.force {
            None
        } else {
            self.policy.trigger_tokens()
        };
        self.command(now, request, threshold, src)
    }

    /// A command that aims at half of `threshold`, or of what there is.
    pub(super) fn command(
        &mut self,
        now: Millis,
        request: &Manual,
        threshold: Option<u64>,
        src: Sources<'_>,
    ) -> Decision {
        let size = self.size(src);
        let send = |outcome, reasons| {
            Decision::Send(Report::without_attempt(
                outcome,
                self.measure(&size, src),
                reasons,
            ))
        };
        if !self.policy.enabled {
            return send(Outcome::Disabled, Vec::new());
        }
        if self.running.is_some() {
            return send(Outcome::Conflict, vec![Reason::AttemptRunning]);
        }
        if !request.force && !self.is_triggered(&size) {
            return send(Outcome::Skipped, Vec::new());
        }
        if self.is_settled() && !request.below_keep && request.keep.is_none() {
            return send(Outcome::NothingToCompact, self.irreducible_reasons(&size));
        }
        if request.moment != Moment::Manual
            && let Some(reason) = self.not_now(now)
        {
            return send(Outcome::Deferred, reason);
        }
        self.start(
            now,
            request.clone(),
            &size,
            threshold,
            Mode::Foreground,
            src,
        )
    }

    /// Whether nothing arrived since a summary was committed: the same command again has nothing to do, also
    /// where a `keep` that follows the conversation's size would now find more to fold.
    pub(super) fn is_settled(&self) -> bool {
        let has_summary = self.active().is_some_and(|r| r.summary.is_some());
        has_summary && self.frozen.end == self.branch.len() && !planted(Bug::NeverSettled)
    }

    /// What would go and stay now, and why. Changes nothing.
    pub fn preview(&self, request: &Manual, src: Sources<'_>) -> Plan {
        let size = self.size(src);
        let threshold = if request.force {
            None
        } else {
            self.policy.trigger_tokens()
        };
        self.plan(request, &size, &self.goal(request, &size, threshold), src)
    }

    /// Why an attempt must not begin now, whatever the size.
    fn not_now(&self, now: Millis) -> Option<Vec<Reason>> {
        if self.branch.views().last().is_some_and(|v| v.flags.partial) {
            return Some(vec![Reason::StillStreaming]);
        }
        if self.breaker.is_open(now) {
            return Some(vec![Reason::BreakerOpen]);
        }
        self.is_between_call_and_answers().then(Vec::new)
    }

    /// Whether calls are still being answered: of the newest reply, unless a person spoke since, or of the one
    /// that the newest message answers. The two differ when replies are interleaved.
    fn is_between_call_and_answers(&self) -> bool {
        let Some(last) = self.branch.len().checked_sub(1) else {
            return false;
        };
        let (views, units) = (self.branch.views(), self.branch.units());
        let reply = (0..=last)
            .rev()
            .take_while(|at| !views[*at].is_user_request())
            .find(|at| views[*at].role == Role::Assistant);
        let asked = [units.index_of(last), units.index_of(reply.unwrap_or(last))];
        let from = units.of(last).hull.start.min(reply.unwrap_or(last));
        let calls = units.calls().iter().rev().take_while(|c| c.at >= from);
        calls
            .filter(|call| asked.contains(&units.index_of(call.at)))
            .any(|call| call.answers.is_empty() && !self.pending.contains(&call.id))
    }

    fn start(
        &mut self,
        now: Millis,
        mut request: Manual,
        size: &Size,
        threshold: Option<u64>,
        mode: Mode,
        src: Sources<'_>,
    ) -> Decision {
        let budget = match self.purse(now, &request.routes, size) {
            Purse::Open(left) => left,
            // Beside a running conversation only a model's summary pays.
            Purse::Digest if mode == Mode::Foreground => {
                request.routes.clear();
                Some(0)
            }
            Purse::Digest | Purse::Nothing => {
                return Decision::Send(Report::without_attempt(
                    Outcome::Deferred,
                    self.measure(size, src),
                    vec![Reason::SpendCap],
                ));
            }
        };
        let is_manual = request.moment == Moment::Manual;
        let goal = self.goal(&request, size, threshold);
        let plan = self.plan(&request, size, &goal, src);
        let attempt = AttemptId(self.next_attempt);
        let snapshot = Snapshot {
            warmth: self.warmth(now, size),
            budget,
            ..self.snapshot(attempt, &request, *size, goal, plan, src.counter.id())
        };
        let Some(attempt) = Attempt::new(snapshot, src) else {
            self.quiet_until = Some(size.tokens + self.minimum_gain(size.tokens));
            self.shrunk = false;
            let reasons = self.irreducible_reasons(size);
            return Decision::Send(Report::without_attempt(
                Outcome::NothingToCompact,
                self.measure(size, src),
                reasons,
            ));
        };
        let may_wait = match mode {
            Mode::Background => true,
            Mode::Foreground => threshold.is_some_and(|tokens| self.may_wait(tokens, size)),
        };
        if !is_manual && may_wait && !attempt.pays(src) {
            return Decision::Send(Report::without_attempt(
                Outcome::Deferred,
                self.measure(size, src),
                Self::waiting(),
            ));
        }
        self.next_attempt += 1;
        self.running = Some(Running {
            attempt: attempt.id(),
            mode,
            manual: is_manual,
        });
        Decision::Start(Box::new(attempt), mode)
    }

    /// Where what stays is itself over the trigger, or close to it, every message or two would start another attempt
    /// that folds a little. So the next one waits until there is enough to fold: until most, or half, of what the window
    /// still takes is used, within bounds that do not grow with the window.
    pub(super) fn quiet_after_commit(&self, src: Sources<'_>) -> Option<u64> {
        // The peers have no such restraint.
        if self.policy.follows_peer() {
            return None;
        }
        let size = self.size(src);
        let left = self.input_limit().saturating_sub(size.tokens);
        let is_close = |tokens: u64| size.tokens >= tokens - tokens / 8;
        let growth = if self.is_triggered(&size) {
            let most = (left / 4 * 3).min(LONGEST_WAIT_TOKENS);
            most.max((size.tokens / 2).min(left))
        } else if self.policy.trigger_tokens().is_some_and(is_close) {
            (left / 2).min(LONGEST_WAIT_TOKENS / 2)
        } else {
            return None;
        };
        Some(size.tokens + growth.max(self.minimum_gain(size.tokens)))
    }

    fn irreducible_reasons(&self, size: &Size) -> Vec<Reason> {
        let over = self
            .policy
            .trigger_tokens()
            .is_some_and(|t| size.fixed >= t);
        if over {
            vec![Reason::FixedPartOverTrigger]
        } else {
            vec![Reason::Irreducible]
        }
    }

    /// What an attempt aims at, in sizes that plans are made in.
    fn goal(&self, request: &Manual, size: &Size, threshold: Option<u64>) -> Goal {
        let minimum_gain = self.minimum_gain(size.request);
        let threshold = threshold.map(|tokens| size.planned(tokens));
        // A command has no threshold: it aims at half of what there is.
        let target = threshold.unwrap_or(size.request) / 2;
        let pruned_enough = match threshold {
            Some(threshold) if self.policy.preset == Preset::Nous => threshold,
            Some(threshold) => threshold.saturating_sub(threshold / 10),
            None => target,
        };
        let counts_messages = self
            .policy
            .triggers
            .iter()
            .any(|t| t.tokens.is_none() && t.messages.is_some());
        Goal {
            target,
            pruned_enough: Some(pruned_enough)
                .filter(|_| threshold.is_some() || request.force || !counts_messages),
            limit: size.planned(self.input_limit()),
            minimum_gain,
        }
    }

    /// A share of `tokens`, at least one token.
    fn minimum_gain(&self, tokens: u64) -> u64 {
        (tokens.saturating_mul(u64::from(self.policy.minimum_gain_permille)) / 1000).max(1)
    }

    fn plan(&self, request: &Manual, size: &Size, goal: &Goal, src: Sources<'_>) -> Plan {
        let keep = request.keep.unwrap_or(self.policy.keep);
        let conversation = size.request.saturating_sub(size.fixed);
        let auto = (conversation / 4)
            .min(self.policy.window / 10)
            .min(goal.target / 2);
        let budget = KeepBudget::of(keep, auto, |tokens| weight_of(src.counter, tokens));
        let mut rules = PlanRules {
            keep: Some(budget).filter(|_| !request.below_keep),
            pending: Some(&self.pending),
            invoking: request.invoking.as_ref(),
            cut_signed_turn: false,
        };
        let present = |at| !self.is_folded(at);
        debug_assert!(
            self.is_up_to_date(src),
            "what is kept is what would be made anew"
        );
        let weight = |at| self.weight_at(at);
        if self.policy.follows_peer() {
            return parity::plan(&self.branch, &present, &weight, budget, self.policy.preset);
        }
        let first = plan(&self.branch, &present, &weight, &rules);
        let stays: u64 = first.staying().map(|(at, _)| weight(at)).sum();
        if src.counter.tokens(stays) + size.fixed
            <= goal
                .limit
                .min(goal.target.max(goal.pruned_enough.unwrap_or(0)))
        {
            return first;
        }
        // Protecting an open signed turn for ever would make it the end of the conversation.
        rules.cut_signed_turn = true;
        let second = plan(&self.branch, &present, &weight, &rules);
        if second.going().count() > first.going().count() {
            second
        } else {
            first
        }
    }

    fn snapshot(
        &self,
        attempt: AttemptId,
        request: &Manual,
        size: Size,
        goal: Goal,
        plan: Plan,
        counter: crate::count::CounterId,
    ) -> Snapshot {
        Snapshot {
            attempt,
            record: self.next_record(),
            branch: self.branch.clone(),
            active: self.active().cloned(),
            live: self.live_patches.clone(),
            weights: self.weights(),
            frozen: self.frozen.pieces.clone(),
            frozen_end: self.frozen.end,
            summaries: self.summaries_in_force(),
            ledger: self.ledger.clone(),
            beside: self.beside.clone(),
            pending: self.pending.clone(),
            policy: self.policy.clone(),
            fixed: self.fixed.clone(),
            expect: self.expect(),
            counter,
            size,
            goal,
            plan,
            moment: request.moment,
            focus: request.focus.clone(),
            routes: request.routes.clone(),
            warmth: Warmth::Cold,
            budget: None,
        }
    }

    pub(super) fn measured(&self, src: Sources<'_>) -> Measured {
        self.measure(&self.size(src), src)
    }

    fn measure(&self, size: &Size, src: Sources<'_>) -> Measured {
        Measured {
            counter: Some(src.counter.id()),
            tokens_before: size.told(size.request),
            tokens_after: Some(size.told(size.request)),
            messages_before: size.messages,
            ..Measured::default()
        }
    }
}
