//! The section `proxy:` at the top of the file: which upstreams the proxy stands before, and how.
//!
//! It only says what was written. `conspectus proxy` reads it, and so does `conspectus serve`, which then runs the proxy
//! beside the service.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::error::{ConfigError, Problem};
use crate::options::Reader;
use crate::reader::below;
use crate::server::{address, file_of_tokens};
use crate::value::{boolean, nullable, text, whole, word, wrong};
use crate::yaml::{Entry, Node, Value};

/// The name of the section.
pub(crate) const PROXY: &str = "proxy";

/// Every option of the section.
pub(crate) const OPTIONS: [&str; 11] = [
    "listen",
    "tokens",
    "upstreams",
    "summarize",
    "observe",
    "headers",
    "keep_alive_ms",
    "wait_ms",
    "max_body_bytes",
    "keep_days",
    "keep_threads",
];

/// Every option of an upstream.
pub(crate) const UPSTREAM: [&str; 3] = ["url", "strict", "drop_block"];

/// What servers may insist on.
pub(crate) const STRICT: [&str; 4] = ["turns", "one_system", "after_tool", "short_ids"];

/// What the section says. `None`: nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Proxy {
    /// The address and port to listen on.
    pub listen: Option<SocketAddr>,
    /// The file with the digests of tokens; else the service's.
    pub tokens: Option<Arc<str>>,
    /// Where requests go, in order: the first one is for paths that name none.
    pub upstreams: Vec<UpstreamSection>,
    /// Who writes summaries.
    pub summarize: Option<Summarize>,
    /// Whether everything is sent as it came, and only said what would have been done.
    pub observe: Option<bool>,
    /// Whether answers carry headers of ours.
    pub headers: Option<bool>,
    /// After so long a stream that waits for a compaction begins with signs of life; 0: never.
    pub keep_alive_ms: Option<u64>,
    /// So long a request waits for a compaction.
    pub wait_ms: Option<u64>,
    /// The largest body of a request.
    pub max_body_bytes: Option<u64>,
    /// For so many days a thread is kept that nobody goes on with; 0: for ever.
    pub keep_days: Option<u64>,
    /// So many threads of a tenant are kept; 0: any number.
    pub keep_threads: Option<u64>,
}

/// An upstream of the section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamSection {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is. Whether it can be is the proxy's business.
    pub url: Arc<str>,
    /// What its servers insist on.
    pub strict: Vec<&'static str>,
    /// Whether it is asked to drop thinking that does not verify.
    pub drop_block: Option<bool>,
}

/// Who writes summaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summarize {
    /// Nobody: code makes an extract.
    Nobody,
    /// The conversation's own model.
    Own,
    /// This model of the same upstream.
    Model(Arc<str>),
}

/// Reads the section.
pub(crate) fn read(file: &Arc<str>, section: &Entry) -> Result<Proxy, ConfigError> {
    let reader = Reader {
        file,
        section: PROXY,
    };
    let mut proxy = Proxy::default();
    for entry in reader.options(section, "a map of options such as upstreams:")? {
        option(&reader, entry, &mut proxy)?;
    }
    Ok(proxy)
}

fn option(reader: &Reader<'_>, entry: &Entry, proxy: &mut Proxy) -> Result<(), ConfigError> {
    match entry.key.as_str() {
        "listen" => proxy.listen = reader.value(entry, address)?,
        "tokens" => proxy.tokens = reader.value(entry, file_of_tokens)?,
        "upstreams" => {
            let all = reader.entries(
                &entry.node,
                entry.line,
                &entry.key,
                "a map of names and URLs",
            )?;
            let read = |upstream: &Entry| upstream_of(reader, &entry.key, upstream);
            proxy.upstreams = all.iter().map(read).collect::<Result<_, _>>()?;
        }
        "summarize" => proxy.summarize = reader.value(entry, summarize)?,
        "observe" => proxy.observe = reader.value(entry, boolean)?,
        "headers" => proxy.headers = reader.value(entry, boolean)?,
        "keep_alive_ms" => proxy.keep_alive_ms = reader.value(entry, |n| whole(n, 0))?,
        "wait_ms" => proxy.wait_ms = reader.value(entry, |n| whole(n, 1))?,
        "max_body_bytes" => proxy.max_body_bytes = reader.value(entry, |n| whole(n, 1))?,
        "keep_days" => proxy.keep_days = reader.value(entry, |n| whole(n, 0))?,
        "keep_threads" => proxy.keep_threads = reader.value(entry, |n| whole(n, 0))?,
        _ => return Err(reader.unknown(entry, "", &OPTIONS)),
    }
    Ok(())
}

