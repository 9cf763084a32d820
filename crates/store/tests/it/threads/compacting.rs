//! Compacting: one at a time, nothing lost, every start with its end.

use conspectus::core::outcome::{Moment, Outcome};
use conspectus::store::{Mark, ThreadStore as _};
use conspectus::telemetry::Event;
use conspectus::threads::{CompactThread, CreateThread, ThreadEvent};
use conspectus::{Clock as _, Control};
use conspectus_core::effect::Fence;
use conspectus_core::id::AttemptId;
use conspectus_testkit::model::Behaviour;

use super::faulty::Fault;
use super::world::{World, both, everywhere, human, one, said, talk};

fn compact() -> CompactThread {
    CompactThread::default()
}

/// One start and one end, in this order.
fn check_telemetry(world: &World, end: &str) -> Event {
    let told = world.told();
    let names: Vec<_> = told.iter().map(|event| event.name()[2]).collect();
    assert_eq!(names, ["start", end], "{told:?}");
    told.into_iter().next_back().expect("an end")
}

#[test]
fn a_compaction_marks_tells_commits_tells_and_unmarks() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.done();
        let compacted = world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        assert_eq!(compacted.outcome, Outcome::Compacted);
        assert_eq!(
            (
                compacted.removed_message_count,
                compacted.preserved_message_count
            ),
            (56, 4)
        );
        assert!(compacted.summary_updated && compacted.checkpoint_id.is_some());
        assert_eq!(
            world.done(),
            [
                "mark",
                "write []",
                "emit compaction.start",
                r#"commit ["progress", "committed"]"#,
                r#"write ["compaction.stop"]"#,
                "unmark",
                "release",
            ]
        );
        let Event::Stop(stop) = check_telemetry(&world, "stop") else {
            panic!("no stop");
        };
        assert!(stop.metadata.llm_called && stop.metadata.summarized);
        assert_eq!(stop.metadata.called.model.as_deref(), Some("m"));
        assert_eq!(stop.metadata.start.messages_before, 60);
        assert_eq!(stop.metadata.messages_after, Some(4));
        assert_eq!(stop.measurements.duration, 700);
        let after = stop.measurements.bytes_after.expect("bytes");
        assert!(after < stop.measurements.bytes_before / 4, "{after}");
        world.run(async {
            let state = threads.state(&world.key, None).await.expect("a state");
            assert_eq!(Some(state.checkpoint_id), compacted.checkpoint_id);
            assert_eq!(state.values.messages.len(), 4);
            assert_eq!(state.values.summary_text, compacted.summary_text);
            assert_eq!(state.values.summary_count, 1);
            assert_eq!(state.values.compaction_in_progress, None);
            let history = threads
                .history(&world.key, 10, None)
                .await
                .expect("a history");
            assert_eq!(history.len(), 2);
            assert_eq!(history[0], state);
            assert_eq!(history[1].values.messages.len(), 60);
            assert_eq!(Some(history[1].checkpoint_id), history[0].parent);
            for state in &history {
                let again = threads.state(&world.key, Some(state.checkpoint_id)).await;
                assert_eq!(again.as_ref(), Ok(state));
            }
            let status = threads.status(&world.key).await.expect("a status");
            let last = status.last.expect("an attempt");
            assert_eq!(
                (last.outcome, last.moment),
                (Outcome::Compacted, Moment::Manual)
            );
            let log = threads.log(&world.key, 10).await.expect("a log");
            assert_eq!(log.len(), 1);
            assert!(log[0].active && log[0].summary_text.is_some());
            // At once again there is nothing to do, and nothing is told.
            let again = threads.compact(&world.key, &compact()).await.expect("run");
            assert_eq!(again.outcome, Outcome::NothingToCompact);
        });
        assert_eq!(world.model.asked().len(), 1);
        assert_eq!(
            world.events(&threads),
            [
                "created",
                "appended",
                "compaction.start",
                "progress",
                "committed",
                "compaction.stop"
            ]
        );
    });
}

