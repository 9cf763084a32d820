//! Which conversation a body belongs to: what is known in memory, bounded.
//!
//! A conversation is told by what was said in it: the digests of its messages, one on top of the other, within a scope
//! (who asks, whom, under which name). The longest beginning that is known is the conversation; one that goes another
//! way from there is a branch. Cache markers, which clients move with every turn, are not in the digests.
//!
//! The bodies that were seen last are kept, as many as there is room for. A body is compared with them byte by byte, so
//! that only what is new in it is read. Everything here can be forgotten at any time: a body tells it all again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use conspectus::Format;
use conspectus::core::effect::Failure;
use conspectus::core::id::Ident;
use conspectus::core::view::Usage;
use conspectus::store::ThreadKey;
use hyper::body::Bytes;

use crate::list::List;
use crate::scan::common;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Conversations that are known in memory.
    pub conversations: usize,
    /// Bytes of the bodies that are kept to be compared with, and of what is known of them.
    pub body_bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            conversations: 10_000,
            body_bytes: 64 << 20,
        }
    }
}

/// Bodies that one is compared with.
const LIKE: usize = 4;

/// All conversations that are known in memory.
#[derive(Default)]
pub(crate) struct Book {
    room: Room,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    lines: BTreeMap<u64, Arc<Line>>,
    /// Beginnings, by scope and digest.
    beginnings: HashMap<u128, (u64, u32)>,
    /// The conversation of the newest body with these bytes at a place.
    prints: HashMap<u64, u64>,
    next: u64,
    clock: u64,
    body_bytes: usize,
}

/// One conversation.
pub(crate) struct Line {
    number: u64,
    scope: Ident,
    /// The conversation that it branched off from, and behind how many messages.
    pub(crate) parent: Option<(Weak<Line>, usize)>,
    state: Mutex<State>,
    /// Its thread, once it is known. Who holds the lock works on it in the store.
    pub(crate) thread: tokio::sync::Mutex<Option<ThreadKey>>,
}

/// What changes of it.
#[derive(Default)]
pub(crate) struct State {
    /// Messages of the longest body.
    pub(crate) count: usize,
    beginnings: Vec<u128>,
    newest: Option<Arc<List>>,
    used: u64,
    /// An estimate of the request's tokens as it would be sent, never far below what is true.
    pub(crate) tokens: u64,
    /// Tokens from which on something is due, and the most that fit, as far as they are known.
    pub(crate) trigger: Option<u64>,
    /// A compaction is in force, or something else must be looked at before a request is sent.
    pub(crate) is_changed: bool,
    /// What the provider reported for the request with so many messages.
    pub(crate) usage: Option<(usize, Usage)>,
    /// How the provider refused it inside of a stream.
    pub(crate) refusal: Option<Failure>,
    /// With so many of its messages nothing could be folded, though it was due.
    pub(crate) futile: usize,
    /// A compaction runs in the background.
    pub(crate) is_busy: bool,
    /// One took too long and was given up: it is not begun again before a request has to wait for it.
    pub(crate) is_given_up: bool,
    /// What stands outside the messages, as it was told to the thread.
    pub(crate) fixed: Option<Ident>,
    /// Where it is only watched: tokens that the newest request would have been spared.
    pub(crate) would_save: u64,
    /// What was saved so far.
    pub(crate) savings: Savings,
}

/// What a conversation has saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Savings {
    pub(crate) requests: u64,
    pub(crate) tokens: u64,
    pub(crate) cache_read: u64,
    pub(crate) input: u64,
    pub(crate) micros: u64,
}

/// A body that was looked at.
pub(crate) struct Look {
    pub(crate) line: Arc<Line>,
    pub(crate) list: Arc<List>,
    /// So many of its messages the conversation had before.
    pub(crate) known: usize,
    /// So many tokens it has at most, by a rough count.
    pub(crate) tokens: u64,
    /// Nothing was known of the conversation in memory.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests ask"))]
    pub(crate) is_new: bool,
}

