//! The section `server:` at the top of the file: where `conspectus serve` listens, where its threads are stored, and who
//! may ask.
//!
//! It only says what was written. Whether an address may be listened on without tokens is the server's business.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::error::{ConfigError, Problem};
use crate::models::Secret;
use crate::options::Reader;
use crate::value::{text, whole, wrong};
use crate::yaml::{Entry, Node};

/// The name of the section.
pub(crate) const SERVER: &str = "server";

/// Every option of the section.
pub(crate) const OPTIONS: [&str; 11] = [
    "listen",
    "store",
    "tokens",
    "hosts",
    "origins",
    "max_body_bytes",
    "max_page",
    "request_timeout_ms",
    "heartbeat_ms",
    "shutdown_ms",
    "lease_ms",
];

/// What the section says. `None` and empty lists: nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Server {
    /// The address and port to listen on.
    pub listen: Option<SocketAddr>,
    /// Where threads are stored: `sqlite:PATH`, `postgres://…` or `memory`. It may hold a password, so it prints as
    /// `****`, or as the name of the variable that holds it.
    pub store: Option<Secret>,
    /// The file with the digests of tokens.
    pub tokens: Option<Arc<str>>,
    /// Names that the server is reached under beside those of the loopback, without port.
    pub hosts: Vec<Arc<str>>,
    /// Origins of web pages that may ask, such as `https://chat.example.com`.
    pub origins: Vec<Arc<str>>,
    /// The largest body of a request.
    pub max_body_bytes: Option<u64>,
    /// The most entries of one page.
    pub max_page: Option<u64>,
    /// What a request may take that waits for no model.
    pub request_timeout_ms: Option<u64>,
    /// How often a stream of events without events says that it lives.
    pub heartbeat_ms: Option<u64>,
    /// What compactions under way are given to end when the server stops.
    pub shutdown_ms: Option<u64>,
    /// For so long a process that was killed holds the threads that it worked on.
    pub lease_ms: Option<u64>,
}

/// Reads the section.
pub(crate) fn read(file: &Arc<str>, section: &Entry) -> Result<Server, ConfigError> {
    let reader = Reader {
        file,
        section: SERVER,
    };
    let mut server = Server::default();
    for entry in reader.options(section, "a map of options such as listen:")? {
        option(&reader, entry, &mut server)?;
    }
    Ok(server)
}

fn option(reader: &Reader<'_>, entry: &Entry, server: &mut Server) -> Result<(), ConfigError> {
    match entry.key.as_str() {
        "listen" => server.listen = reader.value(entry, address)?,
        "store" => server.store = reader.value(entry, store)?,
        "tokens" => server.tokens = reader.value(entry, file_of_tokens)?,
        "hosts" => server.hosts = reader.list(entry, host)?,
        "origins" => server.origins = reader.list(entry, origin)?,
        "max_body_bytes" => server.max_body_bytes = reader.value(entry, |n| whole(n, 1))?,
        "max_page" => server.max_page = reader.value(entry, |n| whole(n, 1))?,
        "request_timeout_ms" => server.request_timeout_ms = reader.value(entry, |n| whole(n, 1))?,
        "heartbeat_ms" => server.heartbeat_ms = reader.value(entry, |n| whole(n, 1))?,
        "shutdown_ms" => server.shutdown_ms = reader.value(entry, |n| whole(n, 0))?,
        "lease_ms" => server.lease_ms = reader.value(entry, |n| whole(n, 1_000))?,
        _ => return Err(reader.unknown(entry, "", &OPTIONS)),
    }
    Ok(())
}

pub(crate) fn file_of_tokens(node: &Node) -> Result<Arc<str>, Problem> {
    text(node, "the path of a file").map(Arc::from)
}

pub(crate) fn address(node: &Node) -> Result<SocketAddr, Problem> {
    let expected = "an address and a port such as 127.0.0.1:7437";
    let text = text(node, expected)?;
    text.trim().parse().map_err(|_| wrong(node, expected))
}

