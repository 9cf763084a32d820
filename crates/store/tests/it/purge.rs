//! What is purged is gone everywhere, and the thread goes on.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use conspectus::purge::{PURGED, Purge, PurgeError, Purged, purge};
use conspectus::store::{StoredMessage, ThreadKey, ThreadStore, Write, Written, whole};
use conspectus::terms::Terms;
use conspectus_core::count::Estimator;
use conspectus_core::id::{Ident, NodeId, RecordId};
use conspectus_store::SqliteStore;

use crate::chat::{Chat, Opened, open, read};
use crate::contract::every;
use crate::postgres::Database;
use crate::support::{now, policy};

const SECRET: &str = "Xylo\"phone-7781";
/// As the JSON of a message spells it, and as it is searched.
const SPELLINGS: [&str; 3] = ["phone-7781", "xylo", "7781"];

fn say(store: &dyn ThreadStore, key: &ThreadKey, role: &str, content: &str) {
    let mut opened = open(store, key);
    let write = Write {
        events: vec![format!("{{\"said\":{}}}", serde_json::json!(content)).into()],
        ..opened.say(role, content)
    };
    let written = now(store.write(key, write));
    assert_eq!(written, Ok(Written::Done(opened.revision + 1)));
}

/// Compacts; the summary if it was done.
fn compact(store: &dyn ThreadStore, key: &ThreadKey) -> Option<Arc<str>> {
    let mut opened = open(store, key);
    let write = opened.compact()?;
    let written = now(store.write(key, write));
    assert_eq!(written, Ok(Written::Done(opened.revision + 1)));
    Some(opened.thread.active()?.summary.clone()?.text)
}

/// A thread with the secret in everything.
fn full_of_it(store: &dyn ThreadStore, name: &str) -> ThreadKey {
    let key = ThreadKey::new("t", name);
    let meta = serde_json::json!({"title": SECRET}).to_string();
    assert_eq!(now(store.create(&key, &meta, 1)), Ok(true));
    for round in 0..8 {
        let filler = "in the reader of blocks. ".repeat(60);
        let ask = format!("Question {round}: always use {SECRET} as the key of door {round}.");
        say(store, &key, "user", &ask);
        say(
            store,
            &key,
            "assistant",
            &format!("Answer {round}: {filler}"),
        );
    }
    let summary = compact(store, &key).expect("compacted");
    assert!(summary.contains("phone-7781"), "{summary}");
    for round in 0..8 {
        say(store, &key, "user", &format!("And door {round}?"));
        let filler = "in the writer of blocks. ".repeat(60);
        say(
            store,
            &key,
            "assistant",
            &format!("It takes {SECRET}: {filler}"),
        );
    }
    compact(store, &key).expect("compacted again");
    now(store.cache(&key, Ident::of("p"), SECRET, 3)).expect("kept");
    now(store.keep_preview(&key, "p", SECRET, 3)).expect("kept");
    key
}

fn take_out(
    store: &dyn ThreadStore,
    key: &ThreadKey,
    what: Purge<'_>,
) -> Result<Purged, PurgeError> {
    let read = now(whole(store, key)).expect("read").expect("there");
    let told = now(store.events(key, 0, 999)).expect("read");
    let (rewrite, purged) = purge(read, &told, what, policy(), &Estimator, &Chat, 9)?;
    let revision = rewrite.revision;
    let written = now(store.rewrite(key, rewrite.clone()));
    assert_eq!(written, Ok(Written::Done(revision + 1)));
    // Who made it of what is not there any more is told so.
    let again = now(store.rewrite(key, rewrite));
    assert_eq!(again, Ok(Written::Behind(revision + 1)));
    Ok(purged)
}

/// Everything of a thread that the port gives, as text.
fn everything(store: &dyn ThreadStore, key: &ThreadKey) -> String {
    let read = now(whole(store, key)).expect("read").expect("there");
    let bytes = read
        .messages
        .iter()
        .map(|m| String::from_utf8_lossy(&m.message.bytes));
    let mut all: Vec<String> = bytes.map(Cow::into_owned).collect();
    all.extend(
        read.messages
            .iter()
            .map(|m| format!("{:?}", m.message.known)),
    );
    all.extend(read.stored.records.iter().map(|r| format!("{r:?}")));
    all.push(format!("{:?} {:?}", read.state, read.head));
    let events = now(store.events(key, 0, 999)).expect("read");
    all.extend(events.iter().map(|e| format!("{:?}", e.event)));
    all.push(format!("{:?}", now(store.cached(key, Ident::of("p")))));
    all.push(format!("{:?}", now(store.preview(key, "p"))));
    all.join("\n").to_lowercase()
}

fn is_gone(all: &str) {
    for spelling in SPELLINGS {
        let at = all.find(spelling);
        let around = at.map(|at| {
            all[all.floor_char_boundary(at.saturating_sub(80))..]
                .chars()
                .take(200)
        });
        assert_eq!(around.map(String::from_iter), None, "{spelling}");
    }
}

