//! The request that asks a conversation's own model: the conversation's bytes, and a turn behind them.

use conspectus_core::projection::Piece;
use conspectus_core::view::Role;
use conspectus_wire::replay::{Ask, NoReplay};
use conspectus_wire::{Document, Format, valid};

use crate::support::{answer, keep, open, open_as, summary};

fn all(document: &Document) -> Vec<Piece> {
    let messages = document.conversations()[0].views().len();
    (0..messages)
        .map(|n| keep(u32::try_from(n).unwrap()))
        .collect()
}

fn replayed(document: &Document, pieces: &[Piece], ask: &Ask<'_>) -> String {
    let body = document.replay(0, pieces, ask).expect("it is a request");
    let faults = valid::check(document.format(), &body);
    assert_eq!(faults, [], "{}", String::from_utf8_lossy(&body));
    String::from_utf8(body).expect("text stays text")
}

#[track_caller]
fn check(format: Format, body: &str, expect: &str) {
    let document = open_as(body, format);
    let ask = Ask::new("Sum \"up\".", 500);
    assert_eq!(replayed(&document, &all(&document), &ask), expect);
}

#[test]
fn openai() {
    let check = |body: &str, expect: &str| check(Format::OpenAi, body, expect);
    // Nothing in front of the instruction moves; what follows the list may.
    check(
        r#"{"model":"m", "tools":[{"x":1.50}], "messages":[ {"role":"user","content":"a\u00e9"} ], "tool_choice":"auto","stop":["x"],"response_format":{"type":"json_object"},"temperature":0}"#,
        r#"{"model":"m", "tools":[{"x":1.50}], "messages":[ {"role":"user","content":"a\u00e9"}, {"role":"user","content":"Sum \"up\"."} ], "tool_choice":"none","temperature":0,"max_tokens":500}"#,
    );
    // Without tools there is no choice of them, and a cap keeps its name.
    check(
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":"a"}],"model":"m","max_completion_tokens":9,"n":2}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"Sum \"up\"."}]}],"model":"m","max_completion_tokens":500}"#,
    );
    // An open tool loop: one call is answered, the other will not be.
    check(
        r#"{"model":"m","functions":[{"name":"f"}],"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}"#,
        r#"{"model":"m","functions":[{"name":"f"}],"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"},{"role":"tool","tool_call_id":"b","content":"No result: this call was never answered."},{"role":"user","content":"Sum \"up\"."}],"function_call":"none","max_tokens":500}"#,
    );
    // A list without a request gets one; so does one that stands in something else.
    check(
        r#"[{"role":"user","content":"q"}]"#,
        r#"{"model":"","messages":[{"role":"user","content":"q"},{"role":"user","content":"Sum \"up\"."}],"max_tokens":500}"#,
    );
    check(
        "{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n",
        r#"{"model":"","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"Sum \"up\"."}],"max_tokens":500}"#,
    );
    check(
        r#"{"id":7,"reward":1.0,"messages":[{"role":"user","content":"q"}],"tools":[]}"#,
        r#"{"model":"","tools":[],"messages":[{"role":"user","content":"q"},{"role":"user","content":"Sum \"up\"."}],"max_tokens":500}"#,
    );
    check(
        r#"{"request":{"model":"m","messages":[]},"response":{}}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"Sum \"up\"."}],"max_tokens":500}"#,
    );
}

