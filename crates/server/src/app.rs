//! What every request needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conspectus::Clock;
use conspectus::store::ThreadKey;
use conspectus::threads::{Threads, ThreadsError};
use conspectus_agent::Runs;

use crate::log::Log;
use crate::metrics::Metrics;
use crate::origin::Allowed;
use crate::problem::Problem;
use crate::runs::Begun;
use crate::settings::Settings;
use crate::stop::Stop;

/// One server's state.
pub(crate) struct App {
    pub(crate) threads: Arc<Threads<Arc<dyn Clock>>>,
    /// The agents; `None`: this service has none.
    pub(crate) runs: Option<Runs>,
    pub(crate) begun: Begun,
    pub(crate) settings: Settings,
    pub(crate) allowed: Allowed,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) stop: Stop,
    pub(crate) began_ms: u64,
    pub(crate) requests: AtomicU64,
}

impl App {
    /// The agents.
    ///
    /// # Errors
    /// When there are none.
    pub(crate) fn runs(&self) -> Result<&Runs, Problem> {
        let detail = "this service runs no agents; give its configuration a list models:";
        self.runs
            .as_ref()
            .ok_or_else(|| Problem::conflict("no_agents", detail))
    }

    /// Deletes a thread, with the files that its agents made.
    ///
    /// # Errors
    /// When there is none, or the store fails.
    pub(crate) async fn delete(&self, key: &ThreadKey) -> Result<(), ThreadsError> {
        self.threads.delete(key).await?;
        let forgotten = self.runs.as_ref().map(|runs| runs.forget(key));
        if let Some(Err(why)) = forgotten {
            let thread = &key.thread;
            let line = format_args!("thread={thread} deleted, its workspace is left: {why}");
            self.log.line(line);
        }
        Ok(())
    }

    /// An id for a request that brings none: when the server began, and which one it is.
    pub(crate) fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{number}", self.began_ms)
    }

    /// The length of a page.
    ///
    /// # Errors
    /// When it is none, or longer than pages may be.
    pub(crate) fn page(&self, limit: u32) -> Result<u32, Problem> {
        let most = self.settings.limits.max_page;
        match (1..=most).contains(&limit) {
            true => Ok(limit),
            false => Err(Problem::invalid(format!("limit is 1 to {most}"))),
        }
    }
}
