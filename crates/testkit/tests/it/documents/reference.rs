//! `docs/reference.md` has every event and every error of the libraries, `docs/service.md` every code of the service.
//!
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-testkit --test it documents` writes the first one anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use super::enums::{Enum, enums};
use super::{files, read, root};

#[test]
fn every_event_and_error_is_in_the_reference() {
    let path = root().join("docs/reference.md");
    let now = reference();
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        fs::write(&path, now).expect("written");
        return;
    }
    let first = read(&path);
    let changed = first.lines().zip(now.lines()).find(|(was, is)| was != is);
    assert!(
        first == now,
        "docs/reference.md: set CONSPECTUS_UPDATE_DOCS=1 to write it anew; first change: {changed:#?}"
    );
}

#[test]
fn every_code_of_the_service_is_documented() {
    let root = root();
    let document = read(&root.join("docs/service.md"));
    let mut sources = Vec::new();
    files(&root.join("crates/server/src"), "rs", &mut sources);
    let codes: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| codes(&read(source)))
        .collect();
    assert!(codes.len() > 40, "{codes:?}");
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !document.contains(&format!("`{code}`")))
        .collect();
    assert!(missing.is_empty(), "not in docs/service.md: {missing:?}");
}

/// The words that stand second in a call that makes a problem, or first where the call has the status in its name.
fn codes(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (call, at) in [
        ("::new(", 1),
        ("::not_found(", 0),
        ("::conflict(", 0),
        ("::unavailable(", 0),
    ] {
        for owner in ["Problem", "Self"] {
            for rest in source.split(&format!("{owner}{call}")).skip(1) {
                let Some(argument) = rest.splitn(3, ',').nth(at) else {
                    continue;
                };
                let argument = argument.trim();
                let word = argument.strip_prefix('"').and_then(|a| a.split('"').next());
                let is_code = |word: &&str| {
                    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                };
                found.extend(word.filter(is_code).map(str::to_owned));
            }
        }
    }
    found
}

/// The page: a section for each enum of events or errors of the published crates.
fn reference() -> String {
    let root = root();
    let mut out = String::from(
        "# Events and errors\n\n\
         Every event that is told and every error that the libraries return, with the words that people see. Made from the sources by a\n\
         test (`documents` of `crates/testkit`), so that none is left out. In messages, `{…}` is what stands there in the case itself.\n\n\
         What a client of the service meets is in [service.md](service.md#errors), exit codes of the command line in\n\
         [cli.md](cli.md#exit-codes), outcomes of a compaction (which are no errors) under `Outcome` below.\n",
    );
    for (title, is_wanted) in [
        ("Events", is_event as fn(&Enum) -> bool),
        ("Outcomes and reasons", is_outcome),
        ("Errors", |found| found.is_error),
    ] {
        write!(out, "\n## {title}\n").expect("a string");
        for name in [
            "core",
            "wire",
            "tokens",
            "config",
            "engine",
            "providers",
            "store",
            "agent",
            "mcp",
            "proxy",
            "server",
        ] {
            let folder = root.join("crates").join(name).join("src");
            let mut sources = Vec::new();
            files(&folder, "rs", &mut sources);
            sources.sort();
            for source in sources {
                for found in enums(&read(&source)) {
                    if is_wanted(&found) {
                        section(&mut out, name, &found);
                    }
                }
            }
        }
    }
    out
}

fn is_event(found: &Enum) -> bool {
    found.name.ends_with("Event")
}

fn is_outcome(found: &Enum) -> bool {
    ["Outcome", "Reason", "Moment"].contains(&found.name.as_str())
}

fn section(out: &mut String, krate: &str, found: &Enum) {
    let package = match krate {
        "engine" => "conspectus".to_owned(),
        name => format!("conspectus-{name}"),
    };
    let told = found.variants.iter().any(|v| v.message.is_some());
    write!(
        out,
        "\n### `{}` of {package}\n\n{}\n\n",
        found.name, found.doc
    )
    .expect("a string");
    let head = match told {
        true => "| | what it says | when |\n|---|---|---|\n",
        false => "| | what |\n|---|---|\n",
    };
    out.push_str(head);
    for variant in &found.variants {
        let shown = variant.shown.as_deref().unwrap_or(&variant.name);
        write!(out, "| `{shown}` | ").expect("a string");
        if told {
            let message = variant.message.as_deref().unwrap_or("");
            let ticks = if message.contains('`') { "``" } else { "`" };
            let message = match message {
                "" => String::new(),
                text => format!("{ticks}{}{ticks}", text.replace('|', "\\|")),
            };
            write!(out, "{message} | ").expect("a string");
        }
        let fields = match variant.fields.is_empty() {
            true => String::new(),
            false => format!(" With {}.", variant.fields.join(", ")),
        };
        writeln!(out, "{}{fields} |", variant.doc.replace('|', "\\|")).expect("a string");
    }
}
