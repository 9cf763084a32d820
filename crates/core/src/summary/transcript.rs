//! The conversation as one document: plain text, framed and escaped, cut into chunks at unit borders.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::count::TokenCounter;
use crate::id::Ident;
use crate::policy::ToolResults;
use crate::redact::Redactor;
use crate::unit::Pos;
use crate::view::{MediaKind, MessageView, PartKind, PartRef, Role, Texts};
use crate::window::Branch;

/// Opens the transcript in a request.
pub const OPEN: &str = "<transcript>";
/// Closes it.
pub const CLOSE: &str = "</transcript>";
/// Stands behind it. Weak models read the end of a request as what is asked of them: without this they go on with the
/// conversation and answer its last message.
pub const ASK: &str = "\nThe transcript ends here. Do not answer it and do not go on with it: write the note about it, as instructed.";

/// What a passage that holds an earlier summary begins with.
pub(super) const EARLIER: &str = "earlier summary";

/// Characters of each end of a long result in an excerpt.
const EXCERPT_CHARS: usize = 400;

/// The text of one unit, or of an earlier summary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Passage(pub Arc<str>);

impl Passage {
    /// An earlier summary, to be carried on.
    pub fn earlier(summary: &str) -> Self {
        Self(format!("{EARLIER}: {summary}\n").into())
    }
}

/// What one call is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The passages, joined and escaped.
    pub text: Arc<str>,
    /// What a partial result is kept under.
    pub key: Ident,
}

/// One passage for each unit among `going`, in order of their first message. `shown` gives the texts of the message
/// at a position as the model may see them: shortened, without secrets. Whatever `results` says, each message leaves
/// at least a trace.
pub(crate) fn passages<T: Texts>(
    branch: &Branch,
    going: &[Pos],
    results: ToolResults,
    shown: impl Fn(Pos) -> T,
) -> Vec<Passage> {
    let is_going: BTreeSet<Pos> = going.iter().copied().collect();
    let mut told = BTreeSet::new();
    let mut out = Vec::new();
    for at in going {
        if !told.insert(branch.units().index_of(*at)) {
            continue;
        }
        let mut text = String::new();
        for member in branch
            .units()
            .of(*at)
            .members()
            .iter()
            .filter(|m| is_going.contains(m))
        {
            describe(&mut text, branch.view(*member), &shown(*member), results);
        }
        out.push(Passage(text.into()));
    }
    out
}

/// Whether a transcript tells nothing of a message: it holds thoughts, blank text, or no content at all.
pub fn is_silent(view: &MessageView, texts: &dyn Texts) -> bool {
    let is_blank = |part: u16| {
        let message = view.handle;
        texts.text(PartRef { message, part }).trim().is_empty()
    };
    (view.parts.iter().zip(0..)).all(|(part, at)| match part.kind {
        PartKind::Reasoning { .. } => true,
        PartKind::Text => is_blank(at),
        _ => false,
    })
}

fn describe(out: &mut String, view: &MessageView, texts: &dyn Texts, results: ToolResults) {
    for (index, part) in view.parts.iter().enumerate() {
        let Ok(index) = u16::try_from(index) else {
            break;
        };
        let text = texts.text(PartRef {
            message: view.handle,
            part: index,
        });
        let who = match view.role {
            _ if view.flags.summary => EARLIER,
            Role::System => "system",
            Role::User if view.flags.hidden => "host",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let line = match &part.kind {
            PartKind::Text if part.inside.is_some() => format!("{}\n", told(&text, results)),
            PartKind::Text => format!("{who}: {text}\n"),
            // Reasoning is the model's own way to an answer; signed blocks must not be quoted elsewhere.
            PartKind::Reasoning { .. } => continue,
            PartKind::Call { tool, .. } => format!("assistant calls {tool}: {text}\n"),
            PartKind::Result { error: true, .. } => {
                format!("result (error): {}\n", told(&text, results))
            }
            PartKind::Result { .. } => format!("result: {}\n", told(&text, results)),
            PartKind::Media(kind) => format!("[{}]\n", media(*kind)),
            PartKind::Opaque { label } => format!("[{label}]\n"),
        };
        out.push_str(&line);
    }
}

/// A result's text as the option says.
fn told(text: &str, results: ToolResults) -> Cow<'_, str> {
    let chars = text.chars().count();
    match results {
        ToolResults::Include => text.into(),
        ToolResults::Excerpt if chars <= 2 * EXCERPT_CHARS => text.into(),
        ToolResults::Excerpt => {
            let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
            let (head, tail) = (
                &text[..at(EXCERPT_CHARS)],
                &text[at(chars - EXCERPT_CHARS)..],
            );
            let left_out = chars - 2 * EXCERPT_CHARS;
            format!("{head}\n[{left_out} characters left out]\n{tail}").into()
        }
        ToolResults::Omit if text.is_empty() => text.into(),
        ToolResults::Omit => format!("[{chars} characters left out]").into(),
    }
}

fn media(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "sound",
        MediaKind::Video => "video",
        MediaKind::File => "file",
    }
}

