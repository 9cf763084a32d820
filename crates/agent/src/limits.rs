//! How far a run may go, and when it goes in circles.

use std::collections::VecDeque;

use conspectus::TurnCall;
use conspectus::core::effect::Millis;
use serde_json::Value;

use crate::channel::delegation::sha256;

/// Limits of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model calls.
    pub max_model_calls: u64,
    /// Tokens of all model calls, sent and written; `None`: no limit.
    pub max_tokens: Option<u64>,
    /// Tool calls that run at once.
    pub max_parallel_tools: usize,
    /// The time for one tool call.
    pub tool_timeout_ms: Millis,
    /// Characters of a tool's result beyond which its middle is left out.
    pub max_result_chars: usize,
    /// The time for one model call.
    pub model_timeout_ms: Millis,
    /// The most that a reply may have; `None`: what the model writes.
    pub max_output_tokens: Option<u64>,
    /// How often a model that is not available is asked again.
    pub model_retries: u32,
    /// The same calls so often in a row of replies: the model is told.
    pub loop_warn: usize,
    /// And so often: the run ends.
    pub loop_stop: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_model_calls: 200,
            max_tokens: None,
            max_parallel_tools: 8,
            tool_timeout_ms: 600_000,
            max_result_chars: 100_000,
            model_timeout_ms: 600_000,
            max_output_tokens: None,
            model_retries: 2,
            loop_warn: 3,
            loop_stop: 5,
        }
    }
}

/// Replies that are looked back at.
const WINDOW: usize = 20;

/// The calls of the last replies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loops(VecDeque<String>);

impl Loops {
    /// Takes the calls of a reply into account: how often the same were made in the last replies, this one included.
    pub(crate) fn seen(&mut self, calls: &[TurnCall]) -> usize {
        let mut each: Vec<String> = calls
            .iter()
            .map(|call| {
                // The order of members does not make it another call.
                let args: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
                let args = match args {
                    Value::Null => call.arguments.to_string(),
                    args => sorted(&args),
                };
                format!("{}\0{args}", call.name)
            })
            .collect();
        each.sort();
        let digest = sha256(&each.join("\u{1}"));
        self.0.push_back(digest.clone());
        if self.0.len() > WINDOW {
            self.0.pop_front();
        }
        self.0.iter().filter(|seen| **seen == digest).count()
    }
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut all: Vec<_> = members.iter().collect();
            all.sort_by_key(|(key, _)| *key);
            let all = all
                .iter()
                .map(|(key, value)| format!("{key}:{}", sorted(value)));
            format!("{{{}}}", all.collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => format!(
            "[{}]",
            list.iter().map(sorted).collect::<Vec<_>>().join(",")
        ),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_calls_in_any_order_are_a_circle() {
        let call = |name: &str, arguments: &str| TurnCall {
            id: "x".into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let mut loops = Loops::default();
        let (a, b) = (call("look", r#"{"x": 1, "y": 2}"#), call("read", "{}"));
        assert_eq!(loops.seen(&[a.clone(), b.clone()]), 1);
        assert_eq!(
            loops.seen(&[b.clone(), call("look", r#"{"y":2,"x":1}"#)]),
            2
        );
        assert_eq!(loops.seen(&[a]), 1);
        assert_eq!(loops.seen(&[call("look", r#"{"x": 2}"#)]), 1);
        for _ in 0..WINDOW {
            loops.seen(&[call("n", "{}")]);
        }
        assert_eq!(loops.seen(&[b]), 1);
    }
}
