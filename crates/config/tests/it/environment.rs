//! Environment variables between the file and the flags.

use std::ffi::OsString;

use conspectus_config::{Config, ConfigError, Overrides, parse_keep};
use conspectus_core::policy::{
    KeepOption, OnFailure, Options, Preset, PruneOption, PruneWhen, Strategy, TriggerOption,
};

use super::{fraction, messages, model, tokens};

const FILE: &str = "summarization:\n  enabled: true\n  trigger: {type: tokens, value: 4000}\n  \
                    keep: {type: messages, value: 20}\n  prune: false\n";

fn with(file: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let environment = environment
        .iter()
        .map(|(name, value)| (format!("CONSPECTUS_SUMMARIZATION_{name}"), value));
    Config::load("config.yaml", file)
        .expect("loads")
        .with_environment(environment)
}

#[track_caller]
fn check(environment: &[(&str, &str)], expect: impl FnOnce(&mut Options)) {
    let config = with(FILE, environment).expect("reads");
    let file = Config::load("config.yaml", FILE).expect("loads");
    let mut options = file.options().clone();
    expect(&mut options);
    assert_eq!(config.options(), &options, "{environment:?}");
    assert_eq!(config.warnings(), []);
}

#[test]
fn a_variable_wins_over_the_file_and_the_rest_stays() {
    check(&[], |_| {});
    check(&[("KEEP", ""), ("TRIGGER", "  ")], |_| {});
    check(&[("PRESET", "nous")], |o| o.preset = Preset::Nous);
    check(&[("ENABLED", "off")], |o| o.enabled = Some(false));
    check(&[("MODEL_NAME", "openai/m:free")], |o| {
        o.model = Some("openai/m:free".into());
    });
    check(&[("SUMMARY_MODEL", "null")], |o| o.model = None);
    let prompt = "{messages}\n: what was that? [7]";
    check(&[("SUMMARY_PROMPT", prompt)], |o| {
        o.summary_prompt = Some(prompt.into());
    });
    check(&[("STRATEGY", " digest ")], |o| {
        o.strategy = Some(Strategy::Digest);
    });
    check(&[("ON_FAILURE", "unchanged")], |o| {
        o.on_failure = Some(OnFailure::Unchanged);
    });
    check(&[("MAX_CONTEXT", "100_000")], |o| {
        o.max_context = Some(100_000);
    });
    check(&[("TRIM_TOKENS_TO_SUMMARIZE", "null")], |o| {
        o.trim_tokens = Some(None);
    });
    check(&[("SKILL_FILE_READ_TOOL_NAMES", "view, cat")], |o| {
        o.skill_read_tools = Some(vec!["view".into(), "cat".into()]);
    });
    check(&[("SKILL_FILE_READ_TOOL_NAMES", "[]")], |o| {
        o.skill_read_tools = Some(Vec::new());
    });
    check(&[("BREAKER_FAILURES", "7"), ("BREAKER", "{}")], |o| {
        o.breaker_failures = Some(7);
    });
    check(&[("STRICT_PARITY", "yes")], |o| o.strict_parity = true);
}

#[test]
fn sizes_as_in_the_file_and_as_flags() {
    let any = |clauses: Vec<_>| {
        move |o: &mut Options| {
            o.trigger = TriggerOption::Any(clauses);
        }
    };
    check(&[("TRIGGER", "tokens=9000")], any(vec![tokens(9000)]));
    check(&[("TRIGGER", "{tokens: 9000}")], any(vec![tokens(9000)]));
    check(
        &[("TRIGGER", "[{tokens: 9000}, {type: fraction, value: 0.5}]")],
        any(vec![tokens(9000), fraction(0.5)]),
    );
    let mut both = tokens(9000);
    both.messages = messages(50).messages;
    check(
        &[("TRIGGER", "tokens = 9000, messages=50")],
        any(vec![both]),
    );
    check(&[("MAX_CONTEXT_TOKENS", "9000")], any(vec![tokens(9000)]));
    check(&[("TRIGGER", "auto")], |o| o.trigger = TriggerOption::Auto);
    for never in ["never", "null"] {
        check(&[("TRIGGER", never)], |o| o.trigger = TriggerOption::Never);
    }
    check(&[("KEEP", "auto")], |o| o.keep = Some(KeepOption::Auto));
    check(&[("KEEP", "fraction=0.3")], |o| {
        o.keep = Some(KeepOption::Fraction(0.3));
    });
    check(&[("KEEP_RECENT", "7")], |o| {
        o.keep = Some(KeepOption::Messages(7));
    });
}

