use std::sync::Arc;

use super::*;
use crate::count::Estimator;
use crate::memory::{Memory, call, result, text};
use crate::view::Role;

fn ledger(said: &[&str]) -> Ledger {
    let mut memory = Memory::new();
    let mut ledger = Ledger::default();
    for said in said {
        let message = memory.message(Role::User, vec![text(said)]);
        ledger.fold(&message, &memory);
    }
    ledger
}

fn shown(ledger: &Ledger, rules: u64, facts: u64) -> String {
    let source = Source {
        ledger,
        is_gone: &|_| true,
        beside: None,
        next: Next::User,
    };
    render(
        &source,
        Budget {
            rules,
            facts,
            shared: u64::MAX,
        },
        &Estimator::new(),
    )
}

#[test]
fn rules_are_verbatim_with_their_message() {
    let ledger = ledger(&[
        "Fix it.",
        "Never touch:\n- a.rs\n- b.rs",
        "Call me Bob.",
        "Actually, Robert.",
    ]);
    let text = shown(&ledger, 1_000, 1_000);
    assert_eq!(
        text,
        "## Standing rules of the user\n\
         In the user's own words; they hold until the user takes them back.\n\
         - [message 1] \n\"\"\"\nNever touch:\n- a.rs\n- b.rs\n\"\"\"\n\
         - [message 3] Actually, Robert.\n  (instead of: Call me Bob.)\n\
         ## Next\n\
         When this was written the last request was answered: what the user says next decides."
    );
    let read: Vec<_> = read(&text);
    assert_eq!(
        read,
        [
            ("Never touch:\n- a.rs\n- b.rs".to_owned(), 1),
            ("Actually, Robert.".to_owned(), 3)
        ]
    );
}

#[test]
fn what_does_not_fit_is_counted_and_the_firm_ones_stay() {
    let said: Vec<String> = (0..20)
        .map(|n| match n {
            4 => "Never touch the vendor folder.".to_owned(),
            n => format!("Keep the file number{n}.rs under {n}00 lines."),
        })
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let ledger = ledger(&said);
    assert_eq!(ledger.rules().len(), 20);
    let text = shown(&ledger, 120, 0);
    let count = Estimator::new();
    assert!(count.tokens(count.text(&text)) <= 130, "{text}");
    assert!(
        text.contains("[message 4] Never touch the vendor folder.")
            && text.contains("[message 19]"),
        "{text}"
    );
    let hidden = 20 - read(&text).len();
    assert!(
        hidden > 0
            && text.contains(&format!(
                "({hidden} more rules left out for lack of room: messages 0, 1"
            )),
        "{text}"
    );
    assert_eq!(shown(&ledger, 0, 0), "");
}

#[test]
fn what_the_request_shows_is_not_shown_twice() {
    let ledger = ledger(&["Never touch a.rs.", "Never touch b.rs."]);
    let source = Source {
        ledger: &ledger,
        is_gone: &|message| message == 0,
        beside: None,
        next: Next::Continue,
    };
    let budget = Budget::new(2_000, 10_000, 10_000);
    let text: Arc<str> = render(&source, budget, &Estimator::new()).into();
    assert!(text.contains("a.rs") && !text.contains("b.rs"), "{text}");
}

#[test]
fn open_work_files_and_what_comes_next_are_read_from_the_calls() {
    let mut memory = Memory::new();
    let mut ledger = Ledger::default();
    let calls = [
        (
            "write_todos",
            r#"{"todos":[{"content":"port it","status":"in_progress"},{"content":"ship it","status":"pending"},{"content":"plan it","status":"completed"}]}"#,
        ),
        ("write_file", r#"{"path":"/w/port.rs","content":"x"}"#),
        ("read_file", r#"{"path":"/w/old.py"}"#),
    ];
    for (at, (tool, arguments)) in calls.into_iter().enumerate() {
        let id = format!("c{at}");
        let asked = memory.message(Role::Assistant, vec![call(&id, tool, arguments)]);
        ledger.fold(&asked, &memory);
        let answered = memory.message(Role::Tool, vec![result(&id, "OK")]);
        ledger.fold(&answered, &memory);
    }
    let check = |next: Next, words: &str| {
        let source = Source {
            ledger: &ledger,
            is_gone: &|_| true,
            beside: None,
            next,
        };
        let budget = Budget::new(4_000, 10_000, 10_000);
        let text = render(&source, budget, &Estimator::new());
        let expect = "## Open work\n- Now: port it\n- Open: ship it\n\
                      ## Files\n- Changed: /w/port.rs (new)\n- Read: /w/old.py\n";
        let (facts, next) = text.split_once("## Next\n").expect("what comes next");
        assert_eq!(facts, expect, "done work is no open work");
        assert!(next.contains(words), "{next}");
    };
    check(Next::Continue, "go on with it");
    check(Next::User, "what the user says next decides");
    check(Next::Delegates, "wait for it");
}

#[test]
fn what_the_host_keeps_stands_whole_behind_the_rules_and_is_not_told_twice() {
    use crate::memory::call;
    let mut memory = Memory::new();
    let mut ledger = Ledger::default();
    let asked = call("c1", "task", r#"{"description":"survey","prompt":"look"}"#);
    ledger.fold(&memory.message(Role::Assistant, vec![asked]), &memory);
    let check = |tells_delegations: bool, expect: &str| {
        let beside = Beside {
            text: "## Work given away\n- survey\n".into(),
            tells_delegations,
        };
        let source = Source {
            ledger: &ledger,
            is_gone: &|_| true,
            beside: Some(&beside),
            next: Next::Continue,
        };
        let budget = Budget {
            rules: 100,
            facts: 200,
            shared: 200,
        };
        assert_eq!(render(&source, budget, &Estimator::new()), expect);
    };
    let next = format!("## Next\n{}", Next::Continue.words());
    check(true, &format!("## Work given away\n- survey\n{next}"));
    let told = "## Work given away\n- survey\n## Delegated work\n- Delegated: survey (running)\n";
    check(false, &format!("{told}{next}"));
}
