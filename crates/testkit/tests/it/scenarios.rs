//! Every moment at which a conversation is compacted, before and after, one line a message.

use std::fmt::Write as _;
use std::sync::Arc;

use conspectus::core::count::Estimator;
use conspectus::core::effect::Failure;
use conspectus::core::policy::{Clause, KeepOption, TriggerOption};
use conspectus::core::thread::Recovery;
use conspectus::core::view::{MessageView, PartKind, Role};
use conspectus::{
    Decision, Embedded, Manual, ModelProfile, Options, Policy, Report, Sources, Thread, drive,
};
use conspectus_testkit::shape;
use conspectus_testkit::transcript::MemoryTexts;

/// A small agent at work on a pump controller.
struct Talk {
    texts: MemoryTexts,
    views: Vec<MessageView>,
    thread: Thread,
    told: String,
}

impl Talk {
    fn new(trigger: u64) -> Self {
        let options = Options {
            trigger: TriggerOption::Any(vec![Clause {
                tokens: Some(trigger),
                ..Clause::default()
            }]),
            keep: Some(KeepOption::Messages(3)),
            max_context: Some(20_000),
            ..Options::default()
        };
        let policy = Policy::resolve(&options, &ModelProfile::default())
            .expect("the options are sane")
            .policy;
        let (texts, views) = (MemoryTexts::new(), Vec::new());
        let mut talk = Self {
            texts,
            views,
            thread: Thread::new(Arc::new(policy)),
            told: String::new(),
        };
        talk.say(Role::System, "You repair the firmware of pump controllers.");
        talk.say(Role::User, "The pump P-17 stops after 40 s. Find out why. Never flash the device without asking me.");
        talk.work(
            "c1",
            "read_file",
            r#"{"path":"src/pump.c"}"#,
            &"static int ticks = 40; /* seconds */\n".repeat(60),
        );
        talk.work(
            "c2",
            "bash",
            r#"{"command":"make test"}"#,
            &"test_pump_stop ... FAILED: watchdog E-4417\n".repeat(40),
        );
        talk.say(
            Role::Assistant,
            "The watchdog E-4417 fires since the tick counter is never reset.",
        );
        talk
    }

    fn push(&mut self, view: MessageView) {
        self.views.push(view.clone());
        self.thread.append(
            [view],
            Sources {
                texts: &self.texts,
                counter: &Estimator,
            },
        );
    }

    fn say(&mut self, role: Role, text: &str) {
        let view = self.texts.say(role, text);
        self.push(view);
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &str) {
        let kind = PartKind::Call {
            id: id.into(),
            tool: tool.into(),
        };
        let view = self
            .texts
            .add(Role::Assistant, vec![(kind, arguments.to_owned(), None)]);
        self.push(view);
    }

    fn answer(&mut self, id: &str, text: &str) {
        let kind = PartKind::Result {
            id: id.into(),
            tool: None,
            error: false,
        };
        let view = self
            .texts
            .add(Role::Tool, vec![(kind, text.to_owned(), None)]);
        self.push(view);
    }

    fn work(&mut self, id: &str, tool: &str, arguments: &str, result: &str) {
        self.call(id, tool, arguments);
        self.answer(id, result);
    }

    fn shown(&mut self, title: &str) {
        let shape = shape::of_projection(&self.thread.projection(), &self.views, &self.texts);
        write!(self.told, "## {title}\n{shape}\n").expect("strings take everything");
        let faults = self.thread.checked().faults(|_| false);
        assert!(faults.is_empty(), "{title}: {faults:?}");
    }

    fn finish(&mut self, decision: Decision) -> Report {
        let src = Sources {
            texts: &self.texts,
            counter: &Estimator,
        };
        match decision {
            Decision::Start(attempt, _) => {
                drive(&mut self.thread, *attempt, src, &mut Embedded::default())
            }
            Decision::Send(report) => report,
            Decision::Wait(_) => panic!("nothing is under way"),
        }
    }

    fn check(&mut self) {
        let decision = self.thread.before_call(
            0,
            &[],
            Sources {
                texts: &self.texts,
                counter: &Estimator,
            },
        );
        let report = self.finish(decision);
        let moment = self.thread.active().map(|r| r.moment);
        writeln!(self.told, "check: {} {moment:?}", report.outcome)
            .expect("strings take everything");
    }

    fn command(&mut self, request: &Manual) {
        let decision = self.thread.manual(
            0,
            request,
            Sources {
                texts: &self.texts,
                counter: &Estimator,
            },
        );
        let report = self.finish(decision);
        writeln!(self.told, "command: {}", report.outcome).expect("strings take everything");
    }
}

#[test]
fn pre_turn() {
    let mut talk = Talk::new(1_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.shown("before");
    talk.check();
    talk.shown("after");
    talk.check();
    insta::assert_snapshot!(talk.told);
}

#[test]
fn mid_turn() {
    let mut talk = Talk::new(1_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.call(
        "c3",
        "edit",
        r#"{"path":"src/pump.c","old":"ticks = 40","new":"ticks = 0"}"#,
    );
    talk.check();
    talk.answer("c3", "edited src/pump.c");
    talk.check();
    talk.shown("after");
    insta::assert_snapshot!(talk.told);
}

#[test]
fn manual() {
    let mut talk = Talk::new(14_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.say(Role::Assistant, "Done: ticks is reset in pump_start.");
    talk.command(&Manual {
        below_keep: true,
        ..Manual::default()
    });
    talk.shown("after");
    talk.command(&Manual {
        below_keep: true,
        ..Manual::default()
    });
    insta::assert_snapshot!(talk.told);
}

#[test]
fn overflow() {
    let mut talk = Talk::new(14_000);
    talk.say(Role::User, "Fix it, and add a test.");
    let error = Failure::over(900);
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let Recovery::Compact(attempt) = talk.thread.provider_error(0, &error, &[], src) else {
        panic!("no recovery")
    };
    drive(&mut talk.thread, *attempt, src, &mut Embedded::default());
    talk.shown("after the first error");
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let again = talk.thread.provider_error(0, &error, &[], src);
    assert!(
        matches!(again, Recovery::GiveUp(_)),
        "the same error again goes to the caller"
    );
    insta::assert_snapshot!(talk.told);
}

#[test]
fn resume() {
    let mut talk = Talk::new(1_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.check();
    talk.say(Role::Assistant, "Where should the test live?");
    talk.say(Role::User, "Beside the others.");
    talk.shown("the next turn extends the same request");
    talk.check();
    insta::assert_snapshot!(talk.told);
}

#[test]
fn undo() {
    let mut talk = Talk::new(1_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.check();
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    talk.thread.undo(src).expect("there is a record");
    talk.thread.undo(src);
    talk.shown("taken back");
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    while talk.thread.redo(src).is_some() {}
    talk.shown("in force again");
    insta::assert_snapshot!(talk.told);
}

#[test]
fn branch() {
    let mut talk = Talk::new(1_000);
    talk.say(Role::User, "Fix it, and add a test.");
    talk.check();
    talk.shown("compacted");
    let src = Sources {
        texts: &talk.texts,
        counter: &Estimator,
    };
    let third = talk.thread.branch().path()[3];
    assert!(talk.thread.move_head(Some(third), src));
    talk.say(Role::User, "Leave it. Only tell me what reads ticks.");
    talk.shown("rewound below the record, and another way");
    insta::assert_snapshot!(talk.told);
}
