//! Threads and their messages.

use std::sync::atomic::Ordering;

use conspectus::store::ThreadKey;
use conspectus::threads::{
    Append, CompactThread, CreateThread, IfExists, ListThreads, Page, PatchThread, Recall, SortBy,
    ThreadsError,
};
use serde_json::json;

use super::world::{everywhere, human, json, one, said, talk};

#[test]
fn threads_are_made_found_changed_and_removed() {
    everywhere(|world| {
        let threads = world.threads("one");
        let key = |name: &str| ThreadKey::new("t", name);
        let metadata = |value: serde_json::Value| value.as_object().expect("an object").clone();
        world.run(async {
            for (name, who) in [("a", "ann"), ("b", "bob"), ("c", "ann")] {
                let create = CreateThread {
                    metadata: metadata(json!({"who": who})),
                    title: Some(format!("The talk of {who}").into()),
                    ..CreateThread::default()
                };
                threads.create(&key(name), create).await.expect("made");
            }
            let again = CreateThread::default();
            let made = threads.create(&key("a"), again.clone()).await;
            assert_eq!(made, Err(ThreadsError::Exists("a".into())));
            let taken = CreateThread {
                if_exists: IfExists::DoNothing,
                ..again.clone()
            };
            assert_eq!(said(threads.create(&key("a"), taken).await), "ok");
            for bad in ["", "a b", "ä", &"x".repeat(65)] {
                let made = threads.create(&key(bad), again.clone()).await;
                assert!(matches!(made, Err(ThreadsError::BadId(_))), "{bad}");
            }
            let found = async |list: ListThreads| {
                let found = threads.list("t", &list).await.expect("a list");
                let names: Vec<_> = found.iter().map(|i| i.thread_id.to_string()).collect();
                assert!(threads.count("t", &list).await.expect("a count") >= names.len() as u64);
                names
            };
            let of_ann = ListThreads {
                metadata: metadata(json!({"who": "ann"})),
                ..ListThreads::default()
            };
            assert_eq!(found(of_ann.clone()).await, ["a", "c"]);
            let behind = ListThreads {
                after: Some("a".into()),
                limit: 1,
                ..ListThreads::default()
            };
            assert_eq!(found(behind).await, ["b"]);
            let backwards = ListThreads {
                sort: SortBy::CreatedAt,
                descending: true,
                offset: 1,
                ..ListThreads::default()
            };
            assert_eq!(found(backwards).await, ["b", "a"]);
            let named = ListThreads {
                text: Some("OF BOB".into()),
                ..ListThreads::default()
            };
            assert_eq!(found(named).await, ["b"]);
            let patch = PatchThread {
                metadata: Some(metadata(json!({"who": null, "for": 3}))),
                title: Some("Another".into()),
                ..PatchThread::default()
            };
            let info = threads.patch(&key("a"), patch).await.expect("patched");
            assert_eq!(info.metadata, metadata(json!({"for": 3})));
            assert_eq!(info.title.as_deref(), Some("Another"));
            assert_eq!(found(of_ann).await, ["c"]);
            threads.delete(&key("a")).await.expect("removed");
            assert_eq!(said(threads.get(&key("a")).await), "Thread a not found");
            assert_eq!(said(threads.delete(&key("a")).await), "Thread a not found");
            assert_eq!(
                said(threads.state(&key("a"), None).await),
                "Thread a not found"
            );
            assert_eq!(
                threads.list("u", &ListThreads::default()).await,
                Ok(Vec::new())
            );
        });
    });
}

