//! A case, step by step.

mod dying;

use std::collections::BTreeMap;

use anyhow::Context as _;
use conspectus::wire::Format;
use conspectus_core::attempt::Attempt;
use conspectus_core::effect::{Failure, Route};
use conspectus_core::id::{CallId, NodeId};
use conspectus_core::outcome::{Outcome, Report};
use conspectus_core::policy::Policy;
use conspectus_core::thread::{Decision, Manual, Recovery};
use conspectus_testkit::model::{Behaviour, Said, ScriptedModel};

use super::disk::Disk;
use super::generate::expand;
use super::json::Json;
use super::proxied::exchange;
use super::session::{Before, Session};
use super::settings::Settings;
use super::trace::{Archive, Error, Step, Telemetry, Tokens, Trace};
use super::world::{Happening, World};

pub use dying::die;

/// The trace of a case.
///
/// # Errors
/// When the case is not one, or the engine cannot read its messages.
pub fn run(case: &Json) -> anyhow::Result<Trace> {
    let skip = |skip: String| Ok(Trace::Skip { skip });
    let settings = Settings::new(expand(case.get("config").unwrap_or(&empty())));
    let specs = steps(case, &settings);
    for spec in &specs {
        let mut then = settings.clone();
        then.change(spec.get("config").unwrap_or(&empty()));
        if let Some(reason) = then.not_yet() {
            return skip(reason);
        }
    }
    let Some(behaviour) = behaviour(case) else {
        return skip("the summariser's behaviour is not known".to_owned());
    };
    let mut runner = Runner::new(case, settings, behaviour)?;
    let in_file = runner.settings.word("store") == Some("file");
    if in_file || specs.iter().any(|s| s.text_at("op") == Some(CRASH)) {
        runner.folder = Some(tempfile::tempdir().context("a folder for stores")?);
    }
    runner.run(&specs)
}

/// The step in which processes die.
const CRASH: &str = "compact_crash_at";

fn empty() -> Json {
    Json::Object(Vec::new())
}

fn steps(case: &Json, settings: &Settings) -> Vec<Json> {
    let given: Vec<Json> = case.items_at("steps").iter().map(expand).collect();
    if !given.is_empty() {
        return given;
    }
    let op = if settings.is_on("manual") {
        "compact"
    } else {
        "maybe_compact"
    };
    vec![Json::Object(vec![("op".to_owned(), Json::from(op))])]
}

fn behaviour(case: &Json) -> Option<Behaviour> {
    let mut messages = expand(case.get("messages")?).items().to_vec();
    for step in case.items_at("steps") {
        messages.extend(expand(step).items_at("messages").iter().cloned());
    }
    let beginning = |message: &Json| -> String {
        let texts = message.get("content").map(Json::leaves).unwrap_or_default();
        let letters = texts.iter().flat_map(|t| t.chars());
        letters.filter(|c| c.is_alphanumeric()).take(12).collect()
    };
    let beginnings: Vec<String> = messages.iter().map(beginning).collect();
    Behaviour::from_case(&expand(case.get("summarizer")?).value(), &beginnings)
}

struct Runner<'c> {
    case: &'c Json,
    settings: Settings,
    /// What the engine makes of the settings.
    policy: Result<Policy, String>,
    format: Format,
    warnings: Vec<String>,
    sessions: BTreeMap<String, Session>,
    world: World,
    /// Commands so far: typed instructions belong to the first one.
    commands: usize,
    /// Where threads in files live.
    folder: Option<tempfile::TempDir>,
}

impl<'c> Runner<'c> {
    fn new(case: &'c Json, settings: Settings, behaviour: Behaviour) -> anyhow::Result<Self> {
        let format: Format = case.text_at("format").context("a format")?.parse()?;
        let state = expand(case.get("state").unwrap_or(&empty()));
        let summary = state.text_at("summary").unwrap_or_default();
        let mut world = World::new(ScriptedModel::new(behaviour).after(summary));
        world.refuses_summaries = settings.word("store") == Some("fail_on_summary_write");
        let mut runner = Self {
            case,
            settings,
            policy: Err(String::new()),
            format,
            warnings: Vec::new(),
            sessions: BTreeMap::new(),
            world,
            commands: 0,
            folder: None,
        };
        runner.resolve();
        Ok(runner)
    }

