//! The place of a thread in a file: written through as the thread changes, and read again as another process would.
//!
//! The file is opened for each thing that is asked of it and closed again, so that nothing is remembered but what is
//! there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use conspectus::store::{
    Commit, Lease, Mark, NewMessage, Read, StoreError, ThreadKey, ThreadStore as _, Write, Written,
    whole,
};
use conspectus_core::effect::{Expect, Fence, Millis};
use conspectus_core::id::{AttemptId, Ident, NodeId};
use conspectus_core::record::Record;
use conspectus_core::thread::Thread;
use conspectus_store::{Failpoint, SqliteOptions, SqliteStore};

/// How long an attempt may be silent before the thread is free for others.
const LEASE_MS: Millis = 30_000;

/// A thread in a file.
#[derive(Clone)]
pub(super) struct Disk {
    file: PathBuf,
    key: ThreadKey,
    /// What the next write is made on.
    revision: u64,
    /// Messages that are there.
    nodes: usize,
    /// Changes of the head that are there.
    rows: usize,
    fence: Option<Fence>,
    /// Hears of each step of a commit with another summary.
    pub(super) failpoint: Option<Failpoint>,
}

impl Disk {
    /// An empty thread in a file, which is made if there is none.
    ///
    /// # Errors
    /// When the store fails, or has such a thread.
    pub(super) fn create(file: &Path, thread: &str) -> anyhow::Result<Self> {
        let disk = Self::at(file, thread);
        let is_new = now(disk.open(None)?.create(&disk.key, "", 0))?;
        anyhow::ensure!(is_new, "there is a thread {thread:?} already");
        Ok(disk)
    }

    /// A thread that another process left in a file; [`Self::read`] reads it.
    pub(super) fn at(file: &Path, thread: &str) -> Self {
        Self {
            file: file.to_owned(),
            key: ThreadKey::new("cases", thread),
            revision: 0,
            nodes: 0,
            rows: 0,
            fence: None,
            failpoint: None,
        }
    }

    /// The same thread in a copy of the file, with what a process that died left beside it.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub(super) fn copied(&self, to: &Path) -> anyhow::Result<Self> {
        for beside in ["", "-wal"] {
            let name = |path: &Path| PathBuf::from(format!("{}{beside}", path.display()));
            if beside.is_empty() || name(&self.file).exists() {
                std::fs::copy(name(&self.file), name(to)).context("a copy of the store")?;
            }
        }
        Ok(Self::at(to, &self.key.thread))
    }

    /// Where it is.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Everything that is there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(&mut self) -> anyhow::Result<Read> {
        let store = self.open(None)?;
        let read = now(whole(&store, &self.key))?.context("the thread is not in the store")?;
        self.revision = read.head.revision;
        self.nodes = read.messages.len();
        self.rows = read.stored.log.len();
        Ok(read)
    }

    /// Writes what is new of the thread.
    ///
    /// # Errors
    /// When it was not written.
    pub(super) fn save(
        &mut self,
        thread: &Thread,
        bytes: impl Fn(NodeId) -> Option<Arc<[u8]>>,
    ) -> anyhow::Result<()> {
        let nodes = thread.history().len();
        let new = (self.nodes..nodes).map(|node| {
            let node = NodeId(node as u64);
            let known = thread.known(node).context("a message of the thread")?;
            anyhow::Ok(NewMessage {
                bytes: bytes(node).context("the bytes of a message")?,
                native_id: None,
                known,
            })
        });
        let write = Write {
            messages: new.collect::<anyhow::Result<_>>()?,
            ..self.change(thread)
        };
        let written = now(self.open(None)?.write(&self.key, write))?;
        let Written::Done(revision) = written else {
            anyhow::bail!("nobody else writes to the store, but the write ended as {written:?}");
        };
        self.revision = revision;
        self.nodes = nodes;
        self.rows = thread.head_log().len();
        Ok(())
    }

    /// Writes a record and the thread as the record made it.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn commit(
        &mut self,
        grown: &Thread,
        record: &Record,
        expect: Expect,
        is_new_summary: bool,
    ) -> Result<Written, StoreError> {
        let write = Write {
            commit: Some(Commit {
                record: Arc::new(record.clone()),
                expect,
            }),
            ..self.change(grown)
        };
        let failpoint = self.failpoint.clone().filter(|_| is_new_summary);
        let written = now(self.open(failpoint)?.write(&self.key, write))?;
        if let Written::Done(revision) = written {
            self.revision = revision;
            self.rows = grown.head_log().len();
        }
        Ok(written)
    }

    fn change(&self, thread: &Thread) -> Write {
        let moved = thread.head_log().get(self.rows..).unwrap_or_default();
        Write {
            revision: self.revision,
            moved: moved.to_vec(),
            state: Some(Arc::new(thread.state())),
            ..Write::default()
        }
    }

    /// Takes the right to run an attempt, and says when: a process that died may have it until then. What it left
    /// under way is cleared.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn acquire(&mut self, mut at: Millis) -> anyhow::Result<(Fence, Millis)> {
        let store = self.open(None)?;
        let holder = std::process::id().to_string();
        loop {
            match now(store.acquire(&self.key, &holder, LEASE_MS, at))? {
                Lease::Held { fence, orphan, .. } => {
                    if orphan.is_some() {
                        now(store.mark(&self.key, fence, None))?;
                    }
                    self.fence = Some(fence);
                    return Ok((fence, at));
                }
                Lease::Taken { until_ms } => at = until_ms.max(at + 1),
            }
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn release(&mut self) -> anyhow::Result<()> {
        if let Some(fence) = self.fence.take() {
            now(self.open(None)?.release(&self.key, fence))?;
        }
        Ok(())
    }

    /// Says that an attempt is under way, or that it ended.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn mark(&self, attempt: Option<AttemptId>, since_ms: Millis) -> anyhow::Result<()> {
        let Some(fence) = self.fence else {
            return Ok(());
        };
        let mark = attempt.map(|attempt| Mark {
            attempt,
            fence,
            since_ms,
        });
        let is_ours = now(self.open(None)?.mark(&self.key, fence, mark))?;
        anyhow::ensure!(is_ours, "the lease is another's");
        Ok(())
    }

    /// A partial result.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn cached(&self, part: Ident) -> anyhow::Result<Option<Arc<str>>> {
        Ok(now(self.open(None)?.cached(&self.key, part))?)
    }

    /// Keeps a partial result.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn cache(&self, part: Ident, text: &str, at: Millis) -> anyhow::Result<()> {
        Ok(now(self.open(None)?.cache(&self.key, part, text, at))?)
    }

    fn open(&self, failpoint: Option<Failpoint>) -> Result<SqliteStore, StoreError> {
        let options = SqliteOptions {
            failpoint,
            ..SqliteOptions::default()
        };
        SqliteStore::open_with(&self.file, options)
    }
}

/// What the store's own thread answers.
fn now<T>(answer: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|why| StoreError::Failed(why.to_string()))?;
    runtime.block_on(answer)
}
