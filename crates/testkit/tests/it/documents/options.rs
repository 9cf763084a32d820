//! Every option of the configuration stands in `docs/configuration.md`. Another test holds the schema, from which they are
//! taken here, against the reader of the file.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{read, root};

#[test]
fn every_option_of_the_configuration_is_documented() {
    let schema = read(&root().join("docs/config.schema.json"));
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let mut options = BTreeSet::new();
    collect(&schema, &mut options);
    assert!(options.len() > 100, "{options:?}");
    let document = read(&root().join("docs/configuration.md"));
    let code = document.split('`').skip(1).step_by(2);
    let words: BTreeSet<&str> = code
        .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let missing: Vec<_> = options
        .iter()
        .filter(|option| !words.contains(option.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/configuration.md: {missing:?}"
    );
}

/// The names of all properties, however deep.
fn collect(schema: &Value, options: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if let (true, Some(properties)) = (key == "properties", value.as_object()) {
                    options.extend(properties.keys().cloned());
                }
                collect(value, options);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, options)),
        _ => {}
    }
}