#[test]
fn two_processes_make_one_summary() {
    everywhere(|world| {
        let one = world.talked(30);
        let two = world.threads("two");
        let ask = compact();
        let (a, b) = world.run(both(
            one.compact(&world.key, &ask),
            two.compact(&world.key, &ask),
        ));
        let outcomes = [a, b].map(|c| c.expect("run").outcome);
        assert_eq!(outcomes, [Outcome::Compacted, Outcome::Conflict]);
        assert_eq!(world.model.asked().len(), 1);
        check_telemetry(&world, "stop");
        // The lease was given back.
        let again = world.run(two.compact(&world.key, &ask)).expect("run");
        assert_eq!(again.outcome, Outcome::NothingToCompact);
    });
}

#[test]
fn messages_that_come_meanwhile_stand_behind_the_summary() {
    everywhere(|world| {
        let threads = world.talked(30);
        let other = world.threads("two");
        let late = async {
            world.time.sleep_until(300).await;
            other.append(&world.key, &talk(30, 2)).await
        };
        let ask = compact();
        let (compacted, appended) = world.run(both(threads.compact(&world.key, &ask), late));
        assert_eq!(appended.expect("appended").new, 4);
        assert_eq!(compacted.expect("run").outcome, Outcome::Compacted);
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(state.values.messages.len(), 8);
        assert_eq!(state.values.summary_count, 1);
        assert_eq!(world.model.asked().len(), 1);
        let visible = world.run(threads.visible(&world.key, &Default::default()));
        assert_eq!(visible.expect("visible").total, 64);
    });
}

#[test]
fn an_undo_meanwhile_is_a_conflict() {
    everywhere(|world| {
        let threads = world.talked(30);
        world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        world
            .run(threads.append(&world.key, &talk(30, 20)))
            .expect("appended");
        world.told();
        let meanwhile = async {
            world.time.sleep_until(world.time.now() + 300).await;
            threads.undo(&world.key).await
        };
        let ask = compact();
        let (compacted, undone) = world.run(both(threads.compact(&world.key, &ask), meanwhile));
        assert!(undone.is_ok());
        assert_eq!(compacted.expect("run").outcome, Outcome::Conflict);
        check_telemetry(&world, "stop");
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(
            (state.values.messages.len(), state.values.summary_count),
            (100, 0)
        );
    });
}

#[test]
fn a_lost_acknowledgement_is_looked_up_and_never_repeated() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.store.fail_commits([Fault::Lost]);
        world.done();
        let compacted = world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        assert_eq!(compacted.outcome, Outcome::Compacted);
        let done = world.done();
        let commits = done
            .iter()
            .filter(|what| what.starts_with("commit"))
            .count();
        assert_eq!(
            (commits, done.contains(&"look up".to_owned())),
            (1, true),
            "{done:?}"
        );
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(Some(state.checkpoint_id), compacted.checkpoint_id);
        assert_eq!(state.values.summary_count, 1);
        check_telemetry(&world, "stop");
    });
}

#[test]
fn a_store_that_fails_changes_nothing() {
    everywhere(|world| {
        let threads = world.talked(30);
        let before = world.run(threads.state(&world.key, None)).expect("a state");
        world
            .store
            .fail_commits([Fault::Fails(conspectus::store::StoreError::Full)]);
        let compacted = world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        assert_eq!(compacted.outcome, Outcome::Failed);
        let after = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(after, before);
        check_telemetry(&world, "stop");
        // What was paid for is not paid for again.
        let again = world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        assert_eq!(again.outcome, Outcome::Compacted);
        assert_eq!(world.model.asked().len(), 1);
    });
}

