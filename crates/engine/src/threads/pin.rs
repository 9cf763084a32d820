//! Messages that are kept for good.

use std::sync::Arc;

use super::Threads;
use super::error::ThreadsError;
use super::events::ThreadEvent;
use super::open::Much;
use super::settings::Asked;
use crate::clock::Clock;
use crate::store::{ThreadKey, Write, Written};

impl<C: Clock> Threads<C> {
    /// No compaction folds this message from now on. One that is under way and would fold it ends in a conflict. A
    /// message that is folded already stays so until that compaction is taken back.
    ///
    /// # Errors
    /// When there is no such thread or message.
    pub async fn pin(&self, key: &ThreadKey, id: &str) -> Result<(), ThreadsError> {
        self.set_pinned(key, id, true).await
    }

    /// Compactions may fold this message again. What others hold, such as the current request, stays all the same.
    ///
    /// # Errors
    /// When there is no such thread or message.
    pub async fn unpin(&self, key: &ThreadKey, id: &str) -> Result<(), ThreadsError> {
        self.set_pinned(key, id, false).await
    }

    async fn set_pinned(
        &self,
        key: &ThreadKey,
        id: &str,
        pinned: bool,
    ) -> Result<(), ThreadsError> {
        let none = || ThreadsError::NoMessage(id.into());
        for _ in 0..Self::TRIES {
            let mut opened = self.open(key, Much::Window, &Asked::default()).await?;
            if opened.shelf.find(id).is_none() {
                opened = self.open(key, Much::Whole, &Asked::default()).await?;
            }
            let node = opened.shelf.find(id).ok_or_else(none)?;
            let known = opened.thread.known(node).ok_or_else(none)?;
            if known.view.flags.pinned == pinned {
                return Ok(());
            }
            match pinned {
                true => opened.thread.pin(node),
                false => opened.thread.unpin(node),
            }
            let known = opened.thread.known(node).ok_or_else(none)?;
            let active = opened.thread.active();
            let is_folded = active.is_some_and(|record| record.removed.contains(node));
            let listed = &mut opened.meta.folded_pins;
            let before = listed.len();
            listed.retain(|one| *one != node);
            if pinned && is_folded {
                listed.push(node);
            }
            let is_other = opened.meta.folded_pins.len() != before;
            let write = Write {
                revision: opened.head.revision,
                changed: vec![(node, known)],
                state: Some(Arc::new(opened.thread.state())),
                meta: is_other.then(|| opened.meta.to_text()),
                events: vec![
                    ThreadEvent::Pinned {
                        id: id.into(),
                        pinned,
                    }
                    .to_text(),
                ],
                now: self.now(),
                ..Write::default()
            };
            if let Written::Done(_) = self.write(key, write).await? {
                return Ok(());
            }
        }
        Err(ThreadsError::Contended)
    }
}
