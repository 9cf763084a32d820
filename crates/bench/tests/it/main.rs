//! The programs that measure: that they work, in short. What they say of time is not looked at.

use std::process::{Command, Output};

fn load(args: &[&str]) -> Output {
    let mut load = Command::new(env!("CARGO_BIN_EXE_load"));
    // PostgreSQL and the soak: scripts/load.sh.
    let load = load.args(args).env_remove("CONSPECTUS_POSTGRES");
    load.output().expect("it runs")
}

#[test]
fn a_word_that_is_no_part_is_said() {
    let ran = load(&["short", "apends"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        !ran.status.success() && said.contains("\"apends\" is none of"),
        "{said}"
    );
}

#[test]
fn many_threads_and_a_long_one_come_out_right() {
    let ran = load(&["short", "threads", "long"]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{ran:?}");
    assert!(
        said.contains("| SQLite | open and check it (its status) | 5 |"),
        "{said}"
    );
}
