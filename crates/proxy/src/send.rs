//! Requests to upstreams: connections that are kept, no redirect, no compression of our own, nothing repeated.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls_platform_verifier::BuilderVerifierExt as _;

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

/// Sends.
#[derive(Clone)]
pub(crate) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, UpBody>,
    idle: Duration,
}

impl Sender {
    /// # Errors
    /// When the system has no certificates to trust and an upstream needs them.
    pub(crate) fn new(connect: Duration, idle: Duration, needs_tls: bool) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = match needs_tls {
            true => config
                .with_platform_verifier()
                .map_err(io::Error::other)?
                .with_no_client_auth(),
            false => config
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth(),
        };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(connect));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(55))
            .set_host(false)
            .build(https);
        Ok(Self { client, idle })
    }

    pub(crate) async fn send(
        &self,
        request: Request<UpBody>,
    ) -> Result<Response<Incoming>, SendError> {
        let answer = tokio::time::timeout(self.idle, self.client.request(request)).await;
        let answer = answer.map_err(|_| SendError::Silent)?;
        // What went wrong could quote an address with a key in its query.
        answer.map_err(|_| SendError::Unreachable)
    }
}
