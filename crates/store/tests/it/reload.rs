//! Random conversations that live in a store: opened again they are what they were (invariant 39).

use conspectus::store::{ThreadKey, ThreadStore, Written, window};
use conspectus::{Decision, Sources, Thread};
use conspectus_core::count::Estimator;
use conspectus_store::{MemoryStore, SqliteStore};
use conspectus_testkit::transcript::{Format, Knobs, Transcript};

use crate::postgres::Database;
use crate::support::{Talk, now, policy};

/// What opening without what was folded gave.
#[derive(Default)]
struct Seen {
    compactions: usize,
    partial: usize,
}

fn lives(store: &dyn ThreadStore, seeds: std::ops::Range<u64>, seen: &mut Seen) {
    for seed in seeds {
        let key = ThreadKey::new("t", &format!("life {seed}"));
        let mut talk = Talk::create(store, &key);
        let transcript = Transcript::generate(seed, &Knobs::default());
        let (views, texts, _) = transcript.views(Format::ALL[seed as usize % 3]);
        talk.texts = texts;
        for views in views.chunks(3) {
            let written = talk.append(store, views).expect("written");
            assert!(matches!(written, Written::Done(_)), "{written:?}");
            check(store, &mut talk, seen, seed);
            decide(store, &mut talk, seen);
            check(store, &mut talk, seen, seed);
        }
    }
}

/// Compacts if the thread says so, and stores whatever became of it.
fn decide(store: &dyn ThreadStore, talk: &mut Talk, seen: &mut Seen) {
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let records = talk.thread.records().len();
    if let Decision::Start(attempt, _) = talk.thread.before_call(9, &[], src) {
        talk.run(store, *attempt);
    }
    talk.save(store);
    seen.compactions += talk.thread.records().len() - records;
}

/// The thread goes on as the one that was opened again.
fn check(store: &dyn ThreadStore, talk: &mut Talk, seen: &mut Seen, seed: u64) {
    let again = talk.reopened(store);
    assert_eq!(again.revision, talk.revision, "seed {seed}");
    assert!(
        again.thread == talk.thread,
        "seed {seed}: opened again it is another thread"
    );
    let read = now(window(store, &talk.key)).expect("read").expect("there");
    let count = read.messages.len();
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    if let Ok(part) = Thread::restore(policy(), read.state, read.stored, src) {
        // The newest message is read in any case: what comes next goes on from it.
        let branch = talk.thread.branch();
        let before = 0..branch.len().saturating_sub(1);
        let folded = before.filter(|at| talk.thread.is_folded(*at));
        assert_eq!(count + folded.count(), branch.len(), "seed {seed}");
        assert_eq!(part.branch().prefix(), branch.prefix(), "seed {seed}");
        assert_eq!(part.projection(), talk.thread.projection(), "seed {seed}");
        assert_eq!(part.size(src), talk.thread.size(src), "seed {seed}");
        seen.partial += usize::from(part.is_partial());
    }
    *talk = again;
}

#[test]
fn a_life_in_a_store_goes_on_as_if_it_had_never_been_stored() {
    let mut seen = Seen::default();
    lives(&MemoryStore::default(), 0..40, &mut seen);
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("threads.db")).expect("opened");
    lives(&store, 40..52, &mut seen);
    if let Some(database) = Database::new() {
        lives(&database.open(), 52..56, &mut seen);
    }
    assert!(seen.compactions > 10, "{} compactions", seen.compactions);
    assert!(seen.partial > 10, "{} opened in part", seen.partial);
}
