//! A thread beside a list that its client keeps: in step with it, apart from it, branched off.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use conspectus::core::id::Ident;
use conspectus::core::outcome::Outcome;
use conspectus::core::view::{MessageView, Usage};
use conspectus::store::ThreadKey;
use conspectus::threads::{
    ClientList, CompactThread, CreateThread, InStep, KeptOpen, Mirror, Mirrored, Place, Threads,
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
            let key = ThreadKey::new("t", &format!("branch-{at}"));
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

/// The thread of a list that parts from this one, begun where it does.
fn branched(
    world: &World,
    threads: &Threads<VirtualTime>,
    from: &ThreadKey,
    to: &str,
    list: &List,
) -> (ThreadKey, InStep) {
    let key = ThreadKey::new("t", to);
    world.run(async {
        let mirrored = threads.mirror(from, list, &Mirror::default()).await;
        let Mirrored::Apart(at) = mirrored.expect("mirrored") else {
            panic!("it went another way");
        };
        let place = Place::Count(at);
        let made = threads.branch(from, Some(&place), &key, CreateThread::default());
        made.await.expect("branched");
        match threads.mirror(&key, list, &Mirror::default()).await {
            Ok(Mirrored::InStep(step)) => (key.clone(), *step),
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn a_branch_from_among_what_stayed_keeps_the_compaction() {
    everywhere(|world| {
        let threads = world.threads("one");
        world
            .run(threads.create(&world.key, CreateThread::default()))
            .expect("made");
        let all = said(60);
        in_step(&world, &threads, &all);
        let compacted = world.run(threads.compact(&world.key, &CompactThread::default()));
        assert_eq!(compacted.expect("run").outcome, Outcome::Compacted);
        let trunk = in_step(&world, &threads, &all);
        let kept = trunk.size.messages;
        assert!((2..20).contains(&kept), "{kept}");
        for at in 50..60 {
            let mut edited = all.clone();
            edited[at] = edited[at].replace("valve", "wheel");
            let list = List::new(&edited);
            let (key, step) = branched(&world, &threads, &world.key, &format!("b-{at}"), &list);
            let is_kept = at as u64 >= 60 - kept;
            assert_eq!(step.record.is_some(), is_kept, "{at}");
            if is_kept {
                // The same summary, and behind it what is the list's own; opened in part or whole.
                assert_eq!(step.frozen, at as u64);
                assert_eq!(step.size.messages, kept);
                let again = world.run(world.threads("two").mirror(&key, &list, &Mirror::default()));
                assert!(matches!(again, Ok(Mirrored::InStep(_))), "{again:?}");
                let summary = |step: &InStep| step.projection.frozen.first().cloned();
                assert_eq!(summary(&step), summary(&trunk));
            } else {
                assert!(step.projection.is_untouched());
            }
        }
    });
}

/// As clients do that change their newest message with every request.
#[test]
fn branches_of_branches_are_compacted_again_and_again() {
    everywhere(|mut world| {
        world.options.max_context = Some(5_000);
        let threads = world.threads("one");
        let mut key = world.key.clone();
        world
            .run(threads.create(&key, CreateThread::default()))
            .expect("made");
        let (mut compacted, mut requests) = (0, 0);
        for count in (3..160).step_by(2) {
            let mut list = said(count);
            let newest = list.last_mut().expect("a message");
            *newest = newest.replace("turned", "turned (be brief)");
            let list = List::new(&list);
            let mut step = match count {
                3 => match world.run(threads.mirror(&key, &list, &Mirror::default())) {
                    Ok(Mirrored::InStep(step)) => *step,
                    other => panic!("{other:?}"),
                },
                _ => {
                    let name = format!("turn-{count}");
                    let (to, step) = branched(&world, &threads, &key, &name, &list);
                    key = to;
                    step
                }
            };
            if step.is_due {
                let done = world.run(threads.compact(&key, &CompactThread::check()));
                let done = done.expect("run");
                assert_eq!(done.outcome, Outcome::Compacted, "{count}: {done:?}");
                compacted += 1;
                step = match world.run(threads.mirror(&key, &list, &Mirror::default())) {
                    Ok(Mirrored::InStep(step)) => *step,
                    other => panic!("{other:?}"),
                };
            }
            requests += 1;
            assert!(step.size.tokens < 5_000, "{count}: {:?}", step.size);
        }
        assert!(compacted >= 3, "{compacted}");
        assert!(compacted * 4 < requests, "{compacted} in {requests}");
    });
}

#[test]
fn a_thread_that_stays_open_costs_what_is_new_and_is_what_is_stored() {
    everywhere(|world| {
        let kept = Arc::new(KeptOpen::new(1 << 20));
        let threads = world.threads("one").keeping_open(kept.clone());
        let other = world
            .threads("two")
            .keeping_open(Arc::new(KeptOpen::new(0)));
        world
            .run(threads.create(&world.key, CreateThread::default()))
            .expect("made");
        let all = said(200);
        let reads = || world.store.read.load(Ordering::SeqCst);
        for count in 1..100 {
            let before = reads();
            let step = in_step(&world, &threads, &all[..2 * count]);
            // Whole where it was compacted or written by others since.
            if count % 10 != 1 {
                assert_eq!(reads(), before, "{count}");
            }
            let anew = in_step(&world, &other, &all[..2 * count]);
            assert_eq!(format!("{step:?}"), format!("{anew:?}"));
            if count % 20 == 0 {
                let done = world.run(threads.compact(&world.key, &CompactThread::default()));
                assert_eq!(done.expect("run").outcome, Outcome::Compacted);
            } else if count % 10 == 0 {
                in_step(&world, &other, &all[..2 * count + 1]);
            }
        }
        assert_eq!(kept.size().0, 1);
    });
}

#[test]
fn what_stays_open_stays_within_its_room() {
    everywhere(|world| {
        let kept = Arc::new(KeptOpen::new(100_000));
        let threads = world.threads("one").keeping_open(kept.clone());
        let all = said(10);
        for n in 0..30 {
            let key = ThreadKey::new("t", &format!("thread-{n}"));
            world
                .run(threads.create(&key, CreateThread::default()))
                .expect("made");
            let list = List::new(&all);
            world
                .run(threads.mirror(&key, &list, &Mirror::default()))
                .expect("mirrored");
            let (open, bytes) = kept.size();
            assert!(open >= 1 && bytes <= 100_000, "{open} of {bytes} bytes");
        }
        assert!(kept.size().0 < 30);
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
