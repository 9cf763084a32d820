//! A process that is killed at any instant leaves the old or the new state, what was acknowledged is there, and the
//! next process goes on (invariant 38).
//!
//! This binary starts itself as the one that dies: it opens a thread, talks, compacts and takes back, and tells of every
//! write that was acknowledged. It is killed by SIGKILL at the n-th step of its transactions, and at random times. What
//! it must have left is known exactly: a twin in memory says the same.
//!
//! A short form runs with the tests; `scripts/kill-test.sh` runs 500 kills in SQLite and 200 in PostgreSQL.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use conspectus::store::{Lease, Mark, Once, ThreadKey, ThreadStore, Write, Written};
use conspectus::terms::Terms;
use conspectus_core::effect::Fence;
use conspectus_core::id::{AttemptId, Ident, NodeId};
use conspectus_store::{
    Failpoint, PostgresOptions, PostgresStore, STEPS, SqliteOptions, SqliteStore,
};

use crate::chat::{Opened, open};
use crate::postgres::Database;
use crate::support::now;

const PLACE: &str = "CONSPECTUS_TEST_DYING_PLACE";
const THREAD: &str = "CONSPECTUS_TEST_DYING_THREAD";
const STEP: &str = "CONSPECTUS_TEST_DYING_STEP";
/// Lives of a thread before another one is begun.
const LIVES: usize = 10;
/// Writes of a life that nobody ends.
const WRITES: usize = 12;
/// Steps that a life takes at least.
const STEPS_A_LIFE: usize = 120;

/// Where the thread lives.
#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    Server(String),
}

impl Place {
    fn open(&self, failpoint: Option<Failpoint>) -> Box<dyn ThreadStore> {
        match self {
            Self::File(path) => {
                let options = SqliteOptions {
                    failpoint,
                    ..SqliteOptions::default()
                };
                Box::new(SqliteStore::open_with(path, options).expect("opened"))
            }
            Self::Server(config) => {
                let options = PostgresOptions { failpoint };
                let connected = now(PostgresStore::connect_with(config, options));
                Box::new(connected.expect("connected"))
            }
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::File(path) => format!("file {}", path.display()),
            Self::Server(config) => format!("server {config}"),
        }
    }

    fn of(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("file", path) => Some(Self::File(path.into())),
            (_, config) => Some(Self::Server(config.to_owned())),
        }
    }
}

/// What is written next. It follows from what is there and nothing else.
fn next(opened: &mut Opened) -> Write {
    let revision = opened.revision;
    let mut tried = opened.clone();
    let other = match revision % 9 {
        5 | 8 => tried.compact(),
        6 => Some(tried.moved(|thread, src| _ = thread.undo(src))),
        7 => Some(tried.moved(|thread, src| _ = thread.redo(src))),
        _ => None,
    };
    let write = match other {
        Some(write) => {
            *opened = tried;
            write
        }
        None => {
            let node = opened.messages.len();
            let role = ["user", "assistant"][node % 2];
            let filler = "where does the parser lose the last line? ".repeat(40);
            opened.say(role, &format!("word{node} {filler}"))
        }
    };
    Write {
        once: Some(once(revision)),
        events: vec![format!("write {revision}").into()],
        ..write
    }
}

fn once(revision: u64) -> Once {
    Once {
        key: format!("k{revision}").into(),
        digest: part(revision),
    }
}

fn part(revision: u64) -> Ident {
    Ident::of(&format!("part {revision}"))
}

fn told(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is how the other process is told"
    )]
    std::env::var(name).ok()
}

/// To whoever started this process; the harness does not hold it back.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    let told = writeln!(out, "\n{line}").and_then(|()| out.flush());
    told.expect("somebody listens");
}

/// Lives until it is killed, if it is told to be the one that dies.
#[test]
fn the_one_that_dies() {
    let (Some(place), Some(thread)) = (told(PLACE).and_then(|p| Place::of(&p)), told(THREAD))
    else {
        return;
    };
    let step = told(STEP).and_then(|step| step.parse::<usize>().ok());
    let passed = AtomicUsize::new(0);
    let failpoint: Failpoint = Arc::new(move |point| {
        if Some(passed.fetch_add(1, Ordering::SeqCst)) == step {
            tell(&format!("at {point}"));
            loop {
                std::thread::park();
            }
        }
    });
    let store = place.open(Some(failpoint));
    let key = ThreadKey::new("t", &thread);
    let mut opened = open(store.as_ref(), &key);
    tell("ready");
    for _ in 0..WRITES {
        write_once(store.as_ref(), &key, &mut opened);
    }
}

