//! Summaries by models over HTTP: the whole program against a server that answers as scripted.

use serde_json::{Value, json};

use conspectus_testkit::server::{Asked, HttpServer, Step};

use crate::support::{Place, Ran, example};

/// A key; it may stand in one header and nowhere else.
const KEY: &str = "sk-made-up-0123456789abcdef";
/// A summary of the example that every check accepts.
const SUMMARY: &str = "The user omar_davis_3817 wants all reservations downgraded from business to economy class \
    to save money. The agent looked up the user's details and the reservations JG7FMM, 2FBBAH, X7BYG1 and BOH180.";

fn answer(text: &str, finish: &str) -> Vec<Step> {
    let body = json!({
        "id": "x", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {
            "prompt_tokens": 9000, "completion_tokens": 60, "total_tokens": 9060,
            "prompt_tokens_details": {"cached_tokens": 4000},
        },
    });
    status(200, &[], &body.to_string())
}

fn status(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<Step> {
    let json = ("content-type", "application/json");
    Step::answer(status, &[&[json], headers].concat(), body)
}

fn good() -> Vec<Step> {
    answer(SUMMARY, "stop")
}

/// The model that a request asks for.
fn model(asked: &Asked) -> String {
    let body: Value = serde_json::from_str(&asked.body).expect("JSON");
    body["model"].as_str().expect("a name").to_owned()
}

/// Compacts the example with the server as the place of all models.
fn run(place: &Place, server: &HttpServer, args: &[&str]) -> Ran {
    let url = format!("{}/v1", server.url());
    let all = [&["compact", "openai.json", "--base-url", &url], args].concat();
    place.asking(&all, &[])
}

fn json(ran: &Ran) -> Value {
    let document: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out));
    document["results"][0]["conversations"][0].clone()
}

#[test]
fn a_model_writes_the_summary() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let ran = run(
        &place,
        &server,
        &["--model", "gpt-5-mini", "--focus", "the reservations"],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = ran.out.replace(&server.url(), "http://server");
    insta::assert_snapshot!("asking_report", shown);
    insta::assert_snapshot!(
        "asking_before",
        ran.err.replace(&server.url(), "http://server")
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].target.as_str(), model(&asked[0]).as_str()),
        ("/v1/chat/completions", "gpt-5-mini")
    );
    assert_eq!(asked[0].header("authorization"), None, "no key was named");
    assert!(asked[0].body.contains("the reservations"), "the focus");
    assert!(asked[0].body.contains("omar_davis_3817"), "the transcript");
    let written = String::from_utf8(place.read("openai.compacted.json")).expect("text");
    assert!(written.contains("JG7FMM, 2FBBAH, X7BYG1 and BOH180"));
}

#[test]
fn the_json_says_who_was_asked_and_what_it_took() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let ran = run(&place, &server, &["--model", "gpt-5-mini", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let one = json(&ran);
    assert_eq!(one["summary"]["author"], "model");
    assert_eq!(one["summary"]["model"], "gpt-5-mini");
    insta::assert_snapshot!(
        "asking_json",
        serde_json::to_string_pretty(&one["asked"]).expect("JSON")
    );
}

#[test]
fn a_dry_run_asks_nobody_and_says_what_asking_would_cost() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let ran = run(&place, &server, &["--model", "gpt-5-mini", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.err.replace(&server.url(), "http://server"),
        "would ask gpt-5-mini at http://server/v1: about 7,714 tokens, at most 4,096 back, at most $0.010; \
         a dry run asks nobody, so this shows the digest's summary\n"
    );
    assert!(ran.out.contains("dry run: nothing written"), "{}", ran.out);
    let json_run = run(
        &place,
        &server,
        &["--model", "gpt-5-mini", "--dry-run", "--json"],
    );
    let one = json(&json_run);
    assert_eq!(one["asked"]["dry_run"], true);
    assert_eq!(one["asked"]["estimate"]["calls"], 1);
    assert_eq!(one["asked"]["used"], serde_json::json!([]));
    assert_eq!(one["summary"]["author"], "digest");
    assert!(server.asked().is_empty());
    assert_eq!(place.files(), ["openai.json"]);
}

#[test]
fn quiet_says_nothing() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let ran = run(&place, &server, &["--model", "m", "--quiet"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert_eq!(place.files(), ["openai.compacted.json", "openai.json"]);
}

#[test]
fn the_digest_asks_nobody() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let args = [
        "compact",
        "openai.json",
        "--model",
        "gpt-5-mini",
        "--strategy",
        "digest",
    ];
    let ran = place.asking(&args, &[("OPENAI_BASE_URL", &server.url())]);
    ran.done().says("extracted without a model");
    assert!(server.asked().is_empty());
}

#[test]
fn nothing_to_do_asks_nobody() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    run(&place, &server, &["--model", "m", "--keep", "messages=100"])
        .done()
        .says("nothing to compact");
    run(
        &place,
        &server,
        &["--model", "m", "--trigger", "tokens=50000"],
    )
    .done()
    .says("no trigger is reached");
    assert!(server.asked().is_empty());
}