#[test]
fn anthropic() {
    let check = |body: &str, expect: &str| check(Format::Anthropic, body, expect);
    // The choice of tools stays: changing it would cost the cached messages. So does thinking, with room for it.
    check(
        r#"{"model":"m","max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000},"tools":[{"name":"t","input_schema":{}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}],"stop_sequences":["x"],"output_config":{"effort":"low","format":{"type":"json_schema"}},"tool_choice":{"type":"auto"}}"#,
        r#"{"model":"m","max_tokens":2500,"thinking":{"type":"enabled","budget_tokens":2000},"tools":[{"name":"t","input_schema":{}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"Sum \"up\"."}]}],"output_config":{"effort":"low"},"tool_choice":{"type":"auto"}}"#,
    );
    // A choice that forces a call has to go.
    check(
        r#"{"model":"m","max_tokens":4000,"thinking":{"type":"adaptive"},"tools":[{"name":"t"}],"tool_choice":{"type":"any"},"messages":[{"role":"user","content":"q"}],"output_config":{"format":{}}}"#,
        r#"{"model":"m","max_tokens":4000,"thinking":{"type":"adaptive"},"tools":[{"name":"t"}],"tool_choice":{"type":"none"},"messages":[{"role":"user","content":"q"},{"role":"user","content":"Sum \"up\"."}]}"#,
    );
    // In an open tool loop the results stay in front, and the stand-in with them.
    check(
        r#"{"model":"m","max_tokens":9,"tools":[{"name":"t"}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]}"#,
        r#"{"model":"m","max_tokens":500,"tools":[{"name":"t"}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"},{"type":"tool_result","tool_use_id":"b","content":"No result: this call was never answered."}]},{"role":"user","content":"Sum \"up\"."}]}"#,
    );
    // A reply that was begun with nothing in it goes; behind a system message somebody has to answer first.
    check(
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":""}]}"#,
        r#"{"model":"m","max_tokens":500,"messages":[{"role":"user","content":"q"},{"role":"user","content":"Sum \"up\"."}]}"#,
    );
    check(
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"system","content":"be brief"}]}"#,
        r#"{"model":"m","max_tokens":500,"messages":[{"role":"user","content":"q"},{"role":"system","content":"be brief"},{"role":"assistant","content":"Understood."},{"role":"user","content":"Sum \"up\"."}]}"#,
    );
}

#[test]
fn responses() {
    let check = |body: &str, expect: &str| check(Format::Responses, body, expect);
    check(
        r#"{"model":"m","instructions":"i","tools":[{"type":"function"}],"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}],"text":{"verbosity":"low","format":{"type":"json_schema"}},"background":true,"max_output_tokens":7,"store":false}"#,
        r#"{"model":"m","instructions":"i","tools":[{"type":"function"}],"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"No result: this call was never answered."},{"role":"user","content":"Sum \"up\"."}],"text":{"verbosity":"low"},"max_output_tokens":500,"store":false,"tool_choice":"none"}"#,
    );
    // Reasoning at the end has lost what it led to.
    check(
        r#"{"model":"m","input":[{"role":"user","content":"q"},{"type":"reasoning","id":"r","summary":[]}]}"#,
        r#"{"model":"m","input":[{"role":"user","content":"q"},{"role":"user","content":"Sum \"up\"."}],"max_output_tokens":500}"#,
    );
    // Tools that stand in the list, as Codex sends them.
    check(
        r#"{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[{}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}]}"#,
        r#"{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[{}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Sum \"up\"."}]}],"tool_choice":"none","max_output_tokens":500}"#,
    );
    check(
        r#"{"model":"m","input":"q","previous_response_id":"r"}"#,
        r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Sum \"up\"."}]}],"previous_response_id":"r","max_output_tokens":500}"#,
    );
}

#[test]
fn gemini() {
    check(
        Format::Gemini,
        r#"{"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[]}],"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}],"generationConfig":{"temperature":0,"responseMimeType":"application/json","thinkingConfig":{"thinkingBudget":100}}}"#,
        r#"{"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[]}],"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"No result: this call was never answered."}}}]},{"role":"user","parts":[{"text":"Sum \"up\"."}]}],"generationConfig":{"temperature":0,"thinkingConfig":{"thinkingBudget":100},"maxOutputTokens":600},"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}"#,
    );
}

