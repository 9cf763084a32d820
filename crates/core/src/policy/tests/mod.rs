//! The table of presets row by row, and what each option makes of a number.

mod problems;
mod sanity;

use super::*;

/// A model of 200,000 tokens, 40,000 of them for the reply: 160,000 may be sent.
fn model() -> ModelProfile {
    ModelProfile {
        name: Some("run-model".into()),
        window: Some(200_000),
        max_output: Some(40_000),
        ..ModelProfile::default()
    }
}

fn unknown() -> ModelProfile {
    ModelProfile::default()
}

fn tokens(n: u64) -> TriggerOption {
    TriggerOption::Any(vec![clause(Some(n), None, None)])
}

fn messages(n: u64) -> TriggerOption {
    TriggerOption::Any(vec![clause(None, Some(n), None)])
}

fn fraction(f: f64) -> TriggerOption {
    TriggerOption::Any(vec![clause(None, None, Some(f))])
}

fn clause(tokens: Option<u64>, messages: Option<u64>, fraction: Option<f64>) -> Clause {
    Clause {
        tokens,
        messages,
        fraction,
    }
}

fn threshold(tokens: Option<u64>, messages: Option<u64>) -> Threshold {
    Threshold { tokens, messages }
}

fn quiet(options: &Options, model: &ModelProfile) -> Policy {
    let resolved = Policy::resolve(options, model).expect("resolves");
    assert_eq!(resolved.warnings, [], "{options:?}");
    resolved.policy
}

/// One row of the table: `deerflow` needs a trigger to be on, so it is looked at as it comes: off.
fn row<T: PartialEq + std::fmt::Debug>(get: impl Fn(&Policy) -> T, expect: [T; 4]) {
    for (preset, expect) in Preset::ALL.into_iter().zip(expect) {
        assert_eq!(get(&quiet(&preset.into(), &model())), expect, "{preset:?}");
    }
}

#[test]
fn every_row_of_the_table() {
    // default, deerflow, langchain, nous
    row(|p| p.enabled, [true, false, true, true]);
    row(
        |p| p.triggers.clone(),
        [
            vec![threshold(Some(128_000), None)],
            vec![],
            vec![],
            vec![threshold(Some(100_000), None)],
        ],
    );
    row(|p| p.soft_tokens, [Some(112_000), None, None, None]);
    row(|p| p.reached, {
        use Reached::{Above, AtLeast};
        [AtLeast, AtLeast, AtLeast, Above]
    });
    row(|p| p.counted, {
        use Counted::{Messages, MessagesAndSummary, Request};
        [Request, MessagesAndSummary, Messages, Messages]
    });
    row(|p| p.usage, {
        use UsageRule::{Anchor, Ignore, Scale};
        [Anchor, Scale, Scale, Ignore]
    });
    let langchain = CounterChoice::LangChain { tenths: 40 };
    row(
        |p| p.counter,
        [
            CounterChoice::Estimator,
            langchain,
            langchain,
            CounterChoice::Bytes4,
        ],
    );
    row(|p| p.keep, {
        use Keep::{Auto, Messages};
        [Auto, Messages(20), Messages(20), Messages(10)]
    });
    row(
        |p| p.prune.map(|p| (p.when, p.max_result_chars)),
        [
            Some((PruneWhen::Trigger, 8192)),
            None,
            None,
            Some((PruneWhen::Trigger, 8192)),
        ],
    );
    row(
        |p| p.summary.trim_tokens,
        [
            TrimTokens::Off,
            TrimTokens::Preset(4000),
            TrimTokens::Preset(4000),
            TrimTokens::Off,
        ],
    );
    row(|p| p.summary.strategy, {
        use Strategy::{Auto, Replay, Transcript};
        [Auto, Transcript, Transcript, Replay]
    });
    row(|p| p.placement, {
        use Placement::{Front, Frozen, Message, System};
        [Frozen, Front, Message, System]
    });
    row(|p| p.summary.on_failure, {
        use OnFailure::{Digest, Error, Unchanged};
        [Digest, Unchanged, Error, Unchanged]
    });
    row(|p| p.minimum_gain_permille, [100; 4]);
    row(
        |p| (p.breaker.failures, p.breaker.cooldown_ms),
        [(3, 600_000); 4],
    );
    row(|p| (p.window, p.output_reserve), [(200_000, 40_000); 4]);
    row(
        |p| p.skill_read_tools.join(" "),
        [(); 4].map(|()| "read_file read view cat".to_owned()),
    );
}

