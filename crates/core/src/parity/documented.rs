//! What the peers do, row by row: each test names the section of the description of their behaviour that it is
//! about. Here is the scene: a conversation under a preset, and a model that writes summaries.

mod losses;
mod takes_over;
mod weaknesses;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::attempt::{Attempt, Poll};
use crate::count::{Bytes4, TokenCounter, counter_for};
use crate::effect::{Effect, Failure, Finish, Input, Reply, Route, SummaryInput};
use crate::lines::Conversation;
use crate::outcome::{Outcome, Report};
use crate::policy::{
    Clause, KeepOption, ModelProfile, Options, Policy, Preset, PruneOption, TriggerOption,
};
use crate::projection::{BlockKind, Piece};
use crate::thread::{Decision, Manual, Size, Sources, Thread};
use crate::view::Usage;

type Model = Box<dyn Fn(usize) -> Result<Reply, Failure>>;

/// A conversation under a preset, and a model that writes summaries.
struct Peer {
    said: Conversation,
    thread: Thread,
    counter: Arc<dyn TokenCounter>,
    model: Model,
    /// What each call was given.
    given: Vec<String>,
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.into(),
        finish: Finish::Stop,
        usage: None,
    }
}

impl Peer {
    fn new(options: &Options) -> Self {
        let options = Options {
            max_context: options.max_context.or(Some(100_000)),
            enabled: Some(true),
            ..options.clone()
        };
        let model = ModelProfile {
            provider: Some("openai".into()),
            ..ModelProfile::default()
        };
        let policy = Policy::resolve(&options, &model).unwrap();
        let policy = policy.policy;
        Self {
            said: Conversation::parse(&[]),
            counter: counter_for(policy.counter),
            thread: Thread::new(Arc::new(policy)),
            model: Box::new(|n| Ok(reply(&format!("the story so far, part {n}")))),
            given: Vec::new(),
        }
    }

    fn with(options: &Options, lines: &[&str]) -> Self {
        let mut peer = Self::new(options);
        peer.say(lines);
        peer
    }

    fn say(&mut self, lines: &[&str]) {
        for line in lines {
            self.said.push(line);
            let view = self.said.views().last().unwrap().clone();
            let (texts, counter) = (&self.said, self.counter.as_ref());
            self.thread.append([view], Sources { texts, counter });
        }
    }

    /// Says the line, a reply that `provider` reports as `total` tokens.
    fn say_reported(&mut self, line: &str, total: u64, provider: Option<&str>) {
        self.said.push(line);
        let mut view = self.said.views().last().unwrap().clone();
        view.usage = Some(Usage {
            reported_total: Some(total),
            provider: provider.map(Into::into),
            ..Usage::default()
        });
        let (texts, counter) = (&self.said, self.counter.as_ref());
        self.thread.append([view], Sources { texts, counter });
    }

    fn size(&self) -> Size {
        let (texts, counter) = (&self.said, self.counter.as_ref());
        self.thread.size(Sources { texts, counter })
    }

