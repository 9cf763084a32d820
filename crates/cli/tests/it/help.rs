//! What `--help` says, word by word.

use crate::support::Place;

#[test]
fn help() {
    let help = |args: &[&str]| Place::new().run(args).done().out.clone();
    insta::assert_snapshot!("help", help(&["--help"]));
    insta::assert_snapshot!("help_compact", help(&["compact", "--help"]));
    insta::assert_snapshot!("help_inspect", help(&["inspect", "--help"]));
    insta::assert_snapshot!("help_plan", help(&["plan", "--help"]));
    insta::assert_snapshot!("help_eval", help(&["eval", "--help"]));
    insta::assert_snapshot!("help_config", help(&["config", "--help"]));
    insta::assert_snapshot!("help_config_check", help(&["config", "check", "--help"]));
}

#[test]
fn lines_fit_a_terminal() {
    let threads = [
        "ls", "show", "log", "new", "import", "append", "export", "apply",
    ];
    let threads = threads.iter().map(|command| vec!["thread", command]);
    let files = [
        "compact", "inspect", "plan", "eval", "recall", "thread", "chat", "mcp", "proxy",
    ]
    .map(|command| vec![command]);
    for command in files.into_iter().chain(threads) {
        let help = Place::new().run(&[&command[..], &["--help"]].concat()).out;
        for line in help.lines() {
            assert!(line.chars().count() <= 110, "{command:?}: {line}");
        }
    }
}

#[test]
fn version() {
    let ran = Place::new().run(&["--version"]);
    assert_eq!(
        ran.done().out,
        concat!("conspectus ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
