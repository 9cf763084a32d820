use std::sync::Mutex;

use super::*;
use crate::effect::Refusal;
use crate::policy::{PrefixCache, Strategy};
use crate::way::Why;

/// What a call was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Conversation,
    Transcript,
}

/// A thread whose provider keeps what it was sent a moment ago.
fn scene(strategy: Strategy) -> Scene {
    let options = Options {
        strategy: Some(strategy),
        ..options(tokens(300), 2)
    };
    let model = ModelProfile {
        cache: Some(PrefixCache {
            ttl_ms: 60_000,
            minimum_tokens: 0,
        }),
        ..ModelProfile::default()
    };
    let policy = Policy::resolve(&options, &model).unwrap().policy;
    let mut scene = Scene::new(&options, &[]);
    scene.thread = Thread::new(Arc::new(policy));
    scene.thread.sent(0);
    scene.say(&LONG);
    scene
}

fn own(max_input: u64) -> Vec<Route> {
    vec![Route {
        model: None,
        replay: true,
        max_input,
        ..Scene::routes().remove(0)
    }]
}

/// The calls that are made when the conversation itself is answered like this.
fn asked(
    scene: &mut Scene,
    routes: &[Route],
    answer: fn() -> Result<Reply, Failure>,
) -> (Report, Vec<Given>) {
    let given = Arc::new(Mutex::new(Vec::new()));
    let log = given.clone();
    scene.model = Box::new(move |_, input| match input {
        SummaryInput::Replay { .. } => {
            log.lock().unwrap().push(Given::Conversation);
            answer()
        }
        SummaryInput::Transcript { .. } => {
            log.lock().unwrap().push(Given::Transcript);
            Ok(reply("The story so far."))
        }
    });
    let report = scene.check(routes);
    let given = given.lock().unwrap().clone();
    (report, given)
}

fn good() -> Result<Reply, Failure> {
    Ok(reply("The story so far."))
}

#[test]
fn the_conversation_is_replayed_while_it_is_warm_and_it_is_said_why() {
    use Given::{Conversation, Transcript};
    let replayed = |why| Some(Reason::Replayed(why));
    let transcribed = |why| Some(Reason::Transcribed(why));
    for (strategy, routes, given, why) in [
        (
            Strategy::Auto,
            own(40_000),
            Conversation,
            replayed(Why::Cache),
        ),
        (
            Strategy::Auto,
            own(300),
            Transcript,
            transcribed(Why::TooLarge),
        ),
        (
            Strategy::Auto,
            Scene::routes(),
            Transcript,
            transcribed(Why::NotPossible),
        ),
        (Strategy::Replay, own(40_000), Conversation, None),
        (Strategy::Transcript, own(40_000), Transcript, None),
    ] {
        let mut scene = scene(strategy);
        let (report, asked) = asked(&mut scene, &routes, good);
        assert_eq!(report.outcome, Outcome::Compacted);
        assert_eq!(asked.first(), Some(&given), "{strategy:?}");
        let is_way = |r: &&Reason| matches!(r, Reason::Replayed(_) | Reason::Transcribed(_));
        assert_eq!(
            report.reasons.iter().find(is_way).cloned(),
            why,
            "{strategy:?}"
        );
        let record = scene.thread.active().expect("a record");
        assert_eq!(record.why.iter().find(is_way).cloned(), why, "{strategy:?}");
    }
}

/// What is left to the engine goes on with a transcript; what was told is kept to.
#[test]
fn a_conversation_that_is_not_taken_is_told_as_a_transcript() {
    use Given::{Conversation, Transcript};
    let wrong: fn() -> Result<Reply, Failure> = || {
        let message = "no such field".into();
        Err(Failure::Unusable { message })
    };
    let large = || Err(Failure::TOO_LARGE);
    let calls = || {
        Ok(Reply {
            finish: Finish::ToolCalls,
            ..reply("")
        })
    };
    let refused = Some(Why::Refused);
    for (strategy, answer, expect, why) in [
        (
            Strategy::Auto,
            wrong,
            vec![Conversation, Transcript],
            refused,
        ),
        (
            Strategy::Auto,
            large,
            vec![Conversation, Transcript],
            Some(Why::TooLarge),
        ),
        // a call is asked against once, then the tools are taken away with the conversation
        (
            Strategy::Auto,
            calls,
            vec![Conversation, Conversation, Transcript],
            refused,
        ),
        (
            Strategy::Replay,
            large,
            vec![Conversation, Transcript],
            Some(Why::TooLarge),
        ),
        (Strategy::Replay, wrong, vec![Conversation], None),
        (
            Strategy::Replay,
            calls,
            vec![Conversation, Conversation],
            None,
        ),
    ] {
        let mut scene = scene(strategy);
        let (report, asked) = asked(&mut scene, &own(40_000), answer);
        assert_eq!(asked, expect, "{strategy:?}");
        match why {
            Some(why) => assert!(
                report.reasons.contains(&Reason::Transcribed(why)),
                "{:?}",
                report.reasons
            ),
            None => assert!(report.reasons.contains(&Reason::DigestAfterFailure)),
        }
    }
    let mut last = scene(Strategy::Replay);
    let (report, _) = asked(&mut last, &own(40_000), calls);
    assert_eq!(
        report.failure,
        Some(Failure::NotASummary(Refusal::ToolCall))
    );
}

#[test]
fn the_instruction_behind_a_conversation_stops_the_work() {
    let mut scene = scene(Strategy::Replay);
    let seen = Arc::new(Mutex::new(String::new()));
    let log = seen.clone();
    scene.model = Box::new(move |_, input| {
        if let SummaryInput::Replay { instruction, .. } = input {
            *log.lock().unwrap() = instruction.to_string();
        }
        good()
    });
    // A schema would make it another request.
    let mut routes = own(40_000);
    routes[0].takes_schema = true;
    assert_eq!(scene.check(&routes).outcome, Outcome::Compacted);
    let seen = seen.lock().unwrap();
    assert!(seen.starts_with("The work stops here"), "{seen}");
    assert!(!seen.contains("`open_questions`"), "{seen}");
}