    fn resolve(&mut self) {
        self.policy = match self.settings.resolve() {
            Ok(resolved) => {
                let warnings = resolved.warnings.iter().map(ToString::to_string);
                self.warnings.extend(warnings);
                Ok(resolved.policy)
            }
            Err(error) => Err(error.to_string()),
        };
    }

    fn run(mut self, specs: &[Json]) -> anyhow::Result<Trace> {
        let first = specs[0].text_at("thread").unwrap_or_default().to_owned();
        if let Ok(policy) = self.policy.clone() {
            let mut session = self.new_session(&policy, self.before(), &first)?;
            let messages = expand(self.case.get("messages").unwrap_or(&empty()));
            session.begin(messages.items())?;
            self.sessions.insert(first.clone(), session);
        }
        let construction = std::mem::take(&mut self.warnings);
        let mut steps = Vec::new();
        for (at, spec) in specs.iter().enumerate() {
            let name = spec.text_at("thread").unwrap_or(&first).to_owned();
            steps.push(self.step(spec, at, &name)?);
        }
        let estimates = self.sessions.values().flat_map(Session::estimates);
        let estimates = estimates.map(|(label, tokens)| (label, Json::from(tokens)));
        Ok(Trace::Run {
            estimates: Json::Object(estimates.collect()),
            steps,
            warnings: construction,
        })
    }

    /// What exists before the first step.
    fn before(&self) -> Before {
        let state = expand(self.case.get("state").unwrap_or(&empty()));
        let old_summaries = state.texts_at("summary_message_ids");
        Before {
            summary: state.text_at("summary").map(str::to_owned),
            old_summaries: old_summaries.map(str::to_owned).collect(),
            archived: state.items_at("archived_messages").to_vec(),
        }
    }

    /// A thread that begins, in a file if threads live there.
    fn new_session(&self, policy: &Policy, before: Before, name: &str) -> anyhow::Result<Session> {
        let mut session = self.session(policy, before)?;
        if let Some(folder) = &self.folder {
            session.keep_in(Disk::create(&folder.path().join("threads.db"), name)?)?;
        }
        Ok(session)
    }

    fn session(&self, policy: &Policy, before: Before) -> anyhow::Result<Session> {
        let around = ["system", "tools"].iter().filter_map(|key| {
            let value = self.case.get(key).filter(|v| !v.is_null())?;
            Some(((*key).to_owned(), expand(value)))
        });
        Session::new(
            self.format,
            around.collect(),
            &self.settings,
            policy,
            before,
        )
    }

    fn step(&mut self, spec: &Json, at: usize, name: &str) -> anyhow::Result<Step> {
        let op = spec.text_at("op").context("every step has an op")?;
        if op == "set_config" {
            self.settings.change(spec.get("config").unwrap_or(&empty()));
            self.resolve();
        }
        let mut step = Step {
            op: op.to_owned(),
            warnings: std::mem::take(&mut self.warnings),
            ..Step::default()
        };
        let policy = match self.policy.clone() {
            Ok(policy) => policy,
            Err(message) => {
                step.outcome = Some(Outcome::ConfigError.as_str());
                step.error = Some(Error {
                    code: "config".to_owned(),
                    message,
                });
                return Ok(step);
            }
        };
        if !self.sessions.contains_key(name) {
            let session = self.new_session(&policy, Before::default(), name)?;
            self.sessions.insert(name.to_owned(), session);
        }
        let mut session = self.sessions.remove(name).context("a thread")?;
        let began = self.world.now;
        let window = session.labels();
        match op {
            "append" => session.append(spec.items_at("messages"))?,
            "render" => session.append(spec.items_at("messages"))?,
            "reload" => session = session.reloaded()?,
            "set_config" => session.configure(&self.settings, &policy)?,
            CRASH => session = self.crash(spec, at, name, &session, &policy, &mut step)?,
            "advance_clock" => {
                self.world.now += 1000 * spec.number_at("seconds").unwrap_or(0);
            }
            _ => {
                let report = self.compacting(spec, op, &mut session, &policy, &mut step)?;
                let report = report.with_context(|| format!("the op {op} is not known"))?;
                self.report(&report, op, &window, &session, &mut step);
                if self.settings.is_proxied() {
                    let http = exchange(session.messages(), self.settings.options()?)?;
                    let is_idle = report.outcome == Outcome::Skipped;
                    anyhow::ensure!(
                        is_idle == (http.outcome == "untouched"),
                        "the engine says {}, the proxy {}",
                        report.outcome.as_str(),
                        http.outcome
                    );
                    step.http = Some(http);
                }
            }
        }
        step.wall_ms = self.world.now - began;
        step.active = Some(session.active()?);
        step.summary = session.summary();
        step.durable = Some(session.durable());
        step.request = Some(session.request()?);
        step.pruned = session.pruned();
        step.stored = Some(session.stored()?);
        self.sessions.insert(name.to_owned(), session);
        Ok(step)
    }

