//! Sentences as rows of tokens: words, single characters of scripts without spaces, punctuation.

use crate::digest::is_dense;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, number, path or identifier.
    Word,
    /// A character of a script without spaces.
    Dense,
    /// A mark.
    Mark,
}

/// One token. Its text is a range of [`Tokens::lower`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: Kind,
    /// FNV-1a of its text.
    pub(super) hash: u64,
    /// Stands between quotation marks: somebody's words, not an order.
    pub(super) quoted: bool,
    /// Begins with or holds a capital.
    pub(super) capital: bool,
    /// Written like code: a digit, a slash.
    pub(super) coded: bool,
}

/// How a word is written.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    capital: bool,
    coded: bool,
}

/// A sentence in tokens.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// The sentence in lower case, quotation marks unified.
    pub(super) lower: String,
    pub(super) all: Vec<Token>,
}

impl Tokens {
    /// Reads a sentence.
    pub(super) fn of(sentence: &str) -> Self {
        let mut tokens = Self::default();
        tokens.lower.reserve(sentence.len());
        let mut start: Option<(usize, Look)> = None;
        let mut chars = sentence.chars().peekable();
        while let Some(c) = chars.next() {
            let c = match c {
                '’' | '‘' | 'ʼ' => '\'',
                '“' | '”' | '„' => '"',
                other => other,
            };
            let dense = is_dense(c);
            let next = chars.peek().copied();
            let joins = start.is_some()
                && next.is_some_and(|n| n.is_alphanumeric() && !is_dense(n))
                && matches!(c, '\'' | '.' | '-' | '_' | '/' | '@' | '+' | '#' | ':')
                // A colon joins only digits: 10:30.
                && (c != ':' || next.is_some_and(|n| n.is_ascii_digit()))
                // `100-word` is a number and what it counts.
                && (c != '-' || !ends_in_digit(&tokens.lower) || next.is_some_and(|n| n.is_ascii_digit()));
            let elides =
                c == '\'' && start.is_some_and(|(from, _)| is_elision(&tokens.lower[from..]));
            let is_word = elides
                || !dense && (c.is_alphanumeric() || joins || (start.is_none() && opens(c, next)));
            let at = tokens.lower.len();
            if !is_word && let Some((from, look)) = start.take() {
                tokens.word(from, at, look);
            }
            if c.is_ascii() {
                tokens.lower.push(c.to_ascii_lowercase());
            } else {
                tokens.lower.extend(c.to_lowercase());
            }
            if is_word {
                let (from, mut look) = start.unwrap_or((at, Look::default()));
                look.capital |= c.is_uppercase();
                look.coded |= c.is_ascii_digit() || matches!(c, '/' | '_' | '@' | '#');
                start = Some((from, look));
            } else if dense {
                tokens.push(at, Kind::Dense);
            } else if !c.is_whitespace() && !matches!(c, '*' | '_') {
                tokens.push(at, Kind::Mark);
            }
        }
        if let Some((from, look)) = start {
            let end = tokens.lower.len();
            tokens.word(from, end, look);
        }
        tokens.mark_quotes();
        tokens
    }

    pub(super) fn text(&self, at: usize) -> &str {
        let token = &self.all[at];
        &self.lower[token.start as usize..token.end as usize]
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        (at < self.all.len()).then(|| self.text(at))
    }

    /// A word; French and Italian elisions (`n'utilise`, `l'anglais`) are two.
    fn word(&mut self, from: usize, to: usize, look: Look) {
        let text = &self.lower[from..to];
        let split = text
            .find('\'')
            .filter(|at| *at + 1 < text.len() && is_elision(&text[..*at]));
        match split {
            Some(at) => {
                self.put(from, from + at + 1, Kind::Word, Look::default());
                self.put(from + at + 1, to, Kind::Word, look);
            }
            None => self.put(from, to, Kind::Word, look),
        }
    }

    fn push(&mut self, from: usize, kind: Kind) {
        self.put(from, self.lower.len(), kind, Look::default());
    }

    fn put(&mut self, from: usize, to: usize, kind: Kind, look: Look) {
        let hash = hash_of(&self.lower[from..to]);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.all.push(Token {
            start: place(from),
            end: place(to),
            kind,
            hash,
            quoted: false,
            capital: look.capital,
            coded: look.coded,
        });
    }

    /// Marks what stands between two quotation marks of a kind; one that never closes quotes nothing.
    fn mark_quotes(&mut self) {
        let mut open: Option<(usize, &str)> = None;
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (at, token) in self.all.iter().enumerate() {
            if token.kind != Kind::Mark {
                continue;
            }
            let mark = &self.lower[token.start as usize..token.end as usize];
            match open {
                Some((from, close)) if mark == close => {
                    spans.push((from, at));
                    open = None;
                }
                None => {
                    let close = match mark {
                        "\"" => "\"",
                        "`" => "`",
                        "«" => "»",
                        "「" => "」",
                        "『" => "』",
                        "《" => "》",
                        _ => continue,
                    };
                    open = Some((at, close));
                }
                Some(_) => {}
            }
        }
        for (from, to) in spans {
            self.all[from..=to].iter_mut().for_each(|t| t.quoted = true);
        }
    }
}

fn ends_in_digit(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
}

/// What French and Italian words are elided to.
fn is_elision(text: &str) -> bool {
    matches!(
        text,
        "c" | "d" | "j" | "l" | "m" | "n" | "s" | "t" | "qu" | "dell" | "all" | "nell" | "un"
    )
}

/// Marks that a word can begin with: a path, a hidden file, a number's sign.
fn opens(c: char, next: Option<char>) -> bool {
    match c {
        '/' | '.' | '@' | '#' | '$' | '€' | '£' => next.is_some_and(char::is_alphanumeric),
        _ => false,
    }
}

/// The tokens of a phrase of the lexicon.
pub(super) fn tokens_of(phrase: &str) -> Vec<Box<str>> {
    let tokens = Tokens::of(phrase);
    (0..tokens.all.len())
        .map(|at| tokens.text(at).into())
        .collect()
}

/// FNV-1a over bytes (Fowler, Noll, Vo): stable between runs.
pub(super) fn hash_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expect: &str) {
        let tokens = Tokens::of(sentence);
        let shown = |at: usize| match tokens.all[at].quoted {
            true => format!("<{}>", tokens.text(at)),
            false => tokens.text(at).to_owned(),
        };
        let all: Vec<_> = (0..tokens.all.len()).map(shown).collect();
        assert_eq!(all.join(" "), expect, "of {sentence:?}");
    }

    #[test]
    fn words_characters_and_marks() {
        check(
            "Don’t touch src/a.rs, ever!",
            "don't touch src/a.rs , ever !",
        );
        check("不要用tabs。", "不 要 用 tabs 。");
        check("N'utilise pas d'emoji", "n' utilise pas d' emoji");
        check("I'm at 10:30: us-east-1", "i'm at 10:30 : us-east-1");
        check(
            "say \"never mind\" twice",
            "say <\"> <never> <mind> <\"> twice",
        );
        check("a 5\" screen", "a 5 \" screen");
        check("**Never** _ever_", "never ever");
    }
}