impl Book {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            room,
            pages: Mutex::default(),
        }
    }

    /// Finds the conversation of a body, or begins one. `before`: a body with which it has so many bytes in common. `None`:
    /// the body is not understood.
    pub(crate) fn look(
        &self,
        scope: Ident,
        format: Format,
        key: &'static str,
        body: &Bytes,
        before: Option<&(Arc<List>, usize)>,
    ) -> Option<Look> {
        let before = before.map(|(list, both)| (&**list, *both));
        let list = List::read(format, key, body, before)?;
        if list.len() == 0 {
            return None;
        }
        let list = Arc::new(list);
        let mut pages = self.lock();
        let look = pages.find(scope, list);
        pages.make_room(self.room);
        Some(look)
    }

    /// How many conversations are known, and the bytes of the bodies that are kept.
    pub(crate) fn size(&self) -> (usize, usize) {
        let pages = self.lock();
        (pages.lines.len(), pages.body_bytes)
    }

    /// The kept body that has the most in common with this one, and how much that is.
    pub(crate) fn before(&self, scope: Ident, body: &[u8]) -> Option<(Arc<List>, usize)> {
        let mut tried: Vec<u64> = Vec::new();
        let mut best: Option<(Arc<List>, usize)> = None;
        for place in places(body.len()).into_iter().rev() {
            let print = print(scope, body, place);
            let found = {
                let pages = self.lock();
                let number = pages.prints.get(&print).copied();
                number
                    .filter(|number| !tried.contains(number))
                    .and_then(|number| Some((number, pages.lines.get(&number)?.newest()?)))
            };
            let Some((number, list)) = found else {
                continue;
            };
            tried.push(number);
            let both = common(list.body(), body);
            if best.as_ref().is_none_or(|(_, most)| both > *most) {
                best = Some((list, both));
            }
            // What lies before this place is in common: no other body has much more.
            if both >= place || tried.len() == LIKE {
                break;
            }
        }
        best
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn find(&mut self, scope: Ident, list: Arc<List>) -> Look {
        self.clock += 1;
        let prefixes = list.prefixes();
        let found = (1..=prefixes.len()).rev().find_map(|count| {
            let (number, at) = self.beginnings.get(&mark(scope, prefixes[count - 1]))?;
            (*at as usize == count).then_some((self.lines.get(number)?.clone(), count))
        });
        let (line, known, is_new) = match found {
            Some((line, known)) => {
                let goes_on = known == line.state().count || known == prefixes.len();
                match goes_on {
                    true => (line, known, false),
                    false => (self.begin(scope, Some((&line, known))), known, true),
                }
            }
            None => (self.begin(scope, None), 0, true),
        };
        let tokens = self.note(&line, known, &list);
        Look {
            line,
            list,
            known,
            tokens,
            is_new,
        }
    }

    fn begin(&mut self, scope: Ident, parent: Option<(&Arc<Line>, usize)>) -> Arc<Line> {
        let number = self.next;
        self.next += 1;
        let state = State {
            // What is in force there may be here.
            is_changed: parent.is_some_and(|(line, _)| line.state().is_changed),
            tokens: parent.map_or(0, |(line, _)| line.state().tokens),
            trigger: parent.and_then(|(line, _)| line.state().trigger),
            ..State::default()
        };
        let line = Arc::new(Line {
            number,
            scope,
            parent: parent.map(|(line, at)| (Arc::downgrade(line), at)),
            state: Mutex::new(state),
            thread: tokio::sync::Mutex::default(),
        });
        self.lines.insert(number, line.clone());
        line
    }

    /// Notes the newest body of a conversation; gives the estimate of its tokens.
    fn note(&mut self, line: &Arc<Line>, known: usize, list: &Arc<List>) -> u64 {
        let mut state = line.state();
        state.used = self.clock;
        let count = list.len();
        // What was not read again has been counted before; what was read again may have been, too.
        let new = match known >= count {
            true => 0,
            false => list.new_tokens(),
        };
        let tokens = state.tokens.saturating_add(new);
        if count < state.count {
            return tokens;
        }
        state.tokens = tokens;
        for at in known..count {
            let mark = mark(line.scope, list.prefixes()[at]);
            state.beginnings.push(mark);
            let count = u32::try_from(at + 1).unwrap_or(u32::MAX);
            self.beginnings.insert(mark, (line.number, count));
        }
        state.count = count;
        let body = list.body();
        self.body_bytes += list.weight();
        if let Some(before) = state.newest.replace(list.clone()) {
            self.body_bytes -= before.weight();
        }
        for place in places(body.len()) {
            self.prints
                .insert(print(line.scope, body, place), line.number);
        }
        tokens
    }

    /// Forgets what was used longest ago.
    fn make_room(&mut self, room: Room) {
        let is_full = self.lines.len() > room.conversations;
        let is_heavy = self.body_bytes > room.body_bytes;
        if !is_full && !is_heavy {
            return;
        }
        let mut oldest: Vec<(u64, u64)> = self
            .lines
            .values()
            .map(|line| (line.state().used, line.number))
            .collect();
        oldest.sort_unstable();
        // A part at a time, so that this is done seldom.
        let many = if is_full {
            room.conversations / 8 + 1
        } else {
            0
        };
        for (nth, (used, number)) in oldest.iter().enumerate() {
            if *used == self.clock || (nth >= many && self.body_bytes <= room.body_bytes / 8 * 7) {
                break;
            }
            let Some(line) = self.lines.get(number).cloned() else {
                continue;
            };
            let mut state = line.state();
            if let Some(list) = state.newest.take() {
                self.body_bytes -= list.weight();
            }
            if nth < many {
                for mark in &state.beginnings {
                    self.beginnings.remove(mark);
                }
                drop(state);
                self.lines.remove(number);
            }
        }
        let lines = &self.lines;
        self.prints.retain(|_, number| {
            lines
                .get(number)
                .is_some_and(|line| line.newest().is_some())
        });
    }
}

impl Line {
    /// What changes of it. Held for a moment only.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who asks whom, under which name.
    pub(crate) fn scope(&self) -> Ident {
        self.scope
    }

    fn newest(&self) -> Option<Arc<List>> {
        self.state().newest.clone()
    }
}

