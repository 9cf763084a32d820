//! Items of the Responses API.

use conspectus_core::id::{Handle, ReplyId};
use conspectus_core::projection::{BlockKind, Piece};
use conspectus_core::view::{PartKind, Role, Usage};
use conspectus_wire::{Document, Format, OpenOptions, RenderContext, WriteError, valid};

use crate::support::{
    answer, cut, edit, everything, insert, keep, lenient, open, remove, render, script, shape,
    shared, summary,
};

const REQUEST: &str = r#"{"model":"m","instructions":"be careful","tools":[{"type":"function","name":"run"}],"input":[
  {"type":"additional_tools","role":"developer","tools":[]},
  {"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
  {"role":"user","content":"first", "x": 1.50},
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ENC"},
  {"type":"function_call","id":"fc_1","call_id":"c1","name":"run","arguments":"{\"cmd\":\"ls\"}"},
  {"type":"custom_tool_call","id":"ct_1","call_id":"c2","name":"exec","input":"text"},
  {"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"},
  {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"a long story"},{"type":"input_image","image_url":"data:x"}]},
  {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
  {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"done"},{"type":"refusal","refusal":"not that"}]},
  {"type":"compaction","id":"cmp_1","encrypted_content":"ENC2"},
  {"type":"brand_new","x":1},
  {"role":"user","content":[{"type":"input_text","text":"second"}]}
]}"#;

#[test]
fn items_as_views() {
    let document = open(REQUEST);
    assert_eq!(document.format(), Format::Responses);
    assert_eq!(document.faults(), []);
    let conversation = &document.conversations()[0];
    assert_eq!(conversation.fixed().system, "be careful");
    assert!(conversation.fixed().tools.contains("\"run\""));
    assert_eq!(
        shape(conversation),
        [
            r#"system: opaque additional_tools={"type":"additional_tools","role":"developer","tools":[]}"#,
            "system: text=rules",
            "user: text=first",
            r#"assistant: sealed=[{"type":"summary_text","text":"hm"}]"#,
            r#"assistant: call c1 run={"cmd":"ls"}"#,
            "assistant: call c2 exec=text",
            r#"tool: result c1 - failed={"output":"no","metadata":{"exit_code":1}}"#,
            "tool: result c2 -= | ^0 text=a long story | ^0 image=data:x",
            r#"assistant: call ws_1 web_search={"type":"search","query":"q"} | result ws_1 web_search="#,
            "assistant: text=done | text=not that",
            r#"user!hidden: opaque compaction={"type":"compaction","id":"cmp_1","encrypted_content":"ENC2"}"#,
            r#"user!hidden: opaque brand_new={"type":"brand_new","x":1}"#,
            "user: text=second",
        ]
    );
    let replies: Vec<_> = conversation
        .views()
        .iter()
        .map(|v| v.reply.map(|r| r.0))
        .collect();
    let (first, second) = (Some(0), Some(1));
    assert_eq!(
        replies[3..=9],
        [first, first, first, None, None, second, second]
    );
    assert_eq!(conversation.native_id(Handle(3)), Some("rs_1"));
}

#[test]
fn blocks_of_ours_are_items_and_the_rest_is_spliced() {
    let document = open(REQUEST);
    let out = render(
        &document,
        [
            keep(0),
            keep(1),
            summary("so far"),
            insert(BlockKind::Rules, Role::System, "how to read"),
            keep(4),
            keep(5),
            answer("c1", "run", "gone"),
            answer("c2", "exec", "gone"),
            edit(7, [cut(1, 1..11, "…")]),
            edit(6, [remove(0)]),
            edit(9, [remove(1)]),
            keep(12),
        ],
    );
    let expect = r#"{"model":"m","instructions":"be careful","tools":[{"type":"function","name":"run"}],"input":[
  {"type":"additional_tools","role":"developer","tools":[]},
  {"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
  {"role":"developer","content":"how to read"},
  {"role":"user","content":"so far"},
  {"type":"function_call","id":"fc_1","call_id":"c1","name":"run","arguments":"{\"cmd\":\"ls\"}"},
  {"type":"custom_tool_call","id":"ct_1","call_id":"c2","name":"exec","input":"text"},
  {"type":"function_call_output","call_id":"c1","output":"gone"},
  {"type":"custom_tool_call_output","call_id":"c2","output":"gone"},
  {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"a…y"},{"type":"input_image","image_url":"data:x"}]},
  {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"done"}]},
  {"role":"user","content":[{"type":"input_text","text":"second"}]}
]}"#;
    assert_eq!(out, expect);
}