    /// What happens before the next call of the model.
    fn check(&mut self) -> Report {
        let routes = [Route {
            model: Some("m".into()),
            replay: self.thread.policy().preset == Preset::Nous,
            max_input: 90_000,
            max_output: 4_000,
            takes_schema: false,
        }];
        let (texts, counter) = (&self.said, self.counter.as_ref());
        match self
            .thread
            .before_call(0, &routes, Sources { texts, counter })
        {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    fn command(&mut self, below_keep: bool) -> Report {
        let request = Manual {
            below_keep,
            routes: vec![Route {
                model: Some("m".into()),
                replay: false,
                max_input: 90_000,
                max_output: 4_000,
                takes_schema: false,
            }],
            ..Manual::default()
        };
        let (texts, counter) = (&self.said, self.counter.as_ref());
        match self.thread.manual(0, &request, Sources { texts, counter }) {
            Decision::Send(report) => report,
            Decision::Start(attempt, _) => self.run(*attempt),
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    /// What a command would keep.
    fn planned(&self) -> BTreeSet<usize> {
        let (texts, counter) = (&self.said, self.counter.as_ref());
        let plan = self
            .thread
            .preview(&Manual::default(), Sources { texts, counter });
        plan.staying().map(|(at, _)| at).collect()
    }

    fn run(&mut self, mut attempt: Attempt) -> Report {
        let mut now = 0;
        let mut wakes = BTreeSet::new();
        loop {
            let (texts, counter) = (&self.said, self.counter.as_ref());
            let src = Sources { texts, counter };
            let input = match attempt.poll(now, src) {
                Poll::Done(report) => {
                    self.thread.ended(attempt.id(), report.outcome, now);
                    return *report;
                }
                Poll::Idle => {
                    now = *wakes.range(now + 1..).next().expect("waits for something");
                    continue;
                }
                Poll::Do(Effect::Call { call, request, .. }) => {
                    self.given.push(match &request.input {
                        SummaryInput::Transcript { document, .. } => document.to_string(),
                        SummaryInput::Replay { conversation, .. } => replayed(conversation),
                    });
                    match (self.model)(self.given.len()) {
                        Ok(reply) => Input::Reply(call, reply),
                        Err(failure) => Input::Failed(call, failure),
                    }
                }
                Poll::Do(Effect::CacheGet(key)) => Input::Cached(key, None),
                Poll::Do(Effect::Hook(hook, _)) => Input::HookDone(hook),
                Poll::Do(Effect::Archive(_)) => Input::Archived(Ok(())),
                Poll::Do(Effect::Commit(record, expect)) => {
                    Input::Committed(self.thread.commit(&record, expect, src))
                }
                Poll::Do(Effect::LookUp(id, record)) => {
                    Input::Found(self.thread.has_record(id, record))
                }
                Poll::Do(Effect::WakeAt(at)) => {
                    wakes.insert(at);
                    continue;
                }
                Poll::Do(_) => continue,
            };
            attempt.feed(now, input, src);
        }
    }

    /// The request, a word a piece: a position, `*` behind an edit, `S` for the summary.
    fn shown(&self) -> String {
        replayed(
            &self
                .thread
                .projection()
                .pieces()
                .cloned()
                .collect::<Vec<_>>(),
        )
    }

    /// The texts that show summaries.
    fn blocks(&self) -> Vec<Arc<str>> {
        let projection = self.thread.projection();
        let pieces = projection.pieces().filter_map(|piece| match piece {
            Piece::Insert(block) if block.kind == BlockKind::Summary => Some(block.text.clone()),
            _ => None,
        });
        pieces.collect()
    }

    fn summary(&self) -> String {
        let active = self.thread.active().expect("a record");
        active.summary.as_ref().expect("a summary").text.to_string()
    }

    fn is_shown(&self, at: u32) -> bool {
        let at = at.to_string();
        self.shown()
            .split(' ')
            .any(|word| word.trim_end_matches('*') == at)
    }
}

fn replayed(pieces: &[Piece]) -> String {
    let word = |piece: &Piece| match piece {
        Piece::Keep(handle) => handle.0.to_string(),
        Piece::Edit(handle, _) => format!("{}*", handle.0),
        Piece::Insert(block) if block.kind == BlockKind::Summary => "S".to_owned(),
        Piece::Insert(block) => format!("{:?}", block.kind),
    };
    pieces.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn asks(preset: Preset, trigger: Clause, keep: u64) -> Options {
    Options {
        trigger: TriggerOption::Any(vec![trigger]),
        keep: Some(KeepOption::Messages(keep)),
        ..preset.into()
    }
}

fn strict(options: Options) -> Options {
    Options {
        strict_parity: true,
        ..options
    }
}

fn tokens(n: u64) -> Clause {
    Clause {
        tokens: Some(n),
        ..Clause::default()
    }
}

fn messages(n: u64) -> Clause {
    Clause {
        messages: Some(n),
        ..Clause::default()
    }
}

const PEERS: [Preset; 3] = [Preset::Langchain, Preset::Deerflow, Preset::Nous];
