//! What a peer's summariser is given of what goes: the newest that fits, and of that what is left of it.

use std::sync::Arc;

use crate::count::{Scaling, TokenCounter};
use crate::patch::{Patch, PatchCause, Site};
use crate::policy::Preset;
use crate::unit::Pos;
use crate::view::{ContentForm, PartKind, PartRef, Role, Texts};
use crate::window::Branch;

/// What LangChain's middleware takes for a summary when its trimming leaves nothing to summarise.
pub(crate) const NOTHING_LEFT: &str = "Previous conversation was too long to summarize.";

/// What stands for the middle that LangChain's second call leaves out. The words are ours.
const MIDDLE: &str = "\n\n[... the middle of the conversation is left out ...]\n\n";
/// What stands for the middle in a text that deer-flow bounds by characters.
const ELLIPSIS: &str = "\n...\n";

/// What is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The messages, ascending.
    pub(crate) messages: Vec<Pos>,
    /// The summary before, or its end.
    pub(crate) earlier: Option<String>,
    /// Of this message, which is the first, only a part is given: these are its patches.
    pub(crate) partial: Option<(Pos, Vec<Patch>)>,
}

impl Given {
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.earlier.is_none()
    }
}

/// LangChain's trimming, which deer-flow inherits.
pub(crate) struct Trim<'a> {
    pub(crate) preset: Preset,
    pub(crate) branch: &'a Branch,
    pub(crate) texts: &'a dyn Texts,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) patches_at: &'a dyn Fn(Pos) -> &'a [Patch],
}

