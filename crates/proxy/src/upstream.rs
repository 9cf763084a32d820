//! Where requests go: a fixed table, made from the configuration alone.
//!
//! Nothing that a client says can name another place: not a header, not a body's `api_base`, not the path, whose first
//! segment is at most one of the names in the table.

use std::sync::Arc;

use hyper::http::uri::{Authority, Scheme};
use hyper::{Uri, http};

use crate::strict::Strict;

/// Where a provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name: the first segment of paths that mean it, such as `/openai/v1/responses`.
    pub name: Arc<str>,
    /// What its servers insist on beyond the API of chat completions.
    pub strict: Strict,
    /// Whether rewritten requests ask it to drop thinking that does not verify. `None`: for models that refused such
    /// thinking before.
    pub drop_block: Option<bool>,
    scheme: Scheme,
    authority: Authority,
    /// Without an end slash.
    base: Arc<str>,
}

/// Why a text names no upstream. It is not repeated: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// It is no URL of a server.
    #[error(
        "expected http://host/path or https://host/path, with a name and = in front where there are several"
    )]
    Url,
    /// A password belongs to the client, which sends its key itself.
    #[error("it holds a user or password; clients send their own keys")]
    Password,
    /// A name cannot be a segment of a path.
    #[error("its name may have letters, digits, - and _, and is not v1")]
    Name,
    /// Two of the same name.
    #[error("the name {0} is given twice")]
    Twice(#[source] NameOf),
    /// There is none.
    #[error("there is no upstream; name one")]
    None,
}

/// A name that was given twice, which is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("number {0}")]
pub struct NameOf(pub usize);

impl Upstream {
    /// Reads `URL` or `NAME=URL`. Without a name it is `default`.
    ///
    /// # Errors
    /// When it names no server.
    pub fn parse(text: &str) -> Result<Self, UpstreamError> {
        match text.split_once('=') {
            Some((name, url)) if !name.contains([':', '/']) => Self::new(name.trim(), url.trim()),
            _ => Self::new("default", text.trim()),
        }
    }

    /// An upstream of this name.
    ///
    /// # Errors
    /// When it names no server.
    pub fn new(name: &str, url: &str) -> Result<Self, UpstreamError> {
        let is_fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if name.is_empty() || name == "v1" || !name.bytes().all(is_fine) {
            return Err(UpstreamError::Name);
        }
        let parts: http::uri::Parts = url
            .parse::<Uri>()
            .map_err(|_| UpstreamError::Url)?
            .into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(UpstreamError::Url);
        };
        if ![Scheme::HTTP, Scheme::HTTPS].contains(&scheme) {
            return Err(UpstreamError::Url);
        }
        if authority.as_str().contains('@') {
            return Err(UpstreamError::Password);
        }
        let base = parts.path_and_query.map_or("".into(), |p| {
            let path = p.path().trim_end_matches('/');
            Arc::<str>::from(path)
        });
        Ok(Self {
            name: name.into(),
            strict: Strict::default(),
            drop_block: None,
            scheme,
            authority,
            base,
        })
    }

    /// Its address, for people and as the place that limits are learnt of.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.base)
    }

    /// The name of its server, as the header `host` says it.
    pub(crate) fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// Where a path of a client leads. A version that base and path both have stands there once.
    pub(crate) fn target(&self, path_and_query: &str) -> Result<Uri, http::Error> {
        let base = match self.base.rsplit_once('/') {
            Some((before, last)) if is_version(last) && begins_with(path_and_query, last) => before,
            _ => &self.base,
        };
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{base}{path_and_query}"))
            .build()
    }
}

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Upstreams(Vec<Arc<Upstream>>);

impl Upstreams {
    /// # Errors
    /// When there is none, or two have one name.
    pub(crate) fn new(all: &[Upstream]) -> Result<Self, UpstreamError> {
        if all.is_empty() {
            return Err(UpstreamError::None);
        }
        for (at, upstream) in all.iter().enumerate() {
            if all[..at].iter().any(|other| other.name == upstream.name) {
                return Err(UpstreamError::Twice(NameOf(at + 1)));
            }
        }
        Ok(Self(all.iter().cloned().map(Arc::new).collect()))
    }

