//! A transcript as JSON bytes in one of the formats.

use super::lower::{Shape, in_content, lower, shape};
use super::write::{Writer, is_object};
use super::{Answer, Block, BlockKind, Format, Label, Message, Speaker, Spelling, Transcript};

/// One message as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedMessage {
    /// The abstract messages it holds: one, or for Anthropic the results of a batch.
    pub labels: Vec<Label>,
    /// Its JSON text.
    pub json: String,
}

/// A transcript as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The format.
    pub format: Format,
    /// Anthropic: the leading system messages as JSON text (a string or a list of blocks).
    pub system: Option<String>,
    /// The messages in order.
    pub messages: Vec<RenderedMessage>,
    /// How it is spelled.
    pub spelling: Spelling,
    /// The tools that are called, by name.
    pub tools: Vec<String>,
}

impl Rendered {
    /// The message list as one JSON array.
    pub fn list(&self) -> Vec<u8> {
        let items: Vec<_> = self.messages.iter().map(|m| m.json.clone()).collect();
        Writer(self.spelling).list(&items).into_bytes()
    }

    /// A whole request. For LangChain, which has none, an object with the one field `messages`.
    pub fn body(&self) -> Vec<u8> {
        let w = Writer(self.spelling);
        let list = String::from_utf8_lossy(&self.list()).into_owned();
        let mut fields = Vec::new();
        if self.format != Format::LangChain {
            fields.push(("model", w.string("demo-model-1")));
        }
        if self.format == Format::Anthropic {
            fields.push(("max_tokens", "1024".to_owned()));
        }
        if let Some(system) = &self.system {
            fields.push(("system", system.clone()));
        }
        fields.push(("messages", list));
        if self.format != Format::LangChain && !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.iter().map(|t| self.tool(w, t)).collect();
            fields.push(("tools", w.array(&tools)));
        }
        w.object(&fields).into_bytes()
    }

    fn tool(&self, w: Writer, name: &str) -> String {
        let (name, says) = (w.string(name), w.string(&format!("Runs {name}.")));
        let schema = w.object(&[("type", w.string("object"))]);
        if self.format == Format::Anthropic {
            return w.object(&[
                ("name", name),
                ("description", says),
                ("input_schema", schema),
            ]);
        }
        let function = w.object(&[
            ("name", name),
            ("description", says),
            ("parameters", schema),
        ]);
        w.object(&[("type", w.string("function")), ("function", function)])
    }

    /// The position of the message that holds `label`; `None` for Anthropic's system and what is not there.
    pub fn index_of(&self, label: &str) -> Option<usize> {
        self.messages
            .iter()
            .position(|m| m.labels.iter().any(|l| &**l == label))
    }
}

impl Transcript {
    /// The conversation as JSON in `format`.
    pub fn render(&self, format: Format) -> Rendered {
        let w = Writer(self.spelling);
        let (system, lowered) = lower(self, format);
        let messages = lowered
            .into_iter()
            .map(|m| RenderedMessage {
                json: match format {
                    Format::OpenAi => openai(w, &m.message),
                    Format::Anthropic => anthropic(w, &m.message),
                    Format::LangChain => langchain(w, &m.message),
                },
                labels: m.labels,
            })
            .collect();
        let mut tools: Vec<_> = self
            .messages
            .iter()
            .flat_map(|m| &m.blocks)
            .filter_map(|b| match &b.kind {
                BlockKind::Call { tool, .. } => Some(tool.clone()),
                _ => None,
            })
            .collect();
        tools.sort();
        tools.dedup();
        Rendered {
            format,
            system: outside_system(w, &system),
            messages,
            spelling: self.spelling,
            tools,
        }
    }
}

fn outside_system(w: Writer, system: &[&Message]) -> Option<String> {
    match system {
        [] => None,
        [one] if matches!(shape(one, Format::Anthropic), Shape::One(_)) => {
            Some(content(w, one, Format::Anthropic)?)
        }
        many => {
            let blocks = many.iter().flat_map(|m| &m.blocks);
            let items: Vec<_> = blocks.map(|b| block(w, b, Format::Anthropic)).collect();
            Some(w.array(&items))
        }
    }
}

type Fields<'a> = Vec<(&'a str, String)>;

