use proptest::prelude::*;

use super::*;
use crate::count::{Bytes4, Estimator, TokenCounter, Weight};
use crate::json::{leaf_text, string_leaves};
use crate::memory::{Memory, TestPart, call, image, part, result, text};
use crate::patch::{Patch, PatchCause, Patched};
use crate::policy::{Prune, PruneWhen};
use crate::view::{MessageView, PartKind, PartRef, Role, Texts};

fn limits(result: u64, argument: u64, keep: u64) -> Prune {
    Prune {
        when: PruneWhen::Trigger,
        max_result_chars: result,
        max_argument_chars: argument,
        max_result_tokens: 0,
        max_total_result_tokens: 0,
        max_argument_tokens: 0,
        duplicates: true,
        keep_recent_results: keep,
    }
}

fn items(messages: &[MessageView]) -> Vec<Item<'_>> {
    let item = |message| Item {
        weight: None,
        message,
        already: &[],
    };
    messages.iter().map(item).collect()
}

fn run(messages: &[MessageView], memory: &Memory, limits: &Prune) -> PrunePlan {
    plan(
        &items(messages),
        memory,
        limits,
        &Estimator::new(),
        &mut |_| false,
    )
}

/// The plan as `index:part cause` words.
fn shape(plan: &PrunePlan) -> String {
    let words = plan.patches.iter().flat_map(|(index, patches)| {
        patches.iter().map(move |p| {
            let what = match p.cause() {
                PatchCause::Duplicate => "dup",
                PatchCause::Oversized => "big",
                PatchCause::Arguments => "arg",
                _ => "?",
            };
            format!("{index}:{} {what}", p.part())
        })
    });
    words.collect::<Vec<_>>().join(", ")
}

fn after(memory: &Memory, message: &MessageView, patches: &[Patch], part: usize) -> String {
    let at = PartRef {
        message: message.handle,
        part: u16::try_from(part).unwrap(),
    };
    Patched::new(memory, message.handle, patches)
        .text(at)
        .into_owned()
}

/// A tool turn: the call with `arguments`, and its answer.
fn turn(memory: &mut Memory, id: &str, arguments: &str, answer: Vec<TestPart>) -> [MessageView; 2] {
    let calls = memory.message(Role::Assistant, vec![call(id, "t", arguments)]);
    [calls, memory.message(Role::Tool, answer)]
}

#[test]
fn answers_over_the_limit_keep_head_and_tail() {
    let mut memory = Memory::new();
    let long: String = (0..2000)
        .map(|n| format!("row {n} of the list\n"))
        .collect();
    let [_, answer] = turn(&mut memory, "c1", "{}", vec![result("c1", &long)]);
    let patches = shorten(
        &answer,
        &memory,
        &limits(8192, 0, 0),
        &Estimator::new(),
        &[],
    );
    let short = after(&memory, &answer, &patches, 0);
    assert!(short.starts_with("row 0 of") && short.ends_with("row 1999 of the list\n"));
    let total = long.chars().count();
    assert!(short.contains(&format!(" of {total} characters are left out here.")));
    assert!(find_reference(&short).is_some());
    assert!((7500..=8192).contains(&short.chars().count()));
    // Literal words of a marker are no way around the limit.
    let copied = memory.message(Role::Tool, vec![result("c2", &short.repeat(4))]);
    assert_eq!(
        shorten(
            &copied,
            &memory,
            &limits(8192, 0, 0),
            &Estimator::new(),
            &[]
        )
        .len(),
        1
    );
}

#[test]
fn a_list_has_one_limit_for_all_its_texts() {
    let mut memory = Memory::new();
    let pieces = ["a", "b", "c"].map(|c| text(&c.repeat(1000)).inside(0));
    let mut parts = vec![result("c1", "")];
    parts.extend(pieces);
    parts.insert(2, image("DATA").inside(0));
    let message = memory.blocks(Role::Tool, parts);
    let patches = shorten(
        &message,
        &memory,
        &limits(1200, 0, 0),
        &Estimator::new(),
        &[],
    );
    let short: Vec<String> = [1, 3, 4]
        .map(|p| after(&memory, &message, &patches, p))
        .into();
    assert!(short[0].starts_with("aaa") && short[2].ends_with("ccc"));
    assert_eq!(short[1], "");
    let sum: usize = short.iter().map(|t| t.chars().count()).sum();
    assert!(sum <= 1200, "{sum}");
    assert!(patches.iter().all(|p| p.part() != 2));
}

