use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;
use crate::count::scaled_total;
use crate::id::Handle;
use crate::memory::{Memory, TestPart, call, image, part, result, text};
use crate::patch::{Patch, PatchCause, Site};
use crate::view::Usage;

#[derive(Deserialize)]
struct Fixture {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    messages: Vec<Message>,
    tools: Vec<Box<RawValue>>,
    each: Vec<u64>,
    each33: Vec<u64>,
    total: u64,
    scaled: u64,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Box<RawValue>,
    name: Option<Arc<str>>,
    tool_call_id: Option<String>,
    #[serde(default)]
    calls: Vec<Call>,
    provider: Option<Arc<str>>,
    total: Option<u64>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    args: Box<RawValue>,
    id: String,
}

#[derive(Deserialize)]
struct TextBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

/// A content block as a part: the smallest LangChain surface.
fn block_part(block: &RawValue) -> TestPart {
    let head: TextBlock = serde_json::from_str(block.get()).unwrap();
    let made = match (head.kind.as_str(), head.text) {
        ("text", Some(content)) => text(&content),
        ("image" | "image_url", _) => image(block.get()),
        (label, _) => part(
            PartKind::Opaque {
                label: label.into(),
            },
            "",
        ),
    };
    made.json(block.get())
}

fn view(message: Message, memory: &mut Memory) -> MessageView {
    let content: Option<String> = serde_json::from_str(message.content.get()).ok();
    let is_list = content.is_none();
    let mut parts = Vec::new();
    let answer = message.tool_call_id.as_deref();
    match (&content, answer) {
        (Some(content), Some(id)) => parts.push(result(id, content)),
        (Some(content), None) => parts.push(text(content)),
        (None, _) => {
            parts.extend(answer.map(|id| result(id, "")));
            let blocks: Vec<Box<RawValue>> = serde_json::from_str(message.content.get()).unwrap();
            parts.extend(blocks.iter().map(|block| match answer {
                Some(_) => block_part(block).inside(0),
                None => block_part(block),
            }));
        }
    }
    for made in &message.calls {
        let beside = call(&made.id, &made.name, made.args.get());
        // In a list the calls stand beside the content, so they have no JSON of their own.
        parts.push(if is_list {
            beside
        } else {
            beside.json(made.args.get())
        });
    }
    let mut view = if is_list {
        memory.blocks(message.role, parts)
    } else {
        memory.message(message.role, parts)
    };
    view.name = message.name;
    view.usage = (message.provider.is_some() || message.total.is_some()).then(|| Usage {
        reported_total: message.total,
        provider: message.provider,
        ..Usage::default()
    });
    view
}

#[test]
fn counts_are_those_of_the_real_package() {
    let fixture = include_str!("../../../tests/fixtures/langchain_counts.json");
    let fixture: Fixture = serde_json::from_str(fixture).unwrap();
    assert!(fixture.rows.len() > 90);
    for (number, row) in fixture.rows.into_iter().enumerate() {
        let mut memory = Memory::new();
        let views: Vec<_> = row
            .messages
            .into_iter()
            .map(|message| view(message, &mut memory))
            .collect();
        let weigh = |counter: LangChain| -> Vec<u64> {
            views.iter().map(|m| counter.message(m, &memory)).collect()
        };
        let each = weigh(LangChain::DEFAULT);
        assert_eq!(each, row.each, "row {number}");
        assert_eq!(weigh(LangChain::ANTHROPIC), row.each33, "row {number}");
        let tools = LangChain::DEFAULT.tools(row.tools.iter().map(|tool| tool.get()));
        assert_eq!(tools + each.iter().sum::<u64>(), row.total, "row {number}");
        let scaled = scaled_total(views.iter().zip(each), tools);
        assert_eq!(scaled, row.scaled, "row {number}");
    }
}

