//! Conversations as threads in the store: found, kept in step, compacted. Everything that is decided here is which
//! thread a conversation is; the rest is the engine's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use conspectus::core::effect::{Failure, Millis, Route};
use conspectus::core::id::NodeId;
use conspectus::core::policy::{ASSUMED_WINDOW, Options, Strategy};
use conspectus::core::view::{Role, Usage};
use conspectus::store::{Listed, Listing, StoreError, ThreadKey, ThreadStore};
use conspectus::telemetry::Telemetry;
use conspectus::threads::{
    ClientList as _, CompactThread, Compacted, CreateThread, InStep, KeptOpen, Metadata, Mirror,
    Mirrored, Place, RunModel, RunsOn, Settings as ThreadSettings, Threads, ThreadsError,
};
use conspectus::{Clock, Compactor, Format, ModelProfile, Models, Moment, Policy, catalog};
use hyper::HeaderMap;
use serde_json::json;

use crate::api::Call;
use crate::asked::asked;
use crate::book::Line;
use crate::list::List;
use crate::settings::{Settings, Summaries};
use crate::upstream::Upstream;

/// What every name of a thread of ours begins with.
pub(crate) const PREFIX: &str = "px-";
/// Threads with the same beginning that are looked at.
const ALIKE: u32 = 24;
/// Tries to find a thread that the list fits.
const TRIES: usize = 4;
/// Models whose limits are kept.
const MODELS: usize = 256;
/// What a model may write when nobody knows: the summary's own cap is smaller.
const ANY_OUTPUT: u64 = 1 << 20;

/// What a request is about, beside its messages.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) tenant: Arc<str>,
    pub(crate) call: Call,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) model: Arc<str>,
    /// The client's own head, for as long as the request and what follows from it take.
    pub(crate) head: Arc<HeaderMap>,
}

/// What compacts conversations of one model.
pub(crate) struct Desk {
    pub(crate) compactor: Compactor<Arc<dyn Clock>>,
    pub(crate) options: Options,
    pub(crate) profile: ModelProfile,
    pub(crate) routes: Vec<Route>,
}

/// By upstream and model.
type Budgets = BTreeMap<(Arc<str>, Arc<str>), Option<Budget>>;

/// Sizes in tokens that a model's conversations are held to.
#[derive(Clone, Copy)]
struct Budget {
    input_limit: u64,
    /// `None`: nothing is due by its size.
    trigger: Option<u64>,
    soft: Option<u64>,
    target: Option<u64>,
}

/// Keeps them.
pub(crate) struct Keeper {
    store: Arc<dyn ThreadStore>,
    clock: Arc<dyn Clock>,
    telemetry: Telemetry,
    settings: Settings,
    instance: String,
    open: Arc<KeptOpen>,
    desks: AtomicU64,
    budgets: Mutex<Budgets>,
    /// Upstreams and models that refused thinking which stood behind a compaction.
    binding: Mutex<BTreeSet<(Arc<str>, Arc<str>)>>,
}

impl Keeper {
    pub(crate) fn new(
        store: Arc<dyn ThreadStore>,
        clock: Arc<dyn Clock>,
        telemetry: Telemetry,
        settings: Settings,
        instance: String,
    ) -> Self {
        Self {
            store,
            clock,
            telemetry,
            settings,
            instance,
            open: Arc::new(KeptOpen::new(KeptOpen::ROOM_BYTES)),
            desks: AtomicU64::new(0),
            budgets: Mutex::default(),
            binding: Mutex::default(),
        }
    }

    /// Whether summaries are written by models.
    pub(crate) fn asks_models(&self) -> bool {
        self.settings.summaries != Summaries::Digest
    }

    /// Tokens from which on something is due for this model, before anything is known of the conversation.
    pub(crate) fn trigger(&self, about: &About) -> Option<u64> {
        self.budget(about)?.trigger
    }

    /// What a model's conversations are held to. `None`: the options do not fit the model.
    fn budget(&self, about: &About) -> Option<Budget> {
        let key = (about.upstream.name.clone(), about.model.clone());
        let mut known = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(budget) = known.get(&key) {
            return *budget;
        }
        let resolved = Policy::resolve(&self.settings.options, &profile(about));
        let budget = resolved.ok().map(|resolved| {
            let policy = resolved.policy;
            let is_on = |size: Option<u64>| size.filter(|_| policy.enabled);
            Budget {
                input_limit: policy.input_limit(),
                trigger: is_on(policy.trigger_tokens()),
                soft: is_on(policy.soft_tokens),
                target: is_on(policy.target_tokens()),
            }
        });
        if known.len() >= MODELS {
            known.clear();
        }
        known.insert(key, budget);
        budget
    }

