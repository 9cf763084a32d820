//! A real service, asked over HTTP for a long time: threads that begin, grow, are compacted, undone, read and removed. What is
//! looked at is its memory, and that everything comes out right all the time.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use conspectus::threads::Json;
use conspectus_testkit::client::{Reply, ask};
use serde_json::{Value, json};

use crate::Sizes;
use crate::figures::{self, Times};
use crate::flat::{Grown, Sample};
use crate::talk::talk;

/// Clients that ask at the same time.
const CLIENTS: usize = 4;
/// Messages that come before each compaction, and how often that is in a thread's life.
const ROUNDS: usize = 8;
const MESSAGES: usize = 12;
/// Lines of the table.
const LINES: usize = 12;

pub(crate) fn run(sizes: &Sizes, program: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut service = Service::start(program, folder.path())?;
    let talk = talk(ROUNDS * MESSAGES)?;
    let began = Instant::now();
    let mut samples: Vec<Sample> = Vec::new();
    let all = std::thread::scope(|scope| {
        let address = service.address.as_str();
        let (talk, is_over) = (&talk, || began.elapsed() >= sizes.soak);
        let clients = (0..CLIENTS).map(|client| {
            scope.spawn(move || {
                let mut asked = Asked {
                    address,
                    kinds: BTreeMap::new(),
                };
                let mut lives = 0;
                while !is_over() {
                    asked.live(&format!("life-{client}-{lives}"), talk);
                    lives += 1;
                }
                (asked.kinds, lives)
            })
        });
        let clients: Vec<_> = clients.collect();
        while !is_over() {
            std::thread::sleep(sizes.tick);
            samples.push((began.elapsed().as_secs_f64(), service.resident()?));
        }
        let mut all: (BTreeMap<&str, Times>, u64) = Default::default();
        for client in clients {
            let (kinds, lives) = client
                .join()
                .map_err(|_| anyhow::anyhow!("a client was answered otherwise than it must be"))?;
            all.1 += lives;
            for (kind, times) in kinds {
                all.0.entry(kind).or_default().add(&times);
            }
        }
        anyhow::Ok(all)
    })?;
    let within = began.elapsed();
    let left = service.threads();
    ensure!(left == 0, "{left} threads are left");
    service.stop()?;
    let (kinds, lives) = all;
    figures::head(&format!(
        "A service on SQLite for {:.1} minutes: {CLIENTS} clients, {lives} threads of {} messages",
        within.as_secs_f64() / 60.0,
        ROUNDS * MESSAGES
    ));
    for (kind, times) in kinds {
        figures::row("service", kind, &times, Some(within));
    }
    tell(&samples);
    let grown = Grown::of(&samples).context("too short to tell whether memory is flat")?;
    let (by, limit) = (grown.by / 1e6, grown.limit(sizes.allowed) / 1e6);
    println!(
        "\nSecond half: {:.1} MB on average, {by:+.2} MB over it by least squares; at most {limit:.1} MB is flat.",
        grown.mean / 1e6
    );
    ensure!(
        grown.is_flat(sizes.allowed),
        "the service's memory is not flat"
    );
    Ok(())
}

/// The memory over time.
fn tell(samples: &[Sample]) {
    println!("\n| after | resident |\n|--:|--:|");
    let lines = (1..=LINES).filter_map(|line| {
        let at = (samples.len() * line / LINES).checked_sub(1)?;
        samples.get(at)
    });
    for (seconds, bytes) in lines {
        println!("| {seconds:.0} s | {:.1} MB |", bytes / 1e6);
    }
}

/// What a client asked, by kind.
struct Asked<'a> {
    address: &'a str,
    kinds: BTreeMap<&'static str, Times>,
}

impl Asked<'_> {
    /// The life of a thread.
    fn live(&mut self, name: &str, talk: &[Json]) {
        let path = format!("/api/threads/{name}");
        let at = |rest: &str| format!("{path}{rest}");
        self.ask(
            "create",
            "POST",
            "/api/threads",
            &json!({"thread_id": name}),
        );
        for (round, messages) in talk.chunks(MESSAGES).enumerate() {
            let said = (round + 1) * MESSAGES;
            let messages: Vec<&str> = messages.iter().map(Json::as_str).collect();
            let body = format!(r#"{{"messages": [{}]}}"#, messages.join(","));
            let appended = self.send(
                "append 12 messages",
                "POST",
                &at("/messages"),
                body.as_bytes(),
            );
            assert_eq!(
                appended.done()["ids"].as_array().map(Vec::len),
                Some(MESSAGES)
            );
            let before = self.ask("state", "GET", &at("/state"), &Value::Null);
            let keep = json!({"keep": {"type": "messages", "value": 4}});
            let compacted = self.ask("compact", "POST", &at("/compact"), &keep);
            assert_eq!(compacted["compacted"], true, "{compacted}");
            self.ask("undo", "POST", &at("/undo"), &Value::Null);
            let undone = self.ask("state", "GET", &at("/state"), &Value::Null);
            assert_eq!(undone["values"]["messages"], before["values"]["messages"]);
            self.ask("redo", "POST", &at("/redo"), &Value::Null);
            self.ask("request", "GET", &at("/request"), &Value::Null);
            self.ask("status", "GET", &at("/status"), &Value::Null);
            let page = self.ask("visible", "GET", &at("/messages?limit=100"), &Value::Null);
            assert_eq!(
                page["messages"].as_array().map(Vec::len),
                Some(said.min(100))
            );
            self.ask(
                "recall",
                "GET",
                &at("/recall?q=session+token"),
                &Value::Null,
            );
            self.ask("events", "GET", &at("/events?follow=false"), &Value::Null);
        }
        let list = json!({"limit": 10});
        self.ask("list", "POST", "/api/threads/search", &list);
        let removed = self.send("delete", "DELETE", &path, b"");
        assert!((200..300).contains(&removed.status), "{removed:?}");
    }

    fn ask(&mut self, kind: &'static str, method: &str, path: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.send(kind, method, path, body.as_bytes()).done()
    }

    fn send(&mut self, kind: &'static str, method: &str, path: &str, body: &[u8]) -> Reply {
        let headers: &[(&str, &str)] = match body {
            [] => &[],
            _ => &[("content-type", "application/json")],
        };
        let began = Instant::now();
        let body = Some(body).filter(|body| !body.is_empty());
        let reply = ask(self.address, method, path, headers, body);
        self.kinds.entry(kind).or_default().push(began.elapsed());
        reply
    }
}

struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--store",
                "sqlite:threads.db",
            ])
            .current_dir(folder)
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} serve; say --service PROGRAM", program.display()))?;
        let mut line = String::new();
        let out = child.stdout.take().context("its output is piped")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.with_context(|| format!("it does not listen: {line:?}"))?;
        let address = address.to_owned();
        Ok(Self { child, address })
    }

    /// How many threads it has.
    fn threads(&self) -> Value {
        let mut asked = Asked {
            address: &self.address,
            kinds: BTreeMap::new(),
        };
        asked.ask("count", "POST", "/api/threads/count", &json!({}))
    }

    /// Its resident memory in bytes, as Linux tells it.
    fn resident(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kilobytes: f64 = kilobytes.context("a process has memory")?.trim().parse()?;
        Ok(kilobytes * 1024.0)
    }

    /// It ends as it is told to.
    fn stop(&mut self) -> anyhow::Result<()> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-s", "TERM", &id]).status()?;
        let ended = self.child.wait()?;
        ensure!(ended.success(), "the service ended with {ended}");
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