    /// Whether one of them is reached by TLS.
    pub(crate) fn need_tls(&self) -> bool {
        self.0
            .iter()
            .any(|upstream| upstream.scheme == Scheme::HTTPS)
    }

    /// The upstream of a path and the rest of the path: the one whose name is the first segment; else, for Anthropic's
    /// calls, the one that is called `anthropic`; else the first.
    pub(crate) fn of<'p>(&self, path_and_query: &'p str) -> (&Arc<Upstream>, &'p str) {
        let named = self.0.iter().find(|u| begins_with(path_and_query, &u.name));
        if let Some(named) = named {
            let rest = &path_and_query[1 + named.name.len()..];
            let rest = if rest.is_empty() { "/" } else { rest };
            return (named, rest);
        }
        let path = path_and_query.split('?').next().unwrap_or_default();
        let is_messages = path.ends_with("/messages") || path.ends_with("/messages/count_tokens");
        let by_name = self
            .0
            .iter()
            .find(|u| is_messages && *u.name == *"anthropic");
        (by_name.unwrap_or(&self.0[0]), path_and_query)
    }
}

/// Whether `segment` is the first one of the path.
fn begins_with(path: &str, segment: &str) -> bool {
    path.strip_prefix('/')
        .and_then(|rest| rest.strip_prefix(segment))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        #[track_caller]
        fn check(upstream: &str, path: &str, expect: &str) {
            let upstream = Upstream::parse(upstream).expect("an upstream");
            let target = upstream.target(path).expect("a target");
            assert_eq!(target.to_string(), expect);
        }
        check("http://h:1", "/v1/models", "http://h:1/v1/models");
        check(
            "http://h:1/v1/",
            "/v1/models?a=b",
            "http://h:1/v1/models?a=b",
        );
        check(
            "http://h/v1",
            "/chat/completions",
            "http://h/v1/chat/completions",
        );
        check(
            "https://h/api/v1",
            "/v1/messages",
            "https://h/api/v1/messages",
        );
        check("https://h/api", "/v1/messages", "https://h/api/v1/messages");
        check("https://h/v1", "/v12/x", "https://h/v1/v12/x");
    }

    #[test]
    fn what_names_no_upstream() {
        let check = |text: &str, expect| assert_eq!(Upstream::parse(text).err(), Some(expect));
        check("", UpstreamError::Url);
        check("localhost:80", UpstreamError::Url);
        check("ftp://h", UpstreamError::Url);
        check("/v1", UpstreamError::Url);
        check("https://me:secret@h", UpstreamError::Password);
        check("a b=https://h", UpstreamError::Name);
        check("v1=https://h", UpstreamError::Name);
        let with_query = Upstream::parse("http://h/x?a=b").expect("the equals sign is the query's");
        assert_eq!(&*with_query.name, "default");
    }

    #[test]
    fn a_name_in_front_is_the_upstream() {
        let all = ["openai=http://o", "anthropic=http://a", "local=http://l/v1"];
        let all = all.map(|text| Upstream::parse(text).expect("an upstream"));
        let upstreams = Upstreams::new(&all).expect("they differ");
        let check = |path: &str, name: &str, rest: &str| {
            let (found, left) = upstreams.of(path);
            assert_eq!((&*found.name, left), (name, rest), "{path}");
        };
        check("/v1/chat/completions", "openai", "/v1/chat/completions");
        check(
            "/v1/messages?beta=true",
            "anthropic",
            "/v1/messages?beta=true",
        );
        check("/local/v1/models", "local", "/v1/models");
        check("/local/v1/messages", "local", "/v1/messages");
        check("/local", "local", "/");
        check("/locality", "openai", "/locality");
        assert!(Upstreams::new(&[]).is_err());
        assert!(Upstreams::new(&[all[0].clone(), all[0].clone()]).is_err());
    }
}