#[test]
fn a_compacted_conversation_is_replayed_as_it_is_sent() {
    let document = open(
        r#"{"model":"m","max_tokens":9,"system":"s","tools":[{"name":"t"}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]},{"role":"assistant","content":"d"}]}"#,
    );
    let rules = crate::support::insert(
        conspectus_core::projection::BlockKind::Rules,
        Role::System,
        "rules",
    );
    let pieces = [rules, summary("so far"), keep(1), answer("a", "t", "gone")];
    let ask = Ask {
        model: Some("other"),
        ..Ask::new("Sum up.", 500)
    };
    let expect = r#"{"model":"other","max_tokens":500,"system":"s\n\nrules","tools":[{"name":"t"}],"messages":[{"role":"user","content":"so far"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"gone"}]},{"role":"user","content":"Sum up."}]}"#;
    assert_eq!(replayed(&document, &pieces, &ask), expect);
}

/// Servers with a strict chat template take what they took before.
#[test]
fn strict_turns() {
    let check = |messages: &str, expect: &str| {
        let document = open_as(
            &format!(r#"{{"model":"m","messages":[{messages}]}}"#),
            Format::OpenAi,
        );
        let ask = Ask {
            strict_turns: true,
            ..Ask::new("Sum up.", 5)
        };
        let body = replayed(&document, &all(&document), &ask);
        assert_eq!(
            body,
            format!(r#"{{"model":"m","messages":[{expect}],"max_tokens":5}}"#)
        );
        assert_eq!(valid::check_strict_template(body.as_bytes()), []);
    };
    let user = r#"{"role":"user","content":"q"}"#;
    check(user, r#"{"role":"user","content":"q\n\nSum up."}"#);
    check(
        r#"{"role":"user","content":[{"type":"text","text":"q"}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"Sum up."}]}"#,
    );
    let called = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let told = r#"{"role":"tool","tool_call_id":"a","content":"r"}"#;
    let end = r#"{"role":"assistant","content":"Understood."},{"role":"user","content":"Sum up."}"#;
    check(
        &format!("{user},{called},{told}"),
        &format!("{user},{called},{told},{end}"),
    );
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let check = |format, body: &str, expect: NoReplay| {
        let document = open_as(body, format);
        assert_eq!(document.can_replay(0), Err(expect.clone()), "{body}");
        let ask = Ask::new("Sum up.", 5);
        assert_eq!(document.replay(0, &all(&document), &ask), Err(expect));
    };
    check(
        Format::LangChain,
        r#"[{"type":"human","content":"q"}]"#,
        NoReplay::NoRequest(Format::LangChain),
    );
    check(
        Format::Responses,
        r#"{"model":"m","input":[{"role":"user","content":"q"}],"conversation":"c"}"#,
        NoReplay::HistoryElsewhere,
    );
    check(
        Format::Responses,
        r#"{"object":"response","model":"m","output":[{"type":"message","role":"assistant","content":[]}]}"#,
        NoReplay::NoRequest(Format::Responses),
    );
    check(
        Format::Anthropic,
        r#"{"model":"m","messages":[{"role":"user","content":"q"}],"thread":{"type":"create"}}"#,
        NoReplay::HistoryElsewhere,
    );
    check(
        Format::OpenAi,
        r#"{"model":"m","messages":[{"role":"user","content":"q"}],"a":1,"a":2}"#,
        NoReplay::Duplicates,
    );
    check(
        Format::Anthropic,
        r#"[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}]"#,
        NoReplay::NoTools,
    );
    check(
        Format::Responses,
        r#"{"model":"m","input":[{"role":"user","content":"q"},{"type":"compaction_trigger"}]}"#,
        NoReplay::OwnCompaction,
    );
    check(
        Format::Anthropic,
        r#"{"model":"m","messages":[{"role":"user","content":"q"}],"compaction":{"type":"summarize"}}"#,
        NoReplay::OwnCompaction,
    );
    // A part of a history that the server has cannot be left out.
    let document = open_as(
        r#"{"model":"m","input":[{"role":"user","content":"q"},{"role":"user","content":"r"}],"previous_response_id":"x"}"#,
        Format::Responses,
    );
    let ask = Ask::new("Sum up.", 5);
    let replay = document.replay(0, &[keep(1)], &ask);
    assert_eq!(replay, Err(NoReplay::HistoryElsewhere));
    assert!(document.replay(0, &[keep(7)], &ask).is_err());
    assert!(document.replay(1, &[], &ask).is_err());
}