#[test]
fn the_newest_copy_stays() {
    let mut memory = Memory::new();
    let file = "the same file\n".repeat(100);
    let picture = "iVBORw0KGgo".repeat(100);
    let mut window = vec![memory.message(Role::User, vec![text("go"), image(&picture)])];
    window.extend(turn(&mut memory, "c1", "{}", vec![result("c1", &file)]));
    let blocks = vec![
        result("c2", ""),
        text(&file).inside(0),
        image(&picture).inside(0),
    ];
    window.extend(turn(&mut memory, "c2", "{}", blocks));
    window.extend(turn(&mut memory, "c3", "{}", vec![result("c3", &file)]));
    let made = run(&window, &memory, &limits(8192, 0, 0));
    assert_eq!(shape(&made), "2:0 dup, 4:1 dup");
    let short = after(&memory, &window[2], &made.patches[0].1, 0);
    assert!(
        short.contains("the later answer to c3 says the same"),
        "{short}"
    );
    // The picture of the first request goes once a newer request stands.
    window.push(memory.message(Role::Assistant, vec![text("done")]));
    window.push(memory.message(Role::User, vec![text("and now?")]));
    let made = run(&window, &memory, &limits(8192, 0, 0));
    assert_eq!(shape(&made), "0:1 dup, 2:0 dup, 4:1 dup");
    // A copy that is cut already is not the one that stays.
    let cut = shorten(
        &window[6],
        &memory,
        &limits(500, 0, 0),
        &Estimator::new(),
        &[],
    );
    let mut all = items(&window);
    all[6].already = &cut;
    let made = plan(
        &all,
        &memory,
        &limits(8192, 0, 0),
        &Estimator::new(),
        &mut |_| false,
    );
    assert_eq!(shape(&made), "0:1 dup, 2:0 dup");
}

#[test]
fn arguments_of_old_calls_are_shortened_as_json() {
    let mut memory = Memory::new();
    let chapter = r#"{"path":"ch.md","n":1,"content":"Some \"text\".\n中文"}"#
        .replace("中文", &"中文 and more\\n".repeat(100));
    let mut window = Vec::new();
    for id in ["w1", "w2", "w3"] {
        window.extend(turn(&mut memory, id, &chapter, vec![result(id, "ok")]));
    }
    // Not answered yet, signed, and pinned.
    window.push(memory.message(Role::Assistant, vec![call("w4", "t", &chapter)]));
    let thought = part(PartKind::Reasoning { bound: true }, "hm");
    window.insert(
        0,
        memory.message(Role::Assistant, vec![thought, call("w0", "t", &chapter)]),
    );
    window.insert(1, memory.message(Role::Tool, vec![result("w0", "ok")]));
    let mut pinned = memory.message(Role::Assistant, vec![call("p", "t", &chapter)]);
    pinned.flags.pinned = true;
    window.insert(0, pinned);
    window.insert(1, memory.message(Role::Tool, vec![result("p", "ok")]));
    let rows = [
        (0, "4:0 arg, 6:0 arg, 8:0 arg"),
        // The call without an answer is the newest unit.
        (1, "4:0 arg, 6:0 arg, 8:0 arg"),
        (2, "4:0 arg, 6:0 arg"),
        (9, ""),
    ];
    for (keep, expect) in rows {
        let made = run(&window, &memory, &limits(8192, 200, keep));
        assert_eq!(shape(&made), expect, "keep {keep}");
    }
    let made = run(&window, &memory, &limits(8192, 200, 0));
    let json = after(&memory, &window[4], &made.patches[0].1, 0);
    let leaves = string_leaves(&json).expect("still JSON");
    let texts: Vec<String> = leaves
        .iter()
        .map(|l| leaf_text(&json, l).unwrap())
        .collect();
    assert_eq!(texts[0], "ch.md");
    assert!(texts[1].starts_with("Some \"text\".") && texts[1].chars().count() <= 200);
    assert!(find_reference(&texts[1]).is_some());
}

#[test]
fn the_newest_results_and_what_the_person_wrote_stay() {
    let mut memory = Memory::new();
    let long = "many words ".repeat(400);
    let mut window = vec![memory.message(Role::User, vec![text(&long)])];
    for id in ["c1", "c2", "c3"] {
        let own = format!("{id} {long}");
        window.extend(turn(&mut memory, id, "{}", vec![result(id, &own)]));
    }
    window.push(memory.message(Role::Assistant, vec![text(&long)]));
    for (keep, expect) in [
        (0, "2:0 big, 4:0 big, 6:0 big"),
        (1, "2:0 big, 4:0 big"),
        (3, ""),
        (99, ""),
    ] {
        assert_eq!(
            shape(&run(&window, &memory, &limits(1000, 0, keep))),
            expect
        );
    }
}

