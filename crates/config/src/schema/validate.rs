//! A check of a value against a schema, as far as tests need it.

use serde_json::{Map, Value};

/// The few words of JSON Schema that ours uses.
pub(super) fn validate(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
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
        let pattern =
            key.starts_with("preserve_recent_skill_") && schema.get("patternProperties").is_some();
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
