//! Another proxy in between, as `HTTPS_PROXY` and `NO_PROXY` name it.

use std::sync::Arc;

use conspectus::Clock;
use conspectus_providers::TokioClock;
use conspectus_proxy::{Proxy, Settings, Upstream};
use conspectus_server::Log;
use conspectus_store::MemoryStore;
use conspectus_testkit::client::ask;
use conspectus_testkit::server::{HttpServer, Step};

/// What the proxy in between is asked.
fn asked(not_for: &str) -> Vec<(String, String, Option<String>)> {
    let between = HttpServer::always(Step::answer(403, &[], ""));
    let upstream = Upstream::parse("https://api.upstream.invalid").expect("an upstream");
    let mut settings = Settings::new(&[upstream]).expect("one");
    settings.listen = "127.0.0.1:0".parse().expect("an address");
    settings.https_proxy = between.url().replace("http://", "http://ann:hush@");
    settings.no_proxy = not_for.to_owned();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
    let store = Arc::new(MemoryStore::default());
    let bound = Proxy::bind(settings, store, clock, Log::none());
    let proxy = runtime.block_on(bound).expect("it listens");
    let address = proxy.address().to_string();
    runtime.spawn(proxy.run(std::future::pending()));
    let reply = ask(&address, "GET", "/v1/models", &[], None);
    assert_eq!(reply.status, 502, "the upstream cannot be reached");
    assert!(!reply.body.contains("hush"));
    let all = between.asked().into_iter();
    all.map(|asked| {
        let auth = asked.header("proxy-authorization").map(str::to_owned);
        (asked.method, asked.target, auth)
    })
    .collect()
}

#[test]
fn upstreams_behind_tls_are_reached_through_it() {
    // printf %s ann:hush | base64
    let expect = (
        "CONNECT".to_owned(),
        "api.upstream.invalid:443".to_owned(),
        Some("Basic YW5uOmh1c2g=".to_owned()),
    );
    assert_eq!(asked(""), std::slice::from_ref(&expect));
    assert_eq!(asked("other.invalid"), [expect]);
    for not_for in ["*", "upstream.invalid", ".upstream.invalid"] {
        assert_eq!(asked(not_for), [], "{not_for}");
    }
}
