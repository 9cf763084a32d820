//! `conspectus proxy`, and the proxy beside `conspectus serve`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use conspectus_testkit::client::ask;
use conspectus_testkit::server::{HttpServer, Step};

use serde_json::json;

use crate::support::Place;

/// A program that runs until it is told to stop.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place
            .command(args)
            .env_remove("XDG_DATA_HOME")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("runs");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, out }
    }

    /// The address in the next line.
    fn address(&mut self, words: &str) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix(words);
        address.unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    fn ends(mut self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", "TERM", &id]).status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const REPLY: &str = r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
const BODY: &str =
    r#"{"model":"m","messages":[{"role":"user","content":"How deep is the well?"}]}"#;

fn upstream() -> HttpServer {
    HttpServer::always(Step::answer(
        200,
        &[("content-type", "application/json")],
        REPLY,
    ))
}

fn config(place: &Place, upstream: &HttpServer) {
    let url = upstream.url();
    let text = format!(
        "proxy:\n  listen: 127.0.0.1:0\n  upstreams:\n    first: {url}\n    local: {{url: '{url}/v1', strict: [short_ids]}}\n  headers: false\n"
    );
    place.write("config.yaml", text.as_bytes());
}

fn post(address: &str, path: &str, body: &str) -> conspectus_testkit::client::Reply {
    let json = [("content-type", "application/json")];
    ask(address, "POST", path, &json, Some(body.as_bytes()))
}

#[test]
fn the_proxy_runs_beside_the_service_on_one_store() {
    let (place, upstream) = (Place::new(), upstream());
    config(&place, &upstream);
    let args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--config",
        "config.yaml",
    ];
    let mut running = Running::start(&place, &args);
    let service = running.address("listening on http://");
    let proxy = running.address("proxy on http://");
    assert_ne!(service, proxy);
    let reply = post(&proxy, "/v1/chat/completions", BODY);
    assert_eq!((reply.status, reply.body.as_str()), (200, REPLY));
    assert_eq!(upstream.asked()[0].body, BODY);
    // The conversation becomes a thread when its answer has ended; asking once more waits for it.
    let listed = || ask(&service, "GET", "/api/threads", &[], None).done();
    let is_there = (0..10_000).any(|_| {
        let list = listed().to_string();
        list.contains("px-") && list.contains("\"source\":\"proxy\"")
    });
    assert!(is_there, "{}", listed());
    // It is measured by the window of the model that its client asks for, whatever models the service has.
    let body = r#"{"model":"gpt-5-mini","messages":[{"role":"user","content":"What leaks?"}]}"#;
    assert_eq!(post(&proxy, "/v1/chat/completions", body).status, 200);
    let status = (0..10_000).find_map(|_| {
        let list = listed();
        let thread = list["threads"]
            .as_array()?
            .iter()
            .find(|thread| thread["metadata"]["proxy"]["model"] == "gpt-5-mini")?;
        let id = thread["thread_id"].as_str()?;
        Some(
            ask(
                &service,
                "GET",
                &format!("/api/threads/{id}/status"),
                &[],
                None,
            )
            .done(),
        )
    });
    let status = status.unwrap_or_else(|| panic!("{}", listed()));
    assert_eq!(
        (&status["model"], &status["window"]["tokens"]),
        (&json!("gpt-5-mini"), &json!(400_000)),
        "{status}"
    );
    // Neither knows the paths of the other.
    assert_eq!(post(&service, "/v1/chat/completions", BODY).status, 404);
    assert_eq!(upstream.asked().len(), 2);
    running.ends();
}

#[test]
fn the_section_says_what_flags_would() {
    let (place, upstream) = (Place::new(), upstream());
    config(&place, &upstream);
    let args = ["proxy", "--config", "config.yaml", "--store", "memory"];
    let mut running = Running::start(&place, &args);
    let proxy = running.address("listening on http://");
    let reply = post(&proxy, "/v1/chat/completions", BODY);
    assert_eq!(
        (reply.status, reply.header("x-conspectus-outcome")),
        (200, "")
    );
    // A named upstream, with its rule.
    let calls = r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"r"}]}"#;
    assert_eq!(
        post(&proxy, "/local/v1/chat/completions", calls).status,
        200
    );
    let up = upstream.asked().pop().expect("it was asked").body;
    assert!(
        !up.contains("call_1") && up.len() == calls.len() + 2 * (9 - 6),
        "{up}"
    );
    running.ends();
}

#[test]
fn flags_stand_over_the_section() {
    let (place, of_file, of_flag) = (Place::new(), upstream(), upstream());
    config(&place, &of_file);
    let url = of_flag.url();
    let mut args = vec!["proxy", "--config", "config.yaml", "--store", "memory"];
    args.extend(["--upstream", &url, "--strict", "default=turns,one_system"]);
    let mut running = Running::start(&place, &args);
    let proxy = running.address("listening on http://");
    let twice =
        r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"user","content":"r"}]}"#;
    post(&proxy, "/v1/chat/completions", twice);
    assert!(of_file.asked().is_empty());
    assert!(of_flag.asked()[0].body.contains(r#""content":"q\n\nr""#));
    running.ends();
}

#[test]
fn what_it_cannot_run_with_is_said_before_it_runs() {
    let place = Place::new();
    place.write("named.yaml", b"proxy: {upstreams: {v1: 'http://h'}}\n");
    place.write("typo.yaml", b"proxy: {upstream: {a: 'http://h'}}\n");
    let check = |args: &[&str], code: i32, expect: &str| {
        let ran = place.run(&[&["proxy", "--store", "memory"], args].concat());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(expect), "{}", ran.err);
    };
    check(&[], 2, "there is no upstream; name one with --upstream");
    check(
        &["--config", "typo.yaml"],
        3,
        "typo.yaml:1: proxy.upstream: unknown option, did you mean upstreams?",
    );
    check(
        &["--config", "named.yaml"],
        3,
        "proxy.upstreams.v1: its name may have letters",
    );
    let strict = |said: &'static str| ["--upstream", "http://127.0.0.1:1", "--strict", said];
    check(
        &strict("other"),
        2,
        "--strict: no upstream is called \"other\"",
    );
    check(
        &strict("default=turn"),
        2,
        "--strict: \"turn\" is no rule; there are turns, one_system, after_tool, short_ids",
    );
    let open = ["--upstream", "http://127.0.0.1:1", "--listen", "0.0.0.0:0"];
    check(&open, 2, "0.0.0.0:0 can be reached from other machines");
}
