//! The tests that `docs/features.md` names exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("readable").path();
        match path.is_dir() {
            true => sources(&path, out),
            false if path.extension().is_some_and(|e| e == "rs") => out.push(path),
            false => {}
        }
    }
}

/// The names of all tests below `folder`.
fn tests(folder: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("UTF-8");
        for test in text
            .split("#[test]")
            .chain(text.split("#[tokio::test"))
            .skip(1)
        {
            let name = test.split_once("fn ").map_or("", |(_, rest)| rest);
            let end = name.find('(').unwrap_or(0);
            names.insert(name[..end].to_owned());
        }
    }
    names
}

#[test]
fn every_test_that_the_document_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/features.md")).expect("it is there");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let named: Vec<(&str, &str)> = rows
        .filter_map(|row| Some((row, row.split(" | ").nth(2)?)))
        .flat_map(|(row, tests)| {
            let quoted = tests.split('`').skip(1).step_by(2);
            quoted.map(move |name| (row, name))
        })
        .filter(|(_, name)| !name.contains('/'))
        .collect();
    assert!(named.len() > 80, "{} names were found", named.len());
    let there = tests(&root.join("crates"));
    let gone: Vec<_> = named
        .iter()
        .filter(|(_, name)| !there.contains(*name))
        .map(|(row, name)| format!("{}: {name}", &row[..6]))
        .collect();
    assert!(gone.is_empty(), "no such tests: {gone:#?}");
}
