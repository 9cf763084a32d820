//! The validators against what providers take and refuse, and our own output against the validators.

use conspectus_core::projection::BlockKind;
use conspectus_core::view::Role;
use conspectus_wire::valid::{Rule, check, check_strict_template};
use conspectus_wire::{Document, Format, OpenOptions};

use crate::support::{
    answer, data, edit, fixtures, insert, keep, open, open_as, remove, render, shared, summary,
};

fn rules(format: Format, text: &str) -> Vec<Rule> {
    check(format, text.as_bytes())
        .into_iter()
        .map(|fault| fault.rule)
        .collect()
}

#[test]
fn the_providers_examples() {
    let openai = |name: &str| rules(Format::OpenAi, &data(&format!("openai/{name}.json")));
    let anthropic = |name: &str| rules(Format::Anthropic, &data(&format!("anthropic/{name}.json")));
    for name in [
        "request",
        "request.stream",
        "request.custom_tool",
        "request.multimodal",
    ] {
        assert_eq!(openai(name), [], "{name}");
    }
    assert_eq!(openai("invalid.missing_tool_message"), [Rule::Unanswered]);
    assert_eq!(openai("invalid.orphan_tool_message"), [Rule::Orphan]);
    for name in [
        "request",
        "request.stream",
        "request.mid_system",
        "request.drop_block",
        "request.context_management",
        "request.compaction_on_demand",
        "request.after_compaction",
    ] {
        assert_eq!(anthropic(name), [], "{name}");
    }
    assert_eq!(anthropic("invalid.five_cache_breakpoints"), [Rule::Cache]);
    assert_eq!(
        anthropic("invalid.orphan_tool_result"),
        [Rule::Orphan, Rule::Tools]
    );
    assert_eq!(
        anthropic("invalid.tool_result_after_text"),
        [Rule::ResultsFirst, Rule::ResultsFirst, Rule::Tools]
    );
    assert_eq!(
        anthropic("invalid.tool_use_without_result"),
        [Rule::Unanswered, Rule::Unanswered, Rule::Tools]
    );
    assert_eq!(rules(Format::LangChain, &data("langchain/state.json")), []);
}

