//! One thread of very many messages of which a few are shown.

use std::time::Instant;

use anyhow::ensure;
use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, Json, Page, Recall, Threads};
use conspectus_providers::TokioClock;

use crate::Sizes;
use crate::figures::{self, Times};
use crate::place::Place;
use crate::talk::{append, keep, talk, threads};

/// Messages that are shown.
const SHOWN: u64 = 200;
/// Messages that come at once while the thread is made.
const BATCH: usize = 500;
/// It is compacted so often meanwhile.
const COMPACTIONS: usize = 10;

pub(crate) async fn run(sizes: &Sizes) -> anyhow::Result<()> {
    let count = sizes.messages;
    figures::head(&format!(
        "A thread of {count} messages, {SHOWN} of them shown"
    ));
    let talk = talk(count)?;
    for place in Place::all().await? {
        let threads = threads(place.store.clone());
        let key = ThreadKey::new("load", "long");
        threads.create(&key, CreateThread::default()).await?;
        grow(&place, &threads, &key, &talk).await?;
        use_it(&place, &threads, &key, sizes.opened, count as u64).await?;
        let megabytes = place.bytes().await? as f64 / 1e6;
        println!(
            "| {} | on the disk: {megabytes:.0} MB | | | | |",
            place.name
        );
        drop(threads);
        place.close().await?;
    }
    Ok(())
}

async fn grow(
    place: &Place,
    threads: &Threads<TokioClock>,
    key: &ThreadKey,
    talk: &[Json],
) -> anyhow::Result<()> {
    let (mut appends, mut compactions) = (Times::default(), Times::default());
    let began = Instant::now();
    let between = talk.len().div_ceil(COMPACTIONS);
    for part in talk.chunks(between) {
        for batch in part.chunks(BATCH) {
            appends.of(threads.append(key, &append(batch))).await?;
        }
        let compacted = compactions.of(threads.compact(key, &keep(SHOWN))).await?;
        ensure!(compacted.checkpoint_id.is_some(), "{compacted:?}");
    }
    let what = format!("append {BATCH} messages at once");
    figures::row(place.name, &what, &appends, Some(began.elapsed()));
    let what = format!("compact {between} messages, the whole thread read");
    figures::row(place.name, &what, &compactions, None);
    Ok(())
}

async fn use_it(
    place: &Place,
    threads: &Threads<TokioClock>,
    key: &ThreadKey,
    times: usize,
    count: u64,
) -> anyhow::Result<()> {
    let middle = Page {
        limit: 50,
        before: Some(count / 2),
        after: None,
    };
    let query = Recall::Words {
        query: "src/part_7/file_123.rs".into(),
        limit: 10,
        folded_only: true,
    };
    let mut all: [Times; 6] = Default::default();
    let [checked, requested, stated, seen, recalled, appended] = &mut all;
    for nth in 0..times {
        let status = checked.of(threads.status(key)).await?;
        ensure!(status.can_undo && status.size.request > 0, "{status:?}");
        let request = requested.of(threads.request(key)).await?;
        let sent = request.messages.len() as u64;
        let shown = SHOWN + nth as u64;
        ensure!(
            (shown..shown + SHOWN).contains(&sent),
            "{sent} messages are sent"
        );
        stated.of(threads.state(key, None)).await?;
        let visible = seen.of(threads.visible(key, &middle)).await?;
        ensure!(
            visible.messages.len() == 50,
            "{} on a page",
            visible.messages.len()
        );
        let found = recalled.of(threads.recall(key, &query)).await?;
        ensure!(found.iter().all(|found| found.folded), "{found:?}");
        let said = format!(r#"{{"role": "user", "content": "And number {nth}?"}}"#);
        appended
            .of(threads.append(key, &append(&[Json::parse(&said)?])))
            .await?;
    }
    let what = [
        "open and check it (its status)",
        "the request to the model",
        "its state",
        "50 messages in the middle",
        "recall",
        "append one message",
    ];
    for (what, times) in what.into_iter().zip(&all) {
        figures::row(place.name, what, times, None);
    }
    Ok(())
}
