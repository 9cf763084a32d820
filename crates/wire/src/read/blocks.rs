//! Content blocks of all formats, by their `type`. One reader for all, since the formats borrow each
//! other's blocks: LangChain's messages hold Anthropic's and OpenAI's, gateways mix them.

use std::borrow::Cow;

use conspectus_core::view::{MediaKind, PartKind};

use super::{Builder, Odd, unique};
use crate::conversation::{Emptied, Home, TextAt};
use crate::json::{Array, Kind, Object, Span};

/// Reads `json`, a message's or a result's content, into parts. `result` is the index of the result that it is
/// the content of. Strings are the caller's: what they mean differs.
pub(crate) fn content(
    builder: &mut Builder<'_>,
    json: &str,
    result: Option<usize>,
    emptied: Emptied,
) -> Result<(), Odd> {
    let Some(elements) = Array::of(json) else {
        return Err(Odd::new(
            Kind::of(json).name(),
            "content that is a string or a list of blocks",
        ));
    };
    let array = builder.span(json);
    for element in elements.0 {
        block(builder, element, Home::Element { array, emptied }, result)?;
    }
    Ok(())
}

/// A call as a content block or an entry of a list of calls states it.
pub(crate) struct Call<'a> {
    /// Its id, empty when there is none.
    pub(crate) id: Cow<'a, str>,
    /// The tool's name.
    pub(crate) tool: Cow<'a, str>,
    /// The arguments.
    pub(crate) arguments: TextAt,
}

impl Call<'_> {
    /// As a part.
    pub(crate) fn kind(&self) -> PartKind {
        PartKind::Call {
            id: self.id.as_ref().into(),
            tool: self.tool.as_ref().into(),
        }
    }
}

/// Whether a block of this type is a call.
pub(crate) fn is_call_block(kind: &str) -> bool {
    matches!(
        kind,
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "tool_call" | "server_tool_call"
    )
}

/// The call that a block is.
pub(crate) fn call_block<'a>(source: &str, block: &Object<'a>) -> Call<'a> {
    let arguments = block.value("input").or_else(|| block.value("args"));
    Call {
        id: block.string("id").unwrap_or_default(),
        tool: block.string("name").unwrap_or_default(),
        arguments: text_or_json(source, arguments),
    }
}

/// Reads one block.
pub(crate) fn block(
    builder: &mut Builder<'_>,
    json: &str,
    home: Home,
    result: Option<usize>,
) -> Result<(), Odd> {
    let span = builder.span(json);
    let source = builder.source();
    let mut push = |kind, text| builder.push_inside(kind, text, span, home, result);
    if Kind::of(json) == Kind::String {
        push(PartKind::Text, TextAt::String(span));
        return Ok(());
    }
    if Kind::of(json) != Kind::Object {
        push(opaque(Kind::of(json).name()), TextAt::Json(span));
        return Ok(());
    }
    let object = unique(json, "a content block")?;
    let kind = object.string("type").unwrap_or_else(|| untyped(&object));
    let string = |key: &str| string_at(source, &object, &[key]);
    match kind.as_ref() {
        "text" | "input_text" | "output_text" => match string("text") {
            Some(text) => push(PartKind::Text, text),
            None => push(opaque(&kind), TextAt::Json(span)),
        },
        "refusal" => push(PartKind::Text, string("refusal").unwrap_or(TextAt::Nowhere)),
        "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content" => {
            let (bound, text) = reasoning(source, &object);
            push(PartKind::Reasoning { bound }, text)
        }
        name if is_call_block(name) => {
            let call = call_block(source, &object);
            push(call.kind(), call.arguments)
        }
        // Ours for what another format's reader did not know.
        "opaque" if object.get("value").is_some() => {
            let label = object.string("label").unwrap_or_default();
            let value = text_or_json(source, object.get("value"));
            push(opaque(&label), value)
        }
        name if name == "tool_result" || name.ends_with("_tool_result") => {
            return tool_result(builder, &object, span, home);
        }
        name => match media(name) {
            Some(media) => push(
                PartKind::Media(media),
                data(source, &object).unwrap_or(TextAt::Json(span)),
            ),
            None => push(opaque(name), TextAt::Json(span)),
        },
    };
    Ok(())
}

