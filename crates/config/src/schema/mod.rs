//! The file's JSON Schema, made from one table: a row an option.
//!
//! It says what a file may hold, for editors and checks before a deployment. What depends on several options or
//! on the model is checked by loading, which also names the line. A test compares the table with what the
//! reader reads.

mod rows;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod validate;

use serde_json::{Map, Value, json};

use crate::agents::{AGENTS, MEMORY, SKILLS, SUBAGENTS, TOOLS};
use crate::mcp::MCP;
use crate::models::MODELS;
use crate::place::SECTION;
use crate::proxy::PROXY;
use crate::server::SERVER;
use rows::{
    AGENT_ROWS, Kind, MCP_ROWS, MEMORY_ROWS, MODEL_ROWS, PROXY_ROWS, Row, SECTION_ROWS,
    SERVER_ROWS, SKILLS_ROWS, SUBAGENTS_ROWS, TOOLS_ROWS,
};

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
    let mut server = map(SERVER_ROWS, true);
    server["description"] = "How conspectus serve runs.".into();
    server["type"] = json!(["object", "null"]);
    let mut proxy = map(PROXY_ROWS, true);
    proxy["description"] =
        "How conspectus proxy runs, and the proxy beside conspectus serve.".into();
    proxy["type"] = json!(["object", "null"]);
    let mut agent = map(AGENT_ROWS, false);
    agent["type"] = json!(["object", "string", "null"]);
    agent["pattern"] = "\\S".into();
    let mut agents = of(&Kind::Agents);
    agents["description"] =
        "Agents that runs and threads can name, each with its model or a map.".into();
    let open = |rows, about: &str| {
        let mut section = map(rows, false);
        section["description"] = about.into();
        section["type"] = json!(["object", "null"]);
        section
    };
    let mut servers = of(&Kind::Servers(MCP_ROWS));
    servers["description"] = "MCP servers whose tools agents have, by name.".into();
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
            AGENTS: agents,
            SUBAGENTS: open(SUBAGENTS_ROWS, "Agents that others can give work to."),
            SKILLS: open(SKILLS_ROWS, "Folders with a SKILL.md each, which agents can load."),
            MEMORY: open(MEMORY_ROWS, "What is remembered beyond a thread."),
            TOOLS: {"anyOf": [
                open(TOOLS_ROWS, "What tools may do."),
                {"type": "array", "description": "deer-flow's; passed over."},
            ]},
            MCP: servers,
            SERVER: server,
            PROXY: proxy,
        },
        "$defs": {"size": size(1), "kept": size(0), "agent": agent},
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
        Kind::TextsOrNull => json!({"type": ["array", "null"], "items": text}),
        Kind::BooleanOrNull => json!({"type": ["boolean", "null"]}),
        Kind::Agents => json!({
            "type": ["object", "null"],
            "additionalProperties": {"$ref": "#/$defs/agent"},
        }),
        Kind::Upstreams(rows) => {
            let mut one = map(rows, true);
            one["required"] = json!(["url"]);
            json!({
                "type": ["object", "null"],
                "additionalProperties": {"anyOf": [text, one]},
            })
        }
        Kind::Servers(rows) => {
            let mut one = map(rows, true);
            one["oneOf"] = json!([{"required": ["command"]}, {"required": ["url"]}]);
            json!({"type": ["object", "null"], "additionalProperties": one})
        }
        Kind::SomeOf(words) => json!({"anyOf": [
            {"type": ["boolean", "null"]},
            {"type": "array", "items": {"enum": words}},
        ]}),
        Kind::TextOrBoolean => {
            json!({"type": ["string", "boolean", "null"], "pattern": "\\S"})
        }
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