#[test]
fn pruning_as_a_whole_and_in_parts() {
    check(&[("PRUNE", "true")], |o| {
        o.prune = PruneOption {
            when: Some(PruneWhen::Trigger),
            ..PruneOption::default()
        };
    });
    check(&[("PRUNE_MAX_RESULT_CHARS", "500")], |o| {
        o.prune.max_result_chars = Some(500);
    });
    check(&[("MAX_RESULT_CHARS", "500")], |o| {
        o.prune.max_result_chars = Some(500);
    });
    // What is said of a part is more exact than what is said of the whole, in any order.
    let parts = [
        ("PRUNE_WHEN", "always"),
        ("PRUNE", "{when: trigger, duplicates: true}"),
    ];
    check(&parts, |o| {
        o.prune.when = Some(PruneWhen::Always);
        o.prune.duplicates = Some(true);
    });
}

#[test]
fn flags_win_over_variables() {
    let flags = Overrides {
        keep: Some(parse_keep("messages=3").expect("reads")),
        preset: Some(Preset::Langchain),
        ..Overrides::default()
    };
    let config = with(
        FILE,
        &[
            ("KEEP", "messages=5"),
            ("PRESET", "nous"),
            ("MAX_RETRIES", "9"),
        ],
    );
    let config = config
        .expect("reads")
        .with_overrides(&flags)
        .expect("layers");
    assert_eq!(config.options().keep, Some(KeepOption::Messages(3)));
    assert_eq!(config.options().preset, Preset::Langchain);
    assert_eq!(config.options().max_retries, Some(9));
    let said: Vec<String> = config
        .said()
        .map(|(option, place)| format!("{option} {place}"))
        .collect();
    assert_eq!(
        said,
        [
            "enabled config.yaml:2: summarization.enabled",
            "keep --keep",
            "max_retries CONSPECTUS_SUMMARIZATION_MAX_RETRIES",
            "preset --preset",
            "prune config.yaml:5: summarization.prune",
            "trigger config.yaml:3: summarization.trigger",
        ]
    );
}

#[test]
fn without_a_file_the_environment_stands_alone() {
    let config = Config::default()
        .with_environment([("CONSPECTUS_SUMMARIZATION_TRIGGER", "tokens=4000")])
        .expect("reads");
    assert_eq!(config.options().preset, Preset::Default);
    assert_eq!(
        config.options().trigger,
        TriggerOption::Any(vec![tokens(4000)])
    );
}

#[test]
fn errors_name_the_variable_and_what_it_takes() {
    #[track_caller]
    fn check(environment: &[(&str, &str)], expect: &str) {
        let error = with(FILE, environment)
            .and_then(|config| config.resolve(&model()))
            .expect_err("refused");
        assert_eq!(
            error.to_string(),
            format!("CONSPECTUS_SUMMARIZATION_{expect}")
        );
    }
    check(
        &[("KEEP", "many")],
        "KEEP: found \"many\", expected {type: tokens, messages or fraction, value: a number}, or \
         {tokens: a number} and so on, or auto",
    );
    check(
        &[("KEEP", "messages=x")],
        "KEEP.messages: found \"x\", expected a whole number >= 0",
    );
    check(
        &[("TRIGGER", "token=5")],
        "TRIGGER.token: unknown option, did you mean tokens?",
    );
    check(
        &[("TRIGGER", "[{tokens: 5}, {messages: 0}]")],
        "TRIGGER[1].messages: found 0, expected a whole number > 0",
    );
    check(
        &[("TRIGGER", "{tokens: 5")],
        "TRIGGER: found \"{tokens: 5\", expected a value as in the file (while parsing a flow mapping, did not find \
         expected ',' or '}')",
    );
    check(
        &[("ENABLED", "maybe")],
        "ENABLED: found \"maybe\", expected true or false",
    );
    check(
        &[("PRESET", "claude")],
        "PRESET: found \"claude\", expected default, deerflow, langchain or nous",
    );
    check(
        &[("BREAKER_FAILURES", "0")],
        "BREAKER_FAILURES: found 0, expected a whole number > 0",
    );
    check(
        &[("KEEP", "messages=5"), ("KEEP_RECENT", "5")],
        "KEEP_RECENT: given together with CONSPECTUS_SUMMARIZATION_KEEP, which means the same; remove one",
    );
    check(
        &[("MAX_RESULT_CHARS", "5"), ("PRUNE_MAX_RESULT_CHARS", "5")],
        "MAX_RESULT_CHARS: given together with CONSPECTUS_SUMMARIZATION_PRUNE_MAX_RESULT_CHARS, which means the \
         same; remove one",
    );
    // Found when the numbers are known.
    check(
        &[("PRESET", "default"), ("TRIGGER", "tokens=99999")],
        "TRIGGER.tokens: found 99999 tokens, allowed is less than 84000 (window 100000 less 16000 for the reply); lower it",
    );
}

