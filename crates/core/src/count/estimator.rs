//! Our own estimate: a guess of the token count that is aware of script and needs no vocabulary.
//!
//! A tokenizer starts a token at some characters and not at others. How likely it does so depends mostly on
//! the character and the one before it: seldom inside common words, nearly always at a digit after a
//! letter, every third digit, twice or three times in a rare ideograph. So the estimate of a text is the
//! sum of one number from a table for every character, in one pass. It is monotone: text appended or put
//! in front never lowers it.
//!
//! The tables hold 64ths of a token, fitted to OpenAI's `o200k_base` by `scripts/estimator/fit.py`:
//! a cell for each pair of neighbouring ASCII characters, one for each ASCII character in a run of itself,
//! and for other scripts cells by group, by whether the character is common (a token by itself), and by
//! whether the same group goes on. Letters at random (names of hashes, encoded data, words of a language
//! that no tokenizer knows) cost more than words made of the same letters: see [`Heat`].
//!
//! A message costs 4 tokens more; a call, its name and 8; a result 3; media a fixed amount, whatever the
//! size of their encoding.
//!
//! Measured against the exact count, which is also a test (`cargo test -p conspectus-tokens --features
//! o200k --test it measured -- --nocapture` prints every kind): over a kilobyte of one kind 0.86 to 1.47
//! (English 1.15, code 1.10, JSON 1.02, logs 1.07, Chinese 1.06, Japanese 1.14, Korean 1.30, Russian 1.36,
//! Hindi 1.43, Vietnamese 1.47, base64 1.2, random ideographs 1.25, random letters 1.1), over any 64
//! characters 0.73 to 1.88, over the sessions of 31 real sources 1.03 to 1.18.

mod table;

use super::{CounterId, TokenCounter, Weight};
use crate::view::{MediaKind, MessageView, Part, PartKind, PartRef, Texts};

/// A token in weights. The table speaks of 64ths: the rest is a twentieth on the safe side.
const UNIT: Weight = 60;
/// Role and separators of a message.
const MESSAGE: Weight = 4 * UNIT;
/// What a call needs beside its name and arguments.
const CALL: Weight = 8 * UNIT;
/// What a result needs beside its text.
const RESULT: Weight = 3 * UNIT;

/// The default counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimator;

impl Estimator {
    /// The estimator with the built-in table.
    pub const fn new() -> Self {
        Self
    }

    fn part(self, at: PartRef, part: &Part, texts: &dyn Texts) -> Weight {
        let text = texts.text(at);
        match &part.kind {
            PartKind::Text | PartKind::Reasoning { .. } => self.text(&text),
            PartKind::Call { tool, .. } => CALL + self.text(tool) + self.text(&text),
            PartKind::Result { .. } => RESULT + self.text(&text),
            // What is not as long as it was has been patched: its marker counts, or nothing if it is gone.
            PartKind::Media(_) if text.len() != part.len as usize => self.text(&text),
            PartKind::Media(kind) => UNIT * media_tokens(*kind),
            PartKind::Opaque { .. } if text.is_empty() => {
                texts.json(at).map_or(0, |json| self.text(&json))
            }
            PartKind::Opaque { .. } => self.text(&text),
        }
    }
}

impl TokenCounter for Estimator {
    fn id(&self) -> CounterId {
        CounterId::ESTIMATOR
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        let name = message.name.as_deref().map_or(0, |name| self.text(name));
        let handle = message.handle;
        let parts = (0u16..).zip(&message.parts).map(|(part, view)| {
            let at = PartRef {
                message: handle,
                part,
            };
            self.part(at, view, texts)
        });
        MESSAGE + name + parts.sum::<Weight>()
    }

    fn text(&self, text: &str) -> Weight {
        weigh(text)
    }

