//! Files that are refused, and the exact words: file, line, option, what was found, what is allowed (A3).

use conspectus_core::policy::Options;

use super::error;

/// The message of a section with this body; line 2 is its first.
#[track_caller]
fn check(body: &str, expect: &str) {
    let text = format!("summarization:\n{body}\n");
    assert_eq!(error(&text), format!("config.yaml:{expect}"));
}

#[test]
fn values_of_the_wrong_kind() {
    check(
        "  enabled: maybe",
        r#"2: summarization.enabled: found "maybe", expected true or false"#,
    );
    check(
        "  enabled:",
        "2: summarization.enabled: found null, expected true or false",
    );
    check(
        "  enabled: [true]",
        "2: summarization.enabled: found a list, expected true or false",
    );
    check(
        "  preset: claude",
        r#"2: summarization.preset: found "claude", expected default, deerflow, langchain or nous"#,
    );
    check(
        "  model_name: {a: b}",
        "2: summarization.model_name: found a map, expected a model's name or null",
    );
    check(
        "  model_name: '  '",
        r#"2: summarization.model_name: found "  ", expected a model's name or null"#,
    );
    check(
        "  trim_tokens_to_summarize: lots",
        r#"2: summarization.trim_tokens_to_summarize: found "lots", expected a whole number > 0"#,
    );
    check(
        "  trim_tokens_to_summarize: 0",
        "2: summarization.trim_tokens_to_summarize: found 0, expected a whole number > 0",
    );
    check(
        "  trim_tokens_to_summarize: -1",
        "2: summarization.trim_tokens_to_summarize: found -1, expected a whole number > 0",
    );
    check(
        "  skill_file_read_tool_names: cat",
        r#"2: summarization.skill_file_read_tool_names: found "cat", expected a list of tool names, [] for none"#,
    );
    check(
        "  skill_file_read_tool_names:\n    - cat\n    - []",
        "4: summarization.skill_file_read_tool_names[1]: found an empty list, expected a tool's name",
    );
    check(
        "  max_result_chars: 8192.5",
        "2: summarization.max_result_chars: found 8192.5, expected a whole number >= 0",
    );
    check(
        "  max_retries: 5000000000",
        "2: summarization.max_retries: found 5000000000, expected a whole number below 4294967296",
    );
    check(
        "  strategy: smart",
        r#"2: summarization.strategy: found "smart", expected auto, replay, transcript or digest"#,
    );
    check(
        "  placement: top",
        r#"2: summarization.placement: found "top", expected frozen, front, message, system or system_end"#,
    );
    check(
        "  on_failure: retry",
        r#"2: summarization.on_failure: found "retry", expected digest, unchanged or error"#,
    );
    check(
        "  prune: 8192",
        "2: summarization.prune: found 8192, expected true, false or a map of when, max_result_chars, max_argument_chars, max_result_tokens, max_total_result_tokens, max_argument_tokens, duplicates or keep_recent_results",
    );
    check(
        "  prune:\n    when: never",
        r#"3: summarization.prune.when: found "never", expected trigger or always"#,
    );
    check(
        "  breaker: off",
        r#"2: summarization.breaker: found "off", expected a map of failures and cooldown_ms"#,
    );
    check(
        "  breaker: {failures: 0}",
        "2: summarization.breaker.failures: found 0, expected a whole number > 0",
    );
    assert_eq!(
        error("summarization: on"),
        r#"config.yaml:1: summarization: found "on", expected a map of options such as enabled: true"#
    );
    assert_eq!(
        error("- a\n"),
        "config.yaml:1: the file: found a list, expected a map of sections such as summarization:"
    );
}

