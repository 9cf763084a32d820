//! The machine with a scripted host.

use super::*;
use crate::lines::Conversation;
use crate::view::MessageView;

const CLAUSE: ListClause = ListClause {
    tokens: None,
    messages: None,
    fraction: None,
};

fn rules(keep: ListKeep, is_strict: bool) -> ListRules {
    ListRules {
        trigger: vec![ListClause {
            messages: Some(1.0),
            ..CLAUSE
        }],
        keep,
        window: None,
        call_cap: None,
        is_strict,
        is_forced: false,
    }
}

fn list(lines: &[&str], rules: ListRules, counts: bool) -> Listed {
    let views = Conversation::parse(lines);
    let message = |view: &MessageView| ListMessage {
        view: Arc::new(view.clone()),
        weight: 10,
    };
    Listed::new(views.views().iter().map(message).collect(), rules, counts)
}

/// Runs it: the calls that were made, as positions, and how it ended. A message counts 10.
fn run(mut list: Listed, mut replies: Vec<ListAnswer>) -> (Vec<ListCall>, ListEnd) {
    let mut calls = Vec::new();
    loop {
        let answer = match list.poll() {
            ListAsk::Count { messages, .. } => ListAnswer::Counted(10.0 * messages.len() as f64),
            ListAsk::Provider => ListAnswer::Provider(Some("openai".into())),
            ListAsk::Summarise(call) => {
                calls.push(call);
                match replies.is_empty() {
                    true => ListAnswer::Summary("so".into()),
                    false => replies.remove(0),
                }
            }
            ListAsk::Done(end) => return (calls, end),
        };
        list.feed(answer);
    }
}

/// What stays, with `|` where the summary stands.
fn check(lines: &[&str], rules: &ListRules, expect: &str) {
    for counts in [true, false] {
        let (_, end) = run(list(lines, rules.clone(), counts), Vec::new());
        let shown = match end {
            ListEnd::Nothing(why) => why.as_str().to_owned(),
            ListEnd::Replace { leading, kept, .. } => {
                let words = |at: &[Pos]| at.iter().map(|at| format!("{at} ")).collect::<String>();
                format!("{}| {}", words(&leading), words(&kept))
                    .trim_end()
                    .to_owned()
            }
        };
        assert_eq!(shown, expect, "{lines:?} {rules:?}, counts {counts}");
    }
}

#[test]
fn units_the_request_and_system_messages_stay_unless_it_is_strict() {
    let keep = |n, strict| rules(ListKeep::Messages(n), strict);
    let plain = ["u a", "a b", "u c", "a d", "u e", "a f"];
    check(&plain, &keep(2, false), "| 4 5");
    check(&plain, &keep(2, true), "| 4 5");
    check(&plain, &keep(6, false), "nothing_to_compact");
    // LangChain's two orphan cases.
    let interleaved = [
        "u a",
        "a b",
        "u go",
        "a call c1",
        "a call c2",
        "t c1 x",
        "t c2 y",
    ];
    check(&interleaved, &keep(2, true), "| 4 5 6");
    check(&interleaved, &keep(2, false), "| 2 3 4 5 6");
    // The request of a long turn, and the system message.
    let turn = [
        "s rules",
        "u go",
        "a call c1",
        "t c1 x",
        "a call c2",
        "t c2 y",
        "a call c3",
        "t c3 z",
    ];
    check(&turn, &keep(2, true), "| 6 7");
    check(&turn, &keep(2, false), "0 | 1 6 7");
}

#[test]
fn tokens_are_searched_as_there() {
    let plain = ["u a", "a b", "u c", "a d", "u e", "a f"];
    for strict in [true, false] {
        check(&plain, &rules(ListKeep::Tokens(25.0), strict), "| 4 5");
        check(
            &plain,
            &rules(ListKeep::Tokens(60.0), strict),
            "nothing_to_compact",
        );
        check(
            &plain,
            &rules(ListKeep::Fraction(0.5), strict),
            "nothing_to_compact",
        );
    }
    // Nothing fits: the last message alone; with it its request.
    check(&plain, &rules(ListKeep::Tokens(1.0), true), "| 5");
    check(&plain, &rules(ListKeep::Tokens(1.0), false), "| 4 5");
}

