//! LangChain's `count_tokens_approximately` (langchain-core 1.8), exactly.
//!
//! A message's characters are those of its content (code points), of its tool calls as Python would print
//! them, of a tool message's call id, of the role's name and of the author's name; they are divided by the
//! characters a token, rounded up, and 3 are added, and 85 an image. The committed fixture
//! `tests/fixtures/langchain_counts.json` was written by the real package
//! (`scripts/peers/langchain_counts.py`).
//!
//! How a view says what LangChain sees:
//! * [`ContentForm::Text`] and [`ContentForm::Absent`]: content is a string. The tool calls of an assistant
//!   count; a call whose arguments are no JSON object is an "invalid tool call" there and does not.
//! * [`ContentForm::Blocks`]: content is a list. Blocks other than text and images count as their printed
//!   [`Texts::json`]; a part without one stands beside the content and does not count. A call's JSON may be
//!   its block, or only its arguments: then the block is taken to be Anthropic's
//!   `{"type":"tool_use","id":…,"name":…,"input":…}`.
//! * A part whose text is not as long as [`Part::len`] says was patched, so an image that became a marker
//!   counts as text and a removed one as nothing.
//!
//! Not representable in a view, so not counted like LangChain: `developer` (9 characters, here 6).

use std::borrow::Cow;

use super::pyspell::{Spelling, repr_str_len, spelled_len, spelled_len_with_content};
use super::{CounterId, TokenCounter, Weight};
use crate::view::{ContentForm, MediaKind, MessageView, Part, PartKind, PartRef, Role, Texts};

/// Added to every message (`extra_tokens_per_message`).
const EXTRA_TOKENS: u64 = 3;
/// For every image (`tokens_per_image`).
const IMAGE_TOKENS: u64 = 85;

/// The formula at a number of characters a token. Weights are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LangChain {
    tenths: u16,
}

impl LangChain {
    /// 4 characters a token: every provider but Anthropic.
    pub const DEFAULT: Self = Self::new(40);
    /// 3.3 characters a token: Anthropic's models.
    pub const ANTHROPIC: Self = Self::new(33);

    /// The formula at `tenths` of a character a token; 0 is taken as 1.
    pub const fn new(tenths: u16) -> Self {
        Self {
            tenths: if tenths == 0 { 1 } else { tenths },
        }
    }

    /// `ceil(chars / chars_per_token)` in the same floating-point steps as Python.
    fn divided(self, chars: usize) -> u64 {
        (chars as f64 / (f64::from(self.tenths) / 10.0)).ceil() as u64
    }

    /// The tokens of tool definitions (each a JSON text, as it is sent): printed by `json.dumps`, added up,
    /// divided once. A definition that is no JSON counts its characters.
    pub fn tools<'a>(self, definitions: impl IntoIterator<Item = &'a str>) -> u64 {
        let chars = definitions
            .into_iter()
            .map(|json| spelled_len(json, Spelling::Dumps).unwrap_or_else(|| json.chars().count()))
            .sum();
        self.divided(chars)
    }

    /// What a message of so many characters (those of role, name and ids included) and images weighs.
    pub fn measured(self, chars: usize, images: u64) -> Weight {
        self.divided(chars) + EXTRA_TOKENS + images * IMAGE_TOKENS
    }

    /// `len(repr(text))` in Python, as tool calls are counted.
    pub fn printed_len(text: &str) -> usize {
        repr_str_len(text)
    }

    /// Characters and images of one message.
    fn measure(self, message: &MessageView, texts: &dyn Texts) -> (usize, u64) {
        let measure = Measure { message, texts };
        let (content, images) = match message.form {
            ContentForm::Blocks => measure.blocks(),
            ContentForm::Text | ContentForm::Absent => (measure.string(), 0),
        };
        let name = message.name.as_deref().or_else(|| tool_name(message));
        let name = name.map_or(0, char_count);
        (content + role_chars(message.role) + name, images)
    }
}

impl TokenCounter for LangChain {
    fn id(&self) -> CounterId {
        CounterId::langchain(self.tenths)
    }

