//! Nous's two estimates: text only, no overhead for a message, nothing for calls, reasoning or media.

use super::{CounterId, TokenCounter, Weight};
use crate::view::{MessageView, PartKind, PartRef, Texts};

/// Bytes of text, added up over everything and divided by four once, rounded down. Weights are bytes.
///
/// Low by far for scripts whose characters take several bytes a token less often than four; known and kept,
/// since thresholds of the `nous` preset were chosen with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes4;

impl TokenCounter for Bytes4 {
    fn id(&self) -> CounterId {
        CounterId::BYTES4
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        over_text(message, texts, |text| self.text(text))
    }

    fn text(&self, text: &str) -> Weight {
        text.len() as Weight
    }

    fn added_message(&self, text: &str) -> Weight {
        self.text(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight / 4
    }
}

/// Words between white space, as Nous 0.17.0 counts. Weights are words. No-break spaces do not divide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words;

impl TokenCounter for Words {
    fn id(&self) -> CounterId {
        CounterId::WORDS
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        over_text(message, texts, |text| self.text(text))
    }

    fn text(&self, text: &str) -> Weight {
        let divides =
            |c: char| c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}');
        let words = text.split(divides).filter(|word| !word.is_empty());
        words.count() as Weight
    }

    fn added_message(&self, text: &str) -> Weight {
        self.text(text)
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight
    }
}

/// The sum of `weigh` over the content's texts: plain text and tool results.
fn over_text(message: &MessageView, texts: &dyn Texts, weigh: impl Fn(&str) -> Weight) -> Weight {
    let is_text = |kind: &PartKind| matches!(kind, PartKind::Text | PartKind::Result { .. });
    (0u16..)
        .zip(&message.parts)
        .filter(|(_, part)| is_text(&part.kind))
        .map(|(part, _)| {
            let message = message.handle;
            weigh(&texts.text(PartRef { message, part }))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, call, text};
    use crate::view::Role;

    #[test]
    fn bytes_are_divided_once() {
        let mut memory = Memory::new();
        let three = memory.message(Role::User, vec![text("abc")]);
        let cjk = memory.message(
            Role::Assistant,
            vec![text("日本語"), call("c1", "t", r#"{"p":1}"#)],
        );
        let sum = Bytes4.message(&three, &memory) + Bytes4.message(&cjk, &memory);
        assert_eq!(sum, 12);
        assert_eq!(Bytes4.tokens(sum), 3);
        assert_eq!(Bytes4.tokens(Bytes4.text("日本語")), 2);
        assert_eq!(Bytes4.tokens(Bytes4.text("")), 0);
    }

    #[test]
    fn words_are_divided_by_white_space() {
        for (text, words) in [
            ("", 0),
            ("  ", 0),
            ("one two\n three", 3),
            ("a\u{a0}b c", 2),
        ] {
            assert_eq!(Words.text(text), words, "{text:?}");
        }
    }
}
