//! A host: a thread of the core with a store behind it.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use conspectus::store::{
    Commit, Lease, NewMessage, StoreError, ThreadKey, ThreadStore, Write, Written, commit_ack,
    whole,
};
use conspectus::{Decision, Embedded, ModelProfile, Options, Policy, Sources, Thread, drive};
use conspectus_core::attempt::{Attempt, Poll};
use conspectus_core::count::Estimator;
use conspectus_core::effect::{Effect, Expect, Fence, Input};
use conspectus_core::id::NodeId;
use conspectus_core::thread::Manual;
use conspectus_core::view::{MessageView, Role};
use conspectus_testkit::transcript::MemoryTexts;

/// Runs a future of a store to its end.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all();
        runtime.build().expect("a runtime")
    });
    runtime.block_on(future)
}

/// Opens the same store again and again.
pub(crate) type Open<'a> = &'a dyn Fn() -> Box<dyn ThreadStore>;

pub(crate) fn policy() -> Arc<Policy> {
    let options = Options {
        max_context: Some(4_000),
        ..Options::default()
    };
    let resolved = Policy::resolve(&options, &ModelProfile::default());
    Arc::new(resolved.expect("a policy").policy)
}

/// A conversation that lives in a store.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) key: ThreadKey,
    pub(crate) thread: Thread,
    pub(crate) texts: MemoryTexts,
    pub(crate) revision: u64,
}

impl Talk {
    pub(crate) fn new(key: &ThreadKey) -> Self {
        Self {
            key: key.clone(),
            thread: Thread::new(policy()),
            texts: MemoryTexts::new(),
            revision: 0,
        }
    }

    /// Makes the thread in the store too.
    pub(crate) fn create(store: &dyn ThreadStore, key: &ThreadKey) -> Self {
        assert!(now(store.create(key, "meta", 1)).expect("created"));
        Self::new(key)
    }

    /// Appends, here and there. The thread stays as it was if it is not written.
    pub(crate) fn append(
        &mut self,
        store: &dyn ThreadStore,
        views: &[MessageView],
    ) -> Result<Written, StoreError> {
        let mut grown = self.thread.clone();
        let src = Sources {
            texts: &self.texts,
            counter: &Estimator,
        };
        let nodes = grown.append(views.iter().cloned(), src);
        let write = Write {
            revision: self.revision,
            messages: nodes
                .into_iter()
                .map(|node| message(&grown, node))
                .collect(),
            state: Some(Arc::new(grown.state())),
            now: 2,
            ..Write::default()
        };
        let written = now(store.write(&self.key, write))?;
        if let Written::Done(revision) = written {
            self.thread = grown;
            self.revision = revision;
        }
        Ok(written)
    }

    pub(crate) fn say(
        &mut self,
        store: &dyn ThreadStore,
        role: Role,
        text: &str,
    ) -> Result<Written, StoreError> {
        let view = self.texts.say(role, text);
        self.append(store, &[view])
    }

    /// A long talk that is worth compacting.
    pub(crate) fn go_on(&mut self, store: &dyn ThreadStore, rounds: usize) {
        for round in 0..rounds {
            let ask = format!("Question {round}: where does the parser lose the last line?");
            let answer = format!("Answer {round}: {}", "in the reader of blocks. ".repeat(60));
            for (role, text) in [(Role::User, ask), (Role::Assistant, answer)] {
                let written = self.say(store, role, &text).expect("written");
                assert!(matches!(written, Written::Done(_)), "{written:?}");
            }
        }
    }

    /// What a compaction made now would write, and the thread after it.
    pub(crate) fn compaction(&self) -> Option<(Thread, Write)> {
        let src = Sources {
            texts: &self.texts,
            counter: &Estimator,
        };
        let mut grown = self.thread.clone();
        let expect = grown.expect();
        let Decision::Start(attempt, _) = grown.manual(5, &Manual::default(), src) else {
            return None;
        };
        drive(&mut grown, *attempt, src, &mut Embedded::default());
        let write = commit(&self.thread, &grown, expect, self.revision)?;
        Some((grown, write))
    }

