//! A conversation written as lines, its thread, and a driver for tests.

use super::*;

/// Answers the n-th call.
pub(super) type Model = Box<dyn Fn(usize, &SummaryInput) -> Result<Reply, Failure>>;

/// A conversation, its thread, and how the outside behaves.
pub(super) struct Scene {
    pub(super) said: Conversation,
    pub(super) thread: Thread,
    pub(super) model: Model,
    pub(super) calls: usize,
    pub(super) events: Vec<Event>,
    pub(super) log: Vec<Input>,
}

pub(super) fn options(trigger: Option<Clause>, keep: u64) -> Options {
    Options {
        trigger: trigger.map_or(TriggerOption::Never, |clause| {
            TriggerOption::Any(vec![clause])
        }),
        keep: Some(KeepOption::Messages(keep)),
        max_context: Some(50_000),
        max_retries: Some(1),
        ..Options::default()
    }
}

pub(super) fn tokens(n: u64) -> Option<Clause> {
    Some(Clause {
        tokens: Some(n),
        ..Clause::default()
    })
}

pub(super) fn reply(text: &str) -> Reply {
    Reply {
        text: text.into(),
        finish: Finish::Stop,
        usage: None,
    }
}

impl Scene {
    pub(super) fn new(options: &Options, lines: &[&str]) -> Self {
        let policy = Policy::resolve(options, &ModelProfile::default())
            .unwrap()
            .policy;
        let mut scene = Self {
            said: Conversation::parse(&[]),
            thread: Thread::new(Arc::new(policy)),
            model: Box::new(|_, _| Ok(reply("The story so far."))),
            calls: 0,
            events: Vec::new(),
            log: Vec::new(),
        };
        scene.say(lines);
        scene
    }

    pub(super) fn say(&mut self, lines: &[&str]) {
        for line in lines {
            self.said.push(line);
            let view = self.said.views().last().unwrap().clone();
            self.thread.append(
                [view],
                Sources {
                    texts: &self.said,
                    counter: &QuarterBytes,
                },
            );
        }
    }

    pub(super) fn routes() -> Vec<Route> {
        vec![Route {
            model: Some("m".into()),
            replay: false,
            max_input: 40_000,
            max_output: 4_000,
            takes_schema: false,
        }]
    }

    pub(super) fn check(&mut self, routes: &[Route]) -> Report {
        let src = Sources {
            texts: &self.said,
            counter: &QuarterBytes,
        };
        match self.thread.before_call(0, routes, src) {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    pub(super) fn command(&mut self, request: &Manual) -> Report {
        let src = Sources {
            texts: &self.said,
            counter: &QuarterBytes,
        };
        match self.thread.manual(0, request, src) {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    /// Drives an attempt to its end, in virtual time.
    pub(super) fn run(&mut self, mut attempt: Attempt) -> Report {
        let mut now = 0;
        let mut wakes = Vec::new();
        for _ in 0..10_000 {
            let src = Sources {
                texts: &self.said,
                counter: &QuarterBytes,
            };
            let input = match attempt.poll(now, src) {
                Poll::Done(report) => {
                    self.thread.ended(attempt.id(), report.outcome, now);
                    return *report;
                }
                Poll::Idle => {
                    now = wakes
                        .iter()
                        .copied()
                        .filter(|w| *w > now)
                        .min()
                        .expect("idle without a wake");
                    continue;
                }
                Poll::Do(Effect::Call { call, request, .. }) => {
                    self.calls += 1;
                    match (self.model)(self.calls, &request.input) {
                        Ok(reply) => Input::Reply(call, reply),
                        Err(failure) => Input::Failed(call, failure),
                    }
                }
                Poll::Do(Effect::CacheGet(key)) => Input::Cached(key, None),
                Poll::Do(Effect::WakeAt(at)) => {
                    wakes.push(at);
                    continue;
                }
                Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
                Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
                Poll::Do(Effect::Commit(record, expect)) => {
                    Input::Committed(self.thread.commit(&record, expect, src))
                }
                Poll::Do(Effect::LookUp(id, record)) => {
                    Input::Found(self.thread.has_record(id, record))
                }
                Poll::Do(Effect::Emit(event)) => {
                    self.events.push(event);
                    continue;
                }
                Poll::Do(Effect::Abort(_) | Effect::CachePut(..)) => continue,
            };
            self.log.push(input.clone());
            attempt.feed(now, input, src);
        }
        panic!("the attempt does not end");
    }

    /// The request, one word a piece: position, `*` behind an edit, `[summary]`.
    pub(super) fn shown(&self) -> String {
        let word = |piece: &Piece| match piece {
            Piece::Keep(handle) => handle.0.to_string(),
            Piece::Edit(handle, _) => format!("{}*", handle.0),
            Piece::Insert(block) => match &block.kind {
                BlockKind::Summary => "[summary]".into(),
                BlockKind::Answer { id, .. } => format!("[answer {}]", id.as_str()),
                other => format!("{other:?}"),
            },
        };
        self.thread
            .projection()
            .pieces()
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A conversation in which there is something to fold.
pub(super) const LONG: [&str; 9] = [
    "s be good",
    "u first request x40",
    "a answer one x40",
    "u second request x40",
    "a call c1",
    "t c1 result x60",
    "a done x40",
    "u third request",
    "a final answer",
];
