//! Undo, redo, rewind, branch, export and import.

use conspectus::core::outcome::Outcome;
use conspectus::store::ThreadKey;
use conspectus::threads::{Cause, CompactThread, CreateThread, Page, Place, ThreadsError};

use super::world::{everywhere, human, one, said, talk};

#[test]
fn a_compaction_is_taken_back_and_put_in_force_again() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let none = threads.undo(key).await;
            assert_eq!(said(none), "there is no compaction to undo");
            let compacted = threads
                .compact(key, &CompactThread::default())
                .await
                .expect("run");
            let short = threads.state(key, None).await.expect("a state");
            threads
                .append(key, &one(human("more", "and now?")))
                .await
                .expect("appended");
            let undone = threads.undo(key).await.expect("undone");
            assert_eq!(undone.record, compacted.record);
            let long = threads.state(key, None).await.expect("a state");
            assert_eq!(long.checkpoint_id, undone.checkpoint_id);
            assert_eq!((long.values.messages.len(), long.cause), (61, Cause::Undo));
            assert_eq!(long.values.summary_text, None);
            let redone = threads.redo(key).await.expect("redone");
            let again = threads.state(key, None).await.expect("a state");
            assert_eq!(again.checkpoint_id, redone.checkpoint_id);
            assert_eq!(again.values.summary_text, short.values.summary_text);
            assert_eq!(again.values.messages.len(), 5);
            let history = threads.history(key, 100, None).await.expect("a history");
            let causes: Vec<_> = history.iter().map(|state| state.cause).collect();
            assert_eq!(
                causes,
                [Cause::Redo, Cause::Undo, Cause::Compaction, Cause::Input]
            );
            let names: Vec<_> = history
                .iter()
                .map(|s| s.checkpoint_id.to_string())
                .collect();
            assert!(names.is_sorted_by(|a, b| a > b), "{names:?}");
            for pair in history.windows(2) {
                assert_eq!(pair[0].parent, Some(pair[1].checkpoint_id));
            }
            let before = threads
                .history(key, 1, Some(history[1].checkpoint_id))
                .await;
            assert_eq!(before.expect("a history"), history[2..3]);
            let log = threads.log(key, 10).await.expect("a log");
            assert_eq!(
                log[0].history,
                [Cause::Compaction, Cause::Undo, Cause::Redo]
            );
        });
    });
}

#[test]
fn a_thread_is_rewound_and_goes_on_from_there() {
    everywhere(|world| {
        let threads = world.talked(3);
        world.run(async {
            let key = &world.key;
            let to = Place::Message("a1".into());
            let moved = threads.rewind(key, &to).await.expect("moved");
            let state = threads.state(key, None).await.expect("a state");
            assert_eq!(
                (state.values.messages.len(), state.checkpoint_id),
                (4, moved.checkpoint_id)
            );
            threads
                .append(key, &one(human("other", "another way")))
                .await
                .expect("appended");
            let visible = threads
                .visible(key, &Page::default())
                .await
                .expect("visible");
            let ids: Vec<_> = visible
                .messages
                .iter()
                .filter_map(|m| m.id.as_deref())
                .collect();
            assert_eq!(ids, ["h0", "a0", "h1", "a1", "other"]);
            let nowhere = threads.rewind(key, &Place::Message("nobody".into())).await;
            assert_eq!(nowhere, Err(ThreadsError::NoMessage("nobody".into())));
            // What was left can be gone back to.
            let history = threads.history(key, 10, None).await.expect("a history");
            let first = history.last().expect("some");
            assert_eq!(first.values.messages.len(), 6);
            let back = Place::Checkpoint(first.checkpoint_id);
            threads.rewind(key, &back).await.expect("moved");
            let state = threads.state(key, None).await.expect("a state");
            assert_eq!(state.values.messages, first.values.messages);
        });
    });
}

