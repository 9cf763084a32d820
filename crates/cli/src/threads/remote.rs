//! Threads behind a running service, over its HTTP API.

use std::path::Path;
use std::time::Duration;

use conspectus::core::policy::KeepOption;
use conspectus::threads::{CheckpointId, CompactThread, Purge, Recall};
use conspectus_providers::http_client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::place::{Ask, Place};
use super::tree;
use super::trouble::Trouble;
use crate::fail::{Exit, Fail, io_words};
use crate::ui;

/// The variable with the token.
const TOKEN: &str = "CONSPECTUS_TOKEN";
/// What waits for no model is over by then.
const PATIENCE: Duration = Duration::from_secs(120);

/// A service.
pub(super) struct Remote {
    runtime: Runtime,
    client: Client,
    url: Url,
    token: Option<HeaderValue>,
    name: String,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    method: Method,
    /// Below `api/threads`.
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Body>,
    /// It may wait for a model.
    is_long: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    Json(Value),
    /// A thread as JSON lines.
    Lines(String),
}

/// What the service says when it did nothing.
#[derive(Default, Deserialize)]
struct Problem {
    code: String,
    detail: String,
    cause: Option<String>,
}

impl Remote {
    /// # Errors
    /// When the URL cannot be meant, or there is no token where one was named.
    pub(super) fn new(url: &str, token_file: Option<&Path>) -> Result<Self, Fail> {
        let wrong = |why: &str| Fail::about(Exit::Usage, "--server", why);
        let url = Url::parse(url)
            .map_err(|_| wrong("it is no URL; write it like http://127.0.0.1:7437"))?;
        if !url.username().is_empty() || url.password().is_some() {
            let why = "a URL is no place for a password; put the token into CONSPECTUS_TOKEN, or name its file with --token-file";
            return Err(wrong(why));
        }
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(wrong("expected http:// or https:// and a host"));
        }
        let token = token(token_file)?;
        let mut shown = url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let name = shown.as_str().trim_end_matches('/').to_owned();
        if token.is_some() && url.scheme() == "http" && !is_here(&url) {
            ui::warning(&format!(
                "{name}: the token goes there unencrypted; use https:// beyond this machine"
            ));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|why| Fail::about(Exit::Input, &name, &io_words(&why)))?;
        let client = http_client(url.as_str(), is_here(&url));
        Ok(Self {
            client: client.map_err(|why| Fail::about(Exit::Usage, "--server", &why.to_string()))?,
            runtime,
            url: shown,
            token,
            name,
        })
    }

    fn url(&self, call: &Call) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty()
                .extend(["api", "threads"])
                .extend(&call.path);
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        url
    }

    /// Status and body.
    async fn send(&self, call: Call) -> Result<(StatusCode, Vec<u8>), reqwest::Error> {
        let mut request = self.client.request(call.method.clone(), self.url(&call));
        if !call.is_long {
            request = request.timeout(PATIENCE);
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        request = match call.body {
            Some(Body::Json(json)) => request
                .header(CONTENT_TYPE, "application/json")
                .body(json.to_string()),
            Some(Body::Lines(lines)) => request
                .header(CONTENT_TYPE, "application/x-ndjson")
                .body(lines),
            None => request,
        };
        let response = request.send().await?;
        let status = response.status();
        Ok((status, response.bytes().await?.to_vec()))
    }
}

impl Place for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, thread: &str, ask: &Ask<'_>) -> Result<Value, Trouble> {
        let sent = self.runtime.block_on(self.send(call(thread, ask)));
        let (status, bytes) = sent.map_err(|error| Trouble::new("unreachable", words(&error)))?;
        let other = || {
            let detail = format!(
                "it answered with {status} and something that is none of a conspectus service's answers; check the URL"
            );
            Trouble::new("unreachable", detail)
        };
        if !status.is_success() {
            let problem: Problem = serde_json::from_slice(&bytes).map_err(|_| other())?;
            return match ended(thread, &problem) {
                Some(answer) if matches!(ask, Ask::Compact(_) | Ask::Apply(_)) => Ok(answer),
                _ => Err(Trouble::new(&problem.code, problem.detail)),
            };
        }
        match ask {
            Ask::Export => String::from_utf8(bytes)
                .map(Value::String)
                .map_err(|_| other()),
            Ask::Delete => Ok(Value::Null),
            Ask::Append(_) | Ask::Visible(_) | Ask::Log { .. } | Ask::Recall(_) | Ask::Request => {
                tree::read(&bytes).ok_or_else(other)
            }
            _ => {
                let mut answer = tree::read(&bytes).ok_or_else(other)?;
                // The whole window comes with a thread; nobody asked for it.
                if let Some(thread) = answer.as_object_mut() {
                    thread.remove("values");
                    thread.remove("interrupts");
                }
                if let Some(all) = answer.get_mut("threads").and_then(Value::as_array_mut) {
                    for thread in all.iter_mut().filter_map(Value::as_object_mut) {
                        thread.remove("values");
                        thread.remove("interrupts");
                    }
                }
                Ok(answer)
            }
        }
    }
}

