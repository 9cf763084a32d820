//! A thread's own policy, laid over the host's options.

use conspectus_core::policy::Options;
use serde_json::{Map, Value, json};

use super::error::ThreadsError;

/// `options` with every member that `own` has set to what it says there. Sizes may be written as in the configuration
/// file: `{"type": "tokens", "value": 4000}`, for `trigger` also a list of them or `null`.
///
/// # Errors
/// When `own` is no object, names an option that is none, or gives one a value that it cannot have.
pub(crate) fn overlay(options: &Options, own: &Value) -> Result<Options, ThreadsError> {
    let bad = |what: String| ThreadsError::BadPolicy(what);
    let Value::Object(own) = own else {
        return Err(bad(
            "it is no object; name options and their values".to_owned()
        ));
    };
    let Ok(Value::Object(mut all)) = serde_json::to_value(options) else {
        unreachable!("options are written as an object");
    };
    for (key, value) in own {
        if !all.contains_key(key) {
            return Err(bad(format!(
                "there is no option {key:?}; there are {}",
                all.keys().cloned().collect::<Vec<_>>().join(", ")
            )));
        }
        let said = match key.as_str() {
            "trigger" => trigger(value),
            "keep" => size(value).map(|(kind, value)| json!({ kind: value })),
            "prune" | "redact" => within(all.get(key), value),
            _ => None,
        };
        all.insert(key.clone(), said.unwrap_or_else(|| value.clone()));
        // One option at a time, so that the error names it.
        let so_far = Value::Object(all.clone());
        serde_json::from_value::<Options>(so_far).map_err(|why| bad(format!("{key}: {why}")))?;
    }
    serde_json::from_value(Value::Object(all)).map_err(|why| bad(why.to_string()))
}

fn trigger(value: &Value) -> Option<Value> {
    let clause = |value: &Value| {
        let (kind, value) = size(value)?;
        Some(json!({ kind: value }))
    };
    match value {
        Value::Null => Some(json!("never")),
        Value::Array(clauses) => {
            let all: Option<Vec<_>> = clauses.iter().map(clause).collect();
            Some(json!({ "any": all? }))
        }
        one => Some(json!({ "any": [clause(one)?] })),
    }
}

/// `{"type": …, "value": …}`.
fn size(value: &Value) -> Option<(String, Value)> {
    let kind = value.get("type")?.as_str()?;
    Some((kind.to_owned(), value.get("value")?.clone()))
}

/// Members of a group one by one.
fn within(group: Option<&Value>, own: &Value) -> Option<Value> {
    let mut all: Map<String, Value> = group?.as_object()?.clone();
    all.extend(own.as_object()?.clone());
    Some(Value::Object(all))
}

#[cfg(test)]
mod tests {
    use conspectus_core::policy::{Clause, KeepOption, TriggerOption};

    use super::*;

    #[test]
    fn what_a_thread_says_stands_over_what_the_host_says() {
        let host = Options {
            keep: Some(KeepOption::Messages(9)),
            max_context: Some(8_000),
            ..Options::default()
        };
        let own = json!({
            "trigger": [{"type": "tokens", "value": 4000}, {"type": "fraction", "value": 0.5}],
            "prune": {"max_result_chars": 500},
        });
        let tokens = Clause {
            tokens: Some(4_000),
            ..Clause::default()
        };
        let fraction = Clause {
            fraction: Some(0.5),
            ..Clause::default()
        };
        let both = overlay(&host, &own).expect("they fit");
        assert_eq!(both.trigger, TriggerOption::Any(vec![tokens, fraction]));
        assert_eq!(both.prune.max_result_chars, Some(500));
        assert_eq!((both.keep, both.max_context), (host.keep, Some(8_000)));
        let off = overlay(
            &host,
            &json!({"trigger": null, "keep": {"type": "fraction", "value": 0.1}}),
        );
        let off = off.expect("they fit");
        assert_eq!(off.trigger, TriggerOption::Never);
        assert_eq!(off.keep, Some(KeepOption::Fraction(0.1)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |own: Value, expect: &str| {
            let error = overlay(&Options::default(), &own).expect_err("it is wrong");
            assert!(error.to_string().contains(expect), "{error}");
        };
        check(json!([]), "no object");
        check(json!({"kepe": 1}), "there is no option \"kepe\"");
        check(json!({"enabled": "yes"}), "enabled: ");
        check(json!({"keep": {"type": "lines", "value": 3}}), "keep: ");
    }
}
