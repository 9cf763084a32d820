//! LangChain's correction of its count by reported usage (`use_usage_metadata_scaling`), message by message.

use std::sync::Arc;

use super::Weight;
use crate::unit::Pos;
use crate::view::{MessageView, Role};

/// The factor is kept within these.
const FACTORS: (f64, f64) = (1.0, 1.25);

/// What the rule has to know of the messages so far. Adding one costs what it is itself.
///
/// The last assistant message with a reported total sets the factor: that total by the count up to there, kept
/// within [1.0, 1.25], so it never lowers. There is no scaling unless all assistant messages (after the first one
/// that has one) name the same provider. [`crate::view::Usage::provider`] is read also where no total was reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scaling {
    weight: Weight,
    messages: u64,
    provider: Option<Arc<str>>,
    is_mixed: bool,
    report: Option<Report>,
    /// What the newest assistant message reported, where it names a provider.
    newest: Option<(u64, Arc<str>)>,
}

/// The last reported total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Report {
    at: Pos,
    total: u64,
    /// The count up to and including its message.
    counted: Weight,
}

impl Scaling {
    /// The next message, at `at`, with what it weighs. `is_valid`: whether its report measured what is shown now.
    pub fn add(&mut self, at: Pos, message: &MessageView, weight: Weight, is_valid: bool) {
        if message.role != Role::Assistant {
            return self.add_other(weight);
        }
        let usage = message.usage.as_ref();
        let named = usage.and_then(|u| u.provider.as_deref());
        let total = usage.and_then(|u| u.reported_total).filter(|_| is_valid);
        self.add_reply(at, weight, named, total);
    }

    /// The next message, which is no reply of a model.
    pub fn add_other(&mut self, weight: Weight) {
        self.weight += weight;
        self.messages += 1;
    }

    /// The next message, a reply: whose, and the total that its provider reported.
    pub fn add_reply(&mut self, at: Pos, weight: Weight, named: Option<&str>, total: Option<u64>) {
        self.add_other(weight);
        if self.provider.is_none() {
            self.provider = named.map(Arc::from);
        } else if named != self.provider.as_deref() {
            self.is_mixed = true;
        }
        if let Some(total) = total {
            let counted = self.weight;
            self.report = Some(Report { at, total, counted });
        }
        let known = || {
            self.provider
                .clone()
                .filter(|known| Some(&**known) == named)
        };
        self.newest = total
            .filter(|total| *total > 0)
            .and_then(|total| Some((total, known().or_else(|| named.map(Arc::from))?)));
    }

    /// What the newest reply reported, whoever wrote it; none without a provider.
    pub fn newest(&self) -> Option<u64> {
        self.newest.as_ref().map(|(total, _)| *total)
    }

    /// The message at `at` was shortened by `weight`.
    pub fn lose(&mut self, at: Pos, weight: Weight) {
        self.weight = self.weight.saturating_sub(weight);
        if let Some(report) = self.report.as_mut().filter(|report| at <= report.at) {
            report.counted = report.counted.saturating_sub(weight);
        }
    }

    /// The scaled total with what stands `before` and `after` the messages, each `(messages, weight)`.
    pub fn total(&self, before: (u64, Weight), after: (u64, Weight)) -> u64 {
        let total = before.1 + self.weight + after.1;
        let messages = before.0 + self.messages + after.0;
        match self.report {
            Some(report)
                if messages > 1
                    && self.provider.is_some()
                    && !self.is_mixed
                    && before.1 + report.counted > 0 =>
            {
                let factor = report.total as f64 / (before.1 + report.counted) as f64;
                (total as f64 * factor.clamp(FACTORS.0, FACTORS.1)).ceil() as u64
            }
            _ => total,
        }
    }

    /// What the newest assistant message reported, if it is by this provider. Nobody knows without one.
    pub fn reported(&self, provider: Option<&str>) -> Option<u64> {
        let (total, by) = self.newest.as_ref()?;
        is_same_provider(provider?, by).then_some(*total)
    }
}

/// Whether a model of `provider` may have written what `by` reported: equal, or one of the names that the
/// original takes for the same.
fn is_same_provider(provider: &str, by: &str) -> bool {
    match provider {
        "amazon_bedrock" if matches!(by, "bedrock" | "bedrock_converse") => true,
        "openai-mantle" if by == "openai" => true,
        "anthropic-mantle" if by == "anthropic" => true,
        _ => provider == by,
    }
}

/// [`Scaling`] over a whole list: the total of `messages` with their LangChain weights, after `before` tokens of
/// tool definitions.
#[cfg(test)]
pub(crate) fn scaled_total<'a>(
    messages: impl IntoIterator<Item = (&'a MessageView, Weight)>,
    before: u64,
) -> u64 {
    let mut scaling = Scaling::default();
    for (at, (message, weight)) in messages.into_iter().enumerate() {
        scaling.add(at, message, weight, true);
    }
    scaling.total((0, before), (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_provider() {
        for (model, by, expect) in [
            ("openai", "openai", true),
            ("openai", "anthropic", false),
            ("amazon_bedrock", "bedrock_converse", true),
            ("bedrock", "amazon_bedrock", false),
            ("openai-mantle", "openai", true),
            ("anthropic-mantle", "anthropic", true),
        ] {
            assert_eq!(is_same_provider(model, by), expect, "{model} {by}");
        }
    }
}
