//! What a compaction costs and saves, for people.

use conspectus::core::cost::Cost;
use conspectus::core::policy::Rates;
use conspectus::{Both, Economics};

use super::{Style, Table, count, number, plain};

/// The lines below the totals of a plan.
pub(crate) fn cost(economics: &Economics, style: Style) -> String {
    let mut out = format!(
        "the provider's cache loses {} and keeps {}; each later request is {} smaller\n",
        count(economics.tokens_invalidated, "token"),
        number(economics.tokens_kept_cached),
        number(economics.tokens_saved),
    );
    let Some(as_made) = &economics.as_made else {
        let words = match &economics.model {
            Some(model) => format!(
                "what {} costs is not known; prices: in models: say it",
                plain(model)
            ),
            None => "what that comes to is not known: no model is named (--model NAME)".to_owned(),
        };
        out += &format!("{}\n", style.dim(&words));
        return out;
    };
    let mut table = Table::new("llrrl");
    let head = ["cost", "cache", "now", "a call saves", "even"];
    table.row(head.map(str::to_owned));
    let mut rows = |what: &str, both: &Both| {
        for (cache, cost) in [("warm", &both.warm), ("cold", &both.cold)] {
            table.row([
                what.to_owned(),
                cache.to_owned(),
                dollars(cost.now_micros),
                dollars(cost.saved_micros),
                even(cost),
            ]);
        }
    };
    match &economics.by_the_model {
        Some(by_the_model) => {
            rows("with the digest", as_made);
            rows("with a summary by the model", by_the_model);
        }
        None => rows("", as_made),
    }
    out += &table.text();
    if let (Some(model), Some(prices)) = (&economics.model, &economics.prices) {
        let line =
            |what: &str, rates: &Rates| style.dim(&format!("{what}: {}", these(rates))) + "\n";
        let what = format!("{}, a million tokens", plain(model));
        out += &line(&what, &prices.rates);
        if let Some((above, rates)) = &prices.long {
            out += &line(&format!("requests above {} tokens", number(*above)), rates);
        }
    }
    out
}

fn even(cost: &Cost) -> String {
    match cost.break_even_tenths {
        None => "never".to_owned(),
        Some(0) => "at once".to_owned(),
        Some(tenths) => format!("after {}.{} calls", number(tenths / 10), tenths % 10),
    }
}

/// Dollars a million tokens.
fn these(rates: &Rates) -> String {
    let dollars = |micros: u64| dollars(i64::try_from(micros).unwrap_or(i64::MAX));
    format!(
        "{} in, {} out, {} from the cache, {} into it",
        dollars(rates.input),
        dollars(rates.output),
        dollars(rates.cache_read),
        dollars(rates.cache_write)
    )
}

/// `$1.25`, `$0.0042`, `-$0.31`: cents, or as many digits as the first two that count need.
pub(crate) fn dollars(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let places = match micros {
        0 => return "$0".to_owned(),
        n if n >= 100_000 => 2,
        n if n >= 10_000 => 3,
        n if n >= 1_000 => 4,
        n if n >= 100 => 5,
        _ => 6,
    };
    let unit = 10_u64.pow(6 - places);
    let rounded = (part + unit / 2) / unit;
    let carry = 10_u64.pow(places);
    let (whole, rounded) = (whole + rounded / carry, rounded % carry);
    let width = usize::try_from(places).unwrap_or(2);
    format!("{sign}${}.{rounded:0width$}", number(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money() {
        for (micros, expect) in [
            (0, "$0"),
            (1, "$0.000001"),
            (42, "$0.000042"),
            (420, "$0.00042"),
            (4_250, "$0.0043"),
            (62_400, "$0.062"),
            (99_999, "$0.100"),
            (195_000, "$0.20"),
            (999_999, "$1.00"),
            (1_250_000, "$1.25"),
            (-624_000, "-$0.62"),
            (1_234_567_890, "$1,234.57"),
        ] {
            assert_eq!(dollars(micros), expect, "{micros}");
        }
    }
}
