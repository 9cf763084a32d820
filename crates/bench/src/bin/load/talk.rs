//! Messages to append, and threads over a store.

use std::sync::Arc;

use conspectus::store::ThreadStore;
use conspectus::threads::{Append, CompactThread, Json, Settings, Threads};
use conspectus::{Compactor, Models, core::policy::KeepOption};
use conspectus_bench::{Shape, openai};
use conspectus_providers::TokioClock;
use serde_json::value::RawValue;

/// Bytes of text that a message has on average.
pub(crate) const MEAN_BYTES: usize = 400;

/// Made-up messages, without the system prompt.
pub(crate) fn talk(messages: usize) -> anyhow::Result<Vec<Json>> {
    let list = openai(Shape {
        messages,
        mean_bytes: MEAN_BYTES,
    });
    let list: Vec<&RawValue> = serde_json::from_str(&list)?;
    Ok(list.into_iter().skip(1).map(Json::from).collect())
}

/// Threads over a store, compacted without a model.
pub(crate) fn threads(store: Arc<dyn ThreadStore>) -> Arc<Threads<TokioClock>> {
    let compactor = Compactor::new(Models::new(), TokioClock::since_1970());
    let settings = Settings::new("load");
    Arc::new(Threads::new(store, Arc::new(compactor), settings))
}

pub(crate) fn append(messages: &[Json]) -> Append {
    Append {
        messages: messages.to_vec(),
        ..Append::default()
    }
}

/// All but the newest so many are folded.
pub(crate) fn keep(messages: u64) -> CompactThread {
    CompactThread {
        keep: Some(KeepOption::Messages(messages)),
        ..CompactThread::default()
    }
}