fn openai(w: Writer, m: &Message) -> String {
    let role = match m.speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    };
    let mut fields: Fields<'_> = vec![("role", w.string(role))];
    if m.speaker == Speaker::Tool {
        tool_fields(w, m, Format::OpenAi, &mut fields);
    } else if let Some(content) = content(w, m, Format::OpenAi) {
        fields.push(("content", content));
    }
    if let Some(name) = &m.name {
        fields.push(("name", w.string(name)));
    }
    if let Some(thoughts) = plain_thoughts(m) {
        fields.push(("reasoning_content", w.string(&thoughts)));
    }
    let bound: Vec<_> = m
        .blocks
        .iter()
        .filter(|b| is_bound(b))
        .map(|b| block(w, b, Format::OpenAi))
        .collect();
    if !bound.is_empty() {
        fields.push(("thinking_blocks", w.array(&bound)));
    }
    let calls: Vec<_> = m
        .blocks
        .iter()
        .filter_map(|b| openai_call(w, &b.kind))
        .collect();
    if !calls.is_empty() {
        fields.push(("tool_calls", w.array(&calls)));
    }
    finish(w, m, fields)
}

fn openai_call(w: Writer, kind: &BlockKind) -> Option<String> {
    let BlockKind::Call { id, tool, args } = kind else {
        return None;
    };
    let function = w.object(&[("name", w.string(tool)), ("arguments", w.string(args))]);
    let mut fields = Fields::new();
    if let Some(id) = id {
        fields.push(("id", w.string(id)));
    }
    fields.push(("type", w.string("function")));
    fields.push(("function", function));
    Some(w.object(&fields))
}

fn anthropic(w: Writer, m: &Message) -> String {
    let role = match m.speaker {
        Speaker::System => "system",
        Speaker::User | Speaker::Tool => "user",
        Speaker::Assistant => "assistant",
    };
    let mut fields: Fields<'_> = vec![("role", w.string(role))];
    if let Some(content) = content(w, m, Format::Anthropic) {
        fields.push(("content", content));
    }
    finish(w, m, fields)
}

fn langchain(w: Writer, m: &Message) -> String {
    let kind = match m.speaker {
        Speaker::System => "system",
        Speaker::User => "human",
        Speaker::Assistant => "ai",
        Speaker::Tool => "tool",
    };
    let mut fields: Fields<'_> = vec![("type", w.string(kind))];
    if m.speaker == Speaker::Tool {
        tool_fields(w, m, Format::LangChain, &mut fields);
    } else if let Some(content) = content(w, m, Format::LangChain) {
        fields.push(("content", content));
    }
    let mut kwargs = Fields::new();
    if m.flags.hidden {
        kwargs.push(("hide_from_ui", "true".to_owned()));
    }
    if m.flags.reminder {
        kwargs.push(("dynamic_context_reminder", "true".to_owned()));
    }
    if m.flags.summary {
        kwargs.push(("lc_source", w.string("summarization")));
    }
    if let Some(thoughts) = plain_thoughts(m) {
        kwargs.push(("reasoning_content", w.string(&thoughts)));
    }
    fields.push(("additional_kwargs", w.object(&kwargs)));
    if m.has_id {
        fields.push(("id", w.string(&m.label)));
    }
    if let Some(name) = &m.name {
        fields.push(("name", w.string(name)));
    }
    if m.speaker == Speaker::Assistant {
        let calls: Vec<_> = m
            .blocks
            .iter()
            .filter_map(|b| langchain_call(w, &b.kind))
            .collect();
        fields.push(("tool_calls", w.array(&calls)));
    }
    if let Some(usage) = &m.usage {
        let mut figures = vec![
            ("input_tokens", usage.input.to_string()),
            ("output_tokens", usage.output.to_string()),
        ];
        if let Some(total) = usage.reported_total {
            figures.push(("total_tokens", total.to_string()));
        }
        let details = w.object(&[
            ("cache_read", usage.cache_read.to_string()),
            ("cache_creation", usage.cache_write.to_string()),
        ]);
        figures.push(("input_token_details", details));
        fields.push(("usage_metadata", w.object(&figures)));
    }
    finish(w, m, fields)
}

fn langchain_call(w: Writer, kind: &BlockKind) -> Option<String> {
    let BlockKind::Call { id, tool, args } = kind else {
        return None;
    };
    let mut fields = vec![
        ("name", w.string(tool)),
        ("args", arguments(w, args)),
        ("type", w.string("tool_call")),
    ];
    if let Some(id) = id {
        fields.insert(0, ("id", w.string(id)));
    }
    Some(w.object(&fields))
}

