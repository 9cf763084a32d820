//! Everything that could be shown, with what it is worth: entities with how likely they are needed
//! later, lines with the entities and words they hold.

use std::collections::HashMap;

use super::load::{Mark, Piece};
use super::scan::{EntityKind, entities};
use super::sentence::{rough_size, words};

/// A name and where it was seen.
pub(super) struct Entity {
    pub(super) name: Box<str>,
    pub(super) kind: EntityKind,
    /// Bits of [`source_bit`].
    sources: u16,
    /// An id in a structured result.
    looked_up: bool,
    /// A value with a name, rather than a word of a text.
    structured: bool,
    /// Messages that name it.
    messages: u32,
    first: u32,
    last: u32,
}

/// A sentence or line that could be shown.
pub(super) struct Line<'p> {
    pub(super) text: &'p str,
    /// Where it starts in its piece.
    pub(super) start: usize,
    pub(super) mark: Mark,
    pub(super) message: usize,
    /// Index of its piece.
    pub(super) piece: usize,
    /// How far from the nearer end of its piece, in lines.
    pub(super) depth: u32,
    pub(super) error: bool,
    /// A numbered line of a file, which can be read again.
    pub(super) listing: bool,
    /// In quarter tokens, roughly.
    pub(super) size: u32,
    pub(super) entities: Vec<u32>,
    words: std::ops::Range<usize>,
}

/// See the module.
pub(super) struct Pool<'p> {
    pub(super) entities: Vec<Entity>,
    by_name: HashMap<Box<str>, u32>,
    pub(super) lines: Vec<Line<'p>>,
    /// Arena of the lines' words.
    words: Vec<u32>,
    word_ids: HashMap<u64, u32>,
    /// Lines that hold the word.
    word_lines: Vec<u32>,
    last_word_line: Vec<u32>,
    piece_sizes: Vec<u32>,
    messages: usize,
}

