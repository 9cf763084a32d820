//! What was typed: a message, or a command.

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing.
    Blank,
    /// Something said.
    Say(String),
    /// Compact now; what matters, where that is said.
    Compact(Option<String>),
    /// Take the last compaction back.
    Undo,
    /// Put it in force again.
    Redo,
    /// Where the thread stands.
    Status,
    /// What was said with these words.
    Recall(String),
    /// Go on with a run that was stopped, failed or was killed.
    Continue,
    Help,
    Quit,
    /// A command that there is not, or one that lacks something: what to say.
    Wrong(String),
}

/// What can be typed besides messages.
pub(super) const HELP: &str = "\
/compact [focus]  make room now; focus: what the summary should pay attention to
/undo, /redo      take the last compaction back, put it in force again
/status           how full the window is, and what happens next
/recall WORDS     find what was said, whatever was compacted
/continue         go on with an answer that was stopped or failed
/help, /quit      this; leave (also Ctrl-D)
A message that begins with a slash: type two. A line that ends with \\ goes on in the next.
";

impl Line {
    /// Reads one.
    pub(super) fn of(typed: &str) -> Self {
        let typed = typed.trim();
        let Some(command) = typed.strip_prefix('/') else {
            return match typed {
                "" => Self::Blank,
                text => Self::Say(text.to_owned()),
            };
        };
        if command.starts_with('/') {
            return Self::Say(command.to_owned());
        }
        let (name, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let rest = rest.trim();
        let alone = |line: Self| match rest {
            "" => line,
            _ => Self::Wrong(format!("/{name} takes nothing behind it")),
        };
        match name {
            "compact" => Self::Compact((!rest.is_empty()).then(|| rest.to_owned())),
            "recall" if rest.is_empty() => {
                Self::Wrong("/recall takes words: /recall valve".to_owned())
            }
            "recall" => Self::Recall(rest.to_owned()),
            "undo" => alone(Self::Undo),
            "redo" => alone(Self::Redo),
            "status" => alone(Self::Status),
            "continue" => alone(Self::Continue),
            "help" | "?" => Self::Help,
            "quit" | "exit" => Self::Quit,
            _ => {
                let short: String = name.chars().take(40).collect();
                Self::Wrong(format!("there is no /{short}; /help lists what there is"))
            }
        }
    }
}

/// A count of tokens in few characters: `950`, `8.2k`, `128k`, `1M`.
fn short(tokens: u64) -> String {
    let of = |unit: u64, name: &str| {
        let (whole, tenth) = (tokens / unit, tokens % unit * 10 / unit);
        match tenth > 0 && whole < 10 {
            true => format!("{whole}.{tenth}{name}"),
            false => format!("{whole}{name}"),
        }
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => of(1_000, "k"),
        _ => of(1_000_000, "M"),
    }
}

/// How full the window is, for the prompt.
pub(super) fn gauge(tokens: u64, window: u64) -> String {
    let percent = u128::from(tokens) * 100 / u128::from(window.max(1));
    format!("[{percent}% of {}] ", short(window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |typed: &str, expect: Line| assert_eq!(Line::of(typed), expect, "{typed}");
        check("  ", Line::Blank);
        check(" Turn the valve. ", Line::Say("Turn the valve.".into()));
        check("//etc/hosts is odd", Line::Say("/etc/hosts is odd".into()));
        check("/compact", Line::Compact(None));
        check(
            "/compact  the valve ",
            Line::Compact(Some("the valve".into())),
        );
        check("/recall the valve", Line::Recall("the valve".into()));
        check(
            "/recall",
            Line::Wrong("/recall takes words: /recall valve".into()),
        );
        check("/undo", Line::Undo);
        check(
            "/undo 3",
            Line::Wrong("/undo takes nothing behind it".into()),
        );
        check("/help", Line::Help);
        check(
            "/etc",
            Line::Wrong("there is no /etc; /help lists what there is".into()),
        );
    }

    #[test]
    fn counts() {
        for (tokens, expect) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (8_192, "8.1k"),
            (32_768, "32k"),
            (128_000, "128k"),
            (1_050_000, "1M"),
        ] {
            assert_eq!(short(tokens), expect);
        }
        assert_eq!(gauge(15_400, 128_000), "[12% of 128k] ");
    }
}
