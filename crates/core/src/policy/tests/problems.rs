//! Every error and every warning, word by word.

use super::*;

#[test]
fn every_error_says_what_to_change() {
    #[track_caller]
    fn check(options: &Options, model: &ModelProfile, expect: &str) {
        let error = Policy::resolve(options, model).expect_err("refused");
        assert_eq!(error.to_string(), expect);
        let located = format!("{}: {}", error.at(), error.without_option());
        assert_eq!(located, expect, "begins with its option");
    }
    let ours = |change: fn(&mut Options)| changed(Preset::Default, change);
    let langchain = |change: fn(&mut Options)| changed(Preset::Langchain, change);
    let m = &model();

    let on = changed(Preset::Deerflow, |o| o.enabled = Some(true));
    check(
        &on,
        m,
        "trigger: found none, expected at least one of tokens, messages and fraction, since preset deerflow is enabled; or say enabled: false",
    );
    let null = Options {
        trigger: TriggerOption::Never,
        ..on.clone()
    };
    check(
        &null,
        m,
        "trigger: found none, expected at least one of tokens, messages and fraction, since preset deerflow is enabled; or say enabled: false",
    );
    check(
        &ours(|o| o.trigger = TriggerOption::Any(vec![])),
        m,
        "trigger: found none, expected at least one of tokens, messages and fraction, since preset default is enabled; or say enabled: false",
    );
    check(
        &ours(|o| o.trigger = TriggerOption::Any(vec![Clause::default()])),
        m,
        "trigger[0]: found an empty clause, expected at least one of tokens, messages and fraction",
    );
    check(
        &ours(|o| o.trigger = tokens(0)),
        m,
        "trigger[0].tokens: found 0, expected a whole number > 0",
    );
    check(
        &langchain(|o| o.trigger = messages(0)),
        m,
        "trigger[0].messages: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.trigger = fraction(1.7)),
        m,
        "trigger[0].fraction: found 1.7, expected a number above 0 and at most 1",
    );
    check(
        &ours(|o| o.trigger = fraction(f64::NAN)),
        m,
        "trigger[0].fraction: found NaN, expected a number above 0 and at most 1",
    );
    check(
        &ours(|o| o.trigger = fraction(0.8)),
        &unknown(),
        "trigger[0].fraction: found a fraction, but the model's window is not known; set max_context, or give tokens instead",
    );
    check(
        &ours(|o| o.keep = Some(KeepOption::Fraction(0.2))),
        &unknown(),
        "keep.fraction: found a fraction, but the model's window is not known; set max_context, or give tokens instead",
    );
    check(
        &langchain(|o| o.trigger = fraction(0.8)),
        &unknown(),
        "trigger[0].fraction: found a fraction, but the model's window is not known; set max_context, or give tokens instead",
    );
    check(
        &ours(|o| o.keep = Some(KeepOption::Fraction(-0.5))),
        m,
        "keep.fraction: found -0.5, expected a number from 0 to 1",
    );
    check(
        &langchain(|o| o.keep = Some(KeepOption::Fraction(0.0))),
        m,
        "keep.fraction: found 0, expected a number above 0 and at most 1",
    );
    check(
        &langchain(|o| o.keep = Some(KeepOption::Messages(0))),
        m,
        "keep.messages: found 0, expected a whole number > 0",
    );
    check(
        &langchain(|o| o.keep = Some(KeepOption::Tokens(0))),
        m,
        "keep.tokens: found 0, expected a whole number > 0",
    );
    check(
        &changed(Preset::Deerflow, |o| o.keep = Some(KeepOption::Messages(0))),
        m,
        "keep.messages: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| {
            o.trigger = messages(20);
            o.keep = Some(KeepOption::Messages(20));
        }),
        m,
        "keep: found 20 messages, allowed is less than the 20 messages of trigger[0].messages; lower one or raise the other",
    );
    check(
        &ours(|o| {
            o.trigger = tokens(4000);
            o.keep = Some(KeepOption::Tokens(4000));
        }),
        m,
        "keep: found 4000 tokens, allowed is less than the 4000 tokens of trigger[0].tokens; lower one or raise the other",
    );
    check(
        &ours(|o| o.keep = Some(KeepOption::Fraction(0.64))),
        m,
        "keep: found 128000 tokens, allowed is less than the 128000 tokens of trigger; lower one or raise the other",
    );
    check(
        &ours(|o| o.trigger = tokens(160_000)),
        m,
        "trigger[0].tokens: found 160000 tokens, allowed is less than 160000 (window 200000 less 40000 for the reply); lower it",
    );
    check(
        &ours(|o| o.trigger = fraction(1.0)),
        m,
        "trigger[0].fraction: found 160000 tokens, allowed is less than 160000 (window 200000 less 40000 for the reply); lower it",
    );
    check(
        &ours(|o| {
            o.trigger = messages(50);
            o.keep = Some(KeepOption::Tokens(170_000));
        }),
        m,
        "keep: found 170000 tokens, allowed is less than 160000 (window 200000 less 40000 for the reply); lower it",
    );
    check(
        &ours(|o| {
            o.trigger = tokens(4000);
            o.max_summary_tokens = Some(4000);
        }),
        m,
        "max_summary_tokens: found 4000 tokens, allowed is less than 4000, where a compaction is due again; lower it",
    );
    check(
        &ours(|o| o.max_summary_tokens = Some(0)),
        m,
        "max_summary_tokens: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.trim_tokens = Some(Some(0))),
        m,
        "trim_tokens_to_summarize: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.max_context = Some(15)),
        m,
        "max_context: found 15, expected a whole number of at least 16",
    );
    check(
        &ours(|o| o.max_parallel = Some(0)),
        m,
        "max_parallel: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.call_timeout_ms = Some(0)),
        m,
        "call_timeout_ms: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.deadline_ms = Some(0)),
        m,
        "deadline_ms: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| o.breaker_failures = Some(0)),
        m,
        "breaker.failures: found 0, expected a whole number > 0",
    );
    check(
        &ours(|o| {
            o.strategy = Some(Strategy::Replay);
            o.model = Some("other".into());
        }),
        m,
        "strategy: found replay with another model for summaries, which would be sent the raw conversation; use strategy: transcript, leave the model out, or take preset: nous",
    );
}

