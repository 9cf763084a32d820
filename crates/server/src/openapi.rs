//! The document that describes the service to programs. A test compares it with the table of routes, and schemathesis
//! compares it with what the service answers.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The document.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) async fn document() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], DOCUMENT).into_response()
}
