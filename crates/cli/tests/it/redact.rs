//! Secrets in a conversation are in nothing that is printed about it.

use serde_json::json;

use crate::support::Place;

/// Looks like a key and never was one.
fn key() -> String {
    ["sk-ant-", "api03-Zk3Qm9Tb7Wx1Lp5Rv8Yc2Nd6Hf4"].concat()
}

fn conversation() -> Vec<u8> {
    let key = key();
    let mut messages =
        vec![json!({"role": "user", "content": format!("{key} is the key, always use {key}.")})];
    for n in 0..40 {
        let call = format!("c{n}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": call, "type": "function",
            "function": {"name": "bash", "arguments": json!({"command": format!("KEY={key} run step {n}")}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": call,
            "content": format!("error: {key} was refused in step {n}, {}", "line of output ".repeat(20))}));
    }
    messages.push(json!({"role": "assistant", "content": format!("{key} does not work.")}));
    messages.push(json!({"role": "user", "content": "And now?"}));
    json!({"model": "m", "messages": messages})
        .to_string()
        .into_bytes()
}

#[test]
fn no_report_shows_a_secret() {
    for command in ["inspect", "plan", "compact"] {
        for json in [false, true] {
            let place = Place::new();
            place.write("in.json", &conversation());
            let mut args = vec![command, "in.json", "--trigger", "tokens=2000"];
            if json {
                args.push("--json");
            }
            if command == "compact" {
                args.extend(["--out", "out.json"]);
            }
            let ran = place.run(&args);
            let piece = &key()[10..30];
            assert!(!ran.out.contains(piece), "{args:?}: {}", ran.out);
            assert!(!ran.err.contains(piece), "{args:?}: {}", ran.err);
            assert!(
                ran.out.contains("[redacted: anthropic key]"),
                "{args:?}: {}\n{}",
                ran.out,
                ran.err
            );
        }
    }
}
