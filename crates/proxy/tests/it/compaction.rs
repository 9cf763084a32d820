//! Conversations that grow beyond their window: compacted on the way, the same way with every following request.

use std::sync::Arc;

use conspectus::Format;
use conspectus::wire::valid;
use conspectus_store::SqliteStore;
use conspectus_testkit::server::{HttpServer, Step};

use crate::support::{Rig, chat_reply, window};

/// A conversation of a client that keeps its list itself: questions, calls, results, replies.
pub(crate) struct Client {
    pub(crate) format: Format,
    pub(crate) messages: Vec<String>,
    turn: usize,
}

const WORDS: &str = "The lantern build failed with E-4417 while the mast was lowered; the valve of the second boiler has to be turned by hand. ";

impl Client {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            messages: Vec::new(),
            turn: 0,
        }
    }

    pub(crate) fn path(&self) -> &'static str {
        match self.format {
            Format::Anthropic => "/v1/messages",
            Format::Responses => "/v1/responses",
            _ => "/v1/chat/completions",
        }
    }

    pub(crate) fn body(&self) -> String {
        let list = self.messages.join(",");
        match self.format {
            Format::Anthropic => format!(
                r#"{{"model":"m","max_tokens":100,"system":"Be brief.","tools":[{{"name":"read","input_schema":{{"type":"object"}}}}],"messages":[{list}]}}"#
            ),
            Format::Responses => {
                format!(
                    r#"{{"model":"m","instructions":"Be brief.","input":[{list}],"store":false}}"#
                )
            }
            _ => format!(
                r#"{{"model":"m","messages":[{{"role":"system","content":"Be brief."}},{list}]}}"#
            ),
        }
    }

    /// A person asks for something.
    pub(crate) fn asks(&mut self) {
        self.turn += 1;
        let text = format!("Request {}. {}", self.turn, WORDS.repeat(3));
        self.messages.push(match self.format {
            Format::Responses => format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            ),
            _ => format!(r#"{{"role":"user","content":"{text}"}}"#),
        });
    }

    /// The model calls a tool; its answer comes.
    pub(crate) fn calls(&mut self, size: usize) {
        self.turn += 1;
        let (n, result) = (self.turn, WORDS.repeat(size));
        let path = format!("src/part{n}.rs");
        match self.format {
            Format::Anthropic => {
                self.messages.push(format!(
                    r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"I look.","signature":"s{n}"}},{{"type":"tool_use","id":"toolu_{n}","name":"read","input":{{"path":"{path}"}}}}]}}"#
                ));
                self.messages.push(format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n}","content":"{result}"}}]}}"#
                ));
            }
            Format::Responses => {
                self.messages.push(format!(
                    r#"{{"type":"reasoning","id":"rs_{n}","summary":[],"encrypted_content":"e{n}"}}"#
                ));
                self.messages.push(format!(
                    r#"{{"type":"function_call","id":"fc_{n}","call_id":"call_{n}","name":"read","arguments":"{{\"path\":\"{path}\"}}"}}"#
                ));
                self.messages.push(format!(
                    r#"{{"type":"function_call_output","call_id":"call_{n}","output":"{result}"}}"#
                ));
            }
            _ => {
                self.messages.push(format!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":{{"name":"read","arguments":"{{\"path\":\"{path}\"}}"}}}}]}}"#
                ));
                self.messages.push(format!(
                    r#"{{"role":"tool","tool_call_id":"call_{n}","content":"{result}"}}"#
                ));
            }
        }
    }

    /// The model replies.
    pub(crate) fn is_told(&mut self) {
        let text = format!("Reply {}. {WORDS}", self.turn);
        self.messages.push(match self.format {
            Format::Responses => format!(
                r#"{{"type":"message","id":"msg_{}","role":"assistant","status":"completed","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#,
                self.turn
            ),
            _ => format!(r#"{{"role":"assistant","content":"{text}"}}"#),
        });
    }
}

pub(crate) const FORMATS: [Format; 3] = [Format::OpenAi, Format::Anthropic, Format::Responses];

#[track_caller]
fn is_valid(format: Format, body: &str) {
    let faults = valid::check(format, body.as_bytes());
    assert!(faults.is_empty(), "{faults:?}\n{body}");
}

