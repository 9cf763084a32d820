//! A history, or what a projection makes of it, as one short line a message: for snapshots of whole
//! scenarios that a person can read, before and after.
//!
//! ```text
//! =   0 system     text 93 "You are a careful engi…"
//! -   1..7         7 messages left out
//! +     user       summary 512 "Summary of the earlier…"
//! =   8 assistant  call c4 bash 41
//! ~   9 tool       result c4 6021→812 oversized
//! --- tail
//! =  10 user       text 14 "and the tests?" [pinned]
//! ```
//!
//! `=` kept, `~` edited, `+` inserted, `-` left out, `!` out of order or unknown. Sizes are bytes of
//! decoded text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use conspectus_core::id::{CallId, Handle};
use conspectus_core::patch::{Patch, PatchCause, Patched};
use conspectus_core::projection::{Block, BlockKind, Piece, Projection};
use conspectus_core::view::{Flags, MessageView, Part, PartKind, PartRef, Role, Texts};

/// Characters of a text that are shown.
const PREVIEW: usize = 22;
/// Call ids longer than this are shown by their ends.
const ID: usize = 12;

/// A history, one line a message.
pub fn of(views: &[MessageView], texts: &dyn Texts) -> String {
    let mut out = String::new();
    for (at, view) in views.iter().enumerate() {
        message(&mut out, ' ', at, view, &[], texts);
    }
    out
}

/// What `projection` makes of the history `views`: what is kept, changed, put in and left out.
pub fn of_projection(projection: &Projection, views: &[MessageView], texts: &dyn Texts) -> String {
    let pieces: Vec<&Piece> = projection.pieces().collect();
    let places: BTreeMap<Handle, usize> = (views.iter().map(|v| v.handle)).zip(0..).collect();
    let position = |handle: Handle| places.get(&handle).copied();
    let mut out = String::new();
    let mut next = 0;
    for (number, piece) in pieces.iter().enumerate() {
        // What is missing is told before what stands in its place.
        let ahead = pieces[number..].iter().find_map(|p| handle_of(p));
        let upto = ahead.map_or(Some(views.len()), position);
        gap(&mut out, next, upto.unwrap_or(next));
        next = next.max(upto.unwrap_or(next));
        if number == projection.frozen.len() && number > 0 {
            out.push_str("--- tail\n");
        }
        let no_patches: &[Patch] = &[];
        let (handle, patches) = match piece {
            Piece::Insert(block) => {
                inserted(&mut out, block);
                continue;
            }
            Piece::Keep(handle) => (*handle, no_patches),
            Piece::Edit(handle, patches) => (*handle, &**patches),
        };
        let Some(at) = position(handle) else {
            line(&mut out, &format!("!     handle {} is unknown", handle.0));
            continue;
        };
        let mark = match piece {
            _ if at < next => '!',
            Piece::Edit(..) => '~',
            _ => '=',
        };
        message(&mut out, mark, at, &views[at], patches, texts);
        next = next.max(at + 1);
    }
    gap(&mut out, next, views.len());
    out
}

fn handle_of(piece: &Piece) -> Option<Handle> {
    match piece {
        Piece::Keep(handle) | Piece::Edit(handle, _) => Some(*handle),
        Piece::Insert(_) => None,
    }
}

