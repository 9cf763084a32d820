//! Secrets that their makers put a name in front of: `ghp_…`, `AKIA…`, `sk-ant-…`.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, LOOK_AHEAD};

/// What may follow the prefix.
#[derive(Clone, Copy)]
enum Body {
    /// Letters and digits.
    Alnum,
    /// Also `_` and `-`.
    Word,
    /// Also `.`.
    Dotted,
    /// Also `/`, as in an address.
    Path,
    /// Also `+`, `/` and `=`.
    Base64,
}

/// One sort of secret.
pub(super) struct Token {
    prefix: &'static str,
    pub(super) kind: &'static str,
    body: Body,
    /// Characters behind the prefix, at least.
    least: usize,
    /// Characters behind the prefix, exactly.
    exact: bool,
}

const fn token(prefix: &'static str, kind: &'static str, body: Body, least: usize) -> Token {
    Token {
        prefix,
        kind,
        body,
        least,
        exact: false,
    }
}

const fn exactly(prefix: &'static str, kind: &'static str, body: Body, chars: usize) -> Token {
    Token {
        exact: true,
        ..token(prefix, kind, body, chars)
    }
}

/// The longer of two prefixes that begin alike stands first.
pub(super) const TOKENS: &[Token] = &[
    token("sk-ant-", "anthropic key", Body::Word, 16),
    token("sk-proj-", "openai key", Body::Word, 20),
    token("sk-svcacct-", "openai key", Body::Word, 20),
    token("sk-admin-", "openai key", Body::Word, 20),
    token("sk-or-", "openrouter key", Body::Word, 20),
    // OpenAI's older keys, and those of the many who took the form over.
    token("sk-", "api key", Body::Word, 20),
    token("github_pat_", "github token", Body::Word, 22),
    token("ghp_", "github token", Body::Alnum, 30),
    token("gho_", "github token", Body::Alnum, 30),
    token("ghu_", "github token", Body::Alnum, 30),
    token("ghs_", "github token", Body::Alnum, 30),
    token("ghr_", "github token", Body::Alnum, 30),
    token("glpat-", "gitlab token", Body::Dotted, 20),
    token("gldt-", "gitlab token", Body::Dotted, 20),
    token("glrt-", "gitlab token", Body::Dotted, 20),
    token("glptt-", "gitlab token", Body::Dotted, 20),
    token("glcbt-", "gitlab token", Body::Dotted, 20),
    token("glagent-", "gitlab token", Body::Dotted, 20),
    exactly("AKIA", "aws key", Body::Alnum, 16),
    exactly("ASIA", "aws key", Body::Alnum, 16),
    exactly("ABIA", "aws key", Body::Alnum, 16),
    exactly("ACCA", "aws key", Body::Alnum, 16),
    exactly("AIza", "google key", Body::Word, 35),
    token("ya29.", "google token", Body::Dotted, 20),
    token("GOCSPX-", "google secret", Body::Word, 20),
    token("xoxb-", "slack token", Body::Word, 10),
    token("xoxp-", "slack token", Body::Word, 10),
    token("xoxa-", "slack token", Body::Word, 10),
    token("xoxr-", "slack token", Body::Word, 10),
    token("xoxs-", "slack token", Body::Word, 10),
    token("xoxc-", "slack token", Body::Word, 10),
    token("xoxd-", "slack token", Body::Base64, 10),
    token("xoxe.", "slack token", Body::Dotted, 10),
    token("xapp-", "slack token", Body::Word, 20),
    token("hooks.slack.com/services/", "slack webhook", Body::Path, 20),
    token(
        "discord.com/api/webhooks/",
        "discord webhook",
        Body::Path,
        40,
    ),
    token("sk_live_", "stripe key", Body::Alnum, 16),
    token("sk_test_", "stripe key", Body::Alnum, 16),
    token("rk_live_", "stripe key", Body::Alnum, 16),
    token("rk_test_", "stripe key", Body::Alnum, 16),
    token("whsec_", "stripe secret", Body::Base64, 24),
    token("npm_", "npm token", Body::Alnum, 36),
    token("pypi-", "pypi token", Body::Word, 50),
    token("hf_", "hugging face token", Body::Alnum, 30),
    token("gsk_", "groq key", Body::Alnum, 40),
    token("xai-", "xai key", Body::Alnum, 60),
    exactly("r8_", "replicate token", Body::Alnum, 37),
    token("pplx-", "perplexity key", Body::Alnum, 40),
    token("SG.", "sendgrid key", Body::Dotted, 60),
    token("dop_v1_", "digitalocean token", Body::Alnum, 60),
    token("doo_v1_", "digitalocean token", Body::Alnum, 60),
    token("dapi", "databricks token", Body::Alnum, 32),
    token("shpat_", "shopify token", Body::Alnum, 32),
    token("shpss_", "shopify token", Body::Alnum, 32),
    token("lin_api_", "linear key", Body::Alnum, 32),
    token("hvs.", "vault token", Body::Word, 24),
    token("dckr_pat_", "docker token", Body::Word, 20),
    token("ATATT3", "atlassian token", Body::Base64, 50),
    token("glsa_", "grafana token", Body::Word, 40),
    token("sbp_", "supabase token", Body::Alnum, 40),
    token("sb_secret_", "supabase key", Body::Word, 20),
    token("tskey-", "tailscale key", Body::Word, 20),
    token("AGE-SECRET-KEY-1", "age key", Body::Alnum, 50),
];