    /// Whether the upstream is asked to drop thinking that does not verify.
    pub(crate) fn drops_blocks(&self, about: &About) -> bool {
        let said = || {
            let known = self.binding.lock().unwrap_or_else(PoisonError::into_inner);
            known.contains(&(about.upstream.name.clone(), about.model.clone()))
        };
        about.call.format() == Some(Format::Anthropic)
            && about.upstream.drop_block.unwrap_or_else(said)
    }

    /// Whether it may be asked once it refused such thinking.
    pub(crate) fn may_drop_blocks(&self, about: &About) -> bool {
        about.call.format() == Some(Format::Anthropic) && about.upstream.drop_block.is_none()
    }

    /// It refused it.
    pub(crate) fn learn_to_drop(&self, about: &About) {
        let mut known = self.binding.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MODELS {
            known.clear();
        }
        known.insert((about.upstream.name.clone(), about.model.clone()));
    }

    /// Brings the thread of a conversation in step with its list; makes or finds the thread where it is not known.
    pub(crate) async fn in_step(
        &self,
        line: &Arc<Line>,
        list: &List,
        about: &About,
    ) -> Result<(ThreadKey, InStep), ThreadsError> {
        let threads = self.threads(about, false);
        let mut thread = line.thread.lock().await;
        let mirror = self.mirror(line, list, about);
        for _ in 0..TRIES {
            let key = match thread.clone() {
                Some(key) => key,
                None => {
                    let key = self.establish(line, list, about, &threads).await?;
                    *thread = Some(key.clone());
                    key
                }
            };
            match threads.mirror(&key, list, &mirror).await {
                Ok(Mirrored::InStep(step)) => {
                    self.note(line, list, &step);
                    return Ok((key, *step));
                }
                // Somebody changed it, or it is another process's conversation by now.
                Ok(Mirrored::Apart(at)) => {
                    let new = self.free(line, list, about).await?;
                    self.begin(&threads, &new, Some((&key, at))).await?;
                    *thread = Some(new);
                }
                Err(ThreadsError::NotFound(_)) => *thread = None,
                Err(why) => return Err(why),
            }
        }
        Err(ThreadsError::Contended)
    }

    /// Compacts a thread, if something is due.
    pub(crate) async fn compact(
        &self,
        key: &ThreadKey,
        about: &About,
        refusal: Option<Failure>,
        moment: Moment,
    ) -> Result<Compacted, ThreadsError> {
        let threads = self.threads(about, true);
        let ask = CompactThread {
            refusal,
            moment,
            ..CompactThread::check()
        };
        threads.compact(key, &ask).await
    }

    /// Threads for a model behind an upstream.
    fn threads(&self, about: &About, asks: bool) -> Threads<Arc<dyn Clock>> {
        let desk = self.desk(about, asks);
        // A name of its own for each: leases tell holders by it.
        let nth = self.desks.fetch_add(1, Ordering::Relaxed);
        let mut settings = ThreadSettings::new(format!("{}-{nth}", self.instance));
        settings.options = desk.options;
        let route = desk.routes.into_iter().next();
        settings.models = vec![RunModel {
            name: about.model.clone(),
            profile: desk.profile,
            // A name that leads nowhere: the options say that nobody is asked.
            route: route.unwrap_or(Route {
                model: Some("nobody".into()),
                replay: false,
                max_input: ASSUMED_WINDOW,
                max_output: ASSUMED_WINDOW,
                takes_schema: false,
            }),
            endpoint: about.upstream.url().into(),
        }];
        let threads = Threads::new(self.store.clone(), Arc::new(desk.compactor), settings);
        threads.keeping_open(self.open.clone())
    }

    /// What compacts conversations of a model behind an upstream. `asks`: a model may be asked, where the settings say
    /// so.
    pub(crate) fn desk(&self, about: &About, asks: bool) -> Desk {
        let mut models = Models::new();
        let mut options = self.settings.options.clone();
        let profile = profile(about);
        let mut routes = Vec::new();
        match &self.settings.summaries {
            Summaries::Client { model } if asks => {
                let name = model.clone().unwrap_or_else(|| about.model.clone());
                let writer = match model {
                    Some(name) => catalog::profile(name, None),
                    None => profile.clone(),
                };
                let window = writer.window.unwrap_or(ASSUMED_WINDOW);
                let reserve = writer.max_output.unwrap_or(0).min(window / 4);
                routes.push(Route {
                    model: Some("client".into()),
                    replay: false,
                    max_input: writer.max_input.unwrap_or(window - reserve),
                    max_output: writer.max_output.unwrap_or(ANY_OUTPUT),
                    takes_schema: false,
                });
                models = models.with("client", asked(about, &name));
            }
            _ => options.strategy = Some(Strategy::Digest),
        }
        let compactor = Compactor::new(models, self.clock.clone());
        Desk {
            compactor: compactor.with_telemetry(self.telemetry.clone()),
            options,
            profile,
            routes,
        }
    }

