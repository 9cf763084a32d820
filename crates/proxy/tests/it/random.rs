//! Bodies that are broken in every way: nothing panics, and what is not understood goes through as it came.

use std::path::Path;

use conspectus::Format;
use conspectus::wire::valid;
use conspectus_testkit::client::ask;
use conspectus_testkit::rng::Rng;

use crate::support::{Rig, chat_reply, window};

const APIS: [(&str, &str, Format); 3] = [
    ("openai-chat", "/v1/chat/completions", Format::OpenAi),
    ("openai-responses", "/v1/responses", Format::Responses),
    ("anthropic", "/v1/messages", Format::Anthropic),
];

fn bodies(folder: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/bodies")
        .join(folder);
    let mut all: Vec<_> = std::fs::read_dir(path)
        .expect("the bodies are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("request"))
        })
        .collect();
    all.sort();
    all.iter()
        .map(|path| std::fs::read(path).expect("it is read"))
        .collect()
}

/// The body broken somewhere.
fn broken(body: &[u8], rng: &mut Rng) -> Vec<u8> {
    const BITS: [&[u8]; 10] = [
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"\\",
        b"null",
        b"\xff\xfe",
        b"\"role\":\"tool\",",
    ];
    let mut body = body.to_vec();
    for _ in 0..rng.between(1, 3) {
        let at = rng.below(body.len());
        match rng.below(4) {
            0 => body.truncate(at),
            1 => {
                let to = (at + rng.between(1, 40)).min(body.len());
                body.drain(at..to);
            }
            2 => {
                let bit = rng.pick(&BITS);
                body.splice(at..at, bit.iter().copied());
            }
            _ => {
                let to = (at + rng.between(1, 200)).min(body.len());
                let again = body[at..to].to_vec();
                body.splice(at..at, again);
            }
        }
        if body.is_empty() {
            break;
        }
    }
    body
}

#[test]
fn broken_bodies_go_through() {
    for (folder, path, format) in APIS {
        // A window that every body is larger than, so that what can be read is rewritten, too.
        let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(300));
        let mut rng = Rng::new(7);
        let (mut same, mut rewritten) = (0, 0);
        for body in bodies(folder) {
            for nth in 0..40 {
                let sent = if nth == 0 {
                    body.clone()
                } else {
                    broken(&body, &mut rng)
                };
                let json = [("content-type", "application/json")];
                let reply = ask(&rig.address, "POST", path, &json, Some(&sent));
                let outcome = reply.header("x-conspectus-outcome");
                assert_eq!(reply.status, 200, "{outcome}");
                // Answered with a capsule of ours: nothing went up.
                if outcome.is_empty() {
                    continue;
                }
                let up = rig.newest().body;
                if up == String::from_utf8_lossy(&sent) {
                    same += 1;
                    continue;
                }
                let rules = |body: &[u8]| -> Vec<valid::Rule> {
                    valid::check(format, body).iter().map(|f| f.rule).collect()
                };
                let was = rules(&sent);
                let new = rules(up.as_bytes());
                assert!(
                    new.iter().all(|rule| was.contains(rule)),
                    "{was:?} {new:?} {up}"
                );
                rewritten += 1;
            }
        }
        assert!(same > 100, "{folder}: {same} {rewritten}");
        let lines = rig.lines.lock().expect("nobody panics");
        let faults = lines.iter().filter(|line| line.contains("a fault")).count();
        assert_eq!(faults, 0, "{folder}");
    }
}
