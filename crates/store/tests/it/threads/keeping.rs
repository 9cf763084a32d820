//! Threads that stay open between two requests are as they are stored, whatever is done to them and by whom.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use conspectus::Clock as _;
use conspectus::core::view::Usage;
use conspectus::threads::{Append, CompactThread, CreateThread, KeptOpen, Place, Purge, Threads};
use conspectus_testkit::executor::VirtualTime;
use conspectus_testkit::rng::Rng;

use super::world::{World, everywhere, human, one, said, talk};

/// Everything that is told of a thread.
fn told(world: &World, threads: &Threads<VirtualTime>) -> String {
    let key = &world.key;
    let ask = CompactThread::check();
    world.run(async {
        let status = threads.status(key).await;
        let request = threads.request(key).await;
        let registries = threads.registries(key).await;
        let before = threads.before_call(key, &ask).await;
        format!("{status:?}\n{request:?}\n{registries:?}\n{before:?}")
    })
}

#[test]
fn what_stays_open_is_what_is_stored() {
    everywhere(|world| {
        let one_process = world.threads("one");
        let other_process = world.threads("two");
        let fresh = world
            .threads("three")
            .keeping_open(Arc::new(KeptOpen::new(0)));
        let key = &world.key;
        let create = || world.run(one_process.create(key, CreateThread::default()));
        create().expect("made");
        let mut random = Rng::new(7);
        let mut round = 0;
        for step in 0..60 {
            let threads = match random.below(4) {
                0 => &other_process,
                _ => &one_process,
            };
            let what = random.below(14);
            let done = world.run(async {
                match what {
                    0..=6 => {
                        round += 1;
                        let usage = (what == 6).then(|| Usage {
                            input: 900 * round,
                            ..Usage::default()
                        });
                        let from = usize::try_from(round).expect("small");
                        let append = Append {
                            usage,
                            ..talk(from, 1)
                        };
                        said(threads.append(key, &append).await)
                    }
                    7 => said(threads.compact(key, &CompactThread::default()).await),
                    8 => said(threads.undo(key).await),
                    9 => said(threads.redo(key).await),
                    10 => said(threads.pin(key, &format!("h{}", round / 2)).await),
                    11 => {
                        let to = Place::Message(format!("a{}", round - round.min(2)).into());
                        said(threads.rewind(key, &to).await)
                    }
                    12 => {
                        let purge = Purge::Message(format!("h{round}").into());
                        said(threads.purge(key, &purge).await)
                    }
                    _ => {
                        let again = one(human(&format!("x{step}"), "Never touch the left valve."));
                        said(threads.append(key, &again).await)
                    }
                }
            });
            let expect = told(&world, &fresh);
            assert_eq!(told(&world, &one_process), expect, "{step}: {what} {done}");
            assert_eq!(
                told(&world, &other_process),
                expect,
                "{step}: {what} {done}"
            );
        }
    });
}

#[test]
fn a_thread_of_the_same_name_that_is_made_anew_is_another() {
    everywhere(|world| {
        let (threads, other) = (world.talked(2), world.threads("two"));
        world.run(async {
            threads.request(&world.key).await.expect("there");
            other.delete(&world.key).await.expect("gone");
            world.time.sleep_until(world.time.now() + 10).await;
            let made = other.create(&world.key, CreateThread::default());
            made.await.expect("made");
            let append = one(human("z", "Another thread."));
            other.append(&world.key, &append).await.expect("appended");
            let request = threads.request(&world.key).await.expect("there");
            assert_eq!(request.messages.len(), 1);
        });
    });
}

#[test]
fn a_call_reads_no_message_again() {
    everywhere(|world| {
        let threads = world.talked(20);
        world.run(async {
            let ask = CompactThread::check();
            threads.before_call(&world.key, &ask).await.expect("ready");
            world.store.read.store(0, Ordering::SeqCst);
            for round in 20..30 {
                let more = talk(round, 1);
                threads.append(&world.key, &more).await.expect("appended");
                threads.before_call(&world.key, &ask).await.expect("ready");
            }
            assert_eq!(world.store.read.load(Ordering::SeqCst), 0);
        });
    });
}