    fn added_message(&self, text: &str) -> Weight {
        MESSAGE + self.text(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight.div_ceil(UNIT)
    }
}

/// A picture of a million pixels costs 765 tokens at one large provider and 1,400 at another; the others
/// are of that order for a few seconds or pages.
fn media_tokens(kind: MediaKind) -> u64 {
    match kind {
        MediaKind::Image => 1_200,
        MediaKind::Audio | MediaKind::File => 2_000,
        MediaKind::Video => 4_000,
    }
}

/// The columns of the table: printable ASCII, three kinds of white space, other control characters, all else.
const CONTROL: u8 = 98;
const NON_ASCII: u8 = 99;

const fn column(byte: u8) -> u8 {
    match byte {
        0x20..=0x7e => byte - 0x20,
        b'\n' => 95,
        b'\t' => 96,
        b'\r' => 97,
        0x80.. => NON_ASCII,
        _ => CONTROL,
    }
}

/// [`table::PAIRS`] spread out by byte, so that a look-up is two shifts.
static PAIRS: [[u8; 128]; 256] = {
    let mut spread = [[0; 128]; 256];
    let mut before = 0;
    while before < 256 {
        let row = table::PAIRS[column(before as u8) as usize];
        let mut byte = 0;
        while byte < 128 {
            spread[before][byte] = row[column(byte as u8) as usize] - b'0';
            byte += 1;
        }
        before += 1;
    }
    spread
};

/// [`table::RUN`] by byte.
static RUN: [u8; 128] = {
    let mut spread = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        spread[byte] = table::RUN[column(byte as u8) as usize] - b'0';
        byte += 1;
    }
    spread
};

/// Bits of the common characters below [`COMMON_END`].
static COMMON: [u64; COMMON_END / 64] = {
    let mut bits = [0; COMMON_END / 64];
    let mut at = 0;
    while at < table::COMMON.len() {
        let (block, words) = table::COMMON[at];
        let mut word = 0;
        while word < 4 {
            bits[block as usize * 4 + word] = words[word];
            word += 1;
        }
        at += 1;
    }
    bits
};
const COMMON_END: usize = 0x20000;

/// How odd the last pairs of letters were. An odd pair heats by 3, a usual one cools by 1, nothing else
/// matters; from 4 on the text is wild: letters at random, where few tokens are words.
///
/// A hotter start never gives a cooler end, and wild letters cost no less than calm ones: that is what keeps
/// the estimate monotone when text is put in front.
#[derive(Clone, Copy, Default)]
struct Heat(u8);

impl Heat {
    fn after(self, usual: bool) -> Self {
        Self(if usual {
            self.0.saturating_sub(1)
        } else {
            (self.0 + 3).min(12)
        })
    }

    fn is_wild(self) -> bool {
        self.0 >= 4
    }
}

fn weigh(text: &str) -> Weight {
    let bytes = text.as_bytes();
    let mut sum: Weight = 0;
    let mut heat = Heat::default();
    let mut at = 0;
    // Of the character before: its group beyond ASCII, its code point, and how many digits end there.
    let (mut group, mut last, mut digits) = (usize::MAX, 0, 0u32);
    // How many characters were in a run of their kind, from the third on.
    let mut run = 0u32;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte < 0x80 {
            let before = if at == 0 { 0 } else { bytes[at - 1] };
            let cost = if at == 0 {
                // The first character always starts a token.
                digits = u32::from(byte.is_ascii_digit());
                FULL
            } else if digits > 0 && byte.is_ascii_digit() {
                digits += 1;
                // Digits are taken by three.
                if digits % 3 == 1 { FULL } else { 0 }
            } else if before == byte && at > 1 && bytes[at - 2] == byte {
                run += 1;
                run_cost(byte, run)
            } else {
                run = 0;
                digits = u32::from(byte.is_ascii_digit());
                let calm = PAIRS[usize::from(before)][usize::from(byte)];
                if byte.is_ascii_alphabetic() && before.is_ascii_alphabetic() {
                    let row = table::USUAL_ASCII[usize::from(before & 31)];
                    heat = heat.after(row >> (byte & 31) & 1 == 1);
                    calm.max(wild_ascii(heat, before, byte))
                } else {
                    calm
                }
            };
            sum += Weight::from(cost);
            group = usize::MAX;
            at += 1;
            continue;
        }
        let Some(wide) = text[at..].chars().next() else {
            break;
        };
        let code = wide as usize;
        let own = group_of(code);
        let goes_on = group == own;
        if goes_on && let Some((_, rows)) = table::USUAL.iter().find(|(group, _)| *group == own) {
            heat = heat.after(rows[last & 63] >> (code & 63) & 1 == 1);
        }
        let cost = wide_cost(code, own, goes_on, heat);
        sum += Weight::from(if at == 0 { cost.max(FULL) } else { cost });
        (group, last, digits) = (own, code, 0);
        at += wide.len_utf8();
    }
    sum
}

