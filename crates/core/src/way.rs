//! How a model is asked for a summary: the conversation once more with an instruction behind it, or a transcript of what
//! goes. One rule decides, for the attempt that asks and for whoever reckons what asking costs.
//!
//! `strategy: auto` replays where all of this holds, and says which of it did not:
//!
//! 1. the host can write the request ([`Route::replay`]);
//! 2. the model is the one that the conversation runs on: another has nothing in its cache, and what was said to one
//!    provider is not handed to the next in one piece;
//! 3. conversation, instruction and summary fit its window;
//! 4. it costs no more than a transcript. Without prices: the provider's cache is warm.
//!
//! `strategy: replay` asks for the first three only. A preset that follows a peer may name another model (`nous`), which
//! its policy warns of.

use serde::{Deserialize, Serialize};

use crate::cost::{SummaryCall, Warmth, cheaper_call};
use crate::effect::Route;
use crate::policy::{Policy, Preset, Strategy, WindowSource};

/// What the frame of a document and the words that ask for a better answer take at most.
pub(crate) const OVERHEAD_TOKENS: u64 = 96;

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The strategy of the policy.
    Told,
    /// The host has no request of this conversation that this model would take.
    NotPossible,
    /// It is not the model that the conversation runs on.
    OtherModel,
    /// The conversation with instruction and summary does not fit the model.
    TooLarge,
    /// It is the cheaper way.
    Price,
    /// The provider's cache holds the conversation, or it does not or nobody knows; prices are unknown.
    Cache,
    /// The conversation was sent, and the model or its server did not take it.
    Refused,
}

/// Sizes in tokens, before anything is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The whole request.
    pub conversation: u64,
    /// What goes.
    pub folded: u64,
    /// The instruction.
    pub instruction: u64,
    /// The most that the reply may hold.
    pub summary: u64,
}