fn tool_result(
    builder: &mut Builder<'_>,
    object: &Object<'_>,
    span: Span,
    home: Home,
) -> Result<(), Odd> {
    let id = object
        .string("tool_use_id")
        .or_else(|| object.string("tool_call_id"));
    let content_json = object.value("content").or_else(|| object.value("output"));
    let inner = content_json.and_then(Object::of);
    let failed = inner.and_then(|inner| inner.string("type"));
    let kind = PartKind::Result {
        id: id.unwrap_or_default().as_ref().into(),
        tool: object.string("name").map(|name| name.as_ref().into()),
        error: object.is_true("is_error") || failed.is_some_and(|kind| kind.ends_with("_error")),
    };
    let list = content_json.filter(|json| Kind::of(json) == Kind::Array);
    let text = match list {
        Some(_) => TextAt::Nowhere,
        None => text_or_json(builder.source(), content_json),
    };
    let index = builder.push(kind, text, span, home);
    match list {
        Some(list) => content(builder, list, Some(index), Emptied::Text),
        None => Ok(()),
    }
}

/// Whether reasoning is signed or encrypted, and its text.
fn reasoning(source: &str, object: &Object<'_>) -> (bool, TextAt) {
    let nested = object.object("reasoning_content");
    let extras = object.object("extras");
    let sealed = |object: &Object<'_>| {
        ["signature", "data", "encrypted_content", "redactedContent"]
            .iter()
            .any(|key| object.string(key).is_some_and(|text| !text.is_empty()))
    };
    let bound = [Some(object), nested.as_ref(), extras.as_ref()]
        .into_iter()
        .flatten()
        .any(sealed);
    let keys = [
        "thinking",
        "reasoning",
        "text",
        "data",
        "summary",
        "content",
    ];
    let text = string_at(source, object, &keys)
        .or_else(|| string_at(source, nested.as_ref()?, &["text"]))
        .or_else(|| Some(TextAt::Json(Span::of(source, object.value("summary")?))));
    (bound, text.unwrap_or(TextAt::Nowhere))
}

fn media(kind: &str) -> Option<MediaKind> {
    Some(match kind {
        "image" | "image_url" | "input_image" => MediaKind::Image,
        "audio" | "input_audio" => MediaKind::Audio,
        "video" | "video_url" | "input_video" => MediaKind::Video,
        "document" | "file" | "input_file" | "container_upload" | "search_result" => {
            MediaKind::File
        }
        _ => return None,
    })
}

/// The data or reference of a media block: what is equal when the media are.
fn data(source: &str, object: &Object<'_>) -> Option<TextAt> {
    const KEYS: [&str; 9] = [
        "data",
        "base64",
        "url",
        "file_data",
        "image_url",
        "file_id",
        "fileId",
        "content",
        "filename",
    ];
    const NESTED: [&str; 8] = [
        "source",
        "image_url",
        "input_audio",
        "audio",
        "video_url",
        "file",
        "image",
        "video",
    ];
    NESTED
        .iter()
        .filter_map(|key| object.object(key))
        .find_map(|inner| string_at(source, &inner, &KEYS))
        .or_else(|| string_at(source, object, &KEYS))
        .or_else(|| string_at(source, object, &["source", "video_url", "text"]))
}

/// The first of these members that is a string.
fn string_at(source: &str, object: &Object<'_>, keys: &[&str]) -> Option<TextAt> {
    keys.iter()
        .filter_map(|key| object.value(key))
        .find(|value| Kind::of(value) == Kind::String)
        .map(|value| TextAt::String(Span::of(source, value)))
}

/// A value as text: a string's own, anything else as JSON.
pub(crate) fn text_or_json(source: &str, value: Option<&str>) -> TextAt {
    match value {
        None => TextAt::Nowhere,
        Some(value) if Kind::of(value) == Kind::String => TextAt::String(Span::of(source, value)),
        Some(value) => TextAt::Json(Span::of(source, value)),
    }
}

fn opaque(label: &str) -> PartKind {
    PartKind::Opaque {
        label: label.into(),
    }
}

/// Blocks that are written without a type by some gateways.
fn untyped(object: &Object<'_>) -> Cow<'static, str> {
    Cow::Borrowed(if object.string("text").is_some() {
        "text"
    } else {
        "untyped"
    })
}