#[test]
fn the_ladder_stops_when_there_is_enough() {
    let mut memory = Memory::new();
    let long = "many words ".repeat(400);
    let mut window = Vec::new();
    for id in ["c1", "c2", "c3"] {
        let own = format!("{id} {long}");
        window.extend(turn(&mut memory, id, "{}", vec![result(id, &own)]));
    }
    let limits = limits(1000, 0, 0);
    let with = |enough: Weight| {
        plan(&items(&window), &memory, &limits, &Bytes4, &mut |saved| {
            saved >= enough
        })
    };
    assert_eq!(shape(&with(0)), "");
    assert_eq!(shape(&with(1)), "1:0 big");
    let two = with(3500);
    assert_eq!(
        (shape(&two).as_str(), two.is_enough),
        ("1:0 big, 3:0 big", true)
    );
    let weigh = |patches: &[Patch], at: usize| Bytes4.patched(&window[at], &memory, patches);
    let saved: Weight = two
        .patches
        .iter()
        .map(|(at, p)| weigh(&[], *at) - weigh(p, *at))
        .sum();
    assert_eq!(saved, two.saved);
    assert!(!with(Weight::MAX).is_enough);
}

/// Texts with everything that is easy to split wrongly.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{0,40}",
        "[\\u{4e00}-\\u{9fa5}]{0,20}",
        "(👩‍👩‍👧‍👦|🇫🇷|👍🏽|e\\u{301}|\\r\\n|\\n){0,8}",
        "[\"\\\\\\u{0}-\\u{1f}]{0,6}",
        ".{0,20}",
    ];
    (proptest::collection::vec(piece, 0..8), 1usize..30)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

fn any_limit() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..50, 50u64..400, 400u64..3000]
}

/// A window of turns with string answers, list answers and arguments, some of them equal.
fn any_window() -> impl Strategy<Value = (Memory, Vec<MessageView>)> {
    let answer = proptest::collection::vec(any_text(), 1..4);
    let turns = proptest::collection::vec((any_text(), answer, any::<bool>()), 1..5);
    (turns, any::<bool>()).prop_map(|(turns, twice)| {
        let mut memory = Memory::new();
        let mut window = vec![memory.message(Role::User, vec![text("go"), image("PICTURE")])];
        let turns = if twice {
            [turns.clone(), turns].concat()
        } else {
            turns
        };
        for (number, (argument, answer, as_list)) in turns.iter().enumerate() {
            let id = format!("c{number}");
            let arguments =
                serde_json::json!({"path": "a.md", "n": [1.0, argument], "body": argument});
            let parts = if *as_list {
                let inner = answer.iter().map(|t| text(t).inside(0));
                let picture = image("PICTURE").inside(0);
                [result(&id, "")]
                    .into_iter()
                    .chain(inner)
                    .chain([picture])
                    .collect()
            } else {
                vec![result(&id, &answer[0])]
            };
            window.extend(turn(&mut memory, &id, &arguments.to_string(), parts));
        }
        (memory, window)
    })
}

fn result_chars(memory: &Memory, message: &MessageView, patches: &[Patch]) -> usize {
    let is_text = |k: &PartKind| matches!(k, PartKind::Text | PartKind::Result { .. });
    let parts = message.parts.iter().enumerate();
    let texts = parts
        .filter(|(_, p)| is_text(&p.kind))
        .map(|(n, _)| after(memory, message, patches, n));
    texts.map(|t| t.chars().count()).sum()
}

