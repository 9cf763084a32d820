//! Threads made of the history of another program's.

use conspectus::core::outcome::Outcome;
use conspectus::store::ThreadKey;
use conspectus::threads::{Cause, CompactThread, Page, Place};
use serde_json::{Value, json};

use super::world::{World, everywhere, said, talk};

fn head() -> Value {
    json!({"thread": {"format": 1, "journal": true, "thread_id": "old", "created_ms": 500, "meta": {
        "format": 1, "title": "The garden", "metadata": {"user": "ann"},
        "note": {"channels": {"delegations": []}},
    }}})
}

fn message(id: &str, ms: u64, json: &Value) -> Value {
    json!({"message": {"id": id, "stored_ms": ms, "body": {"json": json}, "from": "of no interest"}})
}

fn human(id: &str, ms: u64) -> Value {
    message(
        id,
        ms,
        &json!({"type": "human", "content": format!("{id}? {}", "It rained. ".repeat(40)), "id": id}),
    )
}

fn ai(id: &str, ms: u64) -> Value {
    message(
        id,
        ms,
        &json!({"type": "ai", "content": format!("{id}. {}", "So it is. ".repeat(40)), "id": id}),
    )
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Six messages, a summary of the first four, another end from the third message on.
fn garden() -> Vec<Value> {
    let call = json!({"type": "ai", "content": "", "id": "c", "tool_calls": [{"name": "look", "args": {}, "id": "1"}]});
    let stamp = json!({"skill_context_entry": {"path": "/mnt/skills/roses/SKILL.md", "description": "roses"}});
    let answer =
        json!({"type": "tool", "content": "red", "tool_call_id": "1", "additional_kwargs": stamp});
    vec![
        head(),
        human("h1", 1_000),
        message("c", 2_000, &call),
        message("r", 3_000, &answer),
        ai("a1", 4_000),
        human("h2", 5_000),
        json!({"fold": {"nodes": [[0, 2]], "summary": "The roses are red."}}),
        ai("a2", 6_000),
        json!({"move": {"to": 3}}),
        human("h3", 7_000),
        ai("a3", 8_000),
        json!({"move": {"to": 5}}),
        json!({"fold": {"nodes": [[0, 2]], "summary": "The roses are red."}}),
        human("h4", 9_000),
        json!({"end": {"messages": 9}}),
    ]
}

fn ids(world: &World, key: &ThreadKey) -> Vec<String> {
    let threads = world.threads("a");
    let state = world.run(threads.state(key, None)).expect("a state");
    let id = |json: &conspectus::threads::Json| {
        let value: Value = serde_json::from_str(json.as_str()).expect("JSON");
        value["id"].as_str().unwrap_or_default().to_owned()
    };
    state.values.messages.iter().map(id).collect()
}

#[test]
fn a_history_of_elsewhere_becomes_a_thread() {
    everywhere(|world| {
        let threads = world.threads("a");
        let key = ThreadKey::new("t", "old");
        world.run(async {
            let info = threads.import(&key, &lines(&garden())).await.expect("made");
            assert_eq!((info.messages, info.created_ms), (9, 500));
            assert_eq!(info.title.as_deref(), Some("The garden"));
            let state = threads.state(&key, None).await.expect("a state");
            assert_eq!(
                state.values.summary_text.as_deref(),
                Some("The roses are red.")
            );
            assert_eq!(state.values.skill_context.len(), 1);
        });
        assert_eq!(ids(&world, &key), ["a1", "h2", "a2", "h4"]);
        world.run(async {
            let history = threads.history(&key, 20, None).await.expect("a history");
            let causes: Vec<Cause> = history.iter().map(|state| state.cause).collect();
            assert_eq!(causes[0], Cause::Input);
            assert!(causes.contains(&Cause::Compaction), "{causes:?}");
            let visible = threads.visible(&key, &Page::default()).await.expect("read");
            assert_eq!(visible.messages.len(), 7);
            // The other end is there.
            let at = history.iter().find(|state| {
                let last = state.values.messages.last();
                last.is_some_and(|json| json.as_str().contains("\"a3\""))
            });
            let at = at.expect("a state of the other end").checkpoint_id;
            let other = ThreadKey::new("t", "other");
            let place = Place::Checkpoint(at);
            let made = threads
                .branch(&key, Some(&place), &other, Default::default())
                .await;
            assert_eq!(made.expect("branched").messages, 6);
            // And it goes on like any.
            threads.undo(&key).await.expect("undone");
            threads.append(&key, &talk(60, 30)).await.expect("appended");
            let more = threads.compact(&key, &CompactThread::default()).await;
            assert_eq!(more.expect("run").outcome, Outcome::Compacted);
            let export = threads.export(&key).await.expect("an export");
            let copy = ThreadKey::new("t", "copy");
            threads.import(&copy, &export).await.expect("imported");
        });
    });
}

#[test]
fn what_cannot_have_happened_is_named_by_its_line() {
    let world = World::new(super::faulty::Faulty::new(std::sync::Arc::new(
        conspectus_store::MemoryStore::default(),
    )));
    let threads = world.threads("a");
    let key = ThreadKey::new("t", "bad");
    let check = |at: usize, line: Value, error: &str| {
        let mut all = garden();
        all[at] = line;
        let taken = world.run(threads.import(&key, &lines(&all)));
        let said = said(taken);
        assert!(said.starts_with(error), "{said}");
        let none = world.run(threads.get(&key));
        assert!(none.is_err(), "nothing is left");
    };
    check(
        1,
        json!({"message": {"id": "x", "stored_ms": 1, "body": {"json": {"type": "remove"}}}}),
        "line 2: ",
    );
    check(
        8,
        json!({"move": {"to": 40}}),
        "line 9: there is no such message before it",
    );
    check(
        6,
        json!({"fold": {"nodes": [[0, 9]], "summary": ""}}),
        "line 7: there are no such messages",
    );
    check(
        14,
        json!({"end": {"messages": 8}}),
        "line 15: messages are missing",
    );
    check(14, human("h5", 1), "line 15: the file ends too early");
    check(
        13,
        json!({"end": {"messages": 8}}),
        "line 15: something stands behind",
    );
    check(5, json!({"what": 1}), "line 6: ");
}
