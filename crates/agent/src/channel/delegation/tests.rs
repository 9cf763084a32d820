#![expect(
    clippy::needless_pass_by_value,
    reason = "rows of JSON are written in place"
)]

use serde_json::json;

use super::*;

const NOW: &str = "2026-11-30T00:00:00.000Z";

fn asks(id: &str, args: Value) -> Message {
    Message::new(json!({"type": "ai", "content": "", "tool_calls": [
        {"name": "task", "args": args, "id": id},
    ]}))
}

fn answers(id: &str, extra: Value) -> Message {
    Message::new(json!({
        "type": "tool", "content": "Status: completed. All is done.", "tool_call_id": id,
        "id": format!("m-{id}"), "additional_kwargs": extra,
    }))
}

fn survey(id: &str) -> Message {
    asks(
        id,
        json!({"description": "survey", "prompt": "look", "subagent_type": "general"}),
    )
}

fn captured(messages: &[Message]) -> Vec<Delegation> {
    capture(messages, 0, &[], Some("r1"), NOW)
}

fn one(extra: Value) -> Delegation {
    let found = captured(&[survey("c1"), answers("c1", extra)]);
    assert_eq!(found.len(), 1);
    found[0].clone()
}

#[test]
fn b5_a_dispatch_is_in_progress_with_its_description_and_kind() {
    let entry = &captured(&[survey("c1")])[0];
    assert_eq!(
        (
            &*entry.id,
            &*entry.description,
            &*entry.subagent_type,
            entry.status,
            &*entry.created_at
        ),
        ("c1", "survey", "general", Status::InProgress, NOW)
    );
    assert_eq!(entry.run_id.as_deref(), Some("r1"));
    let bare = &captured(&[asks("c2", json!({"prompt": "p".repeat(300)}))])[0];
    assert_eq!(bare.description.chars().count(), MAX_DESCRIPTION);
}

#[test]
fn b5_only_calls_named_task_with_an_id_count_and_the_raw_form_too() {
    let messages = [Message::new(json!({"type": "ai", "tool_calls": [
        {"name": "task", "args": {"description": "no id"}},
        {"name": "look", "args": {"description": "another tool"}, "id": "x"},
        {"id": "raw", "function": {"name": "task", "arguments": "{\"description\":\"raw\"}"}},
    ]}))];
    let ids: Vec<Arc<str>> = captured(&messages).into_iter().map(|e| e.id).collect();
    assert_eq!(ids, ["raw".into()] as [Arc<str>; 1]);
}

#[test]
fn b5_visible_content_is_never_parsed_only_structured_metadata_ends_a_delegation() {
    assert_eq!(one(json!({})).status, Status::InProgress);
    assert_eq!(
        one(json!({"subagent_status": "running"})).status,
        Status::InProgress
    );
    let rows = [
        ("completed", Status::Completed),
        ("failed", Status::Failed),
        ("cancelled", Status::Cancelled),
        ("timed_out", Status::TimedOut),
        ("polling_timed_out", Status::PollingTimedOut),
    ];
    for (said, status) in rows {
        assert_eq!(one(json!({"subagent_status": said})).status, status);
    }
}

#[test]
fn b5_the_brief_is_of_the_right_member_or_a_fixed_sentence() {
    let both = json!({"subagent_result_brief": " found ", "subagent_error": "broke"});
    let with = |status: &str| {
        let mut extra = both.clone();
        extra["subagent_status"] = json!(status);
        one(extra).result_brief
    };
    assert_eq!(with("completed").as_deref(), Some("found"));
    assert_eq!(with("failed").as_deref(), Some("broke"));
    let bare = one(json!({"subagent_status": "timed_out"})).result_brief;
    assert_eq!(
        bare.as_deref(),
        Some("The subagent did not finish in time.")
    );
    let long = "x".repeat(5_000);
    let long = one(json!({"subagent_status": "completed", "subagent_result_brief": long}));
    let long = long.result_brief.expect("a brief");
    assert_eq!(long.chars().count(), MAX_BRIEF);
}

#[test]
fn b5_a_digest_is_taken_as_64_lower_case_hex_only() {
    let digest = |given: Value| {
        let extra = json!({
            "subagent_status": "completed", "subagent_result_brief": "ok",
            "subagent_result_sha256": given,
        });
        one(extra).result_sha256.expect("a digest").to_string()
    };
    let good = "a".repeat(64);
    assert_eq!(digest(json!(good)), good);
    for bad in [json!("A".repeat(64)), json!("ab"), json!(3)] {
        assert_eq!(digest(bad), sha256("ok"));
    }
}