    /// Where they are.
    pub(crate) fn store(&self) -> &dyn ThreadStore {
        &*self.store
    }

    /// The time.
    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    fn mirror(&self, line: &Line, list: &List, about: &About) -> Mirror {
        let mut state = line.state();
        let mut hash = conspectus::core::id::IdentHasher::new();
        for (key, source) in list.fixed_source() {
            hash.field(key.as_bytes());
            hash.field(source);
        }
        let fixed = hash.finish();
        let is_other = state.fixed != Some(fixed);
        state.fixed = Some(fixed);
        let savings = state.savings;
        let usage = state.usage.clone().filter(|(at, _)| is_reply_at(list, *at));
        drop(state);
        let mut metadata = Metadata::new();
        let budget = self.budget(about).map(|budget| {
            json!({
                "input_limit": budget.input_limit,
                "trigger_tokens": budget.trigger,
                "soft_tokens": budget.soft,
                "target_tokens": budget.target,
            })
        });
        let facts = json!({
            "source": "proxy",
            "api": about.call.as_str(),
            "upstream": &*about.upstream.name,
            "model": &*about.model,
            "requests": savings.requests,
            "input_tokens": savings.input,
            "cache_read_tokens": savings.cache_read,
            "saved_tokens": savings.tokens,
            "saved_micros": savings.micros,
            "window": budget,
        });
        metadata.insert("proxy".to_owned(), facts);
        Mirror {
            runs_on: Some(RunsOn {
                model: about.model.clone(),
                provider: provider(about).map(Into::into),
            }),
            // Reports are of what was sent, which is not what a thread shows that only watches.
            usage: usage
                .filter(|_| !self.settings.observe)
                .map(|(at, usage)| (at as u64, usage)),
            fixed: is_other.then(|| list.fixed()),
            is_sent: true,
            metadata,
        }
    }

    /// What is known now.
    fn note(&self, line: &Line, list: &List, step: &InStep) {
        let mut state = line.state();
        state.trigger = [step.trigger, Some(step.limit)].into_iter().flatten().min();
        state.is_changed = step.record.is_some() || step.is_due;
        if state.count <= list.len() {
            state.tokens = step.size.tokens;
            if state.usage.as_ref().is_some_and(|(at, _)| *at < list.len()) {
                state.usage = None;
            }
        }
    }

    /// The thread of a conversation that is not known in memory.
    async fn establish(
        &self,
        line: &Arc<Line>,
        list: &List,
        about: &About,
        threads: &Threads<Arc<dyn Clock>>,
    ) -> Result<ThreadKey, ThreadsError> {
        let trunk = line.parent.as_ref().and_then(|(parent, at)| {
            let parent = parent.upgrade()?;
            // Without a compaction there is nothing to take over: the list says it all.
            let is_changed = parent.state().is_changed;
            is_changed.then_some((parent, *at))
        });
        if let Some((parent, at)) = trunk {
            let key = parent.thread.lock().await.clone();
            if let Some(key) = key {
                let new = self.free(line, list, about).await?;
                self.begin(threads, &new, Some((&key, at as u64))).await?;
                return Ok(new);
            }
        }
        let base = base(line, list);
        let mut best: Option<(u64, bool, ThreadKey)> = None;
        for name in self.alike(&about.tenant, &base).await?.into_iter().rev() {
            let key = ThreadKey {
                tenant: about.tenant.clone(),
                thread: name,
            };
            let Some((same, has, is_compacted)) = self.same(&key, list).await? else {
                continue;
            };
            // It goes on, or the list is an earlier state of it.
            let is_it = same == has || same == list.count();
            if !is_it && !is_compacted {
                continue;
            }
            let is_better = |(most, other, _): &(u64, bool, _)| (same, is_it) > (*most, *other);
            if best.as_ref().is_none_or(is_better) {
                best = Some((same, is_it, key));
            }
        }
        match best {
            Some((_, true, key)) => Ok(key),
            Some((same, false, key)) => {
                let new = self.free(line, list, about).await?;
                self.begin(threads, &new, Some((&key, same))).await?;
                Ok(new)
            }
            None => {
                let new = self.free(line, list, about).await?;
                self.begin(threads, &new, None).await?;
                Ok(new)
            }
        }
    }

    /// Makes a thread: of what `from` has up to a place, or an empty one.
    async fn begin(
        &self,
        threads: &Threads<Arc<dyn Clock>>,
        new: &ThreadKey,
        from: Option<(&ThreadKey, u64)>,
    ) -> Result<(), ThreadsError> {
        if let Some((from, at)) = from.filter(|(_, at)| *at > 0) {
            let place = Place::Count(at);
            let made = threads.branch(from, Some(&place), new, CreateThread::default());
            if made.await.is_ok() {
                return Ok(());
            }
        }
        threads.create(new, CreateThread::default()).await?;
        Ok(())
    }

