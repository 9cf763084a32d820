//! How a proxy runs.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use conspectus::Options;
use conspectus_server::Tokens;

use crate::book::Room;
use crate::upstream::{Upstream, UpstreamError, Upstreams};

/// Where a proxy listens unless told.
pub const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7438);

/// How a proxy runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may ask, in the header `x-conspectus-token`; none: everybody on this machine.
    pub tokens: Tokens,
    /// Names that it is reached under beside those of the loopback, without port.
    pub hosts: Vec<Arc<str>>,
    /// Origins of web pages that may ask.
    pub origins: Vec<Arc<str>>,
    /// When and how conversations are compacted. The window follows from the model that a request names.
    pub options: Options,
    /// Who writes summaries.
    pub summaries: Summaries,
    /// Forwards everything as it came, and says what would have been done.
    pub observe: bool,
    /// Whether answers carry our own headers.
    pub headers: bool,
    /// The bounds.
    pub limits: Limits,
    /// How much is known in memory.
    pub room: Room,
    /// Seals the capsules that are given to clients; it should be the same after a restart.
    pub capsule_key: CapsuleKey,
    /// The proxy through which upstreams behind TLS are reached, as `HTTPS_PROXY` names it; empty: none.
    pub https_proxy: String,
    /// Names that are reached without it, as `NO_PROXY` lists them.
    pub no_proxy: String,
    /// How long threads of conversations are kept.
    pub keep: Keep,
    pub(crate) upstreams: Upstreams,
}

/// How long threads of conversations are kept that nobody goes on with. Threads of others in the same store are not
/// touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keep {
    /// Since they were written last; zero: as long as there are not too many.
    pub time: Duration,
    /// Of one tenant; the ones written longest ago go first. 0: any number.
    pub threads: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30 * 24 * 60 * 60),
            threads: 10_000,
        }
    }
}

/// Who writes summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Summaries {
    /// The digest, an extract that code makes; nobody is asked.
    #[default]
    Digest,
    /// A model behind the client's own upstream, asked with the client's own key, which is held in memory for as long as
    /// the summary takes.
    Client {
        /// The model; `None`: the one that the conversation runs on.
        model: Option<Arc<str>>,
    },
}

/// Bounds of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest body of a request that is read.
    pub max_body: usize,
    /// The largest body that a compressed one may become.
    pub max_unpacked: usize,
    /// Silence while a body is read.
    pub body_idle: Duration,
    /// Until there is a connection to the upstream.
    pub connect: Duration,
    /// Silence of the upstream, before and within an answer. Models can be silent for long.
    pub upstream_idle: Duration,
    /// A request waits so long for a compaction that it cannot do without; then it goes on as it came.
    pub wait: Duration,
    /// A compaction, and so the client's key in memory, is given up after this, also in the background.
    pub background: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// A client that asked for a stream and waits so long for a compaction gets the beginning of its stream, and signs of
    /// life as often; zero: never.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 64 << 20,
            max_unpacked: 64 << 20,
            body_idle: Duration::from_secs(60),
            connect: Duration::from_secs(5),
            upstream_idle: Duration::from_secs(900),
            wait: Duration::from_secs(120),
            background: Duration::from_secs(600),
            connections: 1024,
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// A key of 32 bytes, which prints as `****`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CapsuleKey(pub(crate) [u8; 32]);

impl CapsuleKey {
    /// These bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// One that nobody else has.
    ///
    /// # Panics
    /// When the system has no randomness.
    pub fn random() -> Self {
        let mut bytes = [0; 32];
        let random = ring::rand::SystemRandom::new();
        ring::rand::SecureRandom::fill(&random, &mut bytes).expect("the system has randomness");
        Self(bytes)
    }

    /// Its bytes, to be kept where only the user reads.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for CapsuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// Why a proxy cannot run so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The upstreams.
    #[error("upstream: {0}")]
    Upstream(#[from] UpstreamError),
    /// Everyone could use it.
    #[error(
        "{0} can be reached from other machines, and there are no tokens; listen on 127.0.0.1, or name a file of tokens"
    )]
    Open(SocketAddr),
}

impl Settings {
    /// In front of these upstreams, with defaults for everything else.
    ///
    /// # Errors
    /// When there is none, or two have one name.
    pub fn new(upstreams: &[Upstream]) -> Result<Self, SettingsError> {
        Ok(Self {
            listen: DEFAULT_LISTEN,
            tokens: Tokens::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
            options: Options::default(),
            summaries: Summaries::Digest,
            observe: false,
            headers: true,
            limits: Limits::default(),
            room: Room::default(),
            capsule_key: CapsuleKey::random(),
            https_proxy: String::new(),
            no_proxy: String::new(),
            keep: Keep::default(),
            upstreams: Upstreams::new(upstreams)?,
        })
    }

    /// # Errors
    /// Where others could reach it and nobody is asked for a token.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        match self.tokens.may_listen(self.listen) {
            true => Ok(()),
            false => Err(SettingsError::Open(self.listen)),
        }
    }
}