    fn message(&self, message: &MessageView, texts: &dyn Texts) -> Weight {
        let (chars, images) = self.measure(message, texts);
        self.measured(chars, images)
    }

    fn text(&self, text: &str) -> Weight {
        self.divided(char_count(text))
    }

    fn added_message(&self, text: &str) -> Weight {
        self.divided(char_count(text) + role_chars(Role::User)) + EXTRA_TOKENS
    }

    fn tokens(&self, weight: Weight) -> u64 {
        weight
    }
}

/// One message and its texts.
struct Measure<'a> {
    message: &'a MessageView,
    texts: &'a dyn Texts,
}

impl Measure<'_> {
    fn at(&self, part: usize) -> PartRef {
        PartRef {
            message: self.message.handle,
            part: u16::try_from(part).unwrap_or(u16::MAX),
        }
    }

    fn text_chars(&self, part: usize) -> usize {
        char_count(&self.texts.text(self.at(part)))
    }

    /// Parts that stand by themselves.
    fn outer(&self) -> impl Iterator<Item = (usize, &Part)> {
        let parts = self.message.parts.iter().enumerate();
        parts.filter(|(_, part)| part.inside.is_none())
    }

    /// Parts of the result at `result`.
    fn within(&self, result: usize) -> impl Iterator<Item = (usize, &Part)> {
        let parts = self.message.parts.iter().enumerate();
        parts.filter(move |(_, part)| part.inside.map(usize::from) == Some(result))
    }

    /// String content: text, the answer of a tool message with its call id, and the list of tool calls.
    fn string(&self) -> usize {
        let mut chars = 0;
        let mut calls = 0;
        let mut calls_len = 0;
        for (index, part) in self.outer() {
            match &part.kind {
                PartKind::Text => chars += self.text_chars(index),
                PartKind::Result { id, .. } => {
                    chars += self.text_chars(index) + char_count(id.as_str());
                }
                PartKind::Call { id, tool } if self.message.role == Role::Assistant => {
                    if let Some(args) = self.arguments(index) {
                        calls += 1;
                        calls_len += call_len(tool, args, id.as_str());
                    }
                }
                _ => {}
            }
        }
        if calls > 0 {
            chars += "[]".len() + calls_len + (calls - 1) * ", ".len();
        }
        chars
    }

    /// The printed length of a call's arguments; `None` if LangChain would not take them for a tool call.
    fn arguments(&self, part: usize) -> Option<usize> {
        let at = self.at(part);
        let json = self.texts.json(at).unwrap_or_else(|| self.texts.text(at));
        match json.trim() {
            "" | "null" | "false" | "0" | "[]" => Some("{}".len()),
            object if object.starts_with('{') => spelled_len(object, Spelling::Repr),
            _ => None,
        }
    }

    /// List content: characters and images.
    fn blocks(&self) -> (usize, u64) {
        let mut sum = (0, 0);
        let mut add = |(chars, images)| {
            sum.0 += chars;
            sum.1 += images;
        };
        for (index, part) in self.outer() {
            match &part.kind {
                // A tool message is its answer: the blocks are those of the answer.
                PartKind::Result { id, .. } if self.message.role == Role::Tool => {
                    add((self.text_chars(index) + char_count(id.as_str()), 0));
                    self.within(index)
                        .for_each(|(inner, part)| add(self.block(inner, part)));
                }
                _ => add(self.block(index, part)),
            }
        }
        sum
    }

    /// One block of a list.
    fn block(&self, index: usize, part: &Part) -> (usize, u64) {
        let json = || self.texts.json(self.at(index));
        match &part.kind {
            PartKind::Text => (self.text_chars(index), 0),
            PartKind::Media(kind) => match self.changed_text(index, part) {
                Some(marker) => (char_count(&marker), 0),
                None => match json() {
                    Some(block) if !is_image_block(&block) => (printed(&block), 0),
                    Some(_) => (0, 1),
                    None => (0, u64::from(*kind == MediaKind::Image)),
                },
            },
            PartKind::Call { id, tool } => match json() {
                Some(block) if is_block_of(&block, id.as_str()) => (printed(&block), 0),
                Some(args) => (tool_use_len(tool, printed(&args), id.as_str()), 0),
                None => (0, 0),
            },
            PartKind::Result { .. } => (self.result_block(index), 0),
            PartKind::Reasoning { .. } | PartKind::Opaque { .. } => {
                (json().map_or(0, |block| printed(&block)), 0)
            }
        }
    }

    /// A result that is a block of a user message (Anthropic): the block as printed, with the blocks
    /// inside as they are now.
    fn result_block(&self, index: usize) -> usize {
        let Some(block) = self.texts.json(self.at(index)) else {
            return self.text_chars(index);
        };
        let inner: Option<Vec<_>> = self
            .within(index)
            .map(|(inner, _)| self.texts.json(self.at(inner)))
            .collect();
        match inner {
            Some(blocks) if !blocks.is_empty() => {
                let lens = blocks.iter().filter(|b| *b != "null").map(|b| printed(b));
                let (count, sum) = lens.fold((0, 0), |(count, sum), len| (count + 1, sum + len));
                let list = "[]".len() + sum + ", ".len() * usize::saturating_sub(count, 1);
                spelled_len_with_content(&block, list).unwrap_or_else(|| char_count(&block))
            }
            _ => printed(&block),
        }
    }

    /// The text of a part that a patch changed.
    fn changed_text(&self, index: usize, part: &Part) -> Option<Cow<'_, str>> {
        let text = self.texts.text(self.at(index));
        (u32::try_from(text.len()).unwrap_or(u32::MAX) != part.len).then_some(text)
    }
}