    /// The report of a compacting step; `None` for an op that is not known.
    fn compacting(
        &mut self,
        spec: &Json,
        op: &str,
        session: &mut Session,
        policy: &Policy,
        step: &mut Step,
    ) -> anyhow::Result<Option<Report>> {
        let later = self.world.now + spec.number_at("after_ms").unwrap_or(0);
        let messages = spec.items_at("messages").to_vec();
        match op {
            "maybe_compact" | "compact" => {}
            "provider_error" => {
                self.world.now = session.acquire(self.world.now)?;
                let report = self.provider_error(spec, session, policy)?;
                session.release()?;
                return Ok(Some(report));
            }
            "compact_with_append_during" => self.world.at(later, Happening::Append(messages)),
            "compact_with_other_writer" => self.world.at(later, Happening::Elsewhere(messages)),
            "compact_and_cancel" => self.world.at(later, Happening::Cancel),
            "concurrent" => {
                self.world.now = session.acquire(self.world.now)?;
                let report = self.concurrent(spec, session, policy, step)?;
                session.release()?;
                return Ok(Some(report));
            }
            _ => return Ok(None),
        }
        self.leased(op, session, policy).map(Some)
    }

    /// A check or a command, with the right to it.
    fn leased(
        &mut self,
        op: &str,
        session: &mut Session,
        policy: &Policy,
    ) -> anyhow::Result<Report> {
        self.world.now = session.acquire(self.world.now)?;
        let decision = self.decide(op, session, policy);
        let report = self.carry_out(decision, session)?;
        session.release()?;
        Ok(report)
    }

    /// What the engine says to a check or a command.
    fn decide(&mut self, op: &str, session: &mut Session, policy: &Policy) -> Decision {
        let now = self.world.now;
        let routes: Vec<Route> = vec![self.settings.route(policy)];
        let is_manual = op != "maybe_compact" && self.settings.is_on("manual");
        if !is_manual {
            let (thread, src) = session.parts();
            return thread.before_call(now, &routes, src);
        }
        let focus = self.settings.word("instructions");
        let manual = Manual {
            below_keep: self.settings.is_on("force"),
            focus: focus.filter(|_| self.commands == 0).map(Into::into),
            invoking: self.settings.word("invoked_by_tool_call").map(CallId::from),
            routes,
            ..Manual::default()
        };
        self.commands += 1;
        let (thread, src) = session.parts();
        thread.manual(now, &manual, src)
    }

    fn carry_out(&mut self, decision: Decision, session: &mut Session) -> anyhow::Result<Report> {
        match decision {
            Decision::Start(attempt, _) => self.drive(session, *attempt),
            Decision::Send(report) => Ok(report),
            Decision::Wait(_) => anyhow::bail!("no attempt runs beyond its step"),
        }
    }

    fn drive(&mut self, session: &mut Session, attempt: Attempt) -> anyhow::Result<Report> {
        self.world.forget_numbers();
        self.world.drive(session, attempt)
    }

