//! Invariants that stand alone, by number. Those over random lives are in `simulate::invariants`, `simulate::patches`
//! and `simulate::conversation`; `docs/invariants.md` says which is where.

use std::collections::BTreeSet;
use std::sync::Arc;

use conspectus::core::count::{Bytes4, Estimator, LangChain, TokenCounter};
use conspectus::core::effect::{
    Failure, Finish, Millis, Reply, Route, SummaryInput, SummaryRequest,
};
use conspectus::core::id::Ident;
use conspectus::core::outcome::{Outcome, Reason};
use conspectus::core::policy::{
    Clause, KeepOption, Options, Preset, PruneOption, PruneWhen, TriggerOption,
};
use conspectus::core::projection::{BlockKind, Piece, Projection};
use conspectus::core::thread::Fixed;
use conspectus::core::view::{MessageView, PartKind, Role};
use conspectus::{
    Decision, Document, Embedded, Host, Manual, ModelProfile, OpenOptions, Policy, Report, Sources,
    Thread, drive,
};
use conspectus_testkit::simulate::invariants::{Given, broken};
use conspectus_testkit::transcript::{Format, Knobs, MemoryTexts, Transcript};

const COUNTERS: [&dyn TokenCounter; 4] = [
    &Bytes4,
    &LangChain::DEFAULT,
    &LangChain::ANTHROPIC,
    &Estimator,
];

fn policy(options: &Options) -> Arc<Policy> {
    let resolved = Policy::resolve(options, &ModelProfile::default());
    Arc::new(resolved.expect("the options are sane").policy)
}

fn at(tokens: u64) -> TriggerOption {
    TriggerOption::Any(vec![Clause {
        tokens: Some(tokens),
        ..Clause::default()
    }])
}

/// Whether an attempt was made, and what came of it.
fn done(
    thread: &mut Thread,
    decision: Decision,
    src: Sources<'_>,
    host: &mut dyn Host,
) -> (bool, Report) {
    match decision {
        Decision::Start(attempt, _) => (true, drive(thread, *attempt, src, host)),
        Decision::Send(report) => (false, report),
        Decision::Wait(_) => panic!("nothing is under way"),
    }
}

fn check(thread: &mut Thread, src: Sources<'_>) -> (bool, Report) {
    let decision = thread.before_call(0, &[], src);
    done(thread, decision, src, &mut Embedded::default())
}

fn command(thread: &mut Thread, src: Sources<'_>, request: &Manual) -> (bool, Report) {
    let decision = thread.manual(0, request, src);
    done(thread, decision, src, &mut Embedded::default())
}

fn calm() -> Knobs {
    Knobs {
        max_turns: 8,
        ..Knobs::valid(Format::OpenAi)
    }
}

/// 10: what is removed is decided by position, so equal digests of different messages change nothing.
#[test]
fn invariant_10_equal_messages_are_told_apart_by_position() {
    let mut compacted = 0;
    for t in Transcript::campaign(0..80, &calm()) {
        let (views, texts, _) = t.views(Format::OpenAi);
        let src = Sources {
            texts: &texts,
            counter: &Estimator,
        };
        let alike = views.iter().cloned().map(|view| MessageView {
            ident: Ident::of("the same"),
            ..view
        });
        let run = |views: Vec<MessageView>| {
            let mut thread = Thread::new(policy(&Options::default()));
            thread.append(views, src);
            let (_, report) = command(&mut thread, src, &Manual::default());
            (report.outcome, thread.projection())
        };
        let as_it_is = run(views.clone());
        compacted += usize::from(as_it_is.0 == Outcome::Compacted);
        assert_eq!(as_it_is, run(alike.collect()), "seed {}", t.seed);
    }
    assert!(compacted > 20, "{compacted}");
}

