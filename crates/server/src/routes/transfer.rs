//! A thread as a file, and from a file.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::threads::with_values;
use crate::answer::Answered;
use crate::app::App;
use crate::problem::Problem;
use crate::read::{Named, Raw};
use crate::shapes::Thread;

pub(crate) async fn export(State(app): State<Arc<App>>, named: Named) -> Result<Response, Problem> {
    let lines = app.threads.export(&named.key()).await?;
    let kind = HeaderValue::from_static("application/x-ndjson");
    let name = format!("attachment; filename=\"{}.jsonl\"", named.thread);
    let headers = [(header::CONTENT_TYPE, kind)];
    let mut response = (headers, lines).into_response();
    if let Ok(name) = HeaderValue::from_str(&name) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

pub(crate) async fn import(
    State(app): State<Arc<App>>,
    named: Named,
    Raw(bytes): Raw,
) -> Answered<Thread> {
    let text = std::str::from_utf8(&bytes);
    let text = text.map_err(|_| Problem::invalid("an export is UTF-8"))?;
    let key = named.key();
    let info = app.threads.import(&key, text).await?;
    with_values(&app, &key, info).await
}
