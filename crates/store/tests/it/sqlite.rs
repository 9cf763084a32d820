//! What only a file can do: its mode, its versions, its damage.

use conspectus::store::{StoreError, ThreadKey, ThreadStore};
use conspectus_core::id::NodeId;
use conspectus_store::{SqliteOptions, SqliteStore};

use crate::support::{Talk, now};

#[test]
#[cfg(unix)]
fn the_file_and_what_lies_beside_it_are_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("threads.db")).expect("opened");
    now(store.create(&ThreadKey::new("t", "x"), "", 1)).expect("created");
    let files: Vec<_> = std::fs::read_dir(folder.path()).expect("read").collect();
    assert!(files.len() >= 2, "a log lies beside it: {files:?}");
    for file in files {
        let mode = file
            .expect("a file")
            .metadata()
            .expect("read")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_of_the_first_version_is_brought_to_this_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let first = include_str!("../data/sqlite-1.sql");
    rusqlite::Connection::open(&path)
        .and_then(|db| db.execute_batch(first))
        .expect("written");
    let store = SqliteStore::open(&path).expect("opened");
    let key = ThreadKey::new("tenant", "thread");
    let head = now(store.head(&key)).expect("read").expect("there");
    assert_eq!(
        (head.revision, head.nodes, head.meta.as_ref()),
        (1, 1, "title")
    );
    let messages = now(store.messages(&key, NodeId(0), NodeId(9))).expect("read");
    assert_eq!(messages[0].message.bytes.as_ref(), b"hello");
    assert_eq!(now(store.by_native_id(&key, "id-0")), Ok(Some(NodeId(0))));
    drop(store);
    let version = |db: rusqlite::Connection| {
        db.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))
    };
    assert_eq!(rusqlite::Connection::open(&path).and_then(version), Ok(2));
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let open = |name: &str| SqliteStore::open(path(name)).map(drop);
    let sql = |name: &str, sql: &str| {
        rusqlite::Connection::open(path(name))
            .and_then(|db| db.execute_batch(sql))
            .expect("written");
    };
    sql("newer", "PRAGMA user_version = 99");
    assert_eq!(
        open("newer"),
        Err(StoreError::Newer {
            found: 99,
            known: 2
        })
    );
    sql("other", "CREATE TABLE recipes (name TEXT)");
    assert!(matches!(open("other"), Err(StoreError::Damaged(_))));
    std::fs::write(path("text"), "not a database at all, ".repeat(90)).expect("written");
    assert!(matches!(open("text"), Err(StoreError::Damaged(_))));
    assert!(matches!(open("no/such/folder"), Err(StoreError::Failed(_))));
}

#[test]
fn changed_bytes_are_damage_not_another_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let key = ThreadKey::new("t", "x");
    let store = SqliteStore::open(&path).expect("opened");
    Talk::create(&store, &key).go_on(&store, 1);
    rusqlite::Connection::open(&path)
        .and_then(|db| db.execute_batch("UPDATE content SET bytes = x'00'"))
        .expect("changed");
    let read = now(store.messages(&key, NodeId(0), NodeId(0)));
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
}

#[test]
fn who_waits_too_long_is_told_that_the_store_is_busy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let options = SqliteOptions {
        busy_ms: 0,
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open_with(&path, options).expect("opened");
    let other = rusqlite::Connection::open(&path).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("begun");
    let key = ThreadKey::new("t", "x");
    let created = now(store.create(&key, "", 1));
    assert_eq!(created, Err(StoreError::Busy));
    other.execute_batch("COMMIT").expect("ended");
    assert_eq!(now(store.create(&key, "", 1)), Ok(true));
}

#[test]
fn damaged_pages_are_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let key = ThreadKey::new("t", "x");
    let store = SqliteStore::open(&path).expect("opened");
    Talk::create(&store, &key).go_on(&store, 3);
    // Closing it brings everything from the log into the file.
    drop(store);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[4096..].fill(0xAA);
    std::fs::write(&path, bytes).expect("written");
    let read = SqliteStore::open(&path).and_then(|store| now(store.head(&key)));
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
}
