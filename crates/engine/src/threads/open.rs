//! A stored thread, read to be decided on.

use std::sync::Arc;

use conspectus_core::count::TokenCounter;
use conspectus_core::durable::Beside;
use conspectus_core::id::NodeId;
use conspectus_core::thread::{Fixed, HeadChange, RestoreError, Sources, Thread};

use super::Threads;
use super::checkpoint::CheckpointId;
use super::compact::CompactThread;
use super::error::ThreadsError;
use super::meta::Meta;
use super::settings::{Asked, Run};
use super::shelf::Shelf;
use crate::clock::Clock;
use crate::store::{Head, NewMessage, Read, StoreError, ThreadKey, Write, Written, whole, window};

/// A thread as it was read, with the texts of what was read.
pub(crate) struct Opened {
    pub(crate) head: Head,
    pub(crate) meta: Meta,
    pub(crate) run: Run,
    pub(crate) thread: Thread,
    pub(crate) shelf: Shelf,
}

impl Opened {
    pub(crate) fn counter(&self) -> &dyn TokenCounter {
        self.run.counter.as_ref()
    }

    /// The thread, to be changed, and what it reads through.
    pub(crate) fn parts(&mut self) -> (&mut Thread, Sources<'_>) {
        let src = Sources {
            texts: &self.shelf,
            counter: self.run.counter.as_ref(),
        };
        (&mut self.thread, src)
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            texts: &self.shelf,
            counter: self.counter(),
        }
    }

    /// What the host sends outside the messages, where it says so.
    pub(crate) fn take_fixed(&mut self, ask: &CompactThread) {
        if let Some(texts) = &ask.fixed {
            let texts = texts.iter().map(AsRef::as_ref);
            let fixed = Fixed::of(texts, self.run.counter.as_ref());
            self.thread.set_fixed(fixed);
        }
    }

    /// The name of the state as it is.
    pub(crate) fn checkpoint(&self) -> CheckpointId {
        CheckpointId::new(self.thread.rows(), self.thread.branch().head())
    }
}

/// How much of a thread is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Much {
    /// What is in the window.
    Window,
    /// All of it, as compacting, moving and undoing need it.
    Whole,
}

impl<C: Clock> Threads<C> {
    /// What is known of a thread without opening it.
    pub(crate) async fn head(&self, key: &ThreadKey) -> Result<Head, ThreadsError> {
        let head = self.store().head(key).await?;
        head.ok_or_else(|| ThreadsError::NotFound(key.thread.clone()))
    }

    /// A thread, to be read and changed. More than was asked for is read where that is not enough.
    pub(crate) async fn open(
        &self,
        key: &ThreadKey,
        much: Much,
        asked: &Asked<'_>,
    ) -> Result<Opened, ThreadsError> {
        if much == Much::Window
            && let Some(opened) = self.still_open(key, asked).await?
        {
            return Ok(opened);
        }
        if much == Much::Window
            && let Some(read) = window(self.store(), key).await?
        {
            match self.restore(read, asked) {
                Err(ThreadsError::Restore(RestoreError::Missing(_))) => {}
                opened => return opened,
            }
        }
        match whole(self.store(), key).await? {
            Some(read) => self.restore(read, asked),
            None => {
                let head = self.head(key).await?;
                let meta = Meta::read(&head.meta);
                let run = self.settings().run(&meta, asked)?;
                let mut thread = Thread::new(run.policy.clone());
                thread.set_beside(beside(&meta));
                Ok(Opened {
                    thread,
                    shelf: Shelf::default(),
                    head,
                    meta,
                    run,
                })
            }
        }
    }

    /// The thread as it was left open, if nobody wrote to it since and it runs by the same policy.
    async fn still_open(
        &self,
        key: &ThreadKey,
        asked: &Asked<'_>,
    ) -> Result<Option<Opened>, ThreadsError> {
        let Some(mut opened) = self.kept_open().take(key) else {
            return Ok(None);
        };
        let head = self.head(key).await?;
        // One that was deleted and made anew may have come to the same number.
        if head.revision != opened.head.revision || head.created_ms != opened.head.created_ms {
            return Ok(None);
        }
        if head.meta != opened.head.meta {
            opened.meta = Meta::read(&head.meta);
            opened.thread.set_beside(beside(&opened.meta));
        }
        opened.head = head;
        let run = self.settings().run(&opened.meta, asked)?;
        let is_same = run.policy == opened.run.policy && run.counter.id() == opened.counter().id();
        opened.run = run;
        Ok(is_same.then_some(opened))
    }

    /// Leaves a thread open that is as it is stored.
    pub(crate) fn leave_open(&self, key: &ThreadKey, opened: Opened) {
        self.kept_open().put(key, opened);
    }

    fn restore(&self, mut read: Read, asked: &Asked<'_>) -> Result<Opened, ThreadsError> {
        let meta = Meta::read(&read.head.meta);
        let run = self.settings().run(&meta, asked)?;
        if meta
            .counter
            .is_some_and(|counter| counter != run.counter.id())
        {
            // Another one counts now: what was weighed before is weighed again.
            for (_, known) in &mut read.stored.messages {
                known.weight = None;
            }
        }
        let shelf = Shelf::of(&read.messages);
        let src = Sources {
            texts: &shelf,
            counter: run.counter.as_ref(),
        };
        let mut thread = Thread::restore(run.policy.clone(), read.state, read.stored, src)?;
        thread.set_beside(beside(&meta));
        Ok(Opened {
            head: read.head,
            meta,
            run,
            thread,
            shelf,
        })
    }

    /// Writes, and rings if that is done.
    pub(crate) async fn write(
        &self,
        key: &ThreadKey,
        write: Write,
    ) -> Result<Written, ThreadsError> {
        let tells = !write.events.is_empty();
        let written = self.store().write(key, write).await;
        let written = written.map_err(|why| self.of_store(key, why))?;
        if tells && matches!(written, Written::Done(_)) {
            self.bells().ring(key);
        }
        Ok(written)
    }

    /// A failure of the store, by name where it is about this thread.
    pub(crate) fn of_store(&self, key: &ThreadKey, why: StoreError) -> ThreadsError {
        match why {
            StoreError::NoThread => ThreadsError::NotFound(key.thread.clone()),
            why => why.into(),
        }
    }
}

/// What the host keeps beside every summary.
pub(crate) fn beside(meta: &Meta) -> Option<Arc<Beside>> {
    meta.note.beside.clone().map(Arc::new)
}

/// What a write says about changes of a thread since it was read: the rows of its log from `rows` on, and its state.
pub(crate) fn moved(thread: &Thread, rows: usize) -> Vec<HeadChange> {
    thread.head_log().get(rows..).unwrap_or_default().to_vec()
}

/// A new message as it is stored.
pub(crate) fn new_message(
    thread: &Thread,
    node: NodeId,
    bytes: Arc<[u8]>,
    id: Arc<str>,
) -> NewMessage {
    let known = thread.known(node).expect("it was appended");
    NewMessage {
        bytes,
        native_id: Some(id),
        known,
    }
}