static PREFIXES: LazyLock<Regex> = LazyLock::new(|| {
    let prefixes: Vec<String> = TOKENS.iter().map(|t| regex::escape(t.prefix)).collect();
    Regex::new(&prefixes.join("|")).expect("prefixes are literals")
});

/// The secrets of a stretch.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let mut from = 0;
    while let Some(hit) = PREFIXES.find_at(text, from) {
        from = hit.end();
        if !begins_a_word(text, hit.start()) {
            continue;
        }
        // Beside the one that was found, a shorter prefix that begins alike.
        let candidates = TOKENS.iter().filter(|t| hit.as_str().starts_with(t.prefix));
        let mut ends = candidates.filter_map(|t| Some((t.kind, t.end(text, hit.start())?)));
        if let Some((kind, end)) = ends.next() {
            found.push(Found {
                range: hit.start()..end,
                kind,
            });
            from = end;
        }
    }
}

impl Token {
    /// Where the secret that begins at `start` ends, if it is one.
    fn end(&self, text: &str, start: usize) -> Option<usize> {
        let body = &text.as_bytes()[start + self.prefix.len()..];
        let head = &body[..body.len().min(LOOK_AHEAD)];
        let run = head.iter().take_while(|b| self.body.has(**b)).count();
        let fits = if self.exact {
            run == self.least
        } else {
            run >= self.least
        };
        // Names in style sheets and paths begin like keys; a key has digits, and not one letter again and again.
        if !fits || !is_random(&head[..run]) {
            return None;
        }
        let run = body.iter().take_while(|b| self.body.has(**b)).count();
        let trimmed = body[..run]
            .iter()
            .rev()
            .take_while(|b| matches!(b, b'.' | b'-' | b'/'))
            .count();
        Some(start + self.prefix.len() + run - trimmed)
    }
}

impl Body {
    fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Alnum => false,
                Self::Word => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.'),
                Self::Path => matches!(byte, b'_' | b'-' | b'/'),
                Self::Base64 => matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'%'),
            }
    }
}

/// Digits or a change of case in it, and a few different characters: `XXXXXXXX` is a placeholder.
fn is_random(body: &[u8]) -> bool {
    let mut seen = [false; 256];
    body.iter().for_each(|b| seen[usize::from(*b)] = true);
    let distinct = seen.iter().filter(|s| **s).count();
    body.iter().any(u8::is_ascii_digit) && distinct >= 5
}

/// Whether no word runs up to `at`. The letter of an escape in JSON (`\n`) is none, nor is `\u003d`.
pub(super) fn begins_a_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let Some(last) = before.last() else {
        return true;
    };
    if !(last.is_ascii_alphanumeric() || *last == b'_') {
        return true;
    }
    let is_escape = |n: usize| before.len() > n && before[before.len() - 1 - n] == b'\\';
    let is_unicode = before.len() > 5 && is_escape(5) && before[before.len() - 5] == b'u';
    (is_escape(1) && matches!(last, b'n' | b'r' | b't' | b'b' | b'f')) || is_unicode
}

#[cfg(test)]
impl Token {
    /// A secret of this sort.
    pub(super) fn example(&self, body: &str) -> String {
        [self.prefix, body].concat()
    }
}
