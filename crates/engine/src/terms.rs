//! What a text can be found by: terms, made here and not by a database, so that every store finds the same.
//!
//! | text | terms |
//! |---|---|
//! | words and numbers | in lower case, accents that stand alone dropped |
//! | `parseHttpHeader`, `max_tokens` | the whole, and each word of it |
//! | `src/store/lib.rs:42` | the whole with `_` between (`src_store_lib_rs_42`), the file (`lib_rs`), each word |
//! | writing without spaces (Chinese, Japanese, Korean, Thai, ...) | each character and each pair of neighbours |
//!
//! A [query](Terms::asked) is made the same way, but for single characters where there are pairs. A term holds letters,
//! digits, marks and `_` and nothing else, so every database keeps it as one word. There is no stemming: it would know
//! one language.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus_core::view::{MessageView, PartKind, PartRef, Texts};

/// Terms of one message beyond which no further one is kept: PostgreSQL takes a megabyte of them.
pub const MAX_TERMS: usize = 8_192;
/// Terms of a query beyond which no further one is looked for.
pub const MAX_ASKED: usize = 64;
/// Bytes of a term; what is longer is found by its beginning.
pub const MAX_TERM_BYTES: usize = 64;

/// The terms of a text, each once, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms(Arc<[Arc<str>]>);

impl Terms {
    /// Of a text that is to be found.
    pub fn of(text: &str) -> Self {
        Self::of_all([text])
    }

    /// Of several texts together.
    pub(crate) fn of_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut found = Found::new(MAX_TERMS, true);
        texts.into_iter().for_each(|text| found.read(text));
        found.terms()
    }

    /// Of what a message says and does: all its texts but pictures and files, and the names of its tools.
    pub fn of_message(view: &MessageView, texts: &dyn Texts) -> Self {
        let mut found = Found::new(MAX_TERMS, true);
        for (index, part) in view.parts.iter().enumerate() {
            match &part.kind {
                PartKind::Media(_) => continue,
                PartKind::Call { tool, .. } => found.read(tool),
                _ => {}
            }
            let Ok(part) = u16::try_from(index) else {
                break;
            };
            let message = view.handle;
            found.read(&texts.text(PartRef { message, part }));
        }
        found.terms()
    }

    /// Of words that are looked for.
    pub fn asked(query: &str) -> Self {
        let mut found = Found::new(MAX_ASKED, false);
        found.read(query);
        found.terms()
    }

    /// As a store gives them back: [`Terms::to_text`] of them.
    pub fn from_text(text: &str) -> Self {
        Self(
            text.split(' ')
                .filter(|t| !t.is_empty())
                .map(Arc::from)
                .collect(),
        )
    }

    /// With a space between.
    pub fn to_text(&self) -> String {
        self.0.join(" ")
    }

    /// Each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// The longest of them, which most likely stand in the fewest texts.
    pub fn longest(&self, count: usize) -> Self {
        let mut terms = self.0.to_vec();
        terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
        terms.truncate(count);
        terms.sort();
        Self(terms.into())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many of `asked` are among them.
    pub fn matched(&self, asked: &Self) -> u64 {
        let is_there = |term: &&Arc<str>| self.0.binary_search(term).is_ok();
        asked.0.iter().filter(is_there).count() as u64
    }
}

struct Found {
    terms: BTreeSet<Arc<str>>,
    most: usize,
    /// Single characters of writing without spaces count also where there are pairs.
    singles: bool,
}

impl Found {
    fn new(most: usize, singles: bool) -> Self {
        Self {
            terms: BTreeSet::new(),
            most,
            singles,
        }
    }

    fn terms(self) -> Terms {
        Terms(self.terms.into_iter().collect())
    }

    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(begin) = rest.find(is_word) {
            if self.terms.len() >= self.most {
                return;
            }
            rest = &rest[begin..];
            let run = &rest[..run(rest)];
            self.take_run(run);
            rest = &rest[run.len()..];
        }
    }

    /// Words with single joiners between them.
    fn take_run(&mut self, run: &str) {
        let words: Vec<&str> = run.split(is_joiner).collect();
        for word in &words {
            self.take_word(word);
        }
        if words.len() > 1 {
            self.add(run);
            let file = run.split(is_step).rev().find(|s| s.contains(is_joiner));
            file.into_iter().for_each(|file| self.add(file));
        }
    }

    fn take_word(&mut self, word: &str) {
        let mut rest = word;
        while !rest.is_empty() {
            let is_first = |c| is_unspaced(c) == rest.starts_with(is_unspaced);
            let end = rest.find(|c| !is_first(c)).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(end);
            match part.starts_with(is_unspaced) {
                true => self.take_unspaced(part),
                false => self.take_spaced(part),
            }
            rest = behind;
        }
    }

    fn take_spaced(&mut self, word: &str) {
        self.add(word);
        let humps = humps(word);
        if humps.len() > 1 {
            humps.into_iter().for_each(|hump| self.add(hump));
        }
    }

    fn take_unspaced(&mut self, text: &str) {
        let mut before = None;
        let count = text.chars().count();
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            if self.singles || count == 1 {
                self.add(&text[at..end]);
            }
            if let Some(before) = before.replace(at) {
                self.add(&text[before..end]);
            }
        }
    }

    fn add(&mut self, text: &str) {
        if self.terms.len() >= self.most {
            return;
        }
        let mut term = String::new();
        for c in text.chars() {
            if is_joiner(c) {
                term.push('_');
            }
            for c in c.to_lowercase().filter(|c| is_word(*c) && !is_accent(*c)) {
                term.push(if c == 'ς' { 'σ' } else { c });
            }
            if term.len() > MAX_TERM_BYTES {
                term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
                break;
            }
        }
        if term.contains(|c| c != '_') {
            self.terms.insert(term.into());
        }
    }
}

