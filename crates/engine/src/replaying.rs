//! A conversation of a file that is replayed to the model it runs on.

use conspectus_core::effect::{Event, Failure, Hook, Route};
use conspectus_core::projection::Piece;
use conspectus_core::ranges::NodeRanges;
use conspectus_wire::replay::{Ask, NoReplay};
use conspectus_wire::{Document, Format};

use crate::compactor::{Alone, Surroundings};
use crate::model::{Boxed, Prompt};

/// [`Surroundings`] of one conversation of a [`Document`]: its request is repeated byte for byte to models that take
/// its format ([`ChatModel::takes`](crate::ChatModel::takes)), with the instruction behind it. Files that hold no
/// request, such as session logs, are told as transcripts.
///
/// ```
/// # use conspectus::{Document, OpenOptions, Replaying};
/// let request = br#"{"model":"m","messages":[{"role":"user","content":"Make tea."}]}"#;
/// let document = Document::open(request.to_vec(), &OpenOptions::default())?;
/// let around = Replaying::new(&document, 0);
/// assert_eq!(around.possible(), Ok(()));
/// // compactor.compact(&document.conversations()[0], &request, &around, &control).await
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Replaying<'a> {
    document: &'a Document,
    conversation: usize,
    around: &'a dyn Surroundings,
}

impl<'a> Replaying<'a> {
    /// The conversation with this index.
    pub fn new(document: &'a Document, conversation: usize) -> Self {
        Self {
            document,
            conversation,
            around: &Alone,
        }
    }

    /// With hooks, an archive and a listener.
    #[must_use]
    pub fn within(mut self, around: &'a dyn Surroundings) -> Self {
        self.around = around;
        self
    }

    /// Whether the conversation can be replayed to a model that takes its format.
    ///
    /// # Errors
    /// Why not, for people.
    pub fn possible(&self) -> Result<(), NoReplay> {
        self.document.can_replay(self.conversation)
    }
}

impl Surroundings for Replaying<'_> {
    fn hook<'b>(&'b self, hook: Hook, removed: &'b NodeRanges) -> Boxed<'b, ()> {
        self.around.hook(hook, removed)
    }

    fn archive<'b>(&'b self, removed: &'b NodeRanges) -> Boxed<'b, Result<(), Failure>> {
        self.around.archive(removed)
    }

    fn can_replay(&self, _: &Route, takes: Option<Format>) -> bool {
        takes == Some(self.document.format()) && self.possible().is_ok()
    }

    fn replay(
        &self,
        route: &Route,
        conversation: &[Piece],
        instruction: &str,
    ) -> Result<Prompt, Failure> {
        let ask = Ask::new(instruction, route.max_output);
        let body = self.document.replay(self.conversation, conversation, &ask);
        let body = body.map_err(|why| Failure::Unusable {
            message: format!("the conversation cannot be replayed: {why}").into(),
        })?;
        Ok(Prompt::Body(body.into()))
    }

    fn emit(&self, event: &Event) {
        self.around.emit(event);
    }
}