/// A beginning within a scope.
fn mark(scope: Ident, prefix: Ident) -> u128 {
    let half = |ident: Ident| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&ident.0[..16]);
        u128::from_le_bytes(bytes)
    };
    half(scope) ^ half(prefix)
}

/// Places at which a body is compared by a few bytes, closer together at its beginning.
fn places(length: usize) -> Vec<usize> {
    let mut places = Vec::with_capacity(40);
    let mut place = 32;
    while place <= length {
        places.push(place);
        place += place / 4;
    }
    places
}

/// A number that stands for the bytes before a place: only a hint, the bodies themselves are compared.
fn print(scope: Ident, body: &[u8], place: usize) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(eight)
    };
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(PRIME).rotate_left(29);
    let seed = mix(word(&scope.0[..8]), place as u64);
    let before = &body[place.saturating_sub(64)..place.min(body.len())];
    before
        .chunks(8)
        .fold(seed, |hash, chunk| mix(hash, word(chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: Ident = Ident::EMPTY;

    fn body(said: &[&str]) -> Bytes {
        let messages = said.iter().enumerate().map(|(at, text)| {
            let role = ["user", "assistant"][at % 2];
            format!(r#"{{"role":"{role}","content":"{text}"}}"#)
        });
        let messages: Vec<_> = messages.collect();
        format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(",")).into()
    }

    fn seen(book: &Book, scope: Ident, format: Format, body: &Bytes) -> Look {
        let before = book.before(scope, body);
        let look = book.look(scope, format, "messages", body, before.as_ref());
        look.expect("a body")
    }

    fn look(book: &Book, said: &[&str]) -> Look {
        seen(book, SCOPE, Format::OpenAi, &body(said))
    }

    #[test]
    fn a_conversation_is_known_again() {
        let book = Book::default();
        let one = look(&book, &["a"]);
        assert!(one.is_new && one.known == 0);
        let two = look(&book, &["a", "b", "c"]);
        assert!(!two.is_new && two.known == 1 && two.list.known() == 1);
        assert_eq!(two.line.number, one.line.number);
        assert!(two.tokens > one.tokens);
        // The same once more, as after a failure.
        let again = look(&book, &["a", "b", "c"]);
        assert_eq!((again.known, again.line.number), (3, one.line.number));
        assert_eq!(again.tokens, two.tokens);
    }

    #[test]
    fn an_edit_is_a_branch_and_parallel_ones_are_told_apart() {
        let book = Book::default();
        let trunk = look(&book, &["a", "b", "c", "d", "e"]);
        let branch = look(&book, &["a", "b", "x"]);
        assert!(branch.is_new && branch.known == 2);
        let (parent, at) = branch.line.parent.clone().expect("it has a trunk");
        assert_eq!(
            (parent.upgrade().expect("it is kept").number, at),
            (trunk.line.number, 2)
        );
        for (said, line) in [
            (&["a", "b", "c", "d", "e", "f", "g"][..], &trunk.line),
            (&["a", "b", "x", "y", "z"], &branch.line),
            (&["a", "b", "c", "d", "e", "f", "g", "h", "i"], &trunk.line),
        ] {
            assert_eq!(look(&book, said).line.number, line.number);
        }
    }

    #[test]
    fn another_scope_knows_nothing_of_it() {
        let book = Book::default();
        look(&book, &["a"]);
        let other = Ident::of("somebody else");
        assert!(seen(&book, other, Format::OpenAi, &body(&["a", "b"])).is_new);
    }

    #[test]
    fn markers_that_move_do_not_make_another_conversation() {
        let book = Book::default();
        let body = |marked: usize| {
            let message = |at: usize| {
                let mark = if at == marked {
                    r#","cache_control":{"type":"ephemeral"}"#
                } else {
                    ""
                };
                let role = ["user", "assistant"][at % 2];
                format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"m{at}"{mark}}}]}}"#)
            };
            let all: Vec<_> = (0..=marked).map(message).collect();
            Bytes::from(format!(r#"{{"messages":[{}]}}"#, all.join(",")))
        };
        let see = |marked| seen(&book, SCOPE, Format::Anthropic, &body(marked));
        let first = see(2);
        let then = see(4);
        assert_eq!((then.known, then.line.number), (3, first.line.number));
    }

    #[test]
    fn it_stays_within_its_room() {
        let room = Room {
            conversations: 16,
            body_bytes: 4000,
        };
        let book = Book::new(room);
        let texts: Vec<String> = (0..200)
            .map(|n| format!("{n} {}", "x".repeat(100)))
            .collect();
        for text in &texts {
            look(&book, &[text]);
            let (lines, bytes) = book.size();
            assert!(lines <= 16 && bytes <= 4000, "{lines} {bytes}");
        }
        let pages = book.lock();
        assert!(pages.beginnings.len() <= 16 && pages.prints.len() < 200);
        drop(pages);
        assert!(look(&book, &[&texts[0]]).is_new);
        let newest = look(&book, &[&texts[199], "y"]);
        assert!(!newest.is_new && newest.list.known() == 1);
    }
}
