//! `--config`, alone and under environment variables and flags.

use serde_json::Value;

use crate::support::{Place, Ran};

const FILE: &str = "summarization:\n  enabled: true\n  trigger: {type: tokens, value: 4000}\n  \
                    keep: {type: messages, value: 20}\n";

#[test]
fn a_file_and_flags_over_it() {
    let place = Place::with(&["openai.json"]);
    place.write("config.yaml", FILE.as_bytes());
    place
        .run(&[
            "compact",
            "openai.json",
            "--config",
            "config.yaml",
            "--dry-run",
        ])
        .done()
        .says("openai: compacted");
    place
        .run(&[
            "compact",
            "openai.json",
            "-c",
            "config.yaml",
            "-n",
            "--trigger",
            "tokens=90000",
        ])
        .done()
        .says("no trigger is reached");
}

#[test]
fn off_is_off() {
    let place = Place::with(&["openai.json"]);
    let check = |text: &str| {
        place.write("config.yaml", text.as_bytes());
        let ran = place.run(&["compact", "openai.json", "--config", "config.yaml"]);
        ran.done()
            .says("openai: nothing done, compaction is off in the configuration (set enabled: true)\n")
            .says("nothing written\n");
    };
    check("summarization:\n  enabled: false\n");
    // deer-flow's default, which a file without a preset follows.
    check("summarization:\n  keep: {type: messages, value: 5}\n");
    assert_eq!(place.files(), ["config.yaml", "openai.json"]);
}

#[test]
fn errors_name_file_line_option_found_and_allowed() {
    let place = Place::with(&["openai.json"]);
    let check = |text: &str, message: &str| {
        place.write("config.yaml", text.as_bytes());
        place
            .run(&["compact", "openai.json", "--config", "config.yaml"])
            .failed(3, &format!("error: {message}\n"));
    };
    check(
        "summarization:\n  enabled: true\n  trigger: {type: tokens, value: many}\n",
        "config.yaml:3: summarization.trigger.value: found \"many\", expected a whole number > 0",
    );
    check(
        "summarization:\n  enabled: true\n",
        "config.yaml:1: summarization.trigger: found none, expected at least one of tokens, messages and \
         fraction, since preset deerflow is enabled; or say enabled: false",
    );
    let ran = place.run(&["compact", "openai.json", "--config", "missing.yaml"]);
    ran.failed(3, "error: missing.yaml: no such file or directory\n");
    let ran = place.run(&["compact", "openai.json", "--trigger", "fraction=0.8"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.err.contains("--trigger: found a fraction"),
        "{}",
        ran.err
    );
    assert_eq!(place.files(), ["config.yaml", "openai.json"]);
}

#[test]
fn warnings_are_said_and_are_in_the_json() {
    let place = Place::with(&["openai.json"]);
    let args = ["compact", "openai.json", "-n", "--trigger", "auto"];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.starts_with("warning: --max-context: "),
        "{}",
        ran.err
    );
    let (_, report) = place.json(&args);
    let warning = report["warnings"][0].as_str().expect("a text");
    assert_eq!(ran.err, format!("warning: {warning}\n"));
}

#[test]
fn variables_win_over_the_file_and_flags_over_both() {
    let place = Place::with(&["openai.json"]);
    place.write("config.yaml", FILE.as_bytes());
    let outcome = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = place.command(&["compact", "openai.json", "-n", "--json"]);
        command.args(args).envs(variables.iter().copied());
        let ran = Ran::of(&command.output().expect("runs"));
        let report: Value = serde_json::from_str(&ran.out).expect("JSON");
        let conversation = &report["results"][0]["conversations"][0];
        conversation["outcome"].as_str().expect("one").to_owned()
    };
    let high = ("CONSPECTUS_SUMMARIZATION_TRIGGER", "tokens=90000");
    let off = ("CONSPECTUS_SUMMARIZATION_ENABLED", "false");
    let file = ("CONSPECTUS_CONFIG", "config.yaml");
    assert_eq!(outcome(&[file], &[]), "compacted");
    assert_eq!(outcome(&[high], &["-c", "config.yaml"]), "skipped");
    assert_eq!(outcome(&[file, high], &[]), "skipped");
    assert_eq!(
        outcome(&[file, high], &["--trigger", "tokens=4000"]),
        "compacted"
    );
    // Without a file as well: a command is on unless something says off.
    assert_eq!(outcome(&[high], &[]), "skipped");
    assert_eq!(outcome(&[off], &[]), "disabled");
    assert_eq!(outcome(&[("CONSPECTUS_CONFIG", "")], &[]), "compacted");
}

#[test]
fn a_wrong_variable_is_named() {
    let place = Place::with(&["openai.json"]);
    let run = |name: &str, value: &str| {
        let mut command = place.command(&["compact", "openai.json", "-n"]);
        Ran::of(&command.env(name, value).output().expect("runs"))
    };
    run("CONSPECTUS_SUMMARIZATION_KEP", "5").failed(
        3,
        "error: CONSPECTUS_SUMMARIZATION_KEP: unknown option, did you mean CONSPECTUS_SUMMARIZATION_KEEP?\n",
    );
    run("CONSPECTUS_SUMMARIZATION_MAX_CONTEXT", "3").failed(
        3,
        "error: CONSPECTUS_SUMMARIZATION_MAX_CONTEXT: found 3, expected a whole number of at least 16\n",
    );
    run("CONSPECTUS_CONFIG", "missing.yaml")
        .failed(3, "error: missing.yaml: no such file or directory\n");
    let ran = run("CONSPECTUS_KEEP", "5");
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.err,
        "warning: CONSPECTUS_KEEP: is not read, did you mean CONSPECTUS_SUMMARIZATION_KEEP?\n"
    );
}
