//! A model behind the client's own upstream, asked with the client's own key.

use std::sync::Arc;

use conspectus::{ChatModel, Format};
use conspectus_providers::{AnthropicMessages, Auth, Endpoint, Key, OpenAiChat, Secret};
use hyper::HeaderMap;
use hyper::header::HeaderValue;

use crate::keeper::About;

/// Headers that go with every request of an account and are no key.
const BESIDE: [&str; 4] = [
    "openai-organization",
    "openai-project",
    "anthropic-workspace-id",
    "anthropic-user-profile-id",
];

/// The model, or why there is none.
pub(crate) fn asked(about: &About, model: &str) -> Result<Arc<dyn ChatModel>, String> {
    let is_anthropic = about.call.format() == Some(Format::Anthropic);
    let url = about.upstream.url();
    let base = match is_anthropic || url.ends_with("/v1") {
        true => url,
        false => format!("{url}/v1"),
    };
    let mut endpoint = Endpoint::new(base, model);
    if let Some((key, auth)) = key(&about.head) {
        endpoint.key = Key::Given(key);
        endpoint.auth = Some(auth);
    }
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    for name in BESIDE {
        if let Some(value) = about.head.get(name).and_then(text) {
            endpoint.headers.push((name.to_owned(), Secret::new(value)));
        }
    }
    let made: Result<Arc<dyn ChatModel>, _> = match is_anthropic {
        true => AnthropicMessages::new(&endpoint).map(|m| Arc::new(m) as _),
        false => OpenAiChat::new(&endpoint).map(|m| Arc::new(m) as _),
    };
    made.map_err(|why| why.to_string())
}

/// The key that the client sent, and how it sent it.
fn key(head: &HeaderMap) -> Option<(Secret, Auth)> {
    let text = |name: &str| head.get(name)?.to_str().ok();
    if let Some(value) = text("authorization") {
        let (scheme, key) = value.split_once(' ')?;
        return scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| (Secret::new(key.trim()), Auth::Bearer));
    }
    ["x-api-key", "api-key"].iter().find_map(|name| {
        let key = text(name)?;
        Some((Secret::new(key), Auth::Header((*name).to_owned())))
    })
}