#[test]
fn a_long_conversation_goes_on_and_its_beginning_stays_the_same() {
    for format in FORMATS {
        let mut rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
        let mut client = Client::new(format);
        let mut sent: Vec<(String, String)> = Vec::new();
        for n in 0..60 {
            client.asks();
            if n % 3 == 1 {
                client.calls(6);
            }
            let reply = rig.post(client.path(), &[], &client.body());
            assert_eq!(reply.status, 200);
            let up = rig.newest().body;
            is_valid(format, &up);
            sent.push((reply.header("x-conspectus-outcome").to_owned(), up));
            client.is_told();
        }
        let count = |word: &str| sent.iter().filter(|(outcome, _)| outcome == word).count();
        let outcomes: Vec<_> = sent.iter().map(|(outcome, _)| outcome.as_str()).collect();
        assert!(count("compacted") >= 3, "{format:?} {outcomes:?}");
        assert!(count("applied") >= 20, "{format:?} {outcomes:?}");
        assert_eq!(
            count("failed_open"),
            0,
            "{:?}",
            rig.lines.lock().expect("lines")
        );
        assert_eq!(outcomes[0], "untouched");
        // The last one holds far less than the client has.
        let (_, last) = sent.last().expect("there is one");
        assert!(last.len() * 2 < client.body().len());
        assert!(last.contains("Request 60") || last.contains(&format!("Request {}", client.turn)));
        // Between two compactions the next request repeats the one before, to the end of its list.
        for pair in sent.windows(2) {
            let ((_, before), (outcome, after)) = (&pair[0], &pair[1]);
            if outcome == "compacted" {
                continue;
            }
            let end = before.rfind(']').expect("a list");
            assert_eq!(&before[..end], &after[..end], "{format:?} {outcomes:?}");
        }
        rig.stop();
        let names = rig.names();
        assert_eq!(names.len(), 1, "it is one thread");
    }
}

#[test]
fn it_goes_on_after_a_restart_with_the_same_beginning() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let mut client = Client::new(Format::Anthropic);
    let mut before = String::new();
    for run in 0..3 {
        let store = Arc::new(SqliteStore::open(&path).expect("it opens"));
        let upstream = HttpServer::always(chat_reply("fine"));
        let mut rig = Rig::on(upstream, store, |s| s.options = window(2_500));
        for n in 0..14 {
            client.asks();
            let reply = rig.post(client.path(), &[], &client.body());
            let up = rig.newest().body;
            is_valid(client.format, &up);
            let outcome = reply.header("x-conspectus-outcome");
            if n == 0 && run > 0 {
                let lines = rig.lines.lock().expect("lines");
                assert!(["applied", "compacted"].contains(&outcome), "{lines:?}");
            }
            if outcome == "applied" {
                let end = before.rfind(']').expect("a list");
                assert_eq!(&before[..end], &up[..end]);
            }
            before = up;
            client.is_told();
        }
        rig.stop();
        let names = rig.names();
        assert_eq!(names.len(), 1, "it is one thread: {names:?}");
    }
}

#[test]
fn a_branch_takes_the_compaction_over_and_leaves_the_trunk_alone() {
    for format in FORMATS {
        let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
        let mut trunk = Client::new(format);
        let mut newest = String::new();
        for _ in 0..40 {
            trunk.asks();
            rig.post(trunk.path(), &[], &trunk.body());
            newest = rig.newest().body;
            trunk.is_told();
        }
        assert!(newest.len() < trunk.body().len());
        // The last question is asked in another way.
        let mut branch = Client::new(format);
        branch.messages = trunk.messages[..trunk.messages.len() - 2].to_vec();
        branch.turn = 900;
        branch.asks();
        let reply = rig.post(branch.path(), &[], &branch.body());
        assert_eq!(
            reply.header("x-conspectus-outcome"),
            "applied",
            "{format:?}"
        );
        let up = rig.newest().body;
        is_valid(format, &up);
        let frozen = newest.find("Request ").expect("a request");
        assert_eq!(&up[..frozen], &newest[..frozen], "the same summary");
        assert!(up.contains("Request 901") && !up.contains("Request 40"));
        // Both go on.
        trunk.asks();
        let reply = rig.post(trunk.path(), &[], &trunk.body());
        assert!(["applied", "compacted"].contains(&reply.header("x-conspectus-outcome")));
        assert!(rig.newest().body.contains("Request 41"));
        branch.is_told();
        branch.asks();
        rig.post(branch.path(), &[], &branch.body());
        assert!(rig.newest().body.contains("Request 902"));
        is_valid(format, &rig.newest().body);
    }
}

