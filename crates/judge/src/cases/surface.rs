//! The messages of one thread as a file in their own format, and what the engine makes of it as bytes.

use anyhow::Context as _;
use conspectus::wire::{Conversation, Document, Format, OpenOptions, RenderContext};
use conspectus_core::frame;
use conspectus_core::id::Handle;
use conspectus_core::project::STAND_IN;
use conspectus_core::projection::{Piece, Projection};
use conspectus_core::view::MessageView;

use super::json::Json;
use super::trace::{Entry, Frame, Request};

/// Written beside every message, as a field that the engine does not know: what is rendered says where it is from.
const LABEL: &str = "_id";

/// What is no part of a wire message.
const SIDE_FIELDS: [&str; 3] = [LABEL, "_partial", "usage"];

/// A file that grows.
pub(super) struct Surface {
    format: Format,
    around: Vec<(String, Json)>,
    messages: Vec<Json>,
    labels: Vec<String>,
    document: Document,
}

impl Surface {
    /// A file without messages.
    ///
    /// # Errors
    /// When the engine cannot read it.
    pub(super) fn new(format: Format, around: Vec<(String, Json)>) -> anyhow::Result<Self> {
        let document = open(format, &around, &[])?;
        Ok(Self {
            format,
            around,
            messages: Vec::new(),
            labels: Vec::new(),
            document,
        })
    }

    /// Adds messages and gives their views.
    ///
    /// # Errors
    /// When the engine cannot read them.
    pub(super) fn append(&mut self, messages: &[Json]) -> anyhow::Result<Vec<MessageView>> {
        let known = self.messages.len();
        for message in messages {
            let label = self.label(message);
            let mut members = message.clone().without(&[LABEL]).members().to_vec();
            // Threads of LangChain know messages by id: a host gives one to a message without.
            if self.format == Format::LangChain && message.text_at("id").is_none() {
                members.retain(|(key, _)| key != "id");
                members.push(("id".to_owned(), Json::Text(label.clone())));
            }
            members.push((LABEL.to_owned(), Json::Text(label.clone())));
            self.messages.push(Json::Object(members));
            self.labels.push(label);
        }
        self.document = open(self.format, &self.around, &self.messages)?;
        let views = self.conversation().views();
        anyhow::ensure!(
            views.len() == self.messages.len(),
            "{} messages were read as {}",
            self.messages.len(),
            views.len()
        );
        Ok(views[known..].to_vec())
    }

    /// The label of a message; one without gets a name by its place.
    fn label(&self, message: &Json) -> String {
        let key = match self.format {
            Format::LangChain => "id",
            _ => LABEL,
        };
        let own = message.text_at(key).filter(|label| !label.is_empty());
        own.map_or_else(|| format!("message-{}", self.labels.len()), str::to_owned)
    }

    /// The conversation as the engine reads it.
    pub(super) fn conversation(&self) -> &Conversation {
        &self.document.conversations()[0]
    }

    /// The label of a message.
    pub(super) fn label_of(&self, handle: Handle) -> &str {
        self.labels
            .get(handle.0 as usize)
            .map_or("", String::as_str)
    }

    /// A message as the case gave it.
    pub(super) fn given(&self, handle: Handle) -> &Json {
        &self.messages[handle.0 as usize]
    }

    /// All messages, for the store.
    pub(super) fn messages(&self) -> &[Json] {
        &self.messages
    }

    /// The message as it stands in the file.
    ///
    /// # Errors
    /// When it is no JSON.
    pub(super) fn entry(&self, handle: Handle) -> anyhow::Result<Entry> {
        let message = Json::parse(self.conversation().json_of(handle))?;
        Ok(Entry {
            from: vec![self.label_of(handle).to_owned()],
            message: message.without(&SIDE_FIELDS),
        })
    }

    /// The bytes that the engine writes for a projection, read again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn request(
        &self,
        projection: &Projection,
        cache_summary: bool,
    ) -> anyhow::Result<Request> {
        let context = RenderContext {
            cache_summary,
            ..RenderContext::default()
        };
        let bytes = self.document.render(&[(0, projection)], &context)?;
        let file = Json::parse(std::str::from_utf8(&bytes)?)?;
        let handles: Vec<&Handle> = projection
            .pieces()
            .filter_map(|piece| match piece {
                Piece::Keep(handle) | Piece::Edit(handle, _) => Some(handle),
                Piece::Insert(_) => None,
            })
            .collect();
        let messages = file.items_at("messages").iter();
        Ok(Request {
            system: file.get("system").cloned(),
            messages: messages.map(|m| self.rendered(m, &handles)).collect(),
            tools: file.get("tools").cloned(),
            frame: Frame {
                open: frame::OPEN,
                close: frame::CLOSE,
            },
        })
    }

    /// A rendered message with its sources: the label that it carries, and what of it is ours.
    fn rendered(&self, message: &Json, shown: &[&Handle]) -> Entry {
        let label = message.text_at(LABEL);
        let original = label.and_then(|label| {
            let mut handles = shown.iter().filter(|h| self.label_of(***h) == label);
            handles.next().map(|handle| self.given(**handle))
        });
        let given = original.map(Json::leaves).unwrap_or_default();
        let ours = |is_it: &dyn Fn(&str) -> bool| {
            let count = |texts: &[&str]| texts.iter().filter(|t| is_it(t)).count();
            count(&message.leaves()) > count(&given)
        };
        let mut from: Vec<String> = label.into_iter().map(str::to_owned).collect();
        let shows =
            |text: &str| text.contains(frame::OPEN) && text.trim_end().ends_with(frame::CLOSE);
        if ours(&shows) {
            from.push("$summary".to_owned());
        }
        if ours(&|text| text == STAND_IN) {
            from.push("$stub".to_owned());
        }
        if from.is_empty() {
            from.push("$other".to_owned());
        }
        Entry {
            from,
            message: message.clone().without(&SIDE_FIELDS),
        }
    }
}

fn open(format: Format, around: &[(String, Json)], messages: &[Json]) -> anyhow::Result<Document> {
    let mut members = around.to_vec();
    members.push(("messages".to_owned(), Json::List(messages.to_vec())));
    let options = OpenOptions {
        format: Some(format),
        lenient: true,
    };
    let document = Document::open(Json::Object(members).to_string().into_bytes(), &options)?;
    let _: &Conversation = document
        .conversations()
        .first()
        .context("a file with a list of messages holds a conversation")?;
    Ok(document)
}
