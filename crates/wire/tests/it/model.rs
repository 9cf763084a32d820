//! Which model a conversation ran on, by what its file says.

use crate::support::open;

#[track_caller]
fn check(file: &str, expect: Option<&str>) {
    let document = open(file);
    let found = document.conversations()[0].model();
    assert_eq!(found.as_deref(), expect, "{file}");
}

#[test]
fn requests_name_what_they_ask() {
    let said = r#""messages":[{"role":"user","content":"Hi."}]"#;
    check(&format!(r#"{{"model":"gpt-4.1",{said}}}"#), Some("gpt-4.1"));
    check(
        &format!(r#"{{"model":" claude-opus-5 ","max_tokens":9,{said}}}"#),
        Some("claude-opus-5"),
    );
    check(&format!(r#"{{"model":7,{said}}}"#), None);
    check(&format!(r#"{{"model":"",{said}}}"#), None);
    check(r#"[{"role":"user","content":"Hi."}]"#, None);
    // Only the key of the request counts, not what a message talks about.
    check(r#"[{"role":"user","content":"\"model\":\"gpt-4\""}]"#, None);
}

#[test]
fn replies_name_what_wrote_them() {
    let langchain = |name: &str| {
        format!(
            r#"[{{"type":"human","content":"Hi."}},
               {{"type":"ai","content":"Yes?","response_metadata":{{"model_name":"{name}"}}}}]"#
        )
    };
    check(&langchain("gpt-4o-2024-08-06"), Some("gpt-4o-2024-08-06"));
    let record = |uuid: &str, parent: &str, role: &str, model: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"{role}","content":"text"{model}}}}}"#
        )
    };
    let named = |first: &str, last: &str| {
        [
            record("a", "null", "user", ""),
            record("b", "\"a\"", "assistant", &format!(r#","model":"{first}""#)),
            record("c", "\"b\"", "user", ""),
            record("d", "\"c\"", "assistant", &format!(r#","model":"{last}""#)),
        ]
        .join("\n")
    };
    // The newest; what no model wrote is passed over.
    check(
        &named("claude-opus-4-5", "claude-sonnet-4-5"),
        Some("claude-sonnet-4-5"),
    );
    check(
        &named("claude-opus-4-5", "<synthetic>"),
        Some("claude-opus-4-5"),
    );
}

#[test]
fn rollouts_name_it_with_each_turn() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","payload":{payload}}}"#)
    };
    let rollout = [
        line("session_meta", r#"{"id":"x","cwd":"/w"}"#),
        line("turn_context", r#"{"cwd":"/w","model":"gpt-5-codex"}"#),
        line(
            "response_item",
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"say \"turn_context\""}]}"#,
        ),
        line("turn_context", r#"{"cwd":"/w","model":"gpt-5.1"}"#),
        line(
            "response_item",
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}"#,
        ),
    ];
    check(&rollout.join("\n"), Some("gpt-5.1"));
    check(&rollout[..3].join("\n"), Some("gpt-5-codex"));
}
