//! What a result says of delegated work, where it is a JSON object that says so in fields. Prose is never read.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::capped;
use super::fact::DelegationState;
use super::redact::cut_clear;

/// A longer result is no report.
const MAX_REPORT: usize = 200_000;
/// Conditions that are remembered for one piece of work, and bytes of each.
const MAX_UNMET: usize = 5;
const MAX_UNMET_TEXT: usize = 120;

/// What a report says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The work's own id.
    pub(super) job: Option<Arc<str>>,
    pub(super) state: Option<DelegationState>,
    /// Conditions that it does not meet yet.
    pub(super) unmet: Vec<Arc<str>>,
    /// It was not accepted, for whatever reason.
    pub(super) is_rejected: bool,
}

impl Report {
    /// Reads a result; nothing where it is no JSON object.
    pub(super) fn of(text: &str) -> Self {
        let text = text.trim();
        if !text.starts_with('{') || text.len() > MAX_REPORT {
            return Self::default();
        }
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Self::default();
        };
        let unmet = [
            "unmet",
            "unmet_criteria",
            "open_criteria",
            "missing",
            "remaining",
        ]
        .iter()
        .find_map(|key| fields.get(*key)?.as_array());
        Self {
            job: job(&fields),
            state: fields
                .get("status")
                .or_else(|| fields.get("state"))
                .and_then(state),
            unmet: unmet
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .take(MAX_UNMET)
                .map(|text| cut_clear(&capped(text), MAX_UNMET_TEXT).into())
                .collect(),
            is_rejected: fields.get("accepted") == Some(&Value::Bool(false)),
        }
    }
}

/// The id that a piece of work goes by, in arguments or in a result.
pub(super) fn job(fields: &Map<String, Value>) -> Option<Arc<str>> {
    let keys = ["job_id", "task_id", "agent_id", "run_id", "id"];
    let id = keys.iter().find_map(|key| fields.get(*key)?.as_str())?;
    (!id.is_empty() && id.len() <= 80 && !id.contains(char::is_control)).then(|| id.into())
}

fn state(value: &Value) -> Option<DelegationState> {
    Some(match value.as_str()?.to_ascii_lowercase().as_str() {
        "running" | "in_progress" | "in-progress" | "pending" | "queued" | "started"
        | "async_launched" => DelegationState::Running,
        "completed" | "complete" | "done" | "success" | "succeeded" | "finished" => {
            DelegationState::Done
        }
        "failed" | "error" | "cancelled" | "canceled" | "timed_out" | "timeout" | "aborted" => {
            DelegationState::Failed
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_of_an_object_are_read() {
        let of = |text: &str| {
            let report = Report::of(text);
            (
                report.job.map(|j| j.to_string()),
                report.state,
                report.unmet.len(),
                report.is_rejected,
            )
        };
        let nothing = (None, None, 0, false);
        assert_eq!(of("The job job-1 is running."), nothing);
        assert_eq!(of("[{\"status\":\"running\"}]"), nothing);
        assert_eq!(of("{\"status\":7,\"id\":3}"), nothing);
        assert_eq!(
            of(r#"{"id":"job-7","status":"completed","accepted":false,"unmet":["a","b",3]}"#),
            (
                Some("job-7".to_owned()),
                Some(DelegationState::Done),
                2,
                true
            )
        );
    }
}
