//! `--config`, alone and under flags.

use crate::support::Place;

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
