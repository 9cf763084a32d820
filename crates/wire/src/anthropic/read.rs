//! Anthropic's messages as views.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{MessageView, PartKind, Role, Usage};

use crate::conversation::{Emptied, Fixed, Home, Message, TextAt};
use crate::json::{Array, Kind, Object, Span, string};
use crate::openai::form;
use crate::read::{Builder, Odd, Reader, content, object, opaque};
use crate::usage::anthropic_usage;

/// The format.
pub(crate) struct Anthropic;

impl Reader for Anthropic {
    fn message(
        &self,
        source: &str,
        span: Span,
        handle: Handle,
    ) -> Result<(MessageView, Message), Odd> {
        let message = object(source, span)?;
        let Some(role_name) = message.string("role") else {
            let found = "an object without `role`";
            return Err(Odd::no_message(found, "a message with a role"));
        };
        let role = match role_name.as_ref() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            unknown => return Ok(opaque(source, span, handle, unknown)),
        };
        let mut builder = Builder::new(source, role, None);
        if let Some(json) = message.value("content") {
            body(&mut builder, json)?;
        }
        let native_id = message.string("id").map(Arc::from);
        let (mut view, places) = builder.build(handle, span, native_id)?;
        view.form = form(message.value("content"));
        let metadata = message.object("metadata");
        let kind = metadata.and_then(|metadata| metadata.string("kind"));
        view.flags.summary |= kind.as_deref() == Some("compaction_summary");
        if role == Role::Assistant {
            view.usage = usage(&message);
        }
        Ok((view, places))
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        let system = request
            .value("system")
            .or_else(|| request.value("system_prompt"));
        Fixed {
            system: system.map(system_text).unwrap_or_default(),
            tools: request.value("tools").unwrap_or_default().to_owned(),
        }
    }
}

/// Content: a string, or blocks.
pub(crate) fn body(builder: &mut Builder<'_>, json: &str) -> Result<(), Odd> {
    if Kind::of(json) != Kind::String {
        return content(builder, json, None, Emptied::List);
    }
    if json != "\"\"" {
        let span = builder.span(json);
        let home = Home::Content(Emptied::Text);
        builder.push(PartKind::Text, TextAt::String(span), span, home);
    }
    Ok(())
}

fn system_text(json: &str) -> String {
    match Kind::of(json) {
        Kind::String => string::decode(json).into_owned(),
        _ => {
            let blocks = Array::of(json).unwrap_or_default().0;
            let texts = blocks
                .iter()
                .filter_map(|block| Object::of(block)?.string("text"));
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// `usage` as the API reports it, where `input_tokens` leaves cached ones out; or Cline's `metrics`, where
/// `inputTokens` holds them.
fn usage(message: &Object<'_>) -> Option<Usage> {
    if let Some(usage) = message.object("usage") {
        return anthropic_usage(&usage);
    }
    let metrics = message.object("metrics")?;
    Some(Usage {
        input: metrics.number("inputTokens")?,
        output: metrics.number("outputTokens").unwrap_or(0),
        cache_read: metrics.number("cacheReadTokens").unwrap_or(0),
        cache_write: metrics.number("cacheWriteTokens").unwrap_or(0),
        reported_total: None,
        provider: None,
    })
}
