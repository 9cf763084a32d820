//! Whether the memory of a process is flat.
//!
//! The first half is left out: caches fill, threads start, the allocator takes what it keeps. Through the second half a line is
//! laid by least squares; what it rises by from the middle to the end is the growth. A leak of a few kilobytes a request grows by
//! much more than is allowed; a garbage of large answers at one moment does not tilt a line over hundreds of samples.

/// One look at a process: seconds since it began, bytes resident.
pub(crate) type Sample = (f64, f64);

/// What it may grow by in the second half: the larger of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// A share of what it has on average.
    share: f64,
    bytes: f64,
}

/// When a process has run for minutes.
pub(crate) const WARM: Allowed = Allowed {
    share: 0.05,
    bytes: 2e6,
};

/// When it has just begun, and still warms up in its second half.
pub(crate) const COLD: Allowed = Allowed {
    share: 0.5,
    bytes: 16e6,
};

/// How its memory went on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grown {
    /// What it has on average, in the second half.
    pub(crate) mean: f64,
    /// By how much it grew there.
    pub(crate) by: f64,
}

impl Grown {
    /// `None`: too few samples to tell.
    pub(crate) fn of(samples: &[Sample]) -> Option<Self> {
        let (first, last) = (samples.first()?.0, samples.last()?.0);
        let half = (first + last) / 2.0;
        let behind: Vec<Sample> = samples.iter().copied().filter(|s| s.0 >= half).collect();
        if behind.len() < 5 {
            return None;
        }
        let count = behind.len() as f64;
        let middle = behind.iter().map(|s| s.0).sum::<f64>() / count;
        let mean = behind.iter().map(|s| s.1).sum::<f64>() / count;
        let over: f64 = behind.iter().map(|s| (s.0 - middle) * (s.1 - mean)).sum();
        let under: f64 = behind.iter().map(|s| (s.0 - middle).powi(2)).sum();
        let by = over / under * (last - half);
        Some(Self { mean, by })
    }

    pub(crate) fn limit(&self, allowed: Allowed) -> f64 {
        (self.mean * allowed.share).max(allowed.bytes)
    }

    pub(crate) fn is_flat(&self, allowed: Allowed) -> bool {
        self.by <= self.limit(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: impl Fn(f64) -> f64, expect: Option<bool>) {
        let samples: Vec<Sample> = (0..600)
            .map(|at| at as f64 * 2.0)
            .map(|s| (s, bytes(s)))
            .collect();
        let grown = Grown::of(&samples);
        assert_eq!(grown.map(|g| g.is_flat(WARM)), expect, "{grown:?}");
    }

    #[test]
    fn a_leak_is_seen_and_a_warm_up_is_none() {
        check(|_| 60e6, Some(true));
        // It warms up in the first quarter, then goes up and down.
        check(
            |s| 60e6 - 40e6 * (-s / 60.0).exp() + 5e6 * (s / 7.0).sin(),
            Some(true),
        );
        // One peak near the end.
        check(
            |s| {
                if (1100.0..1110.0).contains(&s) {
                    90e6
                } else {
                    60e6
                }
            },
            Some(true),
        );
        // A kilobyte a request, a hundred requests a second.
        check(|s| 60e6 + 1e5 * s, Some(false));
        // Six megabytes in ten minutes.
        check(|s| 60e6 + 1e4 * s, Some(false));
        // It shrinks.
        check(|s| 60e6 - 1e4 * s, Some(true));
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(Grown::of(&[]), None);
        assert_eq!(Grown::of(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), None);
    }
}
