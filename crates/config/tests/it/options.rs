//! Every option of the section, in every form it may have.

use conspectus_config::Config;
use conspectus_core::policy::{
    AnswerForm, Clause, Fidelity, KeepOption, OnFailure, Options, Placement, Preset, PruneOption,
    PruneWhen, Rolling, Strategy, ToolResults, TriggerOption,
};
use conspectus_core::redact::RedactOption;

use super::{fraction, messages, options, tokens, warnings};

#[track_caller]
fn check(body: &str, expect: impl FnOnce(&mut Options)) {
    let text = format!("summarization:\n{body}\n");
    assert_eq!(options(&text), deerflow(expect));
}

fn deerflow(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::from(Preset::Deerflow);
    change(&mut options);
    options
}

#[test]
fn which_preset_a_file_follows() {
    // A section without a preset is deer-flow's; no section, or no file, is ours.
    assert_eq!(options("summarization:\n").preset, Preset::Deerflow);
    assert_eq!(options("summarization: {}").preset, Preset::Deerflow);
    assert_eq!(options(""), Options::default());
    assert_eq!(options("# nothing\n"), Options::default());
    assert_eq!(
        options("models: []\ntitle: {enabled: true}"),
        Options::default()
    );
    assert_eq!(Config::default().options(), &Options::default());
    for preset in Preset::ALL {
        let text = format!("summarization:\n  preset: {}\n", preset.name());
        assert_eq!(options(&text), Options::from(preset));
    }
}

#[test]
fn the_reference_of_the_seed() {
    // The block that deer-flow's document opens with.
    let text = r#"
summarization:
  enabled: true
  model_name: null  # null = summarize with the run's own model (see below); or name a lightweight model

  # Trigger conditions (OR logic - any condition triggers summarization)
  trigger:
    - type: tokens
      value: 4000
    # Additional triggers (optional)
    # - type: messages
    #   value: 50

  # Context retention policy
  keep:
    type: messages
    value: 20

  # Token trimming for summarization call
  trim_tokens_to_summarize: 4000

  # Custom summary prompt (optional)
  summary_prompt: null

  # Tool names treated as skill file reads for the durable skill_context channel
  skill_file_read_tool_names:
    - read_file
    - read
    - view
    - cat
"#;
    let expect = deerflow(|o| {
        o.enabled = Some(true);
        o.trigger = TriggerOption::Any(vec![tokens(4000)]);
        o.keep = Some(KeepOption::Messages(20));
        o.trim_tokens = Some(Some(4000));
        let tools = ["read_file", "read", "view", "cat"];
        o.skill_read_tools = Some(tools.map(Into::into).to_vec());
    });
    assert_eq!(options(text), expect);
}

#[test]
fn triggers_in_every_form() {
    let trigger = |body: &str, expect| {
        check(&format!("  trigger: {body}"), |o| o.trigger = expect);
    };
    trigger(
        "{type: tokens, value: 4000}",
        TriggerOption::Any(vec![tokens(4000)]),
    );
    trigger(
        "{value: 0.8, type: fraction}",
        TriggerOption::Any(vec![fraction(0.8)]),
    );
    trigger("[]", TriggerOption::Any(vec![]));
    trigger("{}", TriggerOption::Any(vec![Clause::default()]));
    trigger("null", TriggerOption::Never);
    trigger("", TriggerOption::Never);
    trigger("auto", TriggerOption::Auto);
    // A7: AND inside a clause, OR between clauses.
    let both = Clause {
        tokens: Some(4000),
        messages: Some(20),
        fraction: None,
    };
    trigger(
        "{tokens: 4000, messages: 20}",
        TriggerOption::Any(vec![both]),
    );
    trigger(
        "[{tokens: 4000, messages: 20}, {type: messages, value: 75}, {fraction: 0.5}]",
        TriggerOption::Any(vec![both, messages(75), fraction(0.5)]),
    );
    // Numbers as YAML 1.1, Python and Elixir write them.
    for value in ["4000", "4_000", "\"4000\"", "4000.0", "+4000"] {
        trigger(
            &format!("{{type: tokens, value: {value}}}"),
            TriggerOption::Any(vec![tokens(4000)]),
        );
    }
}

