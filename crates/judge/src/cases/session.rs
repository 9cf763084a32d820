//! One thread of a case: its file, the engine's thread over it, and the store that a fresh process would load.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context as _;
use conspectus::store::{Written, commit_ack};
use conspectus::wire::Format;
use conspectus_core::count::TokenCounter;
use conspectus_core::effect::{CommitAck, Expect, Failure, Millis};
use conspectus_core::frame;
use conspectus_core::id::{AttemptId, CallId, Ident};
use conspectus_core::outcome::{Measured, Moment, Outcome};
use conspectus_core::policy::Policy;
use conspectus_core::ranges::NodeRanges;
use conspectus_core::record::{Author, Patches, RECORD_FORMAT, Record, Summary};
use conspectus_core::thread::{Fixed, Sources, Thread};
use conspectus_core::view::{PartRef, Role, Texts as _};

use super::disk::Disk;
use super::json::Json;
use super::settings::Settings;
use super::surface::Surface;
use super::trace::{Constraint, Durable, Entry, Pruned, Request, Stored, Task};

/// What exists before the first step.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    /// The summary so far.
    pub(super) summary: Option<String>,
    /// Labels of messages that are old summaries.
    pub(super) old_summaries: BTreeSet<String>,
    /// Messages that were folded already.
    pub(super) archived: Vec<Json>,
}

/// A thread.
pub(super) struct Session {
    /// Its file.
    pub(super) surface: Surface,
    /// The engine's thread.
    pub(super) thread: Thread,
    /// Partial results, kept beyond one attempt.
    cache: BTreeMap<Ident, Arc<str>>,
    counter: Arc<dyn TokenCounter>,
    settings: Settings,
    before: Before,
    format: Format,
    around: Vec<(String, Json)>,
    /// The store: records as they were written.
    records: Vec<String>,
    /// The store of a thread that lives in a file.
    disk: Option<Disk>,
}

impl Session {
    /// A thread that holds nothing but its frame.
    ///
    /// # Errors
    /// When the engine cannot read it.
    pub(super) fn new(
        format: Format,
        around: Vec<(String, Json)>,
        settings: &Settings,
        policy: &Policy,
        before: Before,
    ) -> anyhow::Result<Self> {
        let mut session = Self {
            surface: Surface::new(format, around.clone())?,
            thread: Thread::new(Arc::new(policy.clone())),
            cache: BTreeMap::new(),
            counter: settings.counter(policy),
            settings: settings.clone(),
            before,
            format,
            around,
            records: Vec::new(),
            disk: None,
        };
        session.frame();
        Ok(session)
    }

