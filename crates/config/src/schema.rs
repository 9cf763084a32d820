//! The file's JSON Schema, made from one table: a row an option.
//!
//! It says what a file may hold, for editors and checks before a deployment. What depends on several options or
//! on the model is checked by loading, which also names the line. A test compares the table with what the
//! reader reads.

use serde_json::{Map, Value, json};

use crate::models::MODELS;
use crate::place::SECTION;

/// What an option may hold.
enum Kind {
    Boolean,
    /// A whole number of at least this.
    Whole(u64),
    /// The same, or null for "not said".
    WholeOrNull(u64),
    /// A text that is not blank.
    Text,
    TextOrNull,
    Words(&'static [&'static str]),
    WordsOrNull(&'static [&'static str]),
    Texts,
    /// Dollars.
    Price,
    /// A map of header names and values.
    Headers,
    Map(&'static [Row]),
    MapOrNull(&'static [Row]),
    /// [`Kind::Map`], or on or off.
    MapOrBoolean(&'static [Row]),
    Trigger,
    Keep,
}

type Row = (&'static str, Kind, &'static str);

const SECTION_ROWS: &[Row] = &[
    (
        "preset",
        Kind::Words(&["default", "deerflow", "langchain", "nous"]),
        "Whose defaults and meanings; deerflow unless said.",
    ),
    ("enabled", Kind::Boolean, "Off is off in every path."),
    (
        "model_name",
        Kind::TextOrNull,
        "The model that writes summaries; null: the one that the conversation runs on.",
    ),
    (
        "summary_model",
        Kind::TextOrNull,
        "Another name of model_name.",
    ),
    (
        "trigger",
        Kind::Trigger,
        "When to compact: a size, a list of which any fires, auto, or null for never.",
    ),
    (
        "max_context_tokens",
        Kind::Whole(1),
        "Another name of a trigger in tokens.",
    ),
    (
        "keep",
        Kind::Keep,
        "What stays at the end: one size or auto.",
    ),
    (
        "keep_recent",
        Kind::Whole(0),
        "Another name of keep in messages.",
    ),
    (
        "trim_tokens_to_summarize",
        Kind::WholeOrNull(1),
        "What one call of the summariser is given at most, in tokens; null: no limit.",
    ),
    (
        "summary_prompt",
        Kind::TextOrNull,
        "A prompt of your own with {messages} in it; null: ours.",
    ),
    (
        "skill_file_read_tool_names",
        Kind::Texts,
        "Tools whose reads of SKILL.md files are remembered; []: none.",
    ),
    (
        "prune",
        Kind::MapOrBoolean(PRUNE_ROWS),
        "Shortening without a model.",
    ),
    (
        "max_result_chars",
        Kind::Whole(0),
        "Another place of prune.max_result_chars.",
    ),
    (
        "strategy",
        Kind::WordsOrNull(&["auto", "replay", "transcript", "digest"]),
        "How a model is asked for a summary; digest: not at all.",
    ),
    (
        "placement",
        Kind::WordsOrNull(&["frozen", "front", "message", "system", "system_end"]),
        "Where the summary stands.",
    ),
    (
        "on_failure",
        Kind::WordsOrNull(&["digest", "unchanged", "error"]),
        "After every model failed.",
    ),
    (
        "max_summary_tokens",
        Kind::WholeOrNull(1),
        "The summary's cap in tokens.",
    ),
    (
        "max_context",
        Kind::WholeOrNull(16),
        "The model's window in tokens; null: what is known of the model.",
    ),
    (
        "output_reserve",
        Kind::WholeOrNull(0),
        "Tokens of the window for the reply.",
    ),
    (
        "max_retries",
        Kind::WholeOrNull(0),
        "Further tries after a failed call.",
    ),
    (
        "call_timeout_ms",
        Kind::WholeOrNull(1),
        "A call that has not answered by then has failed.",
    ),
    (
        "deadline_ms",
        Kind::WholeOrNull(1),
        "All calls of one compaction together.",
    ),
    (
        "max_parallel",
        Kind::WholeOrNull(1),
        "Chunks summarised at the same time.",
    ),
    (
        "breaker",
        Kind::Map(BREAKER_ROWS),
        "When failures in a row stop further tries for a while.",
    ),
    (
        "max_spend",
        Kind::MapOrNull(MAX_SPEND_ROWS),
        "What summaries may cost, in dollars.",
    ),
    (
        "expected_calls",
        Kind::WholeOrNull(1),
        "Calls that a conversation is expected to go on for; what is not even by then does not pay.",
    ),
    (
        "exempt_tools",
        Kind::Texts,
        "Tools whose old results are never masked.",
    ),
    (
        "strict_parity",
        Kind::Boolean,
        "Do what the preset's original does even where it loses; for comparison.",
    ),
];

const PRUNE_ROWS: &[Row] = &[
    (
        "when",
        Kind::Words(&["trigger", "always"]),
        "Once a trigger is reached, or at every rendering.",
    ),
    (
        "max_result_chars",
        Kind::Whole(0),
        "Longer tool results are cut to head and tail; 0 turns pruning off.",
    ),
    (
        "max_argument_chars",
        Kind::Whole(0),
        "Longer text arguments of old calls are shortened; 0: never.",
    ),
    (
        "max_result_tokens",
        Kind::Whole(0),
        "Tool results of more tokens are cut to head and tail; 0: no such limit.",
    ),
    (
        "max_total_result_tokens",
        Kind::Whole(0),
        "With when: always, the oldest results are masked while all together have more tokens; 0: no such limit.",
    ),
    (
        "max_argument_tokens",
        Kind::Whole(0),
        "Arguments of old calls that have more tokens are shortened; 0: no such limit.",
    ),
    (
        "duplicates",
        Kind::Boolean,
        "Equal long results and media are sent once.",
    ),
    (
        "keep_recent_results",
        Kind::Whole(0),
        "Newest results that are left alone.",
    ),
    (
        "mask",
        Kind::Boolean,
        "Old results are masked together before a summary is made, where that is enough and pays.",
    ),
];

const MAX_SPEND_ROWS: &[Row] = &[
    ("thread", Kind::Price, "Of one thread, in all."),
    ("day", Kind::Price, "Of one thread, in a day."),
];

const BREAKER_ROWS: &[Row] = &[
    (
        "failures",
        Kind::Whole(1),
        "Failed automatic compactions in a row that open it.",
    ),
    ("cooldown_ms", Kind::Whole(0), "How long it stays open."),
];

const MODEL_ROWS: &[Row] = &[
    ("name", Kind::Text, "What model_name and --model call it."),
    (
        "provider",
        Kind::TextOrNull,
        "Whose API it speaks: openai, anthropic and so on.",
    ),
    (
        "use",
        Kind::TextOrNull,
        "deer-flow's name of its class; tells the provider where that is not said.",
    ),
    (
        "model",
        Kind::TextOrNull,
        "What its provider calls it; the name unless said.",
    ),
    (
        "base_url",
        Kind::TextOrNull,
        "Where it is reached; without user and password.",
    ),
    (
        "api_key",
        Kind::TextOrNull,
        "$NAME of the environment variable that holds the key.",
    ),
    ("window", Kind::WholeOrNull(1), "The window in tokens."),
    ("context", Kind::WholeOrNull(1), "Another name of window."),
    (
        "max_output",
        Kind::WholeOrNull(1),
        "The most it can write in one reply, in tokens.",
    ),
    (
        "max_tokens",
        Kind::WholeOrNull(1),
        "Another name of max_output.",
    ),
    (
        "prices",
        Kind::MapOrNull(PRICE_ROWS),
        "Dollars a million tokens.",
    ),
    (
        "headers",
        Kind::Headers,
        "Further headers of each request; $NAME for what is secret.",
    ),
];

const PRICE_ROWS: &[Row] = &[
    ("input", Kind::Price, "Of what is sent."),
    ("output", Kind::Price, "Of what is written."),
    (
        "cache_read",
        Kind::Price,
        "Of what is sent and was in the cache.",
    ),
    ("cache_write", Kind::Price, "Of what is put into the cache."),
];

/// The JSON Schema of the file, draft 2020-12, with a line end.
pub fn schema() -> String {
    let mut section = map(SECTION_ROWS, true);
    for figure in ["summary_count", "compaction_in_progress"] {
        section["properties"][figure] =
            json!({"deprecated": true, "description": "A figure of the state; ignored."});
    }
    section["patternProperties"] = json!({
        "^preserve_recent_skill_": {"deprecated": true, "description": "Of an older deer-flow; ignored."}
    });
    section["description"] = "When and how conversations are compacted.".into();
    section["type"] = json!(["object", "null"]);
    let mut model = map(MODEL_ROWS, false);
    model["required"] = json!(["name"]);
    let root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conspectus configuration",
        "description": "Other sections belong to other programs and are passed over.",
        "type": "object",
        "properties": {
            SECTION: section,
            MODELS: {
                "type": ["array", "null"],
                "items": model,
                "description": "The models there are. Fields of other programs are passed over.",
            },
        },
        "$defs": {"size": size(1), "kept": size(0)},
    });
    let mut text = serde_json::to_string_pretty(&root).unwrap_or_default();
    text.push('\n');
    text
}

