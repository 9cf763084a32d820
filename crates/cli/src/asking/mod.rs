//! Summaries by a model, for `compact`: who is asked, how it is watched, and how it is stopped.
//!
//! The engine does the work; here stands what belongs to a terminal: names become places ([`chain`], [`place`]),
//! calls are counted and shown ([`watch`]), Ctrl-C cancels ([`stop`]).

mod chain;
mod hint;
mod place;
mod stop;
mod watch;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "threads")]
use conspectus::AgentModels;
use conspectus::core::cost::{Warmth, spent_micros};
use conspectus::core::policy::{CALL_TIMEOUT_MS, Policy, Strategy};
use conspectus::core::thread::Size;
use conspectus::core::view::Usage;
use conspectus::core::way::{Sizes, replays};
use conspectus::{
    ChatModel, CompactRequest, Compaction, Compactor, Control, Document, Embedded, ModelProfile,
    Models, Outcome, Replaying, compact,
};
use conspectus_config::Config;
use conspectus_providers::TokioClock;
use tokio::runtime::Runtime;

use self::chain::{Link, Named, named};
use self::place::{Api, Environment, Flags, Place};
pub(crate) use self::stop::Stop;
use self::watch::{Watch, Watched};
use crate::args::{Provider, SummaryArgs};
use crate::asked::{Ahead, Asked, Estimate, UsedLine};
use crate::fail::{Exit, Fail};
use crate::show;
use crate::ui::{self, ProgressLine};

/// About what an instruction takes.
const INSTRUCTION_TOKENS: u64 = 700;
/// This part of a window is kept free.
const SPARE: u64 = 5;
/// How often the terminal is told.
const TICK: Duration = Duration::from_millis(250);

/// Models as threads and agents know them, by name.
#[cfg(feature = "threads")]
pub(crate) struct Listed {
    /// For summaries.
    pub(crate) models: Models,
    /// For agents to run on.
    pub(crate) agents: AgentModels,
    /// What is known of each, in order; the first is the one that is taken unless told.
    pub(crate) listed: Vec<conspectus::threads::RunModel>,
}

/// The models of the list, for a service: each as conversations may name it, in the list's order. One that could not be
/// made is a failed call.
#[cfg(feature = "threads")]
pub(crate) fn served(config: &Config, timeout_ms: u64) -> Listed {
    let environment = Environment::of_process();
    let links = config.models().iter();
    made(
        links.map(|model| Link::of_list(model, &environment)),
        config,
        timeout_ms,
    )
}

#[cfg(feature = "threads")]
fn made(links: impl Iterator<Item = Link>, config: &Config, timeout_ms: u64) -> Listed {
    let mut made = Listed {
        models: Models::new(),
        agents: AgentModels::new(),
        listed: Vec::new(),
    };
    for link in links {
        if made.listed.iter().any(|model| model.name == link.name) {
            continue;
        }
        let place = link.place.as_ref().map_err(Clone::clone);
        let why = |why: conspectus_providers::BuildError| Arc::<str>::from(why.to_string());
        let writer = place
            .clone()
            .and_then(|place| place.make(timeout_ms).map_err(why));
        let agent = place.and_then(|place| place.make_agent(timeout_ms).map_err(why));
        made.models = made.models.with(link.name.clone(), writer);
        made.agents = made.agents.with(link.name.clone(), agent);
        let endpoint = link.place.as_ref().map_or("", Place::shown);
        made.listed.push(conspectus::threads::RunModel {
            name: link.name.clone(),
            route: link.route(config.options()),
            endpoint: endpoint.into(),
            profile: link.profile,
        });
    }
    made
}

/// The models of threads: those of the list, and without a list those that flags name.
///
/// # Errors
/// A name that leads nowhere; flags without a model that they could be about.
#[cfg(feature = "threads")]
pub(crate) fn threaded(
    config: &Config,
    args: &SummaryArgs,
    timeout_ms: u64,
) -> Result<Listed, Fail> {
    let asking = Asking::prepare(config, args)?;
    if !config.models().is_empty() {
        return Ok(served(config, timeout_ms));
    }
    let named = asking.named;
    // With the digest it only says the window.
    let of_window = args.model.as_deref().map(|name| Link {
        name: name.into(),
        profile: conspectus::catalog::profile(name, None),
        place: Err("the digest asks no model".into()),
        is_run: false,
    });
    // The first is the one that threads run on unless told.
    let links = named.run.or(of_window).into_iter().chain(named.first);
    let links = links.map(|link| Link {
        is_run: false,
        ..link
    });
    Ok(made(links, config, timeout_ms))
}

