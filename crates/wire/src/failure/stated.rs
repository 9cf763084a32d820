//! What the body of an error says, in whatever form it says it.

use serde_json::Value;

/// The longest message that is shown.
const MOST_CHARS: usize = 300;
/// No more of a body is looked at: errors are short, and what follows is an echo of the request.
const MOST_BYTES: usize = 64 << 10;

/// The words of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// `error.code`, or the type where there is none.
    pub(super) code: Option<String>,
    /// `error.type`.
    pub(super) kind: Option<String>,
    /// A status inside the body, as gateways put one.
    pub(super) status: Option<u16>,
    /// The message, on one line and shortened.
    pub(super) message: String,
    /// What is looked at for patterns: messages in lower case, never the whole body, since a body may quote the
    /// request.
    pub(super) haystack: String,
    /// Numbers in fields of their own (llama.cpp).
    pub(super) limit: Option<u64>,
    pub(super) actual: Option<u64>,
}

impl Stated {
    pub(super) fn read(
        content_type: Option<&str>,
        body: &[u8],
        hide: &dyn Fn(String) -> String,
    ) -> Self {
        let body = &body[..body.len().min(MOST_BYTES)];
        if let Ok(json) = serde_json::from_slice::<Value>(body) {
            return Self::of_json(&json, hide);
        }
        let text = String::from_utf8_lossy(body);
        let is_page = content_type.is_some_and(|t| t.contains("html")) || is_page(&text);
        let message = match is_page {
            true => page(&text),
            false => text.to_string(),
        };
        let message = hide(message);
        let haystack = match is_page {
            // What a gateway puts on its pages says nothing about tokens.
            true => String::new(),
            false => shortened(&message).to_ascii_lowercase(),
        };
        Self {
            message: shortened(&message),
            haystack,
            ..Self::default()
        }
    }

    fn of_json(json: &Value, hide: &dyn Fn(String) -> String) -> Self {
        let inner = match &json["error"] {
            error @ Value::Object(_) => error,
            _ => json,
        };
        let message = [
            &inner["message"],
            &json["error"],
            &json["message"],
            &json["detail"],
            &json["detail"][0]["msg"],
            &json["errors"][0]["message"],
        ]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
        // OpenRouter keeps what the model's own provider said.
        let raw = inner["metadata"]["raw"].as_str().unwrap_or_default();
        let message = hide(message.to_owned());
        let word = |value: &Value| {
            let word = value.as_str().filter(|w| !w.is_empty())?;
            Some(shortened(&hide(word.to_owned())))
        };
        let code = [
            &inner["code"],
            &inner["details"]["error_code"],
            &json["code"],
            &inner["type"],
            &json["error_type"],
            &inner["status"],
        ]
        .into_iter()
        .find_map(word);
        let status = [&inner["code"], &inner["http_code"], &inner["status"]]
            .into_iter()
            .find_map(status);
        let mut haystack = message.to_ascii_lowercase();
        haystack.push('\n');
        haystack.push_str(&raw.to_ascii_lowercase());
        Self {
            code,
            kind: word(&inner["type"]),
            status,
            message: shortened(&message),
            haystack,
            limit: inner["n_ctx"].as_u64(),
            actual: inner["n_prompt_tokens"].as_u64(),
        }
    }

    /// Code and type.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.code.iter().chain(&self.kind).map(String::as_str)
    }

    pub(super) fn is_about_credit(&self) -> bool {
        const WORDS: [&str; 4] = [
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "insufficient_balance",
        ];
        self.words().any(|word| WORDS.contains(&word))
    }
}

/// A number that can be an HTTP error, as a number or as text.
fn status(value: &Value) -> Option<u16> {
    let number = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    u16::try_from(number)
        .ok()
        .filter(|s| (400..600).contains(s))
}

fn is_page(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// The title of a web page.
fn page(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len());
    let title = title.and_then(|from| {
        let end = lower[from..].find("</title>")?;
        text.get(from..from + end)
    });
    match title.map(str::trim).filter(|t| !t.is_empty()) {
        Some(title) => format!("a web page: {title}"),
        None => "a web page".to_owned(),
    }
}

/// One line of at most [`MOST_CHARS`].
fn shortened(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() && count < MOST_CHARS {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= MOST_CHARS {
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: Option<&str>, body: &str, expect: &str) {
        let stated = Stated::read(content_type, body.as_bytes(), &|text| text);
        assert_eq!(stated.message, expect, "{body}");
    }

    #[test]
    fn messages_are_found_wherever_they_stand() {
        check(None, r#"{"error":{"message":"a\n b"}}"#, "a b");
        check(None, r#"{"error":"b"}"#, "b");
        check(None, r#"{"message":"c"}"#, "c");
        check(None, r#"{"detail":"d"}"#, "d");
        check(
            None,
            r#"{"detail":[{"msg":"e","input":"the prompt"}]}"#,
            "e",
        );
        check(None, r#"{"errors":[{"message":"f"}]}"#, "f");
        check(None, r#"[1]"#, "");
        check(None, "", "");
        check(None, "upstream\r\nconnect error", "upstream connect error");
        check(
            None,
            "<html><head><TITLE> 502 Bad Gateway </TITLE>",
            "a web page: 502 Bad Gateway",
        );
        check(Some("text/html"), "<p>no", "a web page");
        let words = format!("{} {}", "a".repeat(300), "b");
        check(None, &words, &format!("{}…", "a".repeat(300)));
        check(None, &"é".repeat(400), &format!("{}…", "é".repeat(300)));
    }

    #[test]
    fn nothing_panics_on_torn_or_deep_bodies() {
        let deep = "[".repeat(100_000);
        let whole = r#"{"error":{"message":"İ<title>","code":4000}}"#;
        for body in [
            deep.as_bytes(),
            b"\xff\xfe<html",
            b"<html><title>\xc4\xb0</title",
        ] {
            Stated::read(None, body, &|text| text);
        }
        for cut in 0..whole.len() {
            Stated::read(Some("text/html"), &whole.as_bytes()[..cut], &|text| text);
        }
    }
}
