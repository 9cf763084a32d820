//! How a server runs: what the configuration says, with defaults, checked.

use std::net::SocketAddr;
use std::time::Duration;

use conspectus_config::Server as Section;

use crate::origin::Allowed;
use crate::tokens::Tokens;
use crate::trace::Continue;

/// Where a server listens unless told.
pub const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7437);

const DEFAULT_BODY: u64 = 16 << 20;
const DEFAULT_PAGE: u64 = 1000;
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const DEFAULT_HEARTBEAT_MS: u64 = 15_000;
const DEFAULT_SHUTDOWN_MS: u64 = 10_000;

/// How a server runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    pub(crate) tokens: Tokens,
    pub(crate) section: Section,
    pub(crate) limits: Limits,
    #[cfg_attr(
        not(feature = "tracing"),
        expect(dead_code, reason = "there are no spans")
    )]
    pub(crate) goes_on: Continue,
}

/// Bounds of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_body: usize,
    pub(crate) max_page: u32,
    pub(crate) request: Duration,
    pub(crate) heartbeat: Duration,
    pub(crate) shutdown: Duration,
}

/// Why a server cannot run so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Everyone could read everything.
    #[error(
        "{0} can be reached from other machines, and there are no tokens; listen on 127.0.0.1, or name a file of tokens \
         in server.tokens"
    )]
    Open(SocketAddr),
}

impl Settings {
    /// What the section says, and who may ask.
    ///
    /// # Errors
    /// Where others could reach the server and nobody is asked for a token.
    pub fn new(section: &Section, tokens: Tokens) -> Result<Self, SettingsError> {
        let listen = section.listen.unwrap_or(DEFAULT_LISTEN);
        if !tokens.may_listen(listen) {
            return Err(SettingsError::Open(listen));
        }
        let ms = |said: Option<u64>, default| Duration::from_millis(said.unwrap_or(default));
        let body = section.max_body_bytes.unwrap_or(DEFAULT_BODY);
        let page = section.max_page.unwrap_or(DEFAULT_PAGE);
        let limits = Limits {
            max_body: usize::try_from(body).unwrap_or(usize::MAX),
            max_page: u32::try_from(page).unwrap_or(u32::MAX),
            request: ms(section.request_timeout_ms, DEFAULT_TIMEOUT_MS),
            heartbeat: ms(section.heartbeat_ms, DEFAULT_HEARTBEAT_MS),
            shutdown: ms(section.shutdown_ms, DEFAULT_SHUTDOWN_MS),
        };
        Ok(Self {
            listen,
            tokens,
            section: section.clone(),
            limits,
            goes_on: Continue::default(),
        })
    }

    /// Names and pages that are taken when it listens at `listen`.
    pub(crate) fn allowed(&self, listen: SocketAddr) -> Allowed {
        Allowed::new(listen, &self.section.hosts, &self.section.origins)
    }
}

#[cfg(test)]
mod tests {
    use conspectus_config::Config;

    use super::*;

    #[test]
    fn only_this_machine_may_ask_without_a_token() {
        let listening = |address: &str| {
            let text = format!("server:\n  listen: \"{address}\"\n");
            let config = Config::load("c.yaml", &text).expect("loads");
            config.server().clone()
        };
        let tokens = || Tokens::parse(&format!("sha256:{} a", "0".repeat(64))).expect("a token");
        for here in ["127.0.0.1:0", "[::1]:80", "127.8.8.8:80"] {
            assert!(Settings::new(&listening(here), Tokens::default()).is_ok());
        }
        for open in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80"] {
            let refused = Settings::new(&listening(open), Tokens::default());
            let address = open.parse().expect("an address");
            assert_eq!(refused.err(), Some(SettingsError::Open(address)));
            assert!(Settings::new(&listening(open), tokens()).is_ok());
        }
    }
}
