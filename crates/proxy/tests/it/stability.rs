//! How much of a request the provider can read from its cache: what it has in common with the one before, from its first
//! byte on.
//!
//! `cargo test -p conspectus-proxy --test it stability -- --nocapture` prints the figures.

use conspectus::Format;

use crate::compaction::{Client, FORMATS};
use crate::support::{Rig, chat_reply, window};

/// Bytes in common at the beginning.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
}

#[derive(Default)]
struct Share {
    /// Of the request before, but for its end: what is repeated.
    repeated: usize,
    of_before: usize,
    /// Of the request: what is repeated.
    of_request: usize,
}

impl Share {
    fn add(&mut self, before: &str, now: &str) {
        let both = common(before, now);
        self.repeated += both;
        // What stands behind the list moves on with its end.
        self.of_before += before.rfind(']').unwrap_or(before.len());
        self.of_request += now.len();
    }

    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn shares(&self) -> (f64, f64) {
        let of = |whole: usize| self.repeated as f64 / whole.max(1) as f64;
        (of(self.of_before), of(self.of_request))
    }
}

fn turn(client: &mut Client, n: usize) {
    client.asks();
    if n % 4 == 1 {
        client.calls(5);
    }
}

/// A client that leaves out its oldest messages when there are too many bytes.
fn truncated(client: &Client, most: usize) -> String {
    let mut left = most;
    let kept = client.messages.iter().rev().take_while(|message| {
        left = left.saturating_sub(message.len() + 1);
        left > 0
    });
    let from = client.messages.len() - kept.count();
    let mut shorter = Client::new(Format::OpenAi);
    shorter.messages = client.messages[from..].to_vec();
    shorter.body()
}

#[test]
fn stability_over_200_turns() {
    for format in FORMATS {
        let rig = Rig::with(|_, _| chat_reply("fine"), |s| s.options = window(20_000));
        let mut client = Client::new(format);
        let (mut between, mut all, mut compactions) = (Share::default(), Share::default(), 0);
        let mut before = String::new();
        for n in 0..200 {
            turn(&mut client, n);
            let reply = rig.post(client.path(), &[], &client.body());
            let now = rig.newest().body;
            if n > 0 {
                all.add(&before, &now);
                match reply.header("x-conspectus-outcome") {
                    "compacted" => compactions += 1,
                    _ => between.add(&before, &now),
                }
            }
            before = now;
            client.is_told();
        }
        let ((between_prefix, between_cached), (_, all_cached)) = (between.shares(), all.shares());
        println!(
            "{format:?}: {compactions} compactions in 200 turns; between them {:.2} % of the request before is repeated, {:.2} % of each request; over all {:.2} %",
            100.0 * between_prefix,
            100.0 * between_cached,
            100.0 * all_cached
        );
        assert!(compactions >= 2, "{compactions}");
        assert!(
            between_prefix >= 0.999 && between_cached >= 0.95,
            "{between_prefix} {between_cached}"
        );
    }
    let mut client = Client::new(Format::OpenAi);
    let (mut share, mut before) = (Share::default(), String::new());
    for n in 0..200 {
        turn(&mut client, n);
        let now = truncated(&client, 64_000);
        if n > 0 {
            share.add(&before, &now);
        }
        before = now;
        client.is_told();
    }
    let (_, cached) = share.shares();
    println!(
        "a client that truncates: {:.2} % of each request",
        100.0 * cached
    );
    assert!(cached < 0.7, "{cached}");
}
