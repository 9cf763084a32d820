//! The contract, for every store.

use std::sync::Arc;

use conspectus::store::{
    Commit, Found, Lease, Listing, MAX_PREVIEWS, Mark, ONCE_MS, Once, Order, Rewrite, StoreError,
    ThreadKey, ThreadStore, Write, Written,
};
use conspectus::terms::Terms;
use conspectus_core::effect::{Expect, Fence, Version};
use conspectus_core::id::{AttemptId, Ident, NodeId, RecordId};
use conspectus_core::thread::Learnt;
use conspectus_core::view::Role;
use conspectus_store::{MemoryStore, SqliteStore};

use crate::postgres::Database;
use crate::support::{NO_FENCE, Open, Talk, commit, message, now};

/// Every check with a new store of each kind. Those on disk are opened again by each call of `open`.
pub(crate) fn every(check: fn(Open<'_>)) {
    let memory = MemoryStore::default();
    check(&|| Box::new(memory.clone()));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.db");
    check(&|| Box::new(SqliteStore::open(&path).expect("opened")));
    if let Some(database) = Database::new() {
        check(&|| Box::new(database.open()));
    }
}

#[test]
fn threads_come_and_go_and_tenants_see_nothing_of_each_other() {
    every(|open| {
        let store = open();
        let [a, b] = ["a", "b"].map(|tenant| ThreadKey::new(tenant, "one"));
        assert_eq!(now(store.head(&a)), Ok(None));
        assert_eq!(now(store.create(&a, "title", 7)), Ok(true));
        assert_eq!(now(store.create(&a, "other", 8)), Ok(false));
        let head = now(store.head(&a)).expect("read").expect("there");
        assert_eq!((head.meta.as_ref(), head.created_ms), ("title", 7));
        assert_eq!(now(store.head(&b)), Ok(None));
        assert_eq!(now(store.count("b")), Ok(0));
        for name in ["three", "two"] {
            now(store.create(&ThreadKey::new("a", name), "", 9)).expect("created");
        }
        assert_eq!(now(store.count("a")), Ok(3));
        assert_eq!(now(store.delete(&b)), Ok(false));
        assert_eq!(now(store.delete(&a)), Ok(true));
        assert_eq!(now(store.head(&a)), Ok(None));
    });
}

/// Names of the threads on a page; a limit of 0 stands for 9.
fn listed(store: &dyn ThreadStore, tenant: &str, listing: Listing) -> Vec<String> {
    let listing = Listing {
        limit: Some(listing.limit).filter(|limit| *limit > 0).unwrap_or(9),
        ..listing
    };
    let page = now(store.list(tenant, &listing)).expect("listed");
    for (name, head) in &page {
        let alone = now(store.head(&ThreadKey::new(tenant, name))).expect("read");
        assert_eq!(alone.as_ref(), Some(head), "{name}");
    }
    page.iter().map(|(name, _)| name.to_string()).collect()
}

#[test]
fn a_page_of_threads_is_the_same_in_every_order_and_every_store() {
    every(|open| {
        let store = open();
        let store = store.as_ref();
        // Made at, written at.
        let threads = [
            ("a", 3, 9),
            ("b", 1, 8),
            ("c", 3, 8),
            ("d", 2, 9),
            ("e", 3, 3),
        ];
        for (name, created, written) in threads {
            let key = ThreadKey::new("t", name);
            now(store.create(&key, name, created)).expect("created");
            if written > created {
                let write = Write {
                    now: written,
                    ..Write::default()
                };
                assert_eq!(now(store.write(&key, write)), Ok(Written::Done(1)));
            }
        }
        now(store.create(&ThreadKey::new("other", "a"), "", 1)).expect("created");
        assert_eq!(now(store.count("t")), Ok(5));
        let check = |order, expect: [&str; 5]| {
            for descending in [false, true] {
                let mut expect = expect.map(str::to_owned).to_vec();
                if descending {
                    expect.reverse();
                }
                let page = |after, offset, limit| {
                    let listing = Listing {
                        order,
                        descending,
                        after,
                        offset,
                        limit,
                    };
                    listed(store, "t", listing)
                };
                assert_eq!(page(None, 0, 9), expect, "{order:?}");
                assert_eq!(page(None, 1, 3), expect[1..4], "{order:?}");
                assert_eq!(page(None, 5, 3), [""; 0], "{order:?}");
                for at in 0..5 {
                    let key = ThreadKey::new("t", &expect[at]);
                    let head = now(store.head(&key)).expect("read").expect("there");
                    let behind = |offset| page(Some(order.place(&key.thread, &head)), offset, 2);
                    let from = |at: usize| &expect[at.min(5)..(at + 2).min(5)];
                    assert_eq!(behind(0), from(at + 1), "{order:?}");
                    assert_eq!(behind(1), from(at + 2), "{order:?}");
                }
            }
        };
        check(Order::Name, ["a", "b", "c", "d", "e"]);
        check(Order::Created, ["b", "d", "a", "c", "e"]);
        check(Order::Written, ["e", "b", "c", "a", "d"]);
    });
}

#[test]
fn what_was_appended_comes_back_byte_for_byte_also_after_opening_again() {
    every(|open| {
        let key = ThreadKey::new("t", "bytes");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 2);
        drop(store);
        let store = open();
        let all = now(store.messages(&key, NodeId(0), NodeId(99))).expect("read");
        assert_eq!(all.len(), 4);
        let mut weight = 0;
        for stored in &all {
            assert_eq!(stored.message, message(&talk.thread, stored.node));
            weight += stored.message.known.weight.expect("counted");
            assert_eq!((stored.cumulative, stored.stored_ms), (weight, 2));
        }
        let some = now(store.messages(&key, NodeId(1), NodeId(2))).expect("read");
        assert_eq!(some, all[1..3]);
        assert_eq!(now(store.by_native_id(&key, "id-2")), Ok(Some(NodeId(2))));
        assert_eq!(now(store.by_native_id(&key, "id-9")), Ok(None));
        assert_eq!(talk.reopened(store.as_ref()).thread, talk.thread);
    });
}