/// A URL, or a map with one.
fn upstream_of(
    reader: &Reader<'_>,
    path: &str,
    entry: &Entry,
) -> Result<UpstreamSection, ConfigError> {
    let path = below(path, &entry.key);
    let mut upstream = UpstreamSection {
        name: entry.key.as_str().into(),
        ..UpstreamSection::default()
    };
    if !matches!(entry.node.value, Value::Map(_)) {
        let url = url(&entry.node).map_err(|why| reader.fail(entry.node.line, &path, why))?;
        upstream.url = url;
        return Ok(upstream);
    }
    for option in reader.entries(&entry.node, entry.line, &path, "a map")? {
        match option.key.as_str() {
            "url" => upstream.url = reader.below(&path, option, url)?.unwrap_or_default(),
            "strict" => {
                let found = reader.below(&path, option, strict)?;
                upstream.strict = found.unwrap_or_default();
            }
            "drop_block" => upstream.drop_block = reader.below(&path, option, boolean)?,
            _ => return Err(reader.unknown(option, &path, &UPSTREAM)),
        }
    }
    if upstream.url.is_empty() {
        let problem = Problem::Found {
            found: "no url".to_owned(),
            expected: URL.to_owned(),
        };
        return Err(reader.fail(entry.line, &path, problem));
    }
    Ok(upstream)
}

const URL: &str = "http://host/path or https://host/path, without user and password";

/// What was found is not shown: it may hold a password.
fn url(node: &Node) -> Result<Arc<str>, Problem> {
    let hidden = || Problem::Found {
        found: "a value that is not shown".to_owned(),
        expected: URL.to_owned(),
    };
    let url = text(node, "").map_err(|_| hidden())?;
    let starts = ["http://", "https://"];
    let is_url = starts
        .iter()
        .any(|start| url.len() > start.len() && url.starts_with(start));
    match is_url && !url.contains('@') {
        true => Ok(url.trim().into()),
        false => Err(hidden()),
    }
}

/// All of it, nothing, or some of it by name.
fn strict(node: &Node) -> Result<Vec<&'static str>, Problem> {
    let Value::List(items) = &node.value else {
        let expected = "true, false, or a list of turns, one_system, after_tool and short_ids";
        let all = boolean(node).map_err(|_| wrong(node, expected))?;
        return Ok(if all { STRICT.to_vec() } else { Vec::new() });
    };
    let words = STRICT.map(|name| (name, name));
    items.iter().map(|item| word(item, &words)).collect()
}

/// A model's name, or whether the conversation's own.
fn summarize(node: &Node) -> Result<Summarize, Problem> {
    match nullable(node, boolean) {
        Ok(Some(true)) => Ok(Summarize::Own),
        Ok(_) => Ok(Summarize::Nobody),
        Err(_) => {
            let expected = "true, false, or the name of a model of the same upstream";
            text(node, expected).map(|name| Summarize::Model(name.trim().into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn reads_what_is_written() {
        let file = "proxy:\n  listen: 127.0.0.1:80\n  upstreams:\n    openai: https://api.openai.com\n    local: {url: 'http://h/v1', \
                    strict: [turns, short_ids], drop_block: false}\n    old: {url: 'http://o', strict: true}\n  summarize: small\n  \
                    observe: yes\n  keep_days: 0\n";
        let config = Config::load("c.yaml", file).expect("loads");
        let proxy = config.proxy();
        let names: Vec<&str> = proxy.upstreams.iter().map(|u| &*u.name).collect();
        assert_eq!(names, ["openai", "local", "old"]);
        assert_eq!(&*proxy.upstreams[0].url, "https://api.openai.com");
        assert_eq!(proxy.upstreams[1].strict, ["turns", "short_ids"]);
        assert_eq!(proxy.upstreams[1].drop_block, Some(false));
        assert_eq!(proxy.upstreams[2].strict, STRICT);
        assert_eq!(proxy.summarize, Some(Summarize::Model("small".into())));
        assert_eq!((proxy.observe, proxy.keep_days), (Some(true), Some(0)));
        assert_eq!(proxy.headers, None);
        let none = Config::load("c.yaml", "summarization:\n  enabled: true\n").expect("loads");
        assert_eq!(*none.proxy(), Proxy::default());
    }

    #[test]
    fn says_what_is_wrong() {
        #[track_caller]
        fn check(option: &str, expect: &str) {
            let text = format!("proxy:\n  {option}\n");
            let error = Config::load("c.yaml", &text)
                .expect_err("is refused")
                .to_string();
            assert_eq!(error, expect);
        }
        check(
            "upstrems: {}",
            "c.yaml:2: proxy.upstrems: unknown option, did you mean upstreams?",
        );
        check(
            "upstreams: {a: 'https://me:secret@h'}",
            "c.yaml:2: proxy.upstreams.a: found a value that is not shown, expected http://host/path or https://host/path, without \
             user and password",
        );
        check(
            "upstreams: {a: {strict: true}}",
            "c.yaml:2: proxy.upstreams.a: found no url, expected http://host/path or https://host/path, without user and password",
        );
        check(
            "upstreams: {a: {url: 'http://h', strict: [turn]}}",
            "c.yaml:2: proxy.upstreams.a.strict: found \"turn\", expected turns, one_system, after_tool or short_ids",
        );
        check(
            "upstreams: {a: {url: 'http://h', strct: true}}",
            "c.yaml:2: proxy.upstreams.a.strct: unknown option, did you mean strict?",
        );
        check(
            "upstreams: {a: 'http://h', a: 'http://i'}",
            "c.yaml:2: proxy.upstreams.a: given twice, first on line 2; remove one",
        );
        check(
            "keep_days: x",
            "c.yaml:2: proxy.keep_days: found \"x\", expected a whole number >= 0",
        );
    }
}
