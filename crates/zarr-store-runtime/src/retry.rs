//! Attempts at one request: their number, their time limit, and the pauses between them.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use zarr_store::Result;

use crate::StoreOptions;

/// Least speed of a network in bytes per second, by which moved bytes extend the time limit of a request.
pub(crate) const SLOWEST: u64 = 64 << 10;

/// Approximate length of the first pause. Further pauses grow up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Approximate time that is waited for an absent server to start.
const ABSENT_PAUSE: Duration = Duration::from_millis(500);

/// Time after which a request that is retried logs a warning.
const SILENCE: Duration = Duration::from_secs(2);

/// Rules for retrying the requests of a store after failures that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Time limit for all attempts at a request and the pauses between them. Bytes that are received or sent extend it: by as long as they
    /// took, and at most by the time that they need at 64 KiB/s. Bytes that are received again after an interrupted attempt no longer
    /// extend it once an attempt has received no more bytes than the one before.
    pub deadline: Duration,
    /// Time without received bytes after which an attempt fails.
    pub timeout: Duration,
    /// Greatest number of retries of a request.
    pub retries: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self::within(Duration::from_secs(30))
    }
}

impl Retry {
    /// Creates rules with this deadline, a third of it as the timeout of an attempt, and no limit for retries.
    #[must_use]
    pub fn within(deadline: Duration) -> Self {
        Self { deadline, timeout: deadline / 3, retries: u32::MAX }
    }

    /// Takes the options `deadline`, `timeout` and `retries`.
    ///
    /// # Errors
    /// If the value of an option is not a time, or not a number.
    pub fn take(options: &mut StoreOptions<'_>) -> Result<Self> {
        let mut retry = options.duration("deadline")?.map_or_else(Self::default, Self::within);
        retry.timeout = options.duration("timeout")?.unwrap_or(retry.timeout);
        if let Some(retries) = options.number("retries", 0, 1000)? {
            retry.retries = u32::try_from(retries).unwrap_or(u32::MAX);
        }
        Ok(retry)
    }
}

/// Greatest number of retries in any case, since received bytes extend the time limit, even for responses that are interrupted after each
/// further byte.
const MOST: u32 = 100;

/// Attempts at one request.
#[derive(Clone, Debug)]
pub struct Attempts {
    retry: Retry,
    start: Instant,
    /// End of the time limit; `None` if it is beyond the range of the clock.
    end: Option<Instant>,
    made: u32,
    given_up: bool,
    /// Number of attempts that found no server.
    absent: u32,
    /// Whether a warning about the duration was logged.
    warned: bool,
    kept_back: Duration,
    came: Came,
}

/// Received bytes of a response.
#[derive(Clone, Copy, Debug)]
struct Came {
    /// Time at which the response was requested.
    since: Instant,
    /// Greatest number of bytes that an attempt has received.
    most: u64,
    /// Whether this attempt has received more bytes than those before.
    is_more: bool,
    /// Number of bytes at the beginning that do not extend the time limit, since they were received before.
    known: u64,
    /// Extension of the time limit by the bytes of this attempt.
    given: Duration,
}

/// Reason for a retry, which determines how long to wait before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The connection broke, as happens if a server has closed an idle connection: the first retry is immediate.
    Reconnect,
    /// Another failure: the retry waits.
    Later,
    /// The server does not seem to exist: there is only one retry.
    Once,
    /// The server asks to wait for this time.
    After(Duration),
}

impl Attempts {
    /// Creates the record of a request that sends `sent` bytes. Its time begins.
    #[must_use]
    pub fn new(retry: Retry, sent: u64) -> Self {
        let start = Instant::now();
        let end = start.checked_add(retry.deadline).and_then(|end| end.checked_add(moving(sent)));
        let came = Came { since: start, most: 0, is_more: false, known: 0, given: Duration::ZERO };
        Self { retry, start, end, made: 0, given_up: false, absent: 0, warned: false, kept_back: Duration::ZERO, came }
    }

    /// Counts a new attempt.
    pub fn begin(&mut self) {
        self.made += 1;
    }

    /// Returns the number of attempts so far.
    #[must_use]
    pub fn made(&self) -> u32 {
        self.made
    }

    /// Returns the remaining time.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Records that `bytes` bytes of the response have been received in total, which extends the time limit by the time that they took.
    pub fn received(&mut self, bytes: u64) {
        let came = &mut self.came;
        came.is_more |= bytes > came.most;
        came.most = came.most.max(bytes);
        let time = came.since.elapsed().min(moving(bytes.saturating_sub(came.known)));
        let more = time.saturating_sub(came.given);
        came.given += more;
        self.excuse(more);
    }

    /// Records that the received bytes are discarded, so that the next attempt receives them again. That extends the time limit once; if an
    /// attempt receives no more bytes than those before, repeated bytes do not extend it any more.
    pub fn thrown_away(&mut self) {
        let Came { most, is_more, .. } = self.came;
        let known = if is_more { 0 } else { most };
        self.came = Came { since: Instant::now(), most, is_more: false, known, given: Duration::ZERO };
    }

