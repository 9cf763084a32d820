//! What reports say of a message in a few words.

use conspectus_core::redact::{Redactor, Shown};
use conspectus_core::view::{MessageView, PartKind, PartRef, Role, Texts};

/// How many characters of a message's beginning are told.
const BEGINS_CHARS: usize = 72;

/// Who speaks. Where results stand in user messages (Anthropic's format), they are a tool's all the same.
pub(crate) fn role_name(view: &MessageView) -> &'static str {
    match view.role {
        _ if view.is_only_results() => "tool",
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Characters of the part and of what stands inside it, media not counted.
pub(crate) fn chars_of(texts: &dyn Texts, view: &MessageView, part: usize) -> u64 {
    parts_of(view, part)
        .map(|part| {
            let at = PartRef {
                message: view.handle,
                part,
            };
            texts.text(at).chars().count() as u64
        })
        .sum()
}

/// The part and what stands inside it, which follows it; media left out.
pub(crate) fn parts_of(view: &MessageView, part: usize) -> impl Iterator<Item = u16> {
    let is_inside = move |i: &usize| {
        let inside = view.parts.get(*i).and_then(|p| p.inside);
        inside.map(usize::from) == Some(part)
    };
    std::iter::once(part)
        .chain((part + 1..view.parts.len()).take_while(is_inside))
        .filter(|i| !matches!(view.parts[*i].kind, PartKind::Media(_)))
        .filter_map(|i| u16::try_from(i).ok())
}

/// The first words of a message without secrets, on one line: of its own text where it has any, else of what it holds.
pub(crate) fn begins(texts: &dyn Texts, view: &MessageView, redactor: &Redactor) -> String {
    let texts = Shown::all(texts, redactor);
    let is_text = |i: &usize| matches!(view.parts[*i].kind, PartKind::Text);
    let all = 0..view.parts.len();
    let spoken = all.clone().filter(is_text);
    spoken
        .chain(all.filter(|i| !matches!(view.parts[*i].kind, PartKind::Media(_))))
        .filter_map(|i| u16::try_from(i).ok())
        .map(|part| {
            first_words(&texts.text(PartRef {
                message: view.handle,
                part,
            }))
        })
        .find(|words| !words.is_empty())
        .unwrap_or_default()
}

fn first_words(text: &str) -> String {
    let mut out = String::new();
    let mut left = BEGINS_CHARS;
    for word in text.split_whitespace() {
        let space = usize::from(!out.is_empty());
        if left <= space {
            out.push('…');
            break;
        }
        if space == 1 {
            out.push(' ');
        }
        left -= space;
        let mut chars = word.chars();
        let taken = out.len();
        out.extend(chars.by_ref().take(left));
        left = left.saturating_sub(out[taken..].chars().count());
        if chars.next().is_some() {
            out.push('…');
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_one_short_line() {
        let check = |text: &str, expect: &str| assert_eq!(first_words(text), expect);
        check("", "");
        check(" \n one\n\ttwo ", "one two");
        check(&"x".repeat(100), &format!("{}…", "x".repeat(72)));
        check(
            &format!("{} end", "x".repeat(72)),
            &format!("{}…", "x".repeat(72)),
        );
        check(&"日本語".repeat(30), &format!("{}…", "日本語".repeat(24)));
    }
}