#[test]
fn b5_a_result_is_referred_to_by_the_tool_message_else_by_the_call() {
    let extra = json!({"subagent_status": "completed"});
    assert_eq!(one(extra.clone()).result_ref.as_deref(), Some("m-c1"));
    let unnamed = Message::new(json!({
        "type": "tool", "tool_call_id": "c1", "additional_kwargs": extra,
    }));
    let found = captured(&[survey("c1"), unnamed]);
    assert_eq!(found[0].result_ref.as_deref(), Some("c1"));
}

#[test]
fn b5_stop_reasons_and_the_older_spelling() {
    let capped = json!({"subagent_status": "completed", "subagent_stop_reason": "token_capped"});
    assert_eq!(one(capped).stop_reason, Some(StopReason::TokenCapped));
    let unknown = json!({"subagent_status": "completed", "subagent_stop_reason": "bored"});
    assert_eq!(one(unknown).stop_reason, None);
    let old = |brief: &str| {
        let entry = one(json!({
            "subagent_status": "max_turns_reached", "subagent_result_brief": brief,
        }));
        (entry.status, entry.stop_reason)
    };
    let capped = Some(StopReason::TurnCapped);
    assert_eq!(old("half"), (Status::Completed, capped));
    assert_eq!(old(" "), (Status::Failed, capped));
}

#[test]
fn b4_only_new_or_changed_entries_are_told_again() {
    let talk = [
        survey("c1"),
        survey("c2"),
        answers("c1", json!({"subagent_status": "completed"})),
    ];
    let known = reduce(&[], &captured(&talk[..2]));
    let news = capture(&talk, 0, &known, Some("r2"), "later");
    assert_eq!(news.iter().map(|e| &*e.id).collect::<Vec<_>>(), ["c1"]);
    let known = reduce(&known, &news);
    assert_eq!(known[0].created_at.as_ref(), NOW, "the first time stays");
    assert_eq!(known[0].run_id.as_deref(), Some("r1"), "the run stays");
    assert!(capture(&talk, 0, &known, Some("r2"), "later").is_empty());
    let again = capture(
        &talk[2..],
        0,
        &reduce(&[], &captured(&talk[..2])),
        None,
        NOW,
    );
    assert_eq!(again.len(), 1, "the call need not be here any more");
}

#[test]
fn b5_what_ended_is_never_in_progress_again() {
    let ended = one(json!({"subagent_status": "failed"}));
    let running = captured(&[survey("c1")]);
    assert_eq!(reduce(std::slice::from_ref(&ended), &running), [ended]);
}

#[test]
fn b5_the_newest_fifty_are_kept_and_older_ones_do_not_come_back() {
    let talk: Vec<Message> = (0..60).map(|n| survey(&format!("c{n}"))).collect();
    let all = reduce(&[], &captured(&talk));
    assert_eq!(
        (all.len(), &*all[0].id, &*all[49].id),
        (MAX_ENTRIES, "c10", "c59")
    );
    assert!(capture(&talk, 0, &all, Some("r1"), NOW).is_empty());
}

#[test]
fn what_a_subagent_stamps_is_what_is_captured() {
    let stamp = Stamp {
        status: Status::Completed,
        text: "three valves".into(),
        stop_reason: Some(StopReason::TurnCapped),
    };
    let entry = one(Value::Object(stamp.to_extra()));
    assert_eq!(
        (
            entry.status,
            entry.result_brief.as_deref(),
            entry.stop_reason
        ),
        (
            Status::Completed,
            Some("three valves"),
            Some(StopReason::TurnCapped)
        )
    );
    assert_eq!(
        entry.result_sha256.as_deref(),
        Some(&*sha256("three valves"))
    );
}

#[test]
fn b7_7_a_turn_looks_only_at_what_is_new() {
    let talk = [survey("c1"), survey("c2")];
    let found = capture(&talk, 1, &[], None, NOW);
    assert_eq!(found.iter().map(|e| &*e.id).collect::<Vec<_>>(), ["c2"]);
    assert!(capture(&talk, 2, &[], None, NOW).is_empty());
}