/// Whether the conversation is replayed to this model, and what decided that.
pub fn replays(policy: &Policy, route: &Route, sizes: &Sizes, warmth: Warmth) -> (bool, Why) {
    let strategy = policy.summary.strategy;
    if !matches!(strategy, Strategy::Auto | Strategy::Replay) {
        return (false, Why::Told);
    }
    if !route.replay {
        return (false, Why::NotPossible);
    }
    let is_run = route.model.is_none() || route.model == policy.cost.model;
    let is_named = strategy == Strategy::Replay && policy.preset == Preset::Nous;
    if !is_run && !is_named {
        return (false, Why::OtherModel);
    }
    let input = sizes
        .conversation
        .saturating_add(sizes.instruction)
        .saturating_add(OVERHEAD_TOKENS);
    let window = match policy.window_source {
        WindowSource::Assumed => u64::MAX,
        _ if !is_run => u64::MAX,
        _ => policy.window,
    };
    if input > route.max_input || input.saturating_add(sizes.summary) > window {
        return (false, Why::TooLarge);
    }
    if strategy == Strategy::Replay {
        return (true, Why::Told);
    }
    let prices = policy.cost.prices_of(route.model.as_deref());
    match (policy.cost.prices, prices) {
        (Some(run), Some(writer)) => {
            let call = cheaper_call(
                sizes.conversation,
                sizes.folded,
                sizes.instruction,
                sizes.summary,
                &run,
                &writer,
                warmth,
            );
            (matches!(call, SummaryCall::Replay { .. }), Why::Price)
        }
        _ => (warmth == Warmth::Warm, Why::Cache),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::policy::{ModelProfile, Options, Prices, Rates};

    const PRICES: Prices = Prices {
        rates: Rates {
            input: 4_000_000,
            output: 20_000_000,
            cache_read: 400_000,
            cache_write: 5_000_000,
        },
        long: None,
    };

    /// The conversation runs on `run` with a window of 100k; 60k of it were sent, 40k go.
    #[test]
    fn the_way_and_why() {
        use Strategy::{Auto, Replay, Transcript};
        let policy = |strategy, preset, prices, window: Option<u64>| {
            let options = Options {
                preset,
                strategy: Some(strategy),
                model: (preset == Preset::Nous).then(|| "other".into()),
                ..Options::default()
            };
            let model = ModelProfile {
                name: Some("run".into()),
                window,
                prices,
                ..ModelProfile::default()
            };
            Policy::resolve(&options, &model)
                .expect("it can work")
                .policy
        };
        let route = |model: Option<&str>, replay, max_input| Route {
            model: model.map(Arc::from),
            replay,
            max_input,
            max_output: 4_000,
            takes_schema: false,
        };
        let sizes = Sizes {
            conversation: 60_000,
            folded: 40_000,
            instruction: 400,
            summary: 2_000,
        };
        let window = Some(100_000);
        let own = Preset::Default;
        let (warm, cold) = (Warmth::Warm, Warmth::Cold);
        for (policy, route, sizes, warmth, expect) in [
            // the strategy
            (
                policy(Transcript, own, Some(PRICES), window),
                route(None, true, 90_000),
                sizes,
                warm,
                (false, Why::Told),
            ),
            (
                policy(Replay, own, Some(PRICES), window),
                route(None, true, 90_000),
                sizes,
                cold,
                (true, Why::Told),
            ),
            // what the host can
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, false, 90_000),
                sizes,
                warm,
                (false, Why::NotPossible),
            ),
            (
                policy(Replay, own, Some(PRICES), window),
                route(None, false, 90_000),
                sizes,
                warm,
                (false, Why::NotPossible),
            ),
            // the model
            (
                policy(Auto, own, Some(PRICES), window),
                route(Some("run"), true, 90_000),
                sizes,
                warm,
                (true, Why::Price),
            ),
            (
                policy(Auto, own, Some(PRICES), window),
                route(Some("other"), true, 90_000),
                sizes,
                warm,
                (false, Why::OtherModel),
            ),
            (
                policy(Replay, own, Some(PRICES), window),
                route(Some("other"), true, 90_000),
                sizes,
                warm,
                (false, Why::OtherModel),
            ),
            (
                policy(Replay, Preset::Nous, None, window),
                route(Some("other"), true, 90_000),
                sizes,
                cold,
                (true, Why::Told),
            ),
            (
                policy(Auto, Preset::Nous, None, window),
                route(Some("other"), true, 90_000),
                sizes,
                warm,
                (false, Why::OtherModel),
            ),
            // its window
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 60_496),
                sizes,
                warm,
                (true, Why::Price),
            ),
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 60_495),
                sizes,
                warm,
                (false, Why::TooLarge),
            ),
            (
                policy(Replay, own, Some(PRICES), window),
                route(None, true, 60_495),
                sizes,
                warm,
                (false, Why::TooLarge),
            ),
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 200_000),
                Sizes {
                    conversation: 97_504,
                    ..sizes
                },
                warm,
                (true, Why::Price),
            ),
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 200_000),
                Sizes {
                    conversation: 97_505,
                    ..sizes
                },
                warm,
                (false, Why::TooLarge),
            ),
            (
                policy(Auto, own, None, None),
                route(None, true, 200_000),
                Sizes {
                    conversation: 150_000,
                    ..sizes
                },
                warm,
                (true, Why::Cache),
            ),
            // price and cache
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 90_000),
                sizes,
                cold,
                (false, Why::Price),
            ),
            (
                policy(Auto, own, Some(PRICES), window),
                route(None, true, 90_000),
                Sizes {
                    folded: 5_000,
                    ..sizes
                },
                warm,
                (false, Why::Price),
            ),
            (
                policy(Auto, own, None, window),
                route(None, true, 90_000),
                sizes,
                warm,
                (true, Why::Cache),
            ),
            (
                policy(Auto, own, None, window),
                route(None, true, 90_000),
                sizes,
                cold,
                (false, Why::Cache),
            ),
        ] {
            let got = replays(&policy, &route, &sizes, warmth);
            assert_eq!(
                got, expect,
                "{:?} {route:?} {sizes:?} {warmth:?}",
                policy.summary
            );
        }
    }
}
