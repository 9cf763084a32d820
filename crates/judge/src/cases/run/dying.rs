//! The step in which processes die, on both sides: the runner that starts them and looks at what they leave, and the one
//! that dies.

use std::borrow::Cow;

use anyhow::Context as _;
use conspectus_core::policy::Policy;

use super::{Runner, behaviour, empty, steps};
use crate::cases::crash::{self, Instant, Order};
use crate::cases::disk::Disk;
use crate::cases::generate::expand;
use crate::cases::json::Json;
use crate::cases::session::Session;
use crate::cases::settings::Settings;
use crate::cases::trace::{Crash, Step};

/// The process that dies: does what the order in `input` says, as far as it comes.
///
/// # Errors
/// When it cannot begin, or the store fails.
pub fn die(input: &str) -> anyhow::Result<()> {
    let order: Order = serde_json::from_str(input).context("an order")?;
    let case = Json::parse(&order.case)?;
    let mut settings = Settings::new(expand(case.get("config").unwrap_or(&empty())));
    let specs = steps(&case, &settings);
    for spec in specs.iter().take(order.step) {
        settings.change(spec.get("config").unwrap_or(&empty()));
    }
    let behaviour = behaviour(&case).context("a behaviour")?;
    let mut runner = Runner::new(&case, settings, behaviour)?;
    runner.world.now = order.now;
    runner.world.was_asked(&order.asked);
    runner.world.asked.clear();
    runner.commands = order.commands;
    let policy = runner.policy.clone().map_err(anyhow::Error::msg)?;
    let mut disk = Disk::at(&order.file, &order.thread);
    disk.failpoint = Some(order.instant.failpoint());
    let mut session = runner.session(&policy, runner.before())?.opened(disk)?;
    runner.leased("compact", &mut session, &policy)?;
    crash::tell(&runner.world.take_done())?;
    crash::die_at_the_end()
}

impl Runner<'_> {
    /// From the same start, for each point: a process compacts a copy of the store and dies, the next one reads what is
    /// there and compacts. Gives the thread as the last one that died left it.
    pub(super) fn crash(
        &mut self,
        spec: &Json,
        at: usize,
        name: &str,
        session: &Session,
        policy: &Policy,
        step: &mut Step,
    ) -> anyhow::Result<Session> {
        let start = session.disk().context("threads live in a file")?;
        let (began, commands) = (self.world.now, self.commands);
        let (mut crashes, mut events) = (Vec::new(), Vec::new());
        let mut left = session.reloaded()?;
        for point in spec.texts_at("points") {
            for instant in Instant::of_point(point) {
                let nth = crashes.len();
                let file = start.file().with_file_name(format!("crash-{at}-{nth}.db"));
                let disk = start.copied(&file)?;
                let order = Order {
                    case: self.case.to_string(),
                    step: at,
                    thread: name.to_owned(),
                    file,
                    instant,
                    now: began,
                    commands,
                    asked: self.world.asked.clone(),
                };
                let death = order.carry_out()?;
                self.world.now = began;
                for done in &death.done {
                    self.world.was_asked(&done.asked);
                    self.world.now = done.now;
                    step.summary_calls.extend(crash::read_calls(done)?);
                    events.extend(done.events.iter().cloned().map(Cow::Owned));
                }
                if death.at.is_none() {
                    let warning = format!("{point}: the process died when all was done");
                    step.warnings.push(warning);
                }
                let died = self.world.now;
                let again = disk.file().with_file_name(format!("again-{at}-{nth}.db"));
                let copy = disk.copied(&again)?;
                left = session.opened(disk)?;
                self.commands = commands + 1;
                let report = self.leased("compact", &mut session.opened(copy)?, policy)?;
                self.world.now = died;
                step.summary_calls.extend(self.world.take_calls());
                events.append(&mut self.world.events);
                self.world.reported_input = None;
                crashes.push(Crash {
                    point: point.to_owned(),
                    died: death.at,
                    active: left.active()?,
                    summary: left.summary(),
                    retry: report.outcome.as_str(),
                });
            }
        }
        step.events = Some(events);
        step.crashes = Some(crashes);
        Ok(left)
    }
}
