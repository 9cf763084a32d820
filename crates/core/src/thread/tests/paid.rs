//! What a call is reported to cost counts, whatever becomes of the call.

use super::super::*;
use super::economics::{Scene, at, model, routes};
use crate::effect::{CallNumber, Failure, Finish, Input, Reply, Route};
use crate::outcome::{Outcome, Reason, Report};
use crate::policy::{OnFailure, Options, Strategy};

/// Three dollars a million.
fn usage(input: u64) -> Usage {
    Usage {
        input,
        ..Usage::default()
    }
}

fn said(call: CallNumber, text: &str, input: Option<u64>) -> Input {
    let reply = Reply {
        text: text.into(),
        finish: Finish::Stop,
        usage: input.map(usage),
    };
    Input::Reply(call, reply)
}

fn broke(call: CallNumber) -> Input {
    let message = "the connection broke".into();
    Input::Failed(call, Failure::Unusable { message })
}

const GOOD: &str = "The beds one to nine were looked at.";

fn options() -> Options {
    Options {
        exempt_tools: vec!["look".into()],
        on_failure: Some(OnFailure::Unchanged),
        max_retries: Some(0),
        strategy: Some(Strategy::Transcript),
        ..at(20_000)
    }
}

/// The report, after the thread was charged with it.
fn ran(
    options: &Options,
    routes: &[Route],
    called: impl FnMut(CallNumber, &Route) -> Vec<Input>,
) -> (Report, Scene) {
    let mut scene = Scene::worked(options, &model(100_000), 12);
    let report = scene.check_with(0, routes, called);
    let spent = scene.thread.spent().thread_micros;
    assert_eq!(spent, report.measured.spent_micros, "{report:?}");
    (report, scene)
}

fn check(name: &str, called: impl FnMut(CallNumber, &Route) -> Vec<Input>, expect: (Outcome, u64)) {
    let (report, _) = ran(&options(), &routes(), called);
    let got = (report.outcome, report.measured.spent_micros);
    assert_eq!(got, expect, "{name}: {report:?}");
}

#[test]
fn whatever_becomes_of_a_call() {
    let used = |call, input| Input::Usage(call, usage(input));
    check(
        "a reply, as ever",
        |call, _| vec![said(call, GOOD, Some(20_000))],
        (Outcome::Compacted, 60_000),
    );
    check(
        "it failed after it had told",
        |call, _| vec![used(call, 20_000), broke(call)],
        (Outcome::Failed, 60_000),
    );
    check(
        "it was stopped after it had told",
        |call, _| vec![used(call, 20_000), Input::Cancel],
        (Outcome::Cancelled, 60_000),
    );
    check(
        "reports of one call grow, so they are not added",
        |call, _| vec![used(call, 10_000), used(call, 20_000), broke(call)],
        (Outcome::Failed, 60_000),
    );
    check(
        "what the reply says is one of them",
        |call, _| vec![used(call, 20_000), said(call, GOOD, Some(21_000))],
        (Outcome::Compacted, 63_000),
    );
    check(
        "a reply that says nothing takes nothing back",
        |call, _| vec![used(call, 20_000), said(call, GOOD, None)],
        (Outcome::Compacted, 60_000),
    );
    check(
        "a reply that is none is paid, too",
        |call, _| vec![said(call, "", Some(20_000))],
        (Outcome::Failed, 60_000),
    );
    check(
        "a reply after the failure",
        |call, _| vec![said(call, GOOD, Some(20_000)), used(call, 30_000)],
        (Outcome::Compacted, 90_000),
    );
    check(
        "a call that nobody made",
        |call, _| vec![used(CallNumber(call.0 + 7), 20_000), broke(call)],
        (Outcome::Failed, 0),
    );
}

/// The first model took its money and broke: what is left is not enough for the second.
#[test]
fn a_failed_call_counts_for_the_cap() {
    let mut both = routes();
    both[0].model = Some("sonnet".into());
    both.push(Route {
        model: None,
        ..both[0].clone()
    });
    for (cap, calls) in [(None, 2), (Some(200_000), 1)] {
        let options = Options {
            max_thread_micros: cap,
            ..options()
        };
        let (report, scene) = ran(&options, &both, |call, _| {
            vec![Input::Usage(call, usage(60_000)), broke(call)]
        });
        assert_eq!(scene.calls, calls, "{report:?}");
        assert_eq!(report.measured.spent_micros, 180_000 * calls as u64);
        let is_said = report.reasons.contains(&Reason::SpendCap);
        assert_eq!(is_said, cap.is_some(), "{report:?}");
    }
}
