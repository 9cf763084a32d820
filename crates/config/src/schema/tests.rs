//! The schema is fresh, and says the same as the reader.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::rows::{
    AGENT_ROWS, BREAKER_ROWS, MAX_SPEND_ROWS, MEMORY_ROWS, MODEL_ROWS, PRICE_ROWS, PROXY_ROWS,
    PRUNE_ROWS, REDACT_ROWS, Row, SECTION_ROWS, SERVER_ROWS, SKILLS_ROWS, SUBAGENTS_ROWS,
    TOOLS_ROWS, UPSTREAM_ROWS,
};
use super::schema;
use super::validate::validate;
use crate::agents;
use crate::config::Config;
use crate::models::{FIELDS, PRICES};
use crate::proxy;
use crate::redact::REDACT;
use crate::section::{BREAKER, MAX_SPEND, OPTIONS, PRUNE};
use crate::server;
use crate::value::{parse_real, parse_whole};
use crate::yaml::{self, Node};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

#[test]
fn the_table_is_what_is_read() {
    let names = |rows: &[Row]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    assert_eq!(names(SECTION_ROWS), OPTIONS);
    assert_eq!(names(PRUNE_ROWS), PRUNE);
    assert_eq!(names(BREAKER_ROWS), BREAKER);
    assert_eq!(names(MAX_SPEND_ROWS), MAX_SPEND);
    assert_eq!(names(REDACT_ROWS), REDACT);
    assert_eq!(names(MODEL_ROWS), FIELDS);
    assert_eq!(names(PRICE_ROWS), PRICES);
    assert_eq!(names(SERVER_ROWS), server::OPTIONS);
    assert_eq!(names(PROXY_ROWS), proxy::OPTIONS);
    assert_eq!(names(UPSTREAM_ROWS), proxy::UPSTREAM);
    assert_eq!(names(AGENT_ROWS), agents::AGENT_FIELDS);
    assert_eq!(names(SUBAGENTS_ROWS), agents::SUBAGENTS_FIELDS);
    assert_eq!(names(SKILLS_ROWS), agents::SKILLS_FIELDS);
    assert_eq!(names(MEMORY_ROWS), agents::MEMORY_FIELDS);
    assert_eq!(names(TOOLS_ROWS), agents::TOOLS_FIELDS);
}

/// `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-config schema` writes it anew.
#[test]
fn the_committed_schema_is_fresh() {
    let path = root("docs/config.schema.json");
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        std::fs::write(&path, schema()).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        committed,
        schema(),
        "set CONSPECTUS_UPDATE_DOCS=1 to write it anew"
    );
}

#[test]
fn every_example_validates_and_loads() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root("examples/config")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        check(&text, true);
        seen += 1;
    }
    assert!(seen >= 6, "{seen} examples");
}

