//! A conversation asked about itself: its own request once more, with one user turn behind it.
//!
//! The provider has the beginning of the last request in its cache. A request that repeats it byte for byte and only
//! goes on behind it pays a fraction of the price for nearly all of its input. So system prompt, tools and messages are
//! written exactly as [`Document::render`] writes them, and everything else is changed only where the reply would be no
//! text otherwise:
//!
//! | | stays | changes |
//! |---|---|---|
//! | OpenAI chat | `tools`, reasoning settings | `tool_choice: "none"` where there are tools; no `response_format`, `stop`, `n`, `prediction`, audio |
//! | Anthropic | `tools`, `thinking`, cache breakpoints; `tool_choice` too, since a changed one makes the cached messages useless | `any` and `tool` become `none`, since they would force a call; no `stop_sequences`, `output_config.format`; `max_tokens` has room for the thinking |
//! | Responses | `tools`, `reasoning`, `instructions` | `tool_choice: "none"` where there are tools; no `text.format`, `background` |
//! | Gemini | `tools`, `cachedContent` | mode `NONE` of function calling; no schema, `stopSequences`, `candidateCount` |
//!
//! Where tools cannot be switched off without a loss, the instruction says that none may be called; a reply that calls
//! one is no summary. Cache breakpoints stay where they are and none is added: those of the last request are where the
//! cache can be read, and what is behind them is sent once.

mod ending;
mod request;

use conspectus_core::projection::Piece;

use crate::conversation::{Conversation, List};
use crate::document::{Document, check_handles, dialect, is_whole};
use crate::error::WriteError;
use crate::format::Format;
use crate::json::{Object, Span};
use crate::write::{Slot, array, texts, value};

pub use request::room_for_thinking;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The last user turn.
    pub instruction: &'a str,
    /// The model; `None`: the one of the request. A list of messages without a request has none of its own.
    pub model: Option<&'a str>,
    /// The most tokens that the reply's text may have.
    pub max_output_tokens: u64,
    /// What [`RenderContext::cache_summary`](crate::RenderContext::cache_summary) is for the normal requests.
    pub cache_summary: bool,
    /// For servers whose chat template wants users and assistants to take turns: the instruction joins a user's message
    /// at the end, and a short reply stands between a tool's answer and it. In OpenAI's and Anthropic's formats.
    pub strict_turns: bool,
}

impl<'a> Ask<'a> {
    /// The instruction with a cap, to the model of the request.
    pub fn new(instruction: &'a str, max_output_tokens: u64) -> Self {
        Self {
            instruction,
            model: None,
            max_output_tokens,
            cache_summary: false,
            strict_turns: false,
        }
    }
}

