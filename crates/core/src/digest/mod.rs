//! Stand-in until the digest lands.
use crate::count::TokenCounter;
use crate::ledger::Ledger;
use crate::view::{MessageView, PartRef, Texts};
/// What is digested.
pub struct DigestSource<'a>(&'a [&'a MessageView], &'a dyn Texts);
impl<'a> DigestSource<'a> {
    /// A source.
    pub fn new(messages: &'a [&'a MessageView], texts: &'a dyn Texts, _: &'a Ledger) -> Self {
        Self(messages, texts)
    }
}
/// A digest.
pub struct Digest {
    /// Its text.
    pub text: String,
}
/// Makes one.
pub fn digest(source: &DigestSource<'_>, budget_tokens: u64, counter: &dyn TokenCounter) -> Digest {
    let mut text = String::new();
    for m in source.0 {
        let t = source.1.text(PartRef {
            message: m.handle,
            part: 0,
        });
        let line: String = t.chars().take(20).collect();
        if counter.tokens(counter.text(&format!("{text}{line}\n"))) > budget_tokens {
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    Digest { text }
}