/// How a compaction ended of which the service says so with a problem.
fn ended(thread: &str, problem: &Problem) -> Option<Value> {
    let (outcome, reasons) = match problem.code.as_str() {
        "run_in_flight" => ("conflict", vec!["attempt_running"]),
        "history_changed" => ("conflict", Vec::new()),
        "deferred" => ("deferred", Vec::new()),
        "disabled" => ("disabled", Vec::new()),
        "cancelled" => ("cancelled", Vec::new()),
        "compaction_failed" => ("failed", Vec::new()),
        _ => return None,
    };
    let detail = match (&problem.cause, reasons.is_empty()) {
        (Some(cause), _) => Some(format!(
            "{cause}; the service's log and conspectus thread show say more"
        )),
        // The reason says it.
        (None, false) => None,
        (None, true) => Some(problem.detail.clone()),
    };
    Some(json!({
        "thread_id": thread,
        "compacted": false,
        "reason": outcome,
        "removed_message_count": 0,
        "preserved_message_count": null,
        "summary_updated": false,
        "checkpoint_id": null,
        "total_tokens": null,
        "outcome": outcome,
        "reasons": reasons,
        "tokens_before": null,
        "summary_text": null,
        "preview": null,
        "model": null,
        "detail": detail,
    }))
}

/// The request that asks it.
fn call(thread: &str, ask: &Ask<'_>) -> Call {
    let to = |method: Method, below: &[&str]| Call {
        method,
        path: [&[thread][..], below]
            .concat()
            .iter()
            .map(ToString::to_string)
            .collect(),
        query: Vec::new(),
        body: None,
        is_long: false,
    };
    let get = |below: &str| to(Method::GET, &[below]);
    let post = |below: &str, body: Value| Call {
        body: Some(Body::Json(body)),
        ..to(Method::POST, &[below])
    };
    match ask {
        Ask::List { text, limit, after } => Call {
            path: Vec::new(),
            query: [
                ("text", text.map(str::to_owned)),
                ("limit", Some(limit.to_string())),
                ("after", after.map(str::to_owned)),
            ]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect(),
            ..to(Method::GET, &[])
        },
        Ask::Status => get("status"),
        Ask::Get => to(Method::GET, &[]),
        Ask::Visible(page) => {
            let place = |name, place: Option<u64>| Some((name, place?.to_string()));
            let limit = ("limit", page.limit.to_string());
            let places = [place("before", page.before), place("after", page.after)];
            Call {
                query: [limit]
                    .into_iter()
                    .chain(places.into_iter().flatten())
                    .collect(),
                ..get("messages")
            }
        }
        Ask::Log { limit } => Call {
            query: vec![("limit", limit.to_string())],
            ..get("log")
        },
        Ask::Create { title, policy } => Call {
            path: Vec::new(),
            body: Some(Body::Json(
                json!({ "thread_id": thread, "title": title, "policy": policy }),
            )),
            ..to(Method::POST, &[])
        },
        Ask::Append(messages) => post("messages", json!({ "messages": messages })),
        Ask::Compact(compact) => Call {
            is_long: true,
            ..post("compact", compact_body(compact))
        },
        Ask::Apply(preview) => Call {
            is_long: true,
            ..post("apply", json!({ "preview": preview }))
        },
        Ask::Undo => post("undo", json!({})),
        Ask::Redo => post("redo", json!({})),
        Ask::Branch { to, at, title } => {
            let place = match at {
                Some(at) if at.parse::<CheckpointId>().is_ok() => "checkpoint_id",
                _ => "message_id",
            };
            post(
                "branches",
                json!({ "thread_id": to, "title": title, (place): at }),
            )
        }
        Ask::Recall(Recall::Id { id, before, after }) => Call {
            query: vec![("before", before.to_string()), ("after", after.to_string())],
            ..to(Method::GET, &["messages", id])
        },
        Ask::Recall(Recall::Words {
            query,
            limit,
            folded_only,
        }) => Call {
            query: vec![
                ("q", query.to_string()),
                ("limit", limit.to_string()),
                ("folded_only", folded_only.to_string()),
            ],
            ..get("recall")
        },
        Ask::Recall(Recall::Reference { reference }) => to(Method::GET, &["references", reference]),
        Ask::Request => get("request"),
        Ask::Export => get("export"),
        Ask::Import(export) => Call {
            body: Some(Body::Lines((*export).to_owned())),
            ..to(Method::POST, &["import"])
        },
        Ask::Delete => to(Method::DELETE, &[]),
        Ask::Purge(purge) => post(
            "purge",
            match purge {
                Purge::Message(id) => json!({ "message_id": id }),
                Purge::Secret(secret) => json!({ "secret": secret }),
            },
        ),
    }
}

