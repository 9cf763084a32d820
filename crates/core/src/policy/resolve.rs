//! Options, a model and a preset's row become a [`Policy`]: the one place where options become numbers.

use std::sync::Arc;

use super::presets::{
    DefaultCounter, DefaultKeep, DefaultTrigger, EXPECTED_CALLS, MASK_PERMILLE, PresetValues,
    SKILL_READ_TOOLS,
};
use super::window::{Window, window};
use super::{
    At, Breaker, Clause, Conflict, CostPolicy, CounterChoice, Keep, KeepOption, ModelProfile,
    Number, Options, Policy, PolicyError, PolicyWarning, Preset, Prune, PruneOption, Strategy,
    SummaryPolicy, Threshold, TriggerOption, TrimTokens, Unit,
};
use crate::redact::{BadPattern, Redactor};

/// No summary is capped below this unless asked for: nothing useful is shorter.
const MIN_SUMMARY_TOKENS: u64 = 64;

/// Failed automatic attempts in a row that open the breaker, and how long it then stays open.
const BREAKER: Breaker = Breaker {
    failures: 3,
    cooldown_ms: 10 * 60 * 1000,
};

/// A call of the summariser that has not answered by then has failed, unless `call_timeout_ms` says otherwise.
pub const CALL_TIMEOUT_MS: u64 = 2 * 60 * 1000;

/// All calls of one attempt together.
const DEADLINE_MS: u64 = 10 * 60 * 1000;

/// Chunks summarised at the same time.
const MAX_PARALLEL: u32 = 4;

/// A policy, and what its owner should be told once.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The numbers.
    pub policy: Policy,
    /// What was taken although it may surprise.
    pub warnings: Vec<PolicyWarning>,
}

impl Policy {
    /// Turns options into numbers for a model.
    ///
    /// Afterwards keep < trigger < window − output reserve holds as far as these can be compared (invariant
    /// 16), or, in the presets that follow a peer, a warning names the option that breaks it.
    ///
    /// # Errors
    /// The first option that is out of range, contradicts another one (in the `default` preset) or needs a
    /// window that nobody knows. [`PolicyError::at`] names it.
    pub fn resolve(options: &Options, model: &ModelProfile) -> Result<Resolved, PolicyError> {
        Resolver::new(options, model)?.resolve()
    }
}

/// What is needed all along while options are resolved.
struct Resolver<'a> {
    options: &'a Options,
    model: &'a ModelProfile,
    preset: &'static PresetValues,
    enabled: bool,
    window: Window,
    warnings: Vec<PolicyWarning>,
}

impl<'a> Resolver<'a> {
    fn new(options: &'a Options, model: &'a ModelProfile) -> Result<Self, PolicyError> {
        let preset = options.preset.values();
        let mut warnings = Vec::new();
        let window = window(options, model, &mut warnings)?;
        Ok(Resolver {
            options,
            model,
            preset,
            enabled: options.enabled.unwrap_or(preset.enabled),
            window,
            warnings,
        })
    }

    fn resolve(mut self) -> Result<Resolved, PolicyError> {
        let options = self.options;
        let (triggers, soft_tokens) = self.triggers()?;
        let keep = self.keep()?;
        self.compare(&triggers, keep)?;
        let summary = self.summary(&triggers)?;
        let prune = prune(options.prune, self.preset);
        if options.strict_parity && options.preset == Preset::Default {
            self.warnings.push(PolicyWarning::NoPeer);
        }
        let breaker = Breaker {
            failures: at_least_one(
                "breaker.failures",
                options.breaker_failures,
                BREAKER.failures,
            )?,
            cooldown_ms: options.breaker_cooldown_ms.unwrap_or(BREAKER.cooldown_ms),
        };
        let policy = Policy {
            preset: options.preset,
            enabled: self.enabled,
            window: self.window.tokens,
            window_source: self.window.source,
            output_reserve: self.window.reserve,
            max_request_bytes: positive(
                At::option("max_request_bytes"),
                self.options.max_request_bytes,
            )?,
            triggers,
            soft_tokens,
            reached: self.preset.reached,
            counted: self.preset.counted,
            usage: self.preset.usage,
            provider: self.model.provider.clone(),
            binds_reasoning: self.model.provider.as_deref() == Some("anthropic"),
            counter: counter(self.preset.counter, options.anthropic),
            keep,
            prune,
            summary,
            placement: options.placement.unwrap_or(self.preset.placement),
            minimum_gain_permille: if peer_losses(options) { 0 } else { 100 },
            breaker,
            skill_read_tools: skill_read_tools(options),
            cost: self.cost()?,
            exempt_tools: options.exempt_tools.clone(),
            redact: Redactor::new(&options.redact).map_err(bad_pattern)?,
            strict_parity: options.strict_parity,
        };
        Ok(Resolved {
            policy,
            warnings: self.warnings,
        })
    }

