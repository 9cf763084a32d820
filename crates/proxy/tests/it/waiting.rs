//! A stream that waits for a compaction begins with signs of life.

use std::io::Write as _;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use conspectus::Format;
use conspectus_proxy::Summaries;
use conspectus_testkit::client::open;
use conspectus_testkit::server::{Asked, Step};

use crate::compaction::{Client, FORMATS};
use crate::support::{Rig, chat_reply, window};

const SUMMARY: &str =
    "The lantern build failed with E-4417; the valve of the second boiler was turned by hand.";

/// Whether it is a request of ours for a summary.
fn is_ours(asked: &Asked) -> bool {
    asked
        .header("user-agent")
        .is_some_and(|agent| agent.starts_with("conspectus/"))
}

fn summary(format: Format) -> Vec<Step> {
    match format {
        Format::Anthropic => Step::answer(
            200,
            &[("content-type", "application/json")],
            &format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"{SUMMARY}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":9,"output_tokens":9}}}}"#
            ),
        ),
        _ => chat_reply(SUMMARY),
    }
}

/// A rig whose summaries wait until they are let go, and a client whose conversation is over its trigger.
fn rig(format: Format, reply: Vec<Step>, keep_alive: Duration) -> (Rig, mpsc::Sender<()>, Client) {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let rig = Rig::with(
        move |_, asked| match is_ours(asked) {
            true => {
                // Goes on, too, when the test is over.
                let _ = wait.lock().expect("nobody panics").recv();
                summary(format)
            }
            false => reply.clone(),
        },
        |s| {
            s.options = window(6_000);
            s.summaries = Summaries::Client { model: None };
            s.limits.keep_alive = keep_alive;
        },
    );
    let mut client = Client::new(format);
    for _ in 0..60 {
        client.asks();
        client.is_told();
    }
    client.asks();
    (rig, go, client)
}

fn streaming(client: &Client) -> String {
    client.body().replacen('{', r#"{"stream":true,"#, 1)
}

/// What comes until `found` stands in it.
fn until(stream: &mut impl std::io::Read, read: &mut Vec<u8>, found: &str) {
    while !String::from_utf8_lossy(read).contains(found) {
        let mut some = [0; 512];
        let count = stream.read(&mut some).expect("it is open");
        let so_far = String::from_utf8_lossy(read);
        assert!(count > 0, "it ended before {found:?}: {so_far}");
        read.extend_from_slice(&some[..count]);
    }
}

fn sign(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        _ => ": keep-alive\n\n",
    }
}

#[test]
fn a_stream_that_waits_says_that_it_lives() {
    for format in FORMATS {
        let told = "data: {\"done\":1}\n\n";
        let head = Step::head(200, &[("content-type", "text/event-stream")]);
        let reply = vec![head, Step::Send(told.to_owned())];
        let (rig, go, client) = rig(format, reply, Duration::from_millis(30));
        let body = streaming(&client);
        let encodings = [("accept-encoding", "gzip")];
        let mut stream = open(
            &rig.address,
            "POST",
            client.path(),
            &encodings,
            Some(body.len()),
        );
        stream.get_mut().write_all(body.as_bytes()).expect("taken");
        let mut read = Vec::new();
        // Twice: it goes on saying so.
        until(&mut stream, &mut read, sign(format));
        let first = String::from_utf8_lossy(&read).into_owned();
        let at = first.find(sign(format)).expect("it is there");
        let mut more = read.split_off(at + sign(format).len());
        until(&mut stream, &mut more, sign(format));
        assert!(first.starts_with("HTTP/1.1 200"), "{first}");
        assert!(first.contains("content-type: text/event-stream"), "{first}");
        assert!(first.contains("x-conspectus-outcome: waited"), "{first}");
        // Nothing went up yet but what asks for the summary.
        assert!(rig.upstream.asked().iter().all(is_ours));
        drop(go);
        until(&mut stream, &mut more, told);
        let up = rig.newest();
        assert!(up.body.contains(SUMMARY) && up.body.len() < body.len());
        assert_eq!(up.header("accept-encoding"), Some("identity"));
    }
}

#[test]
fn an_error_behind_it_is_an_event_of_the_api() {
    for format in FORMATS {
        let error =
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down, please"}}"#;
        let reply = Step::answer(429, &[("content-type", "application/json")], error);
        let (rig, go, client) = rig(format, reply, Duration::from_millis(30));
        let body = streaming(&client);
        let mut stream = open(&rig.address, "POST", client.path(), &[], Some(body.len()));
        stream.get_mut().write_all(body.as_bytes()).expect("taken");
        let mut read = Vec::new();
        until(&mut stream, &mut read, sign(format));
        drop(go);
        let expect = match format {
            Format::Anthropic => format!("event: error\ndata: {error}\n\n"),
            Format::Responses => "event: error\ndata: {\"code\":\"rate_limit_error\",\"message\":\"slow down, please\",\"param\":null,\"sequence_number\":0,\"type\":\"error\"}\n\n".to_owned(),
            _ => format!("data: {error}\n\n"),
        };
        until(&mut stream, &mut read, &expect);
    }
}

#[test]
fn who_asked_for_no_stream_or_wants_no_signs_waits_in_silence() {
    for (keep_alive, is_stream) in [(0, true), (30, false)] {
        let reply = Step::answer(418, &[("content-type", "application/json")], "{}");
        let time = Duration::from_millis(keep_alive);
        let (rig, go, client) = rig(Format::OpenAi, reply, time);
        let body = match is_stream {
            true => streaming(&client),
            false => client.body(),
        };
        let mut stream = open(&rig.address, "POST", client.path(), &[], Some(body.len()));
        stream.get_mut().write_all(body.as_bytes()).expect("taken");
        assert!(
            rig.upstream.wait_for_requests(1),
            "the summary is asked for"
        );
        drop(go);
        let mut read = Vec::new();
        until(&mut stream, &mut read, "{}");
        // Its status could still be said.
        let read = String::from_utf8_lossy(&read);
        assert!(read.starts_with("HTTP/1.1 418"), "{read}");
        assert!(!read.contains("keep-alive\n"), "{read}");
    }
}