impl<'p> Pool<'p> {
    /// Reads all pieces: linear in their text.
    pub(super) fn new(pieces: &'p [Piece<'_>], messages: usize) -> Self {
        let mut pool = Self {
            entities: Vec::new(),
            by_name: HashMap::new(),
            lines: Vec::new(),
            words: Vec::new(),
            word_ids: HashMap::new(),
            word_lines: Vec::new(),
            last_word_line: Vec::new(),
            piece_sizes: pieces.iter().map(|p| rough_size(&p.text)).collect(),
            messages,
        };
        for (index, piece) in pieces.iter().enumerate() {
            pool.read(index, piece);
        }
        pool
    }

    fn read(&mut self, index: usize, piece: &'p Piece<'_>) {
        let start = self.lines.len();
        piece.split(&mut |text| {
            let id = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
            let entities = self.note_entities(text, piece);
            let from = self.words.len();
            words(text, &mut |hash| {
                let next = self.word_lines.len() as u32;
                let word = *self.word_ids.entry(hash).or_insert(next);
                if word == next {
                    self.word_lines.push(0);
                    self.last_word_line.push(u32::MAX);
                }
                let at = word as usize;
                if self.last_word_line[at] != id {
                    self.last_word_line[at] = id;
                    self.word_lines[at] += 1;
                    self.words.push(word);
                }
            });
            self.lines.push(Line {
                text,
                start: text.as_ptr() as usize - piece.text.as_ptr() as usize,
                mark: piece.mark,
                message: piece.message,
                piece: index,
                depth: 0,
                error: piece.error,
                listing: piece.mark == Mark::Result && after_line_number(text) > 0,
                size: rough_size(text),
                entities,
                words: from..self.words.len(),
            });
        });
        let count = self.lines.len() - start;
        for (at, line) in self.lines[start..].iter_mut().enumerate() {
            line.depth = u32::try_from(at.min(count - 1 - at)).unwrap_or(u32::MAX);
        }
    }

    fn note_entities(&mut self, text: &str, piece: &Piece<'_>) -> Vec<u32> {
        let message = u32::try_from(piece.message).unwrap_or(u32::MAX);
        let mut ids = Vec::new();
        let mut note = |kind, name: &str| {
            if piece.keyed && is_key(text, name) {
                return;
            }
            let next = u32::try_from(self.entities.len()).unwrap_or(u32::MAX);
            let id = match self.by_name.get(name) {
                Some(id) => *id,
                None => {
                    self.by_name.insert(name.into(), next);
                    self.entities.push(Entity {
                        name: name.into(),
                        kind,
                        sources: 0,
                        looked_up: false,
                        structured: false,
                        messages: 0,
                        first: message,
                        last: u32::MAX,
                    });
                    next
                }
            };
            let entity = &mut self.entities[id as usize];
            entity.sources |= source_bit(piece.mark);
            entity.structured |= piece.keyed;
            entity.looked_up |= piece.keyed && piece.mark == Mark::Result && is_id(name);
            if entity.last != message {
                entity.last = message;
                entity.messages += 1;
            }
            ids.push(id);
        };
        let from = if piece.mark == Mark::Result {
            after_line_number(text)
        } else {
            0
        };
        entities(&text[from..], &mut note);
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The known entities that a reader of `text` sees, the parts of paths included.
    pub(super) fn seen_in(&self, text: &str, each: &mut dyn FnMut(u32)) {
        entities(text, &mut |kind, name| {
            let mut look = |name: &str| {
                if let Some(id) = self.by_name.get(name) {
                    each(*id);
                }
            };
            look(name);
            look(name.trim_start_matches('$'));
            if kind == EntityKind::Path {
                for (at, _) in name.match_indices('/').take(24) {
                    look(&name[..at]);
                    look(&name[at..]);
                    look(&name[at + 1..]);
                }
            }
        });
    }

    /// How likely the entity is needed later. A product of a base for who wrote it, its kind, how often
    /// and how lately: agents re-use what they or their users wrote, and what they met last. The factors
    /// follow the re-use measured over agents' sessions of nine formats (`docs/retention.md`).
    pub(super) fn entity_value(&self, id: u32) -> f64 {
        let entity = &self.entities[id as usize];
        let has = |mark| entity.sources & source_bit(mark) != 0;
        let (user, assistant) = (
            has(Mark::User) || has(Mark::System),
            has(Mark::Assistant) || has(Mark::Host),
        );
        let (called, returned) = (has(Mark::Call) || has(Mark::Written), has(Mark::Result));
        let mut value = if user && (called || assistant) {
            0.45
        } else if user {
            0.30
        } else if has(Mark::Previous) {
            0.25
        } else if assistant && called {
            0.35
        } else if assistant && returned {
            0.25
        } else if has(Mark::Call) {
            0.20
        } else if called && returned {
            0.14
        } else if assistant {
            0.10
        } else if called {
            0.09
        } else if entity.looked_up {
            0.08
        } else if returned {
            0.03
        } else {
            0.015
        };
        let wrote = user || called || assistant;
        value *= match entity.kind {
            EntityKind::File => 1.5,
            EntityKind::Number if !wrote && !entity.structured => 0.3,
            EntityKind::Number if !wrote => 0.5,
            EntityKind::Number => 0.7,
            EntityKind::Url => 0.6,
            EntityKind::Path if is_loose(&entity.name) => 0.3,
            EntityKind::Path if !wrote => 0.8,
            _ => 1.0,
        };
        if wrote {
            value *= 1.0 + 0.4 * f64::from(entity.messages).ln();
        }
        value * recency(entity.last as usize, self.messages)
    }

    /// The worth of the words of a line that are not shown yet: their idf, seldom words counting more.
    pub(super) fn word_value(&self, line: &Line<'_>, shown: &[bool]) -> f64 {
        let lines = self.lines.len() as f64;
        self.words[line.words.clone()]
            .iter()
            .map(|word| {
                let at = *word as usize;
                let idf = (lines / f64::from(self.word_lines[at])).ln();
                if shown[at] { idf * 0.05 } else { idf }
            })
            .sum()
    }

    /// Short messages of the user are answers and corrections, long ones pastes: from 3 down to 1.
    pub(super) fn brevity(&self, line: &Line<'_>) -> f64 {
        let size = f64::from(self.piece_sizes[line.piece]);
        1.0 + 2.0 / (1.0 + size / 400.0)
    }

    /// How many messages were read.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// How many different words there are.
    pub(super) fn word_count(&self) -> usize {
        self.word_lines.len()
    }

    /// The known words of a text.
    pub(super) fn words_in(&self, text: &str, each: &mut dyn FnMut(u32)) {
        words(text, &mut |hash| {
            if let Some(word) = self.word_ids.get(&hash) {
                each(*word);
            }
        });
    }

    /// When the entity was first and last named.
    pub(super) fn first_seen(&self, id: u32) -> u32 {
        self.entities[id as usize].first
    }
}

/// What came late matters more: from 0.7 long ago to 2.2 just now.
pub(super) fn recency(message: usize, messages: usize) -> f64 {
    let at = (message + 1) as f64 / messages.max(1) as f64;
    0.7 + 1.5 * at.min(1.0).powi(6)
}

fn source_bit(mark: Mark) -> u16 {
    1 << mark as u8
}

/// Letters and digits together: what a lookup returns to be used in the next call.
fn is_id(name: &str) -> bool {
    name.len() >= 5
        && name.bytes().any(|b| b.is_ascii_digit())
        && name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Words with a slash between them (`and/or`, `TCP/IP`) rather than a path.
fn is_loose(path: &str) -> bool {
    !path.starts_with(['/', '.', '~'])
        && !path.contains(['.', '_'])
        && path.matches('/').count() < 2
}

/// Where a line of a file begins behind its number (`12→`, `12:`, `12\t`); 0 if it has none.
fn after_line_number(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = line[digits..].chars().next();
    match mark {
        Some(c @ ('→' | '\t' | ':' | '|')) if (1..=6).contains(&digits) => digits + c.len_utf8(),
        _ => 0,
    }
}

/// `name` is the name in a `name=value` pair.
fn is_key(text: &str, name: &str) -> bool {
    let end = name.as_ptr() as usize - text.as_ptr() as usize + name.len();
    text.as_bytes().get(end) == Some(&b'=')
}