/// Asks models for summaries.
pub(crate) struct Asking {
    named: Named,
    environment: Environment,
    session: OnceCell<Session>,
}

/// What is kept from the first call on.
struct Session {
    runtime: Runtime,
    clock: TokioClock,
    stop: Arc<Stop>,
    /// By name: each is made once.
    made: RefCell<BTreeMap<Arc<str>, Made>>,
}

/// A model, or why it could not be made.
type Made = Result<Arc<dyn ChatModel>, Arc<str>>;

/// What it says while it works.
pub(crate) struct Telling {
    /// The terminal's line.
    pub(crate) progress: ProgressLine,
    /// Whether it is said who is asked and what that may cost, before the first call.
    pub(crate) is_told: bool,
    /// Nobody is asked.
    pub(crate) is_dry: bool,
}

impl Telling {
    fn tell(&self, text: &str) {
        self.progress.show("");
        ui::note(text);
    }
}

impl Asking {
    /// What flags and configuration ask for.
    ///
    /// # Errors
    /// A name that leads nowhere; flags without a model that they could be about.
    pub(crate) fn prepare(config: &Config, args: &SummaryArgs) -> Result<Self, Fail> {
        let environment = Environment::of_process();
        let flags = Flags {
            model: args.model.as_deref(),
            summary_model: args.summary_model.as_deref(),
            fallback: &args.fallback,
            provider: args.provider.map(|provider| match provider {
                Provider::OpenAi => Api::OpenAi,
                Provider::Anthropic => Api::Anthropic,
            }),
            base_url: args.base_url.as_deref(),
            key_variable: args.api_key_env.as_deref(),
        };
        // With the digest names only say windows and prices.
        let named = match config.options().strategy {
            Some(Strategy::Digest) => Named::default(),
            _ => named(config, &flags, &environment)?,
        };
        let asking = Self {
            named,
            environment,
            session: OnceCell::new(),
        };
        let is_nobody = asking.named.is_empty() && config.models().is_empty();
        let is_digest = config.options().strategy == Some(Strategy::Digest);
        match args.needs_model() {
            Some(flag) if is_nobody || is_digest => {
                let why = match is_digest {
                    true => "the digest asks no model; leave one of the two out",
                    false => "no model is named that could be asked; add --model NAME",
                };
                Err(Fail::about(Exit::Usage, flag, why))
            }
            _ => Ok(asking),
        }
    }

    /// What is to be said before anything is done.
    pub(crate) fn warning(&self) -> Option<String> {
        None
    }

    /// Adds the models to a request about a conversation that runs on the request's model.
    pub(crate) fn complete(&self, config: &Config, request: &mut CompactRequest) {
        let chain = self.chain(config, &request.model, request.options.strategy);
        let known = request.options.others.clone();
        let new = chain.iter().filter(|link| !link.is_run);
        let new = new.map(|link| &link.profile);
        let new = new.filter(|profile| known.iter().all(|k| k.name != profile.name));
        request.options.others.extend(new.cloned());
        request.manual.routes = chain.iter().map(|l| l.route(&request.options)).collect();
    }

    fn chain(&self, config: &Config, run: &ModelProfile, strategy: Option<Strategy>) -> Vec<Link> {
        match strategy {
            Some(Strategy::Digest) => Vec::new(),
            _ => self.named.chain(config, run, &self.environment),
        }
    }