#[test]
fn fractions_are_of_what_the_preset_says() {
    let of = |preset, trigger, keep| {
        let options = Options {
            enabled: Some(true),
            trigger: fraction(trigger),
            keep: Some(KeepOption::Fraction(keep)),
            ..Options::from(preset)
        };
        let policy = quiet(&options, &model());
        (policy.triggers[0].tokens, policy.keep)
    };
    // The trigger: of 160,000 in ours, of 200,000 in the others. What is kept: of 200,000.
    assert_eq!(
        of(Preset::Default, 0.5, 0.25),
        (Some(80_000), Keep::Tokens(50_000))
    );
    for peer in [Preset::Deerflow, Preset::Langchain, Preset::Nous] {
        assert_eq!(of(peer, 0.5, 0.25), (Some(100_000), Keep::Tokens(50_000)));
    }
    // As Python's int(): 0.7 * 1000 is 699.99… or 700, the same here as there.
    assert_eq!(share_of_window(1000, 0.7), 700);
    assert_eq!(share_of_window(1000, 0.0001), 1, "never nothing");
}

fn share_of_window(window: u64, f: f64) -> u64 {
    let options = Options {
        trigger: fraction(f),
        ..Options::from(Preset::Langchain)
    };
    let model = ModelProfile {
        window: Some(window),
        ..unknown()
    };
    let resolved = Policy::resolve(&options, &model).expect("resolves");
    resolved.policy.triggers[0].tokens.expect("a token trigger")
}

#[test]
fn auto_keeps_as_ours_does_in_every_preset() {
    for preset in Preset::ALL {
        let options = Options {
            keep: Some(KeepOption::Auto),
            ..preset.into()
        };
        assert_eq!(quiet(&options, &model()).keep, Keep::Auto);
    }
}

#[test]
fn a_clause_is_and_the_list_is_or() {
    let options = Options {
        trigger: TriggerOption::Any(vec![
            clause(Some(4000), Some(30), None),
            clause(Some(4000), None, Some(0.1)),
            clause(None, Some(50), None),
        ]),
        ..Options::default()
    };
    // Both sizes of the second clause are tokens: reached when the larger one is.
    let expect = [
        threshold(Some(4000), Some(30)),
        threshold(Some(16_000), None),
        threshold(None, Some(50)),
    ];
    assert_eq!(quiet(&options, &model()).triggers, expect);
}

#[test]
fn the_window_and_its_reserve() {
    #[track_caller]
    fn check(options: &Options, model: &ModelProfile, expect: (u64, u64, WindowSource)) {
        let policy = Policy::resolve(options, model).expect("resolves").policy;
        let got = (policy.window, policy.output_reserve, policy.window_source);
        assert_eq!(got, expect);
    }
    use WindowSource::{Assumed, Given, Learnt};
    let profile = |window, max_output, learnt| ModelProfile {
        name: None,
        window,
        max_output,
        learnt,
        ..ModelProfile::default()
    };
    let plain = Options::default();
    let asked = Options {
        max_context: Some(50_000),
        ..Options::default()
    };
    let manual = Options {
        trigger: TriggerOption::Never,
        ..Options::default()
    };
    // The output limit, at most a quarter; 8,192 when nobody knows it.
    check(
        &plain,
        &profile(Some(40_000), Some(4096), false),
        (40_000, 4096, Given),
    );
    check(
        &plain,
        &profile(Some(40_000), Some(32_000), false),
        (40_000, 10_000, Given),
    );
    check(
        &plain,
        &profile(Some(128_000), None, false),
        (128_000, 8192, Given),
    );
    check(
        &plain,
        &profile(Some(8_000), None, false),
        (8_000, 2_000, Given),
    );
    // The host knows better, but not better than an overflow error.
    check(
        &asked,
        &profile(Some(40_000), None, false),
        (50_000, 8192, Given),
    );
    check(
        &asked,
        &profile(Some(40_000), None, true),
        (40_000, 8192, Learnt),
    );
    check(
        &asked,
        &profile(Some(60_000), None, true),
        (50_000, 8192, Given),
    );
    check(
        &plain,
        &profile(Some(40_000), None, true),
        (40_000, 8192, Learnt),
    );
    // Nobody knows: 128,000, or what the sizes that were asked for imply.
    check(&manual, &unknown(), (128_000, 8192, Assumed));
    check(
        &plain,
        &profile(Some(0), None, false),
        (128_000, 8192, Assumed),
    );
    let large = Options {
        trigger: tokens(600_000),
        ..Options::default()
    };
    check(&large, &unknown(), (1_000_000, 8192, Assumed));
    check(&Preset::Nous.into(), &unknown(), (166_667, 8192, Assumed));
    let reserve = |n| Options {
        output_reserve: Some(n),
        ..Options::default()
    };
    check(&reserve(1000), &model(), (200_000, 1000, Given));
    check(&reserve(0), &model(), (200_000, 0, Given));
    check(&reserve(150_000), &model(), (200_000, 50_000, Given));
}