#[test]
fn the_values_of_the_behaviour_document() {
    let mut memory = Memory::new();
    let named = |mut message: MessageView| {
        message.name = Some("bob".into());
        message
    };
    let hi_with_call = vec![text("hi"), call("c1", "t", r#"{"p":1}"#).json(r#"{"p":1}"#)];
    let rows = [
        (memory.message(Role::User, vec![text(&"a".repeat(12))]), 7),
        (memory.message(Role::Assistant, vec![text("")]), 6),
        (named(memory.message(Role::User, vec![text("abcd")])), 6),
        (memory.message(Role::Assistant, hi_with_call), 23),
        (
            memory.blocks(Role::Assistant, vec![text("hi"), call("c1", "t", "{}")]),
            6,
        ),
        (
            memory.blocks(Role::User, vec![image("x"), text("abcd")]),
            90,
        ),
    ];
    for (message, tokens) in &rows {
        assert_eq!(LangChain::DEFAULT.message(message, &memory), *tokens);
    }
    assert_eq!(LangChain::ANTHROPIC.message(&rows[0].0, &memory), 8);
    assert_eq!(LangChain::DEFAULT.text("日".repeat(12).as_str()), 3);
}

#[test]
fn a_tool_message_is_named_after_its_tool() {
    let mut memory = Memory::new();
    let kind = PartKind::Result {
        id: "c1".into(),
        tool: Some("read_file".into()),
        error: false,
    };
    let message = memory.message(Role::Tool, vec![part(kind, "ok")]);
    let chars = "ok".len() + "c1".len() + "tool".len() + "read_file".len();
    let tokens = (chars as u64).div_ceil(4) + 3;
    assert_eq!(LangChain::DEFAULT.message(&message, &memory), tokens);
}

#[test]
fn scaling_never_lowers_and_is_bounded() {
    let message = |role, total: Option<u64>| MessageView {
        usage: total.map(|total| Usage {
            reported_total: Some(total),
            provider: Some("openai".into()),
            ..Usage::default()
        }),
        ..MessageView::new(Handle(0), role, Vec::new(), crate::id::Ident::EMPTY)
    };
    // 120 up to the assistant's message, 224 in all.
    for (reported, want) in [(1, 224), (100, 224), (130, 243), (150, 280), (10_000, 280)] {
        let views = [
            message(Role::User, None),
            message(Role::Assistant, Some(reported)),
            message(Role::User, None),
        ];
        assert_eq!(scaled_total(views.iter().zip([100, 20, 104]), 0), want);
    }
}

#[test]
fn anthropic_blocks_are_printed_as_python_would() {
    let mut memory = Memory::new();
    let block = r#"{"type":"tool_use","id":"toolu_1","name":"t","input":{"p":1}}"#;
    let printed = "{'type': 'tool_use', 'id': 'toolu_1', 'name': 't', 'input': {'p': 1}}".len();
    let tokens = (printed as u64 + 9).div_ceil(4) + 3;
    for json in [block, r#"{"p":1}"#] {
        let message = memory.blocks(
            Role::Assistant,
            vec![call("toolu_1", "t", r#"{"p":1}"#).json(json)],
        );
        assert_eq!(LangChain::DEFAULT.message(&message, &memory), tokens);
    }
}

#[test]
fn a_patch_inside_a_result_block_lowers_its_count() {
    let mut memory = Memory::new();
    let long = "x".repeat(400);
    let inner = format!(r#"{{"type":"text","text":"{long}"}}"#);
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"c1","content":[{inner}]}}"#);
    let message = memory.blocks(
        Role::User,
        vec![
            result("c1", "").json(block),
            text(&long).json(inner).inside(0),
        ],
    );
    let cut = Patch::Cut {
        part: 1,
        site: Site::Text,
        range: 40..400,
        marker: "[gone]".into(),
        cause: PatchCause::Oversized,
    };
    let counter = LangChain::DEFAULT;
    let whole = counter.message(&message, &memory);
    let less = counter.patched(&message, &memory, &[cut]);
    // 354 characters less, at four a token.
    assert!((88..=89).contains(&(whole - less)));
    let gone = Patch::Remove {
        part: 1,
        cause: PatchCause::Duplicate,
    };
    assert!(counter.patched(&message, &memory, &[gone]) < less);
}
