//! The estimator's bounds (invariant 20: within [0.8, 1.5] over a kilobyte of one kind, within
//! [0.7, 2.0] for any text of 64 characters) against the exact count.
//!
//! `cargo test -p conspectus-tokens --features o200k --test it measured -- --nocapture` prints the ratios.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use conspectus_core::count::{Estimator, TokenCounter};

use crate::samples::{SAMPLES, at_least};

fn ratio(text: &str) -> f64 {
    let exact = conspectus_tokens::o200k();
    let guess = Estimator::new();
    guess.tokens(guess.text(text)) as f64 / exact.tokens(exact.text(text)) as f64
}

/// A generator of our own, so that the same texts come every time.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn of(&mut self, alphabet: &[char], length: usize) -> String {
        (0..length)
            .map(|_| alphabet[self.below(alphabet.len())])
            .collect()
    }
}

fn alphabet(ranges: &[(u32, u32)]) -> Vec<char> {
    ranges
        .iter()
        .flat_map(|&(first, last)| first..=last)
        .filter_map(char::from_u32)
        .collect()
}

/// Random characters of a script: worse than any real text.
fn random_kinds() -> Vec<(&'static str, Vec<char>)> {
    let letters = (0x61, 0x7a);
    let capitals = (0x41, 0x5a);
    let digits = (0x30, 0x39);
    vec![
        ("random letters", alphabet(&[letters])),
        (
            "random letters and blanks",
            alphabet(&[
                letters,
                letters,
                (32, 32),
                (32, 32),
                (32, 32),
                (32, 32),
                (32, 32),
                (32, 32),
            ]),
        ),
        ("random capitals", alphabet(&[capitals])),
        ("random mixed case", alphabet(&[letters, capitals])),
        (
            "base64",
            alphabet(&[letters, capitals, digits, (0x2b, 0x2b), (0x2f, 0x2f)]),
        ),
        ("hex", alphabet(&[digits, (0x61, 0x66)])),
        ("digits", alphabet(&[digits])),
        ("printable ASCII", alphabet(&[(0x20, 0x7e)])),
        (
            "punctuation",
            alphabet(&[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)]),
        ),
        ("random han", alphabet(&[(0x4e00, 0x9fa5)])),
        (
            "random kana",
            alphabet(&[(0x3041, 0x3096), (0x30a1, 0x30fa)]),
        ),
        ("random hangul", alphabet(&[(0xac00, 0xd7a3)])),
        (
            "random emoji",
            alphabet(&[(0x1f300, 0x1f64f), (0x1f680, 0x1f6c5)]),
        ),
        ("random faces", alphabet(&[(0x1f600, 0x1f64f)])),
        ("random cyrillic", alphabet(&[(0x410, 0x44f)])),
        ("random greek", alphabet(&[(0x3b1, 0x3c9)])),
        ("random hebrew", alphabet(&[(0x5d0, 0x5ea)])),
        ("random arabic", alphabet(&[(0x628, 0x63a), (0x641, 0x64a)])),
        ("random devanagari", alphabet(&[(0x905, 0x939)])),
        ("random thai", alphabet(&[(0xe01, 0xe30)])),
    ]
}

struct Spread(BTreeMap<String, (f64, f64)>);

impl Spread {
    fn add(&mut self, kind: &str, ratio: f64) {
        let entry = self.0.entry(kind.to_owned()).or_insert((ratio, ratio));
        *entry = (entry.0.min(ratio), entry.1.max(ratio));
    }

    #[expect(
        clippy::print_stdout,
        reason = "the measurement is what the test is run for"
    )]
    fn check(&self, what: &str, low: f64, high: f64) {
        for (kind, (least, most)) in &self.0 {
            println!("{what} {kind:28} {least:.2} {most:.2}");
        }
        let outside: Vec<_> = self
            .0
            .iter()
            .filter(|(_, r)| r.0 < low || r.1 > high)
            .collect();
        assert!(
            outside.is_empty(),
            "{what} outside [{low}, {high}]: {outside:?}"
        );
    }
}

#[test]
fn measured_on_a_kilobyte_of_each_kind() {
    let mut spread = Spread(BTreeMap::new());
    for (kind, text) in SAMPLES {
        spread.add(kind, ratio(&at_least(text, 1024)));
    }
    let mut rng = Rng(1);
    for (kind, alphabet) in random_kinds() {
        for _ in 0..20 {
            spread.add(kind, ratio(&rng.of(&alphabet, 1024)));
        }
    }
    spread.check("1 kB", 0.8, 1.5);
}

#[test]
fn measured_on_any_64_characters() {
    let mut spread = Spread(BTreeMap::new());
    for (kind, text) in SAMPLES {
        let chars: Vec<char> = at_least(text, 1024).chars().collect();
        for window in chars.windows(64) {
            spread.add(kind, ratio(&window.iter().collect::<String>()));
        }
    }
    let mut rng = Rng(2);
    for (kind, alphabet) in random_kinds() {
        for _ in 0..300 {
            spread.add(kind, ratio(&rng.of(&alphabet, 64)));
        }
    }
    spread.check("64 characters", 0.7, 2.0);
}

/// The folder with real sessions: `CONSPECTUS_SHARED`, or `shared` beside the project.
#[expect(clippy::disallowed_methods, reason = "where the test data is")]
fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var("CONSPECTUS_SHARED").map_or(beside, PathBuf::from);
    Some(shared.join("data")).filter(|data| data.is_dir())
}

#[test]
fn measured_on_real_sessions() {
    let Some(data) = shared_data() else {
        println!("shared data not found, 1 check left out");
        return;
    };
    let mut spread = Spread(BTreeMap::new());
    for source in std::fs::read_dir(data).expect("the folder can be listed") {
        let source = source.expect("the folder can be listed").path();
        let Ok(files) = std::fs::read_dir(&source) else {
            continue;
        };
        let mut text = String::new();
        for file in files {
            let bytes = std::fs::read(file.expect("the folder can be listed").path());
            let bytes = bytes.unwrap_or_default();
            // Enough of each: an unoptimised tokenizer is slow.
            text.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(60_000)]));
        }
        if text.len() > 1024 {
            spread.add(
                &source.file_name().unwrap_or_default().to_string_lossy(),
                ratio(&text),
            );
        }
    }
    spread.check("real", 0.8, 1.5);
}
