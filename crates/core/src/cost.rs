//! What a change of the request costs now, what it saves with every later call, and when that is even.
//!
//! Providers keep the beginning of a request and charge a fraction for what they find there again. A compaction
//! throws most of that away: what follows the first change is sent, and often stored, anew. So it is a small
//! investment, and this is its arithmetic. With P the tokens of the beginning that stays the same, H those behind it,
//! S the summary, K what is kept of H; p and p_o the prices of input and output, r and w those of the
//! cache as multiples of p:
//!
//! ```text
//! summary call   r(P+H)p + S p_o     the same model is asked, its cache warm
//!                H p' + S p_o'       another model is given a transcript
//! extra now      summary call + [rP + w(S+K) − r(P+H)] p      warm
//!                summary call + [w(P+S+K) − w(P+H)] p         cold
//! saving a call  r(H − S − K) p
//! break-even     1 + extra / saving calls
//! ```
//!
//! Everything is a whole number: tokens times micro-dollars a million tokens are pico-dollars.

use serde::{Deserialize, Serialize};

use crate::effect::Millis;
use crate::policy::{PrefixCache, Prices, Rates};

/// Whether the provider still holds the beginning of the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmth {
    /// It does.
    Warm,
    /// It does not, or nobody knows.
    #[default]
    Cold,
}

impl Warmth {
    /// By the time since the last request, which had so many tokens. Unknown is cold: nothing says that there is something to lose. So hosts
    /// that tell no times get the ladder as it is, and never a compaction that waits.
    pub fn since(
        last_request: Option<Millis>,
        now: Millis,
        cache: Option<PrefixCache>,
        tokens: u64,
    ) -> Self {
        match (last_request, cache) {
            (Some(last), Some(cache))
                if now.saturating_sub(last) < cache.ttl_ms && tokens >= cache.minimum_tokens =>
            {
                Self::Warm
            }
            _ => Self::Cold,
        }
    }
}

/// Sizes of a request before and after a change, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Change {
    /// The beginning that stays the same, byte for byte: P.
    pub same: u64,
    /// What stands behind it now: H.
    pub before: u64,
    /// What will stand there: S + K.
    pub after: u64,
}

/// The call that writes the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SummaryCall {
    /// None: shortening alone, or the digest.
    None,
    /// The conversation is sent once more, with so many tokens of instruction behind it.
    Replay {
        /// Tokens of the instruction.
        instruction: u64,
        /// Tokens of the summary.
        summary: u64,
    },
    /// A transcript goes to a model with prices of its own.
    Transcript {
        /// Tokens of transcript and instruction.
        input: u64,
        /// Tokens of the summary.
        summary: u64,
        /// That model's prices.
        prices: Prices,
    },
}

/// What a change comes to. Amounts are in micro-dollars, rounded to the nearest; below nothing means saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// Whether the provider's cache was taken to hold the request.
    pub warmth: Warmth,
    /// Tokens behind the first change: what the cache holds of them is of no use any more.
    pub tokens_invalidated: u64,
    /// Tokens that each later request is smaller by.
    pub tokens_saved: u64,
    /// What the summary call costs.
    pub call_micros: i64,
    /// What it costs in all by the next request, the summary call included.
    pub now_micros: i64,
    /// What each request after that saves.
    pub saved_micros: i64,
    /// After how many calls that is even, in tenths of a call; 0: at once. `None`: never.
    pub break_even_tenths: Option<u64>,
}

impl Cost {
    /// Whether it is even within so many calls.
    pub(crate) fn pays_within(&self, calls: u64) -> bool {
        self.break_even_tenths
            .is_some_and(|tenths| tenths <= calls.saturating_mul(10))
    }
}

