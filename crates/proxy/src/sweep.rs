//! Threads of conversations that nobody goes on with are removed: after a time, and where there are too many.
//!
//! Only threads that the proxy made go; those of others in the same store stay. A conversation whose thread is gone
//! begins a new one when it goes on after all, by what its list says.

use std::sync::Arc;
use std::time::Duration;

use conspectus::core::effect::Millis;
use conspectus::store::{Listed, Listing, Order, StoreError, ThreadKey, ThreadStore};

use crate::handle::App;
use crate::keeper::PREFIX;
use crate::settings::Keep;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(60 * 60);
const PAGE: u32 = 200;

/// Removes them, again and again.
pub(crate) async fn sweeping(app: Arc<App>) {
    let mut tenants: Vec<Arc<str>> = vec![conspectus_server::ALONE.into()];
    tenants.extend(app.settings.tokens.tenants());
    tenants.sort_unstable();
    tenants.dedup();
    loop {
        for tenant in &tenants {
            let (store, now) = (app.keeper.store(), app.keeper.now());
            match sweep(store, tenant, app.settings.keep, now).await {
                Ok(0) => {}
                Ok(gone) => app
                    .log
                    .line(format_args!("sweep tenant={tenant} removed={gone}")),
                // It is tried again in an hour.
                Err(_) => app.log.line(format_args!("sweep tenant={tenant} failed")),
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Removes what is too old and what is too many of a tenant; says how many.
async fn sweep(
    store: &dyn ThreadStore,
    tenant: &Arc<str>,
    keep: Keep,
    now: Millis,
) -> Result<usize, StoreError> {
    let mut ours: Vec<(Millis, Arc<str>)> = Vec::new();
    let mut after = None;
    loop {
        let listing = Listing {
            order: Order::Written,
            after,
            limit: PAGE,
            ..Listing::default()
        };
        let page = store.list(tenant, &listing).await?;
        let is_last = page.len() < PAGE as usize;
        after = page.last().map(|(name, head)| Listed {
            ms: head.written_ms,
            thread: name.clone(),
        });
        let page = page.into_iter().map(|(name, head)| (head.written_ms, name));
        ours.extend(page.filter(|(_, name)| name.starts_with(PREFIX)));
        if is_last {
            break;
        }
    }
    let time = Millis::try_from(keep.time.as_millis()).unwrap_or(Millis::MAX);
    let before = now.saturating_sub(time);
    let old = match time {
        0 => 0,
        _ => ours.partition_point(|(written, _)| *written < before),
    };
    let most = usize::try_from(keep.threads).unwrap_or(usize::MAX);
    let many = match most {
        0 => 0,
        _ => ours.len().saturating_sub(most),
    };
    ours.truncate(old.max(many));
    for (_, name) in &ours {
        let key = ThreadKey::new(tenant, name);
        // Who works on it finds out that it is gone, and begins it again.
        store.delete(&key).await?;
    }
    Ok(ours.len())
}

#[cfg(test)]
mod tests {
    use conspectus_store::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn what_is_old_and_what_is_too_many_goes() {
        let tenant: Arc<str> = "ann".into();
        let check = async |time: u64, threads: u64, expect: &[&str]| {
            let store = MemoryStore::default();
            for (name, at) in [("px-a", 10), ("mine", 5), ("px-b", 20), ("px-c", 30)] {
                let made = store.create(&ThreadKey::new("ann", name), "{}", at).await;
                assert!(made.expect("it is made"));
            }
            let keep = Keep {
                time: Duration::from_millis(time),
                threads,
            };
            let gone = sweep(&store, &tenant, keep, 31).await.expect("it is swept");
            let listing = Listing {
                limit: 10,
                ..Listing::default()
            };
            let left = store.list("ann", &listing).await.expect("a list");
            let left: Vec<_> = left.iter().map(|(name, _)| &**name).collect();
            assert_eq!((left.as_slice(), gone), (expect, 4 - expect.len()));
        };
        check(0, 0, &["mine", "px-a", "px-b", "px-c"]).await;
        check(15, 0, &["mine", "px-b", "px-c"]).await;
        check(0, 1, &["mine", "px-c"]).await;
        check(1, 2, &["mine", "px-c"]).await;
    }
}
