//! What each API asks of a request that is rewritten.

use std::io::Write as _;

use conspectus::Format;
use conspectus::wire::valid;
use conspectus_testkit::client::ask;
use serde_json::Value;

use crate::compaction::{Client, FORMATS};
use crate::support::{Rig, chat_reply, window};

fn json(body: &str) -> Value {
    serde_json::from_str(body).expect("json")
}

/// Turns until one is rewritten; the request that came and the one that went up.
fn rewritten(
    rig: &Rig,
    client: &mut Client,
    dress: impl Fn(String) -> String,
    then: impl Fn(&str, &str),
) {
    let mut count = 0;
    for n in 0..60 {
        client.asks();
        if n % 3 == 1 {
            client.calls(4);
        }
        let body = dress(client.body());
        let reply = rig.post(client.path(), &[("anthropic-beta", "a,b")], &body);
        assert_eq!(reply.status, 200);
        let up = rig.newest();
        assert_eq!(up.header("anthropic-beta"), Some("a,b"));
        let faults = valid::check(client.format, up.body.as_bytes());
        assert!(faults.is_empty(), "{faults:?}");
        if ["compacted", "applied"].contains(&reply.header("x-conspectus-outcome")) {
            count += 1;
            then(&body, &up.body);
        }
        client.is_told();
    }
    assert!(count > 10, "{count}");
}

#[test]
fn anthropics_marks_stay_within_four_and_one_is_on_the_summary() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::Anthropic);
    // As Claude Code sends it: two marks in the system prompt, one on the newest message; fields that pass through.
    let dress = |body: String| {
        let mark = r#""cache_control":{"type":"ephemeral"}"#;
        let system = format!(
            r#""system":[{{"type":"text","text":"a",{mark}}},{{"type":"text","text":"b",{mark}}}]"#
        );
        let body = body.replace(r#""system":"Be brief.""#, &system).replacen(
            '{',
            r#"{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"metadata":{"user_id":"u"},"#,
            1,
        );
        let at = body
            .rfind(r#"{"role":"user","content":""#)
            .expect("a request");
        let text = body[at + r#"{"role":"user","content":""#.len()..].to_owned();
        let (text, rest) = text.split_once('"').expect("it ends");
        if text.is_empty() || !rest.starts_with('}') {
            return body;
        }
        format!(
            r#"{}{{"role":"user","content":[{{"type":"text","text":"{text}",{mark}}}]{rest}"#,
            &body[..at]
        )
    };
    rewritten(&rig, &mut client, dress, |body, up| {
        let marks = up.matches("\"cache_control\"").count();
        assert!(marks <= 4, "{marks}");
        let (body, up) = (json(body), json(up));
        for same in [
            "context_management",
            "metadata",
            "system",
            "tools",
            "max_tokens",
        ] {
            assert_eq!(body[same], up[same], "{same}");
        }
        // The summary is the beginning of what stays the same.
        let first = up["messages"][0].to_string();
        assert!(first.contains("cache_control"), "{first}");
    });
}

#[test]
fn system_messages_inside_of_anthropics_list_pass_through() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::Anthropic);
    let dress = |body: String| {
        // Behind the newest request, as it may stand there.
        let at = body.rfind("]}").expect("a list");
        format!(
            r#"{},{{"role":"system","content":"Only today: answer in Latin."}}{}"#,
            &body[..at],
            &body[at..]
        )
    };
    rewritten(&rig, &mut client, dress, |_, up| {
        let up = json(up);
        let list = up["messages"].as_array().expect("a list");
        let last = list.last().expect("one");
        assert_eq!(last["role"], "system");
        assert_eq!(last["content"], "Only today: answer in Latin.");
    });
}

#[test]
fn tools_and_hosts_words_of_responses_stay() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::Responses);
    // As Codex begins.
    let pinned = [
        r#"{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"read","parameters":{}}]}"#,
        r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"Sandbox: read only."}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/src</cwd>\n</environment_context>"}]}"#,
        r#"{"type":"compaction","id":"cmp_1","encrypted_content":"ENC:of-another-maker"}"#,
    ];
    client.messages.extend(pinned.map(str::to_owned));
    rewritten(
        &rig,
        &mut client,
        |body| body,
        |_, up| {
            for item in pinned {
                assert!(up.contains(item), "{item}\n{up}");
            }
        },
    );
}