#[test]
fn keep_in_every_form() {
    let keep = |body: &str, expect| {
        check(&format!("  keep: {body}"), |o| o.keep = Some(expect));
    };
    keep("{type: messages, value: 20}", KeepOption::Messages(20));
    keep("{type: tokens, value: 3000}", KeepOption::Tokens(3000));
    keep("{type: fraction, value: 0.3}", KeepOption::Fraction(0.3));
    keep("{messages: 20}", KeepOption::Messages(20));
    keep("auto", KeepOption::Auto);
}

#[test]
fn the_other_options() {
    check("  enabled: yes", |o| o.enabled = Some(true));
    check("  enabled: Off", |o| o.enabled = Some(false));
    check("  model_name: gpt-4o-mini", |o| {
        o.model = Some("gpt-4o-mini".into());
    });
    check("  model_name: null", |_| {});
    check("  trim_tokens_to_summarize: 500", |o| {
        o.trim_tokens = Some(Some(500));
    });
    check("  trim_tokens_to_summarize: null", |o| {
        o.trim_tokens = Some(None);
    });
    check("  skill_file_read_tool_names: []", |o| {
        o.skill_read_tools = Some(vec![]);
    });
    let prompt = "  summary_prompt: |\n    Short:\n    {messages}";
    check(prompt, |o| {
        o.summary_prompt = Some("Short:\n{messages}\n".into());
    });
    check(
        "  strategy: replay\n  placement: system\n  on_failure: error\n  tool_results: omit\n  rolling: segments\n  \
         form: sections\n  fidelity: cut",
        |o| {
            o.tool_results = Some(ToolResults::Omit);
            o.rolling = Some(Rolling::Segments);
            o.form = Some(AnswerForm::Sections);
            o.fidelity = Some(Fidelity::Cut);
            o.strategy = Some(Strategy::Replay);
            o.placement = Some(Placement::System);
            o.on_failure = Some(OnFailure::Error);
        },
    );
    check(
        "  max_context: 128000\n  max_request_bytes: 9000\n  output_reserve: 0\n  max_summary_tokens: 900\n  max_retries: 0\n  \
         call_timeout_ms: 1000\n  deadline_ms: 2000\n  max_parallel: 1\n  strict_parity: true\n  \
         breaker: {failures: 5, cooldown_ms: 0}",
        |o| {
            o.max_context = Some(128_000);
            o.max_request_bytes = Some(9_000);
            o.output_reserve = Some(0);
            o.max_summary_tokens = Some(900);
            o.max_retries = Some(0);
            o.call_timeout_ms = Some(1000);
            o.deadline_ms = Some(2000);
            o.max_parallel = Some(1);
            o.strict_parity = true;
            o.breaker_failures = Some(5);
            o.breaker_cooldown_ms = Some(0);
        },
    );
}

#[test]
fn nous_names_stand_in_the_same_section() {
    check(
        "  max_context_tokens: 100_000\n  keep_recent: 0\n  max_result_chars: 10\n  summary_model: m",
        |o| {
            o.trigger = TriggerOption::Any(vec![tokens(100_000)]);
            o.keep = Some(KeepOption::Messages(0));
            o.prune.max_result_chars = Some(10);
            o.model = Some("m".into());
        },
    );
}

#[test]
fn pruning() {
    let prune = |body: &str, expect| {
        check(&format!("  prune: {body}"), |o| o.prune = expect);
    };
    let unsaid = PruneOption::default();
    prune(
        "{when: always, max_result_chars: 500, max_argument_chars: 0, max_result_tokens: 90, \
         max_total_result_tokens: 900, max_argument_tokens: 60, duplicates: false, \
         keep_recent_results: 3}",
        PruneOption {
            when: Some(PruneWhen::Always),
            max_result_chars: Some(500),
            max_argument_chars: Some(0),
            max_result_tokens: Some(90),
            max_total_result_tokens: Some(900),
            max_argument_tokens: Some(60),
            duplicates: Some(false),
            keep_recent_results: Some(3),
        },
    );
    let off = PruneOption {
        max_result_chars: Some(0),
        ..unsaid
    };
    prune("false", off);
    let on = PruneOption {
        when: Some(PruneWhen::Trigger),
        ..unsaid
    };
    prune("true", on);
    prune("null", unsaid);
}

