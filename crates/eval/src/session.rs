//! A conversation that is measured: as the core sees it, and as the measures do.

use conspectus_core::view::{MessageView, PartKind as CoreKind, PartRef, Role, Texts};

use crate::part::{Part, PartKind};

/// A conversation, seen both ways. [`Part::message`] is the index of its view.
#[derive(Clone)]
pub struct Session<'a> {
    /// What it is called in reports.
    pub name: String,
    /// Its messages, in order.
    pub views: &'a [MessageView],
    /// Their texts.
    pub texts: &'a dyn Texts,
    /// The same as parts.
    pub parts: Vec<Part>,
}

impl<'a> Session<'a> {
    /// A conversation by its messages.
    pub fn new(name: String, views: &'a [MessageView], texts: &'a dyn Texts) -> Self {
        let numbered = views.iter().zip(0u64..);
        let parts = numbered.flat_map(|(view, nth)| parts(view, texts, nth));
        Self {
            name,
            views,
            texts,
            parts: parts.collect(),
        }
    }
}

fn parts(view: &MessageView, texts: &dyn Texts, nth: u64) -> Vec<Part> {
    let numbered = view.parts.iter().zip(0u16..);
    numbered
        .map(|(part, at)| {
            let text = texts.text(PartRef {
                message: view.handle,
                part: at,
            });
            let (kind, name) = match &part.kind {
                CoreKind::Text if view.flags.summary => (PartKind::Summary, ""),
                CoreKind::Text => (PartKind::Text, ""),
                CoreKind::Reasoning { .. } => (PartKind::Thinking, ""),
                CoreKind::Call { tool, .. } => (PartKind::Call, tool.as_ref()),
                CoreKind::Result { .. } => (PartKind::Result, ""),
                CoreKind::Media(_) | CoreKind::Opaque { .. } => (PartKind::Opaque, ""),
            };
            let is_inside = part.inside.is_some() && kind == PartKind::Text;
            Part {
                role: if matches!(part.kind, CoreKind::Result { .. }) || is_inside {
                    "tool"
                } else {
                    role(view.role)
                }
                .to_owned(),
                kind: if is_inside { PartKind::Result } else { kind },
                text: text.into_owned(),
                name: name.to_owned(),
                message: nth,
            }
        })
        .filter(|part| !(part.kind == PartKind::Result && part.text.is_empty()))
        .collect()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
