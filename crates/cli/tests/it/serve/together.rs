//! Two services on one PostgreSQL, asked for the same threads at once. In short in the suite; as the issue asks for it:
//!
//! ```sh
//! CONSPECTUS_TWO_THREADS=200 scripts/with-postgres.sh \
//!   cargo test -p conspectus-cli --features postgres together -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Barrier;

use serde_json::{Value, json};

use super::Service;
use crate::support::Place;

/// A database that is gone afterwards.
struct Database {
    server: String,
    name: String,
}

impl Database {
    /// `None`: there is no server, or nothing to speak with it.
    #[expect(clippy::print_stdout, reason = "what is left out is said")]
    fn new() -> Option<Self> {
        let Some(server) = std::env::var_os("CONSPECTUS_POSTGRES") else {
            println!("CONSPECTUS_POSTGRES is not set, two services on one PostgreSQL left out");
            return None;
        };
        if Command::new("psql").arg("--version").output().is_err() {
            println!("psql is not installed, two services on one PostgreSQL left out");
            return None;
        }
        let database = Self {
            server: server.into_string().expect("UTF-8"),
            name: format!("conspectus_two_{}", std::process::id()),
        };
        database.admin(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    /// libpq's words as an address.
    fn url(&self) -> String {
        let words = self
            .server
            .split_whitespace()
            .filter(|word| !word.starts_with("dbname="));
        let words: Vec<&str> = words.collect();
        format!("postgres:///{}?{}", self.name, words.join("&"))
    }

    fn admin(&self, sql: &str) {
        let server = format!("{} dbname=postgres", self.server);
        let ran = Command::new("psql").args(["-qc", sql, &server]).status();
        assert!(ran.expect("psql runs").success(), "{sql}");
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let server = format!("{} dbname=postgres", self.server);
        let _ = Command::new("psql").args(["-qc", &sql, &server]).status();
    }
}

#[test]
fn two_services_compact_each_thread_once_and_lose_nothing() {
    let Some(database) = Database::new() else {
        return;
    };
    let told = std::env::var_os("CONSPECTUS_TWO_THREADS");
    let count: usize = told.and_then(|n| n.to_str()?.parse().ok()).unwrap_or(12);
    let place = Place::new();
    let url = database.url();
    let services = [0, 1].map(|_| Service::start(&place, &["--store", &url]));
    for thread in 0..count {
        let policy = json!({
            "keep": {"type": "messages", "value": 2},
            "trigger": {"type": "tokens", "value": 1_500},
        });
        let body = json!({"thread_id": name(thread), "policy": policy});
        services[thread % 2].post("/api/threads", &[], &body).done();
        let path = format!("/api/threads/{}/messages", name(thread));
        services[thread % 2].post(&path, &[], &talk()).done();
    }

    // Each service is asked for each thread at the same time as the other one, while messages come through both.
    let barrier = Barrier::new(4);
    let outcomes: Vec<BTreeMap<String, u32>> = std::thread::scope(|scope| {
        let (services, barrier) = (&services, &barrier);
        let compacting = services.each_ref().map(|service| {
            scope.spawn(move || {
                let mut outcomes = BTreeMap::new();
                for thread in 0..count {
                    barrier.wait();
                    let path = format!("/api/threads/{}/compact", name(thread));
                    // Whoever comes when the other one is done finds a thread below its trigger.
                    let reply = service.post(&path, &[], &json!({"force": false}));
                    let said = reply.json();
                    let word = match reply.status {
                        200 if said["compacted"] == true => "compacted",
                        200 => said["reason"].as_str().expect("a reason"),
                        409 => said["code"].as_str().expect("a code"),
                        _ => panic!("{reply:?}"),
                    };
                    *outcomes.entry(word.to_owned()).or_default() += 1;
                }
                outcomes
            })
        });
        for (at, service) in services.iter().enumerate() {
            scope.spawn(move || {
                for thread in 0..count {
                    barrier.wait();
                    let path = format!("/api/threads/{}/messages", name(thread));
                    let late = json!({"messages": [{"type": "human", "id": format!("late{at}"), "content": "And?"}]});
                    service.post(&path, &[], &late).done();
                }
            });
        }
        compacting.map(|one| one.join().expect("it ends")).into()
    });
    println!("{count} threads, two services: {outcomes:?}");

    for thread in 0..count {
        let path = format!("/api/threads/{}", name(thread));
        let log = services[0].get(&format!("{path}/log")).done();
        let summaries = log.as_array().expect("a list").iter();
        let summaries = summaries
            .filter(|entry| entry["summary_text"].is_string())
            .count();
        assert_eq!(summaries, 1, "{path}: {log}");
        let visible = services[1]
            .get(&format!("{path}/messages?limit=100"))
            .done();
        let ids: Vec<&Value> = visible["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|m| &m["id"])
            .collect();
        assert_eq!(ids.len(), 14, "{path}: {ids:?}");
        for id in ["m0", "m11", "late0", "late1"] {
            assert_eq!(
                ids.iter().filter(|known| ***known == id).count(),
                1,
                "{path}: {id}"
            );
        }
        let state = services[thread % 2].get(&format!("{path}/state")).done();
        let window = state["values"]["messages"]
            .as_array()
            .expect("a list")
            .len();
        assert!(
            state["values"]["summary_text"].is_string() && window < 14,
            "{path}: {state}"
        );
    }
    let compacted: u32 = outcomes.iter().filter_map(|all| all.get("compacted")).sum();
    assert_eq!(compacted as usize, count, "{outcomes:?}");
}

fn name(thread: usize) -> String {
    format!("t{thread}")
}

fn talk() -> Value {
    let messages = (0..12).map(|at| {
        let kind = if at % 2 == 0 { "human" } else { "ai" };
        let words: Vec<String> = (0..60)
            .map(|word| format!("w{}", at * 97 + word * 7))
            .collect();
        let content = format!("Step {at} is about src/part{at}.rs: {}.", words.join(" "));
        json!({"type": kind, "id": format!("m{at}"), "content": content})
    });
    json!({"messages": messages.collect::<Vec<_>>()})
}