proptest! {
    /// Invariants 42 and 44 on one text.
    #[test]
    fn what_is_shortened_is_safe_and_smaller(content in any_text(), limit in any_limit()) {
        let mut memory = Memory::new();
        let message = memory.message(Role::Tool, vec![result("c1", &content)]);
        let patches = shorten(&message, &memory, &limits(limit, 0, 0), &Estimator::new(), &[]);
        let short = after(&memory, &message, &patches, 0);
        let (before, now) = (content.chars().count(), short.chars().count());
        if patches.is_empty() {
            prop_assert!(before as u64 <= limit || limit < 90);
            return Ok(());
        }
        prop_assert!(before as u64 > limit && now as u64 <= limit && now < before);
        prop_assert!(short.len() < content.len() && !short.is_empty());
        let Patch::Cut { range, marker, .. } = &patches[0] else {
            return Err(TestCaseError::fail("cut, not removed"));
        };
        let removed = &content[range.start as usize..range.end as usize];
        prop_assert!(find_reference(marker).is_some());
        let size = format!(": {} of {before} characters", removed.chars().count());
        prop_assert!(marker.contains(&size));
        // Decided once: with the patch, and as a text that came back without it.
        prop_assert!(shorten(&message, &memory, &limits(limit, 0, 0), &Estimator::new(), &patches).is_empty());
        let again = memory.message(Role::Tool, vec![result("c1", &short)]);
        prop_assert!(shorten(&again, &memory, &limits(limit, 0, 0), &Estimator::new(), &[]).is_empty());
    }

    /// Invariants 42 to 44 on a window, by several counters.
    #[test]
    fn a_window_is_pruned_once_and_for_real(
        (memory, window) in any_window(),
        limit in any_limit(),
        argument in any_limit(),
        keep in 0u64..3,
    ) {
        let limits = limits(limit, argument, keep);
        for counter in [&Estimator::new() as &dyn TokenCounter, &Bytes4] {
            let made = plan(&items(&window), &memory, &limits, counter, &mut |_| false);
            let mut all = items(&window);
            let mut saved = 0;
            for (index, patches) in &made.patches {
                let message = &window[*index];
                let before = counter.message(message, &memory);
                let now = counter.patched(message, &memory, patches);
                prop_assert!(now < before);
                saved += before - now;
                all[*index].already = patches;
                for (number, part) in message.parts.iter().enumerate() {
                    let text = after(&memory, message, patches, number);
                    match part.kind {
                        PartKind::Call { .. } => {
                            let leaves = string_leaves(&text);
                            prop_assert!(leaves.is_some(), "no JSON: {text}");
                            prop_assert_eq!(leaves.unwrap_or_default().len(), 3);
                        }
                        PartKind::Result { .. } => prop_assert_eq!(text.is_empty(), part.len == 0),
                        _ => {}
                    }
                }
                if message.role == Role::Tool {
                    let (before, now) = (result_chars(&memory, message, &[]), result_chars(&memory, message, patches));
                    prop_assert!(now <= before && (now > 0 || before == 0));
                    let is_big = patches.iter().any(|p| p.cause() == PatchCause::Oversized);
                    prop_assert!(!is_big || now as u64 <= limit);
                }
            }
            prop_assert_eq!(saved, made.saved);
            let again = plan(&all, &memory, &limits, counter, &mut |_| false);
            prop_assert_eq!(shape(&again), "");
        }
    }

    /// A part's decision does not depend on what stands before or after it.
    #[test]
    fn neighbours_do_not_matter(
        (memory, window) in any_window(),
        limit in any_limit(),
        from in 0usize..4,
    ) {
        let limits = Prune { duplicates: false, ..limits(limit, 0, 0) };
        let from = from.min(window.len());
        let whole = run(&window, &memory, &limits);
        let later = run(&window[from..], &memory, &limits);
        let tail = whole.patches.into_iter().filter(|(index, _)| *index >= from);
        let tail: Vec<_> = tail.map(|(index, patches)| (index - from, patches)).collect();
        prop_assert_eq!(tail, later.patches);
    }
}

/// Neither the same length nor the same beginning makes two answers one.
#[test]
fn answers_that_only_begin_alike_are_both_sent() {
    let mut memory = Memory::new();
    let begins = "the same line at the beginning of every answer\n".repeat(20);
    let (one, other) = (format!("{begins} 1"), format!("{begins} 2"));
    let answers = [&one, &other, &one, &other, &one];
    let messages: Vec<MessageView> = answers
        .iter()
        .enumerate()
        .flat_map(|(n, answer)| {
            let id = format!("c{n}");
            turn(&mut memory, &id, "{}", vec![result(&id, answer)])
        })
        .collect();
    let plan = run(&messages, &memory, &limits(8192, 0, 0));
    assert_eq!(shape(&plan), "1:0 dup, 3:0 dup, 5:0 dup");
    for (index, newest) in [(0, "c4"), (1, "c3"), (2, "c4")] {
        let (at, patches) = &plan.patches[index];
        let text = after(&memory, &messages[*at], patches, 0);
        assert!(
            text.contains(&format!("the later answer to {newest} ")),
            "{text}"
        );
    }
    let two = run(&messages[..4], &memory, &limits(8192, 0, 0));
    assert_eq!(shape(&two), "");
}
