//! Whatever stands in a file or on the command line: an answer, never a panic.

use conspectus_config::{Config, parse_keep, parse_trigger};
use conspectus_core::policy::ModelProfile;
use proptest::prelude::*;

use super::model;

/// Lines that look like a configuration, of every kind of nonsense.
fn yaml_like() -> impl Strategy<Value = String> {
    let keys = [
        "summarization",
        "preset",
        "enabled",
        "trigger",
        "keep",
        "type",
        "value",
        "tokens",
        "fraction",
        "messages",
        "prune",
        "when",
        "breaker",
        "failures",
        "max_context",
        "keep_recent",
        "<<",
        "models",
        "summary_prompt",
        "skill_file_read_tool_names",
        "\"q\"",
        "? [a]",
        "- type",
        "-",
        "",
        "é",
    ];
    let values = [
        "",
        "4000",
        "0",
        "-1",
        "0.8",
        "1e400",
        ".nan",
        "null",
        "~",
        "true",
        "auto",
        "default",
        "nous",
        "deerflow",
        "langchain",
        "tokens",
        "[",
        "]",
        "{",
        "}",
        "{}",
        "[]",
        "{type: tokens, value: 4}",
        "[{tokens: 4, messages: 9}]",
        "{messages: 3}",
        "&a",
        "*a",
        "!!int",
        "|",
        ">",
        "'",
        "\"",
        "%",
        "\t",
        "99999999999999999999",
        "18446744073709551615",
        "\u{0}",
        "日本語",
        "---",
        "...",
        "&a {x: *a}",
        "# c",
    ];
    let line = (
        0usize..4,
        prop::sample::select(keys.to_vec()),
        prop::sample::select(values.to_vec()),
    )
        .prop_map(|(indent, key, value)| format!("{}{key}: {value}", "  ".repeat(indent)));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

/// A good file with one stretch of it replaced.
fn damaged() -> impl Strategy<Value = String> {
    let good = "summarization:\n  preset: default\n  trigger:\n    - {type: tokens, value: 4000}\n    - tokens: 5\n      \
                messages: 75\n  keep: &k\n    type: messages\n    value: 20\n  prune: {when: always}\n  \
                summary_prompt: |\n    {messages}\n";
    (0..good.len(), 0usize..20, ".{0,8}").prop_map(move |(start, length, by)| {
        let end = (start + length).min(good.len());
        format!("{}{by}{}", &good[..start], &good[end..])
    })
}

fn read(text: &str) {
    let Ok(config) = Config::load("config.yaml", text) else {
        return;
    };
    for model in [model(), ModelProfile::default()] {
        match config.resolve(&model) {
            Ok(resolved) => {
                resolved
                    .warnings
                    .iter()
                    .for_each(|w| assert!(!w.to_string().is_empty()));
            }
            Err(error) => assert!(error.to_string().contains(": found "), "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_like_text(text in yaml_like()) {
        read(&text);
        let below = text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        read(&format!("summarization:\n{below}"));
    }

    #[test]
    fn any_text(text in "(?s).{0,200}") {
        read(&text);
        let _ = parse_trigger(&text);
        let _ = parse_keep(&text);
    }

    #[test]
    fn damaged_files(text in damaged()) {
        read(&text);
    }
}
