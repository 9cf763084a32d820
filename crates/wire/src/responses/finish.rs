//! What only the whole list tells: which items are one reply, whom outputs answer, what the answer cost.

use std::collections::BTreeMap;

use conspectus_core::id::{CallId, ReplyId};
use conspectus_core::view::{MessageView, PartKind, Role};

use crate::conversation::Conversation;
use crate::error::Fault;
use crate::json::{Object, Span};
use crate::usage::responses_usage;

/// Completes a conversation that was read from a request or an answer.
pub(super) fn conversation(
    conversation: &mut Conversation,
    request: Option<Span>,
    faults: &mut Vec<Fault>,
) {
    number_replies(&mut conversation.views);
    link_local_shells(conversation);
    let source = conversation.source.clone();
    let Some(object) = request.and_then(|request| Object::of(request.text(source.text()))) else {
        return;
    };
    let continued = ["previous_response_id", "conversation"]
        .into_iter()
        .find_map(|key| object.value(key));
    let is_answer = object
        .string("object")
        .is_some_and(|name| name.starts_with("response"));
    if let Some(value) = continued.filter(|_| !is_answer) {
        conversation.is_continued = true;
        for view in &mut conversation.views {
            view.flags.pinned = true;
        }
        faults.push(Fault {
            line: source.line(Span::of(source.text(), value).start),
            found: "a request that goes on from a history that the server keeps".to_owned(),
            expected: "all items in `input`; these are only the newest, and stay as they are",
        });
    }
    if is_answer {
        let newest = conversation
            .views
            .iter_mut()
            .rfind(|view| view.role == Role::Assistant);
        if let (Some(view), Some(usage)) = (newest, object.object("usage")) {
            view.usage = responses_usage(&usage);
        }
    }
}

/// Neighbouring items of the model are one reply: reasoning and what it led to are taken together or not at all.
pub(crate) fn number_replies(views: &mut [MessageView]) {
    let mut next = 0;
    let mut before = false;
    for view in views {
        let is_reply = view.role == Role::Assistant;
        if is_reply {
            next += u32::from(!before);
            view.reply = Some(ReplyId(next - 1));
        }
        before = is_reply;
    }
}

/// The output of a local shell names its call by the item's id in some clients, by `call_id` in others.
pub(crate) fn link_local_shells(conversation: &mut Conversation) {
    let source = conversation.source.clone();
    let mut by_item: BTreeMap<CallId, CallId> = BTreeMap::new();
    for (view, message) in conversation.views.iter_mut().zip(&conversation.messages) {
        let is = |name: &str| {
            let item = Object::of(message.span.text(source.text())).unwrap_or_default();
            item.string("type").as_deref() == Some(name)
        };
        for part in &mut view.parts {
            match &mut part.kind {
                PartKind::Call { id, tool } if tool.as_ref() == "local_shell" => {
                    if let Some(item) = &message.native_id
                        && is("local_shell_call")
                    {
                        by_item.insert(CallId(item.clone()), id.clone());
                    }
                }
                PartKind::Result { id, .. } if by_item.contains_key(id) => {
                    if is("local_shell_call_output")
                        && let Some(call) = by_item.get(id)
                    {
                        *id = call.clone();
                    }
                }
                _ => {}
            }
        }
    }
}
