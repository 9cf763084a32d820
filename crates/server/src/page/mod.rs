//! The web page: its files stand in the binary, and everything that it shows comes from the API.
//!
//! It is made of plain modules without a build step, in the folder `page` of this crate, which are sent as one file. The
//! names of files carry a digest of all of them, so browsers keep them for good and never mix two versions. The page may load nothing from elsewhere and run
//! nothing that is not one of these files: what a message says is only ever text.

mod bundle;

use std::io::Write as _;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::problem::Problem;
use bundle::{Module, bundle};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../page/", $name)))),*]
    };
}

const INDEX: &str = include_str!("../../page/index.html");
/// Where the names of files in the index carry the digest.
const VERSION: &str = "{version}";
const STYLE: &str = include_str!("../../page/app.css");
const ICON: &str = include_str!("../../page/icon.svg");
const MODULES: &[Module] = files![
    "actions.js",
    "api.js",
    "cards.js",
    "chart.js",
    "chat.js",
    "dom.js",
    "history.js",
    "list.js",
    "login.js",
    "main.js",
    "message.js",
    "prose.js",
    "registries.js",
    "request.js",
    "thread.js",
    "toast.js",
    "tree.js",
    "virtual.js",
];

/// Nothing but these files and this server; no page of others around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// A file as it is sent.
struct File {
    kind: &'static str,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

struct Page {
    version: String,
    index: File,
    files: Vec<(&'static str, File)>,
}

fn page() -> &'static Page {
    static PAGE: OnceLock<Page> = OnceLock::new();
    PAGE.get_or_init(|| {
        let script = bundle(MODULES, "main.js");
        let files = [
            ("app.css", CSS, STYLE),
            ("icon.svg", SVG, ICON),
            ("main.js", JS, &script),
        ];
        let mut digest = Sha256::new();
        digest.update(INDEX);
        files.iter().for_each(|(_, _, text)| digest.update(text));
        let version: String = digest.finalize()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let index = INDEX.replace(VERSION, &version);
        Page {
            index: File::new(HTML, index.into_bytes()),
            files: files
                .map(|(name, kind, text)| (name, File::new(kind, text.as_bytes().to_vec())))
                .into(),
            version,
        }
    })
}

impl File {
    fn new(kind: &'static str, plain: Vec<u8>) -> Self {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        // Writing into memory does not fail; were it to, the file goes out as it is.
        let packed = packer.write_all(&plain).and_then(|()| packer.finish());
        Self {
            kind,
            plain,
            packed: packed.unwrap_or_default(),
        }
    }