/// What `change` costs and saves at these prices.
pub fn cost(change: Change, call: SummaryCall, prices: &Prices, warmth: Warmth) -> Cost {
    let before = change.same.saturating_add(change.before);
    let after = change.same.saturating_add(change.after);
    let (old, new) = (prices.at(before), prices.at(after));
    let call = match call {
        SummaryCall::None => 0,
        SummaryCall::Replay {
            instruction,
            summary,
        } => {
            let rates = prices.at(before.saturating_add(instruction));
            times(before, seen(rates, warmth))
                + times(instruction, rates.input)
                + times(summary, rates.output)
        }
        SummaryCall::Transcript {
            input,
            summary,
            prices,
        } => {
            let rates = prices.at(input);
            times(input, rates.input) + times(summary, rates.output)
        }
    };
    let next = times(change.same, seen(new, warmth)) + times(change.after, new.cache_write);
    let now = call + next - times(before, seen(old, warmth));
    let saving = times(before, old.cache_read) - times(after, new.cache_read);
    Cost {
        warmth,
        tokens_invalidated: change.before,
        tokens_saved: before.saturating_sub(after),
        call_micros: micros(call),
        now_micros: micros(now),
        saved_micros: micros(saving),
        break_even_tenths: break_even(now, saving),
    }
}

/// Which way of asking for a summary is cheaper, by its call alone: the conversation's own model by replay of `before`
/// tokens, or `writer` with a transcript of `folded` tokens. The instruction and the summary are the same for both. What
/// costs the same is replayed: that model sees all of it.
pub(crate) fn cheaper_call(
    before: u64,
    folded: u64,
    instruction: u64,
    summary: u64,
    run: &Prices,
    writer: &Prices,
    warmth: Warmth,
) -> SummaryCall {
    let replay = SummaryCall::Replay {
        instruction,
        summary,
    };
    let transcript = SummaryCall::Transcript {
        input: folded.saturating_add(instruction),
        summary,
        prices: *writer,
    };
    let all = Change {
        before,
        ..Change::default()
    };
    let micros = |call| cost(all, call, run, warmth).call_micros;
    if micros(replay) <= micros(transcript) {
        replay
    } else {
        transcript
    }
}

/// The price of tokens that were sent before.
fn seen(rates: Rates, warmth: Warmth) -> u64 {
    match warmth {
        Warmth::Warm => rates.cache_read,
        Warmth::Cold => rates.cache_write,
    }
}

/// `1 + now / saving` in tenths, to the nearest.
fn break_even(now: i128, saving: i128) -> Option<u64> {
    if now <= 0 {
        return Some(0);
    }
    if saving <= 0 {
        return None;
    }
    let tenths = 10 + (now * 20 + saving) / (saving * 2);
    Some(u64::try_from(tenths).unwrap_or(u64::MAX))
}

/// Pico-dollars. No window and no price is so large that a product of the two, or a sum of a few, leaves the type.
fn times(tokens: u64, price: u64) -> i128 {
    let most = u64::MAX >> 8;
    i128::from(tokens.min(most)) * i128::from(price.min(most))
}

/// Pico-dollars as micro-dollars, to the nearest.
fn micros(pico: i128) -> i64 {
    let half = if pico < 0 { -500_000 } else { 500_000 };
    let rounded = (pico + half) / 1_000_000;
    i64::try_from(rounded).unwrap_or(if pico < 0 { i64::MIN } else { i64::MAX })
}

