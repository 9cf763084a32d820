//! A compaction from its trigger to the request that it leaves, with a model that answers well, badly or not at all.

use super::*;

#[test]
fn a_trigger_starts_a_compaction_and_the_record_shapes_the_request() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let report = scene.check(&Scene::routes());
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(scene.shown(), "0 [summary] 7 8");
    assert_eq!(scene.calls, 1);
    assert!(report.measured.tokens_after.unwrap() < report.measured.tokens_before);
    assert_eq!(
        report.measured.messages_before - report.measured.messages_removed,
        3
    );
    let record = scene.thread.active().unwrap();
    assert_eq!(
        record.summary.as_ref().unwrap().author,
        Author::Model(Some("m".into()))
    );
    // The request after it extends these bytes.
    scene.say(&["u fourth"]);
    assert_eq!(scene.shown(), "0 [summary] 7 8 9");
    // At once again: nothing is called, nothing changes.
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Skipped);
    assert_eq!(scene.calls, 1);
    let starts = scene
        .events
        .iter()
        .filter(|e| matches!(e, Event::Started { .. }))
        .count();
    let stops = scene
        .events
        .iter()
        .filter(|e| matches!(e, Event::Stopped { .. }))
        .count();
    assert_eq!((starts, stops), (1, 1));
}

#[test]
fn below_the_trigger_nothing_happens() {
    let mut scene = Scene::new(&options(tokens(30_000), 2), &LONG);
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Skipped);
    let mut off = Scene::new(&options(None, 2), &LONG);
    assert_eq!(off.check(&Scene::routes()).outcome, Outcome::Disabled);
    assert!(scene.thread.projection().is_untouched() && off.thread.projection().is_untouched());
    assert_eq!((scene.calls, off.calls), (0, 0));
}

#[test]
fn without_a_model_the_digest_is_the_summary() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let report = scene.check(&[]);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    assert_eq!(
        scene
            .thread
            .active()
            .unwrap()
            .summary
            .as_ref()
            .unwrap()
            .author,
        Author::Digest
    );
}

#[test]
fn failure_changes_nothing_and_opens_the_breaker() {
    let mut options = options(tokens(300), 2);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &LONG);
    scene.model = Box::new(|_, _| {
        Err(Failure::Unusable {
            message: "no such model".into(),
        })
    });
    let before = scene.shown();
    for _ in 0..3 {
        let report = scene.check(&Scene::routes());
        assert_eq!(report.outcome, Outcome::Failed);
        assert!(matches!(report.failure, Some(Failure::Unusable { .. })));
    }
    assert_eq!(scene.shown(), before);
    assert_eq!(scene.calls, 3);
    let report = scene.check(&Scene::routes());
    assert_eq!(
        (report.outcome, report.reasons),
        (Outcome::Deferred, vec![Reason::BreakerOpen])
    );
    assert_eq!(scene.calls, 3);
    // A command is let through and closes it.
    scene.model = Box::new(|_, _| Ok(reply("Better now.")));
    let command = Manual {
        routes: Scene::routes(),
        ..Manual::default()
    };
    assert_eq!(scene.command(&command).outcome, Outcome::Compacted);
    assert_eq!(scene.thread.breaker(), BreakerState::default());
}

#[test]
fn bad_answers_are_repaired_once_and_then_replaced() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    scene.model = Box::new(|call, input| {
        let SummaryInput::Transcript { system, .. } = input else {
            panic!("a transcript was asked for")
        };
        assert_eq!(system.contains("could not be used"), call == 2);
        Ok(reply(if call == 1 { "  " } else { "Repaired." }))
    });
    assert_eq!(scene.check(&Scene::routes()).outcome, Outcome::Compacted);
    assert_eq!(scene.calls, 2);
    let mut blank = Scene::new(&options(tokens(300), 2), &LONG);
    blank.model = Box::new(|_, _| Ok(reply("")));
    let report = blank.check(&Scene::routes());
    assert_eq!((report.outcome, blank.calls), (Outcome::Compacted, 2));
    assert!(report.reasons.contains(&Reason::DigestAfterFailure));
}

#[test]
fn no_summary_is_a_failure_and_one_that_is_no_gain_is_rejected() {
    for (text, expect) in [
        ("", Outcome::Failed),
        ("<tool_call>{}</tool_call>", Outcome::Failed),
        (&"words ".repeat(400), Outcome::Rejected),
    ] {
        let mut options = options(tokens(300), 2);
        options.on_failure = Some(crate::policy::OnFailure::Unchanged);
        options.max_summary_tokens = Some(290);
        let mut scene = Scene::new(&options, &LONG);
        let said = reply(text);
        scene.model = Box::new(move |_, _| Ok(said.clone()));
        assert_eq!(scene.check(&Scene::routes()).outcome, expect, "{text}");
    }
}