#[test]
fn a_long_conversation_goes_in_parts() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let ran = run(
        &place,
        &server,
        &["--model", "m", "--max-context", "4000", "--json"],
    );
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let one = json(&ran);
    let calls = one["asked"]["used"][0]["calls"].as_u64().expect("a number");
    assert!(calls >= 3, "{calls}");
    assert_eq!(calls, server.asked().len() as u64);
    assert_eq!(one["outcome"], "compacted");
    // Everything that goes was in some call.
    let all: String = server.asked().iter().map(|a| a.body.as_str()).collect();
    for word in ["JG7FMM", "2FBBAH", "X7BYG1", "BOH180"] {
        assert!(all.contains(word), "{word}");
    }
}

#[test]
fn the_second_model_is_asked_when_the_first_cannot_be_used() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::start(|_, asked| match model(asked).as_str() {
        "first" => status(
            404,
            &[],
            r#"{"error":{"message":"no such model","code":"model_not_found"}}"#,
        ),
        _ => good(),
    });
    let ran = run(
        &place,
        &server,
        &[
            "--model",
            "last",
            "--summary-model",
            "first",
            "--fallback",
            "second",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("passed over first: the model cannot be used");
    ran.says("written by second");
    let models: Vec<String> = server.asked().iter().map(model).collect();
    assert_eq!(
        models,
        ["first", "second"],
        "and the one of --model was not needed"
    );
}

#[test]
fn the_model_that_the_conversation_runs_on_is_asked_last() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::start(|_, asked| match model(asked).as_str() {
        "last" => good(),
        _ => status(401, &[], r#"{"error":{"message":"no"}}"#),
    });
    let ran = run(
        &place,
        &server,
        &[
            "--model",
            "last",
            "--summary-model",
            "first",
            "--fallback",
            "second",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("written by last");
    let models: Vec<String> = server.asked().iter().map(model).collect();
    assert_eq!(models, ["first", "second", "last"]);
}

#[test]
fn a_blank_answer_is_asked_about_once_more_and_then_the_digest_does_it() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(answer(" \n", "stop"));
    let ran = run(&place, &server, &["--model", "m"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("passed over m: the answer is not a summary: it is empty");
    ran.says("to try: a more capable model may do better");
    ran.says(
        "note: every model failed; the digest, made without a model, took the summary's place",
    );
    ran.says("extracted without a model");
    let asked = server.asked();
    assert!((2..=4).contains(&asked.len()), "{}", asked.len());
    assert_ne!(asked[0].body, asked[1].body, "it is told what was wrong");

    let server = HttpServer::start(|n, _| if n == 0 { answer("", "stop") } else { good() });
    let ran = run(&place, &server, &["--model", "m", "--overwrite"]);
    ran.says("written by m");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn failures_leave_the_file_alone_where_that_is_said() {
    let place = Place::with(&["openai.json"]);
    let cut = "sk-".to_owned() + "is not shown";
    for (what, steps, says) in [
        (
            "wrong key",
            status(
                401,
                &[],
                &json!({"error": {"message": format!("bad key {KEY}")}}).to_string(),
            ),
            "check the key",
        ),
        (
            "cut off",
            answer(SUMMARY, "length"),
            "truncated at the output limit",
        ),
        ("refused", answer("", "content_filter"), "the model refused"),
        (
            "an error of the server",
            status(500, &[], "{}"),
            "to try: try again later, or name another model",
        ),
        (
            "half a stream",
            vec![
                Step::head(200, &[("content-type", "text/event-stream")]),
                Step::Send(
                    r#"data: {"choices":[{"index":0,"delta":{"content":"The user"}}]}"#.to_owned()
                        + "\n\n",
                ),
            ],
            "the stream ended before the reply did",
        ),
        (
            "a page",
            Step::answer(200, &[("content-type", "text/html")], "<html>hello</html>"),
            "check the base URL",
        ),
    ] {
        let server = HttpServer::always(steps);
        let args = [
            "--model",
            "m",
            "--on-failure",
            "unchanged",
            "--api-key-env",
            "MY_KEY",
        ];
        let url = format!("{}/v1", server.url());
        let all = [&["compact", "openai.json", "--base-url", &url], &args[..]].concat();
        let retries = ("CONSPECTUS_SUMMARIZATION_MAX_RETRIES", "0");
        let ran = place.asking(&all, &[("MY_KEY", KEY), retries]);
        assert_eq!(ran.code, 6, "{what}: {} {}", ran.out, ran.err);
        assert!(ran.out.contains(says), "{what}: {}", ran.out);
        ran.says("nothing written");
        assert_eq!(server.asked().len(), 1, "{what}");
        let bearer = format!("Bearer {KEY}");
        assert_eq!(
            server.asked()[0].header("authorization"),
            Some(bearer.as_str())
        );
        for text in [&ran.out, &ran.err] {
            assert!(
                !text.contains(KEY) && !text.contains(&cut),
                "{what}: {text}"
            );
        }
        assert_eq!(place.files(), ["openai.json"], "{what}");
        assert_eq!(place.read("openai.json"), example("openai.json"), "{what}");
    }
}

#[test]
fn who_is_busy_is_asked_again_when_it_says() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::start(|n, _| match n {
        0 => status(
            429,
            &[("retry-after-ms", "20")],
            r#"{"error":{"message":"slow down"}}"#,
        ),
        _ => good(),
    });
    let ran = run(&place, &server, &["--model", "m", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let used = &json(&ran)["asked"]["used"][0];
    assert_eq!((&used["calls"], &used["failed"]), (&json!(2), &json!(1)));
}

#[test]
fn a_key_that_is_not_there_is_a_failed_model() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let url = server.url();
    let args = [
        "compact",
        "openai.json",
        "--model",
        "m",
        "--base-url",
        &url,
        "--api-key-env",
        "NO_SUCH_KEY",
    ];
    let ran = place.asking(&args, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("passed over m: the summariser broke: it could not be made: the environment variable NO_SUCH_KEY is not set");
    ran.says("extracted without a model");
    assert!(server.asked().is_empty());
}

#[test]
fn names_that_lead_nowhere() {
    let place = Place::with(&["openai.json"]);
    let fail = |args: &[&str], code: i32, why: &str| {
        let ran = place.asking(&[&["compact", "openai.json"], args].concat(), &[]);
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert_eq!(place.files(), ["openai.json"]);
    };
    fail(
        &["--model", "our-own"],
        2,
        "--model our-own: whose model that is cannot be told",
    );
    fail(
        &["--fallback", "our-own"],
        2,
        "--fallback our-own: whose model",
    );
    fail(
        &["--focus", "x"],
        2,
        "--focus: no model is named that could be asked; add --model NAME",
    );
    fail(
        &["--strategy", "transcript"],
        2,
        "--strategy: no model is named",
    );
    fail(
        &["--summary-model", "gpt-5", "--strategy", "digest"],
        2,
        "the digest asks no model",
    );
    // A key that stands where it should not is not repeated.
    for (flag, value, why) in [
        (
            "--api-key-env",
            KEY.to_owned(),
            "takes the name of a variable, not the key",
        ),
        (
            "--base-url",
            format!("http://me:{KEY}@127.0.0.1:1/v1"),
            "its URL holds a password",
        ),
        (
            "--base-url",
            format!("http://127.0.0.1:1/v1?key={KEY}"),
            "asking m at http://127.0.0.1:1/v1:",
        ),
    ] {
        let args = [
            "compact",
            "openai.json",
            "--on-failure=unchanged",
            "--model",
            "m",
            "--base-url",
            "http://127.0.0.1:1/v1",
            flag,
            &value,
        ];
        let args = if flag == "--base-url" {
            [&args[..5], &args[7..]].concat()
        } else {
            args.to_vec()
        };
        let no_retries = [("CONSPECTUS_SUMMARIZATION_MAX_RETRIES", "0")];
        let ran = place.asking(&args, &no_retries);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert!(
            !ran.err.contains(KEY) && !ran.out.contains(KEY),
            "{} {}",
            ran.out,
            ran.err
        );
    }
    fail(
        &["--strategy", "magic"],
        2,
        "expected auto, replay, transcript or digest",
    );
}

/// The example file with its gateway at the server.
fn models_yaml(server: &HttpServer) -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/config/models.yaml"
    );
    let text = std::fs::read_to_string(path).expect("the example");
    let url = format!("{}/v1", server.url());
    let local = text.replace("https://gateway.example/v1", &url);
    assert_ne!(text, local);
    local
}

#[test]
fn the_example_of_a_configuration_with_models_runs() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    place.write("models.yaml", models_yaml(&server).as_bytes());
    let args = [
        "compact",
        "openai.json",
        "-c",
        "models.yaml",
        "--trigger",
        "tokens=4000",
    ];
    let ran = place.asking(
        &args,
        &[("GATEWAY_KEY", KEY), ("ANTHROPIC_API_KEY", "sk-other")],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("written by small");
    assert!(
        ran.err
            .contains("advice: models.yaml:24: summarization.model_name: small at http"),
        "{}",
        ran.err
    );
    let asked = &server.asked()[0];
    assert_eq!(model(asked), "gpt-4o-mini");
    assert_eq!(asked.header("x-team"), Some("conversations"));
    assert_eq!(
        asked.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY));
}

#[test]
fn without_a_model_for_summaries_the_one_that_the_conversation_runs_on_is_asked() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let url = server.url();
    let file = format!("models:\n  - {{name: main, base_url: '{url}/v1', api_key: $MAIN_KEY}}\n");
    place.write("config.yaml", file.as_bytes());
    let args = ["compact", "openai.json", "-c", "config.yaml"];
    place
        .asking(&args, &[("MAIN_KEY", KEY)])
        .says("written by main");
    // A variable that is not set is a model that could not be made.
    let ran = place.asking(&[&args[..], &["--overwrite"]].concat(), &[]);
    ran.says("passed over main: the summariser broke: it could not be made: the environment variable MAIN_KEY is not set");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_request_is_replayed_and_a_log_is_not() {
    let place = Place::with(&["claude-code.jsonl"]);
    let turn = |n: usize| {
        let words = format!("step {n} turns the valve a little further. ").repeat(20);
        format!(
            r#"{{"role":"user","content":"{words}"}}, {{"role":"assistant","content":"{n} is done: {words}"}}"#
        )
    };
    let turns: Vec<String> = (0..10).map(turn).collect();
    let last = r#"{"role":"user","content":"And now?"}"#;
    let messages = format!(r#"[{}, {last}"#, turns.join(", "));
    place.write(
        "chat.json",
        format!(r#"{{"model":"m", "messages": {messages}]}}"#).as_bytes(),
    );
    let server = HttpServer::always(answer(
        "Steps 0 to 9 turned the valve a little further each time, and all of them are done.",
        "stop",
    ));
    let url = format!("{}/v1", server.url());
    let asked = |file: &str| {
        let args = [
            "compact",
            file,
            "--model",
            "m",
            "--base-url",
            &url,
            "--strategy",
            "replay",
            "--json",
        ];
        let ran = place.asking(&args, &[]);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let reasons = json(&ran)["reasons"].to_string();
        (server.asked().pop().expect("it is asked").body, reasons)
    };
    let (body, reasons) = asked("chat.json");
    assert!(
        body.contains(&messages),
        "the messages as they stand in the file: {body}"
    );
    assert_eq!(reasons, "[]", "as it was told to");
    let (body, reasons) = asked("claude-code.jsonl");
    assert!(!body.contains("\"uuid\""), "{body}");
    assert!(
        reasons.contains("there is no request of this conversation"),
        "{reasons}"
    );
}

#[test]
fn several_conversations_of_a_file_are_added_up() {
    let place = Place::with(&["openai.json"]);
    let one: Value = serde_json::from_slice(&place.read("openai.json")).expect("JSON");
    let line = json!({ "messages": one });
    place.write("two.jsonl", format!("{line}\n{line}\n").as_bytes());
    let server = HttpServer::start(|_, asked| match model(asked).as_str() {
        "first" => status(403, &[], r#"{"error":{"message":"no"}}"#),
        _ => good(),
    });
    let url = format!("{}/v1", server.url());
    let args = [
        "compact",
        "two.jsonl",
        "--model",
        "gpt-5-mini",
        "--summary-model",
        "first",
        "--base-url",
        &url,
    ];
    let ran = place.asking(&args, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(
        ran.out.matches("passed over first").count(),
        1,
        "{}",
        ran.out
    );
    ran.says("gpt-5-mini  2 calls            18,000         8,000  120  $0.0029");
    ran.says("first       2 calls, 2 failed       0             0    0  $0");
}

#[test]
fn a_model_that_is_held_to_a_schema_fills_in_fields() {
    let place = Place::with(&["openai.json"]);
    let fields = json!({"goal": SUMMARY, "state": ["flight HAT001 is booked"], "decisions": [], "artefacts": [], "open_work": [], "next_steps": [], "open_questions": []});
    let server = HttpServer::always(answer(&fields.to_string(), "stop"));
    let url = server.url();
    let file = format!("models:\n  - {{name: main, base_url: '{url}/v1', form: fields}}\n");
    place.write("config.yaml", file.as_bytes());
    let ran = place.asking(&["compact", "openai.json", "-c", "config.yaml"], &[]);
    assert!(server.asked()[0].body.contains("json_schema"));
    ran.says("written by main")
        .says("| The user omar_davis_3817");
}

#[test]
fn the_environment_says_where_openai_and_its_key_are() {
    let place = Place::with(&["openai.json"]);
    let server = HttpServer::always(good());
    let url = format!("{}/v1", server.url());
    let args = ["compact", "openai.json", "--model", "qwen3"];
    let ran = place.asking(&args, &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", KEY)]);
    ran.says("written by qwen3");
    let bearer = format!("Bearer {KEY}");
    assert_eq!(
        server.asked()[0].header("authorization"),
        Some(bearer.as_str())
    );
}

#[test]
fn messages_are_spoken_where_that_is_said() {
    let place = Place::with(&["openai.json"]);
    let body = json!({
        "id": "x", "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": SUMMARY}],
        "usage": {"input_tokens": 9000, "output_tokens": 60},
    });
    let server = HttpServer::always(status(200, &[], &body.to_string()));
    let url = server.url();
    let args = ["compact", "openai.json", "--model", "claude-haiku-4-5"];
    let ran = place.asking(
        &args,
        &[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_API_KEY", KEY)],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says("written by claude-haiku-4-5");
    let asked = &server.asked()[0];
    assert_eq!(
        (asked.target.as_str(), asked.header("x-api-key")),
        ("/v1/messages", Some(KEY))
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_closes_the_call_and_leaves_the_file_alone() {
    use std::process::Stdio;
    let place = Place::with(&["openai.json", "anthropic.json"]);
    let server = HttpServer::always(vec![Step::Stall]);
    let url = format!("{}/v1", server.url());
    let args = [
        "compact",
        "openai.json",
        "anthropic.json",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let mut command = place.command(&args);
    Place::without_keys(&mut command);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    assert!(server.wait_for_requests(1), "it is asked");
    let pid = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(kill.expect("kill is there").success());
    let ran = Ran::of(&child.wait_with_output().expect("ends"));
    assert_eq!(ran.code, 130, "{} {}", ran.out, ran.err);
    ran.says("openai.json  openai: cancelled, nothing was changed")
        .says("nothing written");
    assert!(
        !ran.out.contains("anthropic.json"),
        "nor was anything else begun: {}",
        ran.out
    );
    assert!(server.wait_for_hang_ups(1), "the call is closed");
    assert_eq!(place.files(), ["anthropic.json", "openai.json"]);
}