/// 11: below every trigger the bytes are the input's, in every format and with every preset.
#[test]
fn invariant_11_below_every_trigger_the_bytes_are_the_same() {
    let presets = [
        Preset::Default,
        Preset::Deerflow,
        Preset::Langchain,
        Preset::Nous,
    ];
    for t in Transcript::campaign(0..60, &Knobs::default()) {
        for (format, wire) in [
            (Format::OpenAi, conspectus_wire::Format::OpenAi),
            (Format::Anthropic, conspectus_wire::Format::Anthropic),
            (Format::LangChain, conspectus_wire::Format::LangChain),
        ] {
            let body = t.render(format).body();
            let options = OpenOptions {
                format: Some(wire),
                lenient: true,
            };
            let document =
                Document::open(body.clone(), &options).expect("a lenient reader reads it");
            let Some(conversation) = document.conversations().first() else {
                continue;
            };
            let src = Sources {
                texts: conversation,
                counter: &Estimator,
            };
            for preset in presets {
                let options = Options {
                    preset,
                    trigger: at(900_000),
                    max_context: Some(1_000_000),
                    prune: PruneOption {
                        when: Some(PruneWhen::Trigger),
                        ..PruneOption::default()
                    },
                    ..Options::default()
                };
                let mut thread = Thread::new(policy(&options));
                thread.append(conversation.views().iter().cloned(), src);
                // A report of usage in a random file may be of any size.
                let (started, _) = check(&mut thread, src);
                if started {
                    continue;
                }
                let request = thread.projection();
                assert!(request.is_untouched());
                let context = conspectus_wire::RenderContext::default();
                let bytes = document.render(&[(0, &request)], &context);
                assert!(bytes.expect("its own handles") == body, "seed {}", t.seed);
            }
        }
    }
}

/// 12 and 13: by every counter, a compaction is smaller, and the same again does nothing.
#[test]
fn invariant_12_smaller_by_every_counter_and_13_once_is_enough() {
    for counter in COUNTERS {
        let mut compacted = 0;
        for t in Transcript::campaign(0..60, &calm()) {
            let (views, texts, _) = t.views(Format::OpenAi);
            let src = Sources {
                texts: &texts,
                counter,
            };
            let mut thread = Thread::new(policy(&Options::default()));
            thread.append(views, src);
            let before = thread.size(src).request;
            let (_, report) = command(&mut thread, src, &Manual::default());
            if report.outcome != Outcome::Compacted {
                continue;
            }
            compacted += 1;
            let after = thread.size(src).request;
            assert!(after + before / 10 <= before, "seed {}", t.seed);
            let request = thread.projection();
            let (started, report) = command(&mut thread, src, &Manual::default());
            assert_eq!(
                (started, report.outcome),
                (false, Outcome::NothingToCompact)
            );
            assert_eq!(thread.projection(), request);
        }
        assert!(compacted > 10, "{compacted} by {}", counter.id());
    }
}

struct Talk {
    texts: MemoryTexts,
    views: Vec<MessageView>,
}

impl Talk {
    fn new() -> Self {
        Self {
            texts: MemoryTexts::new(),
            views: Vec::new(),
        }
    }

    fn say(&mut self, role: Role, text: &str) {
        let view = self.texts.say(role, text);
        self.views.push(view);
    }

    fn work(&mut self, id: &str, arguments: &str, result: &str) {
        let call = PartKind::Call {
            id: id.into(),
            tool: "bash".into(),
        };
        let answer = PartKind::Result {
            id: id.into(),
            tool: None,
            error: false,
        };
        let add = |texts: &mut MemoryTexts, role, kind, text: &str| {
            texts.add(role, vec![(kind, text.to_owned(), None)])
        };
        let call = add(&mut self.texts, Role::Assistant, call, arguments);
        let answer = add(&mut self.texts, Role::Tool, answer, result);
        self.views.extend([call, answer]);
    }
}

/// 14 and 15: a system prompt over the trigger is told once and for all; checks do not loop, with or without
/// new messages.
#[test]
fn invariant_15_a_fixed_part_over_the_trigger_stops_and_says_so() {
    let mut talk = Talk::new();
    for n in 0..40 {
        talk.say(Role::User, &format!("Question {n}: what does step {n} do?"));
        talk.say(Role::Assistant, &format!("Step {n} loads the table {n}."));
    }
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let options = Options {
        trigger: at(2_000),
        max_context: Some(100_000),
        ..Options::default()
    };
    let mut thread = Thread::new(policy(&options));
    thread.set_fixed(Fixed::of(
        ["Rule: be brief. ".repeat(2_000).as_str()],
        &Estimator,
    ));
    let mut attempts = 0;
    let mut told = 0;
    for view in talk.views {
        thread.append([view], src);
        for _ in 0..3 {
            let (started, report) = check(&mut thread, src);
            attempts += usize::from(started);
            told += usize::from(report.reasons.contains(&Reason::FixedPartOverTrigger));
        }
    }
    assert!(
        attempts <= 1 && told > 200,
        "{attempts} attempts, told {told} times"
    );
}