#[test]
fn the_same_request_again_is_sent_the_same() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::OpenAi);
    for _ in 0..50 {
        client.asks();
        rig.post(client.path(), &[], &client.body());
        let first = rig.newest().body;
        rig.post(client.path(), &[], &client.body());
        let second = rig.newest().body;
        assert_eq!(first, second);
        client.is_told();
    }
}

#[test]
fn a_refusal_is_answered_by_a_compaction_and_the_limit_is_learnt() {
    // Nothing is known of the window, which takes 3000 tokens of four bytes.
    let rig = Rig::new(|_, asked| match asked.body.len() / 4 {
        tokens if tokens > 3_000 => {
            let error = format!(
                r#"{{"error":{{"message":"This model's maximum context length is 3000 tokens. However, your messages resulted in {tokens} tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}}}"#
            );
            Step::answer(400, &[("content-type", "application/json")], &error)
        }
        _ => chat_reply("fine"),
    });
    let mut client = Client::new(Format::OpenAi);
    let mut outcomes = Vec::new();
    for _ in 0..80 {
        client.asks();
        let reply = rig.post(client.path(), &[], &client.body());
        assert_eq!(reply.status, 200, "{outcomes:?} {reply:?}");
        outcomes.push(reply.header("x-conspectus-outcome").to_owned());
        client.is_told();
    }
    let count = |word: &str| outcomes.iter().filter(|outcome| *outcome == word).count();
    assert_eq!(
        count("recovered"),
        1,
        "the limit is known from then on: {outcomes:?}"
    );
    assert!(count("compacted") >= 1, "{outcomes:?}");
    assert_eq!(rig.upstream.asked().len(), 81, "one was sent twice");
}

#[test]
fn a_refusal_that_nothing_helps_against_goes_to_the_client() {
    let error = r#"{"error":{"message":"prompt is too long: 9000 tokens > 10 maximum","type":"invalid_request_error"}}"#;
    let rig =
        Rig::new(move |_, _| Step::answer(400, &[("content-type", "application/json")], error));
    let mut client = Client::new(Format::OpenAi);
    for _ in 0..20 {
        client.asks();
        client.is_told();
    }
    client.asks();
    let reply = rig.post(client.path(), &[], &client.body());
    assert_eq!((reply.status, reply.body.as_str()), (400, error));
    assert!(
        rig.upstream.asked().len() <= 2,
        "it is sent once more at most"
    );
}

#[test]
fn who_only_watches_sends_as_it_came_and_says_what_it_would_have_saved() {
    let mut rig = Rig::with(
        |_, _| chat_reply("fine"),
        |s| {
            s.options = window(6_000);
            s.observe = true;
        },
    );
    let mut client = Client::new(Format::Responses);
    let mut told = Vec::new();
    for _ in 0..60 {
        client.asks();
        let reply = rig.post(client.path(), &[], &client.body());
        assert_eq!(rig.newest().body, client.body());
        told.push(reply.header("x-conspectus-outcome").to_owned());
        client.is_told();
    }
    // What is done beside the requests takes a moment; asking again waits for it.
    for _ in 0..5_000 {
        if told.last().is_some_and(|word| word == "observed") {
            break;
        }
        let reply = rig.post(client.path(), &[], &client.body());
        told.push(reply.header("x-conspectus-outcome").to_owned());
    }
    rig.stop();
    assert!(
        told.iter()
            .all(|word| word == "untouched" || word == "observed")
    );
    assert!(told.iter().any(|word| word == "observed"), "{told:?}");
}

#[test]
fn without_a_store_the_request_goes_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let store = Arc::new(SqliteStore::open(&path).expect("it opens"));
    let rig = Rig::on(HttpServer::always(chat_reply("fine")), store, |s| {
        s.options = window(2_000)
    });
    let mut client = Client::new(Format::OpenAi);
    for _ in 0..30 {
        client.asks();
        client.is_told();
    }
    client.asks();
    // What was a database is none any more.
    let _ = std::fs::remove_file(path.with_extension("db-wal"));
    std::fs::write(&path, vec![7; 100_000]).expect("it is written");
    let reply = rig.post(client.path(), &[], &client.body());
    assert_eq!(reply.status, 200);
    let outcome = reply.header("x-conspectus-outcome").to_owned();
    assert!(
        ["failed_open", "compacted"].contains(&outcome.as_str()),
        "{outcome}"
    );
    if outcome == "failed_open" {
        assert_eq!(rig.newest().body, client.body());
    }
}

