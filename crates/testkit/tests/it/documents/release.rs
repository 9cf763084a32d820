//! What `docs/release.md` says of toolchain and crates is so.

use std::fs;

use super::{read, root};

/// The text behind `before`, up to `end`.
fn between<'t>(text: &'t str, before: &str, end: char) -> &'t str {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before}"));
    rest.split(end).next().unwrap_or_default()
}

#[test]
fn one_toolchain_is_named_everywhere() {
    let root = root();
    let at_least = read(&root.join("Cargo.toml"));
    let at_least = between(&at_least, "rust-version = \"", '"').to_owned();
    let pinned = read(&root.join("rust-toolchain.toml"));
    let pinned = between(&pinned, "channel = \"", '"').to_owned();
    assert_eq!(
        pinned,
        format!("{at_least}.0"),
        "the oldest is what runs the checks"
    );
    let image = read(&root.join("Dockerfile"));
    assert_eq!(between(&image, "FROM rust:", '-'), at_least);
    let release = read(&root.join("docs/release.md"));
    assert!(
        release.contains(&format!("| Rust {at_least},")),
        "{at_least}"
    );
}

#[test]
fn every_crate_is_fit_for_publishing_or_stays_here() {
    let release = read(&root().join("docs/release.md"));
    let (_, table) = release.split_once("| published").expect("the table");
    let row = table.lines().nth(2).expect("its row");
    let (published, stays) = row.trim_matches('|').split_once('|').expect("two columns");
    for entry in fs::read_dir(root().join("crates")).expect("crates") {
        let manifest = read(&entry.expect("readable").path().join("Cargo.toml"));
        let name = between(&manifest, "name = \"", '"');
        let short = match name.strip_prefix("conspectus") {
            Some("") => "`conspectus`".to_owned(),
            _ => format!("-{}`", name.trim_start_matches("conspectus-")),
        };
        let is_published = !manifest.contains("publish = false");
        assert_eq!(published.contains(&short), is_published, "{name}");
        assert_eq!(stays.contains(&short), !is_published, "{name}");
        if is_published {
            for field in [
                "description = ",
                "readme.workspace",
                "keywords.workspace",
                "categories",
            ] {
                assert!(manifest.contains(field), "{name}: {field}");
            }
        }
    }
}
