//! Repeated attempts at conditional changes that fail because of other writers.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use crate::backoff;

/// Counter of the failed attempts at a conditional change. Each further attempt follows a pause of random length; the number of attempts
/// and the total time are bounded.
///
/// Pauses grow with the number of attempts, as [`backoff`] does, and with the duration of an attempt: if each request takes long,
/// short pauses would let the same writers collide again. `Display` shows the number and the total time of attempts: `17 times in 60.2 s`.
///
/// ```
/// # use std::time::Duration;
/// # use zarr_store::Conflicts;
/// let mut conflicts = Conflicts::new(2);
/// assert!(conflicts.again().is_some() && conflicts.again().is_some());
/// assert!(conflicts.again().is_none());
/// assert!(conflicts.to_string().starts_with("3 times in "));
/// ```
#[derive(Clone, Debug)]
pub struct Conflicts {
    most: u32,
    patience: Duration,
    count: u32,
    /// Time of the first conflict; `None` before it.
    since: Option<Instant>,
    /// Time at which the present attempt began; `None` for the first attempt.
    begun: Option<Instant>,
}

impl Conflicts {
    /// Maximum total time of all attempts, unless [`patience`](Self::patience) sets another.
    pub const PATIENCE: Duration = Duration::from_secs(60);
    /// Upper bound on the part of a pause that depends on the duration of attempts.
    const LONGEST: Duration = Duration::from_secs(2);

    /// Returns a counter without conflicts, which allows at most `most` further attempts, and none after [`PATIENCE`](Self::PATIENCE).
    #[must_use]
    pub const fn new(most: u32) -> Self {
        Self { most, patience: Self::PATIENCE, count: 0, since: None, begun: None }
    }

    /// Sets the maximum total time of all attempts.
    #[must_use]
    pub const fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Counts a conflict. Returns the pause before the next attempt; `None` if no further attempt is allowed.
    pub fn again(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        self.count = self.count.saturating_add(1);
        if self.count > self.most || now.saturating_duration_since(since) >= self.patience {
            return None;
        }
        let attempt = self.begun.map_or(Duration::ZERO, |begun| now.saturating_duration_since(begun));
        let pause = backoff(self.count).max(part(attempt.saturating_mul(2).min(Self::LONGEST)));
        self.begun = now.checked_add(pause);
        Some(pause)
    }

    /// Returns the number of conflicts that were counted.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }
}

/// Returns a random duration below `time`.
fn part(time: Duration) -> Duration {
    // The only source of random numbers in the standard library.
    let random = RandomState::new().hash_one(0);
    Duration::from_nanos(random % (u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).max(1))
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        match self.count {
            1 => write!(f, "once in {seconds:.1} s"),
            count => write!(f, "{count} times in {seconds:.1} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_end_when_the_time_is_over() {
        let mut conflicts = Conflicts::new(u32::MAX).patience(Duration::from_millis(50));
        let begun = Instant::now();
        while let Some(pause) = conflicts.again() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{conflicts}");
            std::thread::sleep(pause);
        }
        assert!(begun.elapsed() >= Duration::from_millis(50), "{conflicts}");
        assert!(conflicts.count() > 1 && conflicts.to_string().contains(" times in "), "{conflicts}");
    }

    #[test]
    fn pauses_grow_with_the_time_of_an_attempt() {
        // Random numbers: of thirty pauses of up to 40 ms one is longer than any after quick attempts.
        let mut longest = Duration::ZERO;
        for _ in 0..30 {
            let mut conflicts = Conflicts::new(10);
            let pause = conflicts.again().expect("the first");
            std::thread::sleep(pause + Duration::from_millis(20));
            longest = longest.max(conflicts.again().expect("the second"));
        }
        assert!(longest > Duration::from_millis(13), "{longest:?}");
        assert!((0..100).all(|_| Conflicts::new(1).again().expect("one") < Duration::from_millis(1)));
    }
}