#[test]
fn a_misspelt_variable_is_not_silent_and_others_are_left_alone() {
    let told = |name: &str| {
        let variables = [(name, "7"), ("CONSPECTUS_SUMMARIZATION_ENABLED", "true")];
        match Config::default().with_environment(variables) {
            Err(error) => format!("error {error}"),
            Ok(config) => {
                let warnings = config.warnings().iter();
                warnings.map(|w| format!("warning {w}")).collect()
            }
        }
    };
    for (name, expect) in [
        (
            "CONSPECTUS_SUMMARIZATION_KEPP",
            "error CONSPECTUS_SUMMARIZATION_KEPP: unknown option, did you mean CONSPECTUS_SUMMARIZATION_KEEP?",
        ),
        (
            "CONSPECTUS_SUMMARIZATION_PRUNE_DUPLICATE",
            "error CONSPECTUS_SUMMARIZATION_PRUNE_DUPLICATE: unknown option, did you mean \
             CONSPECTUS_SUMMARIZATION_PRUNE_DUPLICATES?",
        ),
        (
            "CONSPECTUS_SUMMARIZATION_SOMETHING_ELSE",
            "error CONSPECTUS_SUMMARIZATION_SOMETHING_ELSE: unknown option",
        ),
        (
            "conspectus_summarization_keep",
            "error conspectus_summarization_keep: unknown option, did you mean CONSPECTUS_SUMMARIZATION_KEEP?",
        ),
        (
            "CONSPECTUS_SUMMARISATION_KEEP",
            "warning CONSPECTUS_SUMMARISATION_KEEP: is not read, did you mean CONSPECTUS_SUMMARIZATION_KEEP?",
        ),
        (
            "CONSPECTUS_KEEP",
            "warning CONSPECTUS_KEEP: is not read, did you mean CONSPECTUS_SUMMARIZATION_KEEP?",
        ),
        (
            "CONSPECTUS_CONFG",
            "warning CONSPECTUS_CONFG: is not read, did you mean CONSPECTUS_CONFIG?",
        ),
        ("CONSPECTUS_CONFIG", ""),
        ("CONSPECTUS_SHARED", ""),
        ("CONSPECTUS_KILLS", ""),
        ("CONSPECTUS_API_KEY", ""),
        ("CONSPECTUS_", ""),
        ("CONSPECTÜS_SUMMARIZATION_KEEP", ""),
        ("PATH", ""),
        ("", ""),
    ] {
        assert_eq!(told(name), expect, "{name}");
    }
}

#[test]
fn what_may_be_secret_is_not_shown() {
    let error = with(FILE, &[("MAX_RETRIES", "sk-abcdefghijklmnop12345")]).expect_err("refused");
    assert!(!error.to_string().contains("sk-abc"), "{error}");
    let error = with(FILE, &[("TRIGGER", "{a: sk-abcdefghijklmnop12345")]).expect_err("refused");
    assert!(!error.to_string().contains("sk-abc"), "{error}");
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text() {
    use std::os::unix::ffi::OsStringExt as _;
    let bad = OsString::from_vec(b"\xff\xfe".to_vec());
    let with =
        |name: &str| Config::default().with_environment([(OsString::from(name), bad.clone())]);
    assert_eq!(
        with("CONSPECTUS_SUMMARIZATION_KEEP").map_err(|e| e.to_string()),
        Err(
            "CONSPECTUS_SUMMARIZATION_KEEP: found bytes that are no text, expected UTF-8"
                .to_owned()
        )
    );
    assert!(with("CONSPECTUS_SHARED").is_ok());
    assert!(
        Config::default()
            .with_environment([(bad.clone(), bad)])
            .is_ok()
    );
}
