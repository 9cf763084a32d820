//! Which model a conversation ran on, where its file says.

use std::borrow::Cow;

use conspectus_core::view::Role;

use crate::conversation::{Conversation, List};
use crate::json::Object;

/// So many of the newest messages of the model are asked.
const ASKED: usize = 20;

impl Conversation {
    /// The model as the file names it: what the request asks for, else what wrote the newest reply, else what the client
    /// noted for the newest turn. Names that clients write where no model spoke (`<synthetic>`) are passed over.
    pub fn model(&self) -> Option<String> {
        let text = self.source.text();
        let of_request = || {
            let List::Array { request, .. } = &self.list else {
                return None;
            };
            named(&Object::of(request.as_ref()?.text(text))?)
        };
        of_request()
            .or_else(|| self.of_replies())
            .or_else(|| self.of_turns())
    }

    fn of_replies(&self) -> Option<String> {
        let text = self.source.text();
        let replies = self.views.iter().zip(&self.messages).rev();
        let replies = replies.filter(|(view, _)| view.role == Role::Assistant);
        replies.take(ASKED).find_map(|(_, message)| {
            let object = Object::of(message.span.text(text))?;
            // LangChain's own dump puts the fields one level down, Claude Code the message.
            let inner = ["message", "kwargs", "data"];
            let inner = inner.into_iter().find_map(|key| object.object(key));
            named(&object).or_else(|| named(&inner?))
        })
    }

    /// Lines of a rollout that say under which settings a turn runs.
    fn of_turns(&self) -> Option<String> {
        if !matches!(self.list, List::Lines) {
            return None;
        }
        let text = self.source.text();
        let mut rest = text;
        while let Some(at) = rest.rfind("\"turn_context\"") {
            let start = rest[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let line = text[start..].lines().next().unwrap_or("");
            let found = Object::of(line.trim())
                .filter(|record| record.string("type").as_deref() == Some("turn_context"))
                .and_then(|record| named(&record.object("payload")?));
            if found.is_some() {
                return found;
            }
            rest = &rest[..start];
        }
        None
    }
}

/// What an object says of the model.
fn named(object: &Object<'_>) -> Option<String> {
    let metadata = || object.object("response_metadata");
    let plain = ["model", "model_name", "modelID", "model_id"];
    let own = plain.into_iter().find_map(|key| object.string(key));
    let name: Cow<'_, str> = own.or_else(|| {
        let metadata = metadata()?;
        ["model_name", "model"]
            .into_iter()
            .find_map(|key| metadata.string(key))
    })?;
    let name = name.trim();
    (!name.is_empty() && !name.starts_with('<')).then(|| name.to_owned())
}
