//! A server with a certificate of a private authority.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use conspectus::core::effect::Failure;
use conspectus_providers::{Endpoint, Proxy};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::api::{APIS, Api, Says};

/// The authority's certificate as PEM, and a server that has one from it.
fn authority() -> (String, ServerConfig) {
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_key = KeyPair::generate().unwrap();
    let pem = ca.self_signed(&ca_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names)
        .unwrap()
        .signed_by(&key, &Issuer::new(ca, ca_key))
        .unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (pem, config)
}

/// Asks a server that takes one connection.
fn asked(api: Api, config: ServerConfig, ca_file: Option<&str>) -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        let mut length = 0;
        loop {
            let mut line = String::new();
            // A client that does not trust it hangs up.
            if stream.read_line(&mut line).is_err() {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        stream.read_exact(&mut vec![0; length]).unwrap();
        let body = (api.whole)(Says::Text).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        let stream = stream.get_mut();
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
    });
    let mut endpoint = Endpoint::new(base, "m-1");
    endpoint.proxy = Proxy::None;
    endpoint.ca_file = ca_file.map(Into::into);
    let answer = api.ask(&endpoint).map(|reply| reply.text.to_string());
    server.join().unwrap();
    answer
}

#[test]
fn a_private_authority_is_trusted_when_its_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    for api in APIS {
        let (pem, config) = authority();
        std::fs::write(&path, pem).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(asked(api, config, Some(path)), Ok("Tea — done.".to_owned()));
        // Another authority's certificate is not enough.
        let (_, other) = authority();
        match asked(api, other, Some(path)) {
            Err(Failure::Unusable { message }) => assert!(message.contains("CA file"), "{message}"),
            answer => panic!("{answer:?}"),
        }
    }
}