#[test]
fn of_two_writers_on_one_revision_one_succeeds() {
    every(|open| {
        let key = ThreadKey::new("t", "race");
        let store = open();
        let mut one = Talk::create(store.as_ref(), &key);
        one.go_on(store.as_ref(), 1);
        let mut two = one.clone();
        let first = one.say(store.as_ref(), Role::User, "first");
        assert_eq!(first, Ok(Written::Done(3)));
        let second = two.say(store.as_ref(), Role::User, "second");
        assert_eq!(second, Ok(Written::Behind(3)));
        let mut two = Talk {
            texts: one.texts.clone(),
            ..two
        }
        .reopened(store.as_ref());
        assert_eq!(two.thread, one.thread);
        let again = two.say(store.as_ref(), Role::User, "second");
        assert_eq!(again, Ok(Written::Done(4)));
        assert_eq!(
            now(store.messages(&key, NodeId(0), NodeId(9)))
                .expect("read")
                .len(),
            4
        );
    });
}

#[test]
fn a_commit_is_written_whole_and_found_again() {
    every(|open| {
        let key = ThreadKey::new("t", "commit");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 8);
        assert_eq!(
            now(store.has_record(&key, AttemptId(0), RecordId(0))),
            Ok(false)
        );
        let written = talk.compact(store.as_ref()).expect("an answer");
        assert_eq!(written, Some(Written::Done(17)));
        let record = talk.thread.active().expect("compacted").clone();
        assert_eq!(
            now(store.has_record(&key, record.attempt, record.id)),
            Ok(true)
        );
        assert_eq!(
            now(store.has_record(&key, AttemptId(99), record.id)),
            Ok(false)
        );
        let records = now(store.records(&key, RecordId(0), RecordId(9)));
        assert_eq!(records, Ok(vec![record]));
        let log = now(store.head_log(&key));
        assert_eq!(log, Ok(talk.thread.head_log().to_vec()));
        let head = now(store.head(&key)).expect("read").expect("there");
        assert_eq!((head.version, head.records), (Version(1), 1));
        drop(store);
        assert_eq!(talk.reopened(open().as_ref()).thread, talk.thread);
    });
}

