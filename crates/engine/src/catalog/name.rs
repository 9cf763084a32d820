//! From the names that occur to the names of the table.

/// What the variant `[1m]` of a client's model name means.
pub(super) const LONG_WINDOW: u64 = 1_000_000;

/// Words behind a colon that say how a model is served, not which it is.
const VARIANTS: [&str; 10] = [
    "free",
    "thinking",
    "beta",
    "extended",
    "nitro",
    "floor",
    "online",
    "exacto",
    "discounted",
    "cloud",
];

/// Regions before a vendor, as one cloud writes them.
const REGIONS: [&str; 9] = [
    "us", "eu", "apac", "ap", "au", "jp", "ca", "global", "us-gov",
];

/// Vendors before a dot, as one cloud writes them.
const VENDORS: [&str; 16] = [
    "anthropic",
    "amazon",
    "meta",
    "mistral",
    "cohere",
    "ai21",
    "deepseek",
    "openai",
    "qwen",
    "google",
    "nvidia",
    "moonshot",
    "moonshotai",
    "minimax",
    "zai",
    "writer",
];

/// Words at the end that seldom change the window. Tried only when nothing else fits.
const ENDINGS: [&str; 15] = [
    "latest",
    "preview",
    "thinking",
    "reasoning",
    "fast",
    "high",
    "medium",
    "low",
    "minimal",
    "xhigh",
    "max",
    "exp",
    "experimental",
    "online",
    "beta",
];

/// Hosts by the names that others give them.
const HOSTS: [(&str, &str); 12] = [
    ("bedrock", "amazon-bedrock"),
    ("aws", "amazon-bedrock"),
    ("azure_ai", "azure"),
    ("azure-openai", "azure"),
    ("vertex", "google-vertex"),
    ("vertex_ai", "google-vertex"),
    ("copilot", "github-copilot"),
    ("github_copilot", "github-copilot"),
    ("together", "togetherai"),
    ("together_ai", "togetherai"),
    ("fireworks", "fireworks-ai"),
    ("fireworks_ai", "fireworks-ai"),
];

/// The table's name of a host.
pub(super) fn host(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let known = HOSTS.iter().find(|(other, _)| *other == name);
    known.map_or(name.clone(), |(_, ours)| (*ours).to_owned())
}

/// Who may host it, by the segments before the name.
pub(super) fn hosts(model: &str) -> impl Iterator<Item = &str> {
    let before = model.rsplit_once('/').map_or("", |(before, _)| before);
    before.split('/').filter(|segment| !segment.is_empty())
}

/// Whether the client asks for the larger window by its name.
pub(super) fn is_long_variant(model: &str) -> bool {
    model.trim_end().to_ascii_lowercase().ends_with("[1m]")
}

/// The key of a name, as `scripts/update-catalog.py` makes it.
pub(super) fn fold(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    let name = match name.rsplit_once(':') {
        Some((model, variant)) if VARIANTS.contains(&variant) => model,
        _ => name,
    };
    let without_region = after_word(name, &REGIONS).unwrap_or(name);
    let bare = after_word(without_region, &VENDORS).unwrap_or(without_region);
    let bare = if bare.len() < name.len() {
        without_version(bare)
    } else {
        bare
    };
    let mut key = String::with_capacity(bare.len());
    for c in bare.chars() {
        match c {
            'a'..='z' | '0'..='9' => key.push(c),
            _ if key.is_empty() || key.ends_with('-') => {}
            _ => key.push('-'),
        }
    }
    key.truncate(key.trim_end_matches('-').len());
    key
}

/// What stands behind `word.`.
fn after_word<'a>(name: &'a str, words: &[&str]) -> Option<&'a str> {
    let (word, rest) = name.split_once('.')?;
    words.contains(&word).then_some(rest)
}

/// Without `-v1:0` or `-v2`.
fn without_version(name: &str) -> &str {
    let Some((model, version)) = name.rsplit_once("-v") else {
        return name;
    };
    let is_version = |c: char| c.is_ascii_digit() || matches!(c, ':' | 'k');
    let fits = version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(is_version);
    if fits { model } else { name }
}

/// The keys that a name may have, the exact one first.
pub(super) fn candidates(model: &str) -> impl Iterator<Item = String> {
    let exact = fold(model);
    let mut found = vec![exact.clone()];
    let mut rest: &str = &exact;
    // Gateways put their name before others' models.
    for gateway in ["openrouter-", "azure-", "bedrock-", "vertex-", "litellm-"] {
        rest = rest.strip_prefix(gateway).unwrap_or(rest);
    }
    // A version, a date and a word or two at the end.
    for _ in 0..4 {
        found.push(rest.to_owned());
        let Some(shorter) = without_date(rest).or_else(|| without_ending(rest)) else {
            break;
        };
        rest = shorter;
    }
    found.push(rest.to_owned());
    found.dedup();
    found.into_iter().filter(|key| !key.is_empty())
}

/// Without `-20250514`, `-2024-08-06`, `-0613`, `-251201` or `-001`.
fn without_date(key: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let (before, last) = key.rsplit_once('-')?;
    if let Some((before, month)) = before.rsplit_once('-')
        && let Some((before, year)) = before.rsplit_once('-')
        && digits(last, 2)
        && digits(month, 2)
        && digits(year, 4)
    {
        return Some(before);
    }
    let fits = [3, 4, 6, 8].into_iter().any(|n| digits(last, n));
    fits.then_some(before)
}

fn without_ending(key: &str) -> Option<&str> {
    let (before, last) = key.rsplit_once('-')?;
    let is_version = |word: &str| {
        let number = word.strip_prefix('v');
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    (ENDINGS.contains(&last) || is_version(last)).then_some(before)
}