#[test]
fn everything_that_goes_is_read_in_calls_that_fit() {
    let mut capped = rules(ListKeep::Messages(1), false);
    capped.call_cap = Some(20.0);
    let lines = ["u a", "a call c1", "t c1 x", "a b", "u c", "a d", "u e"];
    let (calls, end) = run(list(&lines, capped.clone(), true), Vec::new());
    let read: Vec<Pos> = calls.iter().flat_map(|c| c.messages.clone()).collect();
    assert_eq!(read, [0, 1, 2, 3, 4, 5]);
    assert!(calls.iter().all(|c| c.messages.len() <= 2));
    assert_eq!(calls[0].earlier, None);
    assert!(
        calls[1..]
            .iter()
            .all(|c| c.earlier.as_deref() == Some("so"))
    );
    assert!(matches!(end, ListEnd::Replace { kept, .. } if kept == [6]));
    // One message that is too much for a call.
    capped.call_cap = Some(4.0);
    let (calls, _) = run(list(&["u a", "u b"], capped, true), Vec::new());
    assert!(calls.is_empty(), "requests that wait for their answer stay");
}

#[test]
fn one_message_too_large_is_given_in_slices() {
    let mut capped = rules(ListKeep::Messages(1), false);
    capped.call_cap = Some(4.0);
    let (calls, _) = run(list(&["u a", "a b", "u c"], capped, true), Vec::new());
    let slices: Vec<_> = calls.iter().map(|c| (c.messages[0], c.slice)).collect();
    let of = |n| Some((n, 3));
    assert_eq!(
        slices,
        [
            (0, of(0)),
            (0, of(1)),
            (0, of(2)),
            (1, of(0)),
            (1, of(1)),
            (1, of(2))
        ]
    );
}

#[test]
fn overflows_halve_and_blank_answers_replace_nothing() {
    let lines = ["u a", "a b", "u c", "a d", "u e"];
    let keep = rules(ListKeep::Messages(1), false);
    let (calls, _) = run(list(&lines, keep.clone(), true), vec![ListAnswer::TooLarge]);
    let read: Vec<_> = calls.iter().map(|c| c.messages.clone()).collect();
    assert_eq!(read, [vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]]);
    let blank = || ListAnswer::Summary(" ".into());
    let (_, end) = run(list(&lines, keep.clone(), true), vec![blank(), blank()]);
    assert_eq!(end, ListEnd::Nothing(ListWhy::Blank));
    let (calls, end) = run(list(&lines, keep, true), vec![blank()]);
    assert!(calls.len() == 2 && matches!(end, ListEnd::Replace { .. }));
    let strict = rules(ListKeep::Messages(1), true);
    let (calls, end) = run(list(&lines, strict, true), vec![blank()]);
    assert!(calls.len() == 1 && matches!(end, ListEnd::Replace { .. }));
}

#[test]
fn what_gains_less_than_a_tenth_is_not_begun() {
    let mut lines = vec!["u a", "a b"];
    lines.extend(std::iter::repeat_n("a more", 20));
    let mut by_tokens = rules(ListKeep::Messages(21), false);
    by_tokens.trigger = vec![ListClause {
        tokens: Some(1.0),
        ..CLAUSE
    }];
    // The request stays, so nothing is left.
    check(&lines, &by_tokens, "nothing_to_compact");
    lines.insert(0, "u before");
    by_tokens.keep = ListKeep::Messages(22);
    check(&lines, &by_tokens, "too_little");
    by_tokens.is_strict = true;
    let (calls, _) = run(list(&lines, by_tokens, true), Vec::new());
    assert_eq!(calls.len(), 1);
}

