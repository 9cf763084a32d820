//! What a preset takes over: counting, triggers, cuts, pruning. Each row names its section.

use super::*;
use crate::count::{LangChain, Words, scaled_total};
use crate::memory::{Memory, TestPart, call, image, text};
use crate::parity::Trim;
use crate::patch::Patched;
use crate::policy::Threshold;
use crate::view::{MessageView, PartRef, Role, Texts, Usage};
use crate::window::Branch;

// ---- counting

#[test]
fn a3_langchains_formula() {
    let mut memory = Memory::new();
    let named = MessageView {
        name: Some("bob".into()),
        ..memory.message(Role::User, vec![text("abcd")])
    };
    let hi = |blocks: bool, memory: &mut Memory| {
        let parts = vec![
            text("hi"),
            call("c1", "t", r#"{"p": 1}"#).json(r#"{"p": 1}"#),
        ];
        match blocks {
            true => memory.blocks(Role::Assistant, vec![text("hi")]),
            false => memory.message(Role::Assistant, parts),
        }
    };
    let rows: [(&str, MessageView, u64); 7] = [
        (
            "12 letters",
            memory.message(Role::User, vec![text(&"a".repeat(12))]),
            7,
        ),
        (
            "12 Chinese characters are 12",
            memory.message(Role::User, vec![text(&"日".repeat(12))]),
            7,
        ),
        (
            "an empty reply",
            memory.message(Role::Assistant, vec![text("")]),
            6,
        ),
        ("a name", named, 6),
        ("a call beside a text", hi(false, &mut memory), 23),
        ("the same with a list as content", hi(true, &mut memory), 6),
        (
            "a picture and a text",
            memory.blocks(
                Role::User,
                vec![image("x").json(r#"{"type":"image_url"}"#), text("abcd")],
            ),
            90,
        ),
    ];
    for (name, view, expect) in rows {
        assert_eq!(
            LangChain::DEFAULT.message(&view, &memory),
            expect,
            "A3 {name}"
        );
    }
    let twelve = memory.message(Role::User, vec![text(&"a".repeat(12))]);
    assert_eq!(
        LangChain::ANTHROPIC.message(&twelve, &memory),
        8,
        "A3 3.3 characters"
    );
}

#[test]
fn a3_usage_scaling() {
    for (reported, expect) in [(1, 224), (100, 224), (130, 243), (150, 280), (10_000, 280)] {
        let mut memory = Memory::new();
        let asked = memory.message(Role::User, vec![text("q")]);
        let mut answer = memory.message(Role::Assistant, vec![text("a")]);
        answer.usage = Some(Usage {
            reported_total: Some(reported),
            provider: Some("p".into()),
            ..Usage::default()
        });
        let after = memory.message(Role::User, vec![text("q")]);
        // 120 up to the report, 104 after it: 224 in all.
        let weights = [(&asked, 60), (&answer, 60), (&after, 104)];
        assert_eq!(scaled_total(weights, 0), expect, "A3 {reported} reported");
    }
}

#[test]
fn c1_c2_nous_counts_text_only_and_divides_once() {
    let mut memory = Memory::new();
    let parts: Vec<TestPart> = vec![text("abc"), call("c", "t", "{\"long\": \"arguments\"}")];
    let message = memory.message(Role::Assistant, parts);
    assert_eq!(
        Bytes4.message(&message, &memory),
        3,
        "C2 calls are not counted"
    );
    assert_eq!(
        Bytes4.tokens(3 + 3 + 3),
        2,
        "C2 bytes are added up and divided once"
    );
    assert_eq!(Bytes4.tokens(Bytes4.text("日本語")), 2, "C2 a known bias");
    assert_eq!(Words.tokens(Words.text(" a  b\nc ")), 3, "C1 words");
}

/// What the thread keeps message by message is the rule over the whole list.
#[test]
fn a3_b1_the_size_is_scaled() {
    for preset in [Preset::Langchain, Preset::Deerflow] {
        for strictly in [false, true] {
            let options = asks(preset, tokens(90_000), 2);
            let options = if strictly { strict(options) } else { options };
            let mut peer = Peer::with(&options, &["u one x100"]);
            // "one" x 100 is 76 + 3 tokens, "two" x 100 is 78 + 3: 160 up to the first report.
            for (row, total, provider, expect) in [
                ("as counted", 160, Some("openai"), 160),
                ("never lowers", 1, Some("openai"), 241),
                (
                    "in proportion",
                    354,
                    Some("openai"),
                    (322.0_f64 * (354.0 / 322.0)).ceil() as u64,
                ),
                ("at most a quarter", 9_000, Some("openai"), 504),
                (
                    "no more once another provider answers",
                    9_000,
                    Some("other"),
                    484,
                ),
            ] {
                peer.say_reported("a two x100", total, provider);
                assert_eq!(
                    peer.size().tokens,
                    expect,
                    "A3 {row}, {preset:?} {strictly}"
                );
                assert_eq!(peer.size().estimated % 81, 79, "the count is as before");
            }
        }
    }
    // A reply without a provider after one with: no scaling.
    let mut peer = Peer::with(&asks(Preset::Langchain, tokens(90_000), 2), &["u one x100"]);
    peer.say_reported("a two x100", 9_000, Some("openai"));
    assert_eq!(peer.size().tokens, 200);
    peer.say(&["u on"]);
    assert_eq!(peer.size().tokens, (165.0_f64 * 1.25).ceil() as u64);
    peer.say(&["a two x100"]);
    assert_eq!(peer.size().tokens, 165 + 81);
    // A report that comes after its reply.
    let mut peer = Peer::with(
        &asks(Preset::Langchain, tokens(90_000), 2),
        &["u one x100", "a two x100", "u on"],
    );
    let usage = Usage {
        reported_total: Some(200),
        provider: Some("openai".into()),
        ..Usage::default()
    };
    peer.thread.usage(usage);
    assert_eq!(peer.size().tokens, (165.0_f64 * 1.25).ceil() as u64);
    // Nous reads no reports.
    let mut peer = Peer::with(&asks(Preset::Nous, tokens(90_000), 2), &["u one x100"]);
    peer.say_reported("a two x100", 9_000, Some("openai"));
    assert_eq!(peer.size().tokens, 150);
}

/// A report of what was sent before a compaction scales no more in ours; the original goes on with it.
#[test]
fn a3_after_a_compaction() {
    let run = |options: Options| {
        let mut peer = Peer::with(&options, &["u one x400", "a two x400", "u three x400"]);
        peer.say_reported("a four x40", 900, Some("openai"));
        peer.say(&["u five"]);
        assert_eq!(peer.check().outcome, Outcome::Compacted);
        let size = peer.size();
        (size.tokens, size.estimated)
    };
    for preset in [Preset::Langchain, Preset::Deerflow] {
        let options = asks(preset, tokens(500), 2);
        let (scaled, counted) = run(options.clone());
        assert_eq!(scaled, counted, "{preset:?}");
        let (scaled, counted) = run(strict(options));
        assert!(scaled > counted, "{preset:?} strict: {scaled} of {counted}");
    }
}

// ---- triggers

/// The newest reply's own report reaches a trigger, if the model's provider made it.
#[test]
fn a4_reported_tokens_reach_a_trigger() {
    for (row, reports, expect) in [
        ("below", &[(999, Some("openai"))][..], false),
        ("at the threshold", &[(1_000, Some("openai"))], true),
        ("of another provider", &[(5_000, Some("anthropic"))], false),
        ("of nobody", &[(5_000, None)], false),
        (
            "only the last reply",
            &[(5_000, Some("openai")), (10, Some("openai"))],
            false,
        ),
    ] {
        for preset in [Preset::Langchain, Preset::Deerflow] {
            let options = asks(preset, tokens(1_000), 2);
            for options in [options.clone(), strict(options)] {
                let mut peer = Peer::with(&options, &["u one x50", "u two", "u three"]);
                for (total, provider) in reports {
                    peer.say_reported("a four x50", *total, *provider);
                }
                let fired = peer.check().outcome != Outcome::Skipped;
                assert_eq!(fired, expect, "A4 {row}, {preset:?}");
            }
        }
    }
}

/// Whether a conversation of so many messages of 100 characters fires.
fn fires(options: &Options, count: usize) -> bool {
    let lines: Vec<String> = (0..count)
        .map(|n| format!("{} {}", if n % 2 == 0 { 'u' } else { 'a' }, "x".repeat(100)))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut peer = Peer::with(options, &lines);
    peer.check().outcome != Outcome::Skipped
}

#[test]
fn a4_b1_c2_when_it_fires() {
    // A message of 100 characters: ceil((100 + 4) / 4) + 3 = 29 tokens from a user, ceil((100 + 9) / 4) + 3 = 31.
    let langchain = |clause| asks(Preset::Langchain, clause, 2);
    let both = Clause {
        messages: Some(6),
        ..tokens(150)
    };
    let or = Options {
        trigger: TriggerOption::Any(vec![messages(6), tokens(10_000)]),
        ..langchain(messages(6))
    };
    let fraction = Clause {
        fraction: Some(0.0018),
        ..Clause::default()
    };
    // Bytes / 4: 25 a message, and above only.
    let nous = |n| asks(Preset::Nous, tokens(n), 2);
    let with_system = |n| {
        let mut peer = Peer::with(
            &langchain(messages(n)),
            &["s rules", "u one", "a two", "u three"],
        );
        peer.check().outcome != Outcome::Skipped
    };
    assert!(with_system(4) && !with_system(5), "A4 all messages");
    for (row, options, count, expect) in [
        ("A4 messages >= v", langchain(messages(6)), 6, true),
        ("A4 messages < v", langchain(messages(6)), 5, false),
        ("A4 tokens >= v", langchain(tokens(180)), 6, true),
        ("A4 tokens < v", langchain(tokens(181)), 6, false),
        ("A4 AND: both", langchain(both), 6, true),
        ("A4 AND: one is not enough", langchain(both), 5, false),
        ("A4 OR: one is enough", or, 6, true),
        (
            "A4 fraction: int(100,000 * 0.0018) = 180",
            langchain(fraction),
            6,
            true,
        ),
        ("A4 fraction below", langchain(fraction), 5, false),
        (
            "B1 as LangChain",
            asks(Preset::Deerflow, tokens(180), 2),
            6,
            true,
        ),
        ("C2 tokens > v", nous(149), 6, true),
        ("C2 tokens = v is not above", nous(150), 6, false),
    ] {
        assert_eq!(fires(&options, count), expect, "{row}");
        assert_eq!(fires(&strict(options), count), expect, "{row}, strict");
    }
}

#[test]
fn a4_without_a_trigger_never() {
    let mut peer = Peer::with(&Preset::Langchain.into(), &["u hi", "a hello x900", "u go"]);
    assert_eq!(peer.check().outcome, Outcome::Disabled, "A4 no clauses");
    let empty = Options {
        trigger: TriggerOption::Any(Vec::new()),
        ..Preset::Langchain.into()
    };
    assert_eq!(
        Peer::with(&empty, &["u hi"]).check().outcome,
        Outcome::Disabled,
        "A2 []"
    );
}

#[test]
fn a4_a_fraction_is_at_least_one_token() {
    let options = asks(
        Preset::Langchain,
        Clause {
            fraction: Some(0.000_001),
            ..Clause::default()
        },
        2,
    );
    let profile = ModelProfile {
        window: Some(1_000),
        ..ModelProfile::default()
    };
    let policy = Policy::resolve(&options, &profile).unwrap().policy;
    let one = Threshold {
        tokens: Some(1),
        messages: None,
    };
    assert_eq!(policy.triggers, [one]);
}

#[test]
fn b1_the_summary_counts_as_one_more_message() {
    let lines = [
        "u one x60",
        "a two x60",
        "u three x60",
        "a four x60",
        "u five",
        "a six",
    ];
    let mut peer = Peer::with(&asks(Preset::Deerflow, messages(6), 2), &lines);
    assert_eq!(peer.check().outcome, Outcome::Compacted);
    let (texts, counter) = (&peer.said, peer.counter.as_ref());
    let size = peer.thread.size(Sources { texts, counter });
    assert_eq!(size.messages, 2 + 1, "B1 two kept and the summary");
    let mut peer = Peer::with(&asks(Preset::Langchain, messages(6), 2), &lines);
    assert_eq!(peer.check().outcome, Outcome::Compacted);
    assert!(
        peer.shown().starts_with("S "),
        "A8 the summary is a message of the list"
    );
}

// ---- cuts

/// What a command leaves, under the peer's own rule and under ours.
#[track_caller]
fn cut(row: &str, preset: Preset, keep: KeepOption, lines: &[&str], peer: &str, ours: &str) {
    let options = Options {
        keep: Some(keep),
        trigger: TriggerOption::Any(vec![tokens(90_000)]),
        ..preset.into()
    };
    let mut theirs = Peer::with(&strict(options.clone()), lines);
    theirs.command(false);
    assert_eq!(theirs.shown(), peer, "{row}, strict_parity");
    let mut own = Peer::with(&options, lines);
    own.command(false);
    assert_eq!(own.shown(), ours, "{row}, ours");
}

#[test]
fn a5_b1_c2_where_they_cut() {
    use Preset::{Deerflow, Langchain, Nous};
    let keep = KeepOption::Messages;
    let talk = [
        "u one x90",
        "a two x90",
        "u three x90",
        "a four x90",
        "u five",
        "a six",
    ];
    cut(
        "A5 messages: the last n",
        Langchain,
        keep(3),
        &talk,
        "S 3 4 5",
        "S 3 4 5",
    );
    cut(
        "A5 no more than n: nothing to do",
        Langchain,
        keep(6),
        &talk,
        "0 1 2 3 4 5",
        "0 1 2 3 4 5",
    );
    // "four" x 90 is 360 characters: 96 tokens; "five" 5 and "six" 7.
    cut(
        "A5 tokens: the longest end that fits",
        Langchain,
        KeepOption::Tokens(120),
        &talk,
        "S 3 4 5",
        "S 3 4 5",
    );
    cut(
        "A5 tokens: all fits",
        Langchain,
        KeepOption::Tokens(9_000),
        &talk,
        "0 1 2 3 4 5",
        "0 1 2 3 4 5",
    );
    let long_end = ["u one x90", "a two x90", "u go", "a last x900"];
    // Ours keeps the current request all the same.
    cut(
        "A5 nothing fits: the last alone",
        Langchain,
        KeepOption::Tokens(5),
        &long_end,
        "S 3",
        "S 2",
    );
    // int(100,000 * 0.0012) = 120.
    cut(
        "A5 a fraction of the window",
        Langchain,
        KeepOption::Fraction(0.0012),
        &talk,
        "S 3 4 5",
        "S 3 4 5",
    );
    cut(
        "A5 nothing fits, and there is only one",
        Langchain,
        KeepOption::Tokens(5),
        &["u one x400"],
        "0",
        "0",
    );
    let pair = [
        "u one x400",
        "a call c1 call c2",
        "t c1 x",
        "t c2 y",
        "u go",
        "a ok",
    ];
    cut(
        "A5 back to the call of the first result",
        Langchain,
        keep(3),
        &pair,
        "S 1 2 3 4 5",
        "S 1 2 3 4 5",
    );
    let orphan = ["u one x400", "a hm", "t c9 stray", "u go", "a ok"];
    cut(
        "A5 forward past an answer to nothing",
        Langchain,
        keep(3),
        &orphan,
        "S 3 4",
        "S 3 4",
    );
    let system = ["s rules", "u one x400", "a two x90", "u go", "a ok"];
    cut(
        "A5 a system message is history",
        Langchain,
        keep(2),
        &system,
        "S 3 4",
        "0 S 3 4",
    );
    let task = ["u task", "a call c1", "t c1 x x6000", "a call c2", "t c2 y"];
    cut(
        "B1 the latest request is put back",
        Deerflow,
        keep(2),
        &task,
        "Rules S 0 3 4",
        "Rules S 0 3 4",
    );
    let reminder = [
        "u reminder today",
        "u one x400",
        "a two x90",
        "u go",
        "a ok",
    ];
    cut(
        "B1 reminders are put back",
        Deerflow,
        keep(2),
        &reminder,
        "Rules S 0 3 4",
        "Rules S 0 3 4",
    );
    cut(
        "B1 all that would go is put back: nothing to do",
        Deerflow,
        keep(2),
        &["u reminder today", "u go", "a one", "a two"],
        "0 1 2 3",
        "0 1 2 3",
    );
    cut(
        "B1 a hidden message is no request",
        Deerflow,
        keep(1),
        &["u go", "a one x400", "u hidden note", "a two x90", "a ok"],
        "Rules S 0 4",
        "Rules S 0 4",
    );
    let leading = [
        "s rules",
        "u one x400",
        "a call c1",
        "t c1 x",
        "u go",
        "a ok",
    ];
    cut(
        "C2 leading results go to the old part",
        Nous,
        keep(3),
        &leading,
        "0 S 4 5",
        "0 S 2 3 4 5",
    );
    let scattered = ["s rules", "u one x400", "a two", "s note", "u go", "a ok"];
    cut(
        "C2 system messages are set apart",
        Nous,
        keep(2),
        &scattered,
        "0 S 3 4 5",
        "0 S 4 5",
    );
    cut(
        "C2 nothing is old",
        Nous,
        keep(6),
        &talk,
        "0 1 2 3 4 5",
        "0 1 2 3 4 5",
    );
}

// ---- trimming

/// What goes of `lines`, as the single call of the original is given it, a word a message.
fn trimmed(preset: Preset, trim: u64, lines: &[&str]) -> Option<String> {
    let options = Options {
        trim_tokens: Some(Some(trim)),
        ..asks(preset, tokens(90_000), 1)
    };
    let mut peer = Peer::with(&strict(options), lines);
    peer.command(false);
    assert!(peer.given.len() <= 1, "one call");
    let given = peer.given.first()?;
    let kept = given.lines().filter(|line| !line.contains("transcript"));
    Some(kept.collect::<Vec<_>>().join("|"))
}

#[test]
fn a6_b1_what_is_trimmed() {
    use Preset::{Deerflow, Langchain};
    // "one" is ceil((3 + 4) / 4) + 3 = 5 tokens from a user and 6 from an assistant.
    let talk = ["u one", "a two", "u three", "a four", "u last"];
    for (row, preset, trim, lines, expect) in [
        (
            "all fits",
            Langchain,
            99,
            &talk[..],
            Some("user: one|assistant: two|user: three|assistant: four"),
        ),
        (
            "the newest that fit",
            Langchain,
            13,
            &talk,
            Some("user: three|assistant: four"),
        ),
        (
            "from a user on",
            Langchain,
            18,
            &talk,
            Some("user: three|assistant: four"),
        ),
        ("nothing is left: no call", Langchain, 7, &talk, None),
        (
            "deer-flow then gives the last",
            Deerflow,
            9,
            &talk,
            Some("assistant: four"),
        ),
        (
            "a system message at the start is set aside",
            Langchain,
            20,
            &["s rule", "u one", "a two", "u three", "a four", "u last"],
            Some("system: rule|user: three|assistant: four"),
        ),
    ] {
        assert_eq!(trimmed(preset, trim, lines).as_deref(), expect, "A6 {row}");
    }
}

/// The last lines of the message at the edge, if it is a user's.
#[test]
fn a6_a_partial_message_at_the_edge() {
    let mut memory = Memory::new();
    let said = memory.message(Role::User, vec![text("first line\nsecond line\nthird")]);
    let blocks = memory.blocks(Role::User, vec![text("first block"), text("second\nthird")]);
    let answer = memory.message(Role::Assistant, vec![text("four")]);
    let given = |first: &MessageView, trim| {
        let (mut history, mut branch) = (crate::history::History::default(), Branch::default());
        for view in [first, &answer] {
            let view = Arc::new(view.clone());
            let node = history.append(branch.head(), view.clone());
            let weight = LangChain::DEFAULT.message(&view, &memory);
            branch.push(node, view, weight);
        }
        let trim_by = Trim {
            preset: Preset::Langchain,
            branch: &branch,
            texts: &memory,
            counter: &LangChain::DEFAULT,
            patches_at: &|_| &[],
        };
        let given = trim_by.given(&[0, 1], None, Some(trim)).expect("it trims");
        let left = given.partial.map(|(at, patches)| {
            let message = branch.view(at).handle;
            let patched = Patched::new(&memory, message, &patches);
            let parts = 0..branch.view(at).parts.len() as u16;
            let texts = parts.map(|part| patched.text(PartRef { message, part }).into_owned());
            texts.collect::<Vec<_>>().join("+")
        });
        (given.messages, left)
    };
    let part = |text: &str| Some(text.to_owned());
    // "four" from an assistant is 7 tokens; "third" from a user 6, "second line\nthird" 9, all of it 11.
    assert_eq!(given(&said, 18), (vec![0, 1], None), "all fits");
    assert_eq!(given(&said, 17), (vec![0, 1], part("second line\nthird")));
    assert_eq!(given(&said, 15), (vec![0, 1], part("third")));
    assert_eq!(
        given(&said, 12),
        (vec![], None),
        "no line fits, and no user is left"
    );
    // A list loses blocks from its start, and of its last one lines.
    assert_eq!(given(&blocks, 15), (vec![0, 1], part("+second\nthird")));
    assert_eq!(given(&blocks, 13), (vec![0, 1], part("+third")));
}

/// After an overflow LangChain cuts the middle out, once; the others do not try again.
#[test]
fn a7_after_an_overflow() {
    let said = |n| [format!("u FACT{n}- x20"), "a ok".to_owned()];
    let lines: Vec<String> = (0..20).flat_map(said).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["u last"]).collect();
    let run = |preset, overflows: usize, strictly| {
        let options = asks(preset, tokens(500), 1);
        let mut peer = Peer::with(&if strictly { strict(options) } else { options }, &lines);
        peer.model = Box::new(move |n| match n <= overflows {
            true => Err(Failure::TOO_LARGE),
            false => Ok(reply("short")),
        });
        let outcome = peer.check().outcome;
        let facts = |given: &String| {
            (0..20)
                .filter(|n| given.contains(&format!("FACT{n}-")))
                .count()
        };
        (outcome, peer.given.iter().map(facts).collect::<Vec<_>>())
    };
    let (outcome, given) = run(Preset::Langchain, 1, true);
    assert_eq!(
        (outcome, given.len(), given[0]),
        (Outcome::Compacted, 2, 20),
        "A7"
    );
    assert!((9..=12).contains(&given[1]), "A7 half of it: {given:?}");
    assert_eq!(
        run(Preset::Langchain, 2, true).0,
        Outcome::Failed,
        "A7 a second time"
    );
    for preset in [Preset::Deerflow, Preset::Nous] {
        let (outcome, given) = run(preset, 1, true);
        assert_eq!((outcome, given.len()), (Outcome::Failed, 1), "{preset:?}");
    }
    // Ours gives all of it, in smaller calls.
    for preset in PEERS {
        let (outcome, given) = run(preset, 1, false);
        assert_eq!(outcome, Outcome::Compacted, "{preset:?}");
        assert!(
            given[1..].iter().sum::<usize>() >= 20,
            "{preset:?}: {given:?}"
        );
    }
}

// ---- pruning

fn prunes(result_chars: usize, cap: u64, strictly: bool) -> Option<usize> {
    let long = format!("t c1 {}", "x".repeat(result_chars));
    let lines = [
        "u go",
        "a call c1",
        long.as_str(),
        "a read it",
        "u on",
        "a ok",
    ];
    let options = Options {
        prune: PruneOption {
            max_result_chars: Some(cap),
            ..PruneOption::default()
        },
        ..asks(Preset::Nous, tokens(500), 10)
    };
    let options = if strictly { strict(options) } else { options };
    let mut peer = Peer::with(&options, &lines);
    let before = peer.counter.tokens(result_chars as u64);
    let report = peer.check();
    assert_eq!(peer.given.len(), 0, "C2 pruning asks no model");
    let shown = peer.shown();
    assert!(
        shown == "0 1 2 3 4 5" || shown == "0 1 2* 3 4 5",
        "C2 same count and order: {shown}"
    );
    let after = report.measured.tokens_after.unwrap_or_default();
    shown
        .contains('*')
        .then(|| (before.max(1) - before.max(1).min(after)) as usize)
}

#[test]
fn c2_what_is_pruned() {
    for strictly in [false, true] {
        assert_eq!(
            prunes(8_192, 8_192, strictly),
            None,
            "C2 exact cap untouched"
        );
        assert!(prunes(8_193, 8_192, strictly).is_some(), "C2 over the cap");
    }
    // Other roles are never touched.
    let said = format!("u {}", "x".repeat(9_000));
    let mut peer = Peer::with(&asks(Preset::Nous, tokens(500), 10), &[&said, "a ok"]);
    peer.check();
    assert_eq!(peer.shown(), "0 1", "C2 only results");
}

#[test]
fn c2_pruning_alone_may_be_enough_and_stays_when_the_summary_fails() {
    let long = format!("t c1 {}", "x".repeat(40_000));
    let lines = [
        "u go",
        "a call c1",
        long.as_str(),
        "a read it",
        "u on",
        "a ok",
    ];
    for strictly in [false, true] {
        let make = |tokens_: u64, keep| {
            let options = asks(Preset::Nous, tokens(tokens_), keep);
            Peer::with(&if strictly { strict(options) } else { options }, &lines)
        };
        let mut enough = make(5_000, 2);
        assert_eq!(enough.check().outcome, Outcome::Pruned, "C2 early out");
        assert_eq!(
            (enough.shown().as_str(), enough.given.len()),
            ("0 1 2* 3 4 5", 0)
        );
        let mut failing = make(500, 2);
        failing.model = Box::new(|_| {
            Err(Failure::Unusable {
                message: "no".into(),
            })
        });
        assert_eq!(failing.check().outcome, Outcome::Failed);
        assert_eq!(
            failing.shown(),
            "0 1 2* 3 4 5",
            "C2 pruned messages are kept in every outcome"
        );
        assert_eq!(failing.given.len(), 1, "C2 one call");
    }
}