fn map(rows: &[Row], closed: bool) -> Value {
    let properties: Map<String, Value> = rows
        .iter()
        .map(|(name, kind, about)| {
            let mut value = of(kind);
            value["description"] = (*about).into();
            ((*name).to_owned(), value)
        })
        .collect();
    let mut map = json!({"type": "object", "properties": properties});
    if closed {
        map["additionalProperties"] = false.into();
    }
    map
}

fn of(kind: &Kind) -> Value {
    let text = json!({"type": "string", "pattern": "\\S"});
    match kind {
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Whole(min) => json!({"type": "integer", "minimum": min}),
        Kind::WholeOrNull(min) => json!({"type": ["integer", "null"], "minimum": min}),
        Kind::Text => text,
        Kind::TextOrNull => json!({"type": ["string", "null"], "pattern": "\\S"}),
        Kind::Words(words) => json!({"enum": words}),
        Kind::WordsOrNull(words) => {
            let words: Vec<Value> = words
                .iter()
                .map(|w| json!(w))
                .chain([Value::Null])
                .collect();
            json!({"enum": words})
        }
        Kind::Texts => json!({"type": "array", "items": text}),
        Kind::Price => json!({"type": "number", "minimum": 0}),
        Kind::Headers => json!({
            "type": ["object", "null"],
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }),
        Kind::Map(rows) => map(rows, true),
        Kind::MapOrNull(rows) => {
            let mut map = map(rows, true);
            map["type"] = json!(["object", "null"]);
            map
        }
        Kind::MapOrBoolean(rows) => {
            json!({"anyOf": [map(rows, true), {"type": ["boolean", "null"]}]})
        }
        Kind::Trigger => {
            let one = json!({"$ref": "#/$defs/size"});
            json!({"anyOf": [one, {"type": "array", "items": one}, {"enum": ["auto", null]}]})
        }
        Kind::Keep => json!({"anyOf": [{"$ref": "#/$defs/kept"}, {"enum": ["auto"]}]}),
    }
}

