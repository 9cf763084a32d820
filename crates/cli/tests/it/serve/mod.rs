//! `conspectus serve`, as it is started and stopped.

mod agents;
mod session;
#[cfg(feature = "postgres")]
mod together;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use conspectus_testkit::client::{Reply, ask};
use serde_json::{Value, json};

use crate::support::{Place, Ran};

/// A service of its own process.
pub(crate) struct Service {
    child: Child,
    address: String,
}

impl Service {
    /// On a free port, with these arguments too.
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        let mut child = place
            .command(&all)
            .env_remove("XDG_DATA_HOME")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Self { child, address }
    }

    pub(crate) fn api(&self) -> String {
        format!("http://{}/api", self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        ask(&self.address, "GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        let headers = [&[("content-type", "application/json")], headers].concat();
        let body = body.to_string();
        ask(&self.address, "POST", path, &headers, Some(body.as_bytes()))
    }

    /// Sends a signal by its name.
    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("kill runs").success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn threads_are_there_after_a_stop() {
    let place = Place::new();
    let mut service = Service::start(&place, &[]);
    service
        .post("/api/threads", &[], &json!({"thread_id": "tea"}))
        .done();
    service.signal("TERM");
    let ended = service.child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
    assert_eq!(place.files(), [".local/share/conspectus/threads.db"]);
    let again = Service::start(&place, &[]);
    assert_eq!(again.get("/api/threads/tea").done()["thread_id"], "tea");
}

#[test]
fn what_it_cannot_run_with_is_said_before_it_runs() {
    let place = Place::new();
    place.write("bad.yaml", b"server: {listn: '127.0.0.1:80'}\n");
    place.write("mysql.yaml", b"server: {store: $NO_SUCH_STORE}\n");
    place.write("tokens.txt", b"my-own-token ann\n");
    let check = |args: &[&str], expect: &str| {
        let ran: Ran = place.run(&[&["serve"], args].concat());
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains(expect), "{}", ran.err);
        assert!(
            !ran.err.contains("my-own-token") && !ran.err.contains("hush"),
            "{}",
            ran.err
        );
    };
    check(
        &["--config", "bad.yaml"],
        "bad.yaml:1: server.listn: unknown option, did you mean listen?",
    );
    check(
        &["--listen", "0.0.0.0:0", "--store", "memory"],
        "0.0.0.0:0 can be reached from other machines",
    );
    check(
        &["--tokens", "tokens.txt", "--store", "memory"],
        "tokens.txt: line 1: expected sha256:",
    );
    check(
        &["--config", "mysql.yaml"],
        "server.store: the environment variable of $NO_SUCH_STORE is not set",
    );
    check(
        &["--store", "mysql://me:hush@db"],
        "store: expected sqlite:PATH",
    );
    check(
        &["--store", "sqlite:no/such/place.db"],
        "no/such/place.db: ",
    );
}
