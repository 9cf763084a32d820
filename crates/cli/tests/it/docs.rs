//! The runs that `docs/cli.md` and `README.md` show are real: each is made again and compared.
//!
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-cli docs` writes what is printed now into the documents.

use std::fs;
use std::path::Path;

use crate::support::{EXAMPLES, Place, Ran};

const OPEN: &str = "```console\n";
const CLOSE: &str = "```\n";

#[test]
fn the_runs_are_real() {
    check("docs/cli.md");
    check("README.md");
    check("docs/cost.md");
}

fn check(document: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(document);
    let text = fs::read_to_string(&path).expect("the document");
    let now = run_again(&text);
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        fs::write(&path, now).expect("written");
        return;
    }
    let changed = text.lines().zip(now.lines()).find(|(was, is)| was != is);
    assert!(
        text == now,
        "{document}: set CONSPECTUS_UPDATE_DOCS=1 to take over what is printed now; first change: {changed:#?}"
    );
}

/// The document with every run made again, in a directory with the examples.
fn run_again(text: &str) -> String {
    let place = Place::with(&EXAMPLES.map(|(name, _)| name));
    let mut out = String::new();
    let mut rest = text;
    let mut runs = 0;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (block, after) = after.split_once(CLOSE).expect("a block that ends");
        out.extend([before, OPEN]);
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            out.push_str(&format!("$ {command}\n"));
            let mut words = command.split_whitespace();
            assert_eq!(words.next(), Some("conspectus"));
            let words: Vec<&str> = words.collect();
            let ran: Ran = place.run(&words);
            out.push_str(&ran.out);
            out.push_str(&ran.err);
            if ran.code != 0 {
                out.push_str(&format!("(exit code {})\n", ran.code));
            }
            runs += 1;
        }
        out.push_str(CLOSE);
        rest = after;
    }
    assert!(runs > 0, "the document shows runs");
    out + rest
}
