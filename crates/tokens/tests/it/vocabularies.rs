//! The vocabularies against counts of OpenAI's own package (`scripts/tokens/tiktoken_counts.py`).

use conspectus_core::count::TokenCounter;
use conspectus_core::id::{Handle, Ident};
use conspectus_core::view::{MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts};
use conspectus_tokens::{Exact, cl100k, o200k};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    rows: Vec<(String, u64, u64)>,
}

fn count(counter: Exact, text: &str) -> u64 {
    counter.tokens(counter.text(text))
}

#[test]
fn counts_are_those_of_the_python_package() {
    let fixture = include_str!("../fixtures/tiktoken_counts.json");
    let fixture: Fixture = serde_json::from_str(fixture).expect("the fixture is JSON");
    assert!(fixture.rows.len() > 300);
    for (text, o200k_tokens, cl100k_tokens) in &fixture.rows {
        assert_eq!(count(o200k(), text), *o200k_tokens, "o200k: {text:?}");
        assert_eq!(count(cl100k(), text), *cl100k_tokens, "cl100k: {text:?}");
    }
}

/// Every part of every message has this text.
struct Same(&'static str);

impl Texts for Same {
    fn text(&self, _: PartRef) -> std::borrow::Cow<'_, str> {
        self.0.into()
    }

    fn json(&self, _: PartRef) -> Option<std::borrow::Cow<'_, str>> {
        None
    }
}

#[test]
fn a_message_costs_what_the_recipe_says() {
    let texts = Same("hello world");
    let message = |kind| {
        let parts = vec![Part::new(kind, texts.0.len())];
        MessageView::new(Handle(0), Role::User, parts, Ident::EMPTY)
    };
    let plain = message(PartKind::Text);
    assert_eq!(o200k().message(&plain, &texts), 3 + 1 + 2);
    assert_eq!(o200k().added_message("hello world"), 3 + 1 + 2);
    let named = MessageView {
        name: Some("bob".into()),
        ..plain
    };
    assert_eq!(o200k().message(&named, &texts), 3 + 1 + 2 + 1 + 1);
    let picture = message(PartKind::Media(MediaKind::Image));
    assert_eq!(o200k().message(&picture, &texts), 3 + 1 + 765);
}

proptest! {
    /// Tokens are not additive in general; where a letter meets a digit no token spans.
    #[test]
    fn counts_add_up_where_a_letter_meets_a_digit(before in ".{0,30}[a-z]", after in "[0-9].{0,30}") {
        for counter in [o200k(), cl100k()] {
            let whole = [before.as_str(), &after].concat();
            prop_assert_eq!(
                count(counter, &whole),
                count(counter, &before) + count(counter, &after)
            );
        }
    }

    #[test]
    fn a_token_is_at_least_a_byte_and_at_most_128(text in ".{0,60}") {
        for counter in [o200k(), cl100k()] {
            let tokens = count(counter, &text) as usize;
            prop_assert!(tokens <= text.len());
            prop_assert!(tokens * 128 >= text.len());
        }
    }
}
