//! What was saved, in tokens, hits of the cache and money: in figures, lines and the thread's own metadata.

use conspectus::Format;
use conspectus::store::ThreadKey;
use conspectus_testkit::client::ask;
use conspectus_testkit::server::Step;
use serde_json::Value;

use crate::compaction::Client;
use crate::support::{Rig, window};

fn figure(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("{name} is not there: {text}"))
}

#[test]
fn savings_are_told_everywhere_alike() {
    // As many tokens as there are, half of them from the cache.
    let mut rig = Rig::with(
        |_, asked| {
            let tokens = asked.body.len() / 4;
            let cached = tokens / 2;
            let reply = format!(
                r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"fine"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{tokens},"completion_tokens":1,"prompt_tokens_details":{{"cached_tokens":{cached}}}}}}}"#
            );
            Step::answer(200, &[("content-type", "application/json")], &reply)
        },
        |s| s.options = window(6_000),
    );
    let mut client = Client::new(Format::OpenAi);
    let mut saved = 0;
    for _ in 0..60 {
        client.asks();
        // A model with known prices.
        let body = client
            .body()
            .replace(r#""model":"m""#, r#""model":"gpt-4o""#);
        let reply = rig.post(client.path(), &[], &body);
        saved += reply
            .header("x-conspectus-saved")
            .parse::<u64>()
            .unwrap_or(0);
        client.is_told();
    }
    assert!(saved > 0);
    let text = ask(&rig.address, "GET", "/metrics", &[], None).body;
    rig.stop();
    let asked = rig.upstream.asked();
    let input: usize = asked.iter().map(|asked| asked.body.len() / 4).sum();
    let cached: usize = asked.iter().map(|asked| asked.body.len() / 4 / 2).sum();
    assert_eq!(
        figure(&text, "conspectus_proxy_saved_tokens_total"),
        saved as f64
    );
    assert_eq!(
        figure(&text, "conspectus_proxy_input_tokens_total"),
        input as f64
    );
    assert_eq!(
        figure(&text, "conspectus_proxy_cache_read_tokens_total"),
        cached as f64
    );
    let dollars = figure(&text, "conspectus_proxy_saved_dollars_total");
    // As read from the cache, since that is used: half of 2.50 dollars a million tokens.
    let expect = saved as f64 * 1.25 / 1e6;
    assert!((dollars - expect).abs() < 1e-4, "{dollars} {expect}");
    let of_lines: f64 = {
        let lines = rig.lines.lock().expect("nobody panics");
        let said = lines
            .iter()
            .filter_map(|line| line.split_once(" saved_dollars="));
        said.filter_map(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok())
            .sum()
    };
    assert!((dollars - of_lines).abs() < 1e-6, "{dollars} {of_lines}");
    // The thread says it, but for the newest request, whose figures are written with the next one.
    let name = &rig.names()[0];
    let head = rig
        .runtime
        .block_on(rig.store.head(&ThreadKey::new("default", name)));
    let head = head.expect("the store answers").expect("it is there");
    let meta: Value = serde_json::from_str(&head.meta).expect("json");
    let of_thread = &meta["metadata"]["proxy"];
    let number = |name: &str| {
        of_thread[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {meta}"))
    };
    assert!(number("requests") >= 58, "{meta}");
    assert!(
        number("cache_read_tokens") * 100 >= cached as u64 * 95,
        "{meta}"
    );
    assert!(
        (saved / 2..=saved).contains(&number("saved_tokens")),
        "{meta}"
    );
    // And what it is held to, which a service on the same store could not know.
    let window = |name: &str| {
        let size = of_thread["window"][name].as_u64();
        size.unwrap_or_else(|| panic!("{name}: {meta}"))
    };
    assert!(window("target_tokens") < window("trigger_tokens"), "{meta}");
    assert!(window("trigger_tokens") <= window("input_limit"), "{meta}");
    let micros = number("saved_micros") as f64;
    assert!(
        micros > dollars * 5e5 && micros <= dollars * 1e6 + 1.0,
        "{meta}"
    );
}
