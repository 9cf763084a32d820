//! The fuzz targets as plain tests: the committed corpus, and changed copies of it from a seed.
//!
//! `CONSPECTUS_FUZZ_RUNS=100000 cargo test --release -p conspectus-testkit fuzz` for a long run.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use conspectus_testkit::fuzz::{TARGETS, mutated};
use conspectus_testkit::rng::Rng;

/// Everything in a target's folder, in the order of the names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("read").path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name().expect("named").to_string_lossy();
        (name.into_owned(), fs::read(path).expect("read"))
    };
    paths.iter().map(read).collect()
}

fn check(target: &str) {
    let run = TARGETS
        .iter()
        .find(|(name, _)| *name == target)
        .expect("a target")
        .1;
    let corpus = corpus(target);
    assert!(corpus.len() >= 3, "{target} has a corpus");
    for (name, data) in &corpus {
        let done = catch_unwind(|| run(data));
        assert!(done.is_ok(), "{target}/{name}");
    }
    let runs = std::env::var_os("CONSPECTUS_FUZZ_RUNS");
    let runs: u64 = runs.and_then(|n| n.to_str()?.parse().ok()).unwrap_or(300);
    let seeds: Vec<Vec<u8>> = corpus.into_iter().map(|(_, data)| data).collect();
    for seed in 0..runs {
        let data = mutated(&mut Rng::new(seed), target, &seeds);
        let done = catch_unwind(|| run(&data));
        let shown = String::from_utf8_lossy(&data);
        assert!(done.is_ok(), "{target}, seed {seed}: {shown:?}");
    }
}

macro_rules! targets {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

targets!(
    openai, anthropic, langchain, claude, gemini, gemini_cli, copilot, cline, pi, openhands,
    swe_agent, inspect, goose, neutral, detect, splice, config, frame, answer
);
