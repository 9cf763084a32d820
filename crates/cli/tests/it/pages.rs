//! Completions and pages for `man`, and that documents have every option.

use std::fs;
use std::path::Path;

use crate::support::Place;

#[test]
fn every_shell_is_told_every_command_and_option() {
    let place = Place::new();
    for (shell, mark) in [
        ("bash", "complete -F _conspectus"),
        ("zsh", "#compdef conspectus"),
        ("fish", "complete -c conspectus"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let ran = place.run(&["completions", shell]);
        let script = &ran.done().out;
        for word in [mark, "inspect", "below-keep", "dry-run", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let ran = place.run(&["completions", "tcsh"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bash"), "{}", ran.err);
}

#[test]
fn pages_for_man() {
    let place = Place::new();
    let page = |words: &[&str]| place.run(&[&["man"], words].concat()).done().out.clone();
    assert!(page(&[]).contains(".TH conspectus 1"));
    assert!(page(&["compact"]).contains("below\\-keep"));
    assert!(page(&["config", "check"]).contains("conspectus config check"));
    place.run(&["man", "compcat"]).failed(
        2,
        "error: compcat: no such command; there are compact, inspect, plan, eval, recall, thread, chat, mcp, serve, proxy, config, completions, man\n",
    );
    place.run(&["man", "--out", "pages/man1"]).done();
    assert_eq!(
        place.files(),
        [
            "pages/man1/conspectus-chat.1",
            "pages/man1/conspectus-compact.1",
            "pages/man1/conspectus-completions.1",
            "pages/man1/conspectus-config-check.1",
            "pages/man1/conspectus-config-example.1",
            "pages/man1/conspectus-config-schema.1",
            "pages/man1/conspectus-config.1",
            "pages/man1/conspectus-eval.1",
            "pages/man1/conspectus-inspect.1",
            "pages/man1/conspectus-man.1",
            "pages/man1/conspectus-mcp-ls.1",
            "pages/man1/conspectus-mcp-serve.1",
            "pages/man1/conspectus-mcp.1",
            "pages/man1/conspectus-plan.1",
            "pages/man1/conspectus-proxy.1",
            "pages/man1/conspectus-recall.1",
            "pages/man1/conspectus-serve.1",
            "pages/man1/conspectus-thread-append.1",
            "pages/man1/conspectus-thread-apply.1",
            "pages/man1/conspectus-thread-branch.1",
            "pages/man1/conspectus-thread-export.1",
            "pages/man1/conspectus-thread-import.1",
            "pages/man1/conspectus-thread-log.1",
            "pages/man1/conspectus-thread-ls.1",
            "pages/man1/conspectus-thread-new.1",
            "pages/man1/conspectus-thread-purge.1",
            "pages/man1/conspectus-thread-redo.1",
            "pages/man1/conspectus-thread-request.1",
            "pages/man1/conspectus-thread-rm.1",
            "pages/man1/conspectus-thread-show.1",
            "pages/man1/conspectus-thread-undo.1",
            "pages/man1/conspectus-thread.1",
            "pages/man1/conspectus.1",
        ]
    );
}

#[test]
fn every_option_stands_in_a_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documents = fs::read_dir(root.join("docs")).expect("documents");
    let paths = documents.map(|entry| entry.expect("readable").path());
    let text: String = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| fs::read_to_string(path).expect("UTF-8"))
        .collect();
    let is_documented = |flag: &str| {
        text.split(flag).skip(1).any(|rest| {
            let next = rest.chars().next();
            next.is_none_or(|next| !next.is_ascii_alphabetic() && next != '-')
        })
    };
    let place = Place::new();
    place.run(&["man", "--out", "pages"]).done();
    let mut seen = 0;
    let mut missing = Vec::new();
    for page in place.files() {
        let text = fs::read_to_string(place.path(&page)).expect("a page");
        let options = text.split("\\fB\\-\\-").skip(1);
        for option in options.filter_map(|rest| rest.split_once("\\fR")) {
            let flag = format!("--{}", option.0.replace('\\', ""));
            seen += 1;
            if !is_documented(&flag) && !["--help", "--version"].contains(&flag.as_str()) {
                missing.push(format!("{page}: {flag}"));
            }
        }
    }
    assert!(seen > 100, "{seen} options were found");
    assert!(missing.is_empty(), "in no document: {missing:#?}");
}