#[test]
fn a_clients_own_summary_is_left_alone() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(2_000));
    let mut client = Client::new(Format::Responses);
    for _ in 0..30 {
        client.asks();
        client.is_told();
    }
    client.messages.push(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION. Sum it up."}]}"#.to_owned());
    let reply = rig.post(client.path(), &[], &client.body());
    assert_eq!(reply.header("x-conspectus-outcome"), "untouched");
    assert_eq!(rig.newest().body, client.body());
}

#[test]
fn what_the_upstream_holds_is_left_alone() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(500));
    let mut client = Client::new(Format::Responses);
    for _ in 0..30 {
        client.asks();
        client.is_told();
    }
    for held in [
        r#""previous_response_id":"resp_1""#,
        r#""conversation":{"id":"conv_1"}"#,
    ] {
        let body = client.body().replace("\"store\":false", held);
        let reply = rig.post(client.path(), &[], &body);
        assert_eq!(reply.header("x-conspectus-outcome"), "passed");
        assert_eq!(rig.newest().body, body);
    }
}

#[test]
fn what_cannot_be_folded_is_not_tried_again_with_every_request() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(2_000));
    let mut client = Client::new(Format::OpenAi);
    let text = WORDS.repeat(400);
    client
        .messages
        .push(format!(r#"{{"role":"user","content":"{text}"}}"#));
    // Which thread it is is said where it was asked.
    let asked = |client: &Client| {
        let reply = rig.post(client.path(), &[], &client.body());
        assert_eq!(rig.newest().body, client.body());
        assert_eq!(reply.header("x-conspectus-outcome"), "untouched");
        !reply.header("x-conspectus-thread").is_empty()
    };
    assert!(asked(&client), "it is tried once");
    assert!(!asked(&client) && !asked(&client), "and not again");
    // Something new may be foldable.
    client.is_told();
    client.asks();
    let reply = rig.post(client.path(), &[], &client.body());
    assert!(!reply.header("x-conspectus-thread").is_empty());
}

#[test]
fn a_model_of_the_clients_own_upstream_writes_the_summary_with_its_key() {
    const SUMMARY: &str =
        "The lantern build failed with E-4417; the valve of the second boiler was turned by hand.";
    let rig = Rig::with(
        |_, asked| {
            let is_ours = asked
                .header("user-agent")
                .is_some_and(|agent| agent.starts_with("conspectus/"));
            chat_reply(if is_ours { SUMMARY } else { "fine" })
        },
        |s| {
            s.options = window(6_000);
            s.summaries = conspectus_proxy::Summaries::Client { model: None };
        },
    );
    let mut client = Client::new(Format::OpenAi);
    let key = [("authorization", "Bearer made-up")];
    let mut outcomes = Vec::new();
    let mut told = false;
    for _ in 0..80 {
        client.asks();
        let reply = rig.post(client.path(), &key, &client.body());
        assert_eq!(reply.status, 200);
        outcomes.push(reply.header("x-conspectus-outcome").to_owned());
        let of_client = |asked: &conspectus_testkit::server::Asked| {
            asked
                .header("user-agent")
                .is_none_or(|agent| !agent.starts_with("conspectus/"))
        };
        let asked = rig.upstream.asked();
        let newest = asked
            .iter()
            .rfind(|asked| of_client(asked))
            .expect("the client's");
        is_valid(client.format, &newest.body);
        told |= newest.body.contains("turned by hand.") && newest.body.contains(SUMMARY);
        client.is_told();
    }
    let asked = rig.upstream.asked();
    let ours = asked.iter().filter(|asked| {
        asked
            .header("user-agent")
            .is_some_and(|agent| agent.starts_with("conspectus/"))
    });
    let ours: Vec<_> = ours.collect();
    assert!(!ours.is_empty(), "{outcomes:?}");
    for asked in ours {
        assert_eq!(asked.header("authorization"), Some("Bearer made-up"));
        assert_eq!(asked.target, "/v1/chat/completions");
        assert!(asked.body.contains("\"model\":\"m\""), "{}", asked.body);
    }
    assert!(told, "the summary stands in what is sent: {outcomes:?}");
    assert!(
        !outcomes.contains(&"failed_open".to_owned()),
        "{:?}",
        rig.lines.lock().expect("lines")
    );
}
