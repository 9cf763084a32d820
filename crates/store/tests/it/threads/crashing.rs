//! The process dies at every call of the store, and many write at once.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use conspectus::Clock as _;
use conspectus::core::outcome::Outcome;
use conspectus::threads::{CompactThread, CreateThread, ThreadEvent};
use conspectus_testkit::model::Behaviour;

use super::world::{World, both, everywhere, human, one, talk};

/// What comes of it, unless the process dies before.
fn until_death<T>(world: &World, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    world.run(poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if world.store.is_dead() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    }))
}

#[test]
fn a_compaction_that_dies_anywhere_leaves_the_old_state_or_the_new_one() {
    everywhere(|mut world| {
        let mut deaths = 0;
        for happens in [false, true] {
            for after in 0.. {
                world.key.thread = format!("dies-{after}-{happens}").into();
                let threads = world.talked(30);
                let before = world.run(threads.state(&world.key, None)).expect("a state");
                let calls = world.model.asked().len();
                world.store.die(after, happens);
                let ask = CompactThread::default();
                let done = until_death(&world, threads.compact(&world.key, &ask));
                if !world.store.died() {
                    assert_eq!(
                        done.expect("done").expect("run").outcome,
                        Outcome::Compacted
                    );
                    break;
                }
                deaths += 1;
                world.wait();
                // Another process finds the thread.
                let next = world.threads(&format!("next-{after}-{happens}"));
                let found = world.run(next.state(&world.key, None)).expect("a state");
                let is_new = found.values.summary_count == 1;
                if !is_new {
                    assert_eq!(found.values.messages, before.values.messages, "at {after}");
                }
                let again = world.run(next.compact(&world.key, &ask)).expect("run");
                let expect = match is_new {
                    true => Outcome::NothingToCompact,
                    false => Outcome::Compacted,
                };
                assert_eq!(again.outcome, expect, "at {after}, {happens}");
                let state = world.run(next.state(&world.key, None)).expect("a state");
                assert_eq!(state.values.messages.len(), 4, "at {after}");
                assert_eq!(state.values.summary_count, 1, "at {after}");
                assert_eq!(state.values.compaction_in_progress, None, "at {after}");
                assert!(world.model.asked().len() - calls <= 2, "at {after}");
                check_events(&world, &next, after);
            }
        }
        assert!(deaths > 20, "{deaths}");
    });
}

/// Each stored start has one end, or somebody said that it was abandoned.
fn check_events(
    world: &World,
    threads: &conspectus::threads::Threads<conspectus_testkit::executor::VirtualTime>,
    after: u64,
) {
    let events = world
        .run(threads.events(&world.key, 0, 1_000))
        .expect("events");
    let mut open = 0_i32;
    for told in events {
        match told.known().expect("it is known") {
            ThreadEvent::Compaction { event } if event.is_end() => open -= 1,
            ThreadEvent::Compaction { .. } => open += 1,
            ThreadEvent::Abandoned { .. } => open = 0,
            _ => {}
        }
        assert!((0..=1).contains(&open), "at {after}");
    }
    assert_eq!(open, 0, "at {after}");
}

#[test]
fn an_append_that_dies_anywhere_is_there_or_not() {
    everywhere(|mut world| {
        for happens in [false, true] {
            for after in 0.. {
                world.key.thread = format!("dies-{after}-{happens}").into();
                let threads = world.talked(2);
                world.store.die(after, happens);
                let mut append = talk(2, 2);
                append.once = Some("key".into());
                let done = until_death(&world, threads.append(&world.key, &append));
                if !world.store.died() {
                    done.expect("done").expect("appended");
                    break;
                }
                let count = world.run(threads.get(&world.key)).expect("there").messages;
                assert!(count == 4 || count == 8, "{count} at {after}");
                world
                    .run(threads.append(&world.key, &append))
                    .expect("appended");
                let count = world.run(threads.get(&world.key)).expect("there").messages;
                assert_eq!(count, 8, "at {after}");
            }
        }
    });
}