    /// Reserves a quarter of the deadline for a final check of the outcome of the attempts.
    pub fn keep_back(&mut self) {
        let time = self.retry.deadline / 4;
        if let Some(end) = self.end.and_then(|end| end.checked_sub(time)) {
            (self.end, self.kept_back) = (Some(end), time);
        }
    }

    /// Returns the attempts with the reserved time, for a final check of their outcome.
    #[must_use]
    pub fn with_kept_back(mut self) -> Self {
        let time = std::mem::take(&mut self.kept_back);
        self.excuse(time);
        self.given_up = false;
        self
    }

    /// Extends the time limit.
    pub(crate) fn excuse(&mut self, time: Duration) {
        self.end = self.end.and_then(|end| end.checked_add(time));
    }

    /// Waits before the next attempt. Returns false if there may be none, now or later.
    ///
    /// If the request has taken two seconds by then, logs a warning once that it is retried, with the description of the last attempt
    /// that `failure` returns.
    pub async fn pause(&mut self, again: Again, failure: impl FnOnce() -> String) -> bool {
        let longest = LONGEST_PAUSE.min(self.retry.deadline / 8);
        let due = FIRST_PAUSE.min(self.retry.deadline / 100).saturating_mul(1 << self.made.saturating_sub(1).min(16));
        let due = due.min(longest);
        let left = self.left();
        let wait = match again {
            Again::Reconnect if self.made <= 1 => Duration::ZERO,
            Again::Once => ABSENT_PAUSE.min(longest),
            Again::Reconnect | Again::Later => due / 2 + chance(due / 2),
            // Other clients were asked to wait equally long, so add a random time.
            Again::After(asked) => asked.saturating_add(chance(due.min(left.saturating_sub(asked) / 2))),
        };
        self.given_up |= self.made > self.retry.retries.min(MOST) || wait >= left;
        self.absent += u32::from(again == Again::Once);
        self.given_up |= self.absent > 1;
        if !self.given_up {
            if !self.warned && self.start.elapsed() + wait >= SILENCE {
                self.warned = true;
                log::warn!("{} ({self}): tried again for up to {} s", failure(), self.left().as_secs());
            }
            tokio::time::sleep(wait).await;
        }
        !self.given_up
    }
}

/// Formats the number of attempts and their duration: `3 attempts in 1.4 s`.
impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = if self.made == 1 { "attempt" } else { "attempts" };
        write!(f, "{} {attempts} in {:.1} s", self.made, self.start.elapsed().as_secs_f64())
    }
}

/// Returns the time that a slow network takes to move `bytes` bytes.
pub(crate) fn moving(bytes: u64) -> Duration {
    Duration::from_millis(bytes.saturating_mul(1000) / SLOWEST)
}