/// One write under a lease, with all that stands around it.
fn write_once(store: &dyn ThreadStore, key: &ThreadKey, opened: &mut Opened) {
    let revision = opened.revision;
    let holder = std::process::id().to_string();
    let mut at = revision;
    let (fence, orphan) = loop {
        match now(store.acquire(key, &holder, 1, at)).expect("an answer") {
            Lease::Held { fence, orphan, .. } => break (fence, orphan),
            // The lease of the one before ends in a millisecond, by this clock or the server's.
            Lease::Taken { until_ms } => at = at.max(until_ms),
        }
    };
    if orphan.is_some() {
        tell("an attempt without an end");
        assert_eq!(now(store.mark(key, fence, None)), Ok(true));
    }
    opened.thread.set_fence(fence);
    let mark = Mark {
        attempt: AttemptId(revision),
        fence,
        since_ms: at,
    };
    assert_eq!(now(store.mark(key, fence, Some(mark))), Ok(true));
    now(store.cache(key, part(revision), "a chunk", at)).expect("kept");
    now(store.keep_preview(key, &format!("p{revision}"), "a preview", at)).expect("kept");
    let write = next(opened);
    let written = now(store.write(key, write)).expect("written");
    opened.revision += 1;
    assert_eq!(written, Written::Done(opened.revision));
    tell(&format!("acked {}", opened.revision));
    assert_eq!(now(store.mark(key, fence, None)), Ok(true));
    now(store.release(key, fence)).expect("released");
}

/// What was seen of many deaths.
#[derive(Debug, Default)]
struct Seen {
    kills: usize,
    at: BTreeMap<String, usize>,
    /// Nothing of what was under way is there.
    old: usize,
    /// A write is there of which nobody was told.
    new: usize,
    /// An attempt has no end.
    orphans: usize,
    /// The next process was told of one.
    told: usize,
}

/// How a life ended.
struct Death {
    acked: u64,
    found_orphan: bool,
    at: Option<String>,
}

fn start(place: &Place, key: &ThreadKey, step: Option<usize>) -> Child {
    let this = std::env::current_exe().expect("this binary");
    let mut command = Command::new(this);
    command
        .args(["--exact", "kill::the_one_that_dies", "--nocapture"])
        .env(PLACE, place.to_text())
        .env(THREAD, key.thread.as_ref())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(step) = step {
        command.env(STEP, step.to_string());
    }
    command.spawn().expect("started")
}

/// Starts it and kills it: at a step, or some time after so many writes.
fn live_and_die(mut child: Child, writes: usize, micros: u64) -> Death {
    let out = child.stdout.take().expect("piped");
    let mut lines = BufReader::new(out).lines();
    let mut death = Death {
        acked: 0,
        found_orphan: false,
        at: None,
    };
    let (mut acks, mut is_killed) = (0, false);
    while let Some(Ok(line)) = lines.next() {
        if let Some(point) = line.strip_prefix("at ") {
            death.at = Some(point.to_owned());
        }
        if let Some(revision) = line.strip_prefix("acked ") {
            death.acked = revision.parse().expect("a number");
            acks += 1;
        }
        death.found_orphan |= line == "an attempt without an end";
        let is_time = acks >= writes && (line == "ready" || acks > 0);
        if !is_killed && (death.at.is_some() || is_time) {
            if death.at.is_none() {
                std::thread::sleep(Duration::from_micros(micros));
            }
            child.kill().expect("killed");
            is_killed = true;
        }
    }
    child.wait().expect("gone");
    death
}

/// Kills so often, and checks each time what is left.
fn kills(place: &Place, count: usize, settle: &dyn Fn()) -> Seen {
    let mut seen = Seen::default();
    let mut key = ThreadKey::new("t", "");
    let mut twin = Opened::new();
    let mut chance = 7_u64;
    for nth in 0..count {
        if nth % LIVES == 0 {
            key = ThreadKey::new("t", &format!("dying {nth}"));
            let store = place.open(None);
            assert_eq!(now(store.create(&key, "", 0)), Ok(true));
            twin = Opened::new();
        }
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let random = (chance >> 33) as usize;
        // Every step in turn, and in between at random.
        let step = (nth % 2 == 0).then_some(nth / 2 * 7 % STEPS_A_LIFE);
        let (writes, micros) = match step {
            Some(_) => (usize::MAX, 0),
            None => (random % 4, (random / 4 % 6_000) as u64),
        };
        let death = live_and_die(start(place, &key, step), writes, micros);
        settle();
        seen.kills += 1;
        seen.told += usize::from(death.found_orphan);
        if let Some(point) = &death.at {
            *seen.at.entry(point.clone()).or_default() += 1;
        }
        let acked = death.acked.max(twin.revision);
        check(place, &key, &mut twin, acked, &mut seen);
    }
    seen
}

