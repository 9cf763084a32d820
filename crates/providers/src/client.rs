//! The HTTP client of one endpoint: headers, TLS, the way to the server.

use std::sync::Once;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, Url, redirect};

use crate::endpoint::{Endpoint, Proxy};
use crate::error::BuildError;

/// Puts a header that nobody should see.
pub(crate) fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), BuildError> {
    let wrong = || BuildError::Header { name: name.into() };
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// Makes it. `headers` go with every request.
pub(crate) fn client(
    endpoint: &Endpoint,
    url: &Url,
    headers: HeaderMap,
) -> Result<Client, BuildError> {
    use_ring();
    let mut builder = Client::builder()
        .user_agent(concat!("conspectus/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(redirect::Policy::none())
        .connect_timeout(Duration::from_millis(endpoint.timeouts.connect_ms))
        // Calls are rare and long: a connection kept for the next one would mostly be found dead.
        .pool_max_idle_per_host(0);
    builder = match &endpoint.proxy {
        Proxy::Environment => builder,
        Proxy::None => builder.no_proxy(),
        Proxy::Url(url) => {
            let proxy = reqwest::Proxy::all(url.expose()).map_err(|_| BuildError::Proxy)?;
            builder.no_proxy().proxy(proxy)
        }
    };
    let mut certificates = Vec::new();
    if let Some(path) = &endpoint.ca_file {
        let wrong = |why: String| BuildError::CaFile {
            path: path.clone(),
            why,
        };
        let pem = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
        certificates =
            Certificate::from_pem_bundle(&pem).map_err(|e| wrong(e.without_url().to_string()))?;
        if certificates.is_empty() {
            return Err(wrong("there is none in it; it should be a PEM file".into()));
        }
    }
    // Without TLS no authority is asked, and a machine that has none installed can do without.
    builder = match url.scheme() {
        "http" => builder.tls_certs_only(certificates),
        _ => builder.tls_certs_merge(certificates),
    };
    builder.build().map_err(|error| BuildError::Client {
        why: error.without_url().to_string(),
    })
}

/// A client for another server of the host's, such as one that keeps its threads: no redirect is followed, TLS by ring,
/// connections within the usual time. `is_straight`: past every proxy. Nothing else is limited.
///
/// # Errors
/// When the URL is none, or the system has no certificates to trust.
pub fn http_client(url: &str, is_straight: bool) -> Result<Client, BuildError> {
    let mut endpoint = Endpoint::new(url, "");
    if is_straight {
        endpoint.proxy = Proxy::None;
    }
    let url = Url::parse(url).map_err(|why| BuildError::BaseUrl {
        why: why.to_string(),
    })?;
    client(&endpoint, &url, HeaderMap::new())
}

/// Names ring as the cryptography of this process, unless the host has chosen already.
fn use_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error says that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
