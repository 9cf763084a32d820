//! A proxy in a runtime of its own, and what tests ask it.

use std::sync::{Arc, Mutex};

use conspectus::store::{Listing, ThreadStore};
use conspectus::{Clock, Options};
use conspectus_providers::TokioClock;
use conspectus_proxy::{Proxy, Settings, Strict, Upstream};
use conspectus_server::Log;
use conspectus_store::MemoryStore;
use conspectus_testkit::client::{Reply, ask};
use conspectus_testkit::server::{Asked, HttpServer, Step};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A proxy in front of a scripted upstream.
pub(crate) struct Rig {
    pub(crate) upstream: HttpServer,
    pub(crate) address: String,
    pub(crate) store: Arc<dyn ThreadStore>,
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    pub(crate) runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    done: Option<tokio::task::JoinHandle<()>>,
}

impl Rig {
    pub(crate) fn new(script: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::with(script, |_| {})
    }

    pub(crate) fn with(
        script: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static,
        set: impl FnOnce(&mut Settings),
    ) -> Self {
        let upstream = HttpServer::start(script);
        Self::on(upstream, Arc::new(MemoryStore::default()), set)
    }

    /// Before an upstream that is strict.
    pub(crate) fn strict(
        script: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static,
        set: impl FnOnce(&mut Settings),
    ) -> Self {
        let store = Arc::new(MemoryStore::default());
        Self::before(
            HttpServer::start(script),
            |to| to.strict = Strict::ALL,
            store,
            set,
        )
    }

    pub(crate) fn on(
        upstream: HttpServer,
        store: Arc<dyn ThreadStore>,
        set: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::before(upstream, |_| {}, store, set)
    }

    pub(crate) fn before(
        upstream: HttpServer,
        to_set: impl FnOnce(&mut Upstream),
        store: Arc<dyn ThreadStore>,
        set: impl FnOnce(&mut Settings),
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut to = Upstream::parse(&upstream.url()).expect("its address");
        to_set(&mut to);
        let mut settings = Settings::new(&[to]).expect("one upstream");
        settings.listen = "127.0.0.1:0".parse().expect("an address");
        set(&mut settings);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let log = Log::new(move |line| kept.lock().expect("nobody panics").push(line.to_owned()));
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::since_1970());
        let bound = Proxy::bind(settings, store.clone(), clock, log);
        let proxy = runtime.block_on(bound).expect("it listens");
        let address = proxy.address().to_string();
        let (stop, stopped) = oneshot::channel();
        let done = runtime.spawn(proxy.run(async {
            let _ = stopped.await;
        }));
        Self {
            upstream,
            address,
            store,
            lines,
            runtime,
            stop: Some(stop),
            done: Some(done),
        }
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let json = [("content-type", "application/json")];
        let headers = [&json, headers].concat();
        ask(&self.address, "POST", path, &headers, Some(body.as_bytes()))
    }

    /// The newest request that the upstream got.
    pub(crate) fn newest(&self) -> Asked {
        self.upstream.asked().pop().expect("it was asked")
    }

    /// The threads that there are.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        let listing = Listing {
            limit: 100,
            ..Listing::default()
        };
        let list = self.runtime.block_on(self.store.list("default", &listing));
        list.expect("a list")
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    /// Stops, and waits for what is under way.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(done) = self.done.take() {
            self.runtime.block_on(done).expect("it ended");
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.stop();
    }
}

/// A plain reply of a chat model.
pub(crate) fn chat_reply(text: &str) -> Vec<Step> {
    let body = format!(
        r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}]}}"#
    );
    Step::answer(200, &[("content-type", "application/json")], &body)
}

/// Options with a window of so many tokens.
pub(crate) fn window(tokens: u64) -> Options {
    Options {
        max_context: Some(tokens),
        output_reserve: Some(0),
        ..Options::default()
    }
}
