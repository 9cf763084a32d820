//! `eval`.

use crate::support::Place;

const NAMES: [&str; 5] = ["keep-last", "masking", "digest", "random lines", "oracle"];
/// What only several compactions tell apart.
const CHAINED: &str = "digest of digests";

#[test]
fn all_ways_at_equal_sizes_and_the_digest_above_keeping_the_last() {
    let place = Place::with(&["claude-code.jsonl"]);
    let (code, report) = place.json(&["eval", "claude-code.jsonl", "--budget", "5,20"]);
    assert_eq!(code, 0);
    let rows = report["results"].as_array().expect("a list");
    assert_eq!(
        rows.len(),
        2 * (2 * NAMES.len() + 1),
        "sizes, once and five times, ways"
    );
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64().expect("a number");
    for row in rows {
        let percent = number(row, "budget_percent");
        let most = number(row, "tokens_before") * percent / 100.0;
        assert!(number(row, "tokens") <= most, "{row}");
        let method = row["method"].as_str().expect("a name");
        assert!(NAMES.contains(&method) || method == CHAINED && row["compactions"] == 5);
    }
    let names = |method: &str, compactions: u64| {
        let row = rows.iter().find(|row| {
            row["method"] == method
                && row["compactions"] == compactions
                && row["budget_percent"] == 5
        });
        number(row.expect("a row"), "names")
    };
    for compactions in [1, 5] {
        assert!(names("digest", compactions) > names("keep-last", compactions));
        assert!(names("digest", compactions) > names("random lines", compactions));
    }
}

#[test]
fn figures_and_a_chart_go_to_files_that_are_not_replaced_unasked() {
    let place = Place::with(&["openai.json"]);
    let args = ["eval", "openai.json", "--csv", "a.csv", "--svg", "a.svg"];
    place.run(&args).done().says("openai  2 cuts, at 5%");
    let csv = String::from_utf8(place.read("a.csv")).expect("text");
    assert!(
        csv.starts_with("source,budget_percent,compactions,method,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1 + 3 * (2 * NAMES.len() + 1));
    let svg = String::from_utf8(place.read("a.svg")).expect("text");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(NAMES.iter().all(|name| svg.contains(name)));
    place.write("a.svg", b"mine");
    place
        .run(&["eval", "openai.json", "--svg", "a.svg"])
        .failed(
            5,
            "error: a.svg: is already there and was left alone; use --overwrite to replace it\n",
        );
    assert_eq!(place.read("a.svg"), b"mine");
}

#[test]
fn what_is_too_short_is_said() {
    let place = Place::new();
    let short = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]"#;
    place.write("short.json", short);
    place.run(&["eval", "short.json"]).failed(
        4,
        "error: nothing to measure: 1 conversation is too short, or nothing in it is needed later; name sessions of \
         12 groups of messages or more\n",
    );
    let none = place.run(&["eval", "short.json", "--budget", "0"]);
    assert_eq!(none.code, 2, "{}", none.err);
}