    fn cost(&mut self) -> Result<CostPolicy, PolicyError> {
        let (options, model) = (self.options, self.model);
        let others = options.others.iter();
        let priced = others.filter_map(|other| Some((other.name.clone()?, other.prices?)));
        let cost = CostPolicy {
            model: model.name.clone(),
            prices: model.prices,
            cache: model.cache,
            others: priced.collect(),
            expected_calls: at_least_one("expected_calls", options.expected_calls, EXPECTED_CALLS)?,
            max_thread_micros: options.max_thread_micros,
            max_day_micros: options.max_day_micros,
        };
        let has_cap = cost.max_thread_micros.is_some() || cost.max_day_micros.is_some();
        let writer = options.model.as_deref();
        if has_cap && self.enabled && cost.prices_of(writer).is_none() {
            let model = options.model.clone().or_else(|| model.name.clone());
            self.warnings
                .push(PolicyWarning::CapWithoutPrices { model });
        }
        Ok(cost)
    }

    /// The clauses in numbers, and where the background may start.
    fn triggers(&mut self) -> Result<(Vec<Threshold>, Option<u64>), PolicyError> {
        let no_trigger = PolicyError::NoTrigger {
            preset: self.options.preset,
        };
        match (&self.options.trigger, self.preset.trigger) {
            (TriggerOption::Any(clauses), _) => {
                if clauses.is_empty() && self.enabled && !self.preset.empty_trigger_is_never {
                    return Err(no_trigger);
                }
                let thresholds = clauses
                    .iter()
                    .enumerate()
                    .map(|(i, c)| self.threshold(i, c));
                Ok((thresholds.collect::<Result<_, _>>()?, None))
            }
            (TriggerOption::Auto, _) | (TriggerOption::Unset, DefaultTrigger::Auto) => {
                if !self.window.is_known() && self.enabled {
                    self.warnings.push(PolicyWarning::WindowAssumed {
                        model: self.model.name.clone(),
                        window: self.window.tokens,
                    });
                }
                let tokens = tenths(self.window.limit(), 8).max(1);
                let soft = tenths(self.window.limit(), 7).max(1);
                Ok((vec![tokens_of(tokens)], Some(soft)))
            }
            (TriggerOption::Never | TriggerOption::Unset, DefaultTrigger::Required)
                if self.enabled =>
            {
                Err(no_trigger)
            }
            (TriggerOption::Unset, DefaultTrigger::Tokens(tokens)) => {
                Ok((vec![tokens_of(tokens)], None))
            }
            (TriggerOption::Never, _)
            | (TriggerOption::Unset, DefaultTrigger::Never | DefaultTrigger::Required) => {
                Ok((Vec::new(), None))
            }
        }
    }

    fn threshold(&self, index: usize, clause: &Clause) -> Result<Threshold, PolicyError> {
        let at = |unit| At {
            option: "trigger",
            clause: Some(index),
            unit,
        };
        if *clause == Clause::default() {
            return Err(PolicyError::EmptyClause { at: at(None) });
        }
        let tokens = positive(at(Some(Unit::Tokens)), clause.tokens)?;
        let messages = positive(at(Some(Unit::Messages)), clause.messages)?;
        let share = match clause.fraction {
            None => None,
            Some(fraction) => {
                let at = at(Some(Unit::Fraction));
                let of = if self.preset.fraction_leaves_reserve {
                    self.window.limit()
                } else {
                    self.window.tokens
                };
                if !(fraction > 0.0 && fraction <= 1.0) {
                    return Err(out_of_range(at, fraction, "a number above 0 and at most 1"));
                }
                self.needs_window(at)?;
                Some(share_of(of, fraction).max(1))
            }
        };
        Ok(Threshold {
            // Reached when both are: the larger one decides.
            tokens: tokens.max(share),
            messages,
        })
    }