/// Whether what is there is what the twin says, and nothing that was acknowledged is lost.
fn check(place: &Place, key: &ThreadKey, twin: &mut Opened, acked: u64, seen: &mut Seen) {
    let store = place.open(None);
    let head = now(store.head(key)).expect("read").expect("there");
    let revision = head.revision;
    assert!(
        revision == acked || revision == acked + 1,
        "{acked} was acknowledged, {revision} is there"
    );
    seen.old += usize::from(revision == acked);
    seen.new += usize::from(revision > acked);
    seen.orphans += usize::from(head.mark.is_some());
    while twin.revision < revision {
        next(twin);
        twin.revision += 1;
    }
    let mut opened = open(store.as_ref(), key);
    for one in [&mut opened, twin] {
        one.thread.set_fence(Fence::default());
    }
    assert!(opened.thread == twin.thread, "another thread at {revision}");
    let bytes =
        |o: &Opened| -> Vec<_> { o.messages.iter().map(|m| m.message.bytes.clone()).collect() };
    assert_eq!(bytes(&opened), bytes(twin));
    let events = now(store.events(key, 0, 9_999)).expect("read");
    let events: Vec<_> = events.iter().map(|e| e.event.to_string()).collect();
    let expect: Vec<_> = (0..revision).map(|r| format!("write {r}")).collect();
    assert_eq!(events, expect);
    if let Some(last) = opened.messages.last() {
        let word = Terms::asked(&format!("word{}", last.node.0));
        let found = now(store.search(key, &word, 9)).expect("searched");
        let found: Vec<NodeId> = found.iter().map(|f| f.node).collect();
        assert_eq!(found, [last.node]);
    }
    if let Some(last) = revision.checked_sub(1) {
        assert!(now(store.cached(key, part(last))).expect("read").is_some());
        let name = format!("p{last}");
        assert!(now(store.preview(key, &name)).expect("read").is_some());
        // Whoever lost the acknowledgement and sends it again is told that it is there.
        let again = Write {
            once: Some(once(last)),
            ..Write::default()
        };
        let again = now(store.write(key, again));
        assert!(matches!(again, Ok(Written::Repeated(_))), "{again:?}");
    }
    drop(store);
    if let Place::File(path) = place {
        let whole = |db: rusqlite::Connection| {
            db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        };
        let whole = rusqlite::Connection::open(path).and_then(whole);
        assert_eq!(whole.as_deref(), Ok("ok"));
    }
}

#[expect(clippy::print_stdout, reason = "what was seen is said")]
fn said(what: &str, seen: &Seen) {
    println!(
        "{what}: {} kills; {} left the old state, {} a new one that nobody was told of, {} an attempt without an end, of which {} next ones told; at steps {:?}",
        seen.kills, seen.old, seen.new, seen.orphans, seen.told, seen.at
    );
    assert!(seen.old > 0, "{seen:?}");
    if seen.kills >= 2 * STEPS_A_LIFE {
        assert!(
            seen.new > 0 && seen.orphans > 0 && seen.told > 0,
            "{seen:?}"
        );
        let all: Vec<&str> = seen.at.keys().map(String::as_str).collect();
        let mut steps = STEPS.to_vec();
        steps.sort_unstable();
        assert_eq!(all, steps, "some step was never the last one");
    }
}

/// How many, as the environment says.
fn count(name: &str, short: usize) -> usize {
    told(name).map_or(short, |count| count.parse().expect("a number"))
}

#[test]
#[cfg(unix)]
fn killed_with_a_file_nothing_is_lost_and_nothing_is_half_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::File(folder.path().join("threads.db"));
    let seen = kills(&place, count("CONSPECTUS_KILLS_SQLITE", 30), &|| {});
    said("SQLite", &seen);
}

#[test]
#[cfg(unix)]
fn killed_with_a_server_nothing_is_lost_and_nothing_is_half_done() {
    let Some(database) = Database::new() else {
        return;
    };
    let place = Place::Server(database.config());
    let settle = || database.wait_until_alone();
    let seen = kills(&place, count("CONSPECTUS_KILLS_POSTGRES", 16), &settle);
    said("PostgreSQL", &seen);
}