fn gap(out: &mut String, from: usize, to: usize) {
    match to.saturating_sub(from) {
        0 => {}
        1 => line(out, &format!("- {from:>3}            1 message left out")),
        n => {
            let range = format!("{from}..{}", to - 1);
            line(out, &format!("-   {range:<12} {n} messages left out"));
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn message(
    out: &mut String,
    mark: char,
    at: usize,
    view: &MessageView,
    patches: &[Patch],
    texts: &dyn Texts,
) {
    let mut text = format!("{mark} {at:>3} {:<10}", role(view.role));
    let after = Patched::new(texts, view.handle, patches);
    for (index, part) in view.parts.iter().enumerate() {
        let Ok(index) = u16::try_from(index) else {
            break;
        };
        let at = PartRef {
            message: view.handle,
            part: index,
        };
        let causes: Vec<_> = patches.iter().filter(|p| p.part() == index).collect();
        let comma = if index > 0 { " ·" } else { "" };
        let inside = if part.inside.is_some() { " >" } else { "" };
        let _ = write!(text, "{comma}{inside} ");
        one_part(&mut text, part, at, &causes, texts, &after);
    }
    if view.parts.is_empty() {
        text.push_str(" nothing");
    }
    text.push_str(&facts(view));
    line(out, &text);
}

fn one_part(
    out: &mut String,
    part: &Part,
    at: PartRef,
    patches: &[&Patch],
    before: &dyn Texts,
    after: &dyn Texts,
) {
    let name = match &part.kind {
        PartKind::Text => "text".to_owned(),
        PartKind::Reasoning { bound: true } => "reasoning(bound)".to_owned(),
        PartKind::Reasoning { bound: false } => "reasoning".to_owned(),
        PartKind::Call { id, tool } => format!("call {} {tool}", short(id)),
        PartKind::Result { id, error, .. } => {
            let failed = if *error { " failed" } else { "" };
            format!("result {}{failed}", short(id))
        }
        PartKind::Media(kind) => format!("{kind:?}").to_lowercase(),
        PartKind::Opaque { label } => format!("opaque({label})"),
    };
    let _ = write!(out, "{name} {}", part.len);
    if let Some(first) = patches.first() {
        let removed = patches.iter().any(|p| matches!(p, Patch::Remove { .. }));
        let cause = cause(first.cause());
        if removed {
            let _ = write!(out, "→gone {cause}");
        } else {
            let _ = write!(out, "→{} {cause}", after.text(at).len());
        }
    } else if part.kind == PartKind::Text {
        out.push_str(&preview(&before.text(at)));
    }
}

fn inserted(out: &mut String, block: &Block) {
    let kind = match &block.kind {
        BlockKind::Rules => "rules".to_owned(),
        BlockKind::Summary => "summary".to_owned(),
        BlockKind::Reminder => "reminder".to_owned(),
        BlockKind::Acknowledgement => "acknowledgement".to_owned(),
        BlockKind::Answer { id, tool } => format!("answer {} {tool}", short(id)),
    };
    let shown = preview(&block.text);
    let text = format!(
        "+     {:<10} {kind} {}{shown}",
        role(block.role),
        block.text.len()
    );
    line(out, &text);
}

fn facts(view: &MessageView) -> String {
    let Flags {
        reminder,
        hidden,
        pinned,
        partial,
        summary,
    } = view.flags;
    let mut out = String::new();
    for (holds, name) in [
        (reminder, "reminder"),
        (hidden, "hidden"),
        (pinned, "pinned"),
        (partial, "partial"),
        (summary, "old-summary"),
    ] {
        if holds {
            let _ = write!(out, " [{name}]");
        }
    }
    if let Some(reply) = view.reply {
        let _ = write!(out, " [reply {}]", reply.0);
    }
    if let Some(usage) = &view.usage {
        let _ = write!(out, " [usage {}+{}]", usage.input, usage.output);
    }
    out
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn cause(cause: PatchCause) -> &'static str {
    match cause {
        PatchCause::Oversized => "oversized",
        PatchCause::Duplicate => "duplicate",
        PatchCause::Arguments => "arguments",
        PatchCause::Masked => "masked",
        PatchCause::Orphan => "orphan",
        PatchCause::Reasoning => "reasoning",
        PatchCause::Summary => "summary",
    }
}

fn short(id: &CallId) -> String {
    let chars: Vec<char> = id.as_str().chars().collect();
    match chars.len() {
        0 => "(no id)".to_owned(),
        n if n <= ID => chars.into_iter().collect(),
        n => {
            let (head, tail) = (&chars[..5], &chars[n - 5..]);
            head.iter().chain(&['…']).chain(tail).collect()
        }
    }
}

/// The beginning of a text in quotes, control characters escaped.
fn preview(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = String::from(" \"");
    for c in text.chars().take(PREVIEW) {
        if c.is_control() || c == '\u{202b}' || c == '\u{202c}' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if text.chars().nth(PREVIEW).is_some() {
        out.push('…');
    }
    out.push('"');
    out
}
