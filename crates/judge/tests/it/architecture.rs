//! The code map of `ARCHITECTURE.md` names what there is, and all of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of each crate whose heading stands alone, by its folder.
fn sections(map: &str) -> Vec<(&str, &str)> {
    let parts = map.split("\n### ").skip(1);
    let crates = parts.filter_map(|part| part.strip_prefix("crates/"));
    crates.filter_map(|part| part.split_once('\n')).collect()
}

/// What stands between backticks in the first column of the tables.
fn named(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let first = rows.filter_map(|row| row.split(" | ").next());
    first
        .flat_map(|c| c.split('`').skip(1).step_by(2))
        .collect()
}

/// The modules right below a crate's `src`.
fn modules(krate: &str) -> BTreeSet<String> {
    let src = root().join("crates").join(krate).join("src");
    let entries = fs::read_dir(&src).expect("a crate with that name");
    let files = entries.map(|entry| entry.expect("readable").path());
    let modules = files.filter_map(|file| match file.is_dir() {
        // Not a module: programs, and files that are data.
        true if file.join("mod.rs").exists() => file.file_name()?.to_str().map(str::to_owned),
        true => None,
        false => file.file_stem()?.to_str().map(str::to_owned),
    });
    modules.filter(|m| m != "lib" && m != "main").collect()
}

fn code_map() -> String {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let (_, map) = text.split_once("## Code map").expect("a code map");
    let (map, _) = map.split_once("\n## ").expect("more behind it");
    map.to_owned()
}

#[test]
fn the_code_map_is_the_python_package() {
    let map = code_map();
    let (_, section) = map.split_once("\n### python\n").expect("its heading");
    let section = section.split("\n### ").next().expect("its text");
    let files = fs::read_dir(root().join("python/conspectus")).expect("the package");
    let files = files.map(|file| file.expect("readable").path());
    let modules = files.filter(|file| file.is_dir() || file.extension().is_some_and(|e| e == "py"));
    let names = modules.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    let there: BTreeSet<String> = names.filter(|name| !name.starts_with("__")).collect();
    let named: BTreeSet<String> = named(section).into_iter().map(str::to_owned).collect();
    assert_eq!(there, named);
}

#[test]
fn the_code_map_is_the_tree() {
    let map = code_map();
    let mut missing = Vec::new();
    for (krate, section) in sections(&map) {
        let named = named(section);
        if named.is_empty() {
            continue;
        }
        let there = modules(krate);
        let there: BTreeSet<&str> = there.iter().map(String::as_str).collect();
        let unnamed = there
            .difference(&named)
            .map(|m| format!("{krate}: {m} is not named"));
        let gone = named
            .difference(&there)
            .map(|m| format!("{krate}: {m} is not there"));
        missing.extend(unnamed.chain(gone));
    }
    for krate in fs::read_dir(root().join("crates")).expect("crates") {
        let name = krate
            .expect("readable")
            .file_name()
            .into_string()
            .expect("UTF-8");
        if !map.contains(&format!("crates/{name}")) {
            missing.push(format!("the crate {name} is not named"));
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md: {missing:#?}");
}
