//! Before anything is done: is it this server that is meant, may this page ask, and whose token is it?

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::origin::Asked;
use crate::problem::Problem;
use crate::tokens::{Role, Tokens};

/// The tenant that everybody is without tokens.
pub const ALONE: &str = "default";

/// Whose threads a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant(pub(crate) Arc<str>);

/// Stands before what changes something: refuses tokens that only read.
pub(crate) async fn writers(request: Request, next: Next) -> Response {
    let only_looks = matches!(*request.method(), Method::GET | Method::HEAD);
    let role = request.extensions().get::<Role>().copied();
    if role == Some(Role::Read) && !only_looks {
        let detail = "this token only reads; take one that may change things";
        return Problem::new(StatusCode::FORBIDDEN, "read_only", detail).into_response();
    }
    next.run(request).await
}

/// Refuses names and pages that are not this server's, and tells pages that are allowed so.
pub(crate) async fn names(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(host) = host(request.headers()).filter(|host| app.allowed.is_host(host)) else {
        let detail = "this server does not go by that name; add it to server.hosts";
        let status = StatusCode::MISDIRECTED_REQUEST;
        return Problem::new(status, "host_not_allowed", detail).into_response();
    };
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.map(|origin| origin.to_str().unwrap_or("null"));
    let page = match app.allowed.asked(origin, host) {
        Asked::Here => return next.run(request).await,
        Asked::Elsewhere(page) => page,
        Asked::Refused => {
            let detail = "pages of this origin may not ask; add it to server.origins";
            let status = StatusCode::FORBIDDEN;
            return Problem::new(status, "origin_not_allowed", detail).into_response();
        }
    };
    let is_question = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match is_question {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    if is_question {
        for (name, value) in [
            (
                header::ACCESS_CONTROL_ALLOW_METHODS,
                "GET, POST, PATCH, DELETE",
            ),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, idempotency-key, last-event-id, x-api-key, x-request-id",
            ),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if let Ok(page) = HeaderValue::from_str(&page) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    }
    let exposed = HeaderValue::from_static("x-request-id, retry-after");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    response
}

/// Finds the tenant, whose extension it leaves.
pub(crate) async fn tenants(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    match tenant(&app.settings.tokens, request.headers()) {
        Ok((tenant, role)) => {
            request.extensions_mut().insert(tenant.clone());
            request.extensions_mut().insert(role);
            let mut response = next.run(request).await;
            response.extensions_mut().insert(tenant);
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// The one name that the request gives. With none or several there is no saying what is meant.
fn host(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::HOST).iter();
    let host = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(host)
}

/// `Authorization: Bearer …`, or `X-Api-Key` as LangGraph's SDKs send it.
fn tenant(tokens: &Tokens, headers: &HeaderMap) -> Result<(Tenant, Role), Problem> {
    if tokens.is_empty() {
        return Ok((Tenant(ALONE.into()), Role::Write));
    }
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let bearer = headers.get(header::AUTHORIZATION).and_then(text);
    let bearer = bearer.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| token.trim().to_owned())
    });
    let token = bearer.or_else(|| headers.get("x-api-key").and_then(text));
    let refused = |detail| Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
    let Some(token) = token else {
        let detail = "a token is needed: Authorization: Bearer TOKEN, or X-Api-Key: TOKEN";
        return Err(refused(detail));
    };
    let holder = tokens.holder(&token);
    holder
        .map(|holder| (Tenant(holder.tenant), holder.role))
        .ok_or_else(|| refused("this token is not known here"))
}
