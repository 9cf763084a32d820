//! A thread beside a list that its client keeps: in step with it, apart from it, branched off.

use std::sync::Arc;

use conspectus::core::id::Ident;
use conspectus::core::outcome::Outcome;
use conspectus::core::view::{MessageView, Usage};
use conspectus::threads::{
    ClientList, CompactThread, CreateThread, InStep, Mirror, Mirrored, Place, Threads,
};
use conspectus::{Document, Format, OpenOptions};
use conspectus_testkit::executor::VirtualTime;

use super::world::{World, everywhere};

/// A list of chat messages.
struct List(Document);

impl List {
    fn new(messages: &[String]) -> Self {
        let options = OpenOptions {
            format: Some(Format::OpenAi),
            lenient: false,
        };
        let list = format!("[{}]", messages.join(","));
        Self(Document::open(list.into_bytes(), &options).expect("a list"))
    }
}

impl ClientList for List {
    fn count(&self) -> u64 {
        self.0.conversations()[0].views().len() as u64
    }

    fn prefix(&self, count: u64) -> Option<Ident> {
        let views = self.0.conversations()[0].views().iter();
        let views = views.take(usize::try_from(count).ok()?);
        Some(views.fold(Ident::EMPTY, |prefix, view| prefix.then(view.ident)))
    }

    fn message(&self, at: u64) -> Option<(Arc<[u8]>, MessageView)> {
        let conversation = &self.0.conversations()[0];
        let view = conversation.views().get(usize::try_from(at).ok()?)?;
        let bytes = conversation.json_of(view.handle).as_bytes().into();
        Some((bytes, view.clone()))
    }
}

fn said(count: usize) -> Vec<String> {
    let message = |n: usize| {
        let role = ["user", "assistant"][n % 2];
        let text = format!(
            "{n}: the valve of boiler {n} is turned. {}",
            "A little. ".repeat(60)
        );
        // Ids that repeat are the client's business.
        format!(r#"{{"role":"{role}","content":"{text}","id":"same"}}"#)
    };
    (0..count).map(message).collect()
}

fn in_step(world: &World, threads: &Threads<VirtualTime>, messages: &[String]) -> InStep {
    let mirrored = world.run(threads.mirror(&world.key, &List::new(messages), &Mirror::default()));
    match mirrored.expect("mirrored") {
        Mirrored::InStep(step) => *step,
        Mirrored::Apart(at) => panic!("apart at {at}"),
    }
}

#[test]
fn what_is_new_of_a_list_is_appended_and_the_rest_is_compared() {
    everywhere(|world| {
        let threads = world.threads("one");
        world
            .run(threads.create(&world.key, CreateThread::default()))
            .expect("made");
        let all = said(60);
        for count in [1, 2, 2, 7, 30, 60, 30] {
            let step = in_step(&world, &threads, &all[..count]);
            let has = if count == 30 {
                step.messages
            } else {
                count as u64
            };
            assert_eq!(step.messages, has);
            assert!(step.projection.is_untouched() && step.record.is_none());
        }
        let compacted = world.run(threads.compact(&world.key, &CompactThread::default()));
        assert_eq!(compacted.expect("run").outcome, Outcome::Compacted);
        // Opened in part, as the window is; the numbers are those of the list.
        let grown = said(63);
        let step = in_step(&world, &threads, &grown);
        assert_eq!((step.messages, step.frozen), (63, 60));
        assert!(step.record.is_some() && !step.projection.is_untouched());
        assert_eq!(step.projection.tail.len(), 3);
        // An edit behind the compaction, and one before it.
        for (at, keeps) in [(61, true), (5, false)] {
            let mut edited = grown.clone();
            edited[at] = edited[at].replace("valve", "wheel");
            let list = List::new(&edited);
            let mirrored = world.run(threads.mirror(&world.key, &list, &Mirror::default()));
            let Mirrored::Apart(apart) = mirrored.expect("mirrored") else {
                panic!("it went another way");
            };
            assert_eq!(apart, at as u64);
            let key = conspectus::store::ThreadKey::new("t", &format!("branch-{at}"));
            let place = Place::Count(apart);
            let made = threads.branch(&world.key, Some(&place), &key, CreateThread::default());
            world.run(made).expect("branched");
            let branched = world.run(threads.mirror(&key, &list, &Mirror::default()));
            let Mirrored::InStep(step) = branched.expect("mirrored") else {
                panic!("it goes on from there");
            };
            assert_eq!((step.messages, step.record.is_some()), (63, keeps));
        }
    });
}

#[test]
fn a_report_belongs_to_the_reply_that_follows_the_request() {
    everywhere(|world| {
        let threads = world.threads("one");
        world
            .run(threads.create(&world.key, CreateThread::default()))
            .expect("made");
        let all = said(6);
        in_step(&world, &threads, &all[..3]);
        let usage = Usage {
            input: 5_000,
            output: 10,
            ..Usage::default()
        };
        let tell = |at: u64, count: usize| {
            let mirror = Mirror {
                usage: Some((at, usage.clone())),
                ..Mirror::default()
            };
            let list = List::new(&all[..count]);
            world
                .run(threads.mirror(&world.key, &list, &mirror))
                .expect("mirrored")
        };
        let Mirrored::InStep(step) = tell(2, 4) else {
            panic!("in step");
        };
        assert!(!step.size.reported, "it is of another request");
        let Mirrored::InStep(step) = tell(4, 6) else {
            panic!("in step");
        };
        assert!(
            step.size.reported && step.size.tokens >= 5_010,
            "{:?}",
            step.size
        );
    });
}