#[test]
fn a_model_that_panics_is_a_failed_attempt() {
    everywhere(|world| {
        let world = world.behaving(Behaviour::Panic);
        let threads = world.talked(30);
        let compacted = world
            .run(threads.compact(&world.key, &compact()))
            .expect("run");
        assert_eq!(compacted.outcome, Outcome::Failed);
        assert!(compacted.failure.is_some());
        let Event::Stop(stop) = check_telemetry(&world, "stop") else {
            panic!("no stop");
        };
        assert!(stop.metadata.llm_called && !stop.metadata.summarized);
        assert_eq!(stop.metadata.messages_after, None);
        let info = world.run(threads.get(&world.key)).expect("there");
        assert_eq!(info.compaction_in_progress, None);
    });
}

#[test]
fn a_long_attempt_keeps_its_lease() {
    everywhere(|world| {
        let world = world.behaving(Behaviour::Slow {
            ms: 100_000,
            then: Box::new(Behaviour::text("The valve was turned a little.")),
        });
        let threads = world.talked(30);
        let other = world.threads("two");
        let ask = compact();
        let meanwhile = async {
            let mut outcomes = Vec::new();
            for at in [20_000, 50_000, 95_000] {
                world.time.sleep_until(at).await;
                outcomes.push(other.compact(&world.key, &ask).await.expect("run").outcome);
            }
            outcomes
        };
        let (compacted, outcomes) = world.run(both(threads.compact(&world.key, &ask), meanwhile));
        assert_eq!(compacted.expect("run").outcome, Outcome::Compacted);
        assert_eq!(outcomes, [Outcome::Conflict; 3]);
        assert_eq!(world.model.asked().len(), 1);
    });
}

