//! Anthropic's messages: what the core sees, and what comes back.

use conspectus_core::projection::BlockKind;
use conspectus_core::view::{Role, Usage};
use conspectus_wire::{Format, RenderContext};

use crate::support::{
    answer, cut, data, edit, insert, keep, open, open_as, remove, render, script, shape, summary,
};

fn check_view(message: &str, expect: &str) {
    let document = open_as(&format!("[{message}]"), Format::Anthropic);
    assert_eq!(shape(&document.conversations()[0]), [expect], "{message}");
    assert_eq!(document.faults(), []);
}

#[test]
fn views() {
    check_view(r#"{"role":"user","content":"a"}"#, "user: text=a");
    check_view(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"},
            {"type":"thinking","thinking":"open"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{"p": 1}}]}"#,
        r#"assistant: sealed=t | sealed=d | reasoning=open | text=x | call a f={"p": 1}"#,
    );
    check_view(
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r","is_error":true},
            {"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"D"}},{"type":"tool_reference","name":"n"}]},
            {"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"more"}]}"#,
        "user: result a - failed=r | result b -= | ^1 text=t | ^1 image=D | \
         ^1 opaque tool_reference={\"type\":\"tool_reference\",\"name\":\"n\"} | result c -= | text=more",
    );
    check_view(
        r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}},
            {"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u"}]},
            {"type":"web_search_tool_result","tool_use_id":"z","content":{"type":"web_search_tool_result_error","error_code":"e"}}]}"#,
        "assistant: call s web_search={\"query\":\"q\"} | result s -= | \
         ^1 opaque web_search_result={\"type\":\"web_search_result\",\"url\":\"u\"} | \
         result z - failed={\"type\":\"web_search_tool_result_error\",\"error_code\":\"e\"}",
    );
    check_view(
        r#"{"role":"user","content":[{"type":"document","source":{"type":"url","url":"U"}},{"type":"image","source":{"type":"file","file_id":"F"}},
            {"type":"search_result","source":"S","title":"T","content":[]}]}"#,
        "user: file=U | image=F | file=S",
    );
    check_view(
        r#"{"role":"assistant","content":[{"type":"compaction","content":"s","signature":"x"}]}"#,
        r#"assistant: opaque compaction={"type":"compaction","content":"s","signature":"x"}"#,
    );
    check_view(
        r#"{"role":"user","metadata":{"kind":"compaction_summary"},"content":[{"type":"text","text":"s"}]}"#,
        "user!summary: text=s",
    );
}

