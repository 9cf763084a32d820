//! LangChain's messages in their three forms.

use conspectus_core::id::Handle;
use conspectus_core::patch::Site;
use conspectus_core::projection::BlockKind;
use conspectus_core::view::{PartRef, Role, Texts, Usage};
use conspectus_wire::Format;

use crate::support::{
    answer, cut_at, data, edit, insert, keep, open, open_as, remove, render, shape, summary,
};

fn check_view(message: &str, expect: &str) {
    let document = open_as(&format!("[{message}]"), Format::LangChain);
    assert_eq!(shape(&document.conversations()[0]), [expect], "{message}");
    assert_eq!(document.faults(), []);
}

#[test]
fn views() {
    check_view(r#"{"type":"human","content":"q"}"#, "user: text=q");
    check_view(
        r#"{"type":"human","data":{"content":"q","type":"human"}}"#,
        "user: text=q",
    );
    check_view(
        r#"{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"q"}}"#,
        "user: text=q",
    );
    check_view(
        r#"{"type":"AIMessageChunk","content":"x","tool_calls":[]}"#,
        "assistant: text=x",
    );
    check_view(
        r#"{"type":"system","content":[{"type":"text","text":"r"},"bare"]}"#,
        "system: text=r | text=bare",
    );
    check_view(
        r#"{"type":"ai","content":"","additional_kwargs":{"reasoning_content":"why"},"tool_calls":[{"name":"f","args":{"a": 1},"id":"c","type":"tool_call"}],
            "invalid_tool_calls":[{"name":"g","args":"{broken","id":"d","error":null}]}"#,
        r#"assistant: reasoning=why | call c f={"a": 1} | call d g={broken"#,
    );
    // Three spellings of one call are one call; what only the content has counts too.
    check_view(
        r#"{"type":"ai","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c","name":"f","input":{"a":1}},{"type":"tool_use","id":"z","name":"h","input":{}}],
            "tool_calls":[{"name":"f","args":{"a":1},"id":"c"}],
            "additional_kwargs":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]}}"#,
        r#"assistant: text=t | call z h={} | call c f={"a":1}"#,
    );
    check_view(
        r#"{"type":"tool","content":"r","tool_call_id":"c","name":"f","status":"error"}"#,
        "tool: result c f failed=r",
    );
    check_view(
        r#"{"type":"tool","content":[{"type":"text","text":"r"},{"type":"image","base64":"D","mime_type":"image/png"}],"tool_call_id":"c"}"#,
        "tool: result c -= | ^0 text=r | ^0 image=D",
    );
    check_view(
        r#"{"type":"human","content":"s","name":"summary"}"#,
        "user!summary: text=s",
    );
    check_view(
        r#"{"type":"human","content":"s","additional_kwargs":{"hide_from_ui":true,"lc_source":"summarization"}}"#,
        "user!hidden!summary: text=s",
    );
    check_view(
        r#"{"type":"human","content":"s","additional_kwargs":{"hide_from_ui":true,"dynamic_context_reminder":true}}"#,
        "user!hidden!reminder: text=s",
    );
    check_view(
        r#"{"type":"remove","content":"","id":"m"}"#,
        r#"user!hidden: opaque remove={"type":"remove","content":"","id":"m"}"#,
    );
}

#[test]
fn usage_counts_the_cache_once() {
    let document = open(&data("langchain/state.json"));
    let conversation = &document.conversations()[0];
    assert_eq!(conversation.native_id(Handle(1)), Some("m-2"));
    let expect = Usage {
        input: 900,
        output: 20,
        cache_read: 512,
        cache_write: 0,
        reported_total: Some(920),
        provider: Some("openai".into()),
    };
    assert_eq!(conversation.views()[1].usage, Some(expect));
    let at = PartRef {
        message: Handle(1),
        part: 0,
    };
    let arguments = conversation.json(at).unwrap();
    assert!(arguments.starts_with('{') && arguments.contains("tail ci/nightly.log"));
}

const COPIES: &str = r#"[{"type":"ai","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c","name":"f","input":{"a":"long text"}}],"tool_calls":[{"name":"f","args":{"a": "long text"},"id":"c"}],"additional_kwargs":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":\"long text\"}"}}],"k":1}}]"#;