/// Returns a random time up to `most`.
fn chance(most: Duration) -> Duration {
    let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    // The only source of random numbers in the standard library.
    Duration::from_nanos(if most == 0 { 0 } else { RandomState::new().hash_one(()) % most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
    }

    /// Makes attempts until no further one is allowed. Returns their number and total duration.
    async fn all(retry: Retry, again: Again) -> (u32, Duration) {
        let mut attempts = Attempts::new(retry, 0);
        loop {
            attempts.begin();
            if !attempts.pause(again, String::new).await {
                // There is no way back.
                assert!(!attempts.pause(Again::Reconnect, String::new).await);
                return (attempts.made, attempts.start.elapsed());
            }
        }
    }

    #[test]
    fn the_deadline_ends_them() {
        let retry = Retry::within(Duration::from_millis(400));
        let (made, took) = run(all(retry, Again::Later));
        assert!((8..200).contains(&made) && took > Duration::from_millis(250), "{made}, {took:?}");
        assert!(took < Duration::from_millis(500), "{took:?}");
        assert_eq!(run(all(Retry { retries: 2, ..retry }, Again::Later)).0, 3);
        assert_eq!(run(all(Retry { retries: 0, ..retry }, Again::Later)).0, 1);
        assert_eq!(run(all(retry, Again::Once)).0, 2);
    }

    #[test]
    fn a_server_may_ask_to_wait() {
        let retry = Retry::within(Duration::from_millis(400));
        let (made, took) = run(all(retry, Again::After(Duration::from_millis(150))));
        assert!((2..=3).contains(&made) && took >= Duration::from_millis(150), "{made}, {took:?}");
        // Longer than there is time: it is not asked again.
        let (made, took) = run(all(retry, Again::After(Duration::from_secs(60))));
        assert!(made == 1 && took < Duration::from_millis(100), "{made}, {took:?}");
    }

    #[test]
    fn one_retry_is_immediate() {
        let retry = Retry::within(Duration::from_secs(100));
        run(async {
            let mut attempts = Attempts::new(retry, 0);
            attempts.begin();
            assert!(
                attempts.pause(Again::Reconnect, String::new).await
                    && attempts.start.elapsed() < Duration::from_millis(20)
            );
            attempts.begin();
            assert!(
                attempts.pause(Again::Reconnect, String::new).await
                    && attempts.start.elapsed() >= Duration::from_millis(50)
            );
            assert!(attempts.to_string().starts_with("2 attempts in 0."), "{attempts}");
        });
    }

    #[test]
    fn bytes_give_time() {
        let retry = Retry::within(Duration::from_secs(1));
        let attempts = Attempts::new(retry, 10 * SLOWEST);
        assert!(attempts.left() > Duration::from_secs(10) && attempts.left() <= Duration::from_secs(11));
    }

    #[test]
    fn bytes_that_come_give_the_time_that_they_took() {
        let retry = Retry::within(Duration::from_millis(500));
        let wait = || std::thread::sleep(Duration::from_millis(100));
        let mut attempts = Attempts::new(retry, 0);
        wait();
        // They came fast: no time is left over for later.
        attempts.received(SLOWEST);
        assert!(attempts.left() > Duration::from_millis(450) && attempts.left() <= retry.deadline);
        wait();
        // They came slowly: as many as these may take a hundredth of a second.
        let left = attempts.left();
        attempts.thrown_away();
        wait();
        attempts.received(SLOWEST / 100);
        assert!(attempts.left() <= left.saturating_sub(Duration::from_millis(80)), "{:?}", attempts.left());
        // It brought no more than the one before, so that what comes again takes the time of the request.
        attempts.thrown_away();
        let left = attempts.left();
        wait();
        attempts.received(SLOWEST);
        assert!(attempts.left() <= left.saturating_sub(Duration::from_millis(100)), "{:?}", attempts.left());
        // And further bytes do not.
        let left = attempts.left();
        attempts.received(3 * SLOWEST);
        assert!(attempts.left() >= left + Duration::from_millis(50), "{:?}", attempts.left());
    }

    #[test]
    fn time_that_is_kept_back() {
        let mut attempts = Attempts::new(Retry::within(Duration::from_secs(8)), SLOWEST);
        attempts.keep_back();
        assert!(attempts.left() > Duration::from_secs(6) && attempts.left() <= Duration::from_secs(7));
        let found_out = attempts.clone().with_kept_back();
        assert!(found_out.left() > Duration::from_secs(8) && found_out.left() <= Duration::from_secs(9));
        assert!(found_out.with_kept_back().left() <= Duration::from_secs(9), "once");
    }

    #[test]
    fn answers_that_are_cut_again_and_again_end() {
        run(async {
            let mut attempts = Attempts::new(Retry::within(Duration::from_millis(400)), 0);
            attempts.begin();
            while attempts.pause(Again::Later, String::new).await {
                attempts.begin();
                attempts.received(100 * SLOWEST);
                attempts.thrown_away();
            }
            assert!(attempts.start.elapsed() < Duration::from_millis(800), "{attempts}");
            // Each brings a little more.
            let mut attempts = Attempts::new(Retry::within(Duration::from_millis(20)), 0);
            attempts.begin();
            let mut came = 0;
            while attempts.pause(Again::Later, String::new).await {
                attempts.begin();
                came += 100 * SLOWEST;
                attempts.received(came);
            }
            assert!((2..=MOST + 1).contains(&attempts.made()), "{attempts}");
        });
    }

    /// The number of attempts is limited even if interrupted responses extend the time limit again and again.
    #[test]
    fn there_are_only_so_many_attempts_however_much_time_is_left() {
        run(async {
            let mut attempts = Attempts::new(Retry::within(Duration::from_millis(16)), 0);
            attempts.excuse(Duration::from_secs(1000));
            attempts.begin();
            while attempts.pause(Again::Later, String::new).await {
                attempts.begin();
                assert!(attempts.made() <= MOST + 1, "{attempts}");
            }
            assert_eq!(attempts.made(), MOST + 1);
            assert!(attempts.left() > Duration::from_secs(900), "{attempts}");
        });
    }

    #[test]
    fn options() {
        let take = |given: &[(&str, &str)]| {
            let given: Vec<(String, String)> =
                given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Retry::take(&mut StoreOptions::new("s", &given))
        };
        assert_eq!(take(&[]).expect("defaults"), Retry::default());
        assert_eq!(Retry::default().timeout, Duration::from_secs(10));
        let retry = take(&[("deadline", "60s"), ("retries", "4")]).expect("options");
        let (deadline, timeout) = (Duration::from_secs(60), Duration::from_secs(20));
        assert_eq!(retry, Retry { deadline, timeout, retries: 4 });
        assert!(take(&[("deadline", "never")]).is_err());
    }
}
