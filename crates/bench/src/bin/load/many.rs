//! Many threads in one store: made, listed, opened and compacted.

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, Json, ListThreads, SortBy, Threads};
use conspectus_providers::TokioClock;
use serde_json::json;

use crate::Sizes;
use crate::figures::{self, Times};
use crate::place::Place;
use crate::talk::{append, keep, talk, threads};

const MESSAGES: usize = 20;
const MAKERS: usize = 8;
const PAGE: u32 = 50;
/// Every so manieth thread is this user's.
const OTHERS: usize = 100;

pub(crate) async fn run(sizes: &Sizes) -> anyhow::Result<()> {
    let count = sizes.threads;
    figures::head(&format!(
        "{count} threads of {MESSAGES} messages in one store"
    ));
    let talk: Arc<[Json]> = talk(MESSAGES)?.into();
    for place in Place::all().await? {
        let threads = threads(place.store.clone());
        make(&place, &threads, &talk, count).await?;
        list(&place, &threads, sizes).await?;
        // A sample that is spread over all of them.
        let names: Vec<usize> = (0..sizes.sample)
            .map(|n| n * count / sizes.sample)
            .collect();
        let (mut states, mut compactions, mut found) = Default::default();
        for nth in names {
            let key = key(nth);
            let state = Times::of(&mut states, threads.state(&key, None)).await?;
            ensure!(
                state.values.messages.len() == MESSAGES,
                "{key:?} has lost messages"
            );
            let compacted = Times::of(&mut compactions, threads.compact(&key, &keep(4))).await?;
            ensure!(compacted.checkpoint_id.is_some(), "{key:?}: {compacted:?}");
            let get = Times::of(&mut found, threads.get(&key)).await?;
            ensure!(get.records > 0, "{key:?}: {get:?}");
        }
        figures::row(place.name, "open one, its state", &states, None);
        figures::row(place.name, "compact one, by a digest", &compactions, None);
        figures::row(place.name, "look at one", &found, None);
        drop(threads);
        place.close().await?;
    }
    Ok(())
}

fn key(nth: usize) -> ThreadKey {
    ThreadKey::new("load", &format!("thread-{nth:06}"))
}

async fn make(
    place: &Place,
    threads: &Arc<Threads<TokioClock>>,
    talk: &Arc<[Json]>,
    count: usize,
) -> anyhow::Result<()> {
    let began = Instant::now();
    let makers = (0..MAKERS).map(|maker| {
        let (threads, talk) = (threads.clone(), talk.clone());
        tokio::spawn(async move {
            let (mut created, mut appended) = (Times::default(), Times::default());
            for nth in (maker..count).step_by(MAKERS) {
                let metadata = match nth % OTHERS {
                    0 => [("user".to_owned(), json!("ann"))].into_iter().collect(),
                    _ => Default::default(),
                };
                let create = CreateThread {
                    metadata,
                    ..CreateThread::default()
                };
                created.of(threads.create(&key(nth), create)).await?;
                appended
                    .of(threads.append(&key(nth), &append(&talk)))
                    .await?;
            }
            anyhow::Ok((created, appended))
        })
    });
    let (mut created, mut appended) = (Times::default(), Times::default());
    for maker in makers.collect::<Vec<_>>() {
        let (of_create, of_append) = maker.await??;
        created.add(&of_create);
        appended.add(&of_append);
    }
    let within = began.elapsed();
    let what = format!("create one, {MAKERS} at a time");
    figures::row(place.name, &what, &created, Some(within));
    let what = format!("append {MESSAGES} messages to it");
    figures::row(place.name, &what, &appended, Some(within));
    Ok(())
}

async fn list(place: &Place, threads: &Threads<TokioClock>, sizes: &Sizes) -> anyhow::Result<()> {
    let count = sizes.threads;
    let middle = key(count / 2 - 1).thread;
    let page = ListThreads {
        limit: PAGE,
        ..ListThreads::default()
    };
    let newest = ListThreads {
        sort: SortBy::UpdatedAt,
        descending: true,
        ..page.clone()
    };
    let asked = [
        ("a page of 50 by name, the first", page.clone()),
        (
            "a page of 50 by name, from the middle",
            ListThreads {
                after: Some(middle),
                ..page.clone()
            },
        ),
        ("a page of 50, the newest first", newest.clone()),
        (
            "the same, behind half of them",
            ListThreads {
                offset: u32::try_from(count / 2)?,
                ..newest
            },
        ),
        (
            "those of one user in a hundred",
            ListThreads {
                metadata: [("user".to_owned(), json!("ann"))].into_iter().collect(),
                ..page
            },
        ),
    ];
    for (what, list) in asked {
        let mut times = Times::default();
        let expect = match list.metadata.is_empty() {
            true => PAGE as usize,
            false => (count / OTHERS).min(PAGE as usize),
        };
        for _ in 0..sizes.opened {
            let listed = times.of(threads.list("load", &list)).await?;
            ensure!(listed.len() == expect, "{what}: {} threads", listed.len());
        }
        figures::row(place.name, what, &times, None);
    }
    let mut times = Times::default();
    for _ in 0..sizes.opened {
        let counted = times
            .of(threads.count("load", &ListThreads::default()))
            .await?;
        ensure!(counted == count as u64, "{counted} threads");
    }
    figures::row(place.name, "count them", &times, None);
    Ok(())
}