#[test]
fn an_end_that_reaches_the_trigger_by_itself_waits_until_there_is_more_to_fold() {
    let lines = |n: usize| {
        let mut lines = vec!["u before"; n];
        lines.extend(["u go", "a call c1", "t c1 x", "a b", "u now"]);
        lines
    };
    let mut over = rules(ListKeep::Messages(5), false);
    over.trigger = vec![ListClause {
        tokens: Some(30.0),
        ..CLAUSE
    }];
    // One or two of six or seven messages of 10 tokens.
    check(&lines(1), &over, "too_little");
    check(&lines(2), &over, "| 2 3 4 5 6");
    over.window = Some(1_000.0);
    check(&lines(2), &over, "too_little");
    check(&lines(3), &over, "| 3 4 5 6 7");
    // No room to wait in.
    over.window = Some(75.0);
    check(&lines(2), &over, "| 2 3 4 5 6");
}

#[test]
fn a_summary_beside_the_list_counts_is_read_first_and_is_replaced() {
    let lines = ["u a", "a b", "u c", "a d", "u e"];
    let rules = |messages: f64, is_forced| ListRules {
        trigger: vec![ListClause {
            messages: Some(messages),
            ..CLAUSE
        }],
        is_forced,
        ..rules(ListKeep::Messages(1), false)
    };
    let beside = || ListBeside {
        summary: "so far".into(),
        weight: 10,
    };
    for counts in [true, false] {
        // Five messages and the summary are six.
        let (calls, end) = run(
            list(&lines, rules(6.0, false), counts).beside(beside()),
            Vec::new(),
        );
        assert_eq!(calls[0].earlier.as_deref(), Some("so far"));
        assert_eq!(calls[0].messages, [0, 1, 2, 3]);
        assert!(matches!(end, ListEnd::Replace { summary, .. } if &*summary == "so"));
        let (_, end) = run(list(&lines, rules(6.0, false), counts), Vec::new());
        assert_eq!(end, ListEnd::Nothing(ListWhy::Skipped));
        let mut asked = list(&lines, rules(6.0, false), true).beside(beside());
        asked.poll();
        assert_eq!(asked.total(), 60.0);
        // A command asks for no trigger; nothing to fold stays nothing.
        let (calls, _) = run(list(&lines, rules(99.0, true), counts), Vec::new());
        assert_eq!(calls.len(), 1);
        let (calls, end) = run(list(&lines[4..], rules(99.0, true), counts), Vec::new());
        assert_eq!(
            (calls.len(), end),
            (0, ListEnd::Nothing(ListWhy::NothingToFold))
        );
    }
}

#[test]
fn clauses_are_and_within_and_or_between() {
    let lines = ["u a", "a b", "u c", "a d"];
    let fires = |trigger: Vec<ListClause>, window| {
        let rules = ListRules {
            trigger,
            window,
            ..rules(ListKeep::Messages(1), true)
        };
        let (_, end) = run(list(&lines, rules, true), Vec::new());
        end != ListEnd::Nothing(ListWhy::Skipped)
    };
    let tokens = |tokens| ListClause {
        tokens: Some(tokens),
        ..CLAUSE
    };
    let both = |tokens, n| ListClause {
        tokens: Some(tokens),
        messages: Some(n),
        ..CLAUSE
    };
    let share = |f| ListClause {
        fraction: Some(f),
        ..CLAUSE
    };
    assert!(!fires(vec![], None) && !fires(vec![CLAUSE], None));
    assert!(fires(vec![tokens(40.0)], None) && !fires(vec![tokens(40.5)], None));
    assert!(
        !fires(vec![both(40.0, 5.0)], None) && fires(vec![both(41.0, 1.0), both(40.0, 4.0)], None)
    );
    assert!(fires(vec![share(0.5)], Some(81.0)) && !fires(vec![share(0.5)], Some(82.0)));
    assert!(!fires(vec![share(0.5)], None) && fires(vec![share(0.001)], Some(10.0)));
}