/// The fields of a tool message in formats that have such a role.
fn tool_fields(w: Writer, m: &Message, format: Format, fields: &mut Fields<'_>) {
    for block in &m.blocks {
        if let BlockKind::Result {
            id,
            tool,
            answer,
            error,
        } = &block.kind
        {
            fields.push(("content", answer_json(w, answer, format)));
            if let Some(id) = id {
                fields.push(("tool_call_id", w.string(id)));
            }
            if format == Format::LangChain {
                fields.push(("name", w.string(tool)));
                let status = if *error { "error" } else { "success" };
                fields.push(("status", w.string(status)));
            }
        }
    }
}

fn answer_json(w: Writer, answer: &Answer, format: Format) -> String {
    match answer {
        Answer::Text(text) => w.string(text),
        Answer::Blocks(blocks) => {
            let items: Vec<_> = blocks.iter().map(|b| block(w, b, format)).collect();
            w.array(&items)
        }
    }
}

/// Adds the unknown fields.
fn finish<'a>(w: Writer, m: &'a Message, mut fields: Fields<'a>) -> String {
    for (key, json) in &m.extras {
        fields.push((key, json.clone()));
    }
    w.object(&fields)
}

fn content(w: Writer, m: &Message, format: Format) -> Option<String> {
    match shape(m, format) {
        Shape::Missing => None,
        Shape::Null => Some("null".to_owned()),
        Shape::One(text) => Some(w.string(text)),
        Shape::List => {
            let blocks = m.blocks.iter().filter(|b| in_content(b, format));
            let items: Vec<_> = blocks.map(|b| block(w, b, format)).collect();
            Some(w.array(&items))
        }
    }
}

/// Arguments where the format wants an object; what is none stands as a string.
fn arguments(w: Writer, args: &str) -> String {
    if is_object(args) {
        args.to_owned()
    } else {
        w.string(args)
    }
}

fn is_bound(block: &Block) -> bool {
    match &block.kind {
        BlockKind::Thinking { signature, .. } => signature.is_some(),
        BlockKind::Redacted(_) => true,
        _ => false,
    }
}

/// The thoughts without a signature, as one text.
pub(super) fn plain_thoughts(m: &Message) -> Option<String> {
    let thoughts: Vec<_> = m
        .blocks
        .iter()
        .filter_map(|b| match &b.kind {
            BlockKind::Thinking {
                text,
                signature: None,
            } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    (!thoughts.is_empty()).then(|| thoughts.join("\n"))
}

/// The address of a picture in formats that have one.
pub(super) fn picture_url(data: &str) -> String {
    format!("data:image/png;base64,{data}")
}

/// One content block.
pub(super) fn block(w: Writer, block: &Block, format: Format) -> String {
    let mut fields: Fields<'_> = match &block.kind {
        BlockKind::Text(text) => vec![("type", w.string("text")), ("text", w.string(text))],
        BlockKind::Thinking { text, signature } => {
            let mut fields = vec![("type", w.string("thinking")), ("thinking", w.string(text))];
            if let Some(signature) = signature {
                fields.push(("signature", w.string(signature)));
            }
            fields
        }
        BlockKind::Redacted(data) => vec![
            ("type", w.string("redacted_thinking")),
            ("data", w.string(data)),
        ],
        BlockKind::Call { id, tool, args } => {
            let mut fields = vec![("type", w.string("tool_use"))];
            if let Some(id) = id {
                fields.push(("id", w.string(id)));
            }
            fields.push(("name", w.string(tool)));
            fields.push(("input", arguments(w, args)));
            fields
        }
        BlockKind::Result {
            id, answer, error, ..
        } => {
            let mut fields = vec![("type", w.string("tool_result"))];
            if let Some(id) = id {
                fields.push(("tool_use_id", w.string(id)));
            }
            fields.push(("content", answer_json(w, answer, format)));
            if *error {
                fields.push(("is_error", "true".to_owned()));
            }
            fields
        }
        BlockKind::Image(data) if format == Format::Anthropic => {
            let source = w.object(&[
                ("type", w.string("base64")),
                ("media_type", w.string("image/png")),
                ("data", w.string(data)),
            ]);
            vec![("type", w.string("image")), ("source", source)]
        }
        BlockKind::Image(data) => {
            let url = w.object(&[("url", w.string(&picture_url(data)))]);
            vec![("type", w.string("image_url")), ("image_url", url)]
        }
        BlockKind::Opaque { label, json } => {
            vec![("type", w.string(label)), ("data", json.clone())]
        }
    };
    if block.marker && format == Format::OpenAi {
        let mode = w.object(&[("mode", w.string("explicit"))]);
        fields.push(("prompt_cache_breakpoint", mode));
    } else if block.marker {
        let kind = w.object(&[("type", w.string("ephemeral"))]);
        fields.push(("cache_control", kind));
    }
    w.object(&fields)
}
