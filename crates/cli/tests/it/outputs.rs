//! What is written, and what is left alone.

use crate::support::{Place, example};

const REFUSED: &str = "error: openai.compacted.json: is already there and was left alone; \
                       use --overwrite to replace it, or --out to write elsewhere\n";

#[test]
fn an_existing_output_is_left_alone() {
    let place = Place::with(&["openai.json"]);
    place.write("openai.compacted.json", b"mine");
    let ran = place.run(&["compact", "openai.json"]);
    ran.failed(5, REFUSED);
    ran.says("nothing written\n");
    assert_eq!(place.read("openai.compacted.json"), b"mine");
    assert_eq!(place.files(), ["openai.compacted.json", "openai.json"]);
}

#[test]
fn the_same_bytes_are_no_conflict() {
    let place = Place::with(&["openai.json"]);
    place.run(&["compact", "openai.json"]).done();
    place
        .run(&["compact", "openai.json"])
        .done()
        .says("openai.compacted.json is already there, with the same bytes\n");
}

#[test]
fn overwrite_replaces() {
    let place = Place::with(&["openai.json"]);
    place.write("openai.compacted.json", b"mine");
    place
        .run(&["compact", "openai.json", "--overwrite"])
        .done()
        .says("written to openai.compacted.json (replaced)\n");
    assert_ne!(place.read("openai.compacted.json"), b"mine");
    // In place, when it is asked for twice over.
    let refused = place.run(&["compact", "openai.json", "--out", "openai.json"]);
    assert_eq!(refused.code, 5);
    assert_eq!(place.read("openai.json"), example("openai.json"));
    place
        .run(&[
            "compact",
            "openai.json",
            "--out",
            "openai.json",
            "--overwrite",
        ])
        .done();
    assert_eq!(
        place.read("openai.json"),
        place.read("openai.compacted.json")
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::with(&["openai.json"]);
    place
        .run(&["compact", "openai.json", "--dry-run"])
        .done()
        .says("openai: compacted")
        .says("dry run: nothing written (would be openai.compacted.json)\n");
    let ran = place.run(&["compact", "openai.json", "-n", "--out", "new/x.json"]);
    ran.done();
    assert_eq!(place.files(), ["openai.json"]);
    // It tells what writing would run into.
    place.write("openai.compacted.json", b"mine");
    place
        .run(&["compact", "openai.json", "--dry-run"])
        .failed(5, REFUSED);
    place
        .run(&["compact", "openai.json", "--dry-run", "--overwrite"])
        .done();
    assert_eq!(place.read("openai.compacted.json"), b"mine");
    let output = place.pipe(&["compact", "-", "--dry-run"], &example("openai.json"));
    assert!(
        output
            .stdout
            .starts_with(b"standard input  openai: compacted")
    );
}

#[test]
fn a_directory_that_does_not_exist() {
    let place = Place::with(&["openai.json"]);
    place
        .run(&["compact", "openai.json", "--out", "nowhere/x.json"])
        .failed(5, "error: nowhere/x.json: no such file or directory\n");
    assert_eq!(place.files(), ["openai.json"]);
}

#[test]
fn two_inputs_never_share_an_output() {
    let place = Place::new();
    place.write("a/x.json", &example("openai.json"));
    place.write("b/x.json", &example("openai.json"));
    let ran = place.run(&["compact", "a/x.json", "b/x.json", "--out", "out"]);
    ran.failed(
        5,
        "error: b/x.json: a/x.json already goes to out/x.json; name them apart or run twice\n",
    );
    assert!(place.files().contains(&"out/x.json".to_owned()));
}

#[test]
fn wrong_places_are_refused_before_anything_is_read() {
    let place = Place::with(&["openai.json", "anthropic.json"]);
    let check = |args: &[&str], message: &str| {
        place.run(args).failed(2, &format!("error: {message}\n"));
    };
    check(
        &["compact", "openai.json", "anthropic.json", "--out", "-"],
        "--out: several conversations cannot go to standard output; give a directory",
    );
    check(
        &["compact", ".", "--out", "openai.json"],
        "--out: several conversations cannot go to one file; give a directory",
    );
    check(
        &["compact", "-", "--out", "."],
        "--out: standard input has no name; give a file instead of a directory",
    );
    check(
        &["compact", "-", "openai.json"],
        "-: standard input must be the only input",
    );
    check(
        &["compact", "-", "--json"],
        "--json: standard output already takes the conversation; give --out a file, or add --dry-run",
    );
    assert_eq!(place.files(), ["anthropic.json", "openai.json"]);
}

#[cfg(unix)]
#[test]
fn permissions_of_the_input_are_kept() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&["openai.json"]);
    fs::set_permissions(place.path("openai.json"), Permissions::from_mode(0o600)).expect("set");
    place.run(&["compact", "openai.json"]).done();
    let written = fs::metadata(place.path("openai.compacted.json")).expect("there");
    assert_eq!(written.permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_directory_without_permission() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&["openai.json"]);
    fs::create_dir(place.path("locked")).expect("made");
    fs::set_permissions(place.path("locked"), Permissions::from_mode(0o500)).expect("set");
    if fs::write(place.path("locked/probe"), b"").is_ok() {
        println!("permissions do not bind this user (root), 1 check left out");
        return;
    }
    let ran = place.run(&["compact", "openai.json", "--out", "locked/x.json"]);
    ran.failed(5, "error: locked/x.json: permission denied\n");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with(&["openai.json"]);
    let mut child = place
        .command(&["plan", "openai.json", "openai.json", "openai.json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn no_colours_and_no_progress_without_a_terminal() {
    let place = Place::with(&["openai.json"]);
    let ran = place.run(&["compact", "openai.json"]);
    assert!(!ran.done().out.contains('\x1b'));
}

#[test]
fn a_conversation_cannot_drive_the_terminal() {
    let place = Place::new();
    let long = "word ".repeat(3000);
    let evil = r"\u001b[2J\u001b]0;owned\u0007\u202e";
    let file = format!(
        r#"[{{"role":"user","content":"{evil} start {long}"}},{{"role":"assistant","content":"{evil} {long}"}},
            {{"role":"user","content":"and {evil}"}}]"#
    );
    place.write("evil.json", file.as_bytes());
    for command in ["compact", "plan", "inspect"] {
        let ran = place.run(&[command, "evil.json"]);
        let is_safe = |c: char| (!c.is_control() || c == '\n') && c != '\u{202e}';
        assert!(ran.done().out.chars().all(is_safe), "{}", ran.out);
    }
}