/// How many bytes at the beginning are words with single joiners between them.
fn run(text: &str) -> usize {
    let mut end = 0;
    let mut joiner = false;
    for (at, c) in text.char_indices() {
        match () {
            () if is_word(c) => {
                end = at + c.len_utf8();
                joiner = false;
            }
            () if is_joiner(c) && !joiner => joiner = true,
            () => break,
        }
    }
    end
}

/// `parseHTTPHeader` as `parse`, `HTTP`, `Header`.
fn humps(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut humps = Vec::new();
    let mut begin = 0;
    for (i, (at, c)) in chars.iter().enumerate().skip(1) {
        let is_after_small = chars[i - 1].1.is_lowercase();
        let is_before_small = chars
            .get(i + 1)
            .is_some_and(|(_, next)| next.is_lowercase());
        let is_after_capital = chars[i - 1].1.is_uppercase();
        if c.is_uppercase() && (is_after_small || is_after_capital && is_before_small) {
            humps.push(&word[begin..*at]);
            begin = *at;
        }
    }
    humps.push(&word[begin..]);
    humps
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_accent(c) || is_sign(c)
}

/// Stands between the words of a name, a path, a number.
fn is_joiner(c: char) -> bool {
    is_step(c) || matches!(c, '_' | '-' | '.' | '@' | '#' | '+')
}

/// Stands between the steps of a path.
fn is_step(c: char) -> bool {
    matches!(c, '/' | '\\' | ':')
}

/// Marks that are put on a letter; the same letter is often written as one character.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// Signs of Indic and South East Asian writing that are part of a word and no letters, such as viramas.
fn is_sign(c: char) -> bool {
    let is_mark = matches!(c, '\u{900}'..='\u{DFF}' | '\u{E31}'..='\u{E4E}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17D3}');
    is_mark
        && !matches!(
            c,
            '\u{964}' | '\u{965}' | '\u{E3F}' | '\u{104A}'..='\u{104F}'
        )
}

/// Writing in which no space stands between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}'
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let terms = Terms::of(text);
        assert_eq!(terms.iter().collect::<Vec<_>>(), expect, "{text}");
        assert_eq!(Terms::from_text(&terms.to_text()), terms, "{text}");
    }

    #[test]
    fn the_longest_are_kept_in_order() {
        let asked = Terms::of("read_file src/wire/mod.rs");
        assert_eq!(
            asked.longest(2),
            Terms::from_text("read_file src_wire_mod_rs")
        );
        assert_eq!(asked.longest(99), asked);
        assert_eq!(asked.longest(0), Terms::of(""));
    }

    #[test]
    fn terms() {
        check("", &[]);
        check("... --- ___", &[]);
        check(
            "The parser, the LINE: 42!",
            &["42", "line", "parser", "the"],
        );
        check(
            "parseHttpHeader",
            &["header", "http", "parse", "parsehttpheader"],
        );
        check("HTTPServer2", &["http", "httpserver2", "server2"]);
        check("max_tokens", &["max", "max_tokens", "tokens"]);
        check(
            "src/store/lib.rs:42",
            &[
                "42",
                "lib",
                "lib_rs",
                "rs",
                "src",
                "src_store_lib_rs_42",
                "store",
            ],
        );
        check("https://a.b", &["a", "a_b", "b", "https"]);
        check("l'été, e\u{301}te\u{301}", &["ete", "l", "été"]);
        check("İ ΣΑΣ σας", &["i", "σασ"]);
        check("東京都", &["京", "京都", "東", "東京", "都"]);
        check("猫x猫", &["x", "猫"]);
        check("हिन्दी।", &["हिन्दी"]);
    }

    #[test]
    fn who_asks_for_neighbours_does_not_ask_for_each_character() {
        let asked = |query| Terms::asked(query).to_text();
        assert_eq!(asked("東京"), "東京");
        assert_eq!(asked("猫"), "猫");
        assert_eq!(Terms::of("東京都").matched(&Terms::asked("京都 paris")), 1);
        assert_eq!(Terms::of("the lib.rs").matched(&Terms::asked("Lib.RS")), 3);
    }

    #[test]
    fn a_message_of_any_size_has_a_bounded_number_of_short_terms() {
        let blob = "a1".repeat(100_000);
        let many: String = (0..20_000).map(|n| format!("w{n} ")).collect();
        let terms = Terms::of_all([blob.as_str(), &many]);
        assert!(terms.iter().len() <= MAX_TERMS);
        assert!(terms.iter().all(|term| term.len() <= MAX_TERM_BYTES));
        assert_eq!(terms.matched(&Terms::asked(&blob)), 1);
    }

    #[test]
    fn every_term_is_one_word_to_a_database() {
        let all: String = (0..0x3_0000).filter_map(char::from_u32).collect();
        let terms = Terms::of(&all);
        let is_plain =
            |c: char| c == '_' || !c.is_ascii() && !c.is_whitespace() || c.is_ascii_alphanumeric();
        assert!(terms.iter().all(|term| term.chars().all(is_plain)));
    }
}