/// One or several sizes by name, or `{type, value}`. A clause of a trigger may name several.
fn size(min: u64) -> Value {
    let fraction = match min {
        0 => json!({"type": "number", "minimum": 0, "maximum": 1}),
        _ => json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
    };
    let whole = json!({"type": "integer", "minimum": min});
    let mut by_name = json!({
        "type": "object",
        "properties": {"tokens": whole, "messages": whole, "fraction": fraction},
        "additionalProperties": false,
        "minProperties": 1,
    });
    if min == 0 {
        by_name["maxProperties"] = 1.into();
    }
    let pair = |kinds: Value, value: &Value| {
        json!({
            "type": "object",
            "properties": {"type": {"enum": kinds}, "value": value},
            "required": ["type", "value"],
            "additionalProperties": false,
        })
    };
    json!({"anyOf": [
        by_name,
        pair(json!(["tokens", "messages"]), &whole),
        pair(json!(["fraction"]), &fraction),
    ]})
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::config::Config;
    use crate::models::{FIELDS, PRICES};
    use crate::section::{MAX_SPEND, OPTIONS, PRUNE};
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
        assert_eq!(names(MAX_SPEND_ROWS), MAX_SPEND);
        assert_eq!(names(MODEL_ROWS), FIELDS);
        assert_eq!(names(PRICE_ROWS), PRICES);
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
                let text =
                    format!("summarization:\n  {option}: {value}{preset}\n  enabled: false\n");
                if *option == "enabled" {
                    continue;
                }
                compared += 1;
                different.extend(agree(&text));
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

    /// The few words of JSON Schema that ours uses.
    fn validate(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
        for (word, says) in schema.as_object().expect("a schema is an object") {
            let fail = |why: String| Err(format!("{value}: {why}"));
            match word.as_str() {
                "$schema" | "$defs" | "title" | "description" | "deprecated" => {}
                "$ref" => {
                    let path = says.as_str().unwrap().trim_start_matches('#');
                    validate(value, root.pointer(path).expect("a definition"), root)?;
                }
                "type" => {
                    let types: Vec<&str> = match says {
                        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
                        one => vec![one.as_str().unwrap()],
                    };
                    let is = |name: &str| match name {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "null" => value.is_null(),
                        "integer" => value.is_u64() || value.is_i64(),
                        "number" => value.is_number(),
                        other => panic!("type {other}"),
                    };
                    if !types.iter().any(|name| is(name)) {
                        return fail(format!("not of type {}", types.join(" or ")));
                    }
                }
                "enum" if !says.as_array().unwrap().contains(value) => {
                    return fail(format!("none of {says}"));
                }
                "enum" => {}
                "anyOf" => {
                    let all = says.as_array().unwrap().iter();
                    let mut failed = all.map(|one| validate(value, one, root).err());
                    if failed.all(|error| error.is_some()) {
                        return fail("none of anyOf".to_owned());
                    }
                }
                "properties"
                | "patternProperties"
                | "additionalProperties"
                | "required"
                | "minProperties"
                | "maxProperties" => {
                    if let Some(map) = value.as_object() {
                        object(word, says, map, schema, root)?;
                    }
                }
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        validate(item, says, root)?;
                    }
                }
                "pattern" => {
                    assert_eq!(says, "\\S");
                    if value.as_str().is_some_and(|text| text.trim().is_empty()) {
                        return fail("blank".to_owned());
                    }
                }
                "minimum" | "exclusiveMinimum" | "maximum" => {
                    let limit = says.as_f64().unwrap();
                    let is_fine = value.as_f64().is_none_or(|n| match word.as_str() {
                        "minimum" => n >= limit,
                        "exclusiveMinimum" => n > limit,
                        _ => n <= limit,
                    });
                    if !is_fine {
                        return fail(format!("{word} {limit}"));
                    }
                }
                other => panic!("the check does not know {other}"),
            }
        }
        Ok(())
    }

    fn object(
        word: &str,
        says: &Value,
        map: &Map<String, Value>,
        schema: &Value,
        root: &Value,
    ) -> Result<(), String> {
        let known = |key: &str| {
            let pattern = key.starts_with("preserve_recent_skill_")
                && schema.get("patternProperties").is_some();
            pattern || schema["properties"].get(key).is_some()
        };
        match word {
            "properties" => {
                for (key, value) in map {
                    if let Some(schema) = says.get(key) {
                        validate(value, schema, root)?;
                    }
                }
            }
            "patternProperties" => {}
            "additionalProperties" => {
                for (key, value) in map.iter().filter(|(key, _)| !known(key)) {
                    match says {
                        Value::Bool(false) => return Err(format!("unknown {key}")),
                        schema => validate(value, schema, root)?,
                    }
                }
            }
            "required" => {
                let mut names = says.as_array().unwrap().iter().filter_map(Value::as_str);
                if let Some(missing) = names.find(|name| !map.contains_key(*name)) {
                    return Err(format!("no {missing}"));
                }
            }
            "minProperties" if (map.len() as u64) < says.as_u64().unwrap() => {
                return Err("too few".to_owned());
            }
            "maxProperties" if map.len() as u64 > says.as_u64().unwrap() => {
                return Err("too many".to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}
