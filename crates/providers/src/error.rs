//! Why a model could not be made.

use std::path::PathBuf;

/// Why a model could not be made. Calls fail with the core's own
/// [`Failure`](conspectus::core::effect::Failure) instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The environment variable with the key is not set.
    #[error("the environment variable {name} is not set; put the key there, or in a file")]
    NoKey {
        /// Its name.
        name: String,
    },
    /// The file with the key cannot be read.
    #[error("cannot read the key file {path}: {source}", path = path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What was read is no key.
    #[error("{from} holds no key: it should be one word of plain characters")]
    NotAKey {
        /// Where it was read from.
        from: String,
    },
    /// The base URL cannot be used.
    #[error("the base URL cannot be used: {why}")]
    BaseUrl {
        /// Why, and what to write instead.
        why: String,
    },
    /// A header of one's own cannot be sent.
    #[error(
        "the header {name:?} cannot be sent; a name has letters, digits and -, a value is one line"
    )]
    Header {
        /// Its name.
        name: String,
    },
    /// The proxy cannot be used.
    #[error("the proxy is not a URL like http://host:port")]
    Proxy,
    /// The file with certificates cannot be read.
    #[error("cannot read the certificates in {path}: {why}", path = path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be made: {why}")]
    Client {
        /// Why.
        why: String,
    },
}