#[test]
fn triggers() {
    check(
        "  trigger:\n    type: tokens\n    value: abc",
        r#"4: summarization.trigger.value: found "abc", expected a whole number > 0"#,
    );
    check(
        "  trigger:\n    - type: tokens\n      value: 4000\n    - type: messages\n      value: many",
        r#"6: summarization.trigger[1].value: found "many", expected a whole number > 0"#,
    );
    check(
        "  trigger: {type: words, value: 5}",
        r#"2: summarization.trigger.type: found "words", expected tokens, messages or fraction"#,
    );
    check(
        "  trigger: {type: tokens}",
        "2: summarization.trigger.value: found no value, expected a whole number > 0",
    );
    check(
        "  trigger: {type: fraction}",
        "2: summarization.trigger.value: found no value, expected a number above 0 and at most 1",
    );
    check(
        "  trigger: {value: 4000}",
        "2: summarization.trigger.type: found no type, expected tokens, messages or fraction",
    );
    check(
        "  trigger: {type: fraction, value: high}",
        r#"2: summarization.trigger.value: found "high", expected a number above 0 and at most 1"#,
    );
    check(
        "  trigger: {type: fraction, value: 1.7}",
        "2: summarization.trigger.value: found 1.7, expected a number above 0 and at most 1",
    );
    check(
        "  trigger:\n    - type: fraction\n      value: 0",
        "4: summarization.trigger[0].value: found 0, expected a number above 0 and at most 1",
    );
    check(
        "  trigger: {fraction: .nan}",
        r#"2: summarization.trigger.fraction: found ".nan", expected a number above 0 and at most 1"#,
    );
    check(
        "  trigger: {tokens: 0}",
        "2: summarization.trigger.tokens: found 0, expected a whole number > 0",
    );
    check(
        "  trigger: {tokens: 4000, chars: 5}",
        r#"2: summarization.trigger.chars: found "chars", expected tokens, messages or fraction"#,
    );
    check(
        "  trigger: {token: 4000}",
        "2: summarization.trigger.token: unknown option, did you mean tokens?",
    );
    check(
        "  trigger: {type: tokens, value: 5, messages: 5}",
        "2: summarization.trigger.messages: given together with trigger.type (line 2), which means the same; remove one",
    );
    check(
        "  trigger: 4000",
        "2: summarization.trigger: found 4000, expected {type: tokens, messages or fraction, value: a number}, or {tokens: a number} and so on, a list of these, auto or null",
    );
    check(
        "  trigger: [4000]",
        "2: summarization.trigger[0]: found 4000, expected {type: tokens, messages or fraction, value: a number}, or {tokens: a number} and so on",
    );
    check(
        "  trigger: {}",
        "2: summarization.trigger: found an empty clause, expected at least one of tokens, messages and fraction",
    );
    check(
        "  max_context_tokens: 0",
        "2: summarization.max_context_tokens: found 0, expected a whole number > 0",
    );
    check(
        "  enabled: true",
        "1: summarization.trigger: found none, expected at least one of tokens, messages and fraction, since preset deerflow is enabled; or say enabled: false",
    );
    check(
        "  enabled: true\n  trigger: null",
        "3: summarization.trigger: found none, expected at least one of tokens, messages and fraction, since preset deerflow is enabled; or say enabled: false",
    );
}

#[test]
fn keeps() {
    check(
        "  keep: null",
        "2: summarization.keep: found null, expected {type: tokens, messages or fraction, value: a number}, or {tokens: a number} and so on, or auto",
    );
    check(
        "  keep: {}",
        "2: summarization.keep: found an empty map, expected one of tokens, messages and fraction",
    );
    check(
        "  keep: {tokens: 5, messages: 5}",
        "2: summarization.keep: found 2 sizes, expected one of tokens, messages and fraction",
    );
    check(
        "  keep: {type: messages, value: -3}",
        "2: summarization.keep.value: found -3, expected a whole number >= 0",
    );
    check(
        "  keep: {type: messages, value: 0}",
        "2: summarization.keep.value: found 0, expected a whole number > 0",
    );
    check(
        "  keep_recent: few",
        r#"2: summarization.keep_recent: found "few", expected a whole number >= 0"#,
    );
}

#[test]
fn options_that_contradict_each_other() {
    check(
        "  keep: {messages: 5}\n  keep_recent: 5",
        "3: summarization.keep_recent: given together with summarization.keep (line 2), which means the same; remove one",
    );
    check(
        "  max_context_tokens: 5\n  trigger: null",
        "3: summarization.trigger: given together with summarization.max_context_tokens (line 2), which means the same; remove one",
    );
    check(
        "  model_name: a\n  summary_model: b",
        "3: summarization.summary_model: given together with summarization.model_name (line 2), which means the same; remove one",
    );
    check(
        "  max_result_chars: 5\n  prune:\n    max_result_chars: 6",
        "4: summarization.prune.max_result_chars: given together with summarization.max_result_chars (line 2), which means the same; remove one",
    );
    check(
        "  keep: {messages: 5}\n  enabled: true\n  keep: {messages: 6}",
        "4: summarization.keep: given twice, first on line 2; remove one",
    );
    let ours = "  preset: default\n";
    check(
        &format!("{ours}  trigger: {{messages: 20}}\n  keep: {{messages: 20}}"),
        "4: summarization.keep: found 20 messages, allowed is less than the 20 messages of trigger[0].messages; lower one or raise the other",
    );
    check(
        &format!("{ours}  trigger:\n    - messages: 50\n    - tokens: 90000"),
        "5: summarization.trigger[1].tokens: found 90000 tokens, allowed is less than 84000 (window 100000 less 16000 for the reply); lower it",
    );
    check(
        &format!("{ours}  max_context: 8"),
        "3: summarization.max_context: found 8, expected a whole number of at least 16",
    );
    check(
        &format!("{ours}  strategy: replay\n  model_name: other"),
        "3: summarization.strategy: found replay with another model for summaries, which would be sent the raw conversation; use strategy: transcript, leave the model out, or take preset: nous",
    );
    check(
        "  preset: langchain\n  keep: {tokens: 0}",
        "3: summarization.keep.tokens: found 0, expected a whole number > 0",
    );
}