    fn keep(&self) -> Result<Keep, PolicyError> {
        let at = |unit| At {
            unit: Some(unit),
            ..At::option("keep")
        };
        let zero = self.preset.keep_zero;
        match self.options.keep {
            None => Ok(match self.preset.keep {
                DefaultKeep::Auto => Keep::Auto,
                DefaultKeep::Messages(n) => Keep::Messages(n),
            }),
            Some(KeepOption::Auto) => Ok(Keep::Auto),
            Some(KeepOption::Messages(0)) if !zero => {
                Err(out_of_range_whole(at(Unit::Messages), 0))
            }
            Some(KeepOption::Tokens(0)) if !zero => Err(out_of_range_whole(at(Unit::Tokens), 0)),
            Some(KeepOption::Messages(n)) => Ok(Keep::Messages(n)),
            Some(KeepOption::Tokens(n)) => Ok(Keep::Tokens(n)),
            Some(KeepOption::Fraction(fraction)) => {
                let at = at(Unit::Fraction);
                if zero && fraction == 0.0 {
                    return Ok(Keep::Tokens(0));
                }
                if !(fraction > 0.0 && fraction <= 1.0) {
                    let allowed = if zero {
                        "a number from 0 to 1"
                    } else {
                        "a number above 0 and at most 1"
                    };
                    return Err(out_of_range(at, fraction, allowed));
                }
                self.needs_window(at)?;
                Ok(Keep::Tokens(share_of(self.window.tokens, fraction).max(1)))
            }
        }
    }

    /// A share of an unknown window is no number. While compaction is off nobody asks for it.
    fn needs_window(&self, at: At) -> Result<(), PolicyError> {
        if self.window.is_known() || !self.enabled {
            Ok(())
        } else {
            Err(PolicyError::UnknownWindow { at })
        }
    }

    /// Invariant 16, clause by clause and unit by unit.
    fn compare(&mut self, triggers: &[Threshold], keep: Keep) -> Result<(), PolicyError> {
        let asked = matches!(self.options.trigger, TriggerOption::Any(_));
        let Window {
            tokens: window,
            reserve: output_reserve,
            ..
        } = self.window;
        let limit = self.window.limit();
        for (index, threshold) in triggers.iter().enumerate() {
            let at = |unit| At {
                option: "trigger",
                clause: asked.then_some(index),
                unit: asked.then_some(unit),
            };
            if let (Some(trigger), Keep::Messages(keep)) = (threshold.messages, keep)
                && keep >= trigger
            {
                self.conflict(Conflict::KeepNotBelowTrigger {
                    trigger_at: at(Unit::Messages),
                    trigger,
                    keep,
                    unit: Unit::Messages,
                })?;
            }
            let Some(trigger) = threshold.tokens else {
                continue;
            };
            if let Keep::Tokens(keep) = keep
                && keep >= trigger
            {
                self.conflict(Conflict::KeepNotBelowTrigger {
                    trigger_at: at(Unit::Tokens),
                    trigger,
                    keep,
                    unit: Unit::Tokens,
                })?;
            }
            if self.window.is_known() && trigger >= limit {
                let fraction = self
                    .clause(index)
                    .is_some_and(|c| c.tokens != Some(trigger));
                let unit = if fraction {
                    Unit::Fraction
                } else {
                    Unit::Tokens
                };
                self.conflict(Conflict::TriggerNotBelowLimit {
                    trigger_at: at(unit),
                    trigger,
                    limit,
                    window,
                    output_reserve,
                })?;
            }
        }
        if let Keep::Tokens(keep) = keep
            && self.window.is_known()
            && keep >= limit
        {
            self.conflict(Conflict::KeepNotBelowLimit {
                keep,
                limit,
                window,
                output_reserve,
            })?;
        }
        Ok(())
    }

