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
        (None, None) => (assumed_window(options), WindowSource::Assumed),
    };
    let quarter = tokens / 4;
    let asked = options.output_reserve;
    let reserve = asked
        .or(model.max_output)
        .unwrap_or(UNKNOWN_OUTPUT)
        .min(quarter);
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

/// 128,000, or a window to which the token sizes that were asked for (or are the preset's) fit: whoever says
/// "at 400,000 tokens" has a model that holds them.
fn assumed_window(options: &Options) -> u64 {
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
    ASSUMED_WINDOW.max(fits.saturating_mul(5).div_ceil(3))
}
