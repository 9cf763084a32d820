//! Secrets that are known by the name they stand behind: `password=…`, `"api_key": "…"`, `Bearer …`.
//!
//! Names of this kind are everywhere in code, so the value decides: what looks like a name, a call, a type or a
//! placeholder stays.

use std::sync::LazyLock;

use regex::Regex;

use super::tokens::begins_a_word;
use super::{Found, LOOK_AHEAD};

const PASSWORD: &str = "password";
const SECRET: &str = "secret";
const BEARER: &str = "bearer token";
const BASIC: &str = "basic login";
/// What is found here.
pub(super) const KINDS: [&str; 4] = [PASSWORD, SECRET, BEARER, BASIC];

/// The names with what stands between them and the value. Every repetition is bounded.
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?i-u)(?:passw(?:or)?d|passphrase|[_-]pass|pwd|密码|密碼|口令|パスワード|비밀번호|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|signing[_-]?key|encryption[_-]?key|account[_-]?key|auth[_-]?key)(?:[\\]{0,3}["'])?(?:[ \t]{0,3}(?::=|=>|[:=]|：)[ \t]{0,3})|--(?:password|passphrase|token|api-key|secret|auth-token)[ ]|bearer[ ]{1,3}|basic[ ]{1,3}"#;
    Regex::new(pattern).expect("the pattern is fixed")
});

/// The secrets of a stretch.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let mut from = 0;
    while let Some(hit) = NAMES.find_at(text, from) {
        from = hit.end();
        let name = hit.as_str().as_bytes();
        let begins =
            |word: &[u8]| name.len() >= word.len() && name[..word.len()].eq_ignore_ascii_case(word);
        let is_scheme = begins(b"bearer") || begins(b"basic");
        let kind = if begins(b"bearer") {
            BEARER
        } else if begins(b"basic") {
            BASIC
        } else if is_password(name) {
            PASSWORD
        } else {
            SECRET
        };
        if is_scheme && !begins_a_word(text, hit.start()) {
            continue;
        }
        let value = Value::at(text, hit.end());
        let head = &text[value.start..value.head];
        let is_secret = match kind {
            BEARER => is_bearer(head),
            BASIC => is_basic(head),
            PASSWORD => is_plausible(head, 6) && has_form_of_password(head, &value),
            _ => is_plausible(head, 10) && has_form_of_token(head),
        };
        if is_secret {
            let end = value.end(text);
            found.push(Found {
                range: value.start..end,
                kind,
            });
            from = end;
        }
    }
}

fn is_password(name: &[u8]) -> bool {
    let name: Vec<u8> = name.iter().map(u8::to_ascii_lowercase).collect();
    let has = |word: &[u8]| name.windows(word.len()).any(|w| w == word);
    has(b"pass") || has(b"pwd") || !name[0].is_ascii()
}

/// What stands behind a name.
struct Value {
    start: usize,
    /// Where the part that is judged ends.
    head: usize,
    /// The mark around it.
    quote: Option<u8>,
}

impl Value {
    fn at(text: &str, at: usize) -> Self {
        let bytes = text.as_bytes();
        let slashes = bytes[at..]
            .iter()
            .take(3)
            .take_while(|b| **b == b'\\')
            .count();
        let quote = bytes
            .get(at + slashes)
            .copied()
            .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        let start = match quote {
            Some(_) => at + slashes + 1,
            None => at,
        };
        let most = text.floor_char_boundary(start + LOOK_AHEAD);
        let mut value = Self {
            start,
            head: start,
            quote,
        };
        value.head = value.run(text, most);
        value
    }

    /// Where the value ends: the judged part may be only its beginning.
    fn end(&self, text: &str) -> usize {
        self.run(text, text.len())
    }

    fn run(&self, text: &str, most: usize) -> usize {
        let ends = |b: &u8| {
            b.is_ascii_whitespace()
                || matches!(b, b'"' | b'\'' | b'`' | b'\\')
                || (self.quote.is_none()
                    && matches!(
                        b,
                        b',' | b';' | b')' | b']' | b'}' | b'<' | b'>' | b'&' | b'|' | b'['
                    ))
        };
        let bytes = &text.as_bytes()[self.start..most.max(self.start)];
        self.start + bytes.iter().position(ends).unwrap_or(bytes.len())
    }
}

/// Long enough, of several characters, no placeholder, no code, no path.
fn is_plausible(value: &str, least: usize) -> bool {
    const MADE_UP: [&str; 12] = [
        "your",
        "example",
        "placeholder",
        "redacted",
        "changeme",
        "change-me",
        "change_me",
        "xxxx",
        "****",
        "...",
        "dummy",
        "{{",
    ];
    let lower = value.to_ascii_lowercase();
    let mut seen = [false; 256];
    value.bytes().for_each(|b| seen[usize::from(b)] = true);
    value.len() >= least
        && seen.iter().filter(|s| **s).count() >= 4
        && !value.starts_with(['$', '{', '<', '%', '[', '(', '/', '~', '*', '.', '#'])
        && !value.contains(['(', '{', '<'])
        && !value.contains("$(")
        && !value.contains("://")
        && !value.contains("::")
        && !value.contains("->")
        && !MADE_UP.iter().any(|word| lower.contains(word))
        && !is_dotted_name(value)
}

/// `config.token2`, `os.environ`, `auth_v2.py`: names with dots between them.
fn is_dotted_name(value: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.len() <= 24
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    value.contains('.') && value.split(['.', '/']).all(is_name)
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
}

fn has_letter(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// People choose passwords: digits or signs in it, or any word in quotes that does not speak of passwords.
fn has_form_of_password(value: &str, around: &Value) -> bool {
    const SPOKEN_OF: [&str; 12] = [
        "pass",
        "pwd",
        "string",
        "required",
        "secret",
        "none",
        "null",
        "undefined",
        "invalid",
        "prompt",
        "missing",
        "hidden",
    ];
    let lower = value.to_ascii_lowercase();
    let has_sign = value.contains(['!', '@', '#', '^', '&', '*', '?', '~']);
    let is_word = value.bytes().all(|b| b.is_ascii_alphabetic());
    has_digit(value)
        || (has_sign && has_letter(value))
        || (around.quote.is_some() && is_word && !SPOKEN_OF.iter().any(|word| lower.contains(word)))
}

/// Machines make tokens: letters and digits, mixed more than a name with a number is.
fn has_form_of_token(value: &str) -> bool {
    let changes = value
        .as_bytes()
        .windows(2)
        .filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit())
        .count();
    has_digit(value) && has_letter(value) && (changes >= 3 || value.len() >= 24)
}

fn is_bearer(value: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    is_plausible(value, 16) && has_digit(value) && value.bytes().all(is_letter)
}

/// Base64 of `user:password`.
fn is_basic(value: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= 12
        && value.len().is_multiple_of(4)
        && value.bytes().all(is_letter)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && (has_digit(value) || value.ends_with('='))
}
