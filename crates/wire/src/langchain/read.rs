//! LangChain's messages as views.

use std::collections::BTreeMap;
use std::sync::Arc;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::view::{Flags, MessageView, PartKind, Role, Usage};

use super::fields;
use crate::anthropic::body;
use crate::conversation::{Emptied, Fixed, Home, Message, TextAt};
use crate::json::{Array, Kind, Object, Span};
use crate::openai::{form, result};
use crate::read::{
    Builder, Odd, Reader, block, call_block, is_call_block, object, opaque, text_or_json, unique,
};

/// The format.
pub(crate) struct LangChain;

impl Reader for LangChain {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        const EXPECTED: &str = "a LangChain message";
        let outer = object(source, span)?;
        let Some(fields) = fields(&outer, span.text(source)) else {
            return Err(Odd::no_message("an object without `type`", EXPECTED));
        };
        let message = unique(fields.json, EXPECTED)?;
        let Some(role) = role(&fields.kind, &message) else {
            return Ok(opaque(source, span, handle, &fields.kind));
        };
        let name = message.string("name");
        let (author, tool) = match role {
            Role::Tool => (None, name.as_deref()),
            _ => (name.as_deref(), None),
        };
        let extra = extra(&message)?;
        let mut builder = Builder::new(source, role, author);
        match role {
            Role::Tool => {
                let kind = PartKind::Result {
                    id: id_of(&message, "tool_call_id"),
                    tool: tool.map(Arc::from),
                    error: message.string("status").as_deref() == Some("error"),
                };
                result(&mut builder, kind, message.value("content"))?;
            }
            Role::Assistant => reply(&mut builder, &message, &extra)?,
            Role::System | Role::User => {
                if let Some(json) = message.value("content") {
                    body(&mut builder, json)?;
                }
            }
        }
        let native_id = message.string("id").map(Arc::from);
        let (mut view, places) = builder.build(handle, span, native_id)?;
        view.form = form(message.value("content"));
        view.flags = flags(&view, &extra);
        if role == Role::Assistant {
            view.usage = usage(&message);
        }
        Ok((view, places))
    }

    fn fixed(&self, _request: &Object<'_>) -> Fixed {
        Fixed::default()
    }
}

fn role(kind: &str, message: &Object<'_>) -> Option<Role> {
    let kind = kind.strip_suffix("Chunk").unwrap_or(kind);
    Some(match kind {
        "human" | "HumanMessage" => Role::User,
        "ai" | "AIMessage" => Role::Assistant,
        "system" | "SystemMessage" => Role::System,
        "tool" | "ToolMessage" | "function" | "FunctionMessage" => Role::Tool,
        "chat" | "ChatMessage" => match message.string("role")?.as_ref() {
            "user" | "human" => Role::User,
            "assistant" | "ai" => Role::Assistant,
            "system" | "developer" => Role::System,
            _ => return None,
        },
        _ => return None,
    })
}

/// `additional_kwargs`, empty when there are none.
fn extra<'a>(message: &Object<'a>) -> Result<Extra<'a>, Odd> {
    match message.value("additional_kwargs") {
        Some(json) if Kind::of(json) == Kind::Object => Ok(Extra {
            json,
            object: unique(json, "additional_kwargs")?,
        }),
        _ => Ok(Extra {
            json: "",
            object: Object::default(),
        }),
    }
}

struct Extra<'a> {
    json: &'a str,
    object: Object<'a>,
}

fn flags(view: &MessageView, extra: &Extra<'_>) -> Flags {
    let source = extra.object.string("lc_source");
    Flags {
        hidden: extra.object.is_true("hide_from_ui"),
        reminder: extra.object.is_true("dynamic_context_reminder"),
        summary: view.flags.summary
            || view.name.as_deref() == Some("summary")
            || source.as_deref() == Some("summarization"),
        ..Flags::default()
    }
}