/// 18: a unit larger than trigger, keep and window does not hold back the others, wherever it stands.
#[test]
fn invariant_18_a_giant_does_not_hold_back_the_others() {
    for giant in ["user", "result", "current"] {
        for place in [0, 7, 14] {
            let mut talk = Talk::new();
            talk.say(Role::System, "You repair pumps.");
            for n in 0..15 {
                if n == place && giant == "user" {
                    talk.say(Role::User, &"a long story about pumps ".repeat(1_000));
                }
                if n == place && giant == "result" {
                    talk.work("giant", "{}", &"pump 17 stopped\n".repeat(1_500));
                }
                let text = format!("step {n} of the plan is about valve {n} ").repeat(40);
                talk.say(Role::User, &text);
                talk.say(Role::Assistant, &text);
            }
            let last = match giant {
                "current" => "please read all of this ".repeat(1_000),
                _ => "go on".to_owned(),
            };
            talk.say(Role::User, &last);
            let src = Sources {
                texts: &talk.texts,
                counter: &Estimator,
            };
            let options = Options {
                trigger: at(3_000),
                keep: Some(KeepOption::Messages(2)),
                max_context: Some(5_000),
                output_reserve: Some(500),
                ..Options::default()
            };
            let mut thread = Thread::new(policy(&options));
            let count = talk.views.len();
            thread.append(talk.views, src);
            let (_, report) = check(&mut thread, src);
            assert_eq!(report.outcome, Outcome::Compacted, "{giant} at {place}");
            let folded = (0..count).filter(|at| thread.is_folded(*at)).count();
            assert!(folded >= 26, "{giant} at {place}: {folded} folded");
            let over = thread.size(src).request > thread.policy().input_limit();
            assert_eq!(report.reasons.contains(&Reason::OverLimit), over, "17");
        }
    }
}

/// A model that says which marks it read: `[m17]` in a message, or in the summary before.
#[derive(Default)]
struct Marks {
    now: Millis,
    calls: usize,
    sizes: Vec<(u64, u64)>,
}

fn marks(text: &str) -> BTreeSet<u32> {
    let ends = text.split("[m").skip(1);
    let number = |rest: &str| rest.split(']').next().and_then(|n| n.parse().ok());
    ends.filter_map(number).collect()
}

impl Host for Marks {
    fn now(&mut self) -> Millis {
        self.now
    }

    fn wait(&mut self, until: Millis) {
        self.now = self.now.max(until);
    }

    fn call(
        &mut self,
        request: &SummaryRequest,
        route: &Route,
        _: Millis,
    ) -> Result<Reply, Failure> {
        self.calls += 1;
        self.sizes.push((request.input_tokens, route.max_input));
        let SummaryInput::Transcript { document, .. } = &request.input else {
            panic!("only transcripts are asked for");
        };
        let read = marks(document);
        let text: String = read.iter().map(|n| format!("[m{n}]")).collect();
        Ok(Reply {
            text: ["Read: ", &text].concat().into(),
            finish: Finish::Stop,
            usage: None,
        })
    }
}

