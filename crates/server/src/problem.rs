//! Errors as clients read them: problem details (RFC 9457).
//!
//! `detail` is the sentence that deer-flow's and LangGraph's clients show; where the seed has a sentence of its own, it
//! stands there word for word. `code` is what a program asks for. Nothing of a request's body is repeated.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An error with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// What kind it is, for programs: a word of a closed set.
    pub(crate) code: &'static str,
    /// What happened and what to try.
    pub(crate) detail: String,
    /// What is known of a failure's cause, for programs.
    pub(crate) cause: Option<&'static str>,
    /// When to ask again.
    pub(crate) retry_after_s: Option<u32>,
    /// For the log alone.
    pub(crate) why: Option<String>,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            cause: None,
            retry_after_s: None,
            why: None,
        }
    }

    /// What was sent cannot be meant.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", detail)
    }

    /// There is no such thread. As deer-flow says it.
    pub(crate) fn no_thread(id: &str) -> Self {
        let detail = format!("Thread {id} not found");
        Self::new(StatusCode::NOT_FOUND, "thread_not_found", detail)
    }

    /// Something that a thread does not have.
    pub(crate) fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// It cannot be done as things are.
    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// Not now.
    pub(crate) fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        problem.retry_after_s = Some(1);
        problem
    }

    /// A fault of ours, of which nothing is told.
    pub(crate) fn fault() -> Self {
        let detail = "the server has a fault and gave up on this request; please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = Body {
            kind: format!("urn:conspectus:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            code: self.code,
            cause: self.cause,
        };
        let text = serde_json::to_string(&body).unwrap_or_default();
        let json = HeaderValue::from_static("application/problem+json");
        let mut response = (self.status, [(header::CONTENT_TYPE, json)], text).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Told {
            code: self.code,
            why: self.why,
        });
        response
    }
}

/// What the log says of the problem that a response is.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) code: &'static str,
    pub(crate) why: Option<String>,
}