    /// What the engine reads through.
    pub(super) fn sources(&self) -> Sources<'_> {
        Sources {
            texts: self.surface.conversation(),
            counter: self.counter.as_ref(),
        }
    }

    /// The thread to change, with what it reads through.
    pub(super) fn parts(&mut self) -> (&mut Thread, Sources<'_>) {
        let src = Sources {
            texts: self.surface.conversation(),
            counter: self.counter.as_ref(),
        };
        (&mut self.thread, src)
    }

    /// System text, tools, and what the host adds; the calls that it waits for.
    fn frame(&mut self) {
        let fixed = self.surface.conversation().fixed();
        let mut of = match self.settings.number("overhead_tokens") {
            None => Fixed::default(),
            Some(tokens) => Fixed {
                weight: conspectus_core::count::weight_of(self.counter.as_ref(), tokens),
                ident: Ident::of(&tokens.to_string()),
            },
        };
        let is_fake = self.settings.number("token_counter").is_some();
        let texts = [fixed.system.as_str(), fixed.tools.as_str()];
        if !is_fake {
            let more = Fixed::of(texts, self.counter.as_ref());
            of.weight += more.weight;
            of.ident = of.ident.then(more.ident);
        }
        self.thread.set_fixed(of);
        let pending = self.settings.words("pending_tool_calls").map(CallId::from);
        let pending: BTreeSet<CallId> = pending.collect();
        let (thread, src) = self.parts();
        thread.set_pending(pending, src);
    }

    /// Other settings from now on.
    ///
    /// # Errors
    /// When the thread cannot be stored.
    pub(super) fn configure(&mut self, settings: &Settings, policy: &Policy) -> anyhow::Result<()> {
        self.settings = settings.clone();
        self.counter = settings.counter(policy);
        self.thread.set_policy(Arc::new(policy.clone()));
        self.frame();
        self.save()
    }

    /// The messages before the first step, with what was folded before them.
    ///
    /// # Errors
    /// When the engine cannot read them.
    pub(super) fn begin(&mut self, messages: &[Json]) -> anyhow::Result<()> {
        let in_list = !self.before.old_summaries.is_empty();
        let Some(summary) = self.before.summary.clone().filter(|_| !in_list) else {
            return self.append(messages);
        };
        let is_system = |m: &&Json| {
            let role = m.text_at("role").or(m.text_at("type"));
            matches!(role, Some("system" | "developer"))
        };
        let leading = messages.iter().take_while(is_system).count();
        let archived = self.before.archived.clone();
        // A record needs a message that it knows of.
        let known = leading + usize::from(archived.is_empty() && leading == 0);
        let (first, rest) = messages
            .split_at_checked(known)
            .context("a summary needs a message behind it")?;
        self.append(first)?;
        self.append(&archived)?;
        let path = self.thread.branch().path().to_vec();
        let removed = NodeRanges::collect(&path, |at| at >= known);
        let head = *path.last().context("a summary needs a message behind it")?;
        let record = Record {
            id: self.thread.next_record(),
            attempt: AttemptId(u64::MAX),
            parent: None,
            format: RECORD_FORMAT,
            upto: head,
            prefix: self.thread.branch().prefix(),
            removed,
            patches: Patches::new(),
            summary: Some(Summary {
                text: summary.into(),
                author: Author::Model(None),
            }),
            durable: "".into(),
            placement: self.thread.policy().placement,
            peer: None,
            ledger: self.thread.ledger().clone(),
            measured: Measured::default(),
            moment: Moment::Manual,
            why: Vec::new(),
            summaries: 1,
        };
        let ack = self.commit(&record, self.thread.expect(), false, true);
        anyhow::ensure!(
            matches!(ack, CommitAck::Ok(_)),
            "the summary so far was not taken: {ack:?}"
        );
        self.append(rest)
    }

    /// The host appends messages.
    ///
    /// # Errors
    /// When the engine cannot read them.
    pub(super) fn append(&mut self, messages: &[Json]) -> anyhow::Result<()> {
        let mut views = self.surface.append(messages)?;
        let all = self.surface.conversation().views();
        let leading = all.iter().take_while(|v| v.role == Role::System).count();
        let pinned = leading as u64 + self.settings.number("pin_first").unwrap_or(0);
        for view in &mut views {
            let given = self.surface.given(view.handle);
            view.flags.partial |= given.is_true_at("_partial");
            let label = self.surface.label_of(view.handle);
            view.flags.summary |= self.before.old_summaries.contains(label);
            let place = u64::from(view.handle.0);
            let texts = given.leaves();
            view.flags.pinned |= (place >= leading as u64 && place < pinned)
                || self
                    .settings
                    .pin_markers()
                    .any(|mark| texts.iter().any(|text| text.contains(mark)));
            if self.settings.is_off("use_reported_usage") {
                view.usage = None;
            }
        }
        let (thread, src) = self.parts();
        thread.append(views, src);
        self.save()
    }

    /// The store takes a record, and the thread with it.
    pub(super) fn commit(
        &mut self,
        record: &Record,
        expect: Expect,
        refuse: bool,
        is_new_summary: bool,
    ) -> CommitAck {
        if refuse {
            let message = "the summary could not be written".into();
            return CommitAck::Failed(Failure::Store { message });
        }
        if self.disk.is_some() {
            return self.commit_to_disk(record, expect, is_new_summary);
        }
        let text = match serde_json::to_string(record) {
            Ok(text) => text,
            Err(error) => {
                let message = error.to_string().into();
                return CommitAck::Failed(Failure::Store { message });
            }
        };
        let (thread, src) = self.parts();
        let ack = thread.commit(record, expect, src);
        if matches!(ack, CommitAck::Ok(_)) {
            self.records.push(text);
        }
        ack
    }

    /// Another process: nothing but what was written.
    ///
    /// # Errors
    /// When that cannot be read.
    pub(super) fn reloaded(&self) -> anyhow::Result<Self> {
        if let Some(disk) = &self.disk {
            return self.opened(disk.clone());
        }
        let mut fresh = Self::new(
            self.format,
            self.around.clone(),
            &self.settings,
            self.thread.policy(),
            self.before.clone(),
        )?;
        let written: Vec<String> = self
            .surface
            .messages()
            .iter()
            .map(Json::to_string)
            .collect();
        let read: Result<Vec<Json>, _> = written.iter().map(|m| Json::parse(m)).collect();
        fresh.append(&read?)?;
        for text in &self.records {
            let record: Record = serde_json::from_str(text)?;
            let ack = fresh.commit(&record, fresh.thread.expect(), false, true);
            anyhow::ensure!(
                matches!(ack, CommitAck::Ok(_)),
                "a record was not taken again: {ack:?}"
            );
        }
        Ok(fresh)
    }

    /// The thread lives in a file from now on.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(super) fn keep_in(&mut self, disk: Disk) -> anyhow::Result<()> {
        self.disk = Some(disk);
        self.save()
    }

    /// Another process, which finds the thread in a file.
    ///
    /// # Errors
    /// When what is there is no thread.
    pub(super) fn opened(&self, mut disk: Disk) -> anyhow::Result<Self> {
        let policy = self.thread.policy();
        let mut fresh = Self::new(
            self.format,
            self.around.clone(),
            &self.settings,
            policy,
            self.before.clone(),
        )?;
        let read = disk.read()?;
        let mut messages = Vec::new();
        for (at, stored) in read.messages.iter().enumerate() {
            let handle = stored.message.known.view.handle;
            anyhow::ensure!(handle.0 as usize == at, "message {at} is at {handle:?}");
            messages.push(Json::parse(std::str::from_utf8(&stored.message.bytes)?)?);
        }
        fresh.surface.append(&messages)?;
        fresh.thread = Thread::restore(policy.clone(), read.state, read.stored, fresh.sources())?;
        fresh.disk = Some(disk);
        Ok(fresh)
    }

    /// The file that it lives in.
    pub(super) fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }

    /// Whether this process is to die when it commits a summary.
    pub(super) fn may_die(&self) -> bool {
        self.disk.as_ref().is_some_and(|d| d.failpoint.is_some())
    }

    /// Writes what is new, if it lives in a file.
    fn save(&mut self) -> anyhow::Result<()> {
        let Some(disk) = &mut self.disk else {
            return Ok(());
        };
        let history = self.thread.history();
        let messages = self.surface.messages();
        disk.save(&self.thread, |node| {
            let handle = history.node(node)?.view.handle;
            let message = messages.get(handle.0 as usize)?;
            Some(message.to_string().into_bytes().into())
        })
    }

    fn commit_to_disk(
        &mut self,
        record: &Record,
        expect: Expect,
        is_new_summary: bool,
    ) -> CommitAck {
        let mut grown = self.thread.clone();
        let ack = grown.commit(record, expect, self.sources());
        let (CommitAck::Ok(version), Some(disk)) = (&ack, &mut self.disk) else {
            return ack;
        };
        let written = disk.commit(&grown, record, expect, is_new_summary);
        if matches!(written, Ok(Written::Done(_))) {
            self.thread = grown;
        }
        // Nobody else writes here; whoever is behind all the same has a conflict.
        commit_ack(&written, *version).unwrap_or(CommitAck::Conflict)
    }

    /// Takes the right to run an attempt, as every process that shares a file must. Says when it has it.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn acquire(&mut self, at: Millis) -> anyhow::Result<Millis> {
        let Some(disk) = &mut self.disk else {
            return Ok(at);
        };
        let (fence, at) = disk.acquire(at)?;
        self.thread.set_fence(fence);
        Ok(at)
    }

    /// Gives it back.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn release(&mut self) -> anyhow::Result<()> {
        self.disk.as_mut().map_or(Ok(()), Disk::release)
    }

    /// An attempt is under way.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub(super) fn begins(&mut self, attempt: AttemptId, at: Millis) -> anyhow::Result<()> {
        if let Some(disk) = &self.disk {
            disk.mark(Some(attempt), at)?;
        }
        // Nobody gives an attempt this id again.
        self.save()
    }

    /// An attempt ended.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub(super) fn ended(
        &mut self,
        attempt: AttemptId,
        outcome: Outcome,
        at: Millis,
    ) -> anyhow::Result<()> {
        self.thread.ended(attempt, outcome, at);
        self.save()?;
        self.disk.as_ref().map_or(Ok(()), |d| d.mark(None, at))
    }

    /// A partial result that was kept.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn cached(&self, part: Ident) -> anyhow::Result<Option<Arc<str>>> {
        match &self.disk {
            Some(disk) => disk.cached(part),
            None => Ok(self.cache.get(&part).cloned()),
        }
    }

    /// Keeps a partial result.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn cache(&mut self, part: Ident, text: &Arc<str>, at: Millis) -> anyhow::Result<()> {
        match &self.disk {
            Some(disk) => disk.cache(part, text, at),
            None => {
                self.cache.insert(part, text.clone());
                Ok(())
            }
        }
    }

    /// The active window.
    ///
    /// # Errors
    /// When a message is no JSON.
    pub(super) fn active(&self) -> anyhow::Result<Vec<Entry>> {
        let branch = self.thread.branch();
        let kept = (0..branch.len()).filter(|at| !self.thread.is_folded(*at));
        kept.map(|at| self.surface.entry(branch.view(at).handle))
            .collect()
    }

    /// The request that would be sent now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn request(&self) -> anyhow::Result<Request> {
        let marks = self.settings.is_on("cache_breakpoint_on_summary");
        self.surface.request(&self.thread.projection(), marks)
    }

    /// All messages as the case gave them.
    pub(super) fn messages(&self) -> &[Json] {
        self.surface.messages()
    }

    /// Labels of the active window.
    pub(super) fn labels(&self) -> Vec<String> {
        let branch = self.thread.branch();
        let kept = (0..branch.len()).filter(|at| !self.thread.is_folded(*at));
        kept.map(|at| self.surface.label_of(branch.view(at).handle).to_owned())
            .collect()
    }

    /// The summary so far: the record's, or the newest one that stands in the list.
    pub(super) fn summary(&self) -> Option<String> {
        let record = self.thread.active().and_then(|r| r.summary.as_ref());
        if let Some(summary) = record {
            return Some(summary.text.to_string());
        }
        let views = self.thread.branch().views();
        let newest = views.iter().rev().find(|v| v.flags.summary)?;
        let parts = 0..u16::try_from(newest.parts.len()).unwrap_or(u16::MAX);
        let texts = parts.map(|part| {
            let message = newest.handle;
            self.surface
                .conversation()
                .text(PartRef { message, part })
                .into_owned()
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        Some(frame::content(&text).map_or(text.clone(), str::to_owned))
    }

    /// What code keeps, from the thread's own ledger.
    pub(super) fn durable(&self) -> Durable {
        use conspectus_core::ledger::DelegationState;
        let ledger = self.thread.ledger();
        let task = |d: &conspectus_core::ledger::Delegation| Task {
            id: d.job.as_deref().unwrap_or(&d.call.0).to_owned(),
            status: match d.state {
                DelegationState::Running => "running",
                DelegationState::Done => "completed",
                DelegationState::Failed => "failed",
            },
            unmet: d.unmet.iter().map(ToString::to_string).collect(),
        };
        let branch = self.thread.branch();
        let label = |ordinal: u64| {
            let at = usize::try_from(ordinal).unwrap_or(usize::MAX);
            let view = branch.views().get(at);
            view.map_or("", |view| self.surface.label_of(view.handle))
                .to_owned()
        };
        Durable {
            tasks: ledger.delegations().iter().map(task).collect(),
            constraints: ledger
                .rules()
                .iter()
                .map(|rule| Constraint {
                    text: rule.text.to_string(),
                    from: label(rule.message),
                })
                .collect(),
        }
    }

    /// What a fresh reader finds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn stored(&self) -> anyhow::Result<Stored> {
        let fresh = self.reloaded()?;
        let is_done = |r: &Arc<Record>| r.summary.is_some() && r.attempt != AttemptId(u64::MAX);
        Ok(Stored {
            ids: fresh.labels(),
            summary: fresh.summary(),
            boundary: fresh.thread.records().iter().any(is_done),
        })
    }

    /// What is shortened in the request.
    pub(super) fn pruned(&self) -> Vec<Pruned> {
        use conspectus_core::patch::{Patch, PatchCause};
        use conspectus_core::projection::Piece;
        let mut out = Vec::new();
        for piece in self.thread.projection().pieces() {
            let Piece::Edit(handle, patches) = piece else {
                continue;
            };
            if patches.iter().all(|p| p.cause() == PatchCause::Summary) {
                continue;
            }
            let markers = patches.iter().filter_map(|patch| match patch {
                Patch::Cut { marker, .. } => Some(marker.trim()),
                Patch::Remove { .. } => None,
            });
            out.push(Pruned {
                id: self.surface.label_of(*handle).to_owned(),
                marker: markers.collect::<Vec<_>>().join("\n"),
            });
        }
        out
    }

    /// Tokens of each message.
    pub(super) fn estimates(&self) -> Vec<(String, u64)> {
        let src = self.sources();
        let views = self.thread.branch().views().iter();
        views
            .map(|view| {
                let tokens = src.counter.tokens(src.counter.message(view, src.texts));
                (self.surface.label_of(view.handle).to_owned(), tokens)
            })
            .collect()
    }
}