/// What one call cost, in micro-dollars, by what its provider reported.
pub fn spent_micros(usage: &crate::view::Usage, prices: &Prices) -> u64 {
    let rates = prices.at(usage.input);
    let read = usage.cache_read.min(usage.input);
    let written = usage.cache_write.min(usage.input - read);
    let fresh = usage.input - read - written;
    let pico = times(fresh, rates.input)
        + times(read, rates.cache_read)
        + times(written, rates.cache_write)
        + times(usage.output, rates.output);
    u64::try_from(micros(pico)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Usage;

    /// `input` and `output` in tenths of a dollar a million tokens; `read` and `write` as multiples of input, in
    /// thousandths.
    fn prices(input: u64, output: u64, read: u64, write: u64) -> Prices {
        Prices::flat(Rates {
            input: input * 100_000,
            output: output * 100_000,
            cache_read: input * read * 100,
            cache_write: input * write * 100,
        })
    }

    const CHANGE: Change = Change {
        same: 15_000,
        before: 150_000,
        after: 22_000,
    };
    const REPLAY: SummaryCall = SummaryCall::Replay {
        instruction: 0,
        summary: 2_000,
    };

    fn transcript(prices: Prices) -> SummaryCall {
        SummaryCall::Transcript {
            input: CHANGE.before,
            summary: 2_000,
            prices,
        }
    }

    /// P = 15k, H = 150k, S = 2k, K = 20k: whole compactions by real prices.
    #[test]
    fn a_compaction_is_even_after_a_few_calls() {
        let opus_48 = prices(50, 250, 100, 1_250);
        let opus_55 = prices(40, 200, 50, 1_250);
        let haiku_45 = prices(10, 50, 100, 1_250);
        let haiku_55 = prices(1, 5, 100, 1_250);
        let sol_56 = prices(40, 200, 100, 1_250);
        let gpt_54 = prices(25, 150, 100, 1_000);
        let no_cache = prices(50, 250, 1_000, 1_000);
        for (prices, call, tenths, now) in [
            (opus_48, REPLAY, 40, 195_000),
            (opus_48, transcript(haiku_45), 45, 222_500),
            (opus_55, REPLAY, 70, 153_000),
            // 4.75, which rounds up
            (opus_55, transcript(haiku_55), 48, 96_000),
            (sol_56, REPLAY, 40, 156_000),
            (gpt_54, REPLAY, 38, 88_750),
            (no_cache, REPLAY, 14, 235_000),
        ] {
            let made = cost(CHANGE, call, &prices, Warmth::Warm);
            assert_eq!(made.break_even_tenths, Some(tenths), "{prices:?}");
            assert_eq!(made.now_micros, now, "{prices:?}");
            assert_eq!(
                (made.tokens_invalidated, made.tokens_saved),
                (150_000, 128_000)
            );
        }
        // Half price for what is cached, so there is less to lose.
        let gpt_4o = prices(25, 100, 500, 1_000);
        let change = Change {
            before: 90_000,
            ..CHANGE
        };
        let made = cost(change, REPLAY, &gpt_4o, Warmth::Warm);
        assert_eq!((made.now_micros, made.saved_micros), (93_750, 85_000));
        assert_eq!(made.break_even_tenths, Some(21));
        // Once the cache is cold, the smaller request is cheaper at once.
        let cold = cost(CHANGE, transcript(haiku_55), &opus_55, Warmth::Cold);
        assert_eq!(
            (cold.now_micros, cold.break_even_tenths),
            (-624_000, Some(0))
        );
        assert_eq!(cold.call_micros, 16_000);
    }

    /// Only results inside the history go: even after `(w − r) A / (r C)` calls for C tokens with A behind them.
    #[test]
    fn clearing_inside_the_history_seldom_pays_while_it_is_warm() {
        for (behind, cleared, read, write, calls) in [
            (50_000, 30_000, 100, 1_250, 192_u64),
            (50_000, 30_000, 50, 1_250, 400),
            (50_000, 30_000, 100, 1_000, 150),
            (50_000, 30_000, 500, 1_000, 17),
            (10_000, 100_000, 100, 1_250, 12),
        ] {
            let change = Change {
                same: 20_000,
                before: behind + cleared,
                after: behind,
            };
            let prices = prices(30, 150, read, write);
            let made = cost(change, SummaryCall::None, &prices, Warmth::Warm);
            // The next call is the first of these, and already the smaller one.
            let exact = (write - read) * behind * 10 / (read * cleared);
            assert!(calls.abs_diff(exact) <= 1, "{calls} and {exact}");
            let tenths = made.break_even_tenths.expect("it pays some day");
            assert!(tenths.abs_diff(calls) <= 1, "{tenths} and {calls}");
            let cold = cost(change, SummaryCall::None, &prices, Warmth::Cold);
            assert_eq!(cold.break_even_tenths, Some(0));
        }
    }

    #[test]
    fn the_cheaper_call() {
        let opus_48 = prices(50, 250, 100, 1_250);
        let opus_55 = prices(40, 200, 50, 1_250);
        let haiku_45 = prices(10, 50, 100, 1_250);
        let haiku_55 = prices(1, 5, 100, 1_250);
        for (run, writer, warmth, replays) in [
            (opus_48, opus_48, Warmth::Warm, true),
            (opus_48, opus_48, Warmth::Cold, false),
            // 0.1325 and 0.16 dollars
            (opus_48, haiku_45, Warmth::Warm, true),
            (opus_48, haiku_45, Warmth::Cold, false),
            (opus_55, haiku_55, Warmth::Warm, false),
            (Prices::default(), Prices::default(), Warmth::Cold, true),
        ] {
            let call = cheaper_call(165_000, 150_000, 0, 2_000, &run, &writer, warmth);
            let is_replay = matches!(call, SummaryCall::Replay { .. });
            assert_eq!(is_replay, replays, "{run:?} {writer:?} {warmth:?}");
        }
    }

    #[test]
    fn the_price_step_is_part_of_what_is_saved() {
        let rates = prices(25, 150, 100, 1_000).rates;
        let long = prices(50, 225, 100, 1_000).rates;
        let stepped = Prices {
            rates,
            long: Some((272_000, long)),
        };
        let change = Change {
            same: 10_000,
            before: 270_000,
            after: 30_000,
        };
        let made = cost(change, SummaryCall::None, &stepped, Warmth::Warm);
        // 280,000 at 0.50 dollars a million against 40,000 at 0.25
        assert_eq!(made.saved_micros, 140_000 - 10_000);
        let flat = cost(
            change,
            SummaryCall::None,
            &Prices::flat(rates),
            Warmth::Warm,
        );
        assert_eq!(flat.saved_micros, 60_000);
    }

    #[test]
    fn nothing_overflows_and_nothing_divides_by_zero() {
        let huge = Prices::flat(Rates {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write: u64::MAX,
        });
        let most = Change {
            same: u64::MAX,
            before: u64::MAX,
            after: u64::MAX,
        };
        let call = SummaryCall::Replay {
            instruction: u64::MAX,
            summary: u64::MAX,
        };
        cost(most, call, &huge, Warmth::Warm);
        let free = cost(CHANGE, REPLAY, &Prices::default(), Warmth::Warm);
        assert_eq!(free.break_even_tenths, Some(0));
        // A change that saves nothing never pays.
        let none = Change {
            after: CHANGE.before,
            ..CHANGE
        };
        let made = cost(none, REPLAY, &prices(30, 150, 100, 1_250), Warmth::Warm);
        assert_eq!(
            (made.break_even_tenths, made.pays_within(u64::MAX)),
            (None, false)
        );
    }

    #[test]
    fn warm_is_known_by_the_time() {
        let cache = Some(PrefixCache {
            ttl_ms: 300_000,
            minimum_tokens: 1024,
        });
        for (last, now, cache, expect) in [
            (Some(1_000), 300_999, cache, Warmth::Warm),
            (Some(1_000), 301_000, cache, Warmth::Cold),
            // a clock that went back
            (Some(1_000), 0, cache, Warmth::Warm),
            (None, 0, cache, Warmth::Cold),
            (Some(0), 0, None, Warmth::Cold),
        ] {
            assert_eq!(Warmth::since(last, now, cache, 5_000), expect);
        }
        let short = Warmth::since(Some(0), 0, cache, 1_023);
        assert_eq!(short, Warmth::Cold, "too short to be kept");
    }

    #[test]
    fn what_was_spent() {
        let usage = Usage {
            input: 100_000,
            output: 1_000,
            cache_read: 80_000,
            cache_write: 10_000,
            ..Usage::default()
        };
        // 10k at 3, 80k at 0.3, 10k at 3.75, 1k at 15 dollars a million
        assert_eq!(spent_micros(&usage, &prices(30, 150, 100, 1_250)), 106_500);
        let odd = Usage {
            input: 1,
            cache_read: 9,
            cache_write: 9,
            ..Usage::default()
        };
        assert_eq!(spent_micros(&odd, &prices(30, 150, 100, 1_250)), 0);
    }
}