    fn clause(&self, index: usize) -> Option<&Clause> {
        match &self.options.trigger {
            TriggerOption::Any(clauses) => clauses.get(index),
            _ => None,
        }
    }

    /// A contradiction stops ours and is reported by the others.
    fn conflict(&mut self, conflict: Conflict) -> Result<(), PolicyError> {
        if self.preset.strict && self.enabled {
            return Err(conflict.into());
        }
        self.warnings.push(PolicyWarning::Conflict(conflict));
        Ok(())
    }

    fn summary(&mut self, triggers: &[Threshold]) -> Result<SummaryPolicy, PolicyError> {
        let options = self.options;
        let strategy = options.strategy.unwrap_or(self.preset.strategy);
        let other = options
            .model
            .as_ref()
            .filter(|m| self.model.name.as_ref() != Some(*m));
        if let (Strategy::Replay, Some(model)) = (strategy, other) {
            if options.preset != Preset::Nous {
                return Err(PolicyError::ReplayElsewhere);
            }
            self.warnings.push(PolicyWarning::ReplayElsewhere {
                model: model.clone(),
            });
        }
        let max_retries = options.max_retries.unwrap_or(self.preset.max_retries);
        Ok(SummaryPolicy {
            strategy,
            model: options.model.clone(),
            prompt: options.summary_prompt.clone(),
            max_tokens: self.summary_cap(triggers)?,
            trim_tokens: trim_tokens(options)?,
            max_retries,
            call_timeout_ms: at_least_one(
                "call_timeout_ms",
                options.call_timeout_ms,
                CALL_TIMEOUT_MS,
            )?,
            deadline_ms: at_least_one("deadline_ms", options.deadline_ms, DEADLINE_MS)?,
            max_parallel: at_least_one("max_parallel", options.max_parallel, MAX_PARALLEL)?,
            on_failure: options.on_failure.unwrap_or(self.preset.on_failure),
            tool_results: options.tool_results.unwrap_or_default(),
            rolling: options.rolling.unwrap_or_default(),
            form: options.form.unwrap_or(self.preset.form),
            fidelity: options.fidelity.unwrap_or(self.preset.fidelity),
        })
    }

    /// The summary's cap: as asked, or the preset's, fitted so that summary and kept part stay below the
    /// target (half the trigger): a quarter of the lowest token trigger, an eighth of what a request may hold.
    fn summary_cap(&mut self, triggers: &[Threshold]) -> Result<u64, PolicyError> {
        let limit = self.window.limit();
        let lowest = triggers.iter().filter_map(|t| t.tokens).min();
        let at = At::option("max_summary_tokens");
        let Some(asked) = positive(at, self.options.max_summary_tokens)? else {
            let trigger = lowest.unwrap_or(u64::MAX);
            let room = (limit / 8).min(trigger / 4).max(MIN_SUMMARY_TOKENS);
            let half = limit.min(trigger) / 2;
            return Ok(self.preset.max_summary_tokens.min(room).min(half).max(1));
        };
        let known_limit = self.window.is_known().then_some(limit);
        let below = match (lowest, known_limit) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if let Some(below) = below
            && asked >= below
        {
            self.conflict(Conflict::SummaryTooLarge {
                summary: asked,
                below,
            })?;
        }
        Ok(asked)
    }
}