/// What the model wrote: reasoning, content, calls. A call may be written up to three times (in `tool_calls`, as a
/// content block, raw under `additional_kwargs`); it is one call, and the others are its copies.
fn reply(builder: &mut Builder<'_>, message: &Object<'_>, extra: &Extra<'_>) -> Result<(), Odd> {
    let source = builder.source();
    let reasoning = extra
        .object
        .value("reasoning_content")
        .filter(|json| Kind::of(json) == Kind::String && *json != "\"\"");
    if let Some(json) = reasoning {
        let at = Span::of(source, json);
        let home = Home::Member(Span::of(source, extra.json));
        let kind = PartKind::Reasoning { bound: false };
        builder.push(kind, TextAt::String(at), at, home);
    }
    let mut calls = Calls::default();
    let lists = ["tool_calls", "invalid_tool_calls"];
    for entry in lists
        .iter()
        .flat_map(|key| message.array(key).unwrap_or_default().0)
    {
        let entry = unique(entry, "a tool call object")?;
        calls.known.entry(id_of(&entry, "id")).or_default();
    }
    match message.value("content") {
        Some(json) if Kind::of(json) == Kind::Array => {
            let array = Span::of(source, json);
            let home = Home::Element {
                array,
                emptied: Emptied::Text,
            };
            for element in Array::of(json).unwrap_or_default().0 {
                if !calls.is_copy(builder, element, home) {
                    block(builder, element, home, None)?;
                }
            }
        }
        Some(json) => body(builder, json)?,
        None => {}
    }
    let is_list = message.value("content").map(Kind::of) == Some(Kind::Array);
    for key in lists {
        let Some(list) = message.value(key) else {
            continue;
        };
        let home = Home::Element {
            array: Span::of(source, list),
            emptied: Emptied::List,
        };
        for json in Array::of(list).unwrap_or_default().0 {
            let entry = Object::of(json).unwrap_or_default();
            let call = call_block(source, &entry);
            let index = builder.push(call.kind(), call.arguments, Span::of(source, json), home);
            if is_list {
                builder.stands_beside(index);
            }
            calls.known.insert(id_of(&entry, "id"), Some(index));
        }
    }
    raw_calls(builder, &mut calls, extra);
    calls.add_copies(builder);
    Ok(())
}

/// The calls of one reply and their copies.
#[derive(Default)]
struct Calls {
    /// The part of each call that the message lists, once it is pushed.
    known: BTreeMap<CallId, Option<usize>>,
    /// Copies of them.
    copies: Vec<(CallId, TextAt, Span, Home)>,
}

impl Calls {
    /// Notes a content block that repeats a listed call.
    fn is_copy(&mut self, builder: &Builder<'_>, json: &str, home: Home) -> bool {
        let Some(block) = Object::of(json).filter(|block| !block.has_duplicates) else {
            return false;
        };
        let id = id_of(&block, "id");
        let is_call = block
            .string("type")
            .is_some_and(|kind| is_call_block(&kind));
        if !is_call || !self.known.contains_key(&id) {
            return false;
        }
        let call = call_block(builder.source(), &block);
        let span = builder.span(json);
        self.copies.push((id, call.arguments, span, home));
        true
    }

    fn add_copies(self, builder: &mut Builder<'_>) {
        for (id, text, block, home) in self.copies {
            if let Some(Some(index)) = self.known.get(&id) {
                builder.copy(*index, text, block, home);
            }
        }
    }
}

/// The provider's own form of the calls: copies of listed ones. When nothing is listed, `function_call` counts.
fn raw_calls(builder: &mut Builder<'_>, calls: &mut Calls, extra: &Extra<'_>) {
    let source = builder.source();
    if let Some(list) = extra.object.value("tool_calls") {
        let home = Home::Element {
            array: Span::of(source, list),
            emptied: Emptied::Nothing(Span::of(source, extra.json)),
        };
        for json in Array::of(list).unwrap_or_default().0 {
            let entry = Object::of(json).unwrap_or_default();
            let function = entry.object("function").unwrap_or_default();
            let arguments = text_or_json(source, function.value("arguments"));
            let id = id_of(&entry, "id");
            calls
                .copies
                .push((id, arguments, Span::of(source, json), home));
        }
    }
    if let Some(json) = extra
        .object
        .value("function_call")
        .filter(|_| calls.known.is_empty())
    {
        let function = Object::of(json).unwrap_or_default();
        let kind = PartKind::Call {
            id: CallId::from(""),
            tool: function.string("name").unwrap_or_default().as_ref().into(),
        };
        let arguments = text_or_json(source, function.value("arguments"));
        let home = Home::Member(Span::of(source, extra.json));
        builder.push(kind, arguments, Span::of(source, json), home);
    }
}

fn id_of(object: &Object<'_>, key: &str) -> CallId {
    CallId::from(object.string(key).as_deref().unwrap_or_default())
}

/// `usage_metadata` counts cached tokens in `input_tokens`; so does OpenAI's report in `response_metadata`.
fn usage(message: &Object<'_>) -> Option<Usage> {
    let response = message.object("response_metadata").unwrap_or_default();
    let provider = response.string("model_provider").map(Arc::from);
    if let Some(usage) = message.object("usage_metadata") {
        let details = usage.object("input_token_details").unwrap_or_default();
        return Some(Usage {
            input: usage.number("input_tokens")?,
            output: usage.number("output_tokens").unwrap_or(0),
            cache_read: details.number("cache_read").unwrap_or(0),
            cache_write: details.number("cache_creation").unwrap_or(0),
            reported_total: usage.number("total_tokens"),
            provider,
        });
    }
    let usage = response.object("token_usage")?;
    Some(Usage {
        input: usage.number("prompt_tokens")?,
        output: usage.number("completion_tokens").unwrap_or(0),
        cache_read: 0,
        cache_write: 0,
        reported_total: usage.number("total_tokens"),
        provider,
    })
}
