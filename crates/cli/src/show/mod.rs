//! Reports for people. Values in, text out; nothing here reads, writes or decides.

mod asked;
mod compact;
mod cost;
mod eval;
mod inspect;
mod numbers;
mod plan;
mod table;

#[cfg(feature = "models")]
pub(crate) use asked::ahead;
#[cfg(feature = "threads")]
pub(crate) use compact::summary_lines;
pub(crate) use compact::{file, skipped};
pub(crate) use eval::{eval, too_short};
pub(crate) use inspect::inspection;
pub(crate) use numbers::{numbers, said_by};
pub(crate) use plan::plan;
pub(crate) use table::Table;

/// Whether and how text is coloured. Sparing: bold for what one looks for, red and yellow for trouble, dim for
/// the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    pub(crate) fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// What one looks for.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Beside the point.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Good.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// To be looked at.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Wrong.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }
}

/// `12345` -> `12,345`.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 message`, `2 messages`.
pub(crate) fn count(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", number(n)),
    }
}

/// By how much something became smaller or larger, in whole percent.
pub(crate) fn change(before: u64, after: u64) -> String {
    if before == 0 || before == after {
        return String::new();
    }
    let percent =
        (u128::from(before.abs_diff(after)) * 100 + u128::from(before) / 2) / u128::from(before);
    let sign = if after < before { '-' } else { '+' };
    format!("{sign}{percent}%")
}

/// A share of the whole in whole percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let whole = u128::from(whole.max(1));
    format!("{}%", (u128::from(part) * 100 + whole / 2) / whole)
}

/// Text of a conversation that is safe to show: no control characters, which could drive the terminal.
pub(crate) fn plain(text: &str) -> String {
    plain_lines(text).replace('\n', " ")
}

/// The same, line ends kept. Colours that a tool printed go as a whole.
pub(crate) fn plain_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            while chars
                .next_if(|c| matches!(c, '\u{20}'..='\u{3f}'))
                .is_some()
            {}
            let _ = chars.next_if(|c| matches!(c, '@'..='~'));
        } else if c == '\n' || !is_unsafe(c) {
            out.push(c);
        } else {
            out.push(' ');
        }
    }
    out
}

/// Control characters, and those that turn the direction of writing.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first `max` characters, with a sign that there were more.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(max.saturating_sub(1)).collect();
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let check = |n: u64, expect: &str| assert_eq!(number(n), expect);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1_234_567, "1,234,567");
        assert_eq!(count(1, "message"), "1 message");
        assert_eq!(count(2000, "message"), "2,000 messages");
    }

    #[test]
    fn changes() {
        let check = |before, after, expect: &str| assert_eq!(change(before, after), expect);
        check(100, 34, "-66%");
        check(100, 100, "");
        check(0, 5, "");
        check(100, 150, "+50%");
        check(u64::MAX, 0, "-100%");
    }

    #[test]
    fn nothing_drives_the_terminal() {
        assert_eq!(plain("a\x1b[1;31mb\nc\u{202e}d"), "ab c d");
        assert_eq!(plain("\x1b]0;title\u{7}\x1b[2"), " ]0;title ");
        assert_eq!(plain_lines("a\rb\nc"), "a b\nc");
        assert_eq!(clip("日本語テキスト", 4), "日本語…");
    }
}
