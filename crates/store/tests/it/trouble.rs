//! What goes wrong around a store: no space, no permission, damage. A clear error, nothing lost, and it goes on when the
//! trouble is over.

use std::path::Path;
use std::process::{Command, Stdio};

use conspectus::store::{StoreError, ThreadKey, ThreadStore, Written};
use conspectus_core::id::{NodeId, RecordId};
use conspectus_store::{SqliteOptions, SqliteStore};

use crate::chat::{Opened, open};
use crate::support::now;

fn key() -> ThreadKey {
    ThreadKey::new("t", "x")
}

/// Says so much till it cannot be written, or `most` times.
fn fill(store: &dyn ThreadStore, opened: &mut Opened, most: usize) -> Result<(), StoreError> {
    for _ in 0..most {
        let mut grown = opened.clone();
        let words = format!(
            "{} {}",
            grown.messages.len(),
            "in the reader of blocks ".repeat(400)
        );
        let write = grown.say("user", &words);
        match now(store.write(&key(), write))? {
            Written::Done(revision) => grown.revision = revision,
            other => panic!("{other:?}"),
        }
        *opened = grown;
    }
    Ok(())
}

/// Whether all that was acknowledged is there, and nothing else.
fn is_whole(store: &dyn ThreadStore, opened: &Opened) {
    let there = open(store, &key());
    assert_eq!(there.revision, opened.revision);
    assert!(there.thread == opened.thread, "another thread");
    let bytes =
        |o: &Opened| -> Vec<_> { o.messages.iter().map(|m| m.message.bytes.clone()).collect() };
    assert_eq!(bytes(&there), bytes(opened));
}

#[test]
fn a_full_store_says_so_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let limited = |max_bytes| {
        let options = SqliteOptions {
            max_bytes,
            ..SqliteOptions::default()
        };
        SqliteStore::open_with(&path, options).expect("opened")
    };
    let store = limited(Some(400_000));
    assert_eq!(now(store.create(&key(), "", 1)), Ok(true));
    let mut opened = Opened::new();
    assert_eq!(fill(&store, &mut opened, 999), Err(StoreError::Full));
    assert!(opened.revision > 3, "{}", opened.revision);
    is_whole(&store, &opened);
    // With room again it goes on.
    drop(store);
    let store = limited(None);
    assert_eq!(fill(&store, &mut opened, 3), Ok(()));
    is_whole(&store, &opened);
}

const FOLDER: &str = "CONSPECTUS_TEST_SMALL_DISK";

#[test]
fn a_full_disk_says_so_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    // A mount that only this child sees, and that ends with it.
    let script = "mount -t tmpfs -o size=1500k conspectus \"$0\" && exec \"$@\"";
    let this = std::env::current_exe().expect("this binary");
    let child = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(folder.path())
        .arg(this)
        .args(["--exact", "trouble::on_a_small_disk"])
        .env(FOLDER, folder.path())
        .output();
    let mounted = |out: &std::process::Output| {
        String::from_utf8_lossy(&out.stdout).contains("running 1 test")
    };
    match child {
        Ok(out) if mounted(&out) => {
            assert!(
                out.status.success(),
                "{}",
                String::from_utf8_lossy(&out.stdout)
            );
        }
        _ => left_out("no small disk can be mounted here"),
    }
}

#[test]
fn on_a_small_disk() {
    #[expect(clippy::disallowed_methods, reason = "how the child is told")]
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![0_u8; 500_000]).expect("written");
    let path = folder.join("threads.db");
    let store = SqliteStore::open(&path).expect("opened");
    assert_eq!(now(store.create(&key(), "", 1)), Ok(true));
    let mut opened = Opened::new();
    assert_eq!(fill(&store, &mut opened, 999), Err(StoreError::Full));
    assert!(opened.revision > 3, "{}", opened.revision);
    is_whole(&store, &opened);
    // It stays full, and says so again.
    assert_eq!(fill(&store, &mut opened, 1), Err(StoreError::Full));
    // Who opens it now reads all of it, or is told why not.
    drop(store);
    match SqliteStore::open(&path) {
        Ok(store) => is_whole(&store, &opened),
        Err(error) => assert_eq!(error, StoreError::Full),
    }
    std::fs::remove_file(&ballast).expect("removed");
    let store = SqliteStore::open(&path).expect("opened");
    is_whole(&store, &opened);
    assert_eq!(fill(&store, &mut opened, 3), Ok(()));
    is_whole(&store, &opened);
}

const READ_ONLY: &str = "CONSPECTUS_TEST_READ_ONLY";

