//! OpenAI's Responses API: requests (`input`), answers (`output`), and lists of items.
//!
//! An item is a message, a call, its output, a piece of reasoning, or something that only the server can read. Calls
//! pair with outputs by `call_id`; tools that the server runs itself have their outcome in the call's own item.
//! Codex's session files hold the same items.

mod calls;
mod finish;
mod read;
mod write;

pub(crate) use finish::{link_local_shells, number_replies};
pub(crate) use read::{Responses, item};
pub(crate) use write::string_as_message;
