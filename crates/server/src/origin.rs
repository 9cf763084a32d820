//! Which names the server answers to, and which web pages may ask.
//!
//! A web page can make a browser ask a server on the same machine. What its script names as the host is then the page's
//! own name, pointed at the loopback (DNS rebinding), so only known names are answered; and a browser says which page
//! asks (`Origin`), so pages of others are refused even where they need not see the answer (cross-site requests).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Names and origins that are taken.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// In small letters, without port.
    hosts: Vec<Arc<str>>,
    /// In small letters.
    origins: Vec<Arc<str>>,
}

/// What is to be said about the page that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// No page, or one of this server.
    Here,
    /// A page that is allowed; it is told so.
    Elsewhere(Arc<str>),
    /// A page that is not.
    Refused,
}

impl Allowed {
    /// The loopback's names, the address that is listened on, and what the configuration adds.
    pub fn new(listen: SocketAddr, hosts: &[Arc<str>], origins: &[Arc<str>]) -> Self {
        let mut all: Vec<Arc<str>> = ["localhost", "127.0.0.1", "[::1]"].map(Arc::from).into();
        match listen.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => all.push(ip.to_string().into()),
            IpAddr::V6(ip) => all.push(format!("[{ip}]").into()),
        }
        let bare = |host: &Arc<str>| host.to_ascii_lowercase().trim_end_matches('.').into();
        all.extend(hosts.iter().map(bare));
        let small = |origin: &Arc<str>| Arc::from(origin.to_ascii_lowercase());
        Self {
            hosts: all,
            origins: origins.iter().map(small).collect(),
        }
    }

    /// Whether the server goes by this name.
    pub fn is_host(&self, host: &str) -> bool {
        let (name, port) = split(host);
        let is_port = port.is_none_or(|port| port.bytes().all(|b| b.is_ascii_digit()));
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix('.').unwrap_or(&name);
        is_port && self.hosts.iter().any(|known| **known == *name)
    }

    /// Who asks, where a browser says so. `host` is one that [`Self::is_host`] took.
    pub fn asked(&self, origin: Option<&str>, host: &str) -> Asked {
        let Some(origin) = origin else {
            return Asked::Here;
        };
        let origin = origin.to_ascii_lowercase();
        let page = origin
            .strip_prefix("http://")
            .or(origin.strip_prefix("https://"));
        if page == Some(&*host.to_ascii_lowercase()) {
            return Asked::Here;
        }
        match self.origins.iter().find(|known| ***known == *origin) {
            Some(known) => Asked::Elsewhere(known.clone()),
            None => Asked::Refused,
        }
    }
}

/// Name and port. An IPv6 address stands in brackets.
fn split(host: &str) -> (&str, Option<&str>) {
    let end = host.rfind(']').map_or(0, |at| at + 1);
    match host[end..].split_once(':') {
        Some((rest, port)) => (&host[..end + rest.len()], Some(port)),
        None => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Allowed {
        let listen = "10.0.0.7:7437".parse().expect("an address");
        let page = "https://Chat.example.com";
        Allowed::new(listen, &["api.example.com".into()], &[page.into()])
    }

    #[test]
    fn names() {
        let allowed = allowed();
        let fine = [
            "localhost",
            "LOCALHOST:7437",
            "127.0.0.1:1",
            "[::1]:80",
            "10.0.0.7",
            "api.example.com.",
            "api.example.com:443",
        ];
        for host in fine {
            assert!(allowed.is_host(host), "{host}");
        }
        let others = [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "localhost:80@evil",
            "localhost:80:80",
            "127.0.0.1.evil",
            "::1",
            "0.0.0.0",
            "[::1]x:80",
            "api.example.com..",
        ];
        for host in others {
            assert!(!allowed.is_host(host), "{host}");
        }
    }

    #[test]
    fn pages() {
        #[track_caller]
        fn check(origin: Option<&str>, expect: &Asked) {
            assert_eq!(&allowed().asked(origin, "localhost:7437"), expect);
        }
        check(None, &Asked::Here);
        check(Some("http://localhost:7437"), &Asked::Here);
        check(Some("http://localhost:3000"), &Asked::Refused);
        check(Some("null"), &Asked::Refused);
        check(Some("https://evil.example"), &Asked::Refused);
        let page = "https://chat.example.com";
        check(Some(page), &Asked::Elsewhere(page.into()));
        check(Some("http://chat.example.com"), &Asked::Refused);
    }
}
