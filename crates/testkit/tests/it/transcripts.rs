//! Random conversations: deterministic, as nasty as promised, valid when asked, readable in every format.

use std::collections::BTreeSet;

use conspectus_core::view::{PartKind, PartRef, Texts};
use conspectus_testkit::transcript::{
    Coverage, Format, Knobs, Nasty, Strict, Transcript, TranscriptTree, violations,
};
use proptest::strategy::ValueTree;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let knobs = Knobs::default();
    for seed in 0..60 {
        let (a, b) = (
            Transcript::generate(seed, &knobs),
            Transcript::generate(seed, &knobs),
        );
        assert_eq!(a, b);
        for format in Format::ALL {
            assert_eq!(a.render(format).body(), b.render(format).body());
            assert_eq!(a.views(format), b.views(format));
        }
    }
    let bodies: BTreeSet<_> = (0..60)
        .map(|seed| {
            Transcript::generate(seed, &knobs)
                .render(Format::OpenAi)
                .body()
        })
        .collect();
    assert!(bodies.len() > 55, "seeds differ");
}

#[test]
fn every_nastiness_is_reached() {
    let mut coverage = Coverage::new();
    for transcript in Transcript::campaign(0..1500, &Knobs::default()) {
        coverage.add(&transcript);
    }
    println!("{coverage}");
    assert_eq!(coverage.missing(), [], "{coverage}");
}

#[test]
fn each_nastiness_alone_is_reached() {
    for &nasty in Nasty::ALL {
        let hits = (0..40)
            .filter(|&seed| {
                Transcript::generate(seed, &Knobs::only(&[nasty]))
                    .nasties()
                    .contains(&nasty)
            })
            .count();
        assert!(hits >= 20, "{} in {hits} of 40", nasty.name());
    }
}

#[test]
fn valid_conversations_are_valid() {
    for format in Format::ALL {
        for alternating in [false, true] {
            let knobs = Knobs {
                alternating,
                ..Knobs::valid(format)
            };
            let strict = Strict {
                alternating,
                ..Strict::default()
            };
            let mut coverage = Coverage::new();
            for t in Transcript::campaign(0..400, &knobs) {
                coverage.add(&t);
                let body = t.render(format).body();
                let found = violations(format, &body, strict);
                assert_eq!(
                    found,
                    Vec::<String>::new(),
                    "{} seed {}: {}",
                    format.name(),
                    t.seed,
                    String::from_utf8_lossy(&body)
                );
            }
            let unreached: Vec<_> = Nasty::ALL
                .iter()
                .filter(|&&n| knobs.chance(n) > 0 && coverage.count(n) == 0)
                .collect();
            assert!(
                unreached.is_empty(),
                "never in {}: {unreached:?}",
                format.name()
            );
        }
    }
}

#[test]
fn the_validator_minds_what_is_broken() {
    for format in Format::ALL {
        for &nasty in Nasty::ALL {
            if nasty.is_valid_in(format) {
                continue;
            }
            // What only two messages in a row of one role break is minded by the strictest servers only.
            let strict = Strict {
                alternating: true,
                ..Strict::default()
            };
            let only = Knobs::only(&[nasty]);
            let minded = Transcript::campaign(0..40, &only)
                .filter(|t| t.nasties().contains(&nasty))
                .any(|t| !violations(format, &t.render(format).body(), strict).is_empty());
            let harmless = [
                Nasty::Pin,
                Nasty::Partial,
                Nasty::BlankText,
                Nasty::UnknownFields,
                Nasty::DuplicateKeys,
                Nasty::NullContent,
                Nasty::NoMessageIds,
                Nasty::ThinkingRedacted,
                Nasty::ThinkingSigned,
                Nasty::ThinkingPlain,
            ];
            assert!(
                minded || harmless.contains(&nasty),
                "{} in {}",
                nasty.name(),
                format.name()
            );
        }
    }
}

#[test]
fn every_message_can_be_found_again() {
    for t in Transcript::campaign(0..200, &Knobs::default()) {
        for format in Format::ALL {
            let rendered = t.render(format);
            let (views, _, labels) = t.views(format);
            assert_eq!(views.len(), rendered.messages.len());
            for (position, message) in rendered.messages.iter().enumerate() {
                assert_eq!(message.labels, labels[position]);
            }
            let outside = match format {
                Format::Anthropic => t.leading_system(),
                _ => 0,
            };
            for (at, message) in t.messages.iter().enumerate() {
                let found = rendered.index_of(&message.label);
                assert_eq!(found.is_some(), at >= outside, "seed {}", t.seed);
            }
            assert_eq!(rendered.system.is_some(), outside > 0);
        }
        if !t.nasties().contains(&Nasty::DeepNesting)
            && !t.nasties().contains(&Nasty::LoneSurrogate)
        {
            langchain_ids(&t);
        }
    }
}

