//! A process that dies at any step of a write leaves the old or the new state (invariant 38).
//!
//! This binary starts itself again as the one that dies: it opens the file, writes, and is killed at the n-th step.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use conspectus::store::{ThreadKey, ThreadStore, Written};
use conspectus_core::id::{NodeId, RecordId};
use conspectus_core::view::Role;
use conspectus_store::{SqliteOptions, SqliteStore};

use crate::support::Talk;
use crate::support::now;

const FILE: &str = "CONSPECTUS_TEST_DYING_FILE";
const STEP: &str = "CONSPECTUS_TEST_DYING_STEP";

fn key() -> ThreadKey {
    ThreadKey::new("t", "dying")
}

/// What is written before anybody dies: enough to compact.
fn begin(store: &SqliteStore) -> Talk {
    let mut talk = Talk::create(store, &key());
    talk.go_on(store, 8);
    talk
}

/// Dies at its step, if it is told to be the one that dies.
#[test]
fn the_one_that_dies() {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is how the other process is told"
    )]
    let told = (std::env::var(FILE), std::env::var(STEP));
    let (Ok(file), Ok(step)) = told else {
        return;
    };
    let step: usize = step.parse().expect("a number");
    let passed = AtomicUsize::new(0);
    let options = SqliteOptions {
        failpoint: Some(Arc::new(move |_| {
            if passed.fetch_add(1, Ordering::SeqCst) == step {
                kill();
            }
        })),
        ..SqliteOptions::default()
    };
    let mut talk = begin(&SqliteStore::open(format!("{file}.twin")).expect("opened"));
    let store = SqliteStore::open_with(&file, options).expect("opened");
    let appended = talk.say(&store, Role::User, "the last words");
    assert!(matches!(appended, Ok(Written::Done(_))), "{appended:?}");
    let compacted = talk.compact(&store).expect("written");
    assert!(matches!(compacted, Some(Written::Done(_))), "{compacted:?}");
}

/// As if somebody else had done it: nothing is unwound, nothing is flushed.
fn kill() {
    let id = std::process::id().to_string();
    let _ = Command::new("kill").args(["-KILL", &id]).status();
    std::process::abort();
}

#[test]
#[cfg(unix)]
fn a_killed_process_leaves_the_old_or_the_new_state() {
    let (mut died, mut states) = (0, std::collections::BTreeSet::new());
    for step in 0.. {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("threads.db");
        drop(begin(&SqliteStore::open(&path).expect("opened")));
        let this = std::env::current_exe().expect("this binary");
        let ended = Command::new(this)
            .args(["--exact", "crash::the_one_that_dies"])
            .env(FILE, &path)
            .env(STEP, step.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("started");
        // Whoever comes next finds one of three states, and goes on.
        let store = SqliteStore::open(&path).expect("opened");
        let head = now(store.head(&key())).expect("read").expect("there");
        let messages = now(store.messages(&key(), NodeId(0), NodeId(99))).expect("read");
        let records = now(store.records(&key(), RecordId(0), RecordId(9))).expect("read");
        assert_eq!(head.nodes, messages.len() as u64);
        assert_eq!(head.records, records.len() as u64);
        let mut twin = Talk::new(&key());
        // The texts are the same in each life.
        let texts = SqliteStore::open(folder.path().join("texts.db")).expect("opened");
        twin.texts = begin(&texts).texts;
        twin.texts.say(Role::User, "the last words");
        let mut talk = twin.reopened(&store);
        assert_eq!(talk.thread.history().len(), messages.len());
        states.insert((messages.len(), records.len()));
        let written = talk.say(&store, Role::User, "and on it goes");
        assert!(matches!(written, Ok(Written::Done(_))), "{written:?}");
        if ended.success() {
            break;
        }
        died += 1;
    }
    assert!(died > 10, "it died {died} times");
    let all: Vec<_> = states.into_iter().collect();
    assert_eq!(all, [(16, 0), (17, 0), (17, 1)]);
}