#[test]
#[cfg(unix)]
fn a_file_that_may_not_be_written_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let store = SqliteStore::open(&path).expect("opened");
    assert_eq!(now(store.create(&key(), "", 1)), Ok(true));
    let mut opened = Opened::new();
    assert_eq!(fill(&store, &mut opened, 2), Ok(()));
    drop(store);
    let mode = |path: &Path, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).expect("set");
    };
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    // Root may write everything: somebody else tries.
    let this = std::env::current_exe().expect("this binary");
    let is_root = std::fs::write(folder.path().join("probe"), "").is_ok();
    let mut command = match is_root {
        false => Command::new(&this),
        true => {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(&this);
            command
        }
    };
    let child = command
        .args(["--exact", "trouble::who_may_not_write"])
        .env(READ_ONLY, &path)
        .stderr(Stdio::null())
        .output();
    mode(folder.path(), 0o700);
    mode(&path, 0o600);
    match child {
        Ok(out) if String::from_utf8_lossy(&out.stdout).contains("running 1 test") => {
            assert!(
                out.status.success(),
                "{}",
                String::from_utf8_lossy(&out.stdout)
            );
        }
        _ => left_out("nobody without permission can be asked here"),
    }
    is_whole(&SqliteStore::open(&path).expect("opened"), &opened);
}

#[test]
fn who_may_not_write() {
    #[expect(clippy::disallowed_methods, reason = "how the child is told")]
    let Ok(path) = std::env::var(READ_ONLY) else {
        return;
    };
    let opened = SqliteStore::open(&path).map(drop);
    assert!(matches!(opened, Err(StoreError::ReadOnly(_))), "{opened:?}");
    let new = Path::new(&path).with_file_name("new.db");
    let made = SqliteStore::open(new).map(drop);
    assert!(matches!(made, Err(StoreError::ReadOnly(_))), "{made:?}");
}

#[test]
fn each_page_that_is_damaged_is_told_of_or_does_not_matter() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    let store = SqliteStore::open(&path).expect("opened");
    assert_eq!(now(store.create(&key(), "title", 1)), Ok(true));
    let mut good = Opened::new();
    for round in 0..6 {
        assert_eq!(fill(&store, &mut good, 2), Ok(()));
        if round == 4
            && let Some(write) = good.compact()
        {
            assert!(matches!(
                now(store.write(&key(), write)),
                Ok(Written::Done(_))
            ));
            good.revision += 1;
        }
    }
    drop(store);
    let bytes = std::fs::read(&path).expect("read");
    let (mut told, mut unharmed) = (0, 0);
    for (page, at) in (0..bytes.len()).step_by(4_096).enumerate() {
        for damage in [Damage::Zeros, Damage::Noise, Damage::Half] {
            let mut damaged = bytes.clone();
            damage.apply(&mut damaged[at..at + 4_096]);
            std::fs::write(&path, &damaged).expect("written");
            for beside in ["threads.db-wal", "threads.db-shm"] {
                let _ = std::fs::remove_file(folder.path().join(beside));
            }
            match everything(&path) {
                Err(error) => {
                    assert!(
                        matches!(error, StoreError::Damaged(_)),
                        "page {page}, {damage:?}: {error:?}"
                    );
                    told += 1;
                }
                Ok(read) => {
                    assert!(
                        read == everything_of(&good),
                        "page {page}, {damage:?}: read is something else"
                    );
                    unharmed += 1;
                }
            }
        }
    }
    assert!(told > 20, "{told} told, {unharmed} unharmed");
    // A single bit anywhere.
    let (mut at, mut told) = (1_usize, 0);
    for _ in 0..100 {
        at = at.wrapping_mul(48_271) % 2_147_483_647;
        let mut damaged = bytes.clone();
        damaged[at % bytes.len()] ^= 1 << (at % 7);
        std::fs::write(&path, &damaged).expect("written");
        for beside in ["threads.db-wal", "threads.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(beside));
        }
        match everything(&path) {
            Ok(read) => assert!(
                read == everything_of(&good),
                "a bit of {}: read is something else",
                at % bytes.len()
            ),
            Err(_) => told += 1,
        }
    }
    assert!(told > 10, "{told} told");
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Zeros,
    Noise,
    /// The page is half of what it was, as a torn write leaves it.
    Half,
}

impl Damage {
    fn apply(self, page: &mut [u8]) {
        match self {
            Self::Zeros => page.fill(0),
            Self::Noise => {
                for (i, byte) in page.iter_mut().enumerate() {
                    *byte = (i as u8).wrapping_mul(97).wrapping_add(31);
                }
            }
            Self::Half => page[2_048..].fill(0),
        }
    }
}

type Everything = (Vec<std::sync::Arc<[u8]>>, String, usize);

fn everything_of(good: &Opened) -> Everything {
    let bytes = good
        .messages
        .iter()
        .map(|m| m.message.bytes.clone())
        .collect();
    let state = format!("{:?}", good.thread.state());
    (bytes, state, good.thread.records().len())
}

/// All of the thread that the store gives.
fn everything(path: &Path) -> Result<Everything, StoreError> {
    let store = SqliteStore::open(path)?;
    let head = now(store.head(&key()))?.ok_or(StoreError::Damaged("no thread".to_owned()))?;
    let messages = now(store.messages(&key(), NodeId(0), NodeId(99)))?;
    let records = now(store.records(&key(), RecordId(0), RecordId(9)))?;
    now(store.head_log(&key()))?;
    let state = format!("{:?}", head.state.as_deref().expect("it was written"));
    let bytes = messages.into_iter().map(|m| m.message.bytes).collect();
    Ok((bytes, state, records.len()))
}

#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn left_out(why: &str) {
    println!("{why}: left out");
}