#[test]
fn a_thread_that_the_upstream_holds_is_left_alone() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(500));
    let mut client = Client::new(Format::Anthropic);
    for _ in 0..20 {
        client.asks();
        client.is_told();
    }
    client.asks();
    let body = client.body().replacen(
        '{',
        r#"{"thread":{"type":"continue","previous_message_id":"msg_1"},"#,
        1,
    );
    let reply = rig.post(client.path(), &[], &body);
    assert_eq!(reply.header("x-conspectus-outcome"), "passed");
    assert_eq!(rig.newest().body, body);
}

#[test]
fn a_compressed_body_goes_as_it_came_or_rewritten_in_the_clear() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::OpenAi);
    let (mut as_it_came, mut rewritten) = (0, 0);
    for _ in 0..60 {
        client.asks();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed
            .write_all(client.body().as_bytes())
            .expect("it is packed");
        let packed = packed.finish().expect("it is packed");
        let headers = [
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ];
        let reply = ask(&rig.address, "POST", client.path(), &headers, Some(&packed));
        assert_eq!(reply.status, 200);
        let up = rig.newest();
        match reply.header("x-conspectus-outcome") {
            "untouched" => {
                assert_eq!(up.header("content-encoding"), Some("gzip"));
                assert_eq!(
                    up.header("content-length"),
                    Some(packed.len().to_string().as_str())
                );
                as_it_came += 1;
            }
            _ => {
                assert_eq!(up.header("content-encoding"), None);
                assert!(valid::check(Format::OpenAi, up.body.as_bytes()).is_empty());
                rewritten += 1;
            }
        }
        client.is_told();
    }
    assert!(as_it_came > 5 && rewritten > 20, "{as_it_came} {rewritten}");
}

#[test]
fn other_keys_and_sessions_are_other_conversations() {
    let mut rig = Rig::new(|_, _| chat_reply("fine"));
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
    for headers in [
        [("authorization", "Bearer a"), ("accept", "x")],
        [("authorization", "Bearer b"), ("accept", "x")],
        [("authorization", "Bearer a"), ("session-id", "1")],
        [("authorization", "Bearer a"), ("session-id", "2")],
        [("authorization", "Bearer a"), ("session-id", "2")],
    ] {
        rig.post("/v1/chat/completions", &headers, body);
    }
    rig.stop();
    assert_eq!(rig.names().len(), 4);
}

#[test]
fn ten_compactions_one_on_the_other_with_late_answers_and_branches() {
    for format in FORMATS {
        let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(4_000));
        let mut client = Client::new(format);
        let mut compacted = 0;
        let mut outcomes = Vec::new();
        for n in 0..400 {
            client.asks();
            if n % 2 == 1 {
                client.calls(3);
            }
            let send = |client: &Client| {
                let reply = rig.post(client.path(), &[], &client.body());
                assert_eq!(reply.status, 200);
                let up = rig.newest().body;
                let faults = valid::check(format, up.as_bytes());
                assert!(faults.is_empty(), "{format:?} {faults:?}");
                reply.header("x-conspectus-outcome").to_owned()
            };
            let outcome = send(&client);
            compacted += usize::from(outcome == "compacted");
            outcomes.push(outcome);
            if n % 5 == 4 {
                // The answer of the tool comes once more, longer: the last message is another one.
                let last = client.messages.len() - 1;
                let kept = client.messages[last].clone();
                client.messages[last] = kept.replace("The lantern", "Late: the lantern");
                outcomes.push(send(&client));
                client.messages[last] = kept;
            }
            if compacted == 10 {
                break;
            }
            client.is_told();
        }
        assert_eq!(compacted, 10, "{format:?} {outcomes:?}");
        assert!(!outcomes.iter().any(|outcome| outcome == "failed_open"));
    }
}
