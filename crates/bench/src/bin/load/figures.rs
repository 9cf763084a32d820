//! Times, and the table that they stand in.

use std::time::{Duration, Instant};

/// How long one thing took, each time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Waits for it and keeps how long that was.
    pub(crate) async fn of<T>(&mut self, future: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let value = future.await;
        self.0.push(began.elapsed());
        value
    }

    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this share took no longer than: 0.5 is the median.
    fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let at = (share * last as f64).round() as usize;
        sorted.get(at).copied().unwrap_or_default()
    }
}

/// The head of a table of times.
pub(crate) fn head(title: &str) {
    println!(
        "\n### {title}\n\n| store | what | times | a second | p50 | p99 |\n|---|---|--:|--:|--:|--:|"
    );
}

/// A row of it. `within`: how long all of them took together, where they went on side by side.
pub(crate) fn row(store: &str, what: &str, times: &Times, within: Option<Duration>) {
    let rate = within.map_or_else(String::new, |within| {
        format!("{:.0}", times.count() as f64 / within.as_secs_f64())
    });
    println!(
        "| {store} | {what} | {} | {rate} | {} | {} |",
        times.count(),
        shown(times.quantile(0.5)),
        shown(times.quantile(0.99))
    );
}

fn shown(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    match ms {
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms if ms >= 10.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.2} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_taken() {
        let mut times = Times::default();
        (1..=101)
            .rev()
            .for_each(|ms| times.push(Duration::from_millis(ms)));
        let at = |share| times.quantile(share).as_millis();
        assert_eq!([at(0.0), at(0.5), at(0.99), at(1.0)], [1, 51, 100, 101]);
        assert_eq!(Times::default().quantile(0.5), Duration::ZERO);
    }
}
