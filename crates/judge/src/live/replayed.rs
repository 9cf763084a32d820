//! A conversation that a model has just answered, compacted by the strategy *replay*: how much of the request for a
//! summary was still in the server's cache?

use std::collections::BTreeSet;

use anyhow::Context as _;
use conspectus::core::count::counter_for;
use conspectus::core::effect::Reply;
use conspectus::core::policy::{CounterChoice, Strategy};
use conspectus::core::view::Role;
use conspectus::{
    ChatModel as _, CompactRequest, Control, Conversation, Document, Meter, ModelCall, OpenOptions,
    Prompt, Replaying,
};
use serde_json::{Value, json};

use super::run::{Ran, Setup};
use super::watched::Asked;

/// What came of it.
#[derive(Debug)]
pub struct Replayed {
    /// The normal call before, which leaves the conversation in the server's cache.
    pub turn: Asked,
    /// The compaction.
    pub ran: Ran,
}

/// Asks the model for a normal turn over the first messages of a conversation of chat messages, `max_tokens` of them,
/// and then compacts the very same request by replay.
///
/// # Errors
/// When the options cannot work, the model cannot be made, or it does not answer the normal turn.
pub async fn replayed(
    conversation: &Conversation,
    max_tokens: u64,
    setup: &Setup,
) -> anyhow::Result<Replayed> {
    let body = request(conversation, max_tokens, setup)?;
    let document = Document::open(body.clone(), &OpenOptions::default())?;
    let (model, compactor) = setup.compactor()?;
    let turn = ModelCall {
        prompt: Prompt::Body(body.into()),
        max_output_tokens: 40,
        timeout_ms: setup.call_timeout_ms,
        schema: None,
        meter: Meter::default(),
    };
    let _: Reply = model.call(turn, &|| ()).await?;
    let turn = model.take().pop().context("the normal turn was watched")?;

    let mut options = setup.options();
    options.strategy = Some(Strategy::Replay);
    let mut command = CompactRequest::command(options);
    command.manual = setup.manual();
    command.manual.routes[0].replay = true;
    let around = Replaying::new(&document, 0);
    around
        .possible()
        .context("the request cannot be replayed")?;
    let conversation = &document.conversations()[0];
    let compaction = compactor
        .compact(conversation, &command, &around, &Control::new())
        .await?;
    Ok(Replayed {
        turn,
        ran: Ran {
            messages: conversation.views().len(),
            record: compaction.thread.active().cloned(),
            report: compaction.report,
            asked: model.take(),
        },
    })
}

/// The conversation's first messages as a request, up to a message of the user.
fn request(conversation: &Conversation, max_tokens: u64, setup: &Setup) -> anyhow::Result<Vec<u8>> {
    let counter = counter_for(CounterChoice::Estimator);
    let mut tokens = 0;
    let mut end = 0;
    for (at, view) in conversation.views().iter().enumerate() {
        tokens += counter.tokens(counter.message(view, conversation));
        if tokens > max_tokens {
            break;
        }
        if view.role == Role::User {
            end = at + 1;
        }
    }
    let messages: Vec<Value> = conversation.views()[..end]
        .iter()
        .map(|view| serde_json::from_str(conversation.json_of(view.handle)))
        .collect::<Result<_, _>>()?;
    anyhow::ensure!(
        !messages.is_empty(),
        "no message of a user within {max_tokens} tokens"
    );
    let body = if setup.anthropic {
        messages_api(&setup.model, &messages)
    } else {
        json!({"model": setup.model, "messages": messages})
    };
    Ok(serde_json::to_vec(&body)?)
}

/// Chat messages as a request of Anthropic's API.
fn messages_api(model: &str, chat: &[Value]) -> Value {
    let mut system = Vec::new();
    let mut tools = BTreeSet::new();
    let mut messages: Vec<Value> = Vec::new();
    let mut push = |role: &str, block: Value| match messages.last_mut() {
        Some(last) if last["role"] == role => {
            last["content"]
                .as_array_mut()
                .expect("made below")
                .push(block);
        }
        _ => messages.push(json!({"role": role, "content": [block]})),
    };
    for message in chat {
        let text = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str() {
            Some("system") => system.push(text),
            Some("tool") => push(
                "user",
                json!({"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}),
            ),
            Some("assistant") => {
                if !text.is_empty() {
                    push("assistant", json!({"type": "text", "text": text}));
                }
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    tools.insert(call["function"]["name"].as_str().unwrap_or_default());
                    let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
                    let input: Value =
                        serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                    push(
                        "assistant",
                        json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": input}),
                    );
                }
            }
            _ => push("user", json!({"type": "text", "text": text})),
        }
    }
    let tools: Vec<Value> = tools
        .into_iter()
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
        .collect();
    json!({"model": model, "max_tokens": 40, "tools": tools, "system": system.join("\n\n"), "messages": messages})
}
