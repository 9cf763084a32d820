//! One message as Python made it: LangChain's JSON, read once and shared by every machine that it goes through.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use conspectus::core::count::{LangChain, Weight};
use conspectus::core::id::Handle;
use conspectus::core::patch::Patch;
use conspectus::core::projection::{Piece, Projection};
use conspectus::core::view::{MessageView, PartRef, Texts, Usage};
use conspectus::wire;
use conspectus::{Format, OpenOptions, RenderContext, TokenCounter};
use pyo3::prelude::*;

use crate::fail::Class;

/// What is known of it.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) json: String,
    document: wire::Document,
    pub(crate) view: Arc<MessageView>,
    /// Its tokens by LangChain's formula at 4 and at 3.3 characters a token, once they were asked for.
    weights: [OnceLock<Weight>; 2],
}

/// A message: LangChain's JSON, and what the core sees of it.
#[pyclass(frozen, module = "conspectus._native")]
#[derive(Clone)]
pub(crate) struct Message(pub(crate) Arc<Inner>);

impl Inner {
    /// The view as a member of a longer list.
    pub(crate) fn view_at(&self, at: usize) -> MessageView {
        let handle = Handle(u32::try_from(at).unwrap_or(u32::MAX));
        MessageView {
            handle,
            ..self.view.as_ref().clone()
        }
    }

    pub(crate) fn weight(&self, is_anthropic: bool) -> Weight {
        let counter = match is_anthropic {
            true => LangChain::ANTHROPIC,
            false => LangChain::DEFAULT,
        };
        let count = || {
            self.conversation()
                .map_or(0, |texts| counter.message(&self.view, texts))
        };
        *self.weights[usize::from(is_anthropic)].get_or_init(count)
    }

    fn conversation(&self) -> Option<&wire::Conversation> {
        self.document.conversations().first()
    }

    /// The message as JSON after its patches; `None`: nothing of it is left.
    pub(crate) fn patched(&self, patches: Arc<[Patch]>) -> Option<String> {
        let script = Projection {
            frozen: Arc::from([Piece::Edit(Handle(0), patches)]),
            tail: Arc::default(),
        };
        let edits = [(0, &script)];
        let bytes = self.document.render(&edits, &RenderContext::default());
        let text = String::from_utf8(bytes.ok()?).ok()?;
        let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
        (!inner.is_empty()).then(|| inner.to_owned())
    }
}

#[pymethods]
impl Message {
    /// `json`: one message. `total_tokens` and `provider`: what the reply reported, which its JSON may not say in full.
    /// `counts`: its tokens at 4 and at 3.3 characters a token, where JSON cannot tell what Python would print.
    #[new]
    #[pyo3(signature = (json, *, total_tokens=None, provider=None, counts=None))]
    fn new(
        json: String,
        total_tokens: Option<u64>,
        provider: Option<String>,
        counts: Option<(u64, u64)>,
    ) -> PyResult<Self> {
        let options = OpenOptions {
            format: Some(Format::LangChain),
            lenient: true,
        };
        let list = ["[", &json, "]"].concat();
        let document = wire::Document::open(list.into_bytes(), &options)
            .map_err(|error| Class::Read.error(error))?;
        let found = document.conversations().first();
        let mut view = found
            .and_then(|conversation| conversation.views().first())
            .cloned()
            .ok_or_else(|| Class::Read.error("no message in it"))?;
        if total_tokens.is_some() || provider.is_some() {
            view.usage = Some(Usage {
                reported_total: total_tokens,
                provider: provider.map(Arc::from),
                ..view.usage.unwrap_or_default()
            });
        }
        let weights = match counts {
            Some((four, three)) => [four.into(), three.into()],
            None => [OnceLock::new(), OnceLock::new()],
        };
        Ok(Self(Arc::new(Inner {
            view: Arc::new(view),
            weights,
            json,
            document,
        })))
    }

    /// The JSON that it was made of.
    #[getter]
    fn json(&self) -> &str {
        &self.0.json
    }

    /// Bytes of that JSON.
    #[getter]
    fn size(&self) -> usize {
        self.0.json.len()
    }

    /// Its tokens by LangChain's `count_tokens_approximately`.
    #[pyo3(signature = (anthropic=false))]
    fn tokens(&self, anthropic: bool) -> u64 {
        self.0.weight(anthropic)
    }

    fn __repr__(&self) -> String {
        format!("Message({} bytes)", self.0.json.len())
    }
}

/// Messages by handle.
#[derive(Debug, Default)]
pub(crate) struct Shelf(pub(crate) Vec<Arc<Inner>>);

impl Shelf {
    fn at(&self, at: PartRef) -> Option<(&wire::Conversation, PartRef)> {
        let inner = self.0.get(at.message.0 as usize)?;
        let message = Handle(0);
        Some((inner.conversation()?, PartRef { message, ..at }))
    }
}

impl Texts for Shelf {
    fn text(&self, at: PartRef) -> Cow<'_, str> {
        let found = self.at(at);
        found.map(|(texts, at)| texts.text(at)).unwrap_or_default()
    }

    fn head(&self, at: PartRef, max_bytes: usize) -> Cow<'_, str> {
        let found = self.at(at);
        found
            .map(|(texts, at)| texts.head(at, max_bytes))
            .unwrap_or_default()
    }

    fn json(&self, at: PartRef) -> Option<Cow<'_, str>> {
        let (texts, at) = self.at(at)?;
        Texts::json(texts, at)
    }
}