#[test]
fn anchors_and_merges_are_yaml() {
    let text = "defaults: &d\n  enabled: true\n  keep: {messages: 5}\n\
                summarization:\n  <<: *d\n  keep: {messages: 9}\n";
    let expect = deerflow(|o| {
        o.enabled = Some(true);
        o.keep = Some(KeepOption::Messages(9));
    });
    assert_eq!(options(text), expect);
    let windows = "\u{feff}summarization:\r\n  keep: {messages: 9}\r\n";
    assert_eq!(options(windows).keep, Some(KeepOption::Messages(9)));
}

#[test]
fn what_is_accepted_with_a_warning() {
    #[track_caller]
    fn check(body: &str, expect: &[&str]) {
        assert_eq!(warnings(&format!("summarization:\n{body}\n")), expect);
    }
    // A4: one warning, however many there are.
    check(
        "  preserve_recent_skill_count: 5\n  preserve_recent_skill_tokens: x",
        &[
            "config.yaml:2: summarization.preserve_recent_skill_count: and the other preserve_recent_skill_* \
           options are no longer used; loaded skills are remembered as references instead",
        ],
    );
    check(
        "  preset: default\n  preserve_recent_skill_count: 5",
        &[
            "config.yaml:3: summarization.preserve_recent_skill_count: is no longer used; loaded skills are \
           remembered as references instead",
        ],
    );
    check(
        "  preset: nous\n  max_context_tokens: 9\n  keep_recnt: 3\n  temperature: 0",
        &[
            "config.yaml:4: summarization.keep_recnt: unknown option, did you mean keep_recent? (ignored, as preset nous does)",
            "config.yaml:5: summarization.temperature: unknown option (ignored, as preset nous does)",
        ],
    );
    check(
        "  trigger: {type: tokens, value: 4, extra: 1}",
        &[
            "config.yaml:2: summarization.trigger.extra: unknown option (ignored, as preset deerflow does)",
        ],
    );
    check(
        "  preset: default\n  summary_count: 4\n  compaction_in_progress: true",
        &[
            "config.yaml:3: summarization.summary_count: is a figure that can be read only; it is ignored",
            "config.yaml:4: summarization.compaction_in_progress: is a figure that can be read only; it is ignored",
        ],
    );
    check(
        "  summary_prompt: Be short.",
        &[
            "config.yaml:2: summarization.summary_prompt: has no {messages}, so the conversation would not be in it; add {messages} where it belongs",
        ],
    );
    check(
        "  enabled: true\n  trigger: {messages: 20}\n  keep:\n    type: messages\n    value: 20",
        &[
            "config.yaml:4: summarization.keep: found 20 messages, allowed is less than the 20 messages of trigger[0].messages; lower one or raise the other",
        ],
    );
}

#[test]
fn redact() {
    let redact = |body: &str, expect: RedactOption| {
        check(&format!("  redact: {body}"), |o| o.redact = expect);
    };
    let unsaid = RedactOption::default();
    redact(
        "{patterns: ['ACME-[0-9]+', b], allow: [ACME-0+]}",
        RedactOption {
            patterns: vec!["ACME-[0-9]+".into(), "b".into()],
            allow: vec!["ACME-0+".into()],
            ..unsaid.clone()
        },
    );
    let enabled = |on| RedactOption {
        enabled: Some(on),
        ..RedactOption::default()
    };
    redact("false", enabled(false));
    redact("{enabled: yes}", enabled(true));
    redact("null", unsaid);
}