fn compact_body(compact: &CompactThread) -> Value {
    let size = |unit: &str, value: Value| Some(json!({ "type": unit, "value": value }));
    let keep = match compact.keep {
        Some(KeepOption::Messages(n)) => size("messages", n.into()),
        Some(KeepOption::Tokens(n)) => size("tokens", n.into()),
        Some(KeepOption::Fraction(share)) => size("fraction", share.into()),
        Some(KeepOption::Auto) | None => None,
    };
    json!({
        "force": compact.force,
        "keep": keep,
        "below_keep": compact.below_keep,
        "focus": compact.focus,
        "model_name": compact.model_name,
        "strategy": compact.strategy,
        "dry_run": compact.dry_run,
    })
}

/// The token of the file, else of the environment. It is never shown.
fn token(file: Option<&Path>) -> Result<Option<HeaderValue>, Fail> {
    let (from, text) = match file {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text =
                text.map_err(|why| Fail::about(Exit::Config, path.display(), &io_words(&why)))?;
            (path.display().to_string(), text)
        }
        None => match std::env::var_os(TOKEN) {
            Some(text) => (TOKEN.to_owned(), text.to_string_lossy().into_owned()),
            None => return Ok(None),
        },
    };
    let token = text.trim();
    if token.is_empty() && file.is_none() {
        return Ok(None);
    }
    let is_word = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    let header = HeaderValue::from_str(&format!("Bearer {token}"));
    let Ok(mut header) = header
        .map_err(drop)
        .and_then(|h| is_word.then_some(h).ok_or(()))
    else {
        let why = "it holds no token: that should be one word of plain characters";
        return Err(Fail::about(Exit::Config, from, why));
    };
    header.set_sensitive(true);
    Ok(Some(header))
}

/// Whether it is on this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Why nothing came back.
fn words(error: &reqwest::Error) -> String {
    if error.is_connect() {
        return "it cannot be reached; is conspectus serve running there?".to_owned();
    }
    if error.is_timeout() {
        return "it did not answer in time; what was asked may have been done, look before asking again".to_owned();
    }
    "the connection broke off; what was asked may have been done, look before asking again"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_segment_of_a_path() {
        let remote = Remote::new("http://127.0.0.1:1/base/", None).expect("a URL");
        let recall = Recall::Id {
            id: "a/b ?#".into(),
            before: 1,
            after: 0,
        };
        let url = remote.url(&call("tea", &Ask::Recall(&recall)));
        assert_eq!(
            url.as_str(),
            "http://127.0.0.1:1/base/api/threads/tea/messages/a%2Fb%20%3F%23?before=1&after=0"
        );
        let list = Ask::List {
            text: Some("ü &"),
            limit: 5,
            after: None,
        };
        assert_eq!(
            remote.url(&call("", &list)).as_str(),
            "http://127.0.0.1:1/base/api/threads?text=%C3%BC+%26&limit=5"
        );
    }

    #[test]
    fn a_url_without_secrets() {
        let check = |url: &str, expect: &str| {
            let why = Remote::new(url, None).err().map(|fail| fail.message());
            assert!(
                why.as_ref().is_some_and(|why| why.contains(expect)),
                "{why:?}"
            );
            assert!(!why.is_some_and(|why| why.contains("hush")));
        };
        check("http://me:hush@host", "no place for a password");
        check("ftp://host", "expected http://");
        check("hush", "it is no URL");
    }

    #[test]
    fn how_it_ended_is_an_answer() {
        let problem = |code: &str| Problem {
            code: code.to_owned(),
            detail: "so".to_owned(),
            cause: None,
        };
        assert_eq!(
            ended("tea", &problem("disabled")).expect("ended")["outcome"],
            "disabled"
        );
        assert_eq!(ended("tea", &problem("thread_not_found")), None);
    }
}