    /// Compacts, here and there.
    pub(crate) fn compact(
        &mut self,
        store: &dyn ThreadStore,
    ) -> Result<Option<Written>, StoreError> {
        let Some((grown, write)) = self.compaction() else {
            return Ok(None);
        };
        let written = now(store.write(&self.key, write))?;
        if let Written::Done(revision) = written {
            self.thread = grown;
            self.revision = revision;
        }
        Ok(Some(written))
    }

    /// Runs an attempt to its end with the store behind it, and keeps what became of the thread.
    pub(crate) fn run(&mut self, store: &dyn ThreadStore, mut attempt: Attempt) {
        let src = Sources {
            texts: &self.texts,
            counter: &Estimator,
        };
        let report = loop {
            let input = match attempt.poll(9, src) {
                Poll::Done(report) => break report,
                Poll::Idle => Input::Cancel,
                Poll::Do(Effect::CacheGet(part)) => {
                    Input::Cached(part, now(store.cached(&self.key, part)).expect("read"))
                }
                Poll::Do(Effect::CachePut(part, text)) => {
                    now(store.cache(&self.key, part, &text, 9)).expect("kept");
                    continue;
                }
                Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
                Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
                Poll::Do(Effect::LookUp(attempt, record)) => {
                    Input::Found(now(store.has_record(&self.key, attempt, record)).expect("read"))
                }
                Poll::Do(Effect::Commit(record, expect)) => {
                    let before = self.thread.clone();
                    let ack = self.thread.commit(&record, expect, src);
                    if let Some(write) = commit(&before, &self.thread, expect, self.revision) {
                        let written = now(store.write(&self.key, write));
                        self.revision += 1;
                        assert_eq!(
                            commit_ack(&written, self.thread.expect().version),
                            Some(ack.clone())
                        );
                    }
                    Input::Committed(ack)
                }
                Poll::Do(_) => continue,
            };
            attempt.feed(9, input, src);
        };
        self.thread.ended(attempt.id(), report.outcome, 9);
    }

    /// Writes the state as it is.
    pub(crate) fn save(&mut self, store: &dyn ThreadStore) {
        let write = Write {
            revision: self.revision,
            state: Some(Arc::new(self.thread.state())),
            ..Write::default()
        };
        self.revision += 1;
        let written = now(store.write(&self.key, write));
        assert_eq!(written, Ok(Written::Done(self.revision)));
    }

    /// Takes a lease and commits under it from now on.
    pub(crate) fn lease(&mut self, store: &dyn ThreadStore, holder: &str, at: u64) -> Lease {
        let lease = now(store.acquire(&self.key, holder, 1_000, at)).expect("an answer");
        if let Lease::Held { fence, .. } = lease {
            self.thread.set_fence(fence);
        }
        lease
    }

    /// The thread as the store has it.
    pub(crate) fn reopened(&self, store: &dyn ThreadStore) -> Self {
        let read = now(whole(store, &self.key)).expect("read").expect("there");
        let src = Sources {
            texts: &self.texts,
            counter: &Estimator,
        };
        let thread = Thread::restore(policy(), read.state, read.stored, src).expect("restored");
        Self {
            thread,
            revision: read.head.revision,
            ..self.clone()
        }
    }
}

/// What a commit of the newest record of `grown` writes.
pub(crate) fn commit(
    before: &Thread,
    grown: &Thread,
    expect: Expect,
    revision: u64,
) -> Option<Write> {
    let record = grown.records().get(before.records().len())?.clone();
    Some(Write {
        revision,
        moved: grown.head_log()[before.head_log().len()..].to_vec(),
        state: Some(Arc::new(grown.state())),
        commit: Some(Commit { record, expect }),
        now: 6,
        ..Write::default()
    })
}

pub(crate) fn message(thread: &Thread, node: NodeId) -> NewMessage {
    NewMessage {
        bytes: format!("message {} \u{0}\u{1F980}", node.0)
            .into_bytes()
            .into(),
        native_id: Some(format!("id-{}", node.0).into()),
        known: thread.known(node).expect("it was appended"),
    }
}

pub(crate) const NO_FENCE: Fence = Fence(0);
