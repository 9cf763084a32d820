//! What every provider makes of servers that fail: a typed failure, in time, without the key.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use conspectus::core::effect::{Failure, Finish};
use conspectus::core::view::Usage;
use conspectus::{Meter, ModelCall};
use conspectus_providers::Endpoint;
use conspectus_testkit::server::{HttpServer, Step};
use serde_json::json;

use crate::api::{APIS, Api, KEY, Says, block_on, call, events, json_answer};

/// Whatever happens ends long before this.
const SOON: Duration = Duration::from_secs(15);

fn failure(api: Api, steps: Vec<Step>, change: impl Fn(&mut Endpoint)) -> Failure {
    let server = HttpServer::always(steps);
    let mut endpoint = api.endpoint(&server);
    change(&mut endpoint);
    #[expect(clippy::disallowed_methods, reason = "the test is about real time")]
    let (start, now) = (Instant::now(), Instant::now);
    let answer = api.ask(&endpoint);
    assert!(now() - start < SOON, "{} took too long", api.name);
    let failure = answer.expect_err(api.name);
    assert!(!format!("{failure} {failure:?}").contains(KEY), "{failure}");
    failure
}

fn unavailable(message: &str, retry_after_ms: Option<u64>) -> Failure {
    Failure::Unavailable {
        message: message.into(),
        retry_after_ms,
    }
}

fn unusable(message: &str) -> Failure {
    Failure::Unusable {
        message: message.into(),
    }
}

fn check(steps: &[Step], expect: &Failure) {
    for api in APIS {
        let got = failure(api, steps.to_vec(), |_| {});
        assert_eq!(got, *expect, "{}", api.name);
    }
}

#[test]
fn stalls_end() {
    for api in APIS {
        let short = |endpoint: &mut Endpoint| endpoint.timeouts.first_byte_ms = 40;
        let late = |after_ms| Failure::TimedOut { after_ms };
        // Before the head, and between head and body.
        assert_eq!(failure(api, vec![Step::Stall], short), late(40));
        assert_eq!(failure(api, vec![events(), Step::Stall], short), late(40));
        let head = Step::head(200, &[("content-length", "100")]);
        assert_eq!(failure(api, vec![head, Step::Stall], short), late(40));
        // In the middle.
        let more = Step::Send((api.more)("Tea"));
        let steps = vec![events(), more.clone(), Step::Stall];
        let idle = |endpoint: &mut Endpoint| endpoint.timeouts.idle_ms = 45;
        assert_eq!(failure(api, steps, idle), late(45));
        let half = Step::Send("{\"choices\":".into());
        let head = Step::head(200, &[("content-type", "application/json")]);
        assert_eq!(failure(api, vec![head, half, Step::Stall], idle), late(45));
        // Signs of life without an end.
        let ping = Step::Repeat(": ping\n\n".into());
        let total = |endpoint: &mut Endpoint| {
            endpoint.timeouts.total_ms = 50;
            endpoint.max_reply_bytes = usize::MAX;
        };
        assert_eq!(failure(api, vec![events(), ping], total), late(50));
    }
}

/// What a stream told of its cost before it broke, stalled or said an error, and of one that came to its end.
#[test]
fn usage_is_told_before_the_end() {
    for api in APIS {
        let whole = (api.stream)(Says::Text);
        let at = whole.iter().position(|event| event.contains("usage\":{"));
        let at = at.expect("it tells its usage");
        let told = &whole[..=at];
        let after = |last: Vec<Step>| {
            let mut steps = vec![events()];
            steps.extend(told.iter().cloned().map(Step::Send));
            [steps, last].concat()
        };
        let error = Step::Send((api.error)("overloaded_error", "busy"));
        for last in [vec![Step::Stall], vec![error], vec![]] {
            let server = HttpServer::always(after(last));
            let mut endpoint = api.endpoint(&server);
            endpoint.timeouts.idle_ms = 60;
            let model = (api.make)(&endpoint).expect("it can be made");
            let seen: Arc<Mutex<Option<Usage>>> = Arc::default();
            let kept = seen.clone();
            let call = ModelCall {
                meter: Meter::new(move |usage| {
                    *kept.lock().expect("whole") = Some(usage.clone());
                }),
                ..call()
            };
            let answer = block_on(async { model.call(call, &|| {}).await });
            let seen = seen.lock().expect("whole").clone();
            let input = seen.as_ref().map(|usage| usage.input);
            assert!(input > Some(0), "{}: {answer:?}", api.name);
            // The usage of chat completions comes behind the end, when nothing can go wrong any more.
            if api.name == "anthropic" {
                assert!(answer.is_err(), "{answer:?}");
            }
        }
    }
}