    /// Compacts a conversation, with models where the request has routes to them and there is something to sum up.
    ///
    /// # Errors
    /// When the options cannot work.
    pub(crate) fn compact(
        &self,
        config: &Config,
        (document, index): (&Document, usize),
        request: &CompactRequest,
        telling: &Telling,
    ) -> Result<(Compaction, Option<Asked>), Fail> {
        let conversation = &document.conversations()[index];
        let config_error = |error| Fail::new(Exit::Config, error);
        let chain = self.chain(config, &request.model, request.options.strategy);
        let Some(first) = chain.first() else {
            let done = compact(conversation, request, &mut Embedded::default());
            return Ok((done.map_err(config_error)?, None));
        };
        if telling.is_dry {
            return self.dry((document, index), request, &chain, telling);
        }
        let session = self.session()?;
        let watch = Arc::new(Watch::new(session.clock, request.model.name.clone()));
        let timeout_ms = request.options.call_timeout_ms.unwrap_or(CALL_TIMEOUT_MS);
        let models = session.models(&chain, &watch, timeout_ms);
        let compactor = Compactor::new(models, session.clock);
        let around = Replaying::new(document, index).within(watch.as_ref());
        let prepared = compactor
            .prepare(conversation, request, &around)
            .map_err(config_error)?;
        let estimate = estimate(
            (document, index),
            Known {
                policy: prepared.policy(),
                size: prepared.size(),
                folded: prepared.folded_tokens(),
            },
            first,
            request,
        );
        if telling.is_told {
            watch.say_first(
                show::ahead(&ahead(first, estimate, false)),
                telling.progress,
            );
        }
        let control = Control::new();
        let running = session.stop.while_running(&control);
        let ticking = telling.progress.is_shown().then(|| {
            let (watch, line) = (watch.clone(), telling.progress);
            session.runtime.spawn(async move {
                loop {
                    line.show(&watch.line());
                    tokio::time::sleep(TICK).await;
                }
            })
        });
        let run = compactor.finish(prepared, conversation, &around, &control);
        let compaction = session.runtime.block_on(run);
        if let Some(ticking) = ticking {
            ticking.abort();
            // Not before it is over, so that nothing is shown after the line was cleared.
            let _ = session.runtime.block_on(ticking);
            telling.progress.show("");
        }
        drop(running);
        let asked = asked(&chain, estimate, &watch, compaction.thread.policy());
        Ok((compaction, asked))
    }

    /// What would be done without a model, and what asking one would take.
    fn dry(
        &self,
        (document, index): (&Document, usize),
        request: &CompactRequest,
        chain: &[Link],
        telling: &Telling,
    ) -> Result<(Compaction, Option<Asked>), Fail> {
        let conversation = &document.conversations()[index];
        let mut without = request.clone();
        without.manual.routes.clear();
        let planned = compact(conversation, &without, &mut Embedded::default())
            .map_err(|error| Fail::new(Exit::Config, error))?;
        let would_ask = matches!(
            planned.report.outcome,
            Outcome::Compacted | Outcome::Rejected | Outcome::Failed
        );
        let Some(first) = chain.first().filter(|_| would_ask) else {
            return Ok((planned, None));
        };
        let branch = planned.thread.branch();
        let going = planned.plan.going();
        let known = Known {
            policy: planned.thread.policy(),
            size: &planned.size,
            folded: planned
                .counter
                .tokens(going.map(|at| branch.weight(at, at + 1)).sum()),
        };
        let estimate = estimate((document, index), known, first, request);
        if telling.is_told {
            telling.tell(&show::ahead(&ahead(first, estimate, true)));
        }
        let asked = Asked {
            chain: names(chain),
            estimate,
            dry_run: true,
            passed_over: Vec::new(),
            used: Vec::new(),
            micros: Some(0),
        };
        Ok((planned, Some(asked)))
    }

    fn session(&self) -> Result<&Session, Fail> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let session = Session::begin().map_err(|error| {
            Fail::about(
                Exit::Compaction,
                "models cannot be asked",
                &error.to_string(),
            )
        })?;
        Ok(self.session.get_or_init(|| session))
    }
}

