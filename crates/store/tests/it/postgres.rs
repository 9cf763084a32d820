//! PostgreSQL, where `CONSPECTUS_POSTGRES` says that there is one: each test has a database of its own.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use conspectus::store::{StoreError, ThreadKey, ThreadStore, Written};
use conspectus_core::view::Role;
use conspectus_store::PostgresStore;

use crate::sqlite::{EARLIER, is_what_was_written};
use crate::support::{Talk, now};

/// A database for one test.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// `None`: there is no server.
    pub(crate) fn new() -> Option<Self> {
        static TOLD: Once = Once::new();
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        #[expect(
            clippy::disallowed_methods,
            reason = "how a test is told where the server is"
        )]
        let Ok(server) = std::env::var("CONSPECTUS_POSTGRES") else {
            TOLD.call_once(left_out);
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let name = format!("conspectus_test_{}_{number}", std::process::id());
        let database = Self { server, name };
        database.admin(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    /// The server's address, as words that libpq takes, with this database.
    pub(crate) fn config(&self) -> String {
        format!("{} dbname={}", self.server, self.name)
    }

    pub(crate) fn open(&self) -> PostgresStore {
        now(PostgresStore::connect(&self.config())).expect("connected")
    }

    fn admin(&self, sql: &str) {
        on(&format!("{} dbname=postgres", self.server), sql);
    }

    pub(crate) fn run(&self, sql: &str) {
        on(&self.config(), sql);
    }
}

impl Database {
    /// Waits until the server has noticed that everybody else is gone.
    pub(crate) fn wait_until_alone(&self) {
        now(async {
            let connected = tokio_postgres::connect(&self.config(), tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("connected");
            tokio::spawn(connection);
            let others = "SELECT count(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid()";
            while client
                .query_one(others, &[])
                .await
                .expect("read")
                .get::<_, i64>(0)
                > 0
            {}
        });
    }

    /// All rows of all tables, as text.
    pub(crate) fn all_rows(&self) -> String {
        now(async {
            let connected = tokio_postgres::connect(&self.config(), tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("connected");
            tokio::spawn(connection);
            let set = "SET bytea_output = 'escape'";
            client.batch_execute(set).await.expect("executed");
            let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
            let mut all = String::new();
            for table in client.query(tables, &[]).await.expect("read") {
                let rows = format!("SELECT t::text FROM {} t", table.get::<_, String>(0));
                for row in client.query(&rows, &[]).await.expect("read") {
                    all.push_str(&row.get::<_, String>(0));
                }
            }
            all
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.admin(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn left_out() {
    println!("CONSPECTUS_POSTGRES is not set, PostgreSQL left out");
}

fn on(config: &str, sql: &str) {
    now(async {
        let connected = tokio_postgres::connect(config, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("connected");
        tokio::spawn(connection);
        client.batch_execute(sql).await.expect("executed");
    });
}

#[test]
fn a_newer_database_is_left_alone() {
    let Some(database) = Database::new() else {
        return;
    };
    drop(database.open());
    database.run("UPDATE conspectus_schema SET version = 99");
    let opened = now(PostgresStore::connect(&database.config())).map(drop);
    assert_eq!(
        opened,
        Err(StoreError::Newer {
            found: 99,
            known: 3
        })
    );
}

#[test]
fn a_database_of_any_earlier_version_is_brought_to_this_one() {
    for (version, sql) in (1..).zip(EARLIER) {
        let Some(database) = Database::new() else {
            return;
        };
        let lines = sql.lines().filter(|line| !line.starts_with("PRAGMA"));
        let sql = lines.collect::<Vec<_>>().join("\n");
        // The same tables, as this database spells them.
        let sql = sql.replace("BLOB", "BYTEA").replace("x'", "'\\x");
        let sql = sql.replace(" TEXT", " TEXT COLLATE \"C\"");
        database.run(&format!(
            "CREATE TABLE conspectus_schema (version BIGINT NOT NULL); \
             INSERT INTO conspectus_schema VALUES ({version}); {sql}"
        ));
        is_what_was_written(&database.open());
    }
}

#[test]
fn an_address_that_is_none_is_not_shown() {
    let opened = now(PostgresStore::connect("host= password=hunter2 port=x")).map(drop);
    let error = opened.expect_err("no address").to_string();
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn a_dropped_connection_is_told_and_the_next_call_works() {
    let Some(database) = Database::new() else {
        return;
    };
    let store = database.open();
    let key = ThreadKey::new("t", "cut");
    let mut talk = Talk::create(&store, &key);
    talk.go_on(&store, 1);
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    // Either it is noticed before it is used, or the write says that nobody knows.
    let first = talk.say(&store, Role::User, "after the cut");
    match first {
        Ok(Written::Done(_)) => {}
        Err(error) => {
            assert!(error.is_uncertain(), "{error:?}");
            let mut talk = talk.reopened(&store);
            let again = talk.say(&store, Role::User, "after the cut");
            assert!(matches!(again, Ok(Written::Done(_))), "{again:?}");
        }
        other => panic!("{other:?}"),
    }
    let nodes = now(store.head(&key)).expect("read").expect("there").nodes;
    assert_eq!(nodes, 3);
}

#[test]
fn two_instances_on_one_thread_lose_nothing() {
    let Some(database) = Database::new() else {
        return;
    };
    let key = ThreadKey::new("t", "both");
    let talk = Talk::create(&database.open(), &key);
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (database, talk) = (&database, talk.clone());
            scope.spawn(move || write_ten(&database.open(), talk, name));
        }
    });
    let store = database.open();
    let head = now(store.head(&key)).expect("read").expect("there");
    assert_eq!((head.nodes, head.revision), (20, 20));
}

/// Writes ten messages, each till it is written.
fn write_ten(store: &PostgresStore, mut talk: Talk, name: &str) {
    for number in 0..10 {
        loop {
            let read = now(store.head(&talk.key)).expect("read").expect("there");
            if read.state.is_some() {
                // Only structure is restored here: the other one's texts are not read.
                talk = talk.reopened(store);
            }
            let written = talk.say(store, Role::User, &format!("{name} {number}"));
            match written.expect("an answer") {
                Written::Done(_) => break,
                Written::Behind(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