#[test]
fn a_branch_has_everything_up_to_its_place_and_goes_on_by_itself() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let compact = CompactThread::default();
            threads.compact(key, &compact).await.expect("run");
            threads.append(key, &talk(30, 30)).await.expect("appended");
            threads.compact(key, &compact).await.expect("run");
            let here = threads.state(key, None).await.expect("a state");
            let to = ThreadKey::new("t", "copy");
            let info = threads
                .branch(key, None, &to, CreateThread::default())
                .await
                .expect("made");
            assert_eq!((info.messages, info.records), (120, 2));
            assert_eq!(info.origin.expect("it has one").thread, key.thread);
            let copy = threads.state(&to, None).await.expect("a state");
            assert_eq!(copy.values, here.values);
            threads.undo(&to).await.expect("undone");
            let undone = threads.state(&to, None).await.expect("a state");
            assert_eq!(undone.values.summary_count, 1);
            assert_eq!(threads.state(key, None).await.expect("a state"), here);
            // From a message in the folded part: what was compacted later is not there.
            let early = ThreadKey::new("t", "early");
            let place = Place::Message("a40".into());
            threads
                .branch(key, Some(&place), &early, CreateThread::default())
                .await
                .expect("made");
            let early = threads.state(&early, None).await.expect("a state");
            assert_eq!(early.values.summary_count, 1);
            assert_eq!(early.values.messages.len(), 4 + 22);
            // From a state before.
            let history = threads.history(key, 10, None).await.expect("a history");
            let raw = history.last().expect("some").checkpoint_id;
            let first = ThreadKey::new("t", "first");
            let place = Place::Checkpoint(raw);
            threads
                .branch(key, Some(&place), &first, CreateThread::default())
                .await
                .expect("made");
            let first = threads.state(&first, None).await.expect("a state");
            assert_eq!(
                (first.values.messages.len(), first.values.summary_count),
                (60, 0)
            );
            let taken = threads
                .branch(key, None, &to, CreateThread::default())
                .await;
            assert_eq!(taken, Err(ThreadsError::Exists("copy".into())));
        });
    });
}

#[test]
fn a_thread_is_carried_to_another_store_and_goes_on_there() {
    everywhere(|world| {
        let threads = world.talked(30);
        world.run(async {
            let key = &world.key;
            let compact = CompactThread::default();
            threads.compact(key, &compact).await.expect("run");
            threads.append(key, &talk(30, 30)).await.expect("appended");
            threads.compact(key, &compact).await.expect("run");
            threads.undo(key).await.expect("undone");
            let export = threads.export(key).await.expect("an export");
            let to = ThreadKey::new("u", "carried");
            let info = threads.import(&to, &export).await.expect("imported");
            let before = threads.get(key).await.expect("there");
            assert_eq!(
                (info.messages, info.records),
                (before.messages, before.records)
            );
            assert_eq!(info.created_ms, before.created_ms);
            let (here, there) = (
                threads.history(key, 10, None).await,
                threads.history(&to, 10, None).await,
            );
            assert_eq!(here, there);
            let again = threads.export(&to).await.expect("an export");
            let but_last = |text: &str| {
                let lines = text
                    .lines()
                    .filter(|l| !l.contains("imported") && !l.contains("\"thread_id\":"));
                lines.map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(but_last(&again), but_last(&export));
            threads.redo(&to).await.expect("redone");
            threads.append(&to, &talk(60, 30)).await.expect("appended");
            let further = threads.compact(&to, &compact).await.expect("run");
            assert_eq!(further.outcome, Outcome::Compacted);
            let taken = threads.import(&to, &export).await;
            assert_eq!(taken, Err(ThreadsError::Exists("carried".into())));
            let cut: String = export.lines().take(40).map(|l| format!("{l}\n")).collect();
            let half = ThreadKey::new("u", "half");
            let error = threads.import(&half, &cut).await;
            assert_eq!(said(error), "line 40: the file ends too early");
            assert_eq!(said(threads.get(&half).await), "Thread half not found");
        });
    });
}