impl Trim<'_> {
    /// Of what goes, the newest messages that fit into `max_tokens`, from the first of a user among them, of which
    /// the last lines may do; a system message at the start is set aside and given all the same. The rest is not
    /// given to any call. `None`: this preset's original gives everything.
    ///
    /// LangChain's own summary is the oldest message of its list, so it is the first to be left out; deer-flow keeps
    /// it elsewhere, and where nothing is left gives the last message alone.
    pub(crate) fn given(
        &self,
        going: &[Pos],
        earlier: Option<&str>,
        max_tokens: Option<u64>,
    ) -> Option<Given> {
        let in_list = match self.preset {
            Preset::Langchain => earlier,
            Preset::Deerflow => None,
            Preset::Nous | Preset::Default => return None,
        };
        let room = max_tokens?;
        let system = usize::from(
            in_list.is_none() && going.first().is_some_and(|at| self.is(*at, Role::System)),
        );
        let (system, rest) = going.split_at(system);
        let room = room.saturating_sub(self.tokens(system));
        let start = self.newest(rest, room);
        let mut given = Given::default();
        let left = |window: &[Pos]| room.saturating_sub(self.tokens(window));
        match start.checked_sub(1) {
            None => {
                let left = left(rest);
                given.earlier = in_list.and_then(|text| self.last_lines(text, left));
            }
            Some(before) if self.is(rest[before], Role::User) => {
                let patches = self.last_of(rest[before], left(&rest[start..]));
                given.partial = patches.map(|patches| (rest[before], patches));
            }
            Some(_) => {}
        }
        let window = match given.partial {
            Some(_) => &rest[start - 1..],
            None => &rest[start..],
        };
        let first = match given.earlier {
            Some(_) => Some(0),
            None => window.iter().position(|at| self.is(*at, Role::User)),
        };
        let tail = first.map_or(&window[window.len()..], |first| &window[first..]);
        given.messages = system.iter().chain(tail).copied().collect();
        if self.preset == Preset::Deerflow {
            if given.messages.is_empty() {
                given.messages.extend(going.last());
            }
            given.earlier = earlier.map(str::to_owned);
        }
        Some(given)
    }

    fn is(&self, at: Pos, role: Role) -> bool {
        self.branch.view(at).role == role
    }

    /// The smallest start of an end that fits, by binary search as there: sizes need not be monotone.
    fn newest(&self, rest: &[Pos], room: u64) -> usize {
        let (mut low, mut high) = (0, rest.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            match self.tokens(&rest[rest.len() - middle..]) <= room {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        rest.len() - low
    }

    /// By the counter with usage scaling, which reads any report.
    fn tokens(&self, messages: &[Pos]) -> u64 {
        let mut scaling = Scaling::default();
        for at in messages {
            let view = self.branch.view(*at);
            let weight = self
                .counter
                .patched(view, self.texts, (self.patches_at)(*at));
            scaling.add(*at, view, weight, true);
        }
        self.counter.tokens(scaling.total((0, 0), (0, 0)))
    }

    /// Patches that leave of a message what fits: fewer blocks of a list, else the last lines of its text.
    fn last_of(&self, at: Pos, room: u64) -> Option<Vec<Patch>> {
        let view = self.branch.view(at);
        let already = (self.patches_at)(at);
        let fits = |more: &[Patch]| {
            let all = [already, more].concat();
            let tokens = self.counter.patched(view, self.texts, &all);
            (self.counter.tokens(tokens) <= room).then_some(all)
        };
        let outer = |part: &usize| view.parts[*part].inside.is_none();
        let parts: Vec<usize> = (0..view.parts.len()).filter(outer).collect();
        let mut gone = Vec::new();
        if view.form == ContentForm::Blocks {
            for part in parts.iter().take(parts.len().saturating_sub(1)) {
                gone.push(Patch::Remove {
                    part: u16::try_from(*part).ok()?,
                    cause: PatchCause::Oversized,
                });
                if let Some(patches) = fits(&gone) {
                    return Some(patches);
                }
            }
        }
        let is_text = |part: &&usize| view.parts[**part].kind == PartKind::Text;
        let part =
            u16::try_from(*parts[gone.len().min(parts.len())..].iter().find(is_text)?).ok()?;
        if already.iter().any(|patch| patch.part() == part) {
            return None;
        }
        let message = view.handle;
        let text = self.texts.text(PartRef { message, part });
        let cut_to = |start: usize| {
            let range = 0..u32::try_from(start).unwrap_or(u32::MAX);
            let cut = Patch::Cut {
                part,
                site: Site::Text,
                range,
                marker: Arc::from(""),
                cause: PatchCause::Oversized,
            };
            fits(&[gone.as_slice(), &[cut]].concat())
        };
        starts_of_lines(&text).into_iter().find_map(cut_to)
    }

    /// The last lines of a message with this text that fit.
    fn last_lines(&self, text: &str, room: u64) -> Option<String> {
        let fits = |start: &usize| {
            let weight = self.counter.added_message(&text[*start..]);
            self.counter.tokens(weight) <= room
        };
        let starts = std::iter::once(0).chain(starts_of_lines(text));
        let start = starts.into_iter().find(fits)?;
        Some(text[start..].to_owned())
    }
}

/// Where the lines after the first begin.
fn starts_of_lines(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    ends.filter(|at| *at < text.len()).collect()
}

/// deer-flow's trimming of the text, after that of the list: what is new gets the budget, or with a summary before
/// it one half, and loses its end; the summary before loses its start.
pub(crate) fn halves(
    earlier: Option<&str>,
    new: &str,
    max_tokens: Option<u64>,
    counter: &dyn TokenCounter,
) -> (Option<String>, String) {
    let Some(budget) = max_tokens else {
        return (earlier.map(|text| text.trim().to_owned()), new.to_owned());
    };
    let share = match earlier {
        Some(_) => (budget / 2).max(1),
        None => budget,
    };
    let rest = budget.saturating_sub(share);
    (
        earlier.map(|text| bounded(text, rest, counter, End::Last)),
        bounded(new, share, counter, End::First),
    )
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// The longest beginning or end of `text` that fits as one message; where none with a word in it does, a cut to so
/// many characters.
fn bounded(text: &str, tokens: u64, counter: &dyn TokenCounter, end: End) -> String {
    let cuts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let part = |chars: usize| match end {
        End::First => &text[..cuts[chars]],
        End::Last => &text[cuts[cuts.len() - 1 - chars]..],
    };
    let (mut low, mut high) = (0, cuts.len() - 1);
    while low < high {
        let middle = (low + high).div_ceil(2);
        match counter.tokens(counter.added_message(part(middle))) <= tokens {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    match part(low) {
        nothing if nothing.trim().is_empty() => {
            bound_chars(text, usize::try_from(tokens).unwrap_or(usize::MAX))
        }
        part => part.to_owned(),
    }
}

/// deer-flow's bound: two thirds of `max_chars` from the front, the rest from the end.
pub(crate) fn bound_chars(text: &str, max_chars: usize) -> String {
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if cuts.len() <= max_chars {
        return text.to_owned();
    }
    let Some(kept) = max_chars
        .checked_sub(ELLIPSIS.len())
        .filter(|kept| *kept > 0)
    else {
        return text[..cuts[max_chars]].to_owned();
    };
    let head = kept * 2 / 3;
    let tail = cuts.len() - (kept - head);
    let tail = cuts.get(tail).map_or("", |at| &text[*at..]);
    [&text[..cuts[head]], ELLIPSIS, tail].concat()
}

/// What LangChain's middleware gives once more after the provider said that it was too much: a quarter of what may
/// be kept from the front, the rest from the end. `None`: nothing may be kept, and it gives up.
pub(crate) fn shortened(text: &str, max_input: u64, counter: &dyn TokenCounter) -> Option<String> {
    let tokens = counter.tokens(counter.added_message(text));
    let budget = (tokens / 2).min(max_input.saturating_mul(2) / 5);
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let keep = (cuts.len() as u128 * u128::from(budget)) / u128::from(tokens.max(1));
    let keep = usize::try_from(keep).ok().filter(|keep| *keep > 0)?;
    let head = keep / 4;
    let at = |chars: usize| cuts.get(chars).copied().unwrap_or(text.len());
    let tail = cuts.len() - (keep - head).min(cuts.len());
    Some([&text[..at(head)], MIDDLE, &text[at(tail)..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::LangChain;

    #[test]
    fn deerflows_bound_by_characters() {
        for (max, expect) in [
            (30, "abcdefghijklmnopqrst"),
            (20, "abcdefghijklmnopqrst"),
            (14, "abcdef\n...\nrst"),
            (5, "abcde"),
            (0, ""),
        ] {
            assert_eq!(bound_chars("abcdefghijklmnopqrst", max), expect, "{max}");
        }
    }

    #[test]
    fn deerflows_halves() {
        let counter = &LangChain::DEFAULT;
        // A message of n characters is ceil((n + 4) / 4) + 3 tokens.
        let (earlier, new) = halves(None, &"n".repeat(900), Some(100), counter);
        assert_eq!((earlier, new.len()), (None, 4 * 97 - 4));
        let both = ["first".to_owned(), "o".repeat(900), "last".to_owned()].concat();
        let (earlier, new) = halves(Some(&both), &both, Some(101), counter);
        let earlier = earlier.expect("there is one");
        assert_eq!((earlier.len(), new.len()), (4 * 48 - 4, 4 * 47 - 4));
        assert!(earlier.ends_with("last") && new.starts_with("first"));
        // No character fits into two tokens: two characters are taken.
        assert_eq!(halves(None, &both, Some(2), counter).1, "fi");
        let (earlier, new) = halves(Some(" old "), " new ", None, counter);
        assert_eq!((earlier.as_deref(), new.as_str()), (Some("old"), " new "));
    }

    #[test]
    fn langchains_second_call() {
        let counter = &LangChain::DEFAULT;
        let text = ["h".repeat(500), "t".repeat(500)].concat();
        // 1,004 characters are 251 tokens, and 3: 254; half of them 127; of 1,000 characters 500 stay.
        let half = shortened(&text, 90_000, counter).expect("something is kept");
        assert_eq!(
            (half.matches('h').count() > 124, half.len()),
            (true, 500 + MIDDLE.len())
        );
        let small = shortened(&text, 100, counter).expect("something is kept");
        assert_eq!(small.len(), 1000 * 40 / 254 + MIDDLE.len());
        assert_eq!(shortened(&text, 1, counter), None);
    }
}
