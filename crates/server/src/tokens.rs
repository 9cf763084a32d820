//! Who may ask: tokens and the tenants that they belong to.
//!
//! A file holds digests, never tokens, so whoever reads it can ask for nothing. A line is
//!
//! ```text
//! sha256:<64 hex digits> <tenant>        # a comment
//! sha256:<64 hex digits> <tenant> read   # looks, and changes nothing
//! ```
//!
//! Digests of long random tokens need no salt and no slow hash: there is nothing to guess.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// The digests of tokens, with whose they are.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Hash, Holder)>);

/// Whose a token is, and what may be done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Whose threads.
    pub tenant: Arc<str>,
    /// What may be done with them.
    pub role: Role,
}

/// What may be done with a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    #[default]
    Write,
    /// Looking.
    Read,
}

type Hash = [u8; 32];

/// What is wrong with a file of tokens. Nothing of the line is repeated: it may hold a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokensError {
    /// A line is no digest and tenant.
    #[error(
        "line {0}: expected sha256:<64 hex digits>, a tenant of letters, digits, - and _, and perhaps read; \
         docs/service.md says how to make one"
    )]
    Line(usize),
    /// One token cannot belong to two tenants.
    #[error("line {0}: the same digest stands above; remove one")]
    Twice(usize),
    /// Nobody could ask.
    #[error("there is no token in it; add one, or leave the file out")]
    Empty,
}

impl Tokens {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is wrong, or that there is none.
    pub fn parse(text: &str) -> Result<Self, TokensError> {
        let mut all: Vec<(Hash, Holder)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = TokensError::Line(number);
            let (digest, tenant) = line.split_once(char::is_whitespace).ok_or(wrong)?;
            let digest = digest
                .strip_prefix("sha256:")
                .and_then(unhex)
                .ok_or(wrong)?;
            let mut words = tenant.split_whitespace();
            let tenant = words.next().unwrap_or_default();
            let role = match (words.next(), words.next()) {
                (None | Some("write"), None) => Role::Write,
                (Some("read"), None) => Role::Read,
                _ => return Err(wrong),
            };
            if !is_name(tenant) {
                return Err(wrong);
            }
            if all.iter().any(|(known, _)| *known == digest) {
                return Err(TokensError::Twice(number));
            }
            let tenant = tenant.into();
            all.push((digest, Holder { tenant, role }));
        }
        match all.is_empty() {
            true => Err(TokensError::Empty),
            false => Ok(Self(all)),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a service may listen there: without tokens only this machine may ask.
    pub fn may_listen(&self, listen: SocketAddr) -> bool {
        !self.is_empty() || listen.ip().is_loopback()
    }

    /// The tenants that there are tokens for.
    pub fn tenants(&self) -> impl Iterator<Item = Arc<str>> {
        self.0.iter().map(|(_, holder)| holder.tenant.clone())
    }

    /// Whose token this is, if everything may be done with it.
    pub fn tenant(&self, token: &str) -> Option<Arc<str>> {
        let holder = self.holder(token)?;
        (holder.role == Role::Write).then_some(holder.tenant)
    }

    /// Whose token this is. Takes the same time whichever it is, and if it is none.
    pub fn holder(&self, token: &str) -> Option<Holder> {
        let digest: Hash = Sha256::digest(token.as_bytes()).into();
        let mut found = None;
        for (known, holder) in &self.0 {
            if is_same(known, &digest) {
                found = Some(holder);
            }
        }
        found.cloned()
    }
}

/// How many there are.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

/// The names of threads and tenants: 1 to 64 letters, digits, `-` and `_`.
pub(crate) fn is_name(name: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_fine)
}

/// Looks at every byte, wherever the first difference is.
fn is_same(a: &Hash, b: &Hash) -> bool {
    let differences = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(differences) == 0
}

fn unhex(hex: &str) -> Option<Hash> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The digests of "abc" and of nothing (FIPS 180-2).
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_token_is_known_by_its_digest() {
        let tokens = Tokens::parse(&format!("# ours\n{ABC} team-a  # Ann\n\n{EMPTY} b\n"));
        let tokens = tokens.expect("a file of tokens");
        assert_eq!(tokens.tenant("abc").as_deref(), Some("team-a"));
        assert_eq!(tokens.tenant("abd"), None);
        assert_eq!(tokens.tenant(&ABC["sha256:".len()..]), None);
        assert_eq!(format!("{tokens:?}"), "2 tokens");
    }

    #[test]
    fn a_token_that_only_reads_is_no_tenants_to_whoever_writes() {
        let tokens = Tokens::parse(&format!("{ABC} a read  # Ann\n{EMPTY} b write"));
        let tokens = tokens.expect("a file of tokens");
        let holder = tokens.holder("abc").expect("it is known");
        assert_eq!((&*holder.tenant, holder.role), ("a", Role::Read));
        assert_eq!(tokens.tenant("abc"), None);
        assert_eq!(tokens.tenant("").as_deref(), Some("b"));
    }

    #[test]
    fn what_is_wrong_is_told_by_line() {
        #[track_caller]
        fn check(text: &str, expect: TokensError) {
            assert_eq!(Tokens::parse(text).expect_err("is wrong"), expect);
        }
        check("", TokensError::Empty);
        check("# nobody yet\n", TokensError::Empty);
        check("abc a", TokensError::Line(1));
        check(ABC, TokensError::Line(1));
        check(&format!("{ABC} two words"), TokensError::Line(1));
        check(&format!("{ABC} a read write"), TokensError::Line(1));
        check(&format!("{ABC} a\n{ABC} b"), TokensError::Twice(2));
        check(&format!("\n{} a", &ABC[..70]), TokensError::Line(2));
        check(&format!("{}é a", &ABC[..69]), TokensError::Line(1));
    }
}
