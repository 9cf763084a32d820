//! Finding again what was folded, and previews.

use conspectus::core::outcome::Outcome;
use conspectus::threads::{
    About, Append, CompactThread, CreateThread, Purge, Recall, Recalled, ThreadsError,
};
use serde_json::{Value, json};

use super::world::{World, everywhere, human, json as message, one, said, talk};

fn call(id: &str, tool: &str, args: &Value) -> Value {
    json!({"type": "ai", "content": "", "id": format!("c{id}"),
        "tool_calls": [{"name": tool, "args": args, "id": id, "type": "tool_call"}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"type": "tool", "content": text, "tool_call_id": id, "id": format!("r{id}"), "status": "success"})
}

fn ids(found: &[Recalled]) -> Vec<&str> {
    found.iter().filter_map(|one| one.id.as_deref()).collect()
}

#[test]
fn what_was_folded_is_found_by_words_and_by_id() {
    everywhere(|world| {
        let threads = world.talked(30);
        let words = |query: &str, folded_only| Recall::Words {
            query: query.into(),
            limit: 5,
            folded_only,
        };
        world.run(async {
            let key = &world.key;
            threads
                .compact(key, &CompactThread::default())
                .await
                .expect("run");
            let late = human("late", "is boiler 7 still warm?");
            threads.append(key, &one(late)).await.expect("appended");
            let found = threads
                .recall(key, &words("boiler 7", false))
                .await
                .expect("found");
            assert_eq!(ids(&found)[..2], ["late", "h7"]);
            assert_eq!((found[0].folded, found[1].folded), (false, true));
            assert!(
                found[0].hit
                    && found[1]
                        .message
                        .as_str()
                        .contains("turn the valve of boiler 7")
            );
            let folded = threads
                .recall(key, &words("boiler 7", true))
                .await
                .expect("found");
            assert_eq!(ids(&folded)[0], "h7");
            let none = threads.recall(key, &words("zeppelin", false)).await;
            assert_eq!(none, Ok(Vec::new()));
            let around = Recall::Id {
                id: "a7".into(),
                before: 1,
                after: 2,
            };
            let around = threads.recall(key, &around).await.expect("found");
            assert_eq!(ids(&around), ["h7", "a7", "h8", "a8"]);
            let hits: Vec<_> = around.iter().map(|one| one.hit).collect();
            assert_eq!(hits, [false, true, false, false]);
            assert_eq!(around[1].position, Some(15));
            let nobody = Recall::Id {
                id: "nobody".into(),
                before: 0,
                after: 0,
            };
            let error = threads.recall(key, &nobody).await;
            assert_eq!(error, Err(ThreadsError::NoMessage("nobody".into())));
        });
    });
}

#[test]
fn what_was_overtaken_says_so() {
    everywhere(|world| {
        let threads = world.threads("one");
        world.run(async {
            let key = &world.key;
            threads.create(key, CreateThread::default()).await.expect("made");
            let messages = [
                json!({"type": "human", "content": "Always write in British English.", "id": "rule"}),
                call("1", "read_file", &json!({"path": "src/valve.rs"})),
                result("1", "fn turn() {}"),
                call("2", "read_file", &json!({"path": "src/boiler.rs"})),
                result("2", "fn heat() {}"),
                call("3", "weather", &json!({"city": "Oslo"})),
                result("3", "rain"),
                json!({"type": "human", "content": "From now on write in American English.", "id": "other"}),
                call("4", "edit_file", &json!({"path": "src/valve.rs", "old": "turn", "new": "spin"})),
                result("4", "ok"),
                call("5", "weather", &json!({"city": "Oslo"})),
                result("5", "sun"),
            ];
            let append = Append {
                messages: messages.iter().map(message).collect(),
                ..Append::default()
            };
            threads.append(key, &append).await.expect("appended");
            let check = async |id: &str, expect: &[(About, &str)]| {
                let recall = Recall::Id {
                    id: id.into(),
                    before: 0,
                    after: 0,
                };
                let found = threads.recall(key, &recall).await.expect("found");
                let later = found[0].superseded_by.iter();
                let later: Vec<_> = later.map(|l| (l.about.clone(), l.id.as_deref().expect("an id"))).collect();
                assert_eq!(later, expect, "{id}");
            };
            check("r1", &[(About::File("src/valve.rs".into()), "c4")]).await;
            check("c1", &[(About::File("src/valve.rs".into()), "c4")]).await;
            check("r2", &[]).await;
            check("r3", &[(About::Call("weather".into()), "c5")]).await;
            check("r5", &[]).await;
            check("rule", &[(About::Rule("Always write in British English.".into()), "other")]).await;
            check("other", &[]).await;
        });
    });
}

fn dry() -> CompactThread {
    CompactThread {
        dry_run: true,
        ..CompactThread::default()
    }
}

#[test]
fn a_dry_run_is_put_in_force_later_without_paying_again() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let before = threads.state(key, None).await.expect("a state");
            let made = threads.compact(key, &dry()).await.expect("run");
            assert_eq!(
                (made.outcome, made.checkpoint_id),
                (Outcome::Compacted, None)
            );
            let name = made.preview.clone().expect("a name");
            let still = threads.state(key, None).await.expect("a state");
            assert_eq!(still, before);
            // What comes meanwhile is no conflict.
            threads.append(key, &talk(30, 1)).await.expect("appended");
            let other = world.threads("two");
            let applied = other.apply(key, &name).await.expect("applied");
            assert_eq!(applied.summary_text, made.summary_text);
            let after = threads.state(key, None).await.expect("a state");
            assert_eq!(Some(after.checkpoint_id), applied.checkpoint_id);
            assert_eq!(
                (after.values.messages.len(), after.values.summary_count),
                (6, 1)
            );
            let twice = threads.apply(key, &name).await;
            assert_eq!(twice, Err(ThreadsError::Stale(name)));
            let nothing = threads.apply(key, "nothing").await;
            assert_eq!(nothing, Err(ThreadsError::NoPreview("nothing".into())));
        });
        assert_eq!(world.model.asked().len(), 1);
    });
}

