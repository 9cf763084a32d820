//! `config check`, `config example` and `config schema`, and what a list of models does to the other commands.

use serde_json::Value;

use crate::support::{Place, Ran};

const MODELS: &str = "models:\n  - {name: big, provider: anthropic, window: 200000, max_output: 8000}\n  \
                      - {name: tiny, provider: openai, window: 4000, api_key: hunter2-hunter2}\n";

fn place(section: &str) -> Place {
    let place = Place::with(&["openai.json"]);
    place.write("config.yaml", format!("{MODELS}{section}").as_bytes());
    place
}

#[test]
fn numbers_warnings_and_advice() {
    let place = place(
        "summarization:\n  enabled: true\n  trigger: {fraction: 0.5}\n  keep: {messages: 40}\n",
    );
    let ran = place.run(&["config", "check", "config.yaml"]);
    ran.done()
        .says("config.yaml  preset deerflow\n")
        .says("  window          200,000 tokens, of model big\n")
        .says("  output reserve  8,000\n")
        .says("  trigger         at 100,000 tokens (50% of the window)\n")
        .says("  counted         messages and the summary, by LangChain's formula, 3.3 characters a token\n")
        .says("  keep            40 messages\n")
        .says("  big   anthropic/big  200,000  conversations run on it\n")
        .says("  tiny  openai/tiny      4,000  key ****\n")
        .says("\nwarning: config.yaml:3: models[1].api_key: the key stands in the file itself")
        .says("\nadvice: config.yaml:6: summarization.trigger.fraction: fires at 50% of the window")
        .says("\nadvice: config.yaml:7: summarization.keep.messages: keeps 40 messages; 15–25 are usual\n");
    let (code, report) = place.json(&["config", "check", "config.yaml", "--model", "tiny"]);
    assert_eq!((code, &report["exit_code"]), (0, &Value::from(0)));
    assert_eq!(report["policy"]["window"], 4000);
    assert_eq!(report["policy"]["keep"]["messages"], 40);
    assert_eq!(report["model"]["name"], "tiny");
    assert_eq!(report["models"][1]["api_key"], "****");
    assert_eq!(report["advice"][2]["symptom"], "still_too_long");
    assert!(!ran.out.contains("hunter2") && !report.to_string().contains("hunter2"));
}

#[test]
fn errors_end_with_three() {
    let place = place("summarization:\n  enabled: true\n");
    let message = "config.yaml:4: summarization.trigger: found none, expected at least one of tokens, messages \
                   and fraction, since preset deerflow is enabled; or say enabled: false";
    let ran = place.run(&["config", "check", "config.yaml"]);
    ran.failed(3, &format!("error: {message}\n"));
    let (code, report) = place.json(&["config", "check", "config.yaml"]);
    assert_eq!((code, &report["policy"]), (3, &Value::Null));
    assert_eq!(report["errors"][0]["message"], message);
    place
        .run(&["config", "check", "missing.yaml"])
        .failed(3, "error: missing.yaml: no such file or directory\n");
    place
        .run(&["config", "check", "config.yaml", "--model", "none"])
        .failed(
            3,
            "error: --model: found \"none\", expected a name of the list models: big or tiny\n",
        );
    assert_eq!(place.run(&["config"]).code, 2);
    assert_eq!(place.run(&["config", "example", "x"]).code, 2);
}

#[test]
fn who_said_what() {
    let place =
        place("summarization:\n  preset: default\n  trigger: {tokens: 3000}\n  keep: auto\n");
    let mut command = place.command(&["config", "check", "--max-context", "9000"]);
    command
        .env("CONSPECTUS_CONFIG", "config.yaml")
        .env("CONSPECTUS_SUMMARIZATION_KEEP", "messages=5")
        .env("CONSPECTUS_SUMMARIZATION_PRUNE_DUPLICATES", "false");
    Ran::of(&command.output().expect("runs"))
        .done()
        .says("config.yaml  preset default\n")
        .says("  keep            5 messages\n")
        .says(
            "said\n\
             \x20 keep              CONSPECTUS_SUMMARIZATION_KEEP\n\
             \x20 max_context       --max-context\n\
             \x20 preset            config.yaml:5\n\
             \x20 prune.duplicates  CONSPECTUS_SUMMARIZATION_PRUNE_DUPLICATES\n\
             \x20 trigger           config.yaml:6\nmodels\n",
        );
    let (_, report) = place.json(&["config", "check", "config.yaml"]);
    assert_eq!(
        report["said"][0],
        serde_json::json!({"option": "keep", "by": "config.yaml:7"})
    );
    // Nothing but defaults.
    let ran = place.run(&["config", "check"]);
    ran.done().says("no file  preset default\n");
    assert!(!ran.out.contains("said"), "{}", ran.out);
}