#[test]
fn a_policy_of_its_own_stands_over_the_hosts() {
    everywhere(|world| {
        let threads = world.talked(4);
        world.run(async {
            let before = threads.status(&world.key).await.expect("a status");
            assert_eq!(before.window.tokens, 20_000);
            let patch = |policy| PatchThread {
                policy: Some(policy),
                ..PatchThread::default()
            };
            let own = json!({"trigger": {"type": "tokens", "value": 1000}, "keep": {"type": "messages", "value": 2}});
            threads.patch(&world.key, patch(Some(own.clone()))).await.expect("patched");
            let after = threads.status(&world.key).await.expect("a status");
            assert_eq!(after.budget.triggers[0].tokens, Some(1_000));
            assert!(after.next.reached && !before.next.reached, "{after:?}");
            let wrong = patch(Some(json!({"kepe": 1})));
            let error = said(threads.patch(&world.key, wrong).await);
            assert!(error.starts_with("policy: there is no option \"kepe\""), "{error}");
            let check = threads.compact(&world.key, &CompactThread::check()).await;
            assert_eq!(check.expect("a check").outcome.as_str(), "compacted");
            threads.patch(&world.key, patch(None)).await.expect("patched");
            let back = threads.status(&world.key).await.expect("a status");
            assert_eq!(back.budget.triggers, before.budget.triggers);
        });
    });
}

#[test]
fn messages_keep_their_bytes_and_their_ids() {
    everywhere(|world| {
        let threads = world.talked(1);
        world.run(async {
            let odd = r#"{"type": "human",  "content": "x\u00e9\/", "extra": 1.50, "id": "odd"}"#;
            let nameless = r#"{"role": "user", "content": "who am I?", "price": 1e3}"#;
            let append = Append {
                messages: [odd, nameless]
                    .map(|text| conspectus::threads::Json::parse(text).expect("json"))
                    .to_vec(),
                ..Append::default()
            };
            let first = threads.append(&world.key, &append).await.expect("appended");
            assert_eq!((first.new, first.ids[0].as_ref()), (2, "odd"));
            let state = threads.state(&world.key, None).await.expect("a state");
            let messages = &state.values.messages;
            assert_eq!(messages[2].as_str(), odd);
            let made = format!(
                r#"{{"role": "user", "content": "who am I?", "price": 1e3,"id":"{}"}}"#,
                first.ids[1]
            );
            assert_eq!(messages[3].as_str(), made);
            assert_eq!(state.checkpoint_id, first.checkpoint_id);
            // The same again under its id is known; without one it is another message.
            let second = threads.append(&world.key, &append).await.expect("appended");
            assert_eq!((second.new, second.ids[0].as_ref()), (1, "odd"));
            assert_ne!(second.ids[1], first.ids[1]);
            let other = one(human("odd", "something else"));
            let error = threads.append(&world.key, &other).await;
            assert_eq!(error, Err(ThreadsError::IdTaken("odd".into())));
            let bad = Append {
                messages: vec![human("new", "fine"), json(&json!({"content": "no type"}))],
                ..Append::default()
            };
            let error = threads.append(&world.key, &bad).await;
            assert!(
                matches!(error, Err(ThreadsError::BadMessage { index: 1, .. })),
                "{error:?}"
            );
            let after = threads.get(&world.key).await.expect("there");
            assert_eq!(after.messages, 5);
        });
    });
}

#[test]
fn a_key_makes_an_append_happen_once() {
    everywhere(|world| {
        let threads = world.talked(1);
        world.run(async {
            let append = Append {
                messages: vec![
                    json(&json!({"role": "user", "content": "only once"})),
                    human("x", "named"),
                ],
                once: Some("k".into()),
                ..Append::default()
            };
            let first = threads.append(&world.key, &append).await.expect("appended");
            let again = threads.append(&world.key, &append).await.expect("known");
            assert!(again.repeated && !first.repeated);
            assert_eq!(again.ids, first.ids);
            assert_eq!(again.checkpoint_id, first.checkpoint_id);
            let other = Append {
                messages: vec![human("y", "something else")],
                ..append
            };
            let error = threads.append(&world.key, &other).await;
            assert_eq!(error, Err(ThreadsError::KeyReused("k".into())));
            assert_eq!(threads.get(&world.key).await.expect("there").messages, 4);
        });
    });
}

