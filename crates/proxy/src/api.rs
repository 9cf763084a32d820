//! Which call a request is: told by method and path alone.

use conspectus::Format;

/// What is asked of the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Call {
    /// `POST …/chat/completions`
    Chat,
    /// `POST …/responses`
    Responses,
    /// `POST …/responses/compact`
    Compact,
    /// `POST …/responses/input_tokens`
    InputTokens,
    /// `POST …/v1/messages`
    Messages,
    /// `POST …/v1/messages/count_tokens`
    CountTokens,
    /// Anything else: passed through unread.
    Other,
}

impl Call {
    /// The call of a request. `path`: without its query.
    pub(crate) fn of(method: &str, path: &str) -> Self {
        if method != "POST" {
            return Self::Other;
        }
        let ends = |tail: &str| path.strip_suffix(tail).is_some_and(is_base);
        if ends("/chat/completions") {
            Self::Chat
        } else if ends("/responses") {
            Self::Responses
        } else if ends("/responses/compact") {
            Self::Compact
        } else if ends("/responses/input_tokens") {
            Self::InputTokens
        } else if ends("/messages") {
            Self::Messages
        } else if ends("/messages/count_tokens") {
            Self::CountTokens
        } else {
            Self::Other
        }
    }

    /// The format of the body, where it holds a conversation.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            Self::Chat => Some(Format::OpenAi),
            Self::Responses | Self::Compact | Self::InputTokens => Some(Format::Responses),
            Self::Messages | Self::CountTokens => Some(Format::Anthropic),
            Self::Other => None,
        }
    }

    /// The member of the body that holds the messages.
    pub(crate) fn list(self) -> &'static str {
        match self.format() {
            Some(Format::Responses) => "input",
            _ => "messages",
        }
    }

    /// Whether a reply to it goes on with the conversation: what only counts is rewritten, but teaches nothing.
    pub(crate) fn is_turn(self) -> bool {
        matches!(self, Self::Chat | Self::Responses | Self::Messages)
    }

    /// Its name in figures and lines.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Compact => "responses_compact",
            Self::InputTokens => "responses_input_tokens",
            Self::Messages => "messages",
            Self::CountTokens => "messages_count_tokens",
            Self::Other => "other",
        }
    }

    /// An error of ours in the words of the API.
    pub(crate) fn error(self, kind: &str, message: &str) -> String {
        let (kind, message) = (quoted(kind), quoted(message));
        match self.format() {
            Some(Format::Anthropic) => {
                format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}}}}}"#)
            }
            _ => format!(
                r#"{{"error":{{"message":{message},"type":{kind},"param":null,"code":null}}}}"#
            ),
        }
    }
}

/// What may stand before the call: nothing, or segments.
fn is_base(path: &str) -> bool {
    path.is_empty() || (path.starts_with('/') && !path.ends_with('/'))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let check = |path: &str, expect: Call| assert_eq!(Call::of("POST", path), expect, "{path}");
        check("/v1/chat/completions", Call::Chat);
        check("/chat/completions", Call::Chat);
        check("/openai/v1/responses", Call::Responses);
        check("/v1/responses/compact", Call::Compact);
        check("/v1/responses/input_tokens", Call::InputTokens);
        check("/v1/responses/resp_1/cancel", Call::Other);
        check("/v1/messages", Call::Messages);
        check("/v1/messages/count_tokens", Call::CountTokens);
        check("/v1/messages/batches", Call::Other);
        check("/v1/models", Call::Other);
        check("//messages", Call::Other);
        assert_eq!(Call::of("GET", "/v1/responses"), Call::Other);
    }

    #[test]
    fn errors_are_in_the_words_of_the_api() {
        assert_eq!(
            Call::Messages.error("api_error", "a \"b\""),
            r#"{"type":"error","error":{"type":"api_error","message":"a \"b\""}}"#
        );
        assert_eq!(
            Call::Other.error("api_error", "x"),
            r#"{"error":{"message":"x","type":"api_error","param":null,"code":null}}"#
        );
    }
}