#[test]
fn chat_completions() {
    let test = |messages: &str, expect: &[Rule]| {
        assert_eq!(
            rules(Format::OpenAi, &format!("[{messages}]")),
            expect,
            "{messages}"
        );
    };
    const USER: &str = r#"{"role":"user","content":"q"}"#;
    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    const ANSWER: &str = r#"{"role":"tool","tool_call_id":"a","content":"r"}"#;
    test(&format!("{USER},{CALL},{ANSWER},{USER}"), &[]);
    test(
        &format!("{CALL},{USER},{ANSWER}"),
        &[Rule::Unanswered, Rule::Orphan],
    );
    test(&format!("{CALL},{ANSWER},{ANSWER}"), &[Rule::Repeated]);
    test(&format!("{CALL},{CALL},{ANSWER}"), &[Rule::Unanswered]);
    test(&format!("{USER},{CALL}"), &[Rule::Unanswered]);
    test(
        &format!("{USER},{}", r#"{"role":"system","content":"s"}"#),
        &[Rule::System],
    );
    test(
        r#"{"role":"system","content":"s"},{"role":"developer","content":"s"}"#,
        &[Rule::System],
    );
    test(r#"{"role":"user"}"#, &[Rule::Empty]);
    test(r#"{"role":"assistant","content":null}"#, &[Rule::Empty]);
    test(r#"{"role":"user","content":[]}"#, &[Rule::Empty]);
    test(
        r#"{"role":"user","content":[{"type":"text"}]}"#,
        &[Rule::Empty],
    );
    test(r#"{"role":"exit","content":"x"}"#, &[Rule::Role]);
    test(
        &format!("{},{ANSWER}", CALL.replace("\"{}\"", "\"{\"")),
        &[Rule::Arguments],
    );
    test(
        r#"{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"r"}"#,
        &[],
    );
    test(
        r#"{"role":"assistant","tool_calls":[{"id":"a","name":"f","arguments":{}}]},{"role":"tool","id":"a","content":"r"}"#,
        &[],
    );
    let strict = |messages: &str| -> Vec<Rule> {
        let faults = check_strict_template(format!("[{messages}]").as_bytes());
        faults.into_iter().map(|fault| fault.rule).collect()
    };
    assert_eq!(strict(&format!("{USER},{CALL},{ANSWER}")), []);
    assert_eq!(strict(&format!("{USER},{USER}")), [Rule::Alternation]);
    assert_eq!(
        strict(&format!("{USER},{CALL},{ANSWER},{USER}")),
        [Rule::Alternation]
    );
    assert_eq!(
        strict(r#"{"role":"assistant","content":"x"}"#),
        [Rule::First, Rule::Last]
    );
    assert_eq!(rules(Format::OpenAi, "{"), [Rule::Shape]);
    assert_eq!(rules(Format::OpenAi, "{}"), [Rule::Shape]);
}

#[test]
fn anthropics_messages() {
    let test = |messages: &str, expect: &[Rule]| {
        assert_eq!(
            rules(Format::Anthropic, &format!("[{messages}]")),
            expect,
            "{messages}"
        );
    };
    const USER: &str = r#"{"role":"user","content":"q"}"#;
    const CALL: &str =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    const RESULT: &str =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}"#;
    test(&format!("{USER},{CALL},{RESULT},{USER}"), &[]);
    test(
        &format!("{USER},{CALL},{USER},{RESULT}"),
        &[Rule::ResultsFirst],
    );
    test(&format!("{USER},{CALL}"), &[Rule::Unanswered]);
    test(
        &format!("{USER},{CALL},{RESULT},{RESULT}"),
        &[Rule::Repeated],
    );
    test(&format!("{CALL},{RESULT}"), &[Rule::First]);
    test(
        &format!("{USER},{RESULT}"),
        &[Rule::Orphan, Rule::ResultsFirst],
    );
    test(r#"{"role":"system","content":"s"}"#, &[Rule::System]);
    test(
        &format!(r#"{USER},{{"role":"system","content":"s"}},{USER}"#),
        &[Rule::System],
    );
    test(r#"{"role":"user","content":" "}"#, &[Rule::Empty]);
    test(r#"{"role":"user","content":[]}"#, &[Rule::Empty]);
    test(
        r#"{"role":"user","content":[{"type":"text","text":""}]}"#,
        &[Rule::Empty],
    );
    test(
        &format!("{USER},{},{}", CALL.replace("{}", "\"x\""), RESULT),
        &[Rule::Arguments],
    );
    test(
        &format!(
            "{USER},{},{}",
            CALL.replace("\"a\"", "\"a b\""),
            RESULT.replace("\"a\"", "\"a b\"")
        ),
        &[Rule::Id, Rule::Id],
    );
    let reply = |blocks: &str| format!(r#"{USER},{{"role":"assistant","content":[{blocks}]}}"#);
    const THINKING: &str = r#"{"type":"thinking","thinking":"t","signature":"s"}"#;
    test(
        &reply(&format!(r#"{THINKING},{{"type":"text","text":"x"}}"#)),
        &[],
    );
    test(&reply(THINKING), &[Rule::Thinking]);
    test(
        &reply(r#"{"type":"thinking","thinking":"t"},{"type":"text","text":"x"}"#),
        &[Rule::Thinking],
    );
    test(
        &reply(
            r#"{"type":"server_tool_use","id":"s","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#,
        ),
        &[],
    );
    test(
        &reply(r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#),
        &[Rule::Orphan],
    );
    let request = |extra: &str| {
        rules(
            Format::Anthropic,
            &format!(r#"{{"messages":[{USER},{CALL},{RESULT}],{extra}}}"#),
        )
    };
    assert_eq!(
        request(r#""thinking":{"type":"enabled"}"#),
        [Rule::Thinking]
    );
    assert_eq!(request(r#""thinking":{"type":"adaptive"}"#), []);
    assert_eq!(request(r#""max_tokens":1"#), [Rule::Tools]);
    let marks = r#""system":[{"type":"text","text":"s","cache_control":{"ttl":"5m"}},{"type":"text","text":"s","cache_control":{"ttl":"1h"}}]"#;
    assert_eq!(request(marks), [Rule::Cache]);
}

#[test]
fn langchains_messages() {
    let test = |messages: &str, expect: &[Rule]| {
        assert_eq!(
            rules(Format::LangChain, &format!("[{messages}]")),
            expect,
            "{messages}"
        );
    };
    const CALL: &str =
        r#"{"type":"ai","content":"","tool_calls":[{"id":"a","name":"f","args":{}}]}"#;
    const ANSWER: &str = r#"{"type":"tool","content":"r","tool_call_id":"a"}"#;
    test(&format!("{CALL},{ANSWER}"), &[]);
    test(CALL, &[Rule::Unanswered]);
    test(ANSWER, &[Rule::Orphan]);
    test(
        &format!(r#"{CALL},{{"type":"human","content":"q"}},{ANSWER}"#),
        &[Rule::Unanswered, Rule::Orphan],
    );
    test(
        r#"{"type":"human","content":"q","id":"1"},{"type":"human","content":"q","id":"1"}"#,
        &[Rule::Repeated],
    );
    test(r#"{"type":"ai","data":{"content":null}}"#, &[Rule::Empty]);
    test(
        r#"{"lc":1,"type":"constructor","id":["x","ToolMessage"],"kwargs":{"content":"","tool_call_id":"z"}}"#,
        &[Rule::Orphan],
    );
    test(r#"{"type":"novel","content":""}"#, &[Rule::Role]);
}

/// Real files break few rules by themselves: what they do break is known.
#[test]
fn real_files() {
    let Some(folder) = shared() else {
        println!("shared data not found, 6 checks left out");
        return;
    };
    let faults = |name: &str| {
        let bytes = std::fs::read(folder.join("data").join(name)).unwrap();
        let document = Document::open(bytes.clone(), &OpenOptions::default()).unwrap();
        let mut rules: Vec<_> = check(document.format(), &bytes)
            .into_iter()
            .map(|f| f.rule)
            .collect();
        rules.sort();
        rules
    };
    assert_eq!(faults("tau-bench/gpt-4o-airline.tasks00-33.json"), []);
    assert_eq!(faults("swe-smith-chat/_example.jsonl"), []);
    assert_eq!(
        faults("langchain-dumpd/summarization_seed_messages.json"),
        []
    );
    assert_eq!(faults("cline/session.messages.json"), []);
    // The last call is never answered; an `exit` message takes its place.
    let swe = "mini-swe-agent/deepseek_chat_dev__pvlib__pvlib-python-1854.traj.json";
    assert_eq!(faults(swe), [Rule::Role, Rule::Unanswered]);
    assert_eq!(
        faults("deer-flow/21cfea46-34bd-4aa6-9e1f-3009452fbeb9__thread.json"),
        []
    );
}

#[test]
fn what_we_insert_is_valid() {
    let rules_block = insert(BlockKind::Rules, Role::System, "authority");
    let ack = insert(BlockKind::Acknowledgement, Role::Assistant, "understood");
    for (format, file, calls) in [
        (Format::OpenAi, "openai/request.json", 2),
        (Format::Anthropic, "anthropic/request.json", 1),
        (Format::LangChain, "langchain/state.json", 1),
    ] {
        let text = data(file);
        let document = open_as(&text, format);
        let ids: Vec<_> = document.conversations()[0].views()[calls as usize]
            .calls()
            .map(|(_, id, _)| id.as_str().to_owned())
            .collect();
        let last = u32::try_from(document.conversations()[0].views().len()).unwrap() - 1;
        let answers = ids.iter().map(|id| answer(id, "run", "lost"));
        let head = [
            summary("so far"),
            ack.clone(),
            rules_block.clone(),
            summary("more"),
            keep(calls),
        ];
        let done = render(
            &document,
            head.into_iter().chain(answers).chain([keep(last)]),
        );
        let found: Vec<_> = check(format, done.as_bytes())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{done}");
    }
}

/// Whatever is cut off in front of a user's request, a valid conversation stays valid with a summary in its place.
#[test]
fn a_cut_before_any_user_message_stays_valid() {
    let mut texts: Vec<_> = fixtures()
        .into_iter()
        .map(|text| ("fixture".to_owned(), text))
        .collect();
    match shared() {
        None => println!("shared data not found, 5 checks left out"),
        Some(folder) => {
            let names = [
                "cline/session.messages.json",
                "deer-flow/3823e443-4e2b-4679-b496-a9506eae462b__thread.json",
                "deer-flow/5aa47db1-d0cb-4eb9-aea5-3dac1b371c5a__thread.json",
                "langchain-dumpd/summarization_seed_messages.json",
                "openhands-sdk-llm/fncall-llm-message.json",
            ];
            let read =
                |name: &str| std::fs::read_to_string(folder.join("data").join(name)).unwrap();
            texts.extend(names.map(|name| (name.to_owned(), read(name))));
        }
    }
    let mut checked = 0;
    for (name, text) in texts {
        let document = open(&text);
        let format = document.format();
        if !check(format, text.as_bytes()).is_empty() {
            continue;
        }
        let views = document.conversations()[0].views();
        let requests = views.iter().filter(|view| view.is_user_request());
        for request in requests.map(|view| view.handle.0) {
            let count = u32::try_from(views.len()).unwrap();
            let leading = (0..count).take_while(|n| views[*n as usize].role == Role::System);
            let rules = insert(BlockKind::Rules, Role::System, "authority");
            // Results that stand in front of the user's words lose their call: they go.
            let results: Vec<_> = views[request as usize]
                .results()
                .map(|(part, _)| remove(u16::try_from(part).unwrap()))
                .collect();
            let head = leading
                .map(keep)
                .chain([rules, summary("so far"), edit(request, results)]);
            let done = render(&document, head.chain((request + 1..count).map(keep)));
            let found = check(format, done.as_bytes());
            assert_eq!(found, [], "{name} at {request}: {done}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