impl Session {
    fn begin() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let stop = Arc::new(Stop::default());
        runtime.spawn(stop.clone().listen());
        Ok(Self {
            runtime,
            clock: TokioClock::new(),
            stop,
            made: RefCell::default(),
        })
    }

    /// The models of a chain, watched. Each is made once.
    fn models(&self, chain: &[Link], watch: &Arc<Watch>, timeout_ms: u64) -> Models {
        let mut all = Models::new();
        for link in chain {
            let mut made = self.made.borrow_mut();
            let made = made.entry(link.name.clone()).or_insert_with(|| {
                let place = link.place.as_ref().map_err(Clone::clone)?;
                place.make(timeout_ms).map_err(|e| e.to_string().into())
            });
            let model = made.clone().map(|model| {
                let (name, watch) = (link.name.clone(), watch.clone());
                Arc::new(Watched { name, model, watch }) as Arc<dyn ChatModel>
            });
            all = match link.is_run {
                true => all.with_run(model),
                false => all.with(link.name.clone(), model),
            };
        }
        all
    }
}

/// What is known of a compaction before it is made.
struct Known<'a> {
    policy: &'a Policy,
    size: &'a Size,
    /// Tokens of what goes.
    folded: u64,
}

fn ahead(first: &Link, estimate: Estimate, is_dry: bool) -> Ahead<'_> {
    Ahead {
        is_dry,
        model: &first.name,
        place: first.place.as_ref().ok().map(Place::shown),
        estimate,
    }
}

fn names(chain: &[Link]) -> Vec<String> {
    chain.iter().map(|link| link.name.to_string()).collect()
}

/// What asking the first model is expected to take.
fn estimate(
    (document, index): (&Document, usize),
    Known {
        policy,
        size,
        folded,
    }: Known<'_>,
    first: &Link,
    request: &CompactRequest,
) -> Estimate {
    let cap = policy.summary.max_tokens;
    let sizes = Sizes {
        conversation: size.tokens.max(size.request),
        folded,
        instruction: INSTRUCTION_TOKENS,
        summary: cap,
    };
    let mut route = first.route(&request.options);
    let takes = first.place.as_ref().ok().map(Place::takes);
    route.replay = takes == Some(document.format()) && document.can_replay(index).is_ok();
    let (calls, input_tokens) = match replays(policy, &route, &sizes, Warmth::Cold) {
        (true, _) => (1, sizes.conversation + INSTRUCTION_TOKENS),
        (false, _) => {
            let most = route.max_input - route.max_input / SPARE;
            let most = most.min(policy.call_cap().unwrap_or(u64::MAX));
            let each = most.saturating_sub(INSTRUCTION_TOKENS).max(1);
            // Partial summaries are merged by one more call.
            let (calls, again) = match folded.div_ceil(each).max(1) {
                1 => (1, 0),
                parts => (parts + 1, parts * cap),
            };
            (calls, folded + again + calls * INSTRUCTION_TOKENS)
        }
    };
    let output_tokens = calls * cap;
    let usage = Usage {
        input: input_tokens,
        output: output_tokens,
        cache_read: 0,
        cache_write: 0,
        reported_total: None,
        provider: None,
    };
    Estimate {
        calls,
        input_tokens,
        output_tokens,
        micros: first.profile.prices.map(|p| spent_micros(&usage, &p)),
    }
}

/// What it came to; `None`: nobody was asked.
fn asked(chain: &[Link], estimate: Estimate, watch: &Watch, policy: &Policy) -> Option<Asked> {
    let seen = watch.seen().clone();
    if seen.used.is_empty() && seen.passed_over.is_empty() {
        return None;
    }
    let mut used: Vec<UsedLine> = seen
        .used
        .into_iter()
        .map(|(name, used)| {
            let is_run = chain.iter().any(|link| link.name == name && link.is_run);
            let prices = policy.cost.prices_of((!is_run).then_some(&*name));
            let micros = match (used.calls == used.failed, used.unreported) {
                // What fails is not paid for.
                (true, _) => Some(0),
                (false, 0) => prices.map(|p| spent_micros(&used.usage(), &p)),
                (false, _) => None,
            };
            UsedLine {
                model: name.to_string(),
                used,
                micros,
            }
        })
        .collect();
    let place = |line: &UsedLine| chain.iter().position(|link| *link.name == *line.model);
    used.sort_by_key(place);
    let micros = used.iter().map(|line| line.micros).sum();
    Some(Asked {
        chain: names(chain),
        estimate,
        dry_run: false,
        passed_over: seen.passed_over,
        used,
        micros,
    })
}