#[test]
fn an_example_of_each_preset_can_be_used_as_it_is() {
    for preset in ["default", "deerflow", "langchain", "nous"] {
        let place = Place::new();
        let text = place.run(&["config", "example", preset]).done().out.clone();
        place.write("c.yaml", text.as_bytes());
        place
            .run(&["config", "check", "c.yaml"])
            .done()
            .says(&format!("c.yaml  preset {preset}\n"));
    }
    let bare = Place::new().run(&["config", "example"]).out;
    assert!(bare.contains("preset: default"));
}

#[test]
fn the_schema_is_json() {
    let ran = Place::new().run(&["config", "schema"]);
    let schema: Value = serde_json::from_str(&ran.done().out).expect("JSON");
    assert_eq!(schema["type"], "object");
    assert!(schema["properties"]["summarization"]["properties"]["keep"].is_object());
}

#[test]
fn the_run_models_window_is_used() {
    let place = place("summarization: {preset: default, trigger: {fraction: 0.5}}\n");
    let inspect = |model: &str| {
        let args = [
            "inspect",
            "openai.json",
            "-c",
            "config.yaml",
            "--model",
            model,
        ];
        place.json(&args).1["results"][0]["conversations"][0].to_string()
    };
    assert_ne!(inspect("big"), inspect("tiny"));
    let compact = |model: &str| {
        let args = [
            "compact",
            "openai.json",
            "-n",
            "-c",
            "config.yaml",
            "--strategy",
            "digest",
            "--model",
            model,
        ];
        place.run(&args).out
    };
    assert!(
        compact("big").contains("no trigger is reached"),
        "{}",
        compact("big")
    );
    assert!(
        compact("tiny").contains("openai: compacted"),
        "{}",
        compact("tiny")
    );
}

#[test]
fn advice_is_given_once_and_only_about_a_file() {
    let place = Place::with(&["openai.json", "anthropic.json"]);
    place.write(
        "config.yaml",
        b"summarization: {enabled: true, trigger: {tokens: 4000}, keep: {messages: 40}}\n",
    );
    let args = ["compact", "openai.json", "anthropic.json", "-n"];
    let with: Vec<&str> = args.iter().copied().chain(["-c", "config.yaml"]).collect();
    let ran = place.run(&with);
    assert_eq!(ran.code, 0);
    let advice: Vec<&str> = ran
        .err
        .lines()
        .filter(|l| l.starts_with("advice: "))
        .collect();
    assert_eq!(advice.len(), 2, "{}", ran.err);
    let (_, report) = place.json(&with);
    assert_eq!(report["advice"].as_array().map(Vec::len), Some(2));
    let flags: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--keep", "messages=40"])
        .collect();
    place.run(&flags).done();
}

#[test]
fn models_are_told_with_their_prices_and_what_they_lack() {
    let place = Place::new();
    let file = "models:
  - {name: main, provider: anthropic, model: claude-sonnet-4-5, api_key: $NO_SUCH_KEY}
  - {name: our-own, provider: openai, base_url: 'http://127.0.0.1:1/v1', headers: {X-A: $NO_SUCH_VALUE}}
summarization: {preset: default, model_name: our-own}
";
    place.write("config.yaml", file.as_bytes());
    let ran = place.run(&["config", "check", "config.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("by our-own, else by main");
    ran.says("key $NO_SUCH_KEY, NO_SUCH_KEY is not set, $3.00 in, $15.00 out");
    ran.says("http://127.0.0.1:1/v1, NO_SUCH_VALUE is not set");
    let (_, report) = place.json(&["config", "check", "config.yaml"]);
    assert_eq!(report["models"][0]["unset"][0], "NO_SUCH_KEY");
    assert_eq!(report["models"][0]["prices"]["input"], 3_000_000);
    assert_eq!(report["models"][1]["prices"], Value::Null);
}
