//! What an answer that is no reply means, told from its status and its body alone.
//!
//! The rules are one table for all providers, since gateways pass on the bodies of others. They are strict on
//! purpose: an error that is taken for an overflow by mistake compacts a conversation for nothing, so a rate limit,
//! a server's own trouble and a body that says nothing are never one.

mod overflow;
mod retry;
mod stated;

use std::fmt;

pub use retry::retry_after_ms;
use stated::Stated;

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The request holds more tokens than the model takes: ask in smaller pieces.
    Overflow {
        /// The model's limit, where the body says it.
        limit: Option<u64>,
        /// The tokens of this request, where the body says them.
        actual: Option<u64>,
    },
    /// The request holds more bytes than the server takes (HTTP 413): ask in smaller pieces.
    TooManyBytes,
    /// Too many requests or tokens in this time: wait.
    RateLimited,
    /// The other side has trouble of its own: try again later.
    Unavailable,
    /// There is no more credit: asking again changes nothing.
    NoCredit,
    /// The key is wrong, or not good for this.
    Unauthorized,
    /// No such model, or no such address.
    NotFound,
    /// Another fault of the request.
    Rejected,
}

impl ErrorClass {
    /// Whether the request was too large, by tokens or by bytes.
    pub fn is_overflow(self) -> bool {
        matches!(self, Self::Overflow { .. } | Self::TooManyBytes)
    }

    /// Whether the same request may be answered later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable)
    }
}

/// An error, as the other side tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// What can be done about it.
    pub class: ErrorClass,
    /// The status; `None` inside a stream that had begun well.
    pub status: Option<u16>,
    /// The machine's word for it, where there is one.
    pub code: Option<String>,
    /// What it says, on one line and shortened.
    pub message: String,
}

impl ProviderError {
    /// Reads an HTTP answer with an error status. Servers quote what they were sent, keys included: `hide` takes
    /// them out of the message, before it is shortened so that no half of one is left.
    pub fn of_answer(
        status: u16,
        content_type: Option<&str>,
        body: &[u8],
        hide: &dyn Fn(String) -> String,
    ) -> Self {
        let stated = Stated::read(content_type, body, hide);
        let class = class_of(status, &stated);
        Self {
            class,
            status: Some(status),
            code: stated.code.clone(),
            message: stated.message,
        }
    }

    /// Reads an error that came as an event of a stream, or as the body of an answer with status 200.
    pub fn in_stream(json: &[u8], hide: &dyn Fn(String) -> String) -> Self {
        let stated = Stated::read(Some("application/json"), json, hide);
        let class = match stated.status {
            Some(status) => class_of(status, &stated),
            None => class_of_word(&stated),
        };
        Self {
            class,
            status: None,
            code: stated.code.clone(),
            message: stated.message,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.message.is_empty()) {
            (Some(status), true) => write!(f, "status {status} without a word"),
            (Some(status), false) => write!(f, "status {status}: {}", self.message),
            (None, true) => f.write_str("an error without a word"),
            (None, false) => f.write_str(&self.message),
        }
    }
}

fn class_of(status: u16, stated: &Stated) -> ErrorClass {
    match status {
        429 if stated.is_about_credit() => ErrorClass::NoCredit,
        429 => ErrorClass::RateLimited,
        501 | 505 => ErrorClass::Rejected,
        408 | 409 | 425 | 500.. => ErrorClass::Unavailable,
        400 | 413 | 422 => match overflow::recognise(stated) {
            Some(overflow) => overflow,
            None if status == 413 => ErrorClass::TooManyBytes,
            None if stated.is_about_credit() => ErrorClass::NoCredit,
            None => ErrorClass::Rejected,
        },
        401 | 403 => ErrorClass::Unauthorized,
        402 => ErrorClass::NoCredit,
        404 => ErrorClass::NotFound,
        _ => ErrorClass::Rejected,
    }
}

/// Without a status the words must do. A stream that breaks off for an unknown reason may go well next time.
fn class_of_word(stated: &Stated) -> ErrorClass {
    if let Some(overflow) = overflow::recognise(stated) {
        return overflow;
    }
    if stated.is_about_credit() {
        return ErrorClass::NoCredit;
    }
    if overflow::is_rate_limit(stated) {
        return ErrorClass::RateLimited;
    }
    let has = |word: &str| stated.words().any(|w| w.contains(word));
    if has("authentication") || has("permission") || has("invalid_api_key") {
        ErrorClass::Unauthorized
    } else if has("not_found") {
        ErrorClass::NotFound
    } else if has("invalid") || has("unsupported") || has("bad_request") {
        ErrorClass::Rejected
    } else {
        ErrorClass::Unavailable
    }
}
