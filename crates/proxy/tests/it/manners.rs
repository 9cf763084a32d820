//! Manners of real clients that were found by running them.

use conspectus::Format;
use conspectus::wire::valid;

use crate::compaction::Client;
use crate::support::{Rig, chat_reply, window};

/// As aider does: a reminder stands at the end of the newest message, and is not there in the next request.
#[test]
fn a_reminder_that_moves_with_the_newest_message_costs_no_compaction() {
    const WINDOW: usize = 6_000;
    for role in ["user", "system"] {
        let rig = Rig::with(
            |_, _| chat_reply("fine"),
            |s| s.options = window(WINDOW as u64),
        );
        let mut client = Client::new(Format::OpenAi);
        client.messages.push(format!(
            r#"{{"role":"user","content":"A {role} is reminded."}}"#
        ));
        client.is_told();
        let mut sent: Vec<(String, String)> = Vec::new();
        for _ in 0..100 {
            client.asks();
            let plain = client.messages.clone();
            let reminder = "In the language of the question.";
            match role {
                "user" => {
                    let newest = client.messages.pop().expect("a request");
                    let newest = newest.strip_suffix(r#""}"#).expect("its end").to_owned();
                    client.messages.push(format!(r#"{newest} {reminder}"}}"#));
                }
                _ => client
                    .messages
                    .push(format!(r#"{{"role":"system","content":"{reminder}"}}"#)),
            }
            let reply = rig.post(client.path(), &[], &client.body());
            assert_eq!(reply.status, 200);
            let up = rig.newest().body;
            let mut faults = valid::check(Format::OpenAi, up.as_bytes());
            // Where the reminder stands is the client's own manner.
            faults.retain(|fault| fault.rule != valid::Rule::System);
            assert_eq!(faults, []);
            assert!(up.contains("language of the question"), "{up}");
            // What is said of the newest message goes up as well.
            assert!(up.contains(&format!("Request {}.", sent.len() + 1)));
            assert!(up.len() < 4 * WINDOW, "{} bytes", up.len());
            sent.push((reply.header("x-conspectus-outcome").to_owned(), up));
            client.messages = plain;
            client.is_told();
        }
        let outcomes: Vec<&str> = sent.iter().map(|(outcome, _)| &**outcome).collect();
        let count = |word: &str| outcomes.iter().filter(|outcome| **outcome == word).count();
        assert!(count("compacted") >= 2, "{role}: {outcomes:?}");
        assert!(
            count("applied") > 4 * count("compacted"),
            "{role}: {outcomes:?}"
        );
        // Between two compactions all but the reminder is repeated.
        for pair in sent.windows(2).filter(|pair| pair[1].0 != "compacted") {
            let (before, after) = (&pair[0].1, &pair[1].1);
            let end = match role {
                "user" => before.find(" In the language").expect("a reminder"),
                _ => before.rfind(r#",{"role":"system""#).expect("a reminder"),
            };
            assert_eq!(&before[..end], &after[..end], "{role}: {outcomes:?}");
        }
    }
}

/// As the AI SDK does: what a person says stands in one message with the results before it.
#[test]
fn a_reply_whose_results_come_with_the_next_request_keeps_its_thinking() {
    let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(6_000));
    let mut client = Client::new(Format::Anthropic);
    let mut compacted = 0;
    client.asks();
    for n in 0..40 {
        client.calls(12);
        let results = client.messages.pop().expect("results");
        let results = results.strip_suffix("]}").expect("a list");
        let both = format!(r#"{results},{{"type":"text","text":"Request {n}."}}]}}"#);
        client.messages.push(both);
        let thinks = r#"{"thinking":{"type":"enabled","budget_tokens":1024},"#;
        let body = client.body().replacen('{', thinks, 1);
        let reply = rig.post(client.path(), &[], &body);
        assert_ne!(reply.header("x-conspectus-outcome"), "failed_open");
        assert_eq!(
            valid::check(Format::Anthropic, rig.newest().body.as_bytes()),
            []
        );
        compacted += usize::from(reply.header("x-conspectus-outcome") == "compacted");
    }
    assert!(compacted >= 2, "{compacted}");
}