#[test]
fn appending_costs_what_is_in_the_window_and_people_see_everything() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let compacted = threads
                .compact(&world.key, &CompactThread::default())
                .await
                .expect("run");
            assert_eq!(compacted.outcome.as_str(), "compacted", "{compacted:?}");
            world.store.read.store(0, Ordering::SeqCst);
            let more = talk(30, 1);
            threads.append(&world.key, &more).await.expect("appended");
            let request = threads.request(&world.key).await.expect("a request");
            let read = world.store.read.load(Ordering::SeqCst);
            assert!(read < 20, "{read} messages were read");
            assert_eq!(request.messages.len(), 1 + 4 + 2, "{:?}", request.messages);
            let page = Page {
                limit: 10,
                ..Page::default()
            };
            let newest = threads.visible(&world.key, &page).await.expect("visible");
            assert_eq!(
                (newest.total, newest.has_before, newest.has_after),
                (62, true, false)
            );
            assert_eq!(newest.messages[0].position, 52);
            let folded: Vec<_> = newest.messages.iter().filter(|m| m.folded).collect();
            assert_eq!(folded.len(), 4);
            assert_eq!((newest.folds[0].first, newest.folds[0].last), (52, 55));
            assert!(
                newest.folds[0]
                    .summary_text
                    .as_deref()
                    .expect("a summary")
                    .contains("valve")
            );
            let older = Page {
                before: Some(52),
                ..page.clone()
            };
            let older = threads.visible(&world.key, &older).await.expect("visible");
            assert_eq!(older.messages.last().expect("some").position, 51);
            let next = Page {
                after: Some(55),
                ..page
            };
            let next = threads.visible(&world.key, &next).await.expect("visible");
            assert_eq!(
                next.messages.iter().map(|m| m.position).collect::<Vec<_>>(),
                [56, 57, 58, 59, 60, 61]
            );
        });
    });
}

#[test]
fn a_loaded_skill_outlives_its_message() {
    everywhere(|world| {
        let threads = world.threads("one");
        world.run(async {
            let key = &world.key;
            threads.create(key, CreateThread::default()).await.expect("made");
            let entry = json!({"name": "valves", "path": "/skills/valves/SKILL.md", "loaded_at": 3});
            let messages = [
                json!({"type": "human", "content": "turn it", "id": "h"}),
                json!({"type": "ai", "content": "", "id": "c",
                    "tool_calls": [{"name": "read_file", "args": {"path": "/skills/valves/SKILL.md"}, "id": "1"}]}),
                json!({"type": "tool", "content": "how to turn valves", "tool_call_id": "1", "id": "r",
                    "additional_kwargs": {"skill_context_entry": entry}}),
            ];
            let append = Append {
                messages: messages.iter().map(super::world::json).collect(),
                ..Append::default()
            };
            threads.append(key, &append).await.expect("appended");
            threads.append(key, &talk(0, 30)).await.expect("appended");
            threads.compact(key, &CompactThread::default()).await.expect("run");
            let state = threads.state(key, None).await.expect("a state");
            assert!(state.values.messages.iter().all(|m| !m.as_str().contains("\"r\"")));
            assert_eq!(state.values.skill_context, [entry]);
        });
    });
}

#[test]
fn tenants_see_nothing_of_each_other() {
    everywhere(|world| {
        let threads = world.talked(3);
        world.run(async {
            let (key, other) = (&world.key, ThreadKey::new("u", &world.key.thread));
            assert_eq!(
                said(threads.state(&other, None).await),
                "Thread thread-1 not found"
            );
            assert_eq!(
                said(threads.append(&other, &talk(0, 1)).await),
                "Thread thread-1 not found"
            );
            let none = Recall::Words {
                query: "valve".into(),
                limit: 5,
                folded_only: false,
            };
            threads
                .create(&other, CreateThread::default())
                .await
                .expect("made");
            assert_eq!(threads.recall(&other, &none).await, Ok(Vec::new()));
            assert_eq!(
                said(threads.pin(&other, "h1").await),
                "there is no message \"h1\" in this thread"
            );
            // The same ids there are other messages.
            let own = one(human("h1", "something else"));
            threads.append(&other, &own).await.expect("appended");
            threads.delete(key).await.expect("removed");
            let state = threads.state(&other, None).await.expect("a state");
            assert_eq!(state.values.messages.len(), 1);
        });
    });
}