/// The schema and the reader say the same of one option at a time.
#[test]
fn schema_and_reader_agree() {
    let all = [
        "7",
        "0",
        "-1",
        "0.5",
        "1.5",
        "true",
        "null",
        "auto",
        "never",
        "\"x\"",
        "\" \"",
        "[]",
        "[x]",
        "[1]",
        "{}",
        "{tokens: 5}",
        "{tokens: 0}",
        "{messages: 3}",
        "{fraction: 0.5}",
        "{fraction: 1.5}",
        "{fraction: 0}",
        "{tokens: 9, messages: 9}",
        "{type: tokens, value: 5}",
        "{type: fraction, value: 5}",
        "{type: tokens}",
        "{value: 5}",
        "{x: 1}",
        "[{tokens: 5}, {messages: 6}]",
        "[{x: 5}]",
        "deerflow",
        "digest",
        "front",
        "unchanged",
        "{when: always}",
        "{when: never}",
        "{failures: 2}",
        "{failures: 0}",
        "{duplicates: true}",
        "{cooldown_ms: 0}",
        "{input: 1}",
        "{X-Y: $Z}",
    ];
    let (mut compared, mut different) = (0, Vec::new());
    for (option, ..) in SECTION_ROWS {
        for value in all {
            // Another preset takes unknown options with a warning; a schema has one answer.
            let preset = if *option == "preset" {
                ""
            } else {
                "\n  preset: default"
            };
            let text = format!("summarization:\n  {option}: {value}{preset}\n  enabled: false\n");
            if *option == "enabled" {
                continue;
            }
            compared += 1;
            different.extend(agree(&text));
        }
    }
    for (option, ..) in PROXY_ROWS {
        // Addresses are texts to a schema.
        if ["listen", "upstreams"].contains(option) {
            continue;
        }
        for value in all {
            compared += 1;
            different.extend(agree(&format!("proxy:\n  {option}: {value}\n")));
        }
    }
    for (field, ..) in MODEL_ROWS {
        for value in all {
            let name = if *field == "name" { "" } else { "name: m, " };
            compared += 1;
            different.extend(agree(&format!("models:\n  - {{{name}{field}: {value}}}\n")));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 1000, "{compared}");
}

/// Where they may differ: YAML's spellings of numbers as texts (`"7"`), an address, and what a policy says.
fn agree(text: &str) -> Option<String> {
    let loads = Config::load("c.yaml", text).and_then(|c| c.resolve(&Default::default()));
    let lenient = [
        "base_url",
        "\"x\"",
        "use:",
        "keep: {tokens: 9, messages: 9}",
    ];
    if lenient.iter().any(|l| text.contains(l)) {
        return None;
    }
    let value = json_of(&yaml::parse(text).unwrap());
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let valid = validate(&value, &schema, &schema);
    let loads = loads.map(|_| ());
    let is_text_of_scalar = matches!(&valid, Err(why) if why.contains("type string"));
    if is_text_of_scalar && loads.is_ok() {
        // `model_name: 7` is a text to the reader, which does not guess.
        return None;
    }
    (valid.is_ok() != loads.is_ok()).then(|| format!("{text}: {valid:?}, {loads:?}"))
}

fn check(text: &str, expect: bool) {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let value = json_of(&yaml::parse(text).unwrap());
    let valid = validate(&value, &schema, &schema);
    assert_eq!(valid.is_ok(), expect, "{text}: {valid:?}");
}

#[test]
fn what_is_wrong_does_not_validate() {
    check(
        "summarization: {enabled: true, trigger: {type: tokens, value: 4000}}",
        true,
    );
    check(
        "summarization: {preserve_recent_skill_count: 3, summary_count: 1}",
        true,
    );
    check("summarization:\nother: {anything: 1}", true);
    check("summarization: {enabled: 7}", false);
    check("summarization: {kep: 7}", false);
    check("summarization: {trigger: {type: tokens}}", false);
    check("models: [{window: 7}]", false);
    check("models: [{name: m, window: 0}]", false);
    check("models: {name: m}", false);
    check("proxy: {upstreams: {a: 'http://h'}}", true);
    check(
        "proxy: {upstreams: {a: {url: 'http://h', strict: [turns]}}}",
        true,
    );
    check("proxy: {upstreams: {a: {strict: true}}}", false);
    check(
        "proxy: {upstreams: {a: {url: 'http://h', strict: [turn]}}}",
        false,
    );
    check("proxy: {upstream: {}}", false);
}

/// As YAML 1.2's core schema reads it.
fn json_of(node: &Node) -> Value {
    match &node.value {
        yaml::Value::Null => Value::Null,
        yaml::Value::List(items) => items.iter().map(json_of).collect(),
        yaml::Value::Map(entries) => {
            let entries = entries.iter().map(|e| (e.key.clone(), json_of(&e.node)));
            Value::Object(entries.collect())
        }
        yaml::Value::Scalar { text, quoted: true } => json!(text),
        yaml::Value::Scalar { text, .. } => match text.as_str() {
            "true" => json!(true),
            "false" => json!(false),
            text => match (parse_whole(text), parse_real(text)) {
                (Some(whole), _) => json!(whole),
                (None, Some(real)) => json!(real),
                (None, None) => json!(text),
            },
        },
    }
}
