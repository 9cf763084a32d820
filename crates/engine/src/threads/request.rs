//! What the model would be sent now.

use std::sync::Arc;

use conspectus_core::policy::Placement;
use conspectus_core::projection::{BlockKind, Piece};
use conspectus_core::thread::{Due, Size};
use serde::Serialize;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::compact::CompactThread;
use super::error::ThreadsError;
use super::json::Json;
use super::open::{Much, Opened};
use super::parts::RequestInParts;
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::ThreadKey;

/// The messages of the next request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// As LangChain's JSON, in order: system prompt, summary and what code keeps beside it, the window.
    pub messages: Vec<Json>,
    /// Places of those that are no messages of the thread: what a compaction shows for what it folded.
    #[serde(skip)]
    pub blocks: Vec<usize>,
    /// Its size by the thread's counter.
    pub size: Size,
    /// The state that it is of.
    pub checkpoint_id: CheckpointId,
}

impl<C: Clock> Threads<C> {
    /// What the model would be sent now. Costs what is in the window.
    ///
    /// # Errors
    /// When there is no such thread.
    pub async fn request(&self, key: &ThreadKey) -> Result<Request, ThreadsError> {
        let opened = self.open(key, Much::Window, &Asked::default()).await?;
        let request = Request::of(&opened);
        self.leave_open(key, opened);
        Ok(request)
    }

    /// The same, taken apart: what each part is, what it weighs, and how much of the beginning the provider may hold.
    /// `preview`: as it would be with that one in force, which reads the whole thread.
    ///
    /// # Errors
    /// When there is no such thread or preview, or the history below that is not what it was made of.
    pub async fn request_in_parts(
        &self,
        key: &ThreadKey,
        preview: Option<&str>,
    ) -> Result<RequestInParts, ThreadsError> {
        let opened = match preview {
            None => self.open(key, Much::Window, &Asked::default()).await?,
            Some(name) => self.opened_with(key, name).await?,
        };
        let parts = RequestInParts::of(&opened, self.now());
        if preview.is_none() {
            self.leave_open(key, opened);
        }
        Ok(parts)
    }

    /// What the model would be sent now, and whether something must be compacted before. For whoever
    /// [holds](Self::hold) the thread: what `ask` says of the host's own part of the request is remembered. Costs what is
    /// in the window.
    ///
    /// # Errors
    /// When there is no such thread, or its policy cannot work.
    pub async fn before_call(
        &self,
        key: &ThreadKey,
        ask: &CompactThread,
    ) -> Result<BeforeCall, ThreadsError> {
        let mut opened = self.open(key, Much::Window, &ask.asked()).await?;
        self.recall_limits(key, &mut opened).await?;
        let before = opened.thread.state();
        opened.take_fixed(ask);
        let routes = self.routes(&opened);
        let due = opened.thread.due(self.now(), &routes, opened.sources());
        let stored = self.remember(key, &opened, &before).await?;
        let ready = BeforeCall {
            due,
            request: Request::of(&opened),
            summary: opened.thread.active().and_then(|record| {
                let summary = record.summary.as_ref()?;
                Some((summary.text.clone(), record.durable.clone()))
            }),
            placement: opened.run.policy.placement,
        };
        if let Some(revision) = stored {
            opened.head.revision = revision;
            self.leave_open(key, opened);
        }
        Ok(ready)
    }
}

/// A check before a call.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeCall {
    /// Whether something must be compacted.
    pub due: Due,
    /// The request as it is.
    pub request: Request,
    /// The summary in force, and what code keeps beside it.
    pub summary: Option<(Arc<str>, Arc<str>)>,
    /// How it is shown.
    pub placement: Placement,
}

impl Request {
    pub(super) fn of(opened: &Opened) -> Self {
        let projection = opened.thread.projection();
        let (mut messages, mut blocks) = (Vec::new(), Vec::new());
        for piece in projection.pieces() {
            let Some(message) = opened.shelf.shown(piece) else {
                continue;
            };
            if let Piece::Insert(block) = piece
                && matches!(block.kind, BlockKind::Summary | BlockKind::Rules)
            {
                blocks.push(messages.len());
            }
            messages.push(message);
        }
        Self {
            messages,
            blocks,
            size: opened.thread.size(opened.sources()),
            checkpoint_id: opened.checkpoint(),
        }
    }
}
