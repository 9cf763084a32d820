//! The window that a policy reckons with, where it is known from, and what of it belongs to the reply.

use super::presets::{ASSUMED_WINDOW, DefaultTrigger};
use super::{
    At, KeepOption, ModelProfile, Number, Options, PolicyError, PolicyWarning, TriggerOption,
    WindowSource,
};

/// A smaller window cannot hold reserve, trigger and kept part apart from each other.
pub const MIN_WINDOW: u64 = 16;

/// Tokens of the reply when the model's output limit is not known. A quarter of a small window is less.
const UNKNOWN_OUTPUT: u64 = 8192;

/// The window and the part of it that a request may fill.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) tokens: u64,
    pub(super) source: WindowSource,
    pub(super) reserve: u64,
}

impl Window {
    pub(super) fn limit(self) -> u64 {
        self.tokens - self.reserve
    }

    pub(super) fn is_known(self) -> bool {
        self.source != WindowSource::Assumed
    }
}

/// The window: what the host says, unless an overflow error has shown that it is smaller; then the profile's;
/// then an assumption.
pub(super) fn window(
    options: &Options,
    model: &ModelProfile,
    warnings: &mut Vec<PolicyWarning>,
) -> Result<Window, PolicyError> {
    // A catalogue writes 0 for "not known", and no model has a window of a few tokens.
    let profile = model.window.filter(|w| *w >= MIN_WINDOW);
    let from_profile = if model.learnt {
        WindowSource::Learnt
    } else {
        WindowSource::Given
    };
    let (tokens, source) = match (options.max_context, profile) {
        (Some(asked), _) if asked < MIN_WINDOW => {
            return Err(PolicyError::OutOfRange {
                at: At::option("max_context"),
                found: Number::Whole(asked),
                allowed: "a whole number of at least 16",
            });
        }
        (Some(asked), Some(learnt)) if model.learnt && learnt < asked => {
            (learnt, WindowSource::Learnt)
        }
        (Some(asked), _) => (asked, WindowSource::Given),
        (None, Some(window)) => (window, from_profile),
        (None, None) => (
            assumed_window(options, model.name.as_deref()),
            WindowSource::Assumed,
        ),
    };
    let quarter = tokens / 4;
    let asked = options.output_reserve;
    let reserve = asked
        .or(model.max_output)
        .unwrap_or(UNKNOWN_OUTPUT)
        .min(quarter);
    // Some models take less than the window without the reply's part. A window that was asked for knows better.
    let beyond = model
        .max_input
        .filter(|most| profile == Some(tokens) && *most >= MIN_WINDOW)
        .map_or(0, |most| tokens.saturating_sub(most));
    let reserve = reserve.max(beyond);
    if let Some(asked) = asked.filter(|a| *a > quarter) {
        warnings.push(PolicyWarning::ReserveClamped {
            asked,
            window: tokens,
            used: reserve,
        });
    }
    Ok(Window {
        tokens,
        source,
        reserve,
    })
}

/// What the model's name says (`some-model-32k`), else 128,000; or a window to which the token sizes that were asked for (or are the preset's) fit: whoever says
/// "at 400,000 tokens" has a model that holds them.
fn assumed_window(options: &Options, name: Option<&str>) -> u64 {
    let by_trigger = match &options.trigger {
        TriggerOption::Any(clauses) => clauses.iter().filter_map(|c| c.tokens).max(),
        TriggerOption::Unset => match options.preset.values().trigger {
            DefaultTrigger::Tokens(tokens) => Some(tokens),
            _ => None,
        },
        _ => None,
    };
    let by_keep = match options.keep {
        Some(KeepOption::Tokens(tokens)) => Some(tokens),
        _ => None,
    };
    // 0.8 of the three quarters that the largest reserve leaves is 3/5.
    let fits = by_trigger.max(by_keep).unwrap_or(0);
    let assumed = name.and_then(window_in_name).unwrap_or(ASSUMED_WINDOW);
    assumed.max(fits.saturating_mul(5).div_ceil(3))
}

/// The window that many models carry in their name: thousands of tokens before a `k`, one or two million
/// before an `m` (`270m` is a number of parameters).
fn window_in_name(name: &str) -> Option<u64> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut sizes = words.rev().filter_map(|word| {
        let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
        let number: u64 = number.parse().ok()?;
        match unit {
            "k" | "K" if (4..=2_000).contains(&number) => Some(number * 1_000),
            "m" | "M" if (1..=2).contains(&number) => Some(number * 1_000_000),
            _ => None,
        }
    });
    sizes.next()
}

#[cfg(test)]
mod tests {
    use super::window_in_name;

    #[test]
    fn names_that_say_their_window() {
        for (name, expect) in [
            ("gpt-4-32k", Some(32_000)),
            ("moonshot-v1-128K", Some(128_000)),
            ("qwen2.5-7b-instruct-1m", Some(1_000_000)),
            ("gemma-3-270m", None),
            ("o3", None),
            ("phi-2k", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(window_in_name(name), expect, "{name}");
        }
    }
}
