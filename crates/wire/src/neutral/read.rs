//! Messages of role and parts as views.

use std::sync::Arc;

use conspectus_core::id::Handle;
use conspectus_core::view::{ContentForm, Flags, MessageView, Role, Usage};

use crate::conversation::{Emptied, Fixed, Message};
use crate::json::{Kind, Object, Span, string};
use crate::read::{Builder, Odd, Reader, content, object, opaque};

/// The format.
pub(crate) struct Neutral;

impl Reader for Neutral {
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
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            unknown => return Ok(opaque(source, span, handle, unknown)),
        };
        let mut builder = Builder::new(source, role, message.string("name").as_deref());
        if let Some(parts) = message.value("parts") {
            content(&mut builder, parts, None, Emptied::List)?;
        }
        let native_id = message.string("id").map(Arc::from);
        let (mut view, places) = builder.build(handle, span, native_id)?;
        view.form = ContentForm::Blocks;
        view.flags = Flags {
            summary: view.flags.summary || message.is_true("summary"),
            hidden: message.is_true("hidden"),
            pinned: message.is_true("pinned"),
            reminder: message.is_true("reminder"),
            partial: false,
        };
        if role == Role::Assistant {
            view.usage = usage(&message);
        }
        Ok((view, places))
    }

    fn fixed(&self, request: &Object<'_>) -> Fixed {
        let system = request
            .value("system")
            .map(|system| match Kind::of(system) {
                Kind::String => string::decode(system).into_owned(),
                _ => system.to_owned(),
            });
        Fixed {
            system: system.unwrap_or_default(),
            tools: request.value("tools").unwrap_or_default().to_owned(),
        }
    }
}

fn usage(message: &Object<'_>) -> Option<Usage> {
    let usage = message.object("usage")?;
    let number = |key: &str| usage.number(key).unwrap_or(0);
    Some(Usage {
        input: usage.number("input")?,
        output: number("output"),
        cache_read: number("cache_read"),
        cache_write: number("cache_write"),
        reported_total: None,
        provider: None,
    })
}
