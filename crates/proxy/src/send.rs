//! Requests to upstreams: connections that are kept, no redirect, no compression of our own, nothing repeated.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::settings::Settings;

/// The body of a request that goes up: bytes in memory, or what comes from the client.
pub(crate) enum UpBody {
    Whole(Option<Bytes>),
    Passing(Incoming),
}

impl Body for UpBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => {
                let bytes = bytes.take().filter(|bytes| !bytes.is_empty());
                Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            Self::Passing(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Passing(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Passing(body) => body.size_hint(),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum SendError {
    /// No connection, or it broke.
    Unreachable,
    /// Nothing came for too long.
    Silent,
}

/// How upstreams are reached, the same for all lanes.
#[derive(Clone)]
pub(crate) struct Way {
    tls: ClientConfig,
    connect: Duration,
    idle: Duration,
    /// Another proxy in between, for upstreams behind TLS, but for the names that it is not asked for.
    between: Option<(Arc<Matcher>, Intercept)>,
}

impl Way {
    /// # Errors
    /// When the system has no certificates to trust and an upstream needs them, or the proxy in between speaks something
    /// else than plain HTTP.
    pub(crate) fn new(settings: &Settings) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let needs_tls = settings.upstreams.need_tls();
        let tls = match needs_tls {
            true => config
                .with_platform_verifier()
                .map_err(io::Error::other)?
                .with_no_client_auth(),
            false => config
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth(),
        };
        Ok(Self {
            tls,
            connect: settings.limits.connect,
            idle: settings.limits.upstream_idle,
            between: match needs_tls {
                true => between(&settings.https_proxy, &settings.no_proxy)?,
                false => None,
            },
        })
    }
}

/// The proxy that is named, if one is.
fn between(named: &str, not_for: &str) -> io::Result<Option<(Arc<Matcher>, Intercept)>> {
    let matcher = Matcher::builder().https(named).no(not_for).build();
    // A name that nobody has, so that only a rule for all of them holds it back.
    let Some(found) = matcher.intercept(&Uri::from_static("https://upstream.invalid")) else {
        return Ok(None);
    };
    if found.uri().scheme() != Some(&Scheme::HTTP) {
        // Its address may hold a password.
        return Err(io::Error::other(
            "the proxy that HTTPS_PROXY names is not reached by http://, and nothing else is spoken to one",
        ));
    }
    Ok(Some((Arc::new(matcher), found)))
}

type Tunnelled = Client<HttpsConnector<Tunnel<HttpConnector>>, UpBody>;

/// Sends. The connections are its own.
pub(crate) struct Sender {
    direct: Client<HttpsConnector<HttpConnector>, UpBody>,
    /// Through the proxy in between, and for which names.
    tunnel: Option<(Arc<Matcher>, Tunnelled)>,
    idle: Duration,
}

impl Sender {
    pub(crate) fn new(way: Way) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(way.connect));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(way.tls.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(http.clone());
        let tunnel = way.between.map(|(matcher, found)| {
            let mut tunnel = Tunnel::new(found.uri().clone(), http);
            if let Some(auth) = found.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            let https = HttpsConnectorBuilder::new()
                .with_tls_config(way.tls)
                .https_only()
                .enable_http1()
                .wrap_connector(tunnel);
            (matcher, pooled().build(https))
        });
        Self {
            direct: pooled().build(https),
            tunnel,
            idle: way.idle,
        }
    }

    pub(crate) async fn send(
        &self,
        request: Request<UpBody>,
    ) -> Result<Response<Incoming>, SendError> {
        let tunnel = self.tunnel.as_ref().filter(|(matcher, _)| {
            let uri = request.uri();
            uri.scheme() == Some(&Scheme::HTTPS) && matcher.intercept(uri).is_some()
        });
        let answer = match tunnel {
            Some((_, client)) => client.request(request),
            None => self.direct.request(request),
        };
        let answer = tokio::time::timeout(self.idle, answer).await;
        let answer = answer.map_err(|_| SendError::Silent)?;
        // What went wrong could quote an address with a key in its query.
        answer.map_err(|_| SendError::Unreachable)
    }
}

fn pooled() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(55))
        .set_host(false);
    builder
}