fn prune(asked: PruneOption, preset: &PresetValues) -> Option<Prune> {
    let on = preset.prune_on || asked != PruneOption::default();
    let defaults = preset.prune;
    let tokens = [
        asked.max_result_tokens,
        asked.max_total_result_tokens,
        asked.max_argument_tokens,
    ];
    let [result_tokens, total_tokens, argument_tokens] = tokens.map(|t| t.unwrap_or(0));
    // Whoever gives a limit in tokens means it instead of the one in characters.
    let chars = if tokens.iter().flatten().any(|t| *t > 0) {
        u64::MAX
    } else {
        defaults.max_result_chars
    };
    let prune = Prune {
        when: asked.when.unwrap_or(defaults.when),
        max_result_chars: asked.max_result_chars.unwrap_or(chars),
        max_argument_chars: asked
            .max_argument_chars
            .unwrap_or(defaults.max_argument_chars),
        max_result_tokens: result_tokens,
        max_total_result_tokens: total_tokens,
        max_argument_tokens: argument_tokens,
        duplicates: asked.duplicates.unwrap_or(defaults.duplicates),
        keep_recent_results: asked
            .keep_recent_results
            .unwrap_or(defaults.keep_recent_results),
        mask_permille: match asked.mask {
            None => defaults.mask_permille,
            Some(true) => MASK_PERMILLE,
            Some(false) => 0,
        },
    };
    (on && prune.max_result_chars > 0).then_some(prune)
}

fn counter(choice: DefaultCounter, anthropic: bool) -> CounterChoice {
    match choice {
        DefaultCounter::Estimator => CounterChoice::Estimator,
        DefaultCounter::LangChain => CounterChoice::LangChain {
            tenths: if anthropic { 33 } else { 40 },
        },
        DefaultCounter::Bytes4 => CounterChoice::Bytes4,
    }
}

fn skill_read_tools(options: &Options) -> Vec<Arc<str>> {
    match &options.skill_read_tools {
        Some(tools) => tools.clone(),
        None => SKILL_READ_TOOLS
            .iter()
            .map(|name| Arc::from(*name))
            .collect(),
    }
}

/// deer-flow's factory passes over an explicit nothing, so that it trims all the same.
fn trim_tokens(options: &Options) -> Result<TrimTokens, PolicyError> {
    let passes_over = peer_losses(options) && options.preset == Preset::Deerflow;
    let said = match options.trim_tokens {
        Some(None) if passes_over => None,
        said => said,
    };
    let unsaid = options.preset.values().trim_tokens;
    Ok(match said {
        None => unsaid.map_or(TrimTokens::Off, TrimTokens::Preset),
        Some(said) => positive(At::option("trim_tokens_to_summarize"), said)?
            .map_or(TrimTokens::Off, TrimTokens::Asked),
    })
}

/// Whether the peer's behaviour is wanted even where it loses.
fn peer_losses(options: &Options) -> bool {
    options.strict_parity && options.preset != Preset::Default
}

fn tokens_of(tokens: u64) -> Threshold {
    Threshold {
        tokens: Some(tokens),
        messages: None,
    }
}

/// `n` tenths of a number, rounded down.
fn tenths(of: u64, n: u64) -> u64 {
    let tenths = u128::from(of) * u128::from(n) / 10;
    u64::try_from(tenths).unwrap_or(u64::MAX)
}

/// A fraction (0 to 1) of a number, rounded down as Python's `int(of * fraction)`. The cast saturates.
fn share_of(of: u64, fraction: f64) -> u64 {
    ((of as f64 * fraction) as u64).min(of)
}

fn bad_pattern(bad: BadPattern) -> PolicyError {
    let at = At {
        clause: Some(bad.index),
        ..At::option(bad.list.name())
    };
    PolicyError::BadPattern {
        at,
        reason: bad.reason,
    }
}

fn positive(at: At, value: Option<u64>) -> Result<Option<u64>, PolicyError> {
    match value {
        Some(0) => Err(out_of_range_whole(at, 0)),
        value => Ok(value),
    }
}

fn at_least_one<N: Copy + Into<u64>>(
    option: &'static str,
    asked: Option<N>,
    default: N,
) -> Result<N, PolicyError> {
    let value = asked.unwrap_or(default);
    positive(At::option(option), Some(value.into()))?;
    Ok(value)
}

fn out_of_range_whole(at: At, found: u64) -> PolicyError {
    PolicyError::OutOfRange {
        at,
        found: Number::Whole(found),
        allowed: "a whole number > 0",
    }
}

fn out_of_range(at: At, found: f64, allowed: &'static str) -> PolicyError {
    PolicyError::OutOfRange {
        at,
        found: Number::Real(found),
        allowed,
    }
}
