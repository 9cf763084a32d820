//! Threads as earlier versions stored them, with a compaction, a pin, a preview and moves of the head: they are read as they
//! were, and go on. What version 3 wrote lies in `tests/data` and is never written again; `scripts/store-fixtures.sh` made it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use conspectus::store::ThreadStore;
use conspectus::threads::{Cause, CompactThread};
use conspectus_store::SqliteStore;

use super::faulty::Faulty;
use super::world::{World, human, one, talk};
use crate::postgres::Database;

const ROUNDS: usize = 12;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The folder where `scripts/store-fixtures.sh` wants what this version writes.
fn wanted() -> Option<PathBuf> {
    std::env::var_os("CONSPECTUS_STORE_FIXTURES").map(PathBuf::from)
}

fn world(store: impl ThreadStore + 'static) -> World {
    World::new(Faulty::new(Arc::new(store)))
}

/// The life whose traces are kept.
fn live(store: impl ThreadStore + 'static) {
    let world = world(store);
    let threads = world.talked(ROUNDS);
    world.run(async {
        let key = &world.key;
        threads.pin(key, "h1").await.expect("pinned");
        let compact = CompactThread::default();
        threads.compact(key, &compact).await.expect("compacted");
        let more = one(human("more", "and now?"));
        threads.append(key, &more).await.expect("appended");
        threads.undo(key).await.expect("undone");
        threads.redo(key).await.expect("redone");
        let preview = CompactThread {
            dry_run: true,
            ..CompactThread::default()
        };
        threads.compact(key, &preview).await.expect("previewed");
    });
}

/// What is told of that life is what it was, and it goes on.
fn is_what_was_lived(store: impl ThreadStore + 'static) {
    let world = world(store);
    let threads = world.threads("another");
    let events = world.events(&threads);
    assert_eq!(events.first().map(String::as_str), Some("created"));
    assert!(
        events.iter().any(|event| event == "previewed"),
        "{events:?}"
    );
    world.run(async {
        let key = &world.key;
        let state = threads.state(key, None).await.expect("a state");
        let summary = state.values.summary_text.expect("a summary");
        assert!(
            summary.contains("The valve was turned a little"),
            "{summary}"
        );
        let ids: Vec<_> = state.values.messages.iter().map(|m| m.as_str()).collect();
        let has = |id: &str| ids.iter().any(|m| m.contains(&format!("\"{id}\"")));
        assert!(has("h1") && has("more") && !has("h0"), "{ids:?}");
        let log = threads.log(key, 10).await.expect("a log");
        let moves = [Cause::Compaction, Cause::Undo, Cause::Redo];
        assert_eq!((log.len(), log[0].history.as_slice()), (1, &moves[..]));
        let undone = threads.undo(key).await.expect("undone");
        assert_eq!(undone.record, Some(log[0].record));
        let whole = threads.state(key, None).await.expect("a state");
        assert_eq!(whole.values.messages.len(), 2 * ROUNDS + 1);
        assert_eq!(whole.values.summary_text, None);
        threads.redo(key).await.expect("redone");

        let more = talk(ROUNDS, ROUNDS);
        threads.append(key, &more).await.expect("appended");
        let compact = CompactThread::default();
        let again = threads.compact(key, &compact).await.expect("compacted");
        assert!(again.is_change(), "{again:?}");
        let export = threads.export(key).await.expect("exported");
        assert!(export.lines().count() > 4 * ROUNDS);
    });
}

#[test]
fn a_thread_that_version_3_stored_in_sqlite_is_read_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    if let Some(wanted) = wanted() {
        live(SqliteStore::open(&path).expect("opened"));
        let db = rusqlite::Connection::open(&path).expect("opened");
        // Small pages, since most tables hold a row or two.
        db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
            .expect("made small");
        drop(db);
        std::fs::copy(&path, wanted.join("sqlite-3.db")).expect("kept");
        return;
    }
    std::fs::copy(data("sqlite-3.db"), &path).expect("a copy");
    is_what_was_lived(SqliteStore::open(&path).expect("opened"));
}

#[test]
fn a_thread_that_version_3_stored_in_postgresql_is_read_and_goes_on() {
    let Some(database) = Database::new() else {
        return;
    };
    if let Some(wanted) = wanted() {
        live(database.open());
        let dump = Command::new("pg_dump")
            .args(["--inserts", "--no-owner", "--no-privileges", "--dbname"])
            .arg(database.config())
            .output()
            .expect("pg_dump runs");
        assert!(dump.status.success(), "{dump:?}");
        let sql = String::from_utf8(dump.stdout).expect("UTF-8");
        // What is for psql alone, what belongs to the server that was there, and remarks.
        let of_psql = |line: &&str| !line.starts_with(['\\', '-']) && !line.starts_with("SET ");
        let lines = sql.lines().filter(of_psql).filter(|line| !line.is_empty());
        let lines = lines.filter(|line| !line.starts_with("SELECT pg_catalog.set_config"));
        let sql: String = lines.flat_map(|line| [line, "\n"]).collect();
        std::fs::write(wanted.join("postgres-3.sql"), sql).expect("kept");
        return;
    }
    let sql = std::fs::read_to_string(data("postgres-3.sql")).expect("there");
    database.run(&sql);
    is_what_was_lived(database.open());
}
