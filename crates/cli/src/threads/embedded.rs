//! Threads in a store that is opened here.

use std::sync::Arc;

use conspectus::core::outcome::Outcome;
use conspectus::store::ThreadKey;
use conspectus::threads::{
    Append, Compacted, CreateThread, ListThreads, Page, Place as At, ThreadInfo, Threads,
};
use conspectus::wire::iso_time;
use conspectus::{Compactor, Control};
use conspectus_providers::TokioClock;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Runs;
use super::place::{Ask, Missing, Place};
use super::store;
use super::tree::value;
use super::trouble::Trouble;
use crate::args::PlaceArgs;
use crate::asking::Stop;
use crate::fail::{Exit, Fail, io_words};
use crate::job::PolicyJob;

/// The tenant that everybody is where a service has no tokens.
pub(crate) const ALONE: &str = "default";

/// A store with its threads.
pub(super) struct Embedded {
    runtime: Runtime,
    stop: Arc<Stop>,
    threads: Threads<TokioClock>,
    tenant: Arc<str>,
    name: String,
}

impl Embedded {
    /// # Errors
    /// When the store cannot be opened.
    pub(super) fn open(
        args: &PlaceArgs,
        missing: Missing,
        policy: &PolicyJob,
        runs: Runs,
    ) -> Result<Self, Fail> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(|why| Fail::about(Exit::Input, "store", &io_words(&why)))?;
        let address = store::address(
            args.store.as_deref(),
            policy.config().server().store.as_ref(),
        )?;
        if address.is_memory() {
            let why = "a store in memory is gone when the command ends; name a file, sqlite:PATH";
            return Err(Fail::about(Exit::Config, "--store", why));
        }
        if missing == Missing::Refuse && !address.is_there() {
            let why = "there is no such store; conspectus thread import FILE makes one, --store names another";
            return Err(Fail::about(Exit::Input, address.name(), why));
        }
        let store = runtime.block_on(address.open())?;
        let clock = TokioClock::since_1970();
        let stop = Arc::new(Stop::default());
        runtime.spawn(stop.clone().listen());
        Ok(Self {
            threads: Threads::new(
                store,
                Arc::new(Compactor::new(runs.models, clock)),
                policy.thread_settings(instance(), runs.listed),
            ),
            tenant: args.tenant.as_deref().unwrap_or(ALONE).into(),
            name: address.name(),
            runtime,
            stop,
        })
    }

    fn key(&self, thread: &str) -> ThreadKey {
        ThreadKey::new(&self.tenant, thread)
    }

    async fn answer(&self, thread: &str, ask: &Ask<'_>) -> Result<Value, Trouble> {
        let (threads, key) = (&self.threads, self.key(thread));
        Ok(match ask {
            Ask::List { text, limit, after } => self.list(*text, *limit, *after).await?,
            Ask::Status => value(&threads.status(&key).await?),
            Ask::Get => thread_json(&threads.get(&key).await?),
            Ask::Visible(page) => {
                let page: &Page = page;
                value(&threads.visible(&key, page).await?)
            }
            Ask::Request => value(&threads.request(&key).await?),
            Ask::Log { limit } => value(&threads.log(&key, *limit).await?),
            Ask::Create { title, policy } => {
                let create = CreateThread {
                    title: title.map(Into::into),
                    policy: policy.cloned(),
                    ..CreateThread::default()
                };
                thread_json(&threads.create(&key, create).await?)
            }
            Ask::Append(messages) => {
                let append = Append {
                    messages: messages.to_vec(),
                    ..Append::default()
                };
                value(&threads.append(&key, &append).await?)
            }
            Ask::Compact(compact) => {
                let control = Control::new();
                let running = self.stop.while_running(&control);
                let compacted = threads.compact_with(&key, compact, &control).await;
                drop(running);
                compacted_json(compacted?, compact.dry_run)
            }
            Ask::Apply(preview) => compacted_json(threads.apply(&key, preview).await?, false),
            Ask::Undo => value(&threads.undo(&key).await?),
            Ask::Redo => value(&threads.redo(&key).await?),
            Ask::Branch { to, at, title } => {
                let create = CreateThread {
                    title: title.map(Into::into),
                    ..CreateThread::default()
                };
                let at = at.map(|at| match at.parse() {
                    Ok(checkpoint) => At::Checkpoint(checkpoint),
                    Err(_) => At::Message(at.into()),
                });
                let to = self.key(to);
                thread_json(&threads.branch(&key, at.as_ref(), &to, create).await?)
            }
            Ask::Recall(recall) => json!({ "messages": threads.recall(&key, recall).await? }),
            Ask::Export => Value::String(threads.export(&key).await?),
            Ask::Import(export) => thread_json(&threads.import(&key, export).await?),
            Ask::Delete => {
                threads.delete(&key).await?;
                Value::Null
            }
            Ask::Purge(purge) => value(&threads.purge(&key, purge).await?),
        })
    }

    async fn list(
        &self,
        text: Option<&str>,
        limit: u32,
        after: Option<&str>,
    ) -> Result<Value, Trouble> {
        let list = ListThreads {
            text: text.map(Into::into),
            after: after.map(Into::into),
            limit: limit.saturating_add(1),
            ..ListThreads::default()
        };
        let mut found = self.threads.list(&self.tenant, &list).await?;
        let is_more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let last = found.last().filter(|_| is_more);
        let next = last.map(|last| last.thread_id.clone());
        let found: Vec<Value> = found.iter().map(thread_json).collect();
        Ok(json!({ "threads": found, "next": next }))
    }
}