/// Why a conversation cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoReplay {
    /// It is a log or a state: what was sent to the provider does not stand in it.
    #[error("{0} files hold no request, so what was sent cannot be sent again")]
    NoRequest(Format),
    /// The server has the history, and another request would go on in it.
    #[error(
        "the server keeps the history (`conversation` or `thread`), another request would go into it"
    )]
    HistoryElsewhere,
    /// Which of two equal keys counts differs by reader.
    #[error("a field of the request occurs twice")]
    Duplicates,
    /// The API does not take messages that use tools without the definitions, which do not stand in the file.
    #[error("the messages use tools and the file does not hold their definitions")]
    NoTools,
    /// The request asks the provider itself for a compaction.
    #[error("the request asks the provider for a compaction of its own")]
    OwnCompaction,
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Document {
    /// Whether [`Self::replay`] can repeat this conversation.
    ///
    /// # Errors
    /// Why not.
    pub fn can_replay(&self, conversation: usize) -> Result<(), NoReplay> {
        self.replayable(conversation).map(drop)
    }

    /// The body of a request that repeats the conversation as `pieces` say and asks for text behind it. System prompt,
    /// tools and messages are the bytes of the normal request, up to the end of its last message.
    ///
    /// A call at the end that was not answered gets a stand-in; a reply that was begun and says nothing yet, or has come to
    /// its reasoning only (Responses), is left out.
    ///
    /// # Errors
    /// When this file or conversation is none that can be repeated, or `pieces` are not of it.
    pub fn replay(
        &self,
        conversation: usize,
        pieces: &[Piece],
        ask: &Ask<'_>,
    ) -> Result<Vec<u8>, NoReplay> {
        let (messages, base) = self.replayable(conversation)?;
        let format = self.format();
        let dialect = dialect(format).ok_or(NoReplay::NoRequest(format))?;
        let pieces: Vec<&Piece> = pieces.iter().collect();
        check_handles(conversation, messages, &pieces)?;
        if messages.is_continued && !is_whole(messages, &pieces) {
            return Err(NoReplay::HistoryElsewhere);
        }
        let end = ending::of(format, messages, &pieces, ask);
        let script = pieces[..end.kept].iter().copied().chain(&end.answers);
        let mut written = dialect.list(messages, &script.collect::<Vec<_>>(), ask.cache_summary)?;
        // Apart, so that it cannot join what was sent before.
        let turns: Vec<&Piece> = end.turns.iter().collect();
        written
            .slots
            .extend(dialect.list(messages, &turns, false)?.slots);
        if ask.strict_turns {
            ending::join_users(messages, &mut written.slots, ask.instruction);
        }
        let list = list(messages, &written.slots, |text| dialect.as_message(text));
        let mut body = match base {
            Base::Request { request, list: at } => {
                let source = messages.source.text();
                let mut splices = crate::json::Splices::new();
                splices.replace(at, list);
                dialect.add_system(source, request, &written.system, &mut splices);
                splices.apply(source, request)
            }
            Base::Made => {
                let made = request::envelope(format, messages, &list);
                let whole = Span::new(0, made.len());
                let mut splices = crate::json::Splices::new();
                dialect.add_system(&made, whole, &written.system, &mut splices);
                splices.apply(&made, whole)
            }
        };
        body = request::asking_for_text(format, &body, ask).ok_or(NoReplay::Duplicates)?;
        Ok(body.into_bytes())
    }

    fn replayable(&self, index: usize) -> Result<(&Conversation, Base), NoReplay> {
        let format = self.format();
        if request::list_key(format).is_none() {
            return Err(NoReplay::NoRequest(format));
        }
        let conversation = self
            .conversations()
            .get(index)
            .ok_or(WriteError::NoConversation(index))?;
        let base = Base::of(format, conversation)?;
        request::check(format, conversation, base == Base::Made)?;
        Ok((conversation, base))
    }
}

/// What the list stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The request of the file.
    Request {
        /// The object.
        request: Span,
        /// Its list.
        list: Span,
    },
    /// There is only a list, or an object around it that is no request.
    Made,
}

impl Base {
    fn of(format: Format, conversation: &Conversation) -> Result<Self, NoReplay> {
        let (list, request) = match conversation.list {
            List::Array { array, request } => (array, request),
            List::Value { value, request } => (value, Some(request)),
            List::Lines => return Ok(Self::Made),
        };
        let source = conversation.source.text();
        let Some(span) = request else {
            return Ok(Self::Made);
        };
        let object = Object::of(span.text(source)).unwrap_or_default();
        let key = request::list_key(format).unwrap_or_default();
        let is_list = |value: &str| Span::of(source, value) == list;
        let is_request = object.get(key).is_some_and(is_list)
            && (format == Format::Gemini || object.string("model").is_some());
        match is_request {
            true if object.has_duplicates => Err(NoReplay::Duplicates),
            true => Ok(Self::Request {
                request: span,
                list,
            }),
            false => Ok(Self::Made),
        }
    }
}

/// The list as an array.
fn list(
    conversation: &Conversation,
    slots: &[Slot],
    as_message: impl Fn(&str) -> String,
) -> String {
    match conversation.list {
        List::Array { array: at, .. } => array(conversation, at, slots),
        List::Value { .. } => value(conversation, slots, as_message),
        List::Lines => {
            let texts: Vec<_> = texts(conversation, slots).collect();
            format!("[{}]", texts.join(","))
        }
    }
}
