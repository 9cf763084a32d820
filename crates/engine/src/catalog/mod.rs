//! Windows and prices of models, by the names that occur: from a kept table, without a network.
//!
//! [`look_up`] finds a row; [`complete`] fills in what a [`ModelProfile`] leaves open, so that what its owner said
//! wins. A model that is not in the table stays unknown: the policy then assumes a window and says so.
//!
//! ```
//! use conspectus::catalog;
//!
//! let known = catalog::look_up("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None).expect("in the table");
//! assert_eq!((known.key, known.window), ("claude-sonnet-4-5", 200_000));
//! assert!(catalog::look_up("a-model-of-our-own", None).is_none());
//! ```
//!
//! The table (`models.tsv`) is made by `scripts/update-catalog.py` from two data sets (`NOTICE.md`). It is text in the
//! program: a look-up is a few binary searches over its lines, and only the line that is found is read.

mod cache;
mod name;

use conspectus_core::policy::{ModelProfile, PrefixCache, Prices, Rates};

/// The table: comments, an empty line, then a row a line, sorted by name.
const TABLE: &str = include_str!("models.tsv");

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// Its name in the table.
    pub key: &'static str,
    /// The window in tokens.
    pub window: u64,
    /// The most that a request may hold, where that is told apart from the window.
    pub max_input: Option<u64>,
    /// The most that a reply may hold.
    pub max_output: Option<u64>,
    /// What it costs, where it is sold by the token. Cache prices that the data leave open are its provider's
    /// usual ones.
    pub prices: Option<Prices>,
    /// How its provider keeps prefixes.
    pub cache: Option<PrefixCache>,
}

/// Finds a model by the name that a request, a session or a configuration gives it: provider prefixes, regions,
/// dates, versions and variants (`openrouter/x/y:free`, `eu.anthropic.…-v1:0`, `…@20250514`, `models/…`) are seen
/// through. `provider`: who hosts it, where that is known; some hosts give less of a window.
pub fn look_up(model: &str, provider: Option<&str>) -> Option<Known> {
    let hosts: Vec<&str> = provider.into_iter().chain(name::hosts(model)).collect();
    let larger = name::is_long_variant(model);
    let line = name::candidates(model).find_map(|key| {
        let hosted = |host: &&str| row(&format!("{}/{key}", name::host(host)));
        hosts.iter().find_map(hosted).or_else(|| row(&key))
    })?;
    let mut known = Known::of(line)?;
    if larger {
        known.window = known.window.max(name::LONG_WINDOW);
    }
    Some(known)
}

/// Fills in what `profile` leaves open, by its name or by the `model` that its provider knows it by.
pub fn complete(
    profile: ModelProfile,
    model: Option<&str>,
    provider: Option<&str>,
) -> ModelProfile {
    let named = profile.name.clone();
    let Some(known) = model
        .or(named.as_deref())
        .and_then(|name| look_up(name, provider))
    else {
        return profile;
    };
    // Of a window that the owner knows better the table cannot say what a request may fill.
    let same_window = profile.window.is_none_or(|window| window == known.window);
    ModelProfile {
        window: profile.window.or(Some(known.window)),
        max_input: profile
            .max_input
            .or(known.max_input.filter(|_| same_window)),
        max_output: profile.max_output.or(known.max_output),
        prices: profile.prices.or(known.prices),
        cache: profile.cache.or(known.cache),
        ..profile
    }
}

/// The profile of a model of which only the name is known.
pub fn profile(model: &str, provider: Option<&str>) -> ModelProfile {
    let named = ModelProfile {
        name: Some(model.into()),
        ..ModelProfile::default()
    };
    complete(named, None, provider)
}

/// How the provider keeps prefixes, for models that only their owner knows. `None`: not known.
pub fn prefix_cache(provider: &str) -> Option<PrefixCache> {
    cache::of(provider).map(|rules| rules.cache)
}

/// Fills in cache prices that are not told, by what is usual for the model or its provider; else what is cached
/// costs what is not.
pub fn with_cache_prices(
    input: u64,
    output: u64,
    read: Option<u64>,
    write: Option<u64>,
    model: &str,
) -> Rates {
    let usual = cache::of(model);
    let share = |permille: Option<u64>| input * permille.unwrap_or(1000) / 1000;
    Rates {
        input,
        output,
        cache_read: read.unwrap_or_else(|| share(usual.map(|u| u.read_permille))),
        cache_write: write.unwrap_or_else(|| share(usual.map(|u| u.write_permille))),
    }
}

/// The rows, without the comments before them.
fn rows() -> &'static str {
    TABLE.split_once("\n\n").map_or("", |(_, rows)| rows)
}

/// The row with this key.
fn row(key: &str) -> Option<&'static str> {
    let rows = rows();
    let (mut from, mut to) = (0, rows.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let start = rows.as_bytes()[..middle]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let line = rows[start..].split('\n').next().unwrap_or("");
        match line.split('\t').next().unwrap_or("").cmp(key) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => from = (start + line.len() + 1).min(to),
            std::cmp::Ordering::Greater => to = start,
        }
    }
    None
}

impl Known {
    /// Reads a row. `None`: it is not one, which a test rules out.
    fn of(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let key = fields.next()?;
        let mut whole = || -> Option<u64> { fields.next()?.parse().ok() };
        let (window, max_input, max_output) = (whole()?, whole(), whole());
        let name = key.rsplit('/').next().unwrap_or(key);
        let rates = |fields: &mut dyn Iterator<Item = &str>| {
            let four = [(); 4].map(|()| fields.next().and_then(micros));
            let [input, output, read, write] = four;
            Some(with_cache_prices(input?, output?, read, write, name))
        };
        let prices = rates(&mut fields).map(|base| {
            let above = fields.next().and_then(|tokens| tokens.parse().ok());
            let long = above.and_then(|above| Some((above, rates(&mut fields)?)));
            Prices { rates: base, long }
        });
        Some(Self {
            key,
            window,
            max_input,
            max_output,
            prices,
            cache: cache::of(name).map(|rules| rules.cache),
        })
    }
}

/// Dollars as they are written, in micro-dollars.
fn micros(dollars: &str) -> Option<u64> {
    let (whole, part) = dollars.split_once('.').unwrap_or((dollars, ""));
    let part = format!("{part:0<6}");
    let whole: u64 = whole.parse().ok()?;
    Some(whole * 1_000_000 + part.get(..6)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests;
