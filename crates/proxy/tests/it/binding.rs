//! Thinking that does not verify behind a summary: dropped by the API where it is asked to.

use conspectus::Format;
use conspectus_testkit::server::{Asked, HttpServer, Step};

use crate::compaction::Client;
use crate::support::{Rig, chat_reply, window};

const REFUSAL: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."}}"#;
const BETA: &str = "thinking-binding-controls-2026-08-01";

fn asks_to_drop(asked: &Asked) -> bool {
    let has_field = asked
        .body
        .contains(r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}"#);
    let has_beta = asked
        .header("anthropic-beta")
        .is_some_and(|beta| beta.contains(BETA));
    assert_eq!(has_field, has_beta, "one is nothing without the other");
    has_field
}

/// Refuses thinking behind a summary unless it may drop it.
fn server() -> HttpServer {
    HttpServer::start(|_, asked| {
        let is_rewritten = !asked.body.contains(r#""content":"Request 1. "#);
        let has_thinking = asked.body.contains("\"signature\"");
        match is_rewritten && has_thinking && !asks_to_drop(asked) {
            true => Step::answer(400, &[("content-type", "application/json")], REFUSAL),
            false => chat_reply("fine"),
        }
    })
}

/// Requests while a tool loop is open, behind a compaction.
fn run(drop_block: Option<bool>) -> (Vec<u16>, usize) {
    let store = std::sync::Arc::new(conspectus_store::MemoryStore::default());
    let rig = Rig::before(
        server(),
        |to| to.drop_block = drop_block,
        store,
        |s| s.options = window(6_000),
    );
    let mut client = Client::new(Format::Anthropic);
    let mut statuses = Vec::new();
    for _ in 0..40 {
        client.asks();
        client.calls(1);
        let body = client
            .body()
            .replacen('{', r#"{"thinking":{"type":"adaptive"},"#, 1);
        let beta = [("anthropic-beta", "one-2025")];
        let reply = rig.post(client.path(), &beta, &body);
        statuses.push(reply.status);
        client.is_told();
    }
    let asked = rig.upstream.asked();
    // The client's own betas stay in front.
    let betas = asked
        .iter()
        .filter_map(|asked| asked.header("anthropic-beta"));
    assert!(betas.into_iter().all(|beta| beta.starts_with("one-2025")));
    let dropping = asked.iter().filter(|asked| asks_to_drop(asked)).count();
    (statuses, dropping)
}

#[test]
fn it_is_asked_for_once_a_refusal_has_told() {
    let (statuses, dropping) = run(None);
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(dropping > 5, "{dropping}");
}

#[test]
fn an_option_says_always_or_never() {
    let (statuses, dropping) = run(Some(true));
    assert!(statuses.iter().all(|status| *status == 200) && dropping > 5);
    let (statuses, dropping) = run(Some(false));
    assert!(statuses.contains(&400) && dropping == 0);
}
