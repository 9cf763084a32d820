//! Summaries in the background: requests go on as they are meanwhile, and a key is not held for ever.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use conspectus::Format;
use conspectus::store::ThreadKey;
use conspectus_proxy::Summaries;
use conspectus_testkit::server::{Asked, Step};

use crate::compaction::Client;
use crate::support::{Rig, chat_reply, window};

const SUMMARY: &str =
    "The lantern build failed with E-4417; the valve of the second boiler was turned by hand.";

fn is_ours(asked: &Asked) -> bool {
    asked
        .header("user-agent")
        .is_some_and(|agent| agent.starts_with("conspectus/"))
}

/// One turn; how it went.
fn turn(rig: &Rig, client: &mut Client) -> String {
    client.asks();
    let reply = rig.post(client.path(), &[], &client.body());
    assert_eq!(reply.status, 200);
    client.is_told();
    reply.header("x-conspectus-outcome").to_owned()
}

#[test]
fn requests_go_as_they_are_until_the_summary_is_there() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let rig = Rig::with(
        move |_, asked| match is_ours(asked) {
            true => {
                let _ = wait.lock().expect("nobody panics").recv();
                chat_reply(SUMMARY)
            }
            false => chat_reply("fine"),
        },
        |s| {
            s.options = window(20_000);
            s.summaries = Summaries::Client { model: None };
        },
    );
    let mut client = Client::new(Format::OpenAi);
    // Until the soft trigger is crossed, and a little further.
    let mut beyond = 0;
    for _ in 0..200 {
        assert_eq!(turn(&rig, &mut client), "untouched");
        // It begins beside the request; two more requests go through while it is being written.
        beyond += usize::from(rig.upstream.asked().iter().any(is_ours));
        if beyond == 2 {
            break;
        }
    }
    assert_eq!(beyond, 2, "no summary was asked for");
    drop(go);
    // The next one gets what came of it, once it is in the store.
    let name = rig.names().pop().expect("a thread");
    let key = ThreadKey::new("default", &name);
    let is_there = (0..1_000_000).any(|_| {
        std::thread::yield_now();
        let head = rig.runtime.block_on(rig.store.head(&key));
        head.expect("the store answers")
            .is_some_and(|head| head.records > 0)
    });
    assert!(is_there, "the summary is put in force");
    assert_eq!(turn(&rig, &mut client), "applied");
    assert!(rig.newest().body.contains(SUMMARY));
}

#[test]
fn a_summary_that_takes_too_long_is_given_up() {
    let rig = Rig::with(
        move |_, asked| match is_ours(asked) {
            true => vec![Step::Stall],
            false => chat_reply("fine"),
        },
        |s| {
            s.options = window(20_000);
            s.summaries = Summaries::Client { model: None };
            s.limits.background = Duration::from_secs(5);
        },
    );
    let mut client = Client::new(Format::OpenAi);
    let is_begun = (0..200).any(|_| {
        turn(&rig, &mut client);
        rig.upstream.asked().iter().any(is_ours)
    });
    assert!(is_begun);
    assert!(rig.upstream.wait_for_hang_ups(1), "nobody waits for it");
    // It is not begun again with the next request.
    turn(&rig, &mut client);
    turn(&rig, &mut client);
    assert_eq!(
        rig.upstream
            .asked()
            .iter()
            .filter(|asked| is_ours(asked))
            .count(),
        1
    );
}
