//! How long it takes to open a thread of many messages of which few are shown, and to check it.
//!
//! `cargo run --release -p conspectus-store --example open -- 100000`

use std::sync::Arc;
use std::time::Instant;

use conspectus::store::{Commit, NewMessage, ThreadKey, ThreadStore, Write, window};
use conspectus::{Decision, Embedded, ModelProfile, Options, Policy, Sources, Thread, drive};
use conspectus_core::count::Estimator;
use conspectus_core::thread::Manual;
use conspectus_core::view::Role;
use conspectus_store::SqliteStore;
use conspectus_testkit::transcript::MemoryTexts;

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures and tells"
)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |n| n.parse())?;
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(folder.path().join("threads.db"))?;
    let key = ThreadKey::new("t", "long");
    store.create(&key, "", 0).await?;
    let policy = Arc::new(Policy::resolve(&Options::default(), &ModelProfile::default())?.policy);
    let (mut thread, mut texts) = (Thread::new(policy.clone()), MemoryTexts::new());
    let views: Vec<_> = (0..count)
        .map(|at| match at % 2 {
            0 => texts.say(Role::User, &format!("Question {at} about the parser?")),
            _ => texts.say(
                Role::Assistant,
                &format!("Answer {at}: in the reader of blocks."),
            ),
        })
        .collect();
    let src = Sources {
        texts: &texts,
        counter: &Estimator,
    };
    let started = Instant::now();
    let nodes = thread.append(views, src);
    let messages = nodes.into_iter().filter_map(|node| {
        let bytes = format!("message {}", node.0).into_bytes().into();
        let known = thread.known(node)?;
        Some(NewMessage {
            bytes,
            native_id: None,
            known,
        })
    });
    let write = Write {
        messages: messages.collect(),
        state: Some(Arc::new(thread.state())),
        ..Write::default()
    };
    store.write(&key, write).await?;
    println!("{count} messages written in {:?}", started.elapsed());
    let expect = thread.expect();
    let request = Manual {
        keep: Some(conspectus_core::policy::Keep::Messages(200)),
        ..Manual::default()
    };
    let Decision::Start(attempt, _) = thread.manual(1, &request, src) else {
        return Err("nothing to compact".into());
    };
    drive(&mut thread, *attempt, src, &mut Embedded::default());
    let record = thread.active().cloned().ok_or("it was not compacted")?;
    let write = Write {
        revision: 1,
        moved: thread.head_log().to_vec(),
        state: Some(Arc::new(thread.state())),
        commit: Some(Commit { record, expect }),
        ..Write::default()
    };
    store.write(&key, write).await?;
    for _ in 0..3 {
        let started = Instant::now();
        let read = window(&store, &key).await?.ok_or("it is there")?;
        let (shown, read_in) = (read.messages.len(), started.elapsed());
        let mut opened = Thread::restore(policy.clone(), read.state, read.stored, src)?;
        let restored_in = started.elapsed();
        let decision = opened.before_call(2, &[], src);
        let checked_in = started.elapsed();
        assert!(matches!(decision, Decision::Send(_)));
        println!(
            "{shown} shown: read in {read_in:?}, restored by {restored_in:?}, checked by {checked_in:?}"
        );
    }
    Ok(())
}
