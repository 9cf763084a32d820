//! Programs that are begun.

use std::time::Duration;

use conspectus_mcp::{McpServers, McpSettings, Place};
use serde_json::json;

use crate::{call, check, is_a_server, only};

const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-mcp-server");

fn settings(args: &[&str]) -> McpSettings {
    let mut settings = McpSettings::new("boiler", Place::command(PROGRAM, args.to_vec()));
    settings.max_result_chars = 1_000;
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_a_server() {
    is_a_server(settings(&[])).await;
}

#[tokio::test]
async fn one_that_dies_is_begun_again_and_nothing_is_called_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let starts = || {
        let log = std::fs::read_to_string(&log).expect("it was begun");
        log.lines().count()
    };
    let path = log.to_str().expect("a path").to_owned();
    let servers = McpServers::new([settings(&["--log", &path])]);
    let tools = only(&servers).await;
    check(
        &call(&tools, "dies", json!({})).await,
        true,
        "Error: MCP server boiler: the server is gone, and whether the call had an effect is not known; the next call starts \
         it again",
    );
    assert_eq!(starts(), 1);
    check(
        &call(&tools, "echo", json!({"text": "back"})).await,
        false,
        "back",
    );
    assert_eq!(starts(), 2);
    servers.end().await;
    let log = std::fs::read_to_string(&log).expect("it was begun");
    for process in log.lines() {
        let is_there = std::path::Path::new("/proc").join(process).exists();
        assert!(!is_there, "{process} is still there");
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    let mut slow = settings(&[]);
    slow.timeout = Duration::from_millis(300);
    let servers = McpServers::new([slow]);
    let tools = only(&servers).await;
    let calling = call(&tools, "sleeps", json!({}));
    let result = tokio::time::timeout(Duration::from_secs(5), calling).await;
    let result = result.expect("it is over soon");
    assert!(
        result.is_error && result.content.contains("no answer within"),
        "{result:?}"
    );
    drop(servers);

    let mut silent = settings(&["--silent"]);
    silent.start = Duration::from_millis(300);
    let listed = McpServers::new([silent]).connect().await;
    let why = listed[0].tools.as_ref().expect_err("it says nothing");
    assert!(why.to_string().starts_with("no answer within"), "{why}");
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_said() {
    let broken = settings(&["--broken"]);
    let nowhere = McpSettings::new("nowhere", Place::command("no-such-program", [""; 0]));
    let mut missing = settings(&[]);
    missing.name = "some".into();
    missing.tools = Some(vec!["ecco".into()]);
    let servers = McpServers::new([broken, nowhere, missing]);
    let listed = servers.connect().await;
    let said: Vec<String> = listed
        .iter()
        .map(|one| one.tools.as_ref().expect_err("it is wrong").to_string())
        .collect();
    assert!(
        said[0].ends_with("; its last words: no licence found"),
        "{said:?}"
    );
    assert!(
        said[1].starts_with("the program no-such-program cannot be started: No such file"),
        "{said:?}"
    );
    assert_eq!(
        said[2],
        "it has no tool ecco; it has dies, echo, fails, long, refuses, sleeps, word"
    );
    servers.end().await;
}

#[tokio::test]
async fn only_what_is_wanted_and_the_environment_that_is_said() {
    let mut some = settings(&[]);
    some.tools = Some(vec!["word".into()]);
    some.place = Place::Command {
        command: PROGRAM.to_owned(),
        args: Vec::new(),
        env: vec![("SCRIPTED_WORD".to_owned(), "lantern-17".to_owned())],
    };
    assert!(!format!("{some:?}").contains("lantern-17"));
    let servers = McpServers::new([some]);
    let tools = only(&servers).await;
    assert_eq!(tools.len(), 1);
    check(&call(&tools, "word", json!({})).await, false, "lantern-17");
    servers.end().await;
}
