//! How providers keep the beginning of a request: how long, from which size on, and what is usual for reading and
//! writing it. What the table of models says about prices goes before.

use conspectus_core::policy::PrefixCache;

/// One family of models.
pub(super) struct Rules {
    /// Lifetime and smallest size.
    pub(super) cache: PrefixCache,
    /// The price of what is found there, in thousandths of the input price.
    pub(super) read_permille: u64,
    /// The price of what is put there.
    pub(super) write_permille: u64,
}

const MINUTE_MS: u64 = 60_000;

/// What names begin with or hold, and the rules; the first that fits. Minima differ between models of a family: these are
/// the smallest, since a prefix that is thought to be kept and is not costs less than the other way round.
const FAMILIES: [(&[&str], Rules); 6] = [
    // Refreshed by each use. An hour can be had, at twice the price of input for writing.
    (&["claude", "anthropic"], rules(5, 512, 100, 1250)),
    // Kept half an hour and written at a surcharge, from this version on.
    (&["gpt-5-6", "gpt-5-7", "gpt-6"], rules(30, 1024, 100, 1250)),
    (&["gpt-5"], rules(5, 1024, 100, 1000)),
    (
        &["gpt", "openai", "chatgpt", "codex", "o1", "o3", "o4"],
        rules(5, 1024, 500, 1000),
    ),
    // Without a promise.
    (&["gemini", "google"], rules(5, 1024, 100, 1000)),
    // On disk, for hours.
    (&["deepseek"], rules(120, 64, 100, 1000)),
];

const fn rules(
    minutes: u64,
    minimum_tokens: u64,
    read_permille: u64,
    write_permille: u64,
) -> Rules {
    Rules {
        cache: PrefixCache {
            ttl_ms: minutes * MINUTE_MS,
            minimum_tokens,
        },
        read_permille,
        write_permille,
    }
}

/// The rules for a model or a provider, by its name.
pub(super) fn of(name: &str) -> Option<&'static Rules> {
    let name = super::name::fold(name);
    let fits = |(words, _): &&(&[&str], Rules)| words.iter().any(|word| name.starts_with(word));
    FAMILIES.iter().find(fits).map(|(_, rules)| rules)
}