#[test]
fn messages_that_came_late_are_no_conflict() {
    every(|open| {
        let key = ThreadKey::new("t", "late");
        let store = open();
        let mut one = Talk::create(store.as_ref(), &key);
        one.go_on(store.as_ref(), 8);
        let (planned, write) = one.compaction().expect("worth it");
        let mut other = one.clone();
        let late = other.say(store.as_ref(), Role::User, "one more thing");
        assert!(matches!(late, Ok(Written::Done(_))), "{late:?}");
        let behind = now(store.write(&key, write.clone())).expect("an answer");
        assert_eq!(behind, Written::Behind(other.revision));
        // The same record, on what is there now.
        let mut rebased = other.reopened(store.as_ref());
        let (before, commit_of) = (rebased.thread.clone(), write.commit.expect("a record"));
        let src = conspectus::Sources {
            texts: &other.texts,
            counter: &conspectus_core::count::Estimator,
        };
        rebased
            .thread
            .commit(&commit_of.record, commit_of.expect, src);
        let again = commit(&before, &rebased.thread, commit_of.expect, rebased.revision);
        let written = now(store.write(&key, again.expect("committed")));
        assert!(matches!(written, Ok(Written::Done(_))), "{written:?}");
        let after = rebased.reopened(store.as_ref());
        assert_eq!(after.thread, rebased.thread);
        assert_eq!(after.thread.branch().len(), planned.branch().len() + 1);
    });
}

#[test]
fn a_commit_under_an_old_version_or_fence_changes_nothing() {
    every(|open| {
        let key = ThreadKey::new("t", "old");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 8);
        let (_, write) = talk.compaction().expect("worth it");
        let before = now(store.head(&key));
        let good = write.commit.clone().expect("a record");
        for expect in [
            Expect {
                version: Version(7),
                ..good.expect
            },
            Expect {
                fence: Fence(7),
                ..good.expect
            },
        ] {
            let record = good.record.clone();
            let write = Write {
                commit: Some(Commit { record, expect }),
                ..write.clone()
            };
            assert_eq!(now(store.write(&key, write)), Ok(Written::Conflict));
        }
        assert_eq!(now(store.head(&key)), before);
        // Another holder took the lease while the attempt ran.
        now(store.acquire(&key, "other", 1_000, 10)).expect("a lease");
        assert_eq!(now(store.write(&key, write)), Ok(Written::Conflict));
        assert_eq!(
            now(store.records(&key, RecordId(0), RecordId(9))),
            Ok(vec![])
        );
    });
}

#[test]
fn a_write_with_a_key_happens_once() {
    every(|open| {
        let key = ThreadKey::new("t", "once");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 1);
        let view = talk.texts.say(Role::User, "only once");
        let mut grown = talk.thread.clone();
        let src = conspectus::Sources {
            texts: &talk.texts,
            counter: &conspectus_core::count::Estimator,
        };
        let node = grown.append([view], src)[0];
        let once = |digest| {
            Some(Once {
                key: "k".into(),
                digest: Ident::of(digest),
            })
        };
        let write = Write {
            revision: talk.revision,
            messages: vec![message(&grown, node)],
            state: Some(Arc::new(grown.state())),
            once: once("a"),
            ..Write::default()
        };
        assert_eq!(now(store.write(&key, write.clone())), Ok(Written::Done(3)));
        assert_eq!(
            now(store.write(&key, write.clone())),
            Ok(Written::Repeated(NodeId(2)))
        );
        let other = Write {
            once: once("b"),
            ..write
        };
        assert_eq!(
            now(store.write(&key, other.clone())),
            Ok(Written::KeyReused)
        );
        // A key is forgotten when it is old and another one comes.
        let later = |revision, key: &str, ms| Write {
            revision,
            once: Some(Once {
                key: key.into(),
                digest: Ident::of("c"),
            }),
            now: ms,
            ..Write::default()
        };
        let much_later = ONCE_MS + 3;
        let new = now(store.write(&key, later(3, "new", much_later)));
        assert_eq!(new, Ok(Written::Done(4)));
        let again = now(store.write(&key, later(4, "k", much_later)));
        assert_eq!(again, Ok(Written::Done(5)));
        assert_eq!(
            now(store.head(&key)).expect("read").expect("there").nodes,
            3
        );
    });
}

