//! Splits text into lines and sentences, and lines into words. Works for scripts with and without spaces.

/// A longer piece is cut here, at a word's end if one is near.
const MAX_SENTENCE: usize = 400;

/// The sentences of `text`, trimmed, in order, none empty.
pub(crate) fn sentences<'a>(text: &'a str, each: &mut dyn FnMut(&'a str)) {
    for line in text.lines() {
        let mut start = 0;
        let mut chars = line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, c)| *c);
            let ends = match c {
                '。' | '！' | '？' => true,
                '.' => next.is_some_and(char::is_whitespace) && !abbreviates(&line[start..at]),
                '!' | '?' => next.is_some_and(char::is_whitespace),
                _ => false,
            };
            if ends || at + c.len_utf8() - start >= MAX_SENTENCE {
                let mut end = at + c.len_utf8();
                if !ends && let Some(space) = line[start..end].rfind(' ').filter(|s| *s > 200) {
                    end = start + space;
                }
                piece(&line[start..end], each);
                start = end;
            }
        }
        piece(&line[start..], each);
    }
}

/// The lines of `text`, trimmed, none empty, cut where they are too long.
pub(crate) fn lines<'a>(text: &'a str, each: &mut dyn FnMut(&'a str)) {
    for mut line in text.lines() {
        while line.len() > MAX_SENTENCE {
            let end = line.floor_char_boundary(MAX_SENTENCE);
            let end = line[..end].rfind(' ').filter(|s| *s > 200).unwrap_or(end);
            piece(&line[..end], each);
            line = &line[end..];
        }
        piece(line, each);
    }
}

/// The stop after `before` belongs to an abbreviation: `e.g.`, `Dr.`, an initial, a list's number.
fn abbreviates(before: &str) -> bool {
    let word = before.rsplit([' ', '(', '\t']).next().unwrap_or(before);
    const TITLES: &[&str] = &[
        "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Jr", "Sr", "vs", "cf",
    ];
    let letters = word.chars().take(3).count();
    letters == 1
        || (letters == 2 && before.trim_start().len() == word.len())
        || word.contains('.')
        || TITLES.contains(&word)
}

fn piece<'a>(text: &'a str, each: &mut dyn FnMut(&'a str)) {
    let text = text.trim();
    if !text.is_empty() {
        each(text);
    }
}

/// Calls `each` with a hash of every word: lower-cased runs of letters and digits, and pairs of
/// neighbouring characters in scripts that are written without spaces.
pub(crate) fn words(text: &str, each: &mut dyn FnMut(u64)) {
    let mut hash = Fnv::new();
    let mut in_word = false;
    let mut before: Option<char> = None;
    for c in text.chars() {
        let dense = is_dense(c);
        if dense {
            if let Some(first) = before {
                let mut pair = Fnv::new();
                pair.char(first);
                pair.char(c);
                each(pair.0);
            }
            before = Some(c);
        } else {
            before = None;
        }
        if c.is_alphanumeric() && !dense {
            if c.is_ascii() {
                hash.char(c.to_ascii_lowercase());
            } else {
                c.to_lowercase().for_each(|l| hash.char(l));
            }
            in_word = true;
        } else if in_word {
            each(hash.0);
            hash = Fnv::new();
            in_word = false;
        }
    }
    if in_word {
        each(hash.0);
    }
}

/// Whether `c` belongs to a script that is written without spaces: a token of its own, roughly.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Bytes and characters as a cheap guess of tokens, in quarter tokens: only for ranking, never for limits.
pub(crate) fn rough_size(text: &str) -> u32 {
    let size: usize = if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(|c| if is_dense(c) { 4 } else { 1 }).sum()
    };
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// FNV-1a over characters (Fowler, Noll, Vo): stable between runs, unlike the standard hasher.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn char(&mut self, c: char) {
        self.0 = (self.0 ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// The head of `text`, at most `max` bytes, with a mark if something is left out.
pub(crate) fn cut_end(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(max.saturating_sub("…".len()))];
    [head.trim_end(), "…"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let mut got = Vec::new();
        sentences(text, &mut |s| got.push(s));
        assert_eq!(got, expect);
    }

    #[test]
    fn sentences_end_where_readers_end_them() {
        check(
            "One. Two! v1.2 stays?\nThree",
            &["One.", "Two!", "v1.2 stays?", "Three"],
        );
        check("第一句。第二句！end", &["第一句。", "第二句！", "end"]);
        check("\n \n", &[]);
        let long = "word ".repeat(200);
        let mut lengths = Vec::new();
        sentences(&long, &mut |s| lengths.push(s.len()));
        assert!(lengths.iter().all(|len| *len <= MAX_SENTENCE));
    }

    #[test]
    fn words_are_the_same_in_any_case_and_pairs_in_dense_scripts() {
        let of = |text: &str| {
            let mut got = Vec::new();
            words(text, &mut |w| got.push(w));
            got
        };
        assert_eq!(of("Fix the BUG"), of("fix, the: bug"));
        assert_eq!(of("修复登录").len(), 3);
        assert_eq!(of("Straße"), of("STRAßE"));
    }

    #[test]
    fn cuts_respect_characters() {
        assert_eq!(cut_end("short", 10), "short");
        let text = "ä".repeat(100);
        for max in 0..60 {
            assert!(cut_end(&text, max).len() <= max.max("…".len()));
        }
    }
}
