//! Every name of a model that occurs in the real sessions is in the catalog, or listed here as unknown.

use std::collections::{BTreeMap, BTreeSet};

use conspectus::catalog::look_up;
use conspectus_judge::sessions::{files, shared};

/// Made up by fixtures, aliases that a client resolves, and what other companies call models of their own.
const UNKNOWN: &[&str] = &[
    "aide-gpt-5",
    "codex-auto-review",
    "coder-model",
    "cursor-auto",
    "default",
    "droid-model",
    "gmini-pro",
    "openclaw-large",
    "openclaw-small",
    "pi-fixture-model",
    "sonnet",
    "synthetic-active-model",
    "synthetic-dead-model",
    "synthetic-glued-model",
    "synthetic-model",
    "<synthetic>",
];

const KEYS: [&str; 6] = [
    "\"model\"",
    "\"model_name\"",
    "\"modelID\"",
    "\"model_id\"",
    "\"modelId\"",
    "\"currentModel\"",
];

/// The strings that stand behind one of the keys.
fn names(text: &str) -> BTreeSet<&str> {
    let of_key = |key: &str| {
        let rests: Vec<&str> = text
            .match_indices(key)
            .map(|(at, _)| &text[at + key.len()..])
            .collect();
        rests.into_iter().filter_map(|rest| {
            let rest = rest
                .trim_start()
                .strip_prefix(':')?
                .trim_start()
                .strip_prefix('"')?;
            let name = &rest[..rest.find('"')?];
            (name.len() < 120 && !name.contains(['\\', ' '])).then_some(name)
        })
    };
    KEYS.iter()
        .flat_map(|key| of_key(key))
        .filter(|n| !n.is_empty())
        .collect()
}

#[test]
fn every_model_of_the_real_sessions_is_known_or_listed() {
    let Some(folder) = shared() else {
        println!("shared data not found, 1 check left out");
        return;
    };
    let mut found: BTreeMap<String, Option<(&str, u64)>> = BTreeMap::new();
    for path in files(&folder.join("data")).expect("listed") {
        let bytes = std::fs::read(&path).expect("readable");
        for name in names(&String::from_utf8_lossy(&bytes)) {
            let known = || look_up(name, None).map(|known| (known.key, known.window));
            found.entry(name.to_owned()).or_insert_with(known);
        }
    }
    let unknown: Vec<&String> = found
        .iter()
        .filter(|(_, known)| known.is_none())
        .map(|(name, _)| name)
        .collect();
    let surprising: Vec<_> = unknown
        .iter()
        .filter(|name| !UNKNOWN.contains(&name.as_str()))
        .collect();
    assert!(
        surprising.is_empty(),
        "neither known nor listed: {surprising:?}"
    );
    let stale: Vec<_> = UNKNOWN
        .iter()
        .filter(|name| found.get(**name).is_some_and(Option::is_some))
        .collect();
    assert!(stale.is_empty(), "listed, but known: {stale:?}");
    assert!(found.len() > 50, "{found:?}");
    for (name, known) in &found {
        println!("{name}: {known:?}");
    }
}