#[test]
fn a_write_that_does_not_fit_changes_nothing() {
    every(|open| {
        let key = ThreadKey::new("t", "unfit");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 1);
        let before = now(store.head(&key));
        let mut ahead = message(&talk.thread, NodeId(1));
        ahead.known.parent = Some(NodeId(5));
        let mut longer = talk.clone();
        let view = longer.texts.say(Role::User, "more than was written");
        let src = conspectus::Sources {
            texts: &longer.texts,
            counter: &conspectus_core::count::Estimator,
        };
        longer.thread.append([view], src);
        for write in [
            Write {
                messages: vec![ahead],
                ..Write::default()
            },
            Write {
                state: Some(Arc::new(longer.thread.state())),
                ..Write::default()
            },
            Write {
                changed: vec![(NodeId(9), message(&talk.thread, NodeId(0)).known)],
                ..Write::default()
            },
        ] {
            let write = Write {
                revision: talk.revision,
                ..write
            };
            let answer = now(store.write(&key, write));
            assert!(matches!(answer, Err(StoreError::Unfit(_))), "{answer:?}");
        }
        assert_eq!(now(store.head(&key)), before);
    });
}

#[test]
fn one_holder_at_a_time_and_what_a_dead_one_left_is_seen() {
    every(|open| {
        let key = ThreadKey::new("t", "lease");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        let Lease::Held {
            fence,
            until_ms,
            orphan,
        } = talk.lease(store.as_ref(), "one", 100)
        else {
            panic!("nobody else asked");
        };
        assert_eq!((fence, orphan), (Fence(1), None));
        let again = talk.lease(store.as_ref(), "one", 200);
        assert!(
            matches!(
                again,
                Lease::Held {
                    fence: Fence(1),
                    ..
                }
            ),
            "{again:?}"
        );
        let other = now(store.acquire(&key, "two", 1_000, 300)).expect("an answer");
        assert!(matches!(other, Lease::Taken { until_ms: until } if until >= until_ms));
        let mark = Mark {
            attempt: AttemptId(4),
            fence,
            since_ms: 300,
        };
        assert_eq!(now(store.mark(&key, NO_FENCE, Some(mark))), Ok(false));
        assert_eq!(now(store.mark(&key, fence, Some(mark))), Ok(true));
        let seen = now(store.head(&key)).expect("read").expect("there").mark;
        assert_eq!(seen, Some(mark));
        // It went without a word, and somebody else comes.
        assert_eq!(now(store.release(&key, fence)), Ok(true));
        assert_eq!(now(store.release(&key, fence)), Ok(false));
        let next = now(store.acquire(&key, "two", 1_000, 5_000)).expect("an answer");
        let Lease::Held { fence, orphan, .. } = next else {
            panic!("it is free: {next:?}");
        };
        assert_eq!((fence, orphan), (Fence(2), Some(mark)));
        assert_eq!(now(store.mark(&key, mark.fence, None)), Ok(false));
        assert_eq!(now(store.mark(&key, fence, None)), Ok(true));
        assert_eq!(
            now(store.head(&key)).expect("read").expect("there").mark,
            None
        );
    });
}