#[test]
fn what_a_dead_process_left_is_told_and_cleared() {
    everywhere(|world| {
        let threads = world.talked(30);
        // The process dies in the middle: nobody polls its attempt any more.
        let dead = world.threads("dead");
        let ask = compact();
        let mut attempt = Box::pin(dead.compact(&world.key, &ask));
        let started = std::future::poll_fn(|cx| {
            assert!(attempt.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        });
        world.run(started);
        std::mem::forget(attempt);
        let info = world.run(threads.get(&world.key)).expect("there");
        let mark = info.compaction_in_progress.expect("it stays");
        let too_early = world.run(threads.compact(&world.key, &ask)).expect("run");
        assert_eq!(too_early.outcome, Outcome::Conflict);
        world.wait();
        let compacted = world.run(threads.compact(&world.key, &ask)).expect("run");
        assert_eq!(compacted.outcome, Outcome::Compacted);
        let events = world
            .run(threads.events(&world.key, 0, 100))
            .expect("events");
        let known: Vec<_> = events.iter().filter_map(|told| told.known()).collect();
        assert!(
            known.contains(&ThreadEvent::Abandoned { mark }),
            "{known:?}"
        );
        assert_eq!(
            world.events(&threads),
            [
                "created",
                "appended",
                "compaction.start",
                "abandoned",
                "compaction.start",
                "progress",
                "committed",
                "compaction.stop",
            ]
        );
        let info = world.run(threads.get(&world.key)).expect("there");
        assert_eq!(info.compaction_in_progress, None);
    });
}

#[test]
fn an_attempt_whose_lease_was_taken_over_commits_nothing() {
    everywhere(|world| {
        let world = world.behaving(Behaviour::Slow {
            ms: 5_000,
            then: Box::new(Behaviour::text("The valve was turned a little.")),
        });
        let threads = world.talked(30);
        let ask = compact();
        let thief = async {
            world.time.sleep_until(1_000).await;
            // As if its clock had stood still for a minute.
            let taken = world
                .store
                .acquire(&world.key, "thief", 60_000, 100_000)
                .await;
            let mark = Mark {
                attempt: AttemptId(99),
                fence: Fence(2),
                since_ms: 0,
            };
            world
                .store
                .mark(&world.key, Fence(2), Some(mark))
                .await
                .expect("marked");
            taken
        };
        let (compacted, taken) = world.run(both(threads.compact(&world.key, &ask), thief));
        // PostgreSQL goes by its own clock, where nobody can steal.
        let is_stolen = matches!(taken, Ok(conspectus::store::Lease::Held { .. }));
        let outcome = compacted.expect("run").outcome;
        let expect = if is_stolen {
            Outcome::Conflict
        } else {
            Outcome::Compacted
        };
        assert_eq!(outcome, expect);
        if is_stolen {
            let info = world.run(threads.get(&world.key)).expect("there");
            assert_eq!(
                info.compaction_in_progress.expect("the thief's").attempt,
                AttemptId(99)
            );
        }
    });
}

#[test]
fn it_can_be_stopped() {
    everywhere(|world| {
        let threads = world.talked(30);
        let control = Control::new();
        let ask = compact();
        let stop = async {
            world.time.sleep_until(100).await;
            control.cancel();
        };
        let run = threads.compact_with(&world.key, &ask, &control);
        let (compacted, ()) = world.run(both(run, stop));
        assert_eq!(compacted.expect("run").outcome, Outcome::Cancelled);
        check_telemetry(&world, "stop");
        let info = world.run(threads.get(&world.key)).expect("there");
        assert_eq!(info.compaction_in_progress, None);
    });
}

#[test]
fn the_model_is_the_one_of_the_request_then_the_agents_then_the_default() {
    everywhere(|world| {
        let threads = world.threads("one");
        let asked = || (world.model.asked().len(), world.other.asked().len());
        world.run(async {
            let create = CreateThread {
                agent_name: Some("scribe".into()),
                ..CreateThread::default()
            };
            threads.create(&world.key, create).await.expect("made");
            let mut round = 0;
            for (model_name, agent_name, expect) in [
                (None, None, (0, 1)),
                (Some("m"), None, (1, 1)),
                (Some("nobody knows it"), Some("scribe"), (2, 1)),
                (None, Some("somebody else"), (3, 1)),
                (Some(" "), Some("scribe"), (3, 2)),
            ] {
                threads
                    .append(&world.key, &talk(round, 30))
                    .await
                    .expect("appended");
                round += 30;
                let ask = CompactThread {
                    model_name: model_name.map(Into::into),
                    agent_name: agent_name.map(Into::into),
                    ..compact()
                };
                let compacted = threads.compact(&world.key, &ask).await.expect("run");
                assert_eq!(compacted.outcome, Outcome::Compacted);
                assert_eq!(asked(), expect, "{model_name:?} {agent_name:?}");
            }
        });
    });
}

#[test]
fn there_is_nothing_to_do_without_messages_or_below_the_trigger() {
    everywhere(|world| {
        let threads = world.threads("one");
        world.run(async {
            let missing = threads.compact(&world.key, &compact()).await;
            assert_eq!(said(missing), "Thread thread-1 not found");
            threads
                .create(&world.key, CreateThread::default())
                .await
                .expect("made");
            let empty = threads.compact(&world.key, &compact()).await.expect("run");
            assert_eq!(empty.outcome, Outcome::NothingToCompact);
            threads
                .append(&world.key, &one(human("h", "hi")))
                .await
                .expect("appended");
            let short = threads.compact(&world.key, &compact()).await.expect("run");
            assert_eq!(short.outcome, Outcome::NothingToCompact);
            let gentle = CompactThread {
                force: false,
                ..compact()
            };
            let below = threads.compact(&world.key, &gentle).await.expect("run");
            assert_eq!(below.outcome, Outcome::Skipped);
            let check = threads
                .compact(&world.key, &CompactThread::check())
                .await
                .expect("run");
            assert_eq!(check.outcome, Outcome::Skipped);
        });
        assert_eq!(world.told(), []);
        assert_eq!(world.events(&threads), ["created", "appended"]);
    });
}

#[test]
fn the_breaker_outlives_the_process() {
    everywhere(|world| {
        let error = Behaviour::Error {
            status: 400,
            message: "no".into(),
        };
        let world = world.behaving(error);
        let threads = world.talked(60);
        let check = CompactThread::check();
        let outcomes: Vec<_> = (0..4)
            .map(|n| {
                // Each by another process.
                let threads = world.threads(&format!("p{n}"));
                world
                    .run(threads.compact(&world.key, &check))
                    .expect("run")
                    .outcome
            })
            .collect();
        let (failed, deferred) = (Outcome::Failed, Outcome::Deferred);
        assert_eq!(outcomes, [failed, failed, failed, deferred]);
        let status = world.run(threads.status(&world.key)).expect("a status");
        assert!(
            status.breaker.open && status.breaker.failures == 3,
            "{:?}",
            status.breaker
        );
        assert_eq!(status.last.expect("an attempt").outcome, Outcome::Failed);
    });
}

#[test]
fn a_pinned_message_stays_and_a_pin_meanwhile_is_a_conflict() {
    everywhere(|world| {
        let threads = world.talked(30);
        let other = world.threads("two");
        let ask = compact();
        let pin = async {
            world.time.sleep_until(300).await;
            other.pin(&world.key, "h3").await
        };
        let (compacted, pinned) = world.run(both(threads.compact(&world.key, &ask), pin));
        assert_eq!(pinned, Ok(()));
        assert_eq!(compacted.expect("run").outcome, Outcome::Conflict);
        let again = world.run(threads.compact(&world.key, &ask)).expect("run");
        assert_eq!(again.outcome, Outcome::Compacted);
        let state = world.run(threads.state(&world.key, None)).expect("a state");
        assert_eq!(state.values.messages.len(), 5);
        assert!(state.values.messages[0].as_str().contains("h3"));
        // One that is folded can be pinned for later.
        assert_eq!(world.run(threads.pin(&world.key, "h4")), Ok(()));
        world.run(threads.undo(&world.key)).expect("undone");
        let visible = world
            .run(threads.visible(&world.key, &Default::default()))
            .expect("visible");
        let pinned: Vec<_> = visible.messages.iter().filter(|m| m.pinned).collect();
        assert_eq!(pinned.len(), 2);
        assert_eq!(
            said(world.run(threads.pin(&world.key, "nobody"))),
            "there is no message \"nobody\" in this thread"
        );
    });
}

#[test]
fn what_was_shortened_is_read_back_by_its_reference() {
    everywhere(|world| {
        let threads = world.threads("one");
        world.run(async {
            let key = &world.key;
            threads.create(key, CreateThread::default()).await.expect("made");
            let long = format!("first line {} last line", "of a very long log ".repeat(1_500));
            let messages = [
                serde_json::json!({"type": "human", "content": "read the log", "id": "h"}),
                serde_json::json!({"type": "ai", "content": "", "id": "c",
                    "tool_calls": [{"name": "read", "args": {"path": "log"}, "id": "1", "type": "tool_call"}]}),
                serde_json::json!({"type": "tool", "content": long, "tool_call_id": "1", "id": "r"}),
                serde_json::json!({"type": "ai", "content": "it is long", "id": "a"}),
            ];
            let append = conspectus::threads::Append {
                messages: messages.iter().map(super::world::json).collect(),
                ..Default::default()
            };
            threads.append(key, &append).await.expect("appended");
            threads.append(key, &talk(0, 3)).await.expect("appended");
            let compacted = threads.compact(key, &compact()).await.expect("run");
            assert_eq!(compacted.outcome, Outcome::Pruned, "{compacted:?}");
            let state = threads.state(key, None).await.expect("a state");
            let shown = state.values.messages[2].as_str();
            assert!(shown.len() < 12_000 && shown.contains("\"id\":\"r\""), "{}", shown.len());
            let at = shown.find("cx-").expect("a reference");
            let recall = conspectus::threads::Recall::Reference {
                reference: shown[at..at + 15].into(),
            };
            let found = threads.recall(key, &recall).await.expect("found");
            assert_eq!(found[0].text.as_deref(), Some(long.as_str()));
            assert_eq!(found[0].id.as_deref(), Some("r"));
            let visible = threads.visible(key, &Default::default()).await.expect("visible");
            assert!(visible.messages[2].shortened && visible.messages[2].message.as_str().contains(&long));
        });
    });
}
