//! The files in `examples/config`: deer-flow's four (A2), Nous's, and ours, with exactly the values that
//! their documents give them.

use std::path::Path;

use conspectus_config::Config;
use conspectus_core::policy::{
    Counted, Keep, KeepOption, ModelProfile, OnFailure, Options, Placement, Policy, Preset,
    PruneOption, PruneWhen, Reached, Strategy, TriggerOption, TrimTokens, UsageRule,
};

use super::{at_messages, at_tokens, fraction, messages, model, tokens};

fn example(name: &str) -> Config {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/config");
    let text = std::fs::read_to_string(folder.join(name)).expect("an example that is there");
    Config::load(name, &text).expect("an example that loads")
}

#[track_caller]
fn check(name: &str, expect: &Options) -> Policy {
    let config = example(name);
    assert_eq!(config.options(), expect);
    let resolved = config.resolve(&model()).expect("resolves");
    assert_eq!(resolved.warnings, [], "{name} as it is documented");
    resolved.policy
}

fn deerflow() -> Options {
    Options {
        enabled: Some(true),
        ..Options::from(Preset::Deerflow)
    }
}

/// What the document says of every configuration.
#[track_caller]
fn is_deerflow(policy: &Policy) {
    assert!(policy.enabled);
    // "If any configured threshold is met", "when token count reaches the specified value".
    assert_eq!(policy.reached, Reached::AtLeast);
    // "Counts tokens in the message history plus the existing summary_text."
    assert_eq!(policy.counted, Counted::MessagesAndSummary);
    assert_eq!(policy.usage, UsageRule::Scale);
    // "Static handling rules live in a separate system message."
    assert_eq!(policy.placement, Placement::Front);
    assert_eq!(policy.prune, None);
    assert_eq!(policy.summary.strategy, Strategy::Transcript);
    assert_eq!(policy.summary.on_failure, OnFailure::Unchanged);
    let tools: Vec<&str> = policy.skill_read_tools.iter().map(|t| &**t).collect();
    assert_eq!(tools, ["read_file", "read", "view", "cat"]);
}

#[test]
fn minimal() {
    let policy = check(
        "minimal.yaml",
        &Options {
            trigger: TriggerOption::Any(vec![tokens(4000)]),
            keep: Some(KeepOption::Messages(20)),
            ..deerflow()
        },
    );
    is_deerflow(&policy);
    assert_eq!(policy.triggers, [at_tokens(4000)]);
    assert_eq!(policy.keep, Keep::Messages(20));
    assert_eq!(policy.summary.model, None, "the run's own model");
    assert_eq!(policy.summary.trim_tokens, TrimTokens::Preset(4000));
    assert_eq!(policy.call_cap(), None, "a default that nobody asked for");
}

#[test]
fn production() {
    let policy = check(
        "production.yaml",
        &Options {
            model: Some("gpt-4o-mini".into()),
            trigger: TriggerOption::Any(vec![tokens(6000), messages(75)]),
            keep: Some(KeepOption::Messages(25)),
            trim_tokens: Some(Some(5000)),
            ..deerflow()
        },
    );
    is_deerflow(&policy);
    assert_eq!(
        policy.triggers,
        [at_tokens(6000), at_messages(75)],
        "either"
    );
    assert_eq!(policy.keep, Keep::Messages(25));
    assert_eq!(policy.summary.model.as_deref(), Some("gpt-4o-mini"));
    assert_eq!(policy.call_cap(), Some(5000));
}