#[test]
fn unknown_keys() {
    let ours = "  preset: default\n";
    check(
        &format!("{ours}  triger: auto"),
        "3: summarization.triger: unknown option, did you mean trigger?",
    );
    check(
        &format!("{ours}  temperature: 1"),
        "3: summarization.temperature: unknown option",
    );
    check(
        &format!("{ours}  prune:\n    max_result_char: 5"),
        "4: summarization.prune.max_result_char: unknown option, did you mean prune.max_result_chars?",
    );
    check(
        &format!("{ours}  breaker: {{failure: 5}}"),
        "3: summarization.breaker.failure: unknown option, did you mean breaker.failures?",
    );
    assert_eq!(
        error("summarisation:\n  enabled: true\n"),
        "config.yaml:1: summarisation: unknown option, did you mean summarization?"
    );
    assert_eq!(
        error("models: []\nkeep: {messages: 3}\n"),
        "config.yaml:2: keep: stands outside of its section; indent it below summarization:"
    );
    assert_eq!(
        error("summarization:\nsummarization:\n"),
        "config.yaml:2: summarization: given twice, first on line 1; remove one"
    );
    // Where our section is there, other names are other people's.
    let mixed =
        "normalization: 1\nstrategy: x\nsummarisation: 2\nsummarization: {preset: default}\n";
    assert_eq!(super::options(mixed), Options::default());
    assert_eq!(super::options("normalization: 1\n"), Options::default());
}

#[test]
fn what_is_no_yaml() {
    for (text, place) in [
        ("summarization: [a, b", "config.yaml:2:1: "),
        ("summarization:\n\tenabled: true\n", "config.yaml:2:"),
        ("a: 'x\n", "config.yaml:"),
        ("a: *nobody\n", "config.yaml:1:4: "),
        ("a: 1\n---\nb: 2\n", "config.yaml:"),
    ] {
        let error = error(text);
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("cannot be read as YAML"), "{error}");
    }
}

#[test]
fn secrets_are_never_echoed() {
    let secret = "sk-proj-aaaabbbbccccddddeeee1111";
    for text in [
        format!("summarization:\n  enabled: {secret}\n"),
        format!("summarization:\n  preset: default\n  {secret}: true\n"),
        format!("summarization:\n  preset: {secret}\n"),
        format!("summarization:\n  trigger: {{type: {secret}, value: 4}}\n"),
        format!("summarization:\n  trigger: {{{secret}: 4}}\n"),
        format!("summarization:\n  preset: default\n  prune: {{{secret}: 4}}\n"),
        format!("summarization: {secret}\n"),
        format!("{secret}\n"),
        format!("summarization: {{keep: {{messages: 4}}, keep: {secret}}}\n"),
        format!("summarization: {{{secret}: 4, {secret}: 5}}\n"),
    ] {
        let error = error(&text);
        assert!(error.starts_with("config.yaml:"), "{error}");
        assert!(!error.contains("aaaabbbb"), "{error}");
    }
}

#[test]
fn small_files_cannot_ask_for_much() {
    let deep = format!("a: {}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(error(&deep).contains("cannot be read as YAML"));
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let before = vec![format!("*a{}", i - 1); 10].join(", ");
        laughs.push_str(&format!("a{i}: &a{i} [{before}]\n"));
    }
    assert!(
        error(&laughs).contains("too many values"),
        "{}",
        error(&laughs)
    );
}

#[test]
fn patterns_that_cannot_be_used() {
    check(
        "  redact: often",
        r#"2: summarization.redact: found "often", expected true, false or a map of enabled, patterns or allow"#,
    );
    check(
        "  redact:\n    patterns: [fine, 'a(']",
        r#"3: summarization.redact.patterns[1]: found "a(", expected a regular expression to search with (unclosed group)"#,
    );
    check(
        "  redact:\n    allow: '['",
        r#"3: summarization.redact.allow: found "[", expected a list of regular expressions, [] for none"#,
    );
    check(
        "  preset: default\n  redact: {pattern: [a]}",
        "3: summarization.redact.pattern: unknown option, did you mean redact.patterns?",
    );
}