#[test]
fn a_secret_is_taken_out_of_everything_and_the_thread_goes_on() {
    every(|open_store| {
        let store = open_store();
        let key = full_of_it(store.as_ref(), "secret");
        let other = full_of_it(store.as_ref(), "other");
        let Opened {
            thread: before,
            messages,
            ..
        } = open(store.as_ref(), &key);
        let ask = Terms::asked("7781");
        assert!(
            !now(store.search(&key, &ask, 99))
                .expect("searched")
                .is_empty()
        );
        let purged = take_out(store.as_ref(), &key, Purge::Secret(SECRET)).expect("purged");
        assert_eq!(purged.messages.len(), 16);
        assert_eq!((purged.records.len(), purged.events), (2, 16));
        assert!(!purged.is_withdrawn);
        drop(store);
        let store = open_store();
        is_gone(&everything(store.as_ref(), &key));
        assert_eq!(now(store.search(&key, &ask, 99)), Ok(vec![]));
        // Nothing else went.
        let Opened {
            thread: after,
            messages: now_there,
            ..
        } = open(store.as_ref(), &key);
        assert_eq!(now_there.len(), messages.len());
        for (was, is) in messages.iter().zip(&now_there) {
            let text = |m: &StoredMessage| read(&m.message.bytes).expect("a message").1;
            assert_eq!(text(is), text(was).replace(SECRET, PURGED));
        }
        assert_eq!(after.active().map(|r| r.id), before.active().map(|r| r.id));
        assert_eq!(after.branch().path(), before.branch().path());
        // An attempt that was planned before it must not commit what it read.
        assert!(after.expect().version > before.expect().version);
        for _ in 0..6 {
            say(store.as_ref(), &key, "user", "And now?");
            say(
                store.as_ref(),
                &key,
                "assistant",
                &"as it was. ".repeat(160),
            );
        }
        let summary = compact(store.as_ref(), &key).expect("compacted");
        is_gone(&summary.to_lowercase());
        // Again there is nothing to do, and the other thread was left alone.
        let purged = take_out(store.as_ref(), &key, Purge::Secret(SECRET)).expect("purged");
        assert!(purged.is_nothing(), "{purged:?}");
        assert!(everything(store.as_ref(), &other).contains("phone-7781"));
    });
}

#[test]
fn a_message_becomes_a_tombstone_and_summaries_made_of_it_are_withdrawn() {
    every(|open_store| {
        let store = open_store();
        let key = full_of_it(store.as_ref(), "message");
        let node = NodeId(2);
        let purged = take_out(store.as_ref(), &key, Purge::Message(node)).expect("purged");
        assert_eq!((purged.messages, purged.is_withdrawn), (vec![node], true));
        let Opened {
            thread, messages, ..
        } = open(store.as_ref(), &key);
        assert_eq!(thread.active(), None);
        for record in now(store.records(&key, RecordId(0), RecordId(9))).expect("read") {
            let summary = record.summary.as_ref().expect("a summary");
            assert_eq!(
                (summary.text.as_ref(), record.durable.as_ref()),
                (PURGED, "")
            );
            assert!(!format!("{:?}", record.ledger).contains("door 1."));
        }
        let texts: Vec<String> = messages
            .iter()
            .map(|m| read(&m.message.bytes).expect("a message").1)
            .collect();
        assert_eq!(texts[2], PURGED);
        assert!(texts[0].contains("door 0") && texts[4].contains("door 2"));
        assert_eq!(
            now(store.search(&key, &Terms::asked("door 1"), 1)).expect("searched")[0].node,
            NodeId(18)
        );
        let summary = compact(store.as_ref(), &key).expect("what is left is summed up");
        assert!(
            summary.contains("door 2") && !summary.contains("door 1."),
            "{summary}"
        );
        let nowhere = take_out(store.as_ref(), &key, Purge::Message(NodeId(999)));
        assert_eq!(nowhere, Err(PurgeError::NoMessage(NodeId(999))));
        let common = take_out(store.as_ref(), &key, Purge::Secret("the"));
        assert_eq!(common, Err(PurgeError::TooCommon));
    });
}

/// All files of a folder as they are on disk.
fn on_disk(folder: &Path) -> String {
    let mut all = String::new();
    for file in std::fs::read_dir(folder).expect("read") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("read");
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    all.to_lowercase()
}

#[test]
fn nothing_of_it_is_left_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("threads.db")).expect("opened");
    let (one, two) = (full_of_it(&store, "one"), full_of_it(&store, "two"));
    for spelling in SPELLINGS {
        assert!(on_disk(folder.path()).contains(spelling), "{spelling}");
    }
    take_out(&store, &one, Purge::Secret(SECRET)).expect("purged");
    assert_eq!(now(store.delete(&two)), Ok(true));
    is_gone(&on_disk(folder.path()));
    drop(store);
    is_gone(&on_disk(folder.path()));
}

#[test]
fn nothing_of_it_is_left_in_the_rows() {
    let Some(database) = Database::new() else {
        return;
    };
    let store = database.open();
    let (one, two) = (full_of_it(&store, "one"), full_of_it(&store, "two"));
    let rows = || database.all_rows().to_lowercase();
    assert!(rows().contains("phone-7781"));
    take_out(&store, &one, Purge::Secret(SECRET)).expect("purged");
    assert_eq!(now(store.expire("t", 5, 9)), Ok(vec!["two".into()]));
    assert!(rows().contains(PURGED));
    is_gone(&rows());
    assert_eq!(now(store.head(&two)), Ok(None));
}