/// A token in the table's measure.
const FULL: u8 = 64;

/// The cost of a character after `run` + 1 of its kind. Long runs of blanks or dashes are few tokens.
fn run_cost(byte: u8, run: u32) -> u8 {
    if run >= 16 && !byte.is_ascii_alphabetic() {
        1
    } else {
        RUN[usize::from(byte)]
    }
}

fn wild_ascii(heat: Heat, before: u8, byte: u8) -> u8 {
    if !heat.is_wild() {
        return 0;
    }
    let capital = |byte: u8| usize::from(byte.is_ascii_uppercase());
    table::WILD[capital(before)][capital(byte)]
}

fn group_of(code: usize) -> usize {
    table::GROUPS
        .partition_point(|(first, _)| *first as usize <= code)
        .saturating_sub(1)
}

fn wide_cost(code: usize, group: usize, goes_on: bool, heat: Heat) -> u8 {
    let common = code < COMMON_END && COMMON[code / 64] >> (code % 64) & 1 == 1;
    let cells = table::GROUPS[group].1;
    if common && goes_on && heat.is_wild() {
        cells[4]
    } else {
        cells[usize::from(!common) * 2 + usize::from(!goes_on)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::{Memory, call, image, result, text};
    use crate::patch::{Patch, PatchCause, Site};
    use crate::view::Role;

    #[test]
    fn a_text_costs_about_what_it_should() {
        let rows = [
            ("", 0..=0),
            ("a", 1..=2),
            ("hello world", 2..=4),
            ("12345678901234567890", 7..=8),
            ("请把第二间仓库的清单再核对一遍。", 10..=18),
            ("\u{10ffff}\u{0}\u{7f}", 4..=9),
        ];
        for (text, range) in rows {
            let tokens = Estimator.tokens(Estimator.text(text));
            assert!(range.contains(&tokens), "{text:?}: {tokens}");
        }
    }

    #[test]
    fn pictures_cost_the_same_however_long_their_encoding() {
        let mut memory = Memory::new();
        let [small, large] = [4, 400_000].map(|n| {
            let message = memory.message(Role::User, vec![text("look"), image(&"A".repeat(n))]);
            (message.clone(), Estimator.message(&message, &memory))
        });
        assert_eq!(small.1, large.1);
        let marker = Patch::Cut {
            part: 1,
            site: Site::Text,
            range: 0..400_000,
            marker: "[picture]".into(),
            cause: PatchCause::Duplicate,
        };
        let patched = Estimator.patched(&large.0, &memory, &[marker]);
        assert!(patched < small.1 / 10);
    }

    #[test]
    fn every_part_counts() {
        let mut memory = Memory::new();
        let message = memory.message(
            Role::User,
            vec![
                result("c1", ""),
                text("inside").inside(0),
                call("c2", "t", "{}"),
            ],
        );
        let parts: Weight = ["inside", "t", "{}"]
            .map(|t| Estimator.text(t))
            .iter()
            .sum();
        assert_eq!(
            Estimator.message(&message, &memory),
            MESSAGE + RESULT + CALL + parts
        );
    }

    /// Text that runs into all branches: runs, digits, words, random letters, other scripts.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z]{0,12}",
            "[A-Za-z0-9+/]{0,20}",
            "[0-9]{0,7}",
            "[ \n\t]{0,6}",
            "(=|a|-| ){0,9}",
            "[а-яё]{0,9}",
            "[\u{4e00}-\u{9fa5}]{0,5}",
            "[\u{5d0}-\u{5ea}]{0,6}",
            "[\u{905}-\u{939}]{0,5}",
            ".{0,6}",
        ];
        proptest::collection::vec(piece, 0..6).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn adding_text_never_lowers_the_estimate(before in pieces(), after in pieces()) {
            let whole = weigh(&[before.as_str(), &after].concat());
            prop_assert!(whole >= weigh(&before), "appended {after:?} to {before:?}");
            prop_assert!(whole >= weigh(&after), "put {before:?} before {after:?}");
        }

        #[test]
        fn a_text_has_no_fewer_tokens_than_none(text in ".{1,40}") {
            prop_assert!(weigh(&text) >= UNIT);
        }
    }
}