#[test]
fn a_preview_of_another_history_is_refused() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let made = threads.compact(key, &dry()).await.expect("run");
            let name = made.preview.expect("a name");
            threads
                .compact(key, &CompactThread::default())
                .await
                .expect("run");
            let refused = threads.apply(key, &name).await;
            assert_eq!(refused, Err(ThreadsError::Stale(name)));
            let told = world.told();
            let dry: Vec<_> = told.iter().filter(|e| !e.is_end()).collect();
            assert_eq!(dry.len(), 2);
        });
    });
}

#[test]
fn what_is_purged_is_nowhere_any_more() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let secret = "hunter2-hunter2";
            let said = human("secret", &format!("the password of the boiler is {secret}"));
            threads.append(key, &one(said)).await.expect("appended");
            threads.append(key, &talk(30, 10)).await.expect("appended");
            threads
                .compact(key, &CompactThread::default())
                .await
                .expect("run");
            let purged = threads
                .purge(key, &Purge::Secret(secret.into()))
                .await
                .expect("purged");
            assert_eq!(purged.messages, ["secret".into()]);
            let export = threads.export(key).await.expect("an export");
            assert!(!export.contains(secret));
            let words = Recall::Words {
                query: secret.into(),
                limit: 5,
                folded_only: false,
            };
            assert_eq!(threads.recall(key, &words).await, Ok(Vec::new()));
            let gone = threads
                .purge(key, &Purge::Message("a7".into()))
                .await
                .expect("purged");
            assert!(gone.withdrawn, "{gone:?}");
            let state = threads.state(key, None).await.expect("a state");
            assert_eq!(
                (state.checkpoint_id, state.values.summary_count),
                (gone.checkpoint_id, 0)
            );
            let a7 = state
                .values
                .messages
                .iter()
                .find(|m| m.as_str().contains("\"a7\""));
            assert!(!a7.expect("a tombstone").as_str().contains("step 7"));
            let again = threads
                .compact(key, &CompactThread::default())
                .await
                .expect("run");
            assert_eq!(again.outcome, Outcome::Compacted);
            let nobody = threads.purge(key, &Purge::Message("nobody".into())).await;
            assert_eq!(nobody, Err(ThreadsError::NoMessage("nobody".into())));
        });
    });
}

#[test]
fn threads_that_nobody_wrote_for_long_go() {
    everywhere(|world| {
        let threads = world.talked(1);
        world.run(async {
            conspectus::Clock::sleep_until(&world.time, 10_000).await;
            let fresh = conspectus::store::ThreadKey::new("t", "fresh");
            threads
                .create(&fresh, CreateThread::default())
                .await
                .expect("made");
            assert_eq!(
                threads.expire("t", 5_000).await,
                Ok(vec!["thread-1".into()])
            );
            assert_eq!(
                said(threads.get(&world.key).await),
                "Thread thread-1 not found"
            );
            assert_eq!(said(threads.get(&fresh).await), "ok");
        });
    });
}

/// The futures can be spawned.
#[test]
fn futures_can_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let store = conspectus_store::MemoryStore::default();
    let world = World::new(super::faulty::Faulty::new(std::sync::Arc::new(store)));
    let (threads, key) = (world.threads("one"), &world.key);
    check(threads.append(key, &talk(0, 1)));
    check(threads.compact(key, &dry()));
    check(threads.apply(key, "p"));
    check(threads.undo(key));
    check(threads.rewind(key, &conspectus::threads::Place::Message("x".into())));
    check(threads.branch(key, None, key, CreateThread::default()));
    check(threads.state(key, None));
    check(threads.history(key, 1, None));
    check(threads.visible(key, &Default::default()));
    check(threads.request(key));
    check(threads.status(key));
    check(threads.log(key, 1));
    check(threads.export(key));
    check(threads.import(key, ""));
    check(threads.list("t", &Default::default()));
    check(threads.create(key, CreateThread::default()));
    check(threads.patch(key, Default::default()));
    check(threads.expire("t", 1));
    check(threads.purge(key, &Purge::Message("x".into())));
    let recall = Recall::Id {
        id: "x".into(),
        before: 0,
        after: 0,
    };
    check(threads.recall(key, &recall));
    check(threads.subscribe(key, 0));
}