#[test]
fn partial_results_events_and_limits_are_kept() {
    every(|open| {
        let [key, other] = ["x", "y"].map(|name| ThreadKey::new("t", name));
        let store = open();
        for key in [&key, &other] {
            assert_eq!(now(store.create(key, "", 1)), Ok(true));
        }
        let part = Ident::of("a chunk");
        assert_eq!(now(store.cached(&key, part)), Ok(None));
        for text in ["old", "new\0"] {
            assert_eq!(now(store.cache(&key, part, text, 2)), Ok(()));
        }
        assert_eq!(now(store.cached(&key, part)), Ok(Some("new\0".into())));
        assert_eq!(now(store.cached(&other, part)), Ok(None));
        assert_eq!(now(store.emit(&key, "first", 3)), Ok(1));
        let write = Write {
            events: vec!["second".into()],
            now: 4,
            ..Write::default()
        };
        assert_eq!(now(store.write(&key, write)), Ok(Written::Done(1)));
        assert_eq!(now(store.emit(&key, "third", 5)), Ok(3));
        let told = |after, limit| {
            let events = now(store.events(&key, after, limit)).expect("read");
            events
                .iter()
                .map(|e| (e.seq, e.event.to_string(), e.ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(0, 1), [(1, "first".to_owned(), 3)]);
        assert_eq!(
            told(1, 9),
            [(2, "second".to_owned(), 4), (3, "third".to_owned(), 5)]
        );
        let learnt = |tokens, bytes| Learnt { tokens, bytes };
        for (tenant, new) in [
            ("t", learnt(Some(900), None)),
            ("t", learnt(Some(950), Some(10))),
            ("t", learnt(None, Some(20))),
            ("u", learnt(Some(1), None)),
        ] {
            assert_eq!(now(store.learn(tenant, "http://a", "m", new)), Ok(()));
        }
        let limits = now(store.limits("t")).expect("read");
        assert_eq!(limits.of("http://a", "m"), learnt(Some(900), Some(10)));
        assert_eq!(limits.of("http://b", "m"), Learnt::default());
    });
}

/// Says what messages can be found by.
fn find_by(store: &dyn ThreadStore, talk: &mut Talk, search: Vec<(NodeId, Terms)>) {
    let write = Write {
        revision: talk.revision,
        search,
        ..Write::default()
    };
    talk.revision += 1;
    assert_eq!(
        now(store.write(&talk.key, write)),
        Ok(Written::Done(talk.revision))
    );
}

#[test]
fn messages_are_found_by_their_terms_alike_in_every_store() {
    every(|open| {
        let store = open();
        let [key, other] = ["x", "y"].map(|name| ThreadKey::new("t", name));
        let mut talks = [&key, &other].map(|key| Talk::create(store.as_ref(), key));
        let texts = [
            "The parser loses the last line of src/store/lib.rs",
            "the Parser again: 東京都, l'été, हिन्दी",
            "nothing 'to' see: \u{0}\u{1F980}\" AND \"see*",
            "the last line, and the parser",
        ];
        for talk in &mut talks {
            talk.go_on(store.as_ref(), 2);
            let terms = |(node, text): (u64, &&str)| (NodeId(node), Terms::of(text));
            let search = (0..).zip(&texts).map(terms).collect();
            find_by(store.as_ref(), talk, search);
        }
        let found = |query: &str, limit| -> Vec<(u64, u64)> {
            let terms = Terms::asked(query);
            let found = now(store.search(&key, &terms, limit)).expect("searched");
            found
                .iter()
                .map(|f: &Found| (f.node.0, f.matched))
                .collect()
        };
        assert_eq!(found("parser", 9), [(3, 1), (1, 1), (0, 1)]);
        assert_eq!(found("the last parser", 9), [(3, 3), (0, 3), (1, 2)]);
        assert_eq!(found("the last parser", 1), [(3, 3)]);
        assert_eq!(found("LIB.RS 京都", 9), [(0, 3), (1, 1)]);
        assert_eq!(found("e\u{301}te\u{301} été हिन्दी", 9), [(1, 2)]);
        assert_eq!(found("see AND x* OR (y:\"'", 9), [(2, 2), (3, 1)]);
        assert_eq!(found("absent", 9), []);
        assert_eq!(found("", 9), []);
        // What it is found by changes, or goes.
        let [talk, second] = &mut talks;
        let other_terms = vec![
            (NodeId(0), Terms::of("the beginning")),
            (NodeId(3), Terms::default()),
        ];
        find_by(store.as_ref(), talk, other_terms);
        assert_eq!(found("the beginning", 9), [(0, 2), (1, 1)]);
        assert_eq!(found("line", 9), []);
        let beyond = Write {
            revision: talk.revision,
            search: vec![(NodeId(99), Terms::of("x"))],
            ..Write::default()
        };
        let refused = now(store.write(&key, beyond));
        assert!(matches!(refused, Err(StoreError::Unfit(_))), "{refused:?}");
        assert_eq!(now(store.delete(&key)), Ok(true));
        let gone = now(store.search(&key, &Terms::of("the"), 9));
        assert_eq!(gone, Err(StoreError::NoThread));
        let stays = now(store.search(&second.key, &Terms::of("line"), 9));
        assert_eq!(stays.map(|found| found.len()), Ok(2));
    });
}

#[test]
fn deleting_leaves_nothing_behind() {
    every(|open| {
        let key = ThreadKey::new("t", "gone");
        let store = open();
        let mut talk = Talk::create(store.as_ref(), &key);
        talk.go_on(store.as_ref(), 8);
        talk.compact(store.as_ref()).expect("written");
        now(store.cache(&key, Ident::of("p"), "text", 1)).expect("kept");
        now(store.emit(&key, "event", 1)).expect("told");
        now(store.keep_preview(&key, "p", "text", 1)).expect("kept");
        find_by(
            store.as_ref(),
            &mut talk,
            vec![(NodeId(0), Terms::of("word"))],
        );
        assert_eq!(now(store.delete(&key)), Ok(true));
        assert_eq!(now(store.events(&key, 0, 9)), Err(StoreError::NoThread));
        let new = Talk::create(store.as_ref(), &key);
        assert_eq!(now(store.events(&new.key, 0, 9)), Ok(vec![]));
        assert_eq!(now(store.messages(&key, NodeId(0), NodeId(99))), Ok(vec![]));
        assert_eq!(
            now(store.records(&key, RecordId(0), RecordId(9))),
            Ok(vec![])
        );
        assert_eq!(now(store.head_log(&key)), Ok(vec![]));
        assert_eq!(now(store.cached(&key, Ident::of("p"))), Ok(None));
        assert_eq!(now(store.preview(&key, "p")), Ok(None));
        assert_eq!(now(store.search(&key, &Terms::of("word"), 9)), Ok(vec![]));
    });
}

#[test]
fn the_newest_previews_are_kept() {
    every(|open| {
        let key = ThreadKey::new("t", "previews");
        let store = open();
        Talk::create(store.as_ref(), &key);
        let kept = |name: &str| now(store.preview(&key, name)).expect("read");
        assert_eq!(kept("p0"), None);
        for nth in 0..MAX_PREVIEWS {
            now(store.keep_preview(&key, &format!("p{nth}"), "text\0", 1)).expect("kept");
        }
        // One that is made again is a new one.
        now(store.keep_preview(&key, "p0", "other", 2)).expect("kept");
        now(store.keep_preview(&key, "last", "text", 3)).expect("kept");
        assert_eq!(kept("p0").as_deref(), Some("other"));
        assert_eq!(kept("p1"), None);
        assert_eq!(kept("p2").as_deref(), Some("text\0"));
        assert_eq!(kept("last").as_deref(), Some("text"));
    });
}

#[test]
fn threads_that_nobody_wrote_to_for_long_go() {
    every(|open| {
        let store = open();
        for (name, ms) in [("a", 5), ("b", 9), ("c", 1), ("d", 2)] {
            let key = ThreadKey::new("t", name);
            now(store.create(&key, "", ms)).expect("created");
        }
        now(store.create(&ThreadKey::new("u", "a"), "", 1)).expect("created");
        let gone = |before, limit| {
            let gone = now(store.expire("t", before, limit)).expect("done");
            gone.iter().map(|name| name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(gone(6, 2), ["a", "c"]);
        assert_eq!(gone(6, 2), ["d"]);
        assert_eq!(gone(6, 2), [""; 0]);
        assert_eq!(listed(store.as_ref(), "t", Listing::default()), ["b"]);
        assert_eq!(listed(store.as_ref(), "u", Listing::default()), ["a"]);
    });
}

#[test]
fn without_a_thread_every_method_says_so() {
    every(|open| {
        let store = open();
        let key = ThreadKey::new("t", "nowhere");
        let no = StoreError::NoThread;
        let part = Ident::of("p");
        assert_eq!(now(store.write(&key, Write::default())), Err(no.clone()));
        assert_eq!(
            now(store.messages(&key, NodeId(0), NodeId(1))),
            Err(no.clone())
        );
        assert_eq!(
            now(store.has_record(&key, AttemptId(0), RecordId(0))),
            Err(no.clone())
        );
        assert_eq!(now(store.by_native_id(&key, "x")), Err(no.clone()));
        assert_eq!(
            now(store.records(&key, RecordId(0), RecordId(1))),
            Err(no.clone())
        );
        assert_eq!(now(store.head_log(&key)), Err(no.clone()));
        assert_eq!(now(store.acquire(&key, "me", 1, 1)), Err(no.clone()));
        assert_eq!(now(store.release(&key, NO_FENCE)), Err(no.clone()));
        assert_eq!(now(store.mark(&key, NO_FENCE, None)), Err(no.clone()));
        assert_eq!(now(store.cached(&key, part)), Err(no.clone()));
        assert_eq!(now(store.cache(&key, part, "text", 1)), Err(no.clone()));
        assert_eq!(now(store.emit(&key, "event", 1)), Err(no.clone()));
        assert_eq!(now(store.search(&key, &Terms::of("x"), 1)), Err(no.clone()));
        assert_eq!(now(store.preview(&key, "p")), Err(no.clone()));
        assert_eq!(
            now(store.keep_preview(&key, "p", "text", 1)),
            Err(no.clone())
        );
        assert_eq!(now(store.rewrite(&key, Rewrite::default())), Err(no));
    });
}
