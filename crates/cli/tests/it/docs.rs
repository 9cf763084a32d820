//! The runs that `docs/cli.md`, `docs/guide.md` and `README.md` show are real: each is made again and compared.
//!
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-cli docs` writes what is printed now into the documents.

use std::fs;
use std::path::Path;

use crate::support::{EXAMPLES, Place, Ran};

const OPEN: &str = "```console\n";
const CLOSE: &str = "```\n";

#[test]
fn the_runs_are_real() {
    for document in ["docs/cli.md", "README.md", "docs/guide.md", "docs/cost.md"] {
        check(document, |text| run_again(text, OPEN, str::to_owned));
    }
}

/// Compares a document with itself after its runs, or writes it.
pub(crate) fn check(document: &str, again: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(document);
    let text = fs::read_to_string(&path).expect("the document");
    let now = again(&text);
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

/// The document with every run of the blocks that begin with `open` made again, in a directory with the examples.
pub(crate) fn run_again(text: &str, open: &str, steady: impl Fn(&str) -> String) -> String {
    run_so(text, open, steady, |place, command| {
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("conspectus"));
        let words: Vec<&str> = words.collect();
        place.run(&words)
    })
}

/// The same, with another way to run a command.
pub(crate) fn run_so(
    text: &str,
    open: &str,
    steady: impl Fn(&str) -> String,
    run: impl Fn(&Place, &str) -> Ran,
) -> String {
    let place = Place::with(&EXAMPLES.map(|(name, _)| name));
    let mut out = String::new();
    let mut rest = text;
    let mut runs = 0;
    while let Some((before, after)) = rest.split_once(open) {
        let (block, after) = after.split_once(CLOSE).expect("a block that ends");
        out.extend([before, open]);
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            out.push_str(&format!("$ {command}\n"));
            let ran: Ran = run(&place, command);
            out.push_str(&steady(&ran.out));
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