#[test]
fn a_long_conversation_is_covered_by_chunks() {
    let lines: Vec<String> = (0..40)
        .map(|n| format!("u fact{n} x30"))
        .chain(["a ok".into(), "u now".into()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut scene = Scene::new(&options(tokens(1000), 1), &lines);
    let seen = Arc::new(std::sync::Mutex::new(String::new()));
    let sink = seen.clone();
    scene.model = Box::new(move |call, input| {
        let SummaryInput::Transcript { document, .. } = input else {
            panic!("a transcript was asked for")
        };
        sink.lock().unwrap().push_str(document);
        if call == 1 {
            Err(Failure::TOO_LARGE)
        } else {
            Ok(reply(&format!("part {call}")))
        }
    });
    let routes = vec![Route {
        model: None,
        replay: false,
        max_input: 1_200,
        max_output: 500,
        takes_schema: false,
    }];
    let report = scene.check(&routes);
    assert_eq!(report.outcome, Outcome::Compacted, "{report:?}");
    let seen = seen.lock().unwrap();
    assert!((0..39).all(|n| seen.contains(&format!("fact{n}"))));
    assert!(scene.calls > 2);
}

#[test]
fn what_is_on_its_way_is_kept_when_a_chunk_fails() {
    let lines: Vec<String> = (0..40).map(|n| format!("u fact{n} x30")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut options = options(tokens(1000), 1);
    options.max_retries = Some(0);
    options.on_failure = Some(crate::policy::OnFailure::Unchanged);
    let mut scene = Scene::new(&options, &[&lines[..], &["a ok", "u now"]].concat());
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let mut routes = Scene::routes();
    routes[0].max_input = 1_200;
    let Decision::Start(mut attempt, _) = scene.thread.before_call(0, &routes, src) else {
        panic!("the trigger is reached");
    };
    let effects = |attempt: &mut Attempt| {
        let (mut calls, mut kept) = (Vec::new(), 0);
        loop {
            match attempt.poll(0, src) {
                Poll::Do(Effect::Call { call, .. }) => calls.push(call),
                Poll::Do(Effect::CacheGet(key)) => {
                    attempt.feed(0, Input::Cached(key, None), src);
                }
                Poll::Do(Effect::CachePut(..)) => kept += 1,
                Poll::Do(Effect::Abort(_)) => panic!("nobody stops a call that may still end well"),
                Poll::Do(_) => {}
                Poll::Idle => return (calls, kept, None),
                Poll::Done(report) => return (calls, kept, Some(report.outcome)),
            }
        }
    };
    let (calls, ..) = effects(&mut attempt);
    let [first, second, third] = calls[..3] else {
        panic!("three at a time: {calls:?}");
    };
    attempt.feed(0, Input::Reply(first, reply("part one")), src);
    let (more, kept, ended) = effects(&mut attempt);
    assert_eq!((kept, ended), (1, None));
    let broken = || Failure::Unusable {
        message: "no".into(),
    };
    attempt.feed(0, Input::Failed(second, broken()), src);
    assert_eq!(effects(&mut attempt), (vec![], 0, None), "no further call");
    attempt.feed(0, Input::Reply(third, reply("part three")), src);
    assert_eq!(effects(&mut attempt), (vec![], 1, None));
    for call in calls[3..].iter().chain(&more) {
        attempt.feed(0, Input::Failed(*call, broken()), src);
    }
    assert_eq!(effects(&mut attempt).2, Some(Outcome::Failed));
}

#[test]
fn an_inputs_log_replays_to_the_same_state() {
    let mut scene = Scene::new(&options(tokens(300), 2), &LONG);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let Decision::Start(attempt, _) = scene.thread.before_call(0, &Scene::routes(), src) else {
        panic!("no start")
    };
    let mut again = *attempt.clone();
    let report = scene.run(*attempt);
    let src = Sources {
        texts: &scene.said,
        counter: &QuarterBytes,
    };
    let mut log = scene.log.iter();
    let replayed = loop {
        match again.poll(0, src) {
            Poll::Done(report) => break *report,
            Poll::Do(_) => {}
            Poll::Idle => again.feed(0, log.next().expect("the log is complete").clone(), src),
        }
    };
    assert_eq!(replayed, report);
}
