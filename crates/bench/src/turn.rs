//! A thread over a made-up conversation, and one turn of it.

use std::sync::Arc;

use conspectus::core::count::Estimator;
use conspectus::core::policy::{Clause, Keep, TriggerOption};
use conspectus::core::thread::Fixed;
use conspectus::core::view::MessageView;
use conspectus::{
    Conversation, Decision, Document, Embedded, Manual, OpenOptions, Options, Policy, Sources,
    Thread, drive,
};

use crate::talk::{Shape, openai};

/// A trigger that no conversation here reaches.
pub const UNREACHED: u64 = 1 << 40;

/// A conversation and what a thread over it needs.
pub struct Bench {
    document: Document,
    messages: usize,
}

impl Bench {
    /// A conversation of about this many messages of this mean length.
    pub fn new(messages: usize, mean_bytes: usize) -> Self {
        let file = openai(Shape {
            messages,
            mean_bytes,
        });
        let document = Document::open(file.into_bytes(), &OpenOptions::default())
            .expect("made-up conversations are well formed");
        Self { document, messages }
    }

    /// The conversation.
    pub fn conversation(&self) -> &Conversation {
        &self.document.conversations()[0]
    }

    /// What the core reads through.
    pub fn sources(&self) -> Sources<'_> {
        Sources {
            texts: self.conversation(),
            counter: &Estimator,
        }
    }

    /// A thread without messages, with a trigger at so many tokens.
    pub fn empty(&self, trigger: u64) -> Thread {
        let options = Options {
            trigger: TriggerOption::Any(vec![Clause {
                tokens: Some(trigger),
                ..Clause::default()
            }]),
            max_context: Some(UNREACHED * 2),
            ..Options::default()
        };
        let resolved = Policy::resolve(&options, &Default::default()).expect("the options work");
        let mut thread = Thread::new(Arc::new(resolved.policy));
        thread.set_fixed(Fixed::default());
        thread
    }

    /// The same with all messages.
    pub fn thread(&self, trigger: u64) -> Thread {
        let mut thread = self.empty(trigger);
        let views = self
            .conversation()
            .views()
            .iter()
            .take(self.messages)
            .cloned();
        thread.append(views, self.sources());
        thread
    }

    /// The same after a compaction by the digest that keeps the last 200 messages.
    pub fn compacted(&self) -> Thread {
        let mut thread = self.thread(UNREACHED);
        let manual = Manual {
            keep: Some(Keep::Messages(200)),
            ..Manual::default()
        };
        if let Decision::Start(attempt, _) = thread.manual(0, &manual, self.sources()) {
            drive(
                &mut thread,
                *attempt,
                self.sources(),
                &mut Embedded::default(),
            );
        }
        assert!(thread.active().is_some(), "there is enough to fold");
        thread
    }

    /// What arrives between two model calls: a call and its result.
    pub fn exchange(&self) -> [MessageView; 2] {
        let views = self.conversation().views();
        [views[2].clone(), views[3].clone()]
    }

    /// One turn: the exchange arrives, and the check before the next call.
    pub fn turn(&self, thread: &mut Thread, exchange: [MessageView; 2]) -> Decision {
        thread.append(exchange, self.sources());
        thread.before_call(0, &[], self.sources())
    }
}
