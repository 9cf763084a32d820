//! What every request needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use conspectus::Clock;
use conspectus::threads::Threads;

use crate::log::Log;
use crate::metrics::Metrics;
use crate::origin::Allowed;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::stop::Stop;

/// One server's state.
pub(crate) struct App {
    pub(crate) threads: Arc<Threads<Arc<dyn Clock>>>,
    pub(crate) settings: Settings,
    pub(crate) allowed: Allowed,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) stop: Stop,
    pub(crate) began_ms: u64,
    pub(crate) requests: AtomicU64,
}

impl App {
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