    /// How many messages a thread has in common with a list, how many it has, and whether it was compacted.
    async fn same(
        &self,
        key: &ThreadKey,
        list: &List,
    ) -> Result<Option<(u64, u64, bool)>, StoreError> {
        let Some(head) = self.store.head(key).await? else {
            return Ok(None);
        };
        let Some(state) = head.state.as_ref() else {
            return Ok(None);
        };
        let has = head.nodes;
        let is_plain = match state.path() {
            [] => has == 0,
            [(first, last)] => first.0 == 0 && last.0 + 1 == has,
            _ => false,
        };
        if !is_plain {
            return Ok(None);
        }
        let (mut same, mut other) = (0, has.min(list.count()) + 1);
        // Mostly it is all of it.
        let mut next = other - 1;
        while other - same > 1 {
            let node = NodeId(next.max(1) - 1);
            let stored = self.store.messages(key, node, node).await?;
            let prefix = stored.first().map(|stored| stored.message.known.prefix);
            match prefix.is_some() && prefix == list.prefix(node.0 + 1) {
                true => same = node.0 + 1,
                false => other = node.0 + 1,
            }
            next = same + (other - same) / 2;
        }
        Ok(Some((same, has, state.active().is_some())))
    }

    /// A name that no thread has yet.
    async fn free(
        &self,
        line: &Line,
        list: &List,
        about: &About,
    ) -> Result<ThreadKey, ThreadsError> {
        let base = base(line, list);
        let names = self.alike(&about.tenant, &base).await?;
        let numbers = names.iter().filter_map(|name| {
            let number = name.strip_prefix(&*base)?;
            number.parse::<u64>().ok()
        });
        let number = numbers.max().unwrap_or(0) + 1;
        Ok(ThreadKey::new(&about.tenant, &format!("{base}{number:06}")))
    }

    /// The newest threads whose conversations began in the same way.
    async fn alike(&self, tenant: &str, base: &str) -> Result<Vec<Arc<str>>, StoreError> {
        // Their names are numbered: those behind the last number that there can be, backwards.
        let behind: Arc<str> = format!("{base}~").into();
        let listing = Listing {
            descending: true,
            after: Some(Listed {
                thread: behind,
                ms: 0,
            }),
            limit: ALIKE,
            ..Listing::default()
        };
        let page = self.store.list(tenant, &listing).await?;
        let names = page.into_iter().map(|(name, _)| name);
        let mut all: Vec<_> = names.filter(|name| name.starts_with(base)).collect();
        all.reverse();
        Ok(all)
    }
}

/// What the name of a conversation's thread begins with: whose it is and how it began, digested.
fn base(line: &Line, list: &List) -> String {
    format!("{PREFIX}{}-", line.scope().then(list.root()).short(24))
}

/// Whether the message at `at` is the reply to what stands before it, and no other reply follows.
fn is_reply_at(list: &List, at: usize) -> bool {
    let role = |at: usize| {
        let view = list.message(at as u64).map(|(_, view)| view);
        view.map(|view| view.role)
    };
    if at < list.known().min(list.len()) && at + 64 < list.len() {
        return false;
    }
    let is_reply = |at: &usize| role(*at) == Some(Role::Assistant);
    let Some(first) = Some(at).filter(is_reply) else {
        return false;
    };
    let end = (first..list.len()).find(|at| !is_reply(at));
    end.is_none_or(|end| !(end..list.len()).any(|at| is_reply(&at)))
}

/// Whose API it is asked by, where that says more than the model's name.
fn provider(about: &About) -> Option<&'static str> {
    match about.call.format() {
        Some(Format::Anthropic) => Some("anthropic"),
        _ => None,
    }
}

/// What is known of the model.
fn profile(about: &About) -> ModelProfile {
    let provider = provider(about);
    let mut profile = catalog::profile(&about.model, provider);
    if let Some(provider) = provider {
        // Whoever speaks this API binds reasoning as it does.
        profile.provider = Some(provider.into());
    }
    profile
}

/// What tokens that were not sent would have cost, in micro-dollars: as read from the cache where it is used.
pub(crate) fn worth(about: &About, tokens: u64, usage: Option<&Usage>) -> u64 {
    let Some(prices) = profile(about).prices else {
        return 0;
    };
    let rates = prices.at(tokens);
    let is_cached = usage.is_some_and(|usage| usage.cache_read > 0);
    let rate = if is_cached {
        rates.cache_read
    } else {
        rates.input
    };
    tokens.saturating_mul(rate) / 1_000_000
}
