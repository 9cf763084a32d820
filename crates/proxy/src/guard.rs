//! What is refused before anything is looked at.

use std::sync::Arc;

use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, StatusCode};

use conspectus_server::{ALONE, Allowed, Asked, Tokens};

use crate::headers::is_upgrade;

/// The largest head.
const HEAD: usize = 64 << 10;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) message: &'static str,
}

const fn refusal(status: StatusCode, kind: &'static str, message: &'static str) -> Refusal {
    Refusal {
        status,
        kind,
        message,
    }
}

/// Whose request it is.
///
/// # Errors
/// When it is to be refused.
pub(crate) fn tenant<B>(
    request: &Request<B>,
    allowed: &Allowed,
    tokens: &Tokens,
) -> Result<Arc<str>, Refusal> {
    const BAD: StatusCode = StatusCode::BAD_REQUEST;
    let headers = request.headers();
    // A server that is asked in this way is taken for a proxy to anywhere.
    if request.uri().authority().is_some() || request.method() == Method::CONNECT {
        let why = "this proxy leads to its configured upstreams only";
        return Err(refusal(BAD, "invalid_request_error", why));
    }
    if !is_plain(request.uri().path()) {
        let why = "the path may not have dot segments or backslashes";
        return Err(refusal(BAD, "invalid_request_error", why));
    }
    let size: usize = headers
        .iter()
        .map(|(n, v)| n.as_str().len() + v.len() + 4)
        .sum();
    if size > HEAD {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(refusal(
            status,
            "invalid_request_error",
            "the head of the request is too large",
        ));
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    let Some(host) = host.filter(|host| allowed.is_host(host)) else {
        let why = "the proxy does not go by this name; add it to the hosts";
        return Err(refusal(StatusCode::FORBIDDEN, "permission_error", why));
    };
    let origin = headers
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or("null"));
    if allowed.asked(origin, host) == Asked::Refused {
        let why = "web pages of this origin may not ask; add it to the origins";
        return Err(refusal(StatusCode::FORBIDDEN, "permission_error", why));
    }
    let tenant = whose(headers, tokens).ok_or(refusal(
        StatusCode::UNAUTHORIZED,
        "authentication_error",
        "the proxy asks for a token of its own, in the header x-conspectus-token",
    ))?;
    if is_upgrade(headers) {
        // Clients that try a WebSocket go on without one when they are told this.
        let why = "there is no WebSocket here; ask by POST";
        return Err(refusal(
            StatusCode::UPGRADE_REQUIRED,
            "invalid_request_error",
            why,
        ));
    }
    Ok(tenant)
}

fn whose(headers: &HeaderMap, tokens: &Tokens) -> Option<Arc<str>> {
    if tokens.is_empty() {
        return Some(ALONE.into());
    }
    let token = headers.get("x-conspectus-token")?.to_str().ok()?;
    tokens.tenant(token.trim())
}

/// Whether a path leads where it seems to.
fn is_plain(path: &str) -> bool {
    if !path.contains(['.', '%', '\\']) {
        return path.starts_with('/');
    }
    let lower = path.to_ascii_lowercase();
    let decoded = lower
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "\\");
    let is_dots = |segment: &str| matches!(segment, "." | "..");
    path.starts_with('/') && !decoded.contains('\\') && !decoded.split('/').any(is_dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: hyper::http::request::Builder, expect: Result<&str, u16>) {
        let allowed = Allowed::new("127.0.0.1:7438".parse().expect("an address"), &[], &[]);
        let request = request.body(()).expect("a request");
        let got = tenant(&request, &allowed, &Tokens::default());
        let got = got.as_deref().map_err(|refusal| refusal.status.as_u16());
        assert_eq!(got, expect, "{request:?}");
    }

    #[test]
    fn who_comes_in() {
        let to = |uri: &str| Request::builder().uri(uri).header("host", "localhost:7438");
        check(to("/v1/models"), Ok("default"));
        check(to("/v1/files/a..b"), Ok("default"));
        check(to("/v1/../admin"), Err(400));
        check(to("/v1/%2E%2e/admin"), Err(400));
        check(to("/v1/x%2f..%2fy"), Err(400));
        check(to("/v1/..%5cadmin"), Err(400));
        check(to("http://169.254.169.254/latest"), Err(400));
        check(Request::builder().uri("/v1/models"), Err(403));
        check(
            Request::builder().uri("/").header("host", "evil.example"),
            Err(403),
        );
        check(to("/").header("host", "localhost"), Err(403));
        check(to("/").header("origin", "https://evil.example"), Err(403));
        check(
            to("/").header("origin", "http://localhost:7438"),
            Ok("default"),
        );
        check(to("/v1/responses").header("upgrade", "websocket"), Err(426));
        check(to("/").header("x-long", "x".repeat(70_000)), Err(431));
    }
}
