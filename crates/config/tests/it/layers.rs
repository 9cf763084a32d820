//! Flags over the file, and where a problem then comes from.

use conspectus_config::{Config, Overrides, TriggerArg, parse_keep, parse_trigger};
use conspectus_core::policy::{
    Keep, ModelProfile, Options, Policy, Preset, PruneOption, Strategy, TriggerOption,
};

use super::{at_tokens, messages, model, tokens};

const FILE: &str = "summarization:\n  enabled: true\n  trigger: {type: tokens, value: 4000}\n  \
                    keep: {type: messages, value: 20}\n";

fn over(file: &str, flags: &Overrides) -> Config {
    let config = Config::load("config.yaml", file).expect("loads");
    config.with_overrides(flags).expect("layers")
}

#[test]
fn nothing_said_changes_nothing() {
    let config = Config::load("config.yaml", FILE).expect("loads");
    assert_eq!(over(FILE, &Overrides::default()), config);
}

#[test]
fn flags_win_and_the_rest_stays() {
    let flags = Overrides {
        trigger: vec![
            parse_trigger("tokens=9000").expect("reads"),
            parse_trigger("messages=50").expect("reads"),
        ],
        prune_over: Some(500),
        model: Some("m".into()),
        strict_parity: Some(true),
        ..Overrides::default()
    };
    let file = Config::load("config.yaml", FILE).expect("loads");
    let expect = Options {
        trigger: TriggerOption::Any(vec![tokens(9000), messages(50)]),
        prune: PruneOption {
            max_result_chars: Some(500),
            ..PruneOption::default()
        },
        model: Some("m".into()),
        strict_parity: true,
        ..file.options().clone()
    };
    assert_eq!(over(FILE, &flags).options(), &expect);
}

#[test]
fn a_preset_on_the_command_line_keeps_what_the_file_says() {
    let flags = Overrides {
        preset: Some(Preset::Nous),
        ..Overrides::default()
    };
    let policy: Policy = over(FILE, &flags)
        .resolve(&model())
        .expect("resolves")
        .policy;
    assert_eq!(policy.preset, Preset::Nous);
    assert_eq!(policy.triggers, [at_tokens(4000)]);
    assert_eq!(policy.keep, Keep::Messages(20));
    assert_eq!(
        policy.summary.strategy,
        Strategy::Replay,
        "unsaid: the preset's"
    );
}

#[test]
fn without_a_file_flags_stand_alone() {
    let flags = Overrides {
        trigger: vec![parse_trigger("tokens=4000").expect("reads")],
        keep: Some(parse_keep("messages=20").expect("reads")),
        max_context: Some(50_000),
        ..Overrides::default()
    };
    let config = Config::default().with_overrides(&flags).expect("layers");
    let resolved = config.resolve(&ModelProfile::default()).expect("resolves");
    assert_eq!(resolved.warnings, []);
    assert_eq!(resolved.policy.triggers, [at_tokens(4000)]);
    assert_eq!(resolved.policy.window, 50_000);
}

#[test]
fn a_problem_names_the_flag_or_the_line() {
    #[track_caller]
    fn check(file: &str, flags: &Overrides, expect: &str) {
        let error = over(file, flags).resolve(&model()).expect_err("refused");
        assert_eq!(error.to_string(), expect);
    }
    let ours = "summarization:\n  preset: default\n  trigger: {messages: 20}\n";
    let keep = Overrides {
        keep: Some(parse_keep("messages=30").expect("reads")),
        ..Overrides::default()
    };
    check(
        ours,
        &keep,
        "--keep: found 30 messages, allowed is less than the 20 messages of trigger[0].messages; lower one or raise the other",
    );
    let kept = "summarization:\n  preset: default\n  keep: {messages: 20}\n";
    let trigger = Overrides {
        trigger: vec![parse_trigger("messages=10").expect("reads")],
        ..Overrides::default()
    };
    check(
        kept,
        &trigger,
        "config.yaml:3: summarization.keep: found 20 messages, allowed is less than the 10 messages of trigger[0].messages; lower one or raise the other",
    );
    let large = Overrides {
        trigger: vec![parse_trigger("tokens=99999").expect("reads")],
        ..Overrides::default()
    };
    check(
        "",
        &large,
        "--trigger: found 99999 tokens, allowed is less than 84000 (window 100000 less 16000 for the reply); lower it",
    );
    let small = Overrides {
        max_context: Some(3),
        ..Overrides::default()
    };
    check(
        "",
        &small,
        "--max-context: found 3, expected a whole number of at least 16",
    );
}

#[test]
fn auto_stands_alone() {
    let flags = Overrides {
        trigger: vec![TriggerArg::Auto, parse_trigger("tokens=5").expect("reads")],
        ..Overrides::default()
    };
    let error = Config::default()
        .with_overrides(&flags)
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "--trigger: found auto beside another trigger, expected one of them alone"
    );
    let flags = Overrides {
        trigger: vec![TriggerArg::Never],
        ..Overrides::default()
    };
    let config = Config::default().with_overrides(&flags).expect("layers");
    assert_eq!(config.options().trigger, TriggerOption::Never);
}
