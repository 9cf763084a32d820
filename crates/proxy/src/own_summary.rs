//! Requests in which a client has the conversation summed up by itself.
//!
//! They are the end of a conversation as the client keeps it: nothing is compacted for their sake.

use conspectus::core::view::Role;
use conspectus::threads::ClientList as _;
use memchr::memmem;

use crate::list::List;

/// What stands in the last message of such a request: all of one row.
const SAID: [&[&str]; 3] = [
    &["CONTEXT CHECKPOINT COMPACTION"],
    &["<analysis>", "<summary>", "summary of the conversation"],
    &["Provide a detailed prompt for continuing our conversation above"],
];

/// Whether this is one.
pub(crate) fn is_own_summary(list: &List) -> bool {
    let Some(last) = list.len().checked_sub(1) else {
        return false;
    };
    let is_user = || {
        let view = list.message(last as u64).map(|(_, view)| view);
        view.is_some_and(|view| view.role == Role::User)
    };
    let said = list.json(last);
    let has = |word: &&str| memmem::find(said, word.as_bytes()).is_some();
    SAID.iter().any(|words| words.iter().all(has)) && is_user()
}

#[cfg(test)]
mod tests {
    use conspectus::Format;
    use hyper::body::Bytes;

    use super::*;

    #[test]
    fn summaries_of_clients() {
        let check = |role: &str, text: &str, expect: bool| {
            let body = format!(r#"{{"messages":[{{"role":"{role}","content":"{text}"}}]}}"#);
            let list = List::read(Format::Anthropic, "messages", &Bytes::from(body), None);
            assert_eq!(is_own_summary(&list.expect("a body")), expect, "{text}");
        };
        check(
            "user",
            "You are performing a CONTEXT CHECKPOINT COMPACTION. Go.",
            true,
        );
        check(
            "user",
            "Make a detailed summary of the conversation: <analysis>, then <summary>.",
            true,
        );
        check("user", "What is a summary of the conversation?", false);
        check("assistant", "CONTEXT CHECKPOINT COMPACTION", false);
    }
}
