//! Secrets that are known by their form: private keys in PEM, JSON web tokens, passwords in addresses.

use super::tokens::begins_a_word;
use super::{Found, LOOK_AHEAD};

const PRIVATE_KEY: &str = "private key";
const WEB_TOKEN: &str = "web token";
const URL_PASSWORD: &str = "url password";
/// What is found here.
pub(super) const KINDS: [&str; 3] = [PRIVATE_KEY, WEB_TOKEN, URL_PASSWORD];

/// The secrets of a stretch.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    private_keys(text, found);
    web_tokens(text, found);
    url_passwords(text, found);
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// A line of a key has at least this many letters, except for the last.
const KEY_LINE: usize = 16;
/// Words before the first line: more are prose.
const MAX_HEADERS: usize = 8;

fn private_keys(text: &str, found: &mut Vec<Found>) {
    let mut from = 0;
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        from = start + BEGIN.len();
        let Some(body) = after_label(text, from) else {
            continue;
        };
        if let Some(end) = key_end(text, body) {
            found.push(Found {
                range: start..end,
                kind: PRIVATE_KEY,
            });
            from = end;
        }
    }
}

/// Behind `RSA PRIVATE KEY-----`.
fn after_label(text: &str, at: usize) -> Option<usize> {
    let label_end = at
        + text.as_bytes()[at..]
            .iter()
            .take(60)
            .position(|b| *b == b'-')?;
    let label = &text[at..label_end];
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_private && text[label_end..].starts_with("-----")).then_some(label_end + 5)
}

/// The end of a key whose lines begin at `at`, complete or not; `None` when no line follows. The lines may stand
/// in a JSON string, in source code or behind one another.
fn key_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_letter = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let (mut at, mut end) = (at, None);
    let mut headers = 0;
    loop {
        at += between_lines(&bytes[at..]);
        if text.get(at..).is_some_and(|rest| rest.starts_with(END)) {
            return Some(at + end_line(&text[at..])).filter(|_| end.is_some());
        }
        let run = bytes[at..].iter().take_while(|b| is_letter(b)).count();
        let next = at + run;
        if run >= KEY_LINE {
            // The letter of an escape belongs to what separates lines.
            end = Some(next);
        } else if headers < MAX_HEADERS && run > 0 && bytes.get(next) == Some(&b':') {
            // A header such as `Version: 1`.
            headers += 1;
            let line = bytes[next..].iter().take(LOOK_AHEAD);
            at = next
                + line
                    .take_while(|b| !matches!(b, b'\n' | b'\\' | b'"'))
                    .count();
            continue;
        } else if headers < MAX_HEADERS
            && run > 0
            && bytes.get(next) == Some(&b'-')
            && bytes.get(next + 1) != Some(&b'-')
        {
            // `Proc-Type:`, `DEK-Info:`.
            headers += 1;
            at = next + 1;
            continue;
        } else {
            let tail = next + between_lines(&bytes[next..]);
            let ends = text.get(tail..).is_some_and(|rest| rest.starts_with(END));
            if run == 0 || !ends {
                return end;
            }
        }
        at = next;
    }
}

/// White space, escapes of it, and how source code puts strings together.
fn between_lines(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b' ' | b'\n' | b'\r' | b'\t' => 1,
            b'\\' => match bytes.get(at + 1) {
                Some(b'n' | b'r' | b't') => 2,
                _ => 1,
            },
            b'"' | b'\'' | b',' | b'|' | b'>' => 1,
            _ => break,
        };
    }
    at
}

/// The length of `-----END … PRIVATE KEY-----`.
fn end_line(text: &str) -> usize {
    let label = text.as_bytes()[END.len()..]
        .iter()
        .take(60)
        .position(|b| *b == b'-');
    let dashes = |at: usize| {
        text.as_bytes()[at..]
            .iter()
            .take(5)
            .take_while(|b| **b == b'-')
            .count()
    };
    label.map_or(END.len(), |at| {
        let at = END.len() + at;
        at + dashes(at)
    })
}

/// The least letters of each of the parts of a web token.
const TOKEN_PART: usize = 10;

fn web_tokens(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let run = |at: usize| {
        bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            .count()
    };
    let mut from = 0;
    // JSON that begins with `{"`, in base64.
    while let Some(start) = text[from..].find("eyJ").map(|at| from + at) {
        if !begins_a_word(text, start) {
            from = start + 3;
            continue;
        }
        let mut end = start + run(start);
        let mut parts = usize::from(end - start >= TOKEN_PART);
        while parts > 0 && parts < 5 && bytes.get(end) == Some(&b'.') {
            let len = run(end + 1);
            // The key part of an encrypted token may be empty.
            let is_part = len >= TOKEN_PART || (parts == 1 && len == 0);
            if !is_part {
                break;
            }
            end += 1 + len;
            parts += 1;
        }
        // What was read is not read again.
        from = end.max(start + 3);
        if parts >= 3 {
            found.push(Found {
                range: start..end,
                kind: WEB_TOKEN,
            });
        }
    }
}

fn url_passwords(text: &str, found: &mut Vec<Found>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at + 3) {
        from = at;
        let bytes = text.as_bytes();
        let ends = |b: &u8| {
            b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\')
        };
        let head = &bytes[at..bytes.len().min(at + LOOK_AHEAD)];
        let head = &head[..head.iter().position(ends).unwrap_or(head.len())];
        let (Some(host), Some(colon)) = (
            head.iter().rposition(|b| *b == b'@'),
            head.iter().position(|b| *b == b':'),
        ) else {
            continue;
        };
        if colon >= host {
            continue;
        }
        let range = at + colon + 1..at + host;
        let secret = &text[range.clone()];
        let is_made_up =
            secret.starts_with(['$', '{', '<', '%', '[', '*', '(']) || secret.contains("...");
        if secret.len() >= 3 && !is_made_up {
            found.push(Found {
                range: range.clone(),
                kind: URL_PASSWORD,
            });
            from = range.end;
        }
    }
}
