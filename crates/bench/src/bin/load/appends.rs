//! Writers that append one message at a time, each waiting until it is stored.

use std::sync::Arc;
use std::time::Instant;

use conspectus::store::ThreadKey;
use conspectus::threads::{CreateThread, Json, Threads};
use conspectus_providers::TokioClock;

use crate::Sizes;
use crate::figures::{self, Times};
use crate::place::Place;
use crate::talk::{append, talk, threads};

/// A writer goes on to a new thread after so many messages: a longer one would be compacted.
const WINDOW: usize = 100;

pub(crate) async fn run(sizes: &Sizes) -> anyhow::Result<()> {
    figures::head("Appends, one message each, until it is stored");
    let talk: Arc<[Json]> = talk(WINDOW)?.into();
    for writers in [1, 8] {
        for place in Place::all().await? {
            let threads = threads(place.store.clone());
            let began = Instant::now();
            let writing = (0..writers).map(|writer| {
                let (threads, talk) = (threads.clone(), talk.clone());
                tokio::spawn(write(threads, talk, writer, sizes.appends / writers))
            });
            let mut times = Times::default();
            for writer in writing.collect::<Vec<_>>() {
                times.add(&writer.await??);
            }
            let what = match writers {
                1 => "1 writer".to_owned(),
                many => format!("{many} writers, each on threads of its own"),
            };
            figures::row(place.name, &what, &times, Some(began.elapsed()));
            drop(threads);
            place.close().await?;
        }
    }
    Ok(())
}

async fn write(
    threads: Arc<Threads<TokioClock>>,
    talk: Arc<[Json]>,
    writer: usize,
    count: usize,
) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for nth in 0..count {
        let key = ThreadKey::new("load", &format!("t-{writer}-{}", nth / talk.len()));
        let at = nth % talk.len();
        if at == 0 {
            threads.create(&key, CreateThread::default()).await?;
        }
        let message = append(&talk[at..=at]);
        let appended = times.of(threads.append(&key, &message)).await?;
        anyhow::ensure!(appended.new == 1, "{key:?}: message {at} is not new");
    }
    Ok(times)
}