    fn response(&self, asked: &HeaderMap, caching: &'static str, tag: &str) -> Response {
        let tag = format!("\"{tag}\"");
        let knows = asked.get(header::IF_NONE_MATCH);
        let knows = knows.is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let takes = asked
            .get(header::ACCEPT_ENCODING)
            .map(HeaderValue::as_bytes);
        let takes = takes.unwrap_or_default().split(|b| *b == b',');
        let packs =
            !self.packed.is_empty() && takes.clone().any(|name| name.trim_ascii() == b"gzip");
        let body = match (knows, packs) {
            (true, _) => Vec::new(),
            (false, true) => self.packed.clone(),
            (false, false) => self.plain.clone(),
        };
        let mut response = match knows {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => body.into_response(),
        };
        let headers = response.headers_mut();
        let mut say = |name: HeaderName, value: &'static str| {
            headers.insert(name, HeaderValue::from_static(value));
        };
        say(header::CONTENT_TYPE, self.kind);
        say(header::CACHE_CONTROL, caching);
        say(header::VARY, "accept-encoding");
        say(header::CONTENT_SECURITY_POLICY, POLICY);
        say(header::REFERRER_POLICY, "no-referrer");
        say(header::X_FRAME_OPTIONS, "DENY");
        say(
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        );
        say(
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        );
        if packs && !knows {
            say(header::CONTENT_ENCODING, "gzip");
        }
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

/// The page, whatever of it is asked for: its own script reads the address.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    let page = page();
    page.index.response(&headers, "no-cache", &page.version)
}

pub(crate) async fn asset(
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let page = page();
    let known = page.files.iter().find(|(known, _)| *known == name);
    match known.filter(|_| version == page.version) {
        Some((_, file)) => {
            let forever = "public, max-age=31536000, immutable";
            Ok(file.response(&headers, forever, &page.version))
        }
        None => {
            let detail = "there is no such file in this version; load the page again";
            Err(Problem::not_found("no_file", detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_small_and_names_no_other_place() {
        let page = page();
        let files = page.files.iter().map(|(_, file)| file.packed.len());
        let all = page.index.packed.len() + files.sum::<usize>();
        assert!(all < 200_000, "{all} bytes compressed");
        let others = [
            ("index.html", INDEX),
            ("app.css", STYLE),
            ("icon.svg", ICON),
        ];
        for (name, text) in MODULES.iter().chain(&others) {
            // Names of XML's spaces are no addresses that are asked for.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for place in [
                "http://",
                "https://",
                "//cdn",
                "innerHTML",
                "eval(",
                "style=\"",
            ] {
                assert!(!text.contains(place), "{name} has {place}");
            }
        }
    }

    #[test]
    fn whoever_takes_gzip_is_sent_less_and_whoever_has_it_nothing() {
        let page = page();
        let length = |headers: &[(HeaderName, &str)]| {
            let mut asked = HeaderMap::new();
            for (name, value) in headers {
                asked.insert(name, HeaderValue::from_str(value).expect("it can be sent"));
            }
            let response = page.index.response(&asked, "no-cache", "v");
            let packs = response.headers().contains_key(header::CONTENT_ENCODING);
            let body = axum::body::HttpBody::size_hint(response.body()).exact();
            (response.status(), packs, body.unwrap_or(0))
        };
        let (_, packs, plain) = length(&[]);
        assert!(!packs);
        let (_, packs, packed) = length(&[(header::ACCEPT_ENCODING, "br;q=1, gzip")]);
        assert!(packs && packed < plain);
        let (status, packs, none) = length(&[(header::IF_NONE_MATCH, "\"v\"")]);
        assert_eq!((status, packs, none), (StatusCode::NOT_MODIFIED, false, 0));
    }

    #[test]
    fn every_file_of_the_folder_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let found = std::fs::read_dir(folder).expect("the folder is there");
        for entry in found {
            let name = entry.expect("it can be read").file_name();
            let name = name.to_str().expect("a plain name");
            let others = ["index.html", "app.css", "icon.svg"];
            let known = others.contains(&name) || MODULES.iter().any(|(known, _)| *known == name);
            assert!(known, "{name} is not served");
        }
    }

    #[test]
    fn the_script_holds_every_module_and_asks_for_none() {
        let script = bundle(MODULES, "main.js");
        for (name, _) in MODULES {
            let begin = format!("const ${} = (() => {{", name.trim_end_matches(".js"));
            assert_eq!(script.matches(&begin).count(), 1, "{name}");
        }
        let is_left = |line: &&str| line.starts_with("import ") || line.starts_with("export ");
        assert_eq!(script.lines().find(is_left), None);
        // What is imported is there before: no module needs one that needs it.
        for (at, line) in script.lines().enumerate() {
            let Some((_, from)) = line
                .split_once(" = $")
                .filter(|_| line.starts_with("const "))
            else {
                continue;
            };
            let begin = format!("const ${} = (() => {{", from.trim_end_matches(';'));
            let before = script.lines().take(at).any(|line| line == begin);
            assert!(before, "{line}");
            let ends = script
                .lines()
                .take(at)
                .filter(|line| *line == "})();")
                .count();
            let begins = script
                .lines()
                .take(at)
                .filter(|line| line.ends_with(" = (() => {"))
                .count();
            assert!(ends + 1 == begins, "{line}");
        }
    }
}