#[test]
fn multi_model() {
    let expect = Options {
        model: Some("gpt-4o-mini".into()),
        trigger: TriggerOption::Any(vec![fraction(0.7)]),
        keep: Some(KeepOption::Fraction(0.3)),
        trim_tokens: Some(Some(4000)),
        ..deerflow()
    };
    let policy = check("multi-model.yaml", &expect);
    is_deerflow(&policy);
    assert_eq!(policy.call_cap(), Some(4000), "the file says so");
    assert_eq!(policy.triggers, [at_tokens(70_000)], "70% of the max input");
    assert_eq!(policy.keep, Keep::Tokens(30_000), "30% of the max input");

    // "Automatically adapts to each model's capacity."
    let small = ModelProfile {
        window: Some(10_000),
        ..model()
    };
    let resolved = example("multi-model.yaml")
        .resolve(&small)
        .expect("resolves");
    assert_eq!(resolved.policy.triggers, [at_tokens(7_000)]);
    assert_eq!(resolved.policy.keep, Keep::Tokens(3_000));

    // A fraction without a known window is found at load.
    let unknown = example("multi-model.yaml").resolve(&ModelProfile::default());
    assert_eq!(
        unknown.expect_err("refused").to_string(),
        "multi-model.yaml:8: summarization.trigger.value: found a fraction, but the model's window is \
         not known; set max_context, or give tokens instead"
    );
}

#[test]
fn conservative() {
    let policy = check(
        "conservative.yaml",
        &Options {
            model: Some("gpt-4".into()),
            trigger: TriggerOption::Any(vec![tokens(8000)]),
            keep: Some(KeepOption::Messages(40)),
            trim_tokens: Some(None),
            ..deerflow()
        },
    );
    is_deerflow(&policy);
    assert_eq!(policy.triggers, [at_tokens(8000)]);
    assert_eq!(policy.keep, Keep::Messages(40));
    assert_eq!(policy.call_cap(), None, "null skips trimming");
}

#[test]
fn nous() {
    let config = example("nous.yaml");
    let expect = Options {
        model: Some("gpt-4o-mini".into()),
        trigger: TriggerOption::Any(vec![tokens(170_000)]),
        keep: Some(KeepOption::Messages(10)),
        prune: PruneOption {
            max_result_chars: Some(8192),
            ..PruneOption::default()
        },
        ..Options::from(Preset::Nous)
    };
    assert_eq!(config.options(), &expect);
    let large = ModelProfile {
        window: Some(1_000_000),
        ..model()
    };
    let resolved = config.resolve(&large).expect("resolves");
    assert_eq!(resolved.policy.reached, Reached::Above);
    assert_eq!(resolved.policy.triggers, [at_tokens(170_000)]);
    let warnings: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "nous.yaml:7: summarization.summary_model: the raw conversation, tool results included, will \
             be sent to the provider of gpt-4o-mini, and the prefix cache is not used"
        ]
    );
}

#[test]
fn default_yaml_shows_every_option_at_its_default() {
    let config = example("default.yaml");
    assert_eq!(config.warnings(), []);
    let plain = Policy::resolve(&Options::default(), &model()).expect("resolves");
    let resolved = config.resolve(&model()).expect("resolves");
    assert_eq!(resolved.policy, plain.policy);
    assert_eq!(config.options().prune.when, Some(PruneWhen::Trigger));

    // Nothing is left out but the other names of what is there.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(folder.join("examples/config/default.yaml")).expect("there");
    let docs = std::fs::read_to_string(folder.join("docs/configuration.md")).expect("there");
    for option in [
        "preset",
        "enabled",
        "trigger",
        "keep",
        "max_context",
        "max_request_bytes",
        "output_reserve",
        "prune",
        "when",
        "max_result_chars",
        "max_argument_chars",
        "max_result_tokens",
        "max_total_result_tokens",
        "max_argument_tokens",
        "duplicates",
        "keep_recent_results",
        "strategy",
        "tool_results",
        "rolling",
        "form",
        "fidelity",
        "model_name",
        "summary_prompt",
        "max_summary_tokens",
        "trim_tokens_to_summarize",
        "placement",
        "on_failure",
        "max_retries",
        "call_timeout_ms",
        "deadline_ms",
        "max_parallel",
        "breaker",
        "failures",
        "cooldown_ms",
        "skill_file_read_tool_names",
        "redact",
        "patterns",
        "allow",
        "strict_parity",
    ] {
        assert!(
            text.contains(&format!("  {option}: ")) || text.contains(&format!("  {option}:\n")),
            "{option}"
        );
        assert!(
            docs.contains(option),
            "{option} is not in docs/configuration.md"
        );
    }
    for other_name in ["max_context_tokens", "keep_recent", "summary_model"] {
        assert!(docs.contains(&format!("`{other_name}`")), "{other_name}");
    }
}