/// What was found is not shown: it may hold a password.
fn store(node: &Node) -> Result<Secret, Problem> {
    let hidden = || Problem::Found {
        found: "a value that is not shown".to_owned(),
        expected: "sqlite:PATH, postgres://…, memory, or $NAME of the variable that holds one"
            .to_owned(),
    };
    let text = text(node, "").map_err(|_| hidden())?;
    let secret = Secret::of(text.trim());
    match secret.variable().is_some() || is_store(text.trim()) {
        true => Ok(secret),
        false => Err(hidden()),
    }
}

/// Whether this names a store.
fn is_store(url: &str) -> bool {
    let starts = ["postgres://", "postgresql://"];
    ["memory", "memory:"].contains(&url)
        || url
            .strip_prefix("sqlite:")
            .is_some_and(|path| !path.is_empty())
        || starts.iter().any(|start| url.starts_with(start))
}

fn host(node: &Node) -> Result<Arc<str>, Problem> {
    let expected = "a host's name without port, such as chat.example.com";
    let text = text(node, expected)?;
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    let has_port = !text.starts_with('[') && text.contains(':');
    match text.bytes().all(is_fine) && !has_port {
        true => Ok(text.to_ascii_lowercase().into()),
        false => Err(wrong(node, expected)),
    }
}

fn origin(node: &Node) -> Result<Arc<str>, Problem> {
    let expected = "an origin without path, such as https://chat.example.com";
    let text = text(node, expected)?;
    let rest = text
        .strip_prefix("https://")
        .or(text.strip_prefix("http://"));
    let is_host = |rest: &str| {
        !rest.is_empty() && !rest.contains(|c: char| "/?#@".contains(c) || c.is_whitespace())
    };
    match rest.is_some_and(is_host) {
        true => Ok(text.to_ascii_lowercase().into()),
        false => Err(wrong(node, expected)),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn reads_what_is_written() {
        let file = "server:\n  listen: 0.0.0.0:80\n  store: $DATABASE_URL\n  tokens: tokens.txt\n  hosts: [Chat.example.com]\n  \
                    origins: ['https://chat.example.com']\n  max_page: 10\n  shutdown_ms: 0\n";
        let config = Config::load("c.yaml", file).expect("loads");
        let server = config.server();
        assert_eq!(
            server.listen,
            Some("0.0.0.0:80".parse().expect("an address"))
        );
        let store = server.store.as_ref().expect("said");
        assert_eq!(store.variable(), Some("DATABASE_URL"));
        assert_eq!(server.tokens.as_deref(), Some("tokens.txt"));
        assert_eq!(&*server.hosts[0], "chat.example.com");
        assert_eq!((server.max_page, server.shutdown_ms), (Some(10), Some(0)));
        assert_eq!(server.max_body_bytes, None);
    }

    #[test]
    fn says_what_is_wrong() {
        #[track_caller]
        fn check(option: &str, expect: &str) {
            let text = format!("server:\n  {option}\n");
            let error = Config::load("c.yaml", &text)
                .expect_err("is refused")
                .to_string();
            assert_eq!(error, expect);
        }
        check(
            "listen: 8080",
            "c.yaml:2: server.listen: found 8080, expected an address and a port such as 127.0.0.1:7437",
        );
        check(
            "store: mysql://me:secret@db",
            "c.yaml:2: server.store: found a value that is not shown, expected sqlite:PATH, postgres://…, memory, or \
             $NAME of the variable that holds one",
        );
        check("port: 80", "c.yaml:2: server.port: unknown option");
        check(
            "listn: 127.0.0.1:80",
            "c.yaml:2: server.listn: unknown option, did you mean listen?",
        );
        check(
            "hosts: [a.example:80]",
            "c.yaml:2: server.hosts[0]: found \"a.example:80\", expected a host's name without port, such as chat.example.com",
        );
        check(
            "origins: ['https://a.example/x']",
            "c.yaml:2: server.origins[0]: found a text of 19 characters (not shown), expected an origin without path, such as \
             https://chat.example.com",
        );
        check(
            "max_page: 5\n  max_page: 6",
            "c.yaml:3: server.max_page: given twice, first on line 2; remove one",
        );
    }
}