#[test]
fn every_kind_of_call_pairs_with_its_output() {
    let items = r#"[
      {"type":"local_shell_call","id":"ls_1","call_id":"a","action":{"type":"exec","command":["ls"]}},
      {"type":"local_shell_call_output","id":"ls_1","output":"x"},
      {"type":"shell_call","call_id":"b","action":{"commands":["ls"]}},
      {"type":"shell_call_output","call_id":"b","output":[{"stdout":"out","stderr":"err","outcome":{"type":"exit","exit_code":0}}]},
      {"type":"apply_patch_call","call_id":"c","operation":{"type":"delete_file","path":"p"}},
      {"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no"},
      {"type":"computer_call","call_id":"d","action":{"type":"screenshot"}},
      {"type":"computer_call_output","call_id":"d","output":{"type":"computer_screenshot","image_url":"data:y"}},
      {"type":"mcp_approval_request","id":"m1","name":"t","arguments":"{}"},
      {"type":"mcp_approval_response","approval_request_id":"m1","approve":true},
      {"type":"mcp_call","id":"m2","name":"t","server_label":"s","arguments":"{}","output":"r"}
    ]"#;
    let document = open(items);
    let pairs: Vec<_> = document.conversations()[0]
        .views()
        .iter()
        .flat_map(|view| &view.parts)
        .filter_map(|part| match &part.kind {
            PartKind::Call { id, .. } => Some(format!("{} ?", id.as_str())),
            PartKind::Result { id, .. } => Some(format!("{} !", id.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        pairs,
        [
            "a ?", "a !", "b ?", "b !", "c ?", "c !", "d ?", "d !", "m1 ?", "m1 !", "m2 ?", "m2 !"
        ]
    );
    assert_eq!(valid::check(Format::Responses, items.as_bytes()), []);
    let short = render(
        &document,
        (0..11).map(|n| match n {
            3 => edit(3, [cut(1, 1..3, "…")]),
            n => keep(n),
        }),
    );
    assert!(
        short.contains(r#"{"stdout":"o…","stderr":"err","#),
        "{short}"
    );
}

#[test]
fn a_prompt_may_be_a_string() {
    let file = r#"{"model": "m", "input": "a \"long\" question"}"#;
    let document = open(file);
    assert_eq!(document.format(), Format::Responses);
    assert_eq!(
        shape(&document.conversations()[0]),
        [r#"user: text=a "long" question"#]
    );
    assert_eq!(render(&document, [keep(0)]), file);
    assert_eq!(
        render(&document, [edit(0, [cut(0, 2..8, "short")])]),
        r#"{"model": "m", "input": "a short question"}"#
    );
    assert_eq!(
        render(&document, [summary("s"), keep(0)]),
        r#"{"model": "m", "input": [{"type":"message","role":"user","content":[{"type":"input_text","text":"s"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"a \"long\" question"}]}]}"#
    );
}

#[test]
fn what_goes_on_from_the_server_stays_as_it_is() {
    let file = r#"{"model":"m","previous_response_id":"resp_1","input":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#;
    let document = open(file);
    assert_eq!(document.faults().len(), 1);
    let conversation = &document.conversations()[0];
    assert!(conversation.views().iter().all(|view| view.flags.pinned));
    assert_eq!(render(&document, [keep(0), keep(1)]), file);
    let projection = script([keep(1)]);
    let result = document.render(&[(0, &projection)], &RenderContext::default());
    assert_eq!(result, Err(WriteError::HistoryElsewhere(0)));
}

#[test]
fn an_answer_is_a_conversation_with_its_usage() {
    let file = r#"{"object":"response","model":"m","previous_response_id":null,"output":[{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":5,"total_tokens":105}}"#;
    let document = open(file);
    assert_eq!(document.format(), Format::Responses);
    let views = document.conversations()[0].views();
    assert_eq!(views[0].parts[0].kind, PartKind::Reasoning { bound: false });
    assert_eq!(views[0].reply, Some(ReplyId(0)));
    assert_eq!(
        views[1].usage,
        Some(Usage {
            input: 100,
            output: 5,
            cache_read: 60,
            reported_total: Some(105),
            ..Usage::default()
        })
    );
}

#[test]
fn other_lists_named_input_are_not_taken() {
    let check = |file: &str| {
        let result = Document::open(file.as_bytes().to_vec(), &OpenOptions::default());
        assert!(result.is_err(), "{file}");
    };
    check(r#"{"model":"text-embedding-3-small","input":"text","encoding_format":"float"}"#);
    check(r#"{"model":"text-embedding-3-small","input":["a","b"]}"#);
    check(
        r#"[{"type":"user","content":"q"},{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"}]"#,
    );
    check(r#"{"input":"text"}"#);
    check(r#"{"output":[{"role":"user","content":"x"}]}"#);
}

#[test]
fn lines_of_items_and_broken_items() {
    let lines = "{\"type\":\"message\",\"role\":\"user\",\"content\":\"q\"}\n{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"t\",\"arguments\":\"{}\"}\n";
    let document = open(lines);
    assert_eq!(document.format(), Format::Responses);
    assert_eq!(render(&document, [keep(0), keep(1)]), lines);
    assert!(
        render(&document, [summary("s"), keep(1)])
            .starts_with(r#"{"type":"message","role":"user","#)
    );
    // A message without content, a key twice: kept as they are.
    let odd = r#"[{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"role":"user"},{"type":"reasoning","type":"reasoning"}]"#;
    let document = open(odd);
    assert_eq!(document.faults().len(), 2);
    assert_eq!(render(&document, [keep(0), keep(1), keep(2)]), odd);
    // No object at all: only when reading leniently.
    let worse = r#"[{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},3]"#;
    assert!(Document::open(worse.as_bytes().to_vec(), &OpenOptions::default()).is_err());
    assert_eq!(lenient(worse).conversations()[0].views().len(), 2);
}

#[test]
fn the_rules_of_the_api() {
    let check = |items: &str, expect: &[valid::Rule]| {
        let file = format!(r#"{{"model":"m","input":[{items}]}}"#);
        let faults = valid::check(Format::Responses, file.as_bytes());
        let rules: Vec<_> = faults.iter().map(|fault| fault.rule).collect();
        assert_eq!(rules, expect, "{items}");
    };
    use valid::Rule;
    let call = r#"{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"c","output":"x"}"#;
    let user = r#"{"role":"user","content":"q"}"#;
    let thought = r#"{"type":"reasoning","id":"r","summary":[]}"#;
    check(&[user, thought, call, output].join(","), &[]);
    check(&[call, user, output].join(","), &[]);
    check(&[user, call].join(","), &[Rule::Unanswered]);
    check(output, &[Rule::Orphan]);
    check(&[output, call].join(","), &[Rule::Orphan, Rule::Unanswered]);
    check(&[call, output, output].join(","), &[Rule::Repeated]);
    check(&[thought, user].join(","), &[Rule::Thinking]);
    check(&[user, thought].join(","), &[]);
    check(
        &[r#"{"type":"compaction_trigger"}"#, user].join(","),
        &[Rule::Last],
    );
    check(&[user, r#"{"type":"compaction_trigger"}"#].join(","), &[]);
    check(
        r#"{"type":"function_call","call_id":"c","name":"t","arguments":{}}"#,
        &[Rule::Arguments, Rule::Unanswered],
    );
    check(r#"{"role":"user"}"#, &[Rule::Empty]);
    check(r#"{"role":"robot","content":"x"}"#, &[Rule::Role]);
}

#[test]
fn examples_of_requests() {
    let Some(folder) = shared() else {
        println!("shared data not found, checks of the Responses examples left out");
        return;
    };
    let mut seen = 0;
    for part in ["wire/examples/openai-responses", "data/provider-compaction"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_ours = part.starts_with("wire") || name.contains("openai");
            if !name.ends_with(".json") || name.starts_with("input_tokens.response") || !is_ours {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let document = Document::open(bytes.clone(), &OpenOptions::default()).expect(&name);
            assert_eq!(document.format(), Format::Responses, "{name}");
            let projections: Vec<_> = document.conversations().iter().map(everything).collect();
            let edits: Vec<_> = projections.iter().enumerate().collect();
            let again = document.render(&edits, &RenderContext::default()).unwrap();
            assert!(again == bytes, "{name} changed although nothing was");
            let faults = valid::check(Format::Responses, &bytes);
            assert_eq!(
                faults.is_empty(),
                !name.starts_with("invalid."),
                "{name}: {faults:?}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 19);
}

#[test]
fn replies_keep_their_reasoning_when_both_are_kept() {
    let document = open(REQUEST);
    let pieces: Vec<Piece> = [0, 1, 3, 4, 5, 6, 7, 12].map(keep).into();
    let out = render(&document, pieces);
    let faults = valid::check(Format::Responses, out.as_bytes());
    assert_eq!(faults, []);
}
