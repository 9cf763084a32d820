//! The page on agents names tests, and they are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
}

#[test]
fn every_test_that_the_page_names_is_there_and_every_behaviour_has_one() {
    let page = fs::read_to_string(root().join("docs/agent.md")).expect("the page");
    let mut all = String::new();
    sources(&root().join("crates"), &mut all);
    let is_row = |line: &&str| line.starts_with("| B");
    let mut seen = BTreeSet::new();
    for row in page.lines().filter(is_row) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [section, _, tests] = cells.as_slice() else {
            panic!("not three cells: {row}");
        };
        seen.insert(
            section
                .split(['.', ' '])
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(
                all.contains(&format!("fn {name}(")),
                "there is no test {name}"
            );
        }
    }
    let expect: BTreeSet<String> = (1..=8).map(|n| format!("B{n}")).collect();
    assert_eq!(seen, expect);
    // All that this crate tests of the sections stands on the page.
    let mut own = String::new();
    sources(&root().join("crates/agent"), &mut own);
    for line in own.lines().map(str::trim) {
        let name = line
            .strip_prefix("fn ")
            .and_then(|rest| rest.split_once('('));
        let Some((name, _)) = name else { continue };
        let is_section =
            name.starts_with('b') && name.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if is_section {
            assert!(
                page.contains(&format!("`{name}`")),
                "{name} is not on the page"
            );
        }
    }
}