#[test]
fn usage_holds_cached_tokens_once() {
    let usage = |extra: &str| {
        let message = format!(r#"[{{"role":"assistant","content":"x",{extra}}}]"#);
        let document = open_as(&message, Format::Anthropic);
        document.conversations()[0].views()[0].usage.clone()
    };
    let expect = Some(Usage {
        input: 111,
        output: 7,
        cache_read: 100,
        cache_write: 10,
        reported_total: None,
        provider: None,
    });
    let api = r#""usage":{"input_tokens":1,"output_tokens":7,"cache_read_input_tokens":100,"cache_creation_input_tokens":10}"#;
    let cline = r#""metrics":{"inputTokens":111,"outputTokens":7,"cacheReadTokens":100,"cacheWriteTokens":10}"#;
    assert_eq!(usage(api), expect);
    assert_eq!(usage(cline), expect);
    assert_eq!(usage(r#""usage":{"output_tokens":7}"#), None);
}

const RULES: fn() -> conspectus_core::projection::Piece =
    || insert(BlockKind::Rules, Role::System, "authority \"x\"");

#[test]
fn rules_go_into_the_system_prompt() {
    let check = |before: &str, after: &str| {
        let document = open_as(before, Format::Anthropic);
        assert_eq!(render(&document, [RULES(), keep(0)]), after);
    };
    let list = r#""messages": [{"role":"user","content":"q"}]"#;
    check(
        &format!(r#"{{"system": "be\u0020kind", {list}}}"#),
        &format!(r#"{{"system": "be\u0020kind\n\nauthority \"x\"", {list}}}"#),
    );
    check(
        &format!(r#"{{"system": [ {{"type":"text","text":"k","cache_control":{{}}}} ], {list}}}"#),
        &format!(
            r#"{{"system": [ {{"type":"text","text":"k","cache_control":{{}}}},{{"type":"text","text":"authority \"x\""}} ], {list}}}"#
        ),
    );
    check(
        &format!(r#"{{"system": [], {list}}}"#),
        &format!(r#"{{"system": [{{"type":"text","text":"authority \"x\""}}], {list}}}"#),
    );
    check(
        &format!(r#"{{"model": "m", {list}}}"#),
        &format!(r#"{{"model": "m", "system":"authority \"x\"",{list}}}"#),
    );
    check(
        &format!(r#"{{"system_prompt": "k", {list}}}"#),
        &format!(r#"{{"system_prompt": "k\n\nauthority \"x\"", {list}}}"#),
    );
    // Which of two prompts counts differs by reader, and a bare list has none: the rules are told by the user.
    let twice = r#"{"system":"a","system":"b","messages":["#;
    check(
        &format!(r#"{twice}{{"role":"user","content":"q"}}]}}"#),
        &format!(
            r#"{twice}{{"role":"user","content":"authority \"x\""}},{{"role":"user","content":"q"}}]}}"#
        ),
    );
    check(
        r#"[{"role":"user","content":"q"}]"#,
        r#"[{"role":"user","content":"authority \"x\""},{"role":"user","content":"q"}]"#,
    );
}

#[test]
fn answers_stand_in_front_of_the_users_text() {
    const CALLS: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
    let lost =
        |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"lost"}}"#);
    let check = |next: &str, order: &[u32], answers: &[&str], expect: &str| {
        let before = format!("[{CALLS}{}{next}]", if next.is_empty() { "" } else { "," });
        let document = open_as(&before, Format::Anthropic);
        let mut pieces: Vec<_> = answers.iter().map(|id| answer(id, "f", "lost")).collect();
        let at = order.iter().position(|n| *n == 9).unwrap();
        let mut script: Vec<_> = order
            .iter()
            .filter(|n| **n != 9)
            .map(|n| keep(*n))
            .collect();
        script.splice(at..at, pieces.drain(..));
        assert_eq!(render(&document, script), format!("[{CALLS},{expect}]"));
    };
    let (a, b) = (lost("a"), lost("b"));
    check(
        r#"{"role":"user","content":"go\u0020on"}"#,
        &[0, 9, 1],
        &["a", "b"],
        &format!(r#"{{"role":"user","content":[{a},{b},{{"type":"text","text":"go\u0020on"}}]}}"#),
    );
    // Before or behind the message that holds the other answer: the result is the same.
    for order in [[0, 9, 1], [0, 1, 9]] {
        check(
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}, {"type":"text","text":"t"}]}"#,
            &order,
            &["b"],
            &format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"r"}},{b}, {{"type":"text","text":"t"}}]}}"#
            ),
        );
    }
    check(
        "",
        &[0, 9],
        &["a", "b"],
        &format!(r#"{{"role":"user","content":[{a},{b}]}}"#),
    );
    let reply = r#"{"role":"assistant","content":"x"}"#;
    check(
        reply,
        &[0, 9, 1],
        &["a"],
        &format!(r#"{{"role":"user","content":[{a}]}},{reply}"#),
    );
}

#[test]
fn answers_are_never_lost() {
    let calls =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let lost = r#"{"type":"tool_result","tool_use_id":"a","content":"lost"}"#;
    let own = format!(r#"{{"role":"user","content":[{lost}]}}"#);
    let check = |next: &str, expect: &str| {
        let document = open_as(&format!("[{calls},{next}]"), Format::Anthropic);
        let done = render(&document, [keep(0), answer("a", "f", "lost"), keep(1)]);
        assert_eq!(done, format!("[{calls},{expect}]"));
    };
    let joined = format!(r#"{{"role":"user","content":[{lost}]}}"#);
    check(r#"{"role":"user","content":[]}"#, &joined);
    check(r#"{"role":"user","content":""}"#, &joined);
    for unjoined in [
        r#"{"role":"user"}"#,
        r#"{"role":"user","content":null}"#,
        r#"{"role":"other","content":"x"}"#,
        r#"{"role":"user","content":"x","content":"y"}"#,
        r#"{"role":"system","content":"x"}"#,
    ] {
        check(unjoined, &format!("{own},{unjoined}"));
    }
}

#[test]
fn an_answer_joins_a_summary_that_follows() {
    let calls =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let document = open_as(&format!("[{calls}]"), Format::Anthropic);
    let done = render(&document, [keep(0), answer("a", "f", "lost"), summary("s")]);
    assert_eq!(
        done,
        format!(
            r#"[{calls},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"lost"}},{{"type":"text","text":"s"}}]}}]"#
        )
    );
}

#[test]
fn edits() {
    let check = |message: &str, patches: Vec<_>, expect: &str| {
        let document = open_as(&format!("[{message}]"), Format::Anthropic);
        assert_eq!(
            render(&document, [edit(0, patches)]),
            format!("[{expect}]"),
            "{message}"
        );
    };
    let results = r#"{"role":"user","content":[ {"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"long"},{"type":"image","source":{"data":"D"}}],"x":1.0}, {"type":"text","text":"t"} ]}"#;
    check(
        results,
        vec![cut(1, 1..4, "…"), remove(2)],
        r#"{"role":"user","content":[ {"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"l…"}],"x":1.0}, {"type":"text","text":"t"} ]}"#,
    );
    check(
        results,
        vec![remove(0), cut(1, 0..1, "")],
        r#"{"role":"user","content":[ {"type":"text","text":"t"} ]}"#,
    );
    check(
        results,
        vec![remove(1), remove(2)],
        r#"{"role":"user","content":[ {"type":"tool_result","tool_use_id":"a","content":"","x":1.0}, {"type":"text","text":"t"} ]}"#,
    );
    check(results, vec![remove(0), remove(3)], "");
    // Signed thinking leaves whole or stays; alone it is nothing.
    let thinking = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"long","signature":"s"},{"type":"text","text":"t"}]}"#;
    check(thinking, vec![cut(0, 0..2, "")], thinking);
    check(
        thinking,
        vec![remove(0)],
        r#"{"role":"assistant","content":[{"type":"text","text":"t"}]}"#,
    );
    check(thinking, vec![remove(1)], "");
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"p":"lo\u006eg","q":["x"]}}]}"#;
    let leaf = |n, range, marker| {
        crate::support::cut_at(0, conspectus_core::patch::Site::Leaf(n), range, marker)
    };
    check(
        call,
        vec![leaf(0, 2..4, "…"), leaf(1, 0..1, "\"")],
        &call.replace(r"\u006eg", "…").replace("\"x\"", r#""\"""#),
    );
    // A cut that would break the arguments' JSON is not made.
    check(call, vec![cut(0, 0..5, "")], call);
}

#[test]
fn the_examples_are_read() {
    let document = open(&data("anthropic/request.json"));
    assert_eq!(document.format(), Format::Anthropic);
    let conversation = &document.conversations()[0];
    assert!(
        conversation
            .fixed()
            .system
            .starts_with("You are a careful build engineer.")
    );
    assert!(conversation.fixed().tools.contains("input_schema"));
    assert_eq!(conversation.views().len(), 5);
    assert_eq!(
        open(&data("anthropic/request.mid_system.json")).format(),
        Format::Anthropic
    );
}

#[test]
fn a_breakpoint_on_the_summary_while_there_is_room() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let check = |marks: usize, expect: bool| {
        let mut file = r#"{"system":[{"type":"text","text":"s"SYSTEM}],"messages":[{"role":"user","content":"gone"},{"role":"user","content":[{"type":"text","text":"say \"cache_control\""A},{"type":"text","text":"b"B},{"type":"text","text":"c"C}]}]}"#.to_owned();
        for (n, place) in ["SYSTEM", "A", "B", "C"].iter().enumerate() {
            file = file.replace(place, if n < marks { mark } else { "" });
        }
        let document = open(&file);
        let context = RenderContext {
            cache_summary: true,
            ..RenderContext::default()
        };
        let projection = script([summary("so far"), keep(1)]);
        let bytes = document
            .render(&[(0, &projection)], &context)
            .expect("it can be written");
        let text = String::from_utf8(bytes).expect("text");
        let found = text.matches("\"cache_control\":").count();
        assert_eq!(found, marks + usize::from(expect), "{text}");
        assert_eq!(text.contains(&format!("so far\"{mark}")), expect, "{text}");
    };
    check(0, true);
    check(3, true);
    check(4, false);
}