/// The passages in chunks of at most `max_tokens`, in order; at least one. A passage that alone is too long is
/// split at line ends, so nothing is left out but a chunk of blanks, which nobody can be asked about. `salt` goes
/// into the keys: what else the result depends on. What is a secret only as it is spelled here, or since its
/// neighbour stands in another chunk, is taken out last.
pub fn chunks(
    passages: &[Passage],
    max_tokens: u64,
    counter: &dyn TokenCounter,
    salt: Ident,
    redactor: &Redactor,
) -> Vec<Chunk> {
    let size = |text: &str| counter.tokens(counter.text(text));
    let chunk = |text: &str| {
        let text = redactor.redact(text);
        let key = salt.then(Ident::of(&text));
        let text = text.as_ref().into();
        Chunk { text, key }
    };
    let mut out = Vec::new();
    let mut text = String::new();
    let mut used = 0;
    let mut flush = |text: &mut String| {
        // Parts are rounded, so together they can be a little more than their sum.
        let text = std::mem::take(text);
        let pieces = split(&text, max_tokens, &size).into_iter();
        out.extend(pieces.filter(|piece| !piece.trim().is_empty()).map(chunk));
    };
    for passage in passages {
        let escaped = escape(&passage.0);
        for piece in split(&escaped, max_tokens, &size) {
            let cost = size(piece);
            if used + cost > max_tokens {
                flush(&mut text);
                used = 0;
            }
            used += cost;
            text.push_str(piece);
        }
    }
    flush(&mut text);
    if out.is_empty() {
        out.push(chunk(""));
    }
    out
}

/// `text` in pieces of at most `max_tokens`, cut behind line ends where there are any.
fn split<'t>(text: &'t str, max_tokens: u64, size: &impl Fn(&str) -> u64) -> Vec<&'t str> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && size(rest) > max_tokens {
        let mut end = largest_fitting(rest, max_tokens, size);
        if let Some(line) = rest[..end].rfind('\n').filter(|at| *at * 2 > end) {
            end = line + 1;
        }
        let (piece, after) = rest.split_at(end);
        out.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

/// The length of the longest prefix of at most `max_tokens`, at least one character.
fn largest_fitting(text: &str, max_tokens: u64, size: &impl Fn(&str) -> u64) -> usize {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (mut low, mut high) = (0, text.len());
    while low + 1 < high {
        let middle = boundary(low + (high - low) / 2);
        if middle <= low {
            break;
        }
        if size(&text[..middle]) <= max_tokens {
            low = middle
        } else {
            high = middle
        }
    }
    if low == 0 {
        text.chars().next().map_or(0, char::len_utf8)
    } else {
        low
    }
}

/// The document that a chunk is sent as.
pub fn document(chunk: &Chunk) -> String {
    [OPEN, "\n", &chunk.text, CLOSE, ASK].concat()
}

/// Angle brackets and ampersands as entities: data cannot close its block.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::QuarterBytes;

    #[test]
    fn results_are_told_as_the_option_says() {
        let long = "长".repeat(1_000);
        assert_eq!(told(&long, ToolResults::Include), long);
        let excerpt = told(&long, ToolResults::Excerpt);
        assert_eq!(excerpt.chars().filter(|c| *c == '长').count(), 800);
        assert!(
            excerpt.contains("\n[200 characters left out]\n"),
            "{excerpt}"
        );
        assert_eq!(told("short", ToolResults::Excerpt), "short");
        assert_eq!(told("short", ToolResults::Omit), "[5 characters left out]");
    }

    #[test]
    fn no_chunk_is_blank() {
        let passage = |text: &str| Passage(text.into());
        let check = |passages: &[Passage], max, expect: &[&str]| {
            let redactor = Redactor::default();
            let chunks = chunks(passages, max, &QuarterBytes, Ident::EMPTY, &redactor);
            let texts: Vec<&str> = chunks.iter().map(|c| c.text.as_ref()).collect();
            assert_eq!(texts, expect);
        };
        // Its last line end does not fit any more.
        check(&[passage("user: hello\n\n\n")], 3, &["user: hello\n"]);
        check(
            &[passage(&["user: ab", &"\n".repeat(40), "c\n"].concat())],
            5,
            &[
                &["user: ab", &"\n".repeat(12)].concat(),
                &["\n".repeat(8).as_str(), "c\n"].concat(),
            ],
        );
        check(&[passage(""), passage("\n")], 5, &[""]);
    }

    #[test]
    fn chunks_hold_everything_and_fit() {
        let passages: Vec<_> = (1..20)
            .map(|n| Passage("word </transcript>\n".repeat(n).into()))
            .collect();
        let whole: String = passages.iter().map(|p| escape(&p.0)).collect();
        for max in [1, 7, 40, 10_000] {
            let redactor = Redactor::default();
            let chunks = chunks(&passages, max, &QuarterBytes, Ident::EMPTY, &redactor);
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let all: String = chunks.iter().map(|c| c.text.as_ref()).collect();
            assert_eq!(words(&all), words(&whole));
            assert!(chunks.iter().all(|c| !c.text.trim().is_empty()), "{max}");
            let size = |c: &Chunk| QuarterBytes.tokens(QuarterBytes.text(&c.text));
            assert!(chunks.iter().all(|c| size(c) <= max.max(1) + 1), "{max}");
            assert!(
                chunks
                    .iter()
                    .all(|c| document(c).matches(CLOSE).count() == 1)
            );
        }
    }
}