impl Place for Embedded {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, thread: &str, ask: &Ask<'_>) -> Result<Value, Trouble> {
        self.runtime.block_on(self.answer(thread, ask))
    }
}

/// A name that no other process on the store has: leases are held under it.
pub(crate) fn instance() -> String {
    use conspectus::Clock as _;
    let now = TokioClock::since_1970().now();
    format!("cli-{}-{now}", std::process::id())
}

/// As the service shows one.
fn thread_json(info: &ThreadInfo) -> Value {
    json!({
        "thread_id": info.thread_id,
        "created_at": iso_time(info.created_ms),
        "updated_at": iso_time(info.updated_ms),
        "metadata": info.metadata,
        "status": info.status,
        "title": info.title,
        "agent_name": info.agent_name,
        "policy": info.policy,
        "origin": info.origin,
        "message_count": info.messages,
        "record_count": info.records,
        "checkpoint_id": info.checkpoint_id,
        "compaction_in_progress": info.compaction_in_progress,
    })
}

/// As the service says it; what it answers with a problem has its outcome here.
pub(crate) fn compacted_json(compacted: Compacted, is_preview: bool) -> Value {
    let is_change = compacted.is_change() && !is_preview;
    let reason = match compacted.outcome {
        Outcome::Compacted | Outcome::Pruned if is_preview => Some("dry_run"),
        Outcome::Compacted => None,
        Outcome::NothingToCompact | Outcome::Skipped => Some("not_enough_messages"),
        outcome => Some(outcome.as_str()),
    };
    json!({
        "thread_id": compacted.thread_id,
        "compacted": is_change,
        "reason": reason,
        "removed_message_count": compacted.removed_message_count,
        "preserved_message_count": compacted.preserved_message_count,
        "summary_updated": compacted.summary_updated && is_change,
        "checkpoint_id": compacted.checkpoint_id,
        "total_tokens": compacted.total_tokens,
        "outcome": compacted.outcome,
        "reasons": compacted.reasons,
        "tokens_before": compacted.measured.tokens_before,
        "summary_text": compacted.summary_text.filter(|_| is_preview),
        "preview": compacted.preview,
        "model": compacted.model,
        "detail": compacted.failure.map(|failure| failure.to_string()),
    })
}
