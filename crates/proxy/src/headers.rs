//! What of a head goes on: everything but what belongs to one connection, and what is ours.

use conspectus::core::id::{Ident, IdentHasher};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Our own headers begin so. What clients send under such names is for us and goes no further.
pub(crate) const OURS: &str = "x-conspectus-";

/// Headers of one connection.
const HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Headers that hold a key.
const KEYS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// Headers in which a client names its conversation.
const NAMES: [HeaderName; 7] = [
    HeaderName::from_static("x-claude-code-session-id"),
    HeaderName::from_static("x-claude-code-agent-id"),
    HeaderName::from_static("thread-id"),
    HeaderName::from_static("session-id"),
    HeaderName::from_static("x-session-id"),
    HeaderName::from_static("x-session-affinity"),
    HeaderName::from_static("x-conspectus-conversation"),
];

/// Takes out what belongs to one connection: the known ones, and those that `connection` names.
pub(crate) fn end_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP {
        headers.remove(name);
    }
}

/// The head of a request as the upstream gets it. The length is said anew by whoever sends the body.
pub(crate) fn to_upstream(headers: &mut HeaderMap, host: &str) {
    end_hop(headers);
    let ours: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with(OURS))
        .cloned()
        .collect();
    for name in ours {
        headers.remove(name);
    }
    headers.remove(header::EXPECT);
    if let Ok(host) = HeaderValue::from_str(host) {
        headers.insert(header::HOST, host);
    }
}

/// Digest of the keys that a request came with: who asks, without saying it.
pub(crate) fn credential(headers: &HeaderMap) -> Ident {
    let mut hash = IdentHasher::new();
    for name in KEYS {
        for value in headers.get_all(&name) {
            hash.field(name.as_str().as_bytes());
            hash.field(value.as_bytes());
        }
    }
    hash.finish()
}

/// The name that the client gives its conversation, where it sends one.
pub(crate) fn session(headers: &HeaderMap) -> Option<Ident> {
    let mut hash = IdentHasher::new();
    let mut is_said = false;
    for name in NAMES {
        if let Some(value) = headers.get(&name) {
            is_said = true;
            hash.field(name.as_str().as_bytes());
            hash.field(value.as_bytes());
        }
    }
    is_said.then(|| hash.finish())
}

/// Whether the request wants to become a WebSocket.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.to_ascii_lowercase().contains("websocket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn what_goes_on() {
        let mut headers = map(&[
            ("host", "localhost:1"),
            ("connection", "keep-alive, x-of-this-hop"),
            ("x-of-this-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("te", "trailers"),
            ("proxy-authorization", "Basic x"),
            ("authorization", "Bearer k"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
            ("accept-encoding", "gzip, br"),
            ("x-conspectus-token", "t"),
        ]);
        to_upstream(&mut headers, "api.example.com");
        let left = map(&[
            ("host", "api.example.com"),
            ("authorization", "Bearer k"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
            ("accept-encoding", "gzip, br"),
        ]);
        assert_eq!(headers, left);
    }

    #[test]
    fn who_asks() {
        let one = credential(&map(&[("authorization", "Bearer a")]));
        assert_eq!(
            one,
            credential(&map(&[("authorization", "Bearer a"), ("accept", "x")]))
        );
        assert_ne!(one, credential(&map(&[("authorization", "Bearer b")])));
        assert_ne!(one, credential(&map(&[("x-api-key", "Bearer a")])));
        assert_eq!(session(&map(&[("accept", "x")])), None);
        assert!(session(&map(&[("x-claude-code-session-id", "s")])).is_some());
    }

    #[test]
    fn websockets() {
        assert!(is_upgrade(&map(&[("upgrade", "WebSocket")])));
        assert!(!is_upgrade(&map(&[("upgrade", "h2c")])));
    }
}
