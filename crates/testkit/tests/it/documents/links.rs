//! Every link of the documents leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{files, read, root};

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut documents = Vec::new();
    for folder in ["docs", "examples", "python", "crates", "fuzz"] {
        files(&root.join(folder), "md", &mut documents);
    }
    let at_the_top = fs::read_dir(&root).expect("a folder").flatten();
    documents.extend(
        at_the_top
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md")),
    );
    let mut dead = Vec::new();
    let mut seen = 0;
    for document in &documents {
        let text = without_code(&read(document));
        for link in links(&text) {
            seen += 1;
            if !leads_somewhere(document, link) {
                let name = document.strip_prefix(&root).expect("below the root");
                dead.push(format!("{}: {link}", name.display()));
            }
        }
    }
    assert!(seen > 150, "only {seen} links were found");
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
}

#[test]
fn a_dead_link_is_found() {
    let readme = root().join("README.md");
    let check = |link, expected| assert_eq!(leads_somewhere(&readme, link), expected, "{link}");
    check("docs/cli.md", true);
    check("docs/cli.md#exit-codes", true);
    check("docs/cli.md#exit-words", false);
    check("docs/none.md", false);
    check("#licence", true);
    check("#no-such-heading", false);
    check("https://example.com/none", true);
    let text = "see [a](x.md) and ![b](y.png), `[c](z.md)`\n```\n[d](w.md)\n```\n";
    assert_eq!(links(&without_code(text)), ["x.md", "y.png"]);
}

/// A document without its blocks and pieces of code.
fn without_code(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let prose: Vec<&str> = line.split('`').step_by(2).collect();
            out.push_str(&prose.join("``"));
            out.push('\n');
        }
    }
    out
}

fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
        .collect()
}

/// Whether a relative link names a file, and a heading that is in it. Others are not looked up.
fn leads_somewhere(document: &Path, link: &str) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = document.parent().expect("a document lies in a folder");
    let target = match path {
        "" => document.to_owned(),
        path => folder.join(path),
    };
    if !target.exists() {
        return false;
    }
    heading.is_empty()
        || target.extension().is_none_or(|extension| extension != "md")
        || headings(&read(&target)).contains(heading)
}

/// The names under which headings are linked to.
fn headings(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || ['-', '_', ' '].contains(c);
            found.insert(
                title
                    .chars()
                    .filter(kept)
                    .collect::<String>()
                    .replace(' ', "-"),
            );
        }
    }
    found
}