#[test]
fn copies_of_a_call_change_together() {
    assert_eq!(
        render(
            &open(COPIES),
            [edit(0, [cut_at(1, Site::Leaf(0), 4..9, "\"…")])]
        ),
        COPIES
            .replace(r#"{"a":"long text"}"#, r#"{"a":"long\"…"}"#)
            .replace(r#"{"a": "long text"}"#, r#"{"a": "long\"…"}"#)
            .replace(r#"\"long text\""#, r#"\"long\\\"…\""#)
    );
    assert_eq!(
        render(&open(COPIES), [edit(0, [remove(1)])]),
        r#"[{"type":"ai","content":[{"type":"text","text":"t"}],"tool_calls":[],"additional_kwargs":{"k":1}}]"#
    );
    assert_eq!(
        render(&open(COPIES), [edit(0, [remove(0)])]),
        COPIES.replace(r#"{"type":"text","text":"t"},"#, "")
    );
    let plain = r#"[{"type":"ai","content":"t","tool_calls":[{"name":"f","args":{},"id":"c"}]}]"#;
    assert_eq!(
        render(&open(plain), [edit(0, [remove(0)])]),
        plain.replace("\"t\"", "\"\"")
    );
}

#[test]
fn blocks_take_the_form_of_the_file() {
    let fields = r#""content":"s","additional_kwargs":{"hide_from_ui":true,"lc_source":"summarization"},"response_metadata":{},"type":"human","name":null,"id":"#;
    let check = |before: &str, head: &str, tail: &str| {
        let done = render(&open(before), [summary("s"), keep(0)]);
        let made = format!("[{head}{fields}\"conspectus-");
        assert!(done.starts_with(&made), "{done}");
        assert!(
            done.ends_with(&format!("\"{tail},{}", &before[1..])),
            "{done}"
        );
        // And are known again.
        let again = open(&done);
        assert_eq!(
            shape(&again.conversations()[0])[0],
            "user!hidden!summary: text=s"
        );
        assert!(again.conversations()[0].native_id(Handle(0)).is_some());
    };
    check(r#"[{"type":"human","content":"q"}]"#, "{", "}");
    check(
        r#"[{"type":"human","data":{"content":"q"}}]"#,
        r#"{"type":"human","data":{"#,
        "}}",
    );
    let path = r#""lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"#;
    check(
        &format!(r#"[{{{path}"content":"q"}}}}]"#),
        &format!("{{{path}"),
        "}}",
    );
    let blocks = open(r#"[{"type":"human","content":[{"type":"text","text":"q"}]}]"#);
    assert!(render(&blocks, [summary("s")]).contains(r#""content":[{"type":"text","text":"s"}]"#));
}

#[test]
fn answers_and_equal_blocks() {
    let document =
        open(r#"[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"c"}]}]"#);
    let ok = || insert(BlockKind::Acknowledgement, Role::Assistant, "ok");
    let done = render(&document, [keep(0), answer("c", "f", "lost"), ok(), ok()]);
    let again = open(&done);
    let conversation = &again.conversations()[0];
    assert_eq!(
        shape(conversation)[1..],
        [
            "tool: result c f=lost",
            "assistant!hidden: text=ok",
            "assistant!hidden: text=ok"
        ]
    );
    let id = |n: u32| conversation.native_id(Handle(n)).unwrap();
    assert_ne!(id(2), id(3), "thread states merge messages of one id");
    assert_eq!(
        done,
        render(&document, [keep(0), answer("c", "f", "lost"), ok(), ok()])
    );
}

/// What `count_tokens_approximately` of langchain-core 1.8 says: calls count beside a text, in a list only as blocks.
#[test]
fn calls_beside_a_list_are_not_counted() {
    use conspectus_core::count::{LangChain, TokenCounter};
    let check = |message: &str, expect: u64| {
        let document = open_as(&format!("[{message}]"), Format::LangChain);
        let conversation = &document.conversations()[0];
        let weight = LangChain::DEFAULT.message(&conversation.views()[0], conversation);
        assert_eq!(weight, expect, "{message}");
    };
    let calls = r#""tool_calls":[{"name":"t","args":{"p":1},"id":"c1","type":"tool_call"}]"#;
    check(&format!(r#"{{"type":"ai","content":"hi",{calls}}}"#), 23);
    let text = r#"{"type":"text","text":"hi"}"#;
    check(&format!(r#"{{"type":"ai","content":[{text}],{calls}}}"#), 6);
    // 64 characters of the block as Python prints it, 2 of the text, 9 of the role.
    let block = r#"{"type":"tool_use","id":"c1","name":"t","input":{"p":1}}"#;
    check(
        &format!(r#"{{"type":"ai","content":[{text},{block}],{calls}}}"#),
        22,
    );
    let raw = r#""additional_kwargs":{"tool_calls":[{"id":"c1","function":{"name":"t","arguments":"{}"}}]}"#;
    check(
        &format!(r#"{{"type":"ai","content":[{text}],{calls},{raw}}}"#),
        6,
    );
}
