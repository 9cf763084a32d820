//! Servers that are stricter than the API: Mistral's, and those that fill chat templates.

use std::collections::BTreeSet;

use conspectus::Format;
use conspectus_proxy::Strict;
use conspectus_testkit::server::HttpServer;
use serde_json::Value;

use crate::compaction::Client;
use crate::support::{Rig, chat_reply, window};

/// What such servers refuse, each in its own words; shares nothing with what is tested.
fn refusal(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let messages = body["messages"].as_array()?;
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut turn = "";
    for (at, message) in messages.iter().enumerate() {
        let now = role(message);
        let before = at.checked_sub(1).map(|at| role(&messages[at]));
        if now == "system" && at > 0 {
            return Some(format!("System message must be at the beginning ({at})"));
        }
        if now == "user" && before.as_deref() == Some("tool") {
            return Some(format!("Unexpected role 'user' after role 'tool' ({at})"));
        }
        if now == "user" || (now == "assistant" && before.as_deref() != Some("tool")) {
            let is_turn = match now.as_str() {
                "user" => turn != "user",
                _ => turn == "user",
            };
            if !is_turn {
                return Some(format!(
                    "Conversation roles must alternate user/assistant ({at})"
                ));
            }
        }
        if now == "user" {
            turn = "user";
        } else if now == "assistant" {
            turn = "assistant";
        }
        if now != "tool" && !open.is_empty() {
            return Some(format!("a call has no answer ({at})"));
        }
        let id_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let is_short = |id: &str| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = id_of(&call["id"]);
            if !is_short(&id) {
                return Some(format!(
                    "Tool call id has to be 9 letters and digits ({at})"
                ));
            }
            open.insert(id);
        }
        if now == "tool" && !open.remove(&id_of(&message["tool_call_id"])) {
            return Some(format!("an answer has no call ({at})"));
        }
    }
    let last = messages.last().map(role)?;
    (!["user", "tool"].contains(&last.as_str()))
        .then(|| format!("Expected last role User or Tool, got {last}"))
}

#[test]
fn what_goes_up_is_what_the_strictest_takes() {
    let rig = Rig::strict(|_, _| chat_reply("fine"), |s| s.options = window(4_000));
    let mut client = Client::new(Format::OpenAi);
    let (mut rewritten, mut applied) = (0, 0);
    let mut before = String::new();
    for n in 0..60 {
        client.asks();
        if n % 4 == 1 {
            client.calls(3);
        }
        if n % 8 == 5 {
            // A person speaks before the model has said something about the answer; a host says something on the way.
            client.asks();
            client
                .messages
                .push(r#"{"role":"system","content":"It is late."}"#.to_owned());
        }
        let reply = rig.post(client.path(), &[], &client.body());
        assert_eq!(reply.status, 200);
        let up = rig.newest().body;
        assert_eq!(refusal(&up), None, "{n} {up}");
        let outcome = reply.header("x-conspectus-outcome");
        assert_ne!(outcome, "failed_open");
        rewritten += usize::from(up.len() < client.body().len());
        if outcome == "applied" && n % 8 != 6 {
            // What ends with a person's words goes on in the same message, so the last message is left out.
            let last = before.rfind("{\"role\":").expect("a message");
            assert_eq!(&before[..last], &up[..last], "{n}");
            applied += 1;
        }
        before = up;
        client.is_told();
    }
    assert!(rewritten > 20 && applied > 10, "{rewritten} {applied}");
    assert!(
        refusal(&client.body()).is_some(),
        "the client's own breaks the rules"
    );
}

#[test]
fn each_rule_stands_for_itself() {
    let client = {
        let mut client = Client::new(Format::OpenAi);
        client.asks();
        client.calls(1);
        client.asks();
        client
    };
    let check = |name: Option<&str>, expect: &str, is_same: bool| {
        let upstream = HttpServer::always(chat_reply("fine"));
        let store = std::sync::Arc::new(conspectus_store::MemoryStore::default());
        let strict = name.map_or(Some(Strict::default()), |name| Strict::default().with(name));
        let rig = Rig::before(
            upstream,
            |to| to.strict = strict.expect("a rule"),
            store,
            |_| {},
        );
        rig.post(client.path(), &[], &client.body());
        let up = rig.newest().body;
        assert_eq!(up == client.body(), is_same, "{name:?} {up}");
        let refusal = refusal(&up).unwrap_or_default();
        assert!(refusal.contains(expect), "{name:?}: {refusal}");
    };
    check(None, "9 letters", true);
    check(Some("turns"), "9 letters", true);
    check(Some("short_ids"), "Unexpected role 'user'", false);
    check(Some("after_tool"), "9 letters", false);
    // What breaks no rule goes up as it came, byte for byte.
    check(Some("one_system"), "9 letters", true);
}