fn langchain_ids(t: &Transcript) {
    let body = t.render(Format::LangChain).list();
    let list: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    for (value, message) in list.as_array().expect("a list").iter().zip(&t.messages) {
        let expect = message.has_id.then(|| message.label.to_string());
        assert_eq!(value["id"].as_str().map(str::to_owned), expect);
    }
}

#[test]
fn views_hold_what_the_messages_say() {
    for t in Transcript::campaign(0..300, &Knobs::default()) {
        for format in Format::ALL {
            let (views, texts, _) = t.views(format);
            for view in &views {
                for (index, part) in view.parts.iter().enumerate() {
                    let part_ref = PartRef {
                        message: view.handle,
                        part: u16::try_from(index).expect("few parts"),
                    };
                    assert_eq!(texts.text(part_ref).len(), part.len as usize);
                    if let Some(result) = part.inside {
                        let outer = &view.parts[usize::from(result)].kind;
                        assert!(matches!(outer, PartKind::Result { .. }));
                    }
                }
            }
            let outside = match format {
                Format::Anthropic => t.leading_system(),
                _ => 0,
            };
            let calls: usize = views.iter().map(|v| v.calls().count()).sum();
            let results: usize = views.iter().map(|v| v.results().count()).sum();
            let inside = &t.messages[outside..];
            assert_eq!(
                calls,
                inside.iter().map(|m| m.calls().count()).sum::<usize>()
            );
            assert_eq!(
                results,
                inside.iter().filter(|m| m.result().is_some()).count()
            );
        }
    }
}

#[test]
fn facts_agree_with_the_core() {
    for t in Transcript::campaign(0..300, &Knobs::default()) {
        let (views, _, labels) = t.views(Format::OpenAi);
        let newest = views.iter().rposition(|v| v.is_user_request());
        let expect = newest.map(|at| labels[at][0].clone());
        assert_eq!(t.facts().current_request, expect, "seed {}", t.seed);
    }
}

/// Shrinks with a test that fails as long as `bad` holds.
fn shrink(mut tree: TranscriptTree, bad: impl Fn(&Transcript) -> bool) -> Transcript {
    assert!(bad(&tree.current()));
    let mut more = tree.simplify();
    while more {
        more = if bad(&tree.current()) {
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    tree.current()
}

#[test]
fn shrinking_finds_the_smallest() {
    let knobs = Knobs {
        max_turns: 8,
        ..Knobs::only(&[Nasty::LateApproval, Nasty::ParallelCalls, Nasty::Cjk])
    };
    for seed in 0..30 {
        let tree = TranscriptTree::new(seed, &knobs);
        if !tree.current().nasties().contains(&Nasty::LateApproval) {
            continue;
        }
        let small = shrink(tree, |t| t.nasties().contains(&Nasty::LateApproval));
        assert_eq!(small.messages.len(), 3, "call, user, answer: {small:?}");
    }
}

#[test]
fn shrinking_keeps_valid_conversations_valid() {
    let knobs = Knobs::valid(Format::OpenAi);
    let has_call = |t: &Transcript| t.messages.iter().any(|m| m.calls().next().is_some());
    let mut tried = 0;
    for seed in 0..20 {
        let tree = TranscriptTree::new(seed, &knobs);
        if !has_call(&tree.current()) {
            continue;
        }
        tried += 1;
        let small = shrink(tree, has_call);
        let body = small.render(Format::OpenAi).body();
        assert!(violations(Format::OpenAi, &body, Strict::default()).is_empty());
        assert!(
            small.messages.len() <= 5,
            "{}",
            String::from_utf8_lossy(&body)
        );
    }
    assert!(tried > 10);
}

proptest::proptest! {
    #[test]
    fn the_strategy_runs(t in conspectus_testkit::transcript::transcripts(Knobs::default())) {
        let again = Transcript::generate(t.seed, &Knobs::default());
        proptest::prop_assert_eq!(again, t);
    }
}