#[test]
fn the_cap_of_a_call_is_what_was_asked_for() {
    let check = |preset, strict_parity, said, expect| {
        let options = Options {
            trim_tokens: said,
            strict_parity,
            trigger: tokens(5_000),
            ..Options::from(preset)
        };
        let resolved = Policy::resolve(&options, &model()).expect("resolves");
        assert_eq!(
            resolved.policy.call_cap(),
            expect,
            "{preset:?}, strict {strict_parity}, said {said:?}"
        );
    };
    for preset in [Preset::Langchain, Preset::Deerflow] {
        check(preset, false, None, None);
        // The preset's own number counts too once somebody says it.
        check(preset, false, Some(Some(4_000)), Some(4_000));
        check(preset, false, Some(Some(4_001)), Some(4_001));
        check(preset, false, Some(None), None);
        check(preset, true, None, Some(4_000));
    }
    check(Preset::Langchain, true, Some(None), None);
    check(Preset::Deerflow, true, Some(None), Some(4_000));
    check(Preset::Default, false, None, None);
    check(Preset::Default, false, Some(Some(4_000)), Some(4_000));
    check(Preset::Nous, false, None, None);
}

#[test]
fn an_option_overrides_its_row_alone() {
    let base = quiet(&Options::default(), &model());
    let options = Options {
        keep: Some(KeepOption::Messages(0)),
        trim_tokens: Some(Some(500)),
        on_failure: Some(OnFailure::Unchanged),
        placement: Some(Placement::Front),
        strategy: Some(Strategy::Transcript),
        model: Some("cheap".into()),
        max_summary_tokens: Some(700),
        max_retries: Some(5),
        skill_read_tools: Some(vec![]),
        breaker_failures: Some(1),
        ..Options::default()
    };
    let expect = Policy {
        keep: Keep::Messages(0),
        placement: Placement::Front,
        skill_read_tools: vec![],
        summary: SummaryPolicy {
            trim_tokens: TrimTokens::Asked(500),
            on_failure: OnFailure::Unchanged,
            strategy: Strategy::Transcript,
            model: Some("cheap".into()),
            max_tokens: 700,
            max_retries: 5,
            ..base.summary.clone()
        },
        breaker: Breaker {
            failures: 1,
            ..base.breaker
        },
        ..base
    };
    assert_eq!(quiet(&options, &model()), expect);
}

#[test]
fn pruning_is_on_once_something_of_it_is_said() {
    #[track_caller]
    fn check(preset: Preset, prune: PruneOption, expect: Option<Prune>) {
        let options = Options {
            prune,
            ..preset.into()
        };
        assert_eq!(quiet(&options, &model()).prune, expect);
    }
    let unsaid = PruneOption::default();
    let limit = |n| PruneOption {
        max_result_chars: Some(n),
        ..unsaid
    };
    let results = Prune {
        when: PruneWhen::Trigger,
        max_result_chars: 8192,
        max_argument_chars: 0,
        max_result_tokens: 0,
        max_total_result_tokens: 0,
        max_argument_tokens: 0,
        duplicates: false,
        keep_recent_results: 0,
        mask_permille: 0,
    };
    let ours = Prune {
        mask_permille: 200,
        max_argument_chars: 8192,
        duplicates: true,
        ..results
    };
    check(Preset::Default, unsaid, Some(ours));
    check(Preset::Nous, unsaid, Some(results));
    check(Preset::Deerflow, unsaid, None);
    check(Preset::Default, limit(0), None);
    let shorter = Prune {
        max_result_chars: 500,
        ..results
    };
    check(Preset::Deerflow, limit(500), Some(shorter));
    let always = PruneOption {
        when: Some(PruneWhen::Always),
        ..unsaid
    };
    let expect = Prune {
        when: PruneWhen::Always,
        ..results
    };
    check(Preset::Langchain, always, Some(expect));
}

#[test]
fn a_summary_is_capped_below_what_triggers() {
    let cap = |trigger| {
        let options = Options {
            trigger,
            ..Options::default()
        };
        quiet(&options, &model()).summary.max_tokens
    };
    assert_eq!(cap(TriggerOption::Auto), 4096);
    assert_eq!(cap(TriggerOption::Never), 4096);
    assert_eq!(cap(tokens(4000)), 1000);
    assert_eq!(cap(tokens(200)), 64, "nothing useful is shorter");
    assert_eq!(cap(tokens(100)), 50, "but never more than half");
    let small = ModelProfile {
        window: Some(8000),
        ..unknown()
    };
    let policy = quiet(&Options::default(), &small);
    assert_eq!(policy.summary.max_tokens, 750, "an eighth of 6,000");
}

#[test]
fn strict_parity_asks_for_no_gain() {
    for (preset, expect) in Preset::ALL.into_iter().zip([100, 0, 0, 0]) {
        let options = Options {
            strict_parity: true,
            ..preset.into()
        };
        let policy = Policy::resolve(&options, &model())
            .expect("resolves")
            .policy;
        assert_eq!(policy.minimum_gain_permille, expect);
        assert!(policy.strict_parity);
    }
}

#[test]
fn anthropic_counts_three_point_three() {
    for preset in [Preset::Deerflow, Preset::Langchain] {
        let options = Options {
            anthropic: true,
            ..preset.into()
        };
        let expect = CounterChoice::LangChain { tenths: 33 };
        assert_eq!(quiet(&options, &model()).counter, expect);
    }
}

fn changed(preset: Preset, change: fn(&mut Options)) -> Options {
    let mut options = Options::from(preset);
    change(&mut options);
    options
}