#[test]
fn a_call_ends_in_the_time_it_was_given() {
    for api in APIS {
        let server = HttpServer::always(vec![Step::Stall]);
        let model = (api.make)(&api.endpoint(&server)).unwrap();
        for timeout_ms in [0, 30] {
            let mut call = call();
            call.timeout_ms = timeout_ms;
            let late = Failure::TimedOut {
                after_ms: timeout_ms,
            };
            assert_eq!(block_on(model.call(call, &|| {})), Err(late));
        }
    }
}

#[test]
fn streams_and_bodies_that_break_off_are_no_replies() {
    for api in APIS {
        let all = (api.stream)(Says::Text);
        // Up to the event that tells the end.
        for n in 0..all.len() - 3 {
            let mut steps = vec![events()];
            steps.extend(all[..n].iter().cloned().map(Step::Send));
            let half: String = all[n].chars().take(all[n].len() / 2).collect();
            for last in [String::new(), half] {
                let mut steps = steps.clone();
                steps.push(Step::Send(last));
                assert_eq!(
                    failure(api, steps, |_| {}),
                    unavailable("the stream ended before the reply did", None),
                    "{} {n}",
                    api.name
                );
            }
        }
        // The length says that more was to come.
        let head = Step::head(200, &[("content-length", "5000")]);
        let steps = vec![head, Step::Send("{\"choices\":[".into())];
        let broke = failure(api, steps, |_| {});
        assert!(
            matches!(&broke, Failure::Unavailable { message, .. } if message.starts_with("the connection broke")),
            "{broke:?}"
        );
        // Closed without a word.
        let broke = failure(api, vec![], |_| {});
        assert!(matches!(broke, Failure::Unavailable { .. }), "{broke:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for api in APIS {
        let mut endpoint = Endpoint::new(base.clone(), "m-1");
        endpoint.proxy = conspectus_providers::Proxy::None;
        match api.ask(&endpoint) {
            Err(Failure::Unavailable { message, .. }) => {
                assert!(
                    message.starts_with("cannot connect to the server: "),
                    "{message}"
                );
                assert!(!message.contains("127.0.0.1"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn statuses() {
    let error = r#"{"error":{"type":"x","message":"Slow down"}}"#;
    let with = |status, name, value| {
        let headers = [("content-type", "application/json"), (name, value)];
        Step::answer(status, &headers, error)
    };
    check(
        &json_answer(429, error),
        &unavailable("status 429: Slow down", None),
    );
    check(
        &json_answer(429, ""),
        &unavailable("status 429 without a word", None),
    );
    check(
        &with(429, "retry-after", "7"),
        &unavailable("status 429: Slow down", Some(7_000)),
    );
    check(
        &with(503, "retry-after-ms", "250"),
        &unavailable("status 503: Slow down", Some(250)),
    );
    check(
        &json_answer(500, error),
        &unavailable("status 500: Slow down", None),
    );
    check(
        &json_answer(529, ""),
        &unavailable("status 529 without a word", None),
    );
    check(
        &with(500, "x-should-retry", "false"),
        &unusable("status 500: Slow down"),
    );
    check(
        &with(400, "x-should-retry", "true"),
        &unavailable("status 400: Slow down", None),
    );
    check(
        &json_answer(400, ""),
        &unusable("status 400 without a word"),
    );
    check(
        &json_answer(401, error),
        &unusable("status 401: Slow down; check the key"),
    );
    check(
        &json_answer(404, error),
        &unusable("status 404: Slow down; check the base URL and the model's name"),
    );
    check(
        &with(307, "location", "http://elsewhere.invalid/"),
        &unusable("status 307: Slow down"),
    );
    let page = "<!DOCTYPE html><html><title>502 Bad Gateway</title>prompt is too long</html>";
    let html = |status| Step::answer(status, &[("content-type", "text/html")], page);
    check(
        &html(502),
        &unavailable("status 502: a web page: 502 Bad Gateway", None),
    );
    check(
        &html(200),
        &unusable(
            "status 200: a web page: 502 Bad Gateway; this is no reply of a model: check the base URL",
        ),
    );
    let overflow = r#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let too_large = Failure::ContextOverflow {
        limit: Some(200_000),
        actual: Some(213_462),
    };
    check(&json_answer(400, overflow), &too_large);
    check(&json_answer(413, ""), &Failure::TooManyBytes);
    check(&with(413, "x-should-retry", "true"), &Failure::TooManyBytes);
    check(
        &json_answer(429, overflow),
        &unavailable(
            "status 429: prompt is too long: 213462 tokens > 200000 maximum",
            None,
        ),
    );
}

#[test]
fn blank_answers_are_worth_another_try() {
    for body in ["", " \n\n"] {
        check(
            &json_answer(200, body),
            &unavailable("the answer is empty", None),
        );
    }
    check(
        &json_answer(200, r#"{"ok":true}"#),
        &unusable("status 200 without a word; this is no reply of a model: check the base URL"),
    );
}

#[test]
fn errors_in_a_stream_or_with_a_good_status() {
    for api in APIS {
        for (kind, message, expect) in [
            (
                "overloaded_error",
                "Overloaded",
                unavailable("Overloaded", None),
            ),
            ("rate_limit_error", "Slow", unavailable("Slow", None)),
            (
                "invalid_request_error",
                "maximum context length is 4096 tokens, you asked for more",
                Failure::over(4096),
            ),
            ("authentication_error", "no", unusable("no; check the key")),
        ] {
            let error = (api.error)(kind, message);
            let more = Step::Send((api.more)("Tea"));
            let steps = vec![events(), more, Step::Send(error.clone()), Step::Stall];
            assert_eq!(failure(api, steps, |_| {}), expect, "{} {kind}", api.name);
            let body = error.split("data: ").last().unwrap().trim().to_owned();
            assert_eq!(failure(api, json_answer(200, &body), |_| {}), expect);
        }
        let steps = vec![events(), Step::Send("data: <html>\n\n".into())];
        let expect = unusable("the stream is not one of a model of this kind: check the base URL");
        assert_eq!(failure(api, steps, |_| {}), expect);
    }
}

#[test]
fn endless_repetition_is_cut_off() {
    for api in APIS {
        // Text beyond the cap of the reply.
        let more = (api.more)(&"tea and more tea ".repeat(100));
        let server = HttpServer::always(vec![events(), Step::Repeat(more)]);
        let reply = api.ask(&api.endpoint(&server)).unwrap();
        assert_eq!(reply.finish, Finish::Length);
        assert!(reply.text.len() < 200_000, "{}", reply.text.len());
        assert!(server.wait_for_hang_ups(1), "the model goes on writing");
        // Bytes beyond the cap of an answer, in a stream and in one document.
        let server = HttpServer::always(vec![events(), Step::Repeat(": tea\n\n".into())]);
        let mut endpoint = api.endpoint(&server);
        endpoint.max_reply_bytes = 100_000;
        assert_eq!(api.ask(&endpoint).unwrap().finish, Finish::Length);
        let large = vec![Step::head(200, &[]), Step::Repeat("{\"a\":".into())];
        let cap = |endpoint: &mut Endpoint| endpoint.max_reply_bytes = 100_000;
        assert_eq!(
            failure(api, large, cap),
            unusable("the answer is larger than 100000 bytes")
        );
        // One event without an end.
        let line = Step::Repeat("data: tea".repeat(1000));
        let server = HttpServer::always(vec![events(), line]);
        assert_eq!(
            api.ask(&api.endpoint(&server)).unwrap().finish,
            Finish::Length
        );
    }
}

#[test]
fn an_error_that_quotes_the_key_does_not_show_it() {
    let quote = format!("{} Incorrect API key provided: {KEY}", "x".repeat(260));
    let body = json!({"error": {"message": quote}}).to_string();
    for api in APIS {
        for steps in [
            json_answer(401, &body),
            json_answer(500, &quote),
            json_answer(401, &body.replace("sk-", "\\u0073k-")),
            json_answer(200, &body),
            vec![
                events(),
                Step::Send((api.error)("authentication_error", &quote)),
            ],
            vec![
                events(),
                Step::Send(format!("event: error\ndata: {body}\n\n")),
            ],
        ] {
            let failure = failure(api, steps, |_| {}).to_string();
            assert!(failure.contains("Incorrect API key provid"), "{failure}");
            // No part of it either, where the message was shortened in its middle.
            assert!(!failure.contains("sk-"), "{failure}");
        }
    }
}
