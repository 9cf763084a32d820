//! Every container and format, told by content alone.

use conspectus_wire::{Conversation, Format};

use crate::support::open;

#[test]
fn files_by_content() {
    use Format::{Anthropic, Claude, Cline, LangChain, MiniSweAgent, OpenAi};
    let check = |text: &str, format: Format, labels: &[&str]| {
        let document = open(text);
        assert_eq!(document.format(), format, "{text}");
        let found: Vec<_> = document
            .conversations()
            .iter()
            .map(Conversation::label)
            .collect();
        assert_eq!(found, labels, "{text}");
    };
    const USER: &str = r#"{"role":"user","content":"q"}"#;
    const TOOL: &str = r#"{"role":"tool","tool_call_id":"c","content":"r"}"#;
    const BLOCK: &str =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}"#;
    const HUMAN: &str = r#"{"type":"human","content":"q"}"#;
    check(&format!("[{USER},{TOOL}]"), OpenAi, &["0"]);
    check(&format!("[{USER},{BLOCK}]"), Anthropic, &["0"]);
    check(&format!("[{HUMAN}]"), LangChain, &["0"]);
    check(
        &format!(r#"{{"model":"m","messages":[{USER}]}}"#),
        OpenAi,
        &["0"],
    );
    check(
        &format!(r#"{{"model":"m","system":"s","messages":[{USER}]}}"#),
        Anthropic,
        &["0"],
    );
    // What only one format writes beats what stands around it.
    check(
        &format!(r#"{{"system":"log","messages":[{USER},{TOOL}]}}"#),
        OpenAi,
        &["0"],
    );
    // Cline and mini-swe-agent.
    check(
        &format!(r#"{{"version":1,"sessionId":"s1","messages":[{USER}],"system_prompt":"p"}}"#),
        Cline,
        &["s1"],
    );
    check(
        &format!(r#"{{"info":{{}},"messages":[{USER},{TOOL}],"trajectory_format":"1"}}"#),
        MiniSweAgent,
        &["0"],
    );
    check(
        &format!(r#"{{"info":{{}},"messages":[{USER},{{"role":"exit","content":""}}]}}"#),
        MiniSweAgent,
        &["0"],
    );
    // tau-bench, tau2-bench.
    check(
        &format!(r#"[{{"task_id":3,"trial":1,"traj":[{USER}]}},{{"task_id":4,"traj":[]}}]"#),
        OpenAi,
        &["3/1", "4/0"],
    );
    check(
        &format!(
            r#"{{"info":{{}},"simulations":[{{"id":"x","task_id":"t","trial":0,"messages":[{USER},{TOOL}]}},{{"messages":[]}}]}}"#
        ),
        OpenAi,
        &["t/0", "1"],
    );
    // Thread states, one or a history of them.
    check(
        &format!(r#"{{"values":{{"messages":[{HUMAN}]}},"next":[]}}"#),
        LangChain,
        &["0"],
    );
    check(
        &format!(r#"[{{"values":{{"messages":[{HUMAN}]}}}},{{"values":{{"messages":[]}}}}]"#),
        LangChain,
        &["0", "1"],
    );
    // Lines: conversations, messages, session records.
    check(
        &format!("{{\"messages\":[{USER}]}}\n\n{{\"instance_id\":\"i\",\"messages\":[{TOOL}]}}\n"),
        OpenAi,
        &["0", "i"],
    );
    check(&format!("{USER}\n{BLOCK}\n"), Anthropic, &["0"]);
    check(&format!("{HUMAN}\r\n{HUMAN}\r\n"), LangChain, &["0"]);
    check(USER, OpenAi, &["0"]);
    let record = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}"#;
    check(&format!("{record}\n"), Claude, &["s"]);
    let title = r#"{"type":"summary","summary":"t","leafUuid":"u"}"#;
    check(&format!("{title}\n{record}\n"), Claude, &["s"]);
}