#[test]
fn every_warning_says_what_is_done() {
    #[track_caller]
    fn check(options: &Options, model: &ModelProfile, expect: &[&str]) {
        let resolved = Policy::resolve(options, model).expect("resolves");
        let got: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(got, expect);
        let located = resolved
            .warnings
            .iter()
            .map(|w| format!("{}: {}", w.at(), w.without_option()));
        let located: Vec<_> = located.collect();
        assert_eq!(located, expect, "each begins with its option");
    }
    let m = &model();
    check(
        &Options::default(),
        &unknown(),
        &[
            "max_context: the model's window is not known: 128000 tokens are assumed until an overflow error says better; set max_context",
        ],
    );
    check(
        &changed(Preset::Langchain, |o| {
            o.trigger = messages(20);
            o.keep = Some(KeepOption::Messages(20));
        }),
        m,
        &[
            "keep: found 20 messages, allowed is less than the 20 messages of trigger[0].messages; lower one or raise the other",
        ],
    );
    check(
        &changed(Preset::Langchain, |o| o.trigger = fraction(0.8)),
        m,
        &[
            "trigger[0].fraction: found 160000 tokens, allowed is less than 160000 (window 200000 less 40000 for the reply); lower it",
        ],
    );
    check(
        &changed(Preset::Nous, |o| o.model = Some("other".into())),
        m,
        &[
            "model: the raw conversation, tool results included, will be sent to the provider of other, and the prefix cache is not used",
        ],
    );
    check(
        &changed(Preset::Nous, |o| o.model = Some("run-model".into())),
        m,
        &[],
    );
    check(
        &changed(Preset::Default, |o| o.output_reserve = Some(60_000)),
        m,
        &[
            "output_reserve: 60000 tokens are more than a quarter of the window of 200000: 50000 are used",
        ],
    );
    check(
        &changed(Preset::Default, |o| o.strict_parity = true),
        m,
        &["strict_parity: preset default has no peer to be strict about, this changes nothing"],
    );
    // Sizes that were said need no window, and an assumed one is nothing to compare with.
    check(
        &changed(Preset::Default, |o| o.trigger = tokens(4000)),
        &unknown(),
        &[],
    );
    check(
        &changed(Preset::Default, |o| o.trigger = TriggerOption::Never),
        &unknown(),
        &[],
    );
    check(&Preset::Nous.into(), &unknown(), &[]);
    // Off is off: nothing needs a window.
    check(
        &changed(Preset::Deerflow, |o| o.trigger = fraction(0.8)),
        &unknown(),
        &[],
    );
    check(
        &changed(Preset::Default, |o| o.enabled = Some(false)),
        &unknown(),
        &[],
    );
}
