//! `conspectus chat`, with a scripted model behind it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use conspectus_testkit::server::{HttpServer, Step};
use serde_json::{Value, json};

use crate::docs::{check, run_so};
use crate::scripted::{body, called, is_agent, nothing, refused, said};
use crate::support::{Place, Ran};

const SUMMARY: &str = "The boiler was looked at step by step; src/part1.rs is about step 1.";

/// A model that gives these answers to an agent, the last one again and again, and sums up.
fn model(answers: Vec<Vec<Step>>) -> HttpServer {
    let turn = std::sync::atomic::AtomicUsize::new(0);
    HttpServer::start(move |_, asked| {
        if !is_agent(asked) {
            return said(SUMMARY);
        }
        let at = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        answers
            .get(at)
            .or(answers.last())
            .cloned()
            .unwrap_or_default()
    })
}

fn command(place: &Place, model: &HttpServer, args: &[&str]) -> Command {
    let url = format!("{}/v1", model.url());
    let all = [
        &[
            "chat",
            "--model",
            "m",
            "--base-url",
            &url,
            "--store",
            "sqlite:chat.db",
        ],
        args,
    ];
    let mut command = place.command(&all.concat());
    Place::without_keys(&mut command);
    command
}

/// Types these lines and leaves.
fn chat(place: &Place, model: &HttpServer, args: &[&str], lines: &str) -> Ran {
    let mut child = command(place, model, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(lines.as_bytes()).expect("it reads");
    drop(stdin);
    Ran::of(&child.wait_with_output().expect("it ends"))
}

fn contents(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().expect("a list");
    messages
        .iter()
        .map(|message| message["content"].to_string())
        .collect()
}

#[test]
fn an_answer_goes_to_standard_output_and_the_chat_can_be_gone_on_with() {
    let place = Place::new();
    let model = model(vec![said("Turn it left."), said("The red one.")]);
    let ran = chat(
        &place,
        &model,
        &["--thread", "boiler"],
        "How do I turn the valve?\n",
    );
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "Turn it left.\n"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
    let ran = chat(&place, &model, &["--thread", "boiler"], "Which one?\n");
    assert_eq!(ran.out, "The red one.\n", "{}", ran.err);
    let second = contents(&body(&model.asked()[1])).join("\n");
    assert!(second.contains("How do I turn the valve?") && second.contains("Turn it left."));
    // Without a name it says how to come back.
    let ran = chat(&place, &model, &[], "And now?\n");
    assert!(
        ran.err.contains("conspectus chat --thread chat-"),
        "{}",
        ran.err
    );
    // Nothing was said: there is nothing to come back to.
    assert!(!chat(&place, &model, &[], "").err.contains("--thread"));
}

#[test]
fn a_tool_call_is_one_line_on_standard_error() {
    let place = Place::new();
    let look = called("Let me look.", "c1", "recall", &json!({"query": "valve"}));
    let model = model(vec![look, said("Nothing was said.")]);
    let ran = chat(&place, &model, &[], "What was said?\n");
    assert_eq!(ran.out, "Let me look.\nNothing was said.\n", "{}", ran.err);
    let line = "  recall {\"query\":\"valve\"}  ok";
    assert!(ran.err.lines().any(|l| l == line), "{}", ran.err);
}

#[test]
fn a_question_is_answered_by_the_next_line_even_later() {
    let place = Place::new();
    let ask = json!({"question": "Green or black?", "options": ["green", "black"]});
    let model = model(vec![
        called("", "c1", "ask_clarification", &ask),
        said("Black it is."),
    ]);
    let ran = chat(&place, &model, &["--thread", "tea"], "Tea!\n");
    assert_eq!(
        ran.out, "Green or black?\n  - green\n  - black\n",
        "{}",
        ran.err
    );
    let ran = chat(&place, &model, &["--thread", "tea"], "/status\nblack\n");
    assert!(
        ran.out.ends_with("  - black\nBlack it is.\n"),
        "{} {}",
        ran.out,
        ran.err
    );
    let asked = model.asked();
    let answer = body(&asked[1])["messages"]
        .as_array()
        .and_then(|all| all.last().cloned());
    assert_eq!(answer.expect("there are some")["content"], "black");
}

#[test]
fn a_chat_is_compacted_undone_and_recalled() {
    let place = Place::new();
    place.write(
        "keep.yaml",
        b"summarization: {preset: default, enabled: true, keep: {messages: 2}}\n",
    );
    let words = |at: usize| {
        (0..150)
            .map(|word| format!("w{}", at * 97 + word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let long = (1..7).map(|at| {
        said(&format!(
            "Step {at} is about src/part{at}.rs: {}",
            words(at)
        ))
    });
    let model = model(long.collect());
    let args = ["--thread", "t", "--config", "keep.yaml"];
    let lines: String = (1..7).map(|at| format!("Step {at}?\n")).collect();
    assert_eq!(chat(&place, &model, &args, &lines).code, 0);
    let ran = chat(
        &place,
        &model,
        &args,
        "/compact the valves\n/status\n/undo\n/redo\n/recall part3\n/help\n",
    );
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    for expect in [
        "tokens",
        "is taken back",
        "is in force again",
        "src/part3.rs",
        "/compact [focus]",
    ] {
        assert!(ran.err.contains(expect), "{expect}: {}", ran.err);
    }
    let asked = model.asked();
    let summing = asked.iter().filter(|asked| !is_agent(asked));
    let summing: Vec<_> = summing.collect();
    assert!(
        !summing.is_empty()
            && summing
                .iter()
                .all(|asked| asked.body.contains("the valves"))
    );
    let before = asked.len();
    chat(&place, &model, &args, "Go on.\n");
    let next = contents(&body(&model.asked()[before])).join("\n");
    assert!(next.contains("src/part1.rs is about step 1"), "{next}");
    assert!(!next.contains("Step 2 is about"), "{next}");
}

#[test]
fn what_is_wrong_is_said_and_told_by_the_exit_code() {
    let place = Place::new();
    let ran = place.asking(&["chat", "--store", "sqlite:chat.db"], &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("there is no model to talk to"),
        "{}",
        ran.err
    );
    let model = model(vec![refused()]);
    let ran = chat(&place, &model, &[], "Tea?\n");
    assert_eq!((ran.code, ran.out.as_str()), (6, ""), "{}", ran.err);
    assert!(ran.err.contains("the model failed"), "{}", ran.err);
    let ran = chat(&place, &model, &[], "/undo\n/nothing\n");
    assert_eq!(ran.code, 6);
    assert!(
        ran.err
            .contains("there is no /nothing; /help lists what there is"),
        "{}",
        ran.err
    );
    assert_eq!(chat(&place, &model, &["--thread", "a/b"], "").code, 2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_answer_and_then_leaves() {
    let place = Place::new();
    let model = model(vec![nothing(), said("There it is.")]);
    let mut child = command(&place, &model, &["--thread", "t"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("piped");
    let mut err = BufReader::new(child.stderr.take().expect("piped"));
    let interrupt = |id: u32| {
        let sent = Command::new("kill")
            .args(["-s", "INT", &id.to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    };
    stdin.write_all(b"Tea?\n").expect("it reads");
    assert!(model.wait_for_requests(1));
    interrupt(child.id());
    let mut line = String::new();
    err.read_line(&mut line).expect("a line");
    assert_eq!(line, "stopped; /continue goes on with it\n");
    stdin.write_all(b"/continue\n").expect("it reads");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut answer = String::new();
    out.read_line(&mut answer).expect("a line");
    assert_eq!(answer, "There it is.\n");
    // Once it listens again, nothing is being written any more.
    stdin.write_all(b"/nothing\n").expect("it reads");
    line.clear();
    err.read_line(&mut line).expect("a line");
    assert!(line.contains("there is no /nothing"), "{line}");
    interrupt(child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "");
}

/// The chats in `docs/cli.md` are real, with a model that says what stands there.
///
/// `CONSPECTUS_UPDATE_DOCS=1 cargo test -p conspectus-cli --features threads chat` writes what is printed now.
#[test]
fn the_chats_of_the_docs_are_real() {
    const URL: &str = "http://127.0.0.1:8080/v1";
    let look = called("", "c1", "recall", &json!({"query": "valve"}));
    let model = model(vec![
        said("Turn the red valve a quarter to the left, then wait a minute."),
        look,
        said("The red one, a quarter to the left."),
    ]);
    let here = format!("{}/v1", model.url());
    check("docs/cli.md", |text| {
        let steady = |printed: &str| printed.to_owned();
        run_so(text, "```console chat\n", steady, |place, command| {
            let (typed, command) = command.split_once(" | conspectus ").expect("what is typed");
            let typed = typed.trim_start_matches("echo ").trim_matches('\'');
            let command = command.replace(URL, &here);
            let words: Vec<&str> = command.split_whitespace().collect();
            let output = place.pipe(&words, format!("{typed}\n").as_bytes());
            Ran::of(&output)
        })
    });
}
