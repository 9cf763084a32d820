//! The table of worked examples in `docs/cost.md` is what the arithmetic gives for the catalog's prices.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use conspectus::catalog::look_up;
use conspectus::core::cost::{Change, Cost, SummaryCall, Warmth, cost};
use conspectus::core::policy::Prices;

const BEGIN: &str = "cargo test -p conspectus cost -->\n";
const END: &str = "<!-- end -->";

const CHANGE: Change = Change {
    same: 15_000,
    before: 150_000,
    after: 22_000,
};
const SUMMARY: u64 = 2_000;

/// The model, the summary's writer (`None`: itself, by replay), and whether the cache is warm.
const ROWS: [(&str, Option<&str>, Warmth); 8] = [
    ("claude-opus-4-8", None, Warmth::Warm),
    ("claude-opus-4-8", Some("claude-haiku-4-5"), Warmth::Warm),
    ("claude-opus-4-8", Some("claude-haiku-4-5"), Warmth::Cold),
    ("claude-opus-5-5", None, Warmth::Warm),
    ("claude-sonnet-4-5", None, Warmth::Warm),
    ("gpt-5.6-sol", None, Warmth::Warm),
    ("gpt-5.4", None, Warmth::Warm),
    ("gemini-2.5-pro", None, Warmth::Warm),
];

fn prices(model: &str) -> Prices {
    let known = look_up(model, None).expect("in the catalog");
    known.prices.expect("sold by the token")
}

fn row(model: &str, writer: Option<&str>, warmth: Warmth) -> Cost {
    let call = match writer {
        None => SummaryCall::Replay {
            instruction: 0,
            summary: SUMMARY,
        },
        Some(writer) => SummaryCall::Transcript {
            input: CHANGE.before,
            summary: SUMMARY,
            prices: prices(writer),
        },
    };
    cost(CHANGE, call, &prices(model), warmth)
}

fn table() -> String {
    let mut out = "| model | summary by | cache | the call | extra now | saved a call | even after |\n|---|---|---|---|---|---|---|\n".to_owned();
    for (model, writer, warmth) in ROWS {
        let made = row(model, writer, warmth);
        let even = match made.break_even_tenths {
            None => "never".to_owned(),
            Some(0) => "at once".to_owned(),
            Some(tenths) => format!("{}.{} calls", tenths / 10, tenths % 10),
        };
        let dollars = |micros: i64| format!("{:.4}", micros as f64 / 1e6);
        let _ = writeln!(
            out,
            "| {model} | {} | {} | {} | {} | {} | {even} |",
            writer.unwrap_or("itself"),
            match warmth {
                Warmth::Warm => "warm",
                Warmth::Cold => "cold",
            },
            dollars(made.call_micros),
            dollars(made.now_micros),
            dollars(made.saved_micros),
        );
    }
    out
}

#[test]
fn the_table_in_the_document_about_cost_is_real() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cost.md");
    let text = fs::read_to_string(&path).expect("the document");
    let (before, rest) = text.split_once(BEGIN).expect("the mark");
    let (_, after) = rest.split_once(END).expect("the mark");
    let now = [before, BEGIN, &table(), END, after].concat();
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        fs::write(&path, now).expect("written");
        return;
    }
    assert!(
        text == now,
        "set CONSPECTUS_UPDATE_DOCS=1 to take over what it comes to now:\n{}",
        table()
    );
}
