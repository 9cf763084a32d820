//! A case whose surface is the proxy: the real one, between a client that sends the messages of the case and an upstream
//! that answers.

use std::sync::Arc;

use anyhow::Context as _;
use conspectus::{Clock, Options};
use conspectus_providers::TokioClock;
use conspectus_proxy::{Proxy, Settings, Upstream};
use conspectus_server::Log;
use conspectus_store::MemoryStore;
use conspectus_testkit::client::ask;
use conspectus_testkit::server::{HttpServer, Step};
use serde::Serialize;
use tokio::sync::oneshot;

use super::json::Json;

/// What the upstream answers to the main request.
const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Main answer."},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}"#;

/// One exchange through the proxy.
#[derive(Clone, Debug, Serialize)]
pub struct Http {
    /// From the client.
    pub request_body: String,
    /// To the upstream.
    pub forwarded_body: String,
    /// To the client.
    pub response_body: String,
    /// What the proxy says that it did.
    #[serde(skip)]
    pub outcome: String,
}

/// Sends these messages through a proxy with these options.
///
/// # Errors
/// When the proxy does not run, or the upstream was not asked exactly once.
pub(super) fn exchange(messages: &[Json], options: Options) -> anyhow::Result<Http> {
    let wire = messages
        .iter()
        .map(|message| message.clone().without(&["_id"]));
    let wire: Vec<String> = wire.map(|message| message.to_string()).collect();
    let request_body = format!(r#"{{"model":"m","messages":[{}]}}"#, wire.join(","));
    let json = [("content-type", "application/json")];
    let upstream = HttpServer::always(Step::answer(200, &json, ANSWER));
    let mut settings = Settings::new(&[Upstream::parse(&upstream.url())?])?;
    settings.listen = "127.0.0.1:0".parse()?;
    settings.options = options;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let store = Arc::new(MemoryStore::default());
    let proxy = runtime.block_on(Proxy::bind(settings, store, clock, Log::none()))?;
    let address = proxy.address().to_string();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = runtime.spawn(proxy.run(async {
        let _ = stopped.await;
    }));
    let path = "/v1/chat/completions";
    let reply = ask(&address, "POST", path, &json, Some(request_body.as_bytes()));
    let _ = stop.send(());
    runtime.block_on(running)?;
    let mut asked = upstream.asked();
    anyhow::ensure!(
        asked.len() == 1,
        "the upstream was asked {} times",
        asked.len()
    );
    Ok(Http {
        request_body,
        forwarded_body: asked.pop().context("one request")?.body,
        outcome: reply.header("x-conspectus-outcome").to_owned(),
        response_body: reply.body,
    })
}
