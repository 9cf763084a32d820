//! Manners of real clients that were found by running them.

use conspectus::Format;
use conspectus::wire::valid;

use crate::compaction::Client;
use crate::support::{Rig, chat_reply, window};

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