/// `len(repr({'name': …, 'args': …, 'id': …, 'type': 'tool_call'}))`.
fn call_len(tool: &str, args: usize, id: &str) -> usize {
    "{'name': , 'args': , 'id': , 'type': 'tool_call'}".len()
        + repr_str_len(tool)
        + args
        + id_len(id)
}

/// `len(repr({'id': …, 'input': …, 'name': …, 'type': 'tool_use'}))`, in whatever order.
fn tool_use_len(tool: &str, input: usize, id: &str) -> usize {
    "{'id': , 'input': , 'name': , 'type': 'tool_use'}".len()
        + repr_str_len(tool)
        + input
        + id_len(id)
}

/// An id, or `None` where the provider gave none.
fn id_len(id: &str) -> usize {
    if id.is_empty() {
        "None".len()
    } else {
        repr_str_len(id)
    }
}

/// The printed length of a block; a removed one (`null`) has none. What is no JSON counts its characters.
fn printed(block: &str) -> usize {
    if block == "null" {
        return 0;
    }
    spelled_len(block, Spelling::Repr).unwrap_or_else(|| char_count(block))
}

/// The fields of a block that tell what it is.
#[derive(serde::Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
}

/// Only these two types cost a fixed amount; any other block is printed.
fn is_image_block(block: &str) -> bool {
    serde_json::from_str::<Head<'_>>(block)
        .is_ok_and(|head| matches!(head.kind.as_deref(), Some("image" | "image_url")))
}

/// Whether `json` is a content block for the call `id`, not only its arguments.
fn is_block_of(json: &str, id: &str) -> bool {
    serde_json::from_str::<Head<'_>>(json).is_ok_and(|head| {
        let names = |field: &Option<Cow<'_, str>>| field.as_deref().unwrap_or_default() == id;
        match head.kind.as_deref() {
            Some(kind) if kind.contains("call") || kind.contains("use") => {
                names(&head.id) || names(&head.call_id)
            }
            _ => false,
        }
    })
}

/// The name of a tool message is its tool's, where the format repeats it.
fn tool_name(message: &MessageView) -> Option<&str> {
    match message.parts.first().map(|part| &part.kind) {
        Some(PartKind::Result { tool, .. }) if message.role == Role::Tool => tool.as_deref(),
        _ => None,
    }
}

/// The length of the role's name as OpenAI writes it.
fn role_chars(role: Role) -> usize {
    match role {
        Role::System => "system".len(),
        Role::User => "user".len(),
        Role::Assistant => "assistant".len(),
        Role::Tool => "tool".len(),
    }
}

fn char_count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests;