/// 23, 24, 28 and 29: over thirty rounds every mark of a folded message is in the summary, wherever chunks were
/// cut, every request fits, and there is one summary under its cap.
#[test]
fn invariant_29_thirty_rounds_lose_nothing_and_28_do_not_grow() {
    let mut talk = Talk::new();
    talk.say(Role::System, "You repair pumps.");
    let options = Options {
        trigger: at(6_000),
        keep: Some(KeepOption::Messages(4)),
        max_context: Some(60_000),
        max_summary_tokens: Some(4_000),
        ..Options::default()
    };
    let route = Route {
        model: Some("marks".into()),
        replay: false,
        max_input: 1_200,
        max_output: 4_000,
        takes_schema: false,
    };
    let mut mark = 0;
    let mut rounds = Vec::new();
    for round in 0..32 {
        let from = talk.views.len();
        for n in 0..6 {
            // Marks at the beginning, in the middle and at the end.
            let filler = format!("valve {n} of round {round} ").repeat(20);
            let mut next = || {
                mark += 1;
                format!("[m{mark}]")
            };
            let text = [next(), filler.clone(), next(), filler, next()].concat();
            match n % 3 {
                0 => talk.say(Role::User, &text),
                1 => talk.work(&format!("c{round}-{n}"), "{\"command\":\"ls\"}", &text),
                _ => talk.say(Role::Assistant, &text),
            }
        }
        rounds.push(from..talk.views.len());
    }
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let mut host = Marks::default();
    let mut thread = Thread::new(policy(&options));
    let mut compacted = 0;
    for round in rounds {
        let from = if round.start == 1 { 0 } else { round.start };
        thread.append(talk.views[from..round.end].iter().cloned(), src);
        let decision = thread.manual(
            host.now,
            &Manual {
                routes: vec![route.clone()],
                ..Manual::default()
            },
            src,
        );
        let (_, report) = done(&mut thread, decision, src, &mut host);
        compacted += usize::from(report.outcome == Outcome::Compacted);
        let Some(summary) = thread.active().and_then(|r| r.summary.clone()) else {
            continue;
        };
        let tokens = src.counter.tokens(src.counter.text(&summary.text));
        assert!(tokens <= 4_000, "28: {tokens}");
        let known = marks(&summary.text);
        for (at, view) in thread.branch().views().iter().enumerate() {
            let text: String = (0..view.parts.len())
                .map(|part| {
                    let part = u16::try_from(part).expect("few parts");
                    let message = view.handle;
                    src.texts
                        .text(conspectus::core::view::PartRef { message, part })
                        .into_owned()
                })
                .collect();
            if thread.is_folded(at) {
                let lost: Vec<u32> = marks(&text).difference(&known).copied().collect();
                assert!(lost.is_empty(), "29: message {at} lost {lost:?}");
            }
        }
        let blocks = shown(&thread.projection());
        assert_eq!(blocks, 1, "28: one summary");
    }
    assert!(compacted >= 30, "{compacted} rounds compacted");
    assert!(host.calls > 60, "{} calls", host.calls);
    assert!(host.sizes.iter().all(|(size, most)| size <= most), "23");
}

fn shown(request: &Projection) -> usize {
    let is_summary = |piece: &&Piece| match piece {
        Piece::Insert(block) => block.kind == BlockKind::Summary,
        _ => false,
    };
    request.pieces().filter(is_summary).count()
}

/// 47: a command works far above the window, says so where there is nothing to fold, and neither `force` nor
/// `below_keep` relaxes 1 to 10.
#[test]
fn invariant_47_a_command_relaxes_nothing_structural() {
    let mut compacted = 0;
    for t in Transcript::campaign(0..150, &Knobs::default()) {
        let format = Format::ALL[usize::try_from(t.seed % 3).expect("small")];
        let (views, texts, _) = t.views(format);
        let src = Sources {
            texts: &texts,
            counter: &Estimator,
        };
        let options = Options {
            max_context: Some(2_000),
            output_reserve: Some(200),
            ..Options::default()
        };
        let mut thread = Thread::new(policy(&options));
        let pending = t.pending.iter().map(|id| id.as_str().into());
        thread.set_pending(pending.collect(), src);
        thread.append(views, src);
        for _ in 0..2 {
            let request = Manual {
                below_keep: true,
                ..Manual::default()
            };
            let (_, report) = command(&mut thread, src, &request);
            compacted += usize::from(report.outcome == Outcome::Compacted);
            let pending: BTreeSet<String> = t.pending.iter().cloned().collect();
            let given = Given {
                branch: thread.branch(),
                pending: &pending,
                record: thread.active().map(AsRef::as_ref),
            };
            let found = broken(given, &thread.projection());
            assert!(found.is_empty(), "seed {}: {found:?}", t.seed);
        }
    }
    assert!(compacted > 60, "{compacted}");
    let mut empty = Thread::new(policy(&Options::default()));
    let src = Sources {
        texts: &MemoryTexts::new(),
        counter: &Estimator,
    };
    let (started, report) = command(&mut empty, src, &Manual::default());
    assert_eq!(
        (started, report.outcome),
        (false, Outcome::NothingToCompact)
    );
}

/// 48: the same input twice gives equal requests and equal records.
#[test]
fn invariant_48_the_same_twice_is_the_same() {
    for t in Transcript::campaign(0..40, &Knobs::default()) {
        let run = || {
            let (views, texts, _) = t.views(Format::Anthropic);
            let src = Sources {
                texts: &texts,
                counter: &Estimator,
            };
            let mut thread = Thread::new(policy(&Options::default()));
            let mut requests = Vec::new();
            for view in views {
                thread.append([view], src);
                command(&mut thread, src, &Manual::default());
                requests.push(thread.projection());
            }
            (requests, thread.records().to_vec())
        };
        assert_eq!(run(), run(), "seed {}", t.seed);
    }
}
