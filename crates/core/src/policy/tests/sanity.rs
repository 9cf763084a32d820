//! Invariant 16 over random options and models.

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::super::{
    Clause, Keep, KeepOption, MIN_WINDOW, ModelProfile, Options, Policy, PolicyWarning, Preset,
    Resolved, Threshold, TriggerOption, WindowSource,
};
use super::clause;

/// Sizes of every magnitude, the ends included, and often from so few that two of them are equal.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        1 => Just(u64::MAX),
        20 => 1..24u64,
        20 => (0u32..64, any::<u64>()).prop_map(|(shift, n)| n >> shift),
    ]
}

fn any_fraction() -> impl Strategy<Value = f64> {
    prop_oneof![40 => 0.0..1.01f64, 1 => any::<f64>(), 1 => Just(1.0), 1 => Just(0.0)]
}

fn any_clause() -> impl Strategy<Value = Clause> {
    use proptest::option::of;
    (of(size()), of(size()), of(any_fraction())).prop_map(|(t, m, f)| clause(t, m, f))
}

fn any_options() -> impl Strategy<Value = Options> {
    use proptest::option::of;
    let trigger = prop_oneof![
        Just(TriggerOption::Unset),
        Just(TriggerOption::Auto),
        Just(TriggerOption::Never),
        proptest::collection::vec(any_clause(), 0..3).prop_map(TriggerOption::Any),
    ];
    let keep = prop_oneof![
        Just(None),
        Just(Some(KeepOption::Auto)),
        size().prop_map(|n| Some(KeepOption::Messages(n))),
        size().prop_map(|n| Some(KeepOption::Tokens(n))),
        any_fraction().prop_map(|f| Some(KeepOption::Fraction(f))),
    ];
    let preset = prop::sample::select(Preset::ALL.to_vec());
    let more = (of(any::<bool>()), of(size()), of(size()), of(size()));
    let equal = any::<(bool, bool)>();
    (preset, trigger, keep, more, equal).prop_map(|(preset, trigger, keep, more, equal)| {
        let options = Options {
            preset,
            trigger,
            keep,
            enabled: more.0,
            max_context: more.1,
            output_reserve: more.2,
            max_summary_tokens: more.3,
            ..Options::default()
        };
        at_the_edge(options, equal)
    })
}

/// Chance makes two sizes differ; the rules are about sizes that are equal.
fn at_the_edge(mut options: Options, (keep, window): (bool, bool)) -> Options {
    if let TriggerOption::Any(clauses) = &mut options.trigger
        && let Some(first) = clauses.first_mut()
    {
        match &mut options.keep {
            Some(KeepOption::Messages(n)) if keep => *n = first.messages.unwrap_or(*n),
            Some(KeepOption::Tokens(n)) if keep => *n = first.tokens.unwrap_or(*n),
            _ => {}
        }
        if window && options.max_context.is_some() {
            first.tokens = options.max_context;
            first.fraction = None;
            options.output_reserve = Some(0);
        }
    }
    options
}

fn any_model() -> impl Strategy<Value = ModelProfile> {
    use proptest::option::of;
    (of(size()), of(size()), any::<bool>()).prop_map(|(window, max_output, learnt)| ModelProfile {
        name: None,
        window,
        max_output,
        learnt,
        provider: None,
    })
}

/// What of `keep < trigger < window − reserve` does not hold, as far as it can be compared.
fn broken(policy: &Policy) -> Vec<&'static str> {
    let mut broken = Vec::new();
    let known = policy.window_source != WindowSource::Assumed;
    for threshold in &policy.triggers {
        match policy.keep {
            Keep::Messages(keep) if threshold.messages.is_some_and(|t| keep >= t) => {
                broken.push("keep");
            }
            Keep::Tokens(keep) if threshold.tokens.is_some_and(|t| keep >= t) => {
                broken.push("keep");
            }
            _ => {}
        }
        if known && threshold.tokens.is_some_and(|t| t >= policy.input_limit()) {
            broken.push("trigger");
        }
    }
    broken
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Invariant 16.
    #[test]
    fn thresholds_are_sane_or_the_option_is_named(options in any_options(), model in any_model()) {
        let Ok(Resolved { policy, warnings }) = Policy::resolve(&options, &model) else {
            return Ok(());
        };
        prop_assert!(policy.window >= MIN_WINDOW);
        prop_assert!(policy.output_reserve <= policy.window / 4);
        prop_assert!(policy.summary.max_tokens > 0);
        if options.max_summary_tokens.is_none() {
            prop_assert!(policy.summary.max_tokens < policy.input_limit());
            prop_assert!(policy.trigger_tokens().is_none_or(|t| policy.summary.max_tokens <= t));
        }
        prop_assert!(policy.triggers.iter().all(|t| t.tokens != Some(0) && t.messages != Some(0)));
        prop_assert!(policy.triggers.iter().all(|t| *t != Threshold::default()), "an empty AND is always");
        if let Some(soft) = policy.soft_tokens {
            prop_assert!(Some(soft) < policy.trigger_tokens());
        }
        let named: Vec<_> = warnings
            .iter()
            .filter_map(|w| match w {
                PolicyWarning::Conflict(conflict) => Some(conflict.at().option),
                _ => None,
            })
            .collect();
        let mut broken = broken(&policy);
        if options.preset == Preset::Default && policy.enabled {
            prop_assert!(broken.is_empty() && named.is_empty());
            // Unknown is never silent where a number follows from it.
            let silent = policy.window_source == WindowSource::Assumed
                && policy.soft_tokens.is_some()
                && warnings.is_empty();
            prop_assert!(!silent);
        }
        broken.retain(|option| !named.contains(option));
        prop_assert!(broken.is_empty(), "{broken:?} goes without a warning");
    }

    /// A configuration without extremes resolves: no preset refuses what it has itself set.
    #[test]
    fn every_preset_resolves_for_every_model(model in any_model(), enabled in any::<bool>()) {
        for preset in Preset::ALL {
            let options = Options {
                enabled: Some(enabled && preset != Preset::Deerflow),
                ..preset.into()
            };
            prop_assert!(Policy::resolve(&options, &model).is_ok());
        }
    }
}
