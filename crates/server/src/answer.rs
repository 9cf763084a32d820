//! Answers: values as JSON, and what stored threads say when they did nothing.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use conspectus::store::StoreError;
use conspectus::threads::ThreadsError;
use conspectus_agent::AgentError;
use serde::Serialize;

use crate::problem::Problem;

/// What a handler gives.
pub(crate) type Answered<T> = Result<Answer<T>, Problem>;

/// A value as JSON.
#[derive(Debug)]
pub(crate) struct Answer<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => {
                let kind = HeaderValue::from_static("application/json");
                ([(header::CONTENT_TYPE, kind)], bytes).into_response()
            }
            // Values of ours can be written.
            Err(_) => Problem::fault().into_response(),
        }
    }
}

impl From<ThreadsError> for Problem {
    fn from(error: ThreadsError) -> Self {
        let detail = error.to_string();
        match error {
            ThreadsError::NotFound(id) => Self::no_thread(&id),
            ThreadsError::Exists(_) => Self::conflict("thread_exists", detail),
            ThreadsError::NoMessage(_) => Self::not_found("message_not_found", detail),
            ThreadsError::NoCheckpoint(_) => Self::not_found("checkpoint_not_found", detail),
            ThreadsError::NoPreview(_) => Self::not_found("preview_not_found", detail),
            ThreadsError::IdTaken(_) => Self::conflict("message_id_taken", detail),
            ThreadsError::Stale(_) => Self::conflict("preview_stale", detail),
            ThreadsError::KeyReused(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", detail)
            }
            ThreadsError::NothingTo(_) => Self::conflict("nothing_to_do", detail),
            ThreadsError::Busy => Self::conflict("run_in_flight", detail),
            ThreadsError::Contended => Self::unavailable("contended", detail),
            ThreadsError::Policy(_) | ThreadsError::BadPolicy(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_policy", detail)
            }
            ThreadsError::Store(error) => Self::from(error),
            ThreadsError::Restore(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "thread_damaged", detail)
            }
            ThreadsError::Purge(_)
            | ThreadsError::BadId(_)
            | ThreadsError::BadMessage { .. }
            | ThreadsError::BadCheckpoint(_)
            | ThreadsError::BadExport { .. } => Self::invalid(detail),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", detail),
        }
    }
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Self {
        let detail = error.to_string();
        match error {
            AgentError::Busy => Self::conflict("run_in_flight", detail),
            AgentError::NoRun(_) => Self::not_found("run_not_found", detail),
            AgentError::NoAgent(_) => Self::not_found("agent_not_found", detail),
            AgentError::Exists(_) => Self::conflict("run_exists", detail),
            AgentError::NothingToResume => Self::conflict("nothing_to_resume", detail),
            AgentError::AnswerMissing => Self::conflict("answer_missing", detail),
            AgentError::Threads(error) => Self::from(error),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "run_failed", detail),
        }
    }
}

/// What a store says may name its place, which is the operator's business: clients read less.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let why = error.to_string();
        let mut problem = match error {
            StoreError::Busy => Self::unavailable("store_busy", error.to_string()),
            StoreError::Unreachable(_) => Self::unavailable(
                "store_unavailable",
                "the store cannot be reached; try again",
            ),
            StoreError::Full => {
                let status = StatusCode::INSUFFICIENT_STORAGE;
                Self::new(status, "store_full", "no space is left for the store")
            }
            StoreError::NoThread => {
                Self::not_found("thread_not_found", "the thread was deleted meanwhile")
            }
            _ => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                let detail = "the store failed; the server's log says more";
                Self::new(status, "store_failed", detail)
            }
        };
        problem.why = Some(why);
        problem
    }
}
