//! What Nous's pruning does, for `strict_parity`: its sizes and conditions, losses included.

use std::sync::Arc;

use super::headtail::joins;
use crate::patch::{Patch, PatchCause, Site};
use crate::redact::Redactor;
use crate::view::{ContentForm, MessageView, PartKind, PartRef, Role, Texts};

/// Characters that stay at the front.
const HEAD: usize = 4096;
/// Characters that stay at the end.
const TAIL: usize = 1024;

/// The patch for a tool message whose content is one string of more than `cap` bytes and more than `cap`
/// characters: its first 4096 and last 1024 characters stay. No other message is touched.
///
/// With a cap below 5120 head and tail can overlap, and the result be longer than what it replaces: so
/// does the original. What is written twice goes into the record, so it is without secrets there. Characters are
/// grapheme clusters as far as the rest of this module knows them.
pub(crate) fn shorten_as_nous(
    message: &MessageView,
    texts: &dyn Texts,
    cap: u64,
    redactor: &Redactor,
) -> Option<Patch> {
    let [part] = message.parts.as_slice() else {
        return None;
    };
    let is_result = matches!(part.kind, PartKind::Result { .. });
    if message.role != Role::Tool || message.form != ContentForm::Text || !is_result {
        return None;
    }
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let text = texts.text(PartRef {
        message: message.handle,
        part: 0,
    });
    if text.len() <= cap {
        return None;
    }
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| !joins(&text, *at))
        .collect();
    if starts.len() <= cap {
        return None;
    }
    let head = starts.get(HEAD).copied().unwrap_or(text.len());
    let tail = starts[starts.len().saturating_sub(TAIL)..][0];
    let dropped = text.len() as i64 - head as i64 - (text.len() - tail) as i64;
    let marker = format!(
        "\n\n[... {dropped} bytes pruned from the transcript; the first {HEAD} and the last {TAIL} characters stand here ...]\n\n"
    );
    // An overlap is written twice.
    let twice = redactor.redact_stretch(&text, tail..head);
    let marker: Arc<str> = [marker, twice].concat().into();
    let end = tail.max(head);
    Some(Patch::Cut {
        part: 0,
        site: Site::Text,
        range: u32::try_from(head).ok()?..u32::try_from(end).ok()?,
        marker,
        cause: PatchCause::Oversized,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, result};
    use crate::patch::cut;

    fn shortened(role: Role, text: &str, cap: u64) -> Option<String> {
        let mut memory = Memory::new();
        let message = memory.message(role, vec![result("c1", text)]);
        let redactor = Redactor::default();
        shorten_as_nous(&message, &memory, cap, &redactor).map(|patch| match patch {
            Patch::Cut { range, marker, .. } => cut(text, &range, &marker),
            Patch::Remove { .. } => unreachable!("nothing is removed"),
        })
    }

    #[test]
    fn sizes_and_conditions() {
        assert_eq!(shortened(Role::Tool, &"x".repeat(8192), 8192), None);
        assert_eq!(shortened(Role::User, &"x".repeat(9000), 8192), None);
        // more bytes than the cap, but not more characters
        assert_eq!(shortened(Role::Tool, &"é".repeat(8000), 8192), None);
        let text = ["h".repeat(5000), "m".repeat(5000), "t".repeat(5000)].concat();
        let short = shortened(Role::Tool, &text, 8192).unwrap();
        assert!(short.starts_with(&"h".repeat(4096)) && short.ends_with(&"t".repeat(1024)));
        assert!(short.contains(&format!("[... {} bytes", 15_000 - 4096 - 1024)));
    }

    #[test]
    fn a_small_cap_makes_it_longer_as_it_does_there() {
        let text = "x".repeat(4500);
        let short = shortened(Role::Tool, &text, 4000).unwrap();
        assert!(short.len() > text.len());
        assert!(short.contains("[... -620 bytes"));
    }

    #[test]
    fn what_is_written_twice_is_without_secrets() {
        let secret = ["sk-ant-", &"Zk3Qm9Tb7Wx1Lp5Rv8Yc2Nd6".repeat(4)].concat();
        let check = |text: String| {
            let short = shortened(Role::Tool, &text, 1_000).unwrap();
            let (head, rest) = short.split_once("stand here ...]\n\n").unwrap();
            assert_eq!(head.split_once("\n\n[...").unwrap().0, text);
            for from in 0..secret.len() - 8 {
                assert!(!rest.contains(&secret[from..from + 8]), "{rest}");
            }
            assert!(rest.contains('['), "{rest}");
        };
        let fill = |chars: usize| "words ".repeat(chars / 6);
        check([fill(1_500), secret.clone(), fill(500)].concat());
        // The end that stays begins in the middle of it.
        check([fill(1_500), secret.clone(), fill(960)].concat());
    }
}