    fn provider_error(
        &mut self,
        spec: &Json,
        session: &mut Session,
        policy: &Policy,
    ) -> anyhow::Result<Report> {
        let status = spec
            .number_at("status")
            .and_then(|status| u16::try_from(status).ok());
        let body = spec.get("body");
        let message = match body {
            Some(Json::Text(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let said = Said::Error { status, message };
        let error = match said.outcome() {
            Some(Err(error)) => error,
            _ => anyhow::bail!("an error is a failure"),
        };
        let routes = [self.settings.route(policy)];
        let now = self.world.now;
        let is_off = self.settings.is_off("compact_on_overflow_error");
        let error = match error {
            error if is_off && error.is_context_overflow() => Failure::Unusable {
                message: "overflow".into(),
            },
            error => error,
        };
        let (thread, src) = session.parts();
        match thread.provider_error(now, &error, &routes, src) {
            Recovery::Compact(attempt) => self.drive(session, *attempt),
            Recovery::GiveUp(report) => Ok(report),
        }
    }

    /// All ops are decided before the first attempt goes on.
    fn concurrent(
        &mut self,
        spec: &Json,
        session: &mut Session,
        policy: &Policy,
        step: &mut Step,
    ) -> anyhow::Result<Report> {
        let mut reports = Vec::new();
        let mut started = None;
        for op in spec.items_at("ops") {
            let op = op.text_at("op").or(op.text()).unwrap_or_default();
            match self.decide(op, session, policy) {
                Decision::Start(attempt, _) => {
                    started = Some((reports.len(), attempt));
                    reports.push(None);
                }
                Decision::Send(report) => reports.push(Some(report)),
                Decision::Wait(_) => anyhow::bail!("a check waits for an attempt that runs"),
            }
        }
        if let Some((place, attempt)) = started {
            reports[place] = Some(self.drive(session, *attempt)?);
        }
        let reports: Vec<Report> = reports.into_iter().flatten().collect();
        step.outcomes = Some(reports.iter().map(|r| r.outcome.as_str()).collect());
        let best = reports.iter().find(|r| r.outcome == Outcome::Compacted);
        best.or(reports.first()).cloned().context("an op")
    }

    fn report(
        &mut self,
        report: &Report,
        op: &str,
        window: &[String],
        session: &Session,
        step: &mut Step,
    ) {
        let after = session.labels();
        let removed = window.iter().filter(|label| !after.contains(label)).count() as u64;
        let measured = &report.measured;
        if op != "concurrent" {
            step.outcome = Some(report.outcome.as_str());
        }
        step.error = error(report);
        step.tokens = Some(Tokens {
            before: measured.tokens_before,
            after: measured.tokens_after,
        });
        step.events = Some(std::mem::take(&mut self.world.events));
        step.summary_calls = self.world.take_calls();
        step.telemetry = Some(Telemetry {
            outcome: report.outcome.as_str(),
            trigger: match op {
                "maybe_compact" => "auto",
                "provider_error" => "overflow",
                _ if self.settings.is_on("manual") => "manual",
                _ => "auto",
            },
            tokens_before: measured.tokens_before,
            tokens_after: measured.tokens_after,
            messages_before: window.len() as u64,
            messages_removed: removed,
            messages_after: after.len() as u64,
            summarizer_input_tokens: self.world.reported_input.take(),
            reasons: report.reasons.iter().map(|r| r.as_str()).collect(),
        });
        if self.settings.is_on("archive") {
            step.archive = self.archive(session);
        }
    }

    /// What was written to the archive, read back from it.
    fn archive(&mut self, session: &Session) -> Option<Archive> {
        let (nodes, written_at) = self.world.archived.clone()?;
        let handle = |node: &NodeId| Some(session.thread.history().node(*node)?.view.handle);
        let handles = nodes.iter().filter_map(handle);
        Some(Archive {
            messages: handles
                .filter_map(|h| session.surface.entry(h).ok())
                .collect(),
            written_at,
            committed_at: self.world.committed_at,
        })
    }
}

/// What is told when nothing was done and something should have been.
fn error(report: &Report) -> Option<Error> {
    let code = match (&report.failure, report.outcome) {
        (
            _,
            Outcome::Compacted
            | Outcome::Pruned
            | Outcome::Skipped
            | Outcome::NothingToCompact
            | Outcome::Disabled,
        ) => return None,
        (Some(failure), _) => code(failure),
        (None, outcome) => outcome.as_str(),
    };
    let reasons = report.reasons.iter().map(ToString::to_string);
    let failure = report.failure.iter().map(ToString::to_string);
    Some(Error {
        code: code.to_owned(),
        message: failure.chain(reasons).collect::<Vec<_>>().join("; "),
    })
}

fn code(failure: &Failure) -> &'static str {
    match failure {
        error if error.is_context_overflow() => "context_overflow",
        Failure::Unavailable { .. } => "unavailable",
        Failure::Unusable { .. } => "unusable",
        Failure::TimedOut { .. } => "timeout",
        Failure::NotASummary(_) => "not_a_summary",
        Failure::Store { .. } => "store",
        Failure::Broken { .. } => "broken",
        _ => "failure",
    }
}