#[test]
fn of_many_who_write_at_once_nobody_loses_anything() {
    everywhere(|world| {
        let threads = world.talked(30);
        let other = world.threads("two");
        world.store.is_slow.store(true, Ordering::SeqCst);
        let writing = async |threads: &conspectus::threads::Threads<_>, name: &str| {
            for n in 0..10 {
                let message = human(&format!("{name}-{n}"), &format!("{name} says {n}"));
                threads
                    .append(&world.key, &one(message))
                    .await
                    .expect("appended");
            }
        };
        let ask = CompactThread::default();
        let talking = both(writing(&threads, "ann"), writing(&other, "bob"));
        let compacting = both(
            threads.compact(&world.key, &ask),
            other.compact(&world.key, &ask),
        );
        let (_, (a, b)) = world.run(both(talking, compacting));
        let outcomes = [a, b].map(|c| c.expect("run").outcome);
        assert!(outcomes.contains(&Outcome::Compacted), "{outcomes:?}");
        assert_eq!(world.model.asked().len(), 1);
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        // What came before the attempt looked may be among what is kept.
        let left = state.values.messages.len();
        assert!((20..=24).contains(&left), "{left}");
        assert_eq!(state.values.summary_count, 1);
        let page = conspectus::threads::Page {
            after: Some(59),
            ..Default::default()
        };
        let visible = world
            .run(threads.visible(&world.key, &page))
            .expect("visible");
        for name in ["ann", "bob"] {
            let ids = visible.messages.iter().filter_map(|m| m.id.as_deref());
            let own: Vec<_> = ids.filter(|id| id.starts_with(name)).collect();
            let expect: Vec<_> = (0..10).map(|n| format!("{name}-{n}")).collect();
            assert_eq!(own, expect);
        }
    });
}

/// Somebody writes without a pause for as long as the compaction takes.
#[test]
fn who_writes_all_the_time_does_not_keep_a_commit_from_its_turn() {
    everywhere(|world| {
        let world = world.behaving(Behaviour::text("The valve was turned, step by step."));
        let threads = world.talked(30);
        world.store.is_slow.store(true, Ordering::SeqCst);
        let is_over = Cell::new(false);
        let hammering = async {
            let mut said = 0;
            while !is_over.get() && said < 600 {
                let message = human(&format!("more-{said}"), "and on it goes");
                let append = one(message);
                threads.append(&world.key, &append).await.expect("appended");
                said += 1;
            }
            said
        };
        let ask = CompactThread::default();
        let compacting = async {
            let compacted = threads.compact(&world.key, &ask).await;
            is_over.set(true);
            compacted.expect("run")
        };
        let (said, compacted) = world.run(both(hammering, compacting));
        assert_eq!(compacted.outcome, Outcome::Compacted, "{compacted:?}");
        assert!((1..600).contains(&said), "{said} messages came first");
        let info = world.run(threads.get(&world.key)).expect("there");
        assert_eq!((info.messages, info.records), (60 + said, 1));
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(state.values.compaction_in_progress, None);
    });
}

#[test]
fn who_listens_hears_everything_in_order() {
    everywhere(|world| {
        let threads = world.threads("one");
        let other = world.threads("two");
        world.run(async {
            threads
                .create(&world.key, CreateThread::default())
                .await
                .expect("made");
            let mut heard = threads.subscribe(&world.key, 0).await.expect("there");
            let listening = async {
                let mut seen = Vec::new();
                while seen.len() < 4 {
                    let events = heard.next(&threads, 60_000).await.expect("events");
                    assert!(!events.is_empty(), "nothing came");
                    seen.extend(events.into_iter().map(|told| told.seq));
                }
                (seen, world.time.now())
            };
            let talking = async {
                world.time.sleep_until(5_000).await;
                // In the same process it is heard at once, from another one a little later.
                threads
                    .append(&world.key, &talk(0, 1))
                    .await
                    .expect("appended");
                world.time.sleep_until(7_300).await;
                other
                    .append(&world.key, &talk(1, 1))
                    .await
                    .expect("appended");
                threads
                    .append(&world.key, &talk(2, 1))
                    .await
                    .expect("appended");
            };
            let ((seen, at), ()) = both(listening, talking).await;
            assert_eq!(seen, [1, 2, 3, 4]);
            assert_eq!(at, 7_300);
            let mut late = threads.subscribe(&world.key, 4).await.expect("there");
            let nothing = late.next(&threads, 9_000).await;
            assert_eq!((nothing, world.time.now()), (Ok(Vec::new()), 9_000));
        });
    });
}
