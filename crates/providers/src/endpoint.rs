//! Where a model is, and how it is spoken to.

use std::path::PathBuf;

use reqwest::Url;
use serde_json::{Map, Value};

use crate::error::BuildError;
use crate::secret::{Key, Secret};

/// A model behind a URL.
///
/// ```
/// use conspectus_providers::{Endpoint, Key};
///
/// let mut local = Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2");
/// local.timeouts.first_byte_ms = 600_000;
/// let mut hosted = Endpoint::openai("gpt-5.6-sol");
/// hosted.key = Key::File("/run/secrets/openai".into());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Endpoint {
    /// The URL before `/chat/completions` or `/v1/messages`. A query in it is kept.
    pub base_url: String,
    /// The name that the server knows the model by.
    pub model: String,
    /// The key.
    pub key: Key,
    /// How the key is sent; `None`: as the API wants it (`Authorization: Bearer` or `x-api-key`).
    pub auth: Option<Auth>,
    /// Further headers. Their values are kept secret like keys.
    pub headers: Vec<(String, Secret)>,
    /// Further fields of the request body, such as `temperature` or `reasoning_effort`. Bodies that the host made
    /// itself stay without.
    pub fields: Map<String, Value>,
    /// Whether the reply is streamed. Then a stall is noticed after [`Timeouts::idle_ms`], and a stopped call stops
    /// the model.
    pub stream: bool,
    /// Whether a schema is passed on. Without, the reply is asked for in words alone.
    pub schema: bool,
    /// Which field caps the reply of an OpenAI-compatible model.
    pub output_cap: OutputCap,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// The way to the server.
    pub proxy: Proxy,
    /// A PEM file with certificate authorities to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// No more of an answer is read.
    pub max_reply_bytes: usize,
}

impl Endpoint {
    /// A model at a URL, without a key.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: Key::None,
            auth: None,
            headers: Vec::new(),
            fields: Map::new(),
            stream: true,
            schema: true,
            output_cap: OutputCap::Auto,
            timeouts: Timeouts::default(),
            proxy: Proxy::Environment,
            ca_file: None,
            max_reply_bytes: 16 << 20,
        }
    }

    /// A model of OpenAI, with the key in `OPENAI_API_KEY`.
    pub fn openai(model: impl Into<String>) -> Self {
        Self {
            key: Key::Env("OPENAI_API_KEY".into()),
            ..Self::new("https://api.openai.com/v1", model)
        }
    }

    /// A model of Anthropic, with the key in `ANTHROPIC_API_KEY`.
    pub fn anthropic(model: impl Into<String>) -> Self {
        Self {
            key: Key::Env("ANTHROPIC_API_KEY".into()),
            ..Self::new("https://api.anthropic.com", model)
        }
    }

    /// The base URL with these segments behind its path; those that it ends with already are not repeated.
    pub(crate) fn url(&self, segments: &[&str]) -> Result<Url, BuildError> {
        let wrong = |why: &str| BuildError::BaseUrl { why: why.into() };
        let mut url: Url = self
            .base_url
            .trim()
            .parse()
            .map_err(|_| wrong("it should be like https://host/v1"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(wrong("it should begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "it holds a password; put the key into a file or an environment variable",
            ));
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        let has: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
        let common = (0..=segments.len())
            .rev()
            .find(|n| has.ends_with(&segments[..*n]))
            .unwrap_or(0);
        url.set_path(&[&[path.as_str()], &segments[common..]].concat().join("/"));
        Ok(url)
    }
}

/// How a key is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// `Authorization: Bearer <key>`
    Bearer,
    /// The bare key in a header of this name, such as `x-api-key` or Azure's `api-key`.
    Header(String),
}

/// The field of a chat completion that caps the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputCap {
    /// `max_completion_tokens` for OpenAI and Azure, whose newer models refuse the older name; else `max_tokens`,
    /// which every server knows.
    #[default]
    Auto,
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// How long to wait for what, in milliseconds. A call never takes longer than the machine allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect_ms: u64,
    /// From the beginning of the call until the first byte of the body. A local model reads the whole prompt before it.
    pub first_byte_ms: u64,
    /// Between two pieces of a body. A hidden chain of reasoning can be silent for a while.
    pub idle_ms: u64,
    /// The whole call.
    pub total_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_ms: 10_000,
            first_byte_ms: 300_000,
            idle_ms: 120_000,
            total_ms: 600_000,
        }
    }
}

/// The way to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proxy {
    /// By `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    #[default]
    Environment,
    /// Straight.
    None,
    /// Through this one, `http://user:password@host:port`.
    Url(Secret),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let check = |base: &str, segments: &[&str], expect: Result<&str, &str>| {
            let url = Endpoint::new(base, "m").url(segments);
            match (url, expect) {
                (Ok(got), Ok(want)) => assert_eq!(got.as_str(), want),
                (Err(got), Err(want)) => assert!(got.to_string().contains(want), "{got}"),
                (got, want) => panic!("{got:?} is not {want:?}"),
            }
        };
        let chat = &["chat", "completions"][..];
        let messages = &["v1", "messages"][..];
        check("http://h:1/v1", chat, Ok("http://h:1/v1/chat/completions"));
        check("http://h:1/v1/", chat, Ok("http://h:1/v1/chat/completions"));
        check("http://h", chat, Ok("http://h/chat/completions"));
        check(
            "http://h/v1/chat/completions",
            chat,
            Ok("http://h/v1/chat/completions"),
        );
        check(
            "https://h/openai?api-version=1#x",
            chat,
            Ok("https://h/openai/chat/completions?api-version=1"),
        );
        check("https://h", messages, Ok("https://h/v1/messages"));
        check("https://h/v1", messages, Ok("https://h/v1/messages"));
        check(
            "https://h/a/v1/messages/",
            messages,
            Ok("https://h/a/v1/messages"),
        );
        check("localhost:8000/v1", chat, Err("begin with http"));
        check("file:///etc", chat, Err("begin with http"));
        check("", chat, Err("like https"));
        check("https://me:sk-1@h/v1", chat, Err("holds a password"));
    }
}
