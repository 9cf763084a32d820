//! What the model would be sent now.

use conspectus_core::thread::Size;
use serde::Serialize;

use super::Threads;
use super::checkpoint::CheckpointId;
use super::error::ThreadsError;
use super::json::Json;
use super::open::Much;
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::ThreadKey;

/// The messages of the next request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// As LangChain's JSON, in order: system prompt, summary and what code keeps beside it, the window.
    pub messages: Vec<Json>,
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
        let projection = opened.thread.projection();
        let shown = projection
            .pieces()
            .filter_map(|piece| opened.shelf.shown(piece));
        Ok(Request {
            messages: shown.collect(),
            size: opened.thread.size(opened.sources()),
            checkpoint_id: opened.checkpoint(),
        })
    }
}
