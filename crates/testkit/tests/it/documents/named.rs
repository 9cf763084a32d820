//! The tests that documents name as what would notice a loss are there.

use super::{files, read, root};

/// Names of tests in the last column of a document's tables.
fn named(document: &str) -> Vec<&str> {
    let rows = document.lines().filter(|line| line.starts_with('|'));
    let last = rows.filter_map(|row| row.trim_end().trim_end_matches('|').rsplit('|').next());
    let code = last.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code.filter(|name| {
        name.contains('_')
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    })
    .collect()
}

#[test]
fn every_test_that_a_table_names_is_there() {
    let mut sources = Vec::new();
    files(&root().join("crates"), "rs", &mut sources);
    let code: String = sources.iter().map(|path| read(path)).collect();
    for (document, least) in [("features.md", 200), ("security.md", 40)] {
        let text = read(&root().join("docs").join(document));
        let names = named(&text);
        assert!(names.len() >= least, "{document}: {} names", names.len());
        let missing: Vec<_> = names
            .iter()
            .filter(|name| !code.contains(&format!("fn {name}(")))
            .collect();
        assert!(missing.is_empty(), "{document}: {missing:?}");
    }
}

#[test]
fn every_threat_has_something_that_would_notice() {
    let text = read(&root().join("docs/security.md"));
    let rows = text.lines().filter(|line| {
        line.starts_with("| ") && !line.starts_with("| threat") && !line.starts_with("|-")
    });
    for row in rows {
        let cell = row.trim_end_matches([' ', '|']).rsplit('|').next();
        assert!(cell.is_some_and(|cell| cell.contains('`')), "{row}");
    }
}
