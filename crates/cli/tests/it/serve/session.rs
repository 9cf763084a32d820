//! The session of `docs/service.md` is real: its commands are run against a service, and what they print is compared.
//!
//! `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-cli --features serve session` writes what is printed now.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Service;
use crate::support::{EXAMPLES, Place};

const OPEN: &str = "```console\n";
const CLOSE: &str = "```\n";
/// So much of an answer is shown.
const SHOWN: usize = 400;

#[test]
fn the_session_is_real() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("curl is not installed, the session of docs/service.md left out");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service.md");
    let text = fs::read_to_string(&path).expect("the document");
    let now = run_again(&text);
    if std::env::var_os("CONSPECTUS_UPDATE_DOCS").is_some() {
        fs::write(&path, now).expect("written");
        return;
    }
    let changed = text.lines().zip(now.lines()).find(|(was, is)| was != is);
    assert!(
        text == now,
        "set CONSPECTUS_UPDATE_DOCS=1 to take over what is printed now; first change: {changed:#?}"
    );
}

/// The document with every command run again.
fn run_again(text: &str) -> String {
    let place = Place::with(&EXAMPLES.map(|(name, _)| name));
    let service = Service::start(&place, &["--store", "sqlite:threads.db"]);
    let mut out = String::new();
    let mut rest = text;
    let mut runs = 0;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (block, after) = after.split_once(CLOSE).expect("a block that ends");
        out.extend([before, OPEN]);
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let ran = Command::new("bash")
                .args(["-c", command])
                .env("API", service.api())
                .current_dir(place.path("."))
                .output()
                .expect("runs");
            let printed = String::from_utf8(ran.stdout).expect("UTF-8");
            let printed = shown(&without_times(&printed));
            out.push_str(&format!("$ {command}\n{printed}"));
            runs += 1;
        }
        out.push_str(CLOSE);
        rest = after;
    }
    assert!(runs > 20, "the document shows a session");
    out + rest
}

/// Long answers are cut, and end with a line end.
fn shown(printed: &str) -> String {
    let printed = printed.trim_end();
    let cut = match printed.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &printed[..at]),
        None => printed.to_owned(),
    };
    match cut.is_empty() {
        true => cut,
        false => cut + "\n",
    }
}

/// What a clock shows is another time at every run: `"2026-11-30T…Z"`, and numbers of members that end with `_ms` or
/// say how long something took.
fn without_times(printed: &str) -> String {
    let mut out = String::new();
    let mut rest = printed;
    while let Some(at) = rest.find('"') {
        let (before, quoted) = rest.split_at(at);
        out.push_str(before);
        let end = quoted[1..].find('"').map_or(quoted.len(), |end| end + 2);
        let (word, after) = quoted.split_at(end);
        let is_date = word.len() == 26 && word.ends_with("Z\"") && word.as_bytes()[11] == b'T';
        out.push_str(if is_date {
            "\"2026-11-30T12:00:00.000Z\""
        } else {
            word
        });
        rest = after;
        let name = word.trim_matches('"');
        let is_time = name.ends_with("_ms")
            || ["ms", "duration", "system_time", "monotonic_time"].contains(&name);
        if let Some(number) = rest.strip_prefix(':').filter(|_| is_time) {
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                out.push_str(":0");
                rest = &number[digits..];
            }
        }
    }
    out + rest
}

#[test]
fn times_are_taken_out() {
    let check = |printed: &str, expect: &str| assert_eq!(without_times(printed), expect);
    check(
        r#"{"a":"2026-01-02T03:04:05.678Z","since_ms":17,"ms":5,"n_ms":null,"items":[1]}"#,
        r#"{"a":"2026-11-30T12:00:00.000Z","since_ms":0,"ms":0,"n_ms":null,"items":[1]}"#,
    );
}
