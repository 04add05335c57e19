//! Attempts at one request: how many, how long, with what pauses in between.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use zarr_store::Result;

use crate::StoreOptions;

/// Bytes that a network moves in a second, at least: a request has so much more time for those that it moves.
pub(crate) const SLOWEST: u64 = 64 << 10;

/// The first pause, about: the following ones grow to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// So long a server that is not there may take to start, about.
const ABSENT_PAUSE: Duration = Duration::from_millis(500);

/// A request that takes longer says so.
const SILENCE: Duration = Duration::from_secs(2);

/// How the requests of a store are tried again after a failure that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// All attempts at a request, with the pauses between them, end after so long. Bytes that come or go give a request more time: as
    /// long as they took, and no longer than 64 KiB/s need for them. Those that come again after an attempt was cut give none, once
    /// such an attempt has brought no more than the one before.
    pub deadline: Duration,
    /// An attempt fails to which nothing comes for so long.
    pub timeout: Duration,
    /// How often a request is tried again, at most.
    pub retries: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self::within(Duration::from_secs(30))
    }
}

impl Retry {
    /// With this deadline, a third of it for each attempt, and as many attempts as it has time for.
    #[must_use]
    pub fn within(deadline: Duration) -> Self {
        Self { deadline, timeout: deadline / 3, retries: u32::MAX }
    }

    /// Takes the options `deadline`, `timeout` and `retries`.
    ///
    /// # Errors
    /// If one is no time, or no number.
    pub fn take(options: &mut StoreOptions<'_>) -> Result<Self> {
        let mut retry = options.duration("deadline")?.map_or_else(Self::default, Self::within);
        retry.timeout = options.duration("timeout")?.unwrap_or(retry.timeout);
        if let Some(retries) = options.number("retries", 0, 1000)? {
            retry.retries = u32::try_from(retries).unwrap_or(u32::MAX);
        }
        Ok(retry)
    }
}

/// The most often that a request is tried again: bytes that come give it more time, also those of answers that are cut after each
/// further byte.
const MOST: u32 = 100;

/// The attempts at one request.
#[derive(Clone, Debug)]
pub struct Attempts {
    retry: Retry,
    start: Instant,
    /// `None`: it lies beyond what the clock can say.
    end: Option<Instant>,
    made: u32,
    given_up: bool,
    /// No server was there so often.
    absent: u32,
    /// A warning said that it takes longer.
    warned: bool,
    kept_back: Duration,
    came: Came,
}

/// The bytes of an answer that came.
#[derive(Clone, Copy, Debug)]
struct Came {
    /// Time at which the answer was asked for.
    since: Instant,
    /// The most that an attempt has brought.
    most: u64,
    /// Whether this attempt has brought more than those before.
    is_more: bool,
    /// Bytes up to this one give no time: they came before, and again.
    known: u64,
    /// The time that those of this attempt have given.
    given: Duration,
}

/// Why a request is tried again, which says how long to wait before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The connection broke, as one does that a server has closed while it was not used: the first time another one is tried at once.
    Reconnect,
    /// Something else failed.
    Later,
    /// Nothing says that there is such a server: one further attempt is all.
    Once,
    /// The server asks to wait for so long.
    After(Duration),
}

impl Attempts {
    /// Makes the record of a request that sends `sent` bytes, without attempts yet. The time begins.
    #[must_use]
    pub fn new(retry: Retry, sent: u64) -> Self {
        let start = Instant::now();
        let end = start.checked_add(retry.deadline).and_then(|end| end.checked_add(moving(sent)));
        let came = Came { since: start, most: 0, is_more: false, known: 0, given: Duration::ZERO };
        Self { retry, start, end, made: 0, given_up: false, absent: 0, warned: false, kept_back: Duration::ZERO, came }
    }

    /// Counts one more attempt, which begins.
    pub fn begin(&mut self) {
        self.made += 1;
    }

    /// Number of attempts that were begun.
    #[must_use]
    pub fn made(&self) -> u32 {
        self.made
    }

    /// How much time is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// Notes that `bytes` bytes of the answer have come by now, which gives the request more time: as much as they took.
    pub fn received(&mut self, bytes: u64) {
        let came = &mut self.came;
        came.is_more |= bytes > came.most;
        came.most = came.most.max(bytes);
        let time = came.since.elapsed().min(moving(bytes.saturating_sub(came.known)));
        let more = time.saturating_sub(came.given);
        came.given += more;
        self.excuse(more);
    }

    /// The bytes that came are thrown away: the next attempt brings them again. That may take its time once; where an attempt brings no
    /// more than those before, what comes again gives the next ones no time.
    pub fn thrown_away(&mut self) {
        let Came { most, is_more, .. } = self.came;
        let known = if is_more { 0 } else { most };
        self.came = Came { since: Instant::now(), most, is_more: false, known, given: Duration::ZERO };
    }

    /// Keeps a quarter of the deadline back, for finding out at the end what became of the attempts.
    pub fn keep_back(&mut self) {
        let time = self.retry.deadline / 4;
        if let Some(end) = self.end.and_then(|end| end.checked_sub(time)) {
            (self.end, self.kept_back) = (Some(end), time);
        }
    }

    /// These attempts with the time that was kept back, for finding out what became of them.
    #[must_use]
    pub fn with_kept_back(mut self) -> Self {
        let time = std::mem::take(&mut self.kept_back);
        self.excuse(time);
        self.given_up = false;
        self
    }

    /// The request has so much more time.
    pub(crate) fn excuse(&mut self, time: Duration) {
        self.end = self.end.and_then(|end| end.checked_add(time));
    }

    /// Waits before the next attempt. False if there is to be none: then there will not be one later either.
    ///
    /// Where a request has taken two seconds by then, a warning of the crate `log` says once that it is tried again, and what `failure`
    /// says of the last attempt.
    pub async fn pause(&mut self, again: Again, failure: impl FnOnce() -> String) -> bool {
        let longest = LONGEST_PAUSE.min(self.retry.deadline / 8);
        let due = FIRST_PAUSE.min(self.retry.deadline / 100).saturating_mul(1 << self.made.saturating_sub(1).min(16));
        let due = due.min(longest);
        let left = self.left();
        let wait = match again {
            Again::Reconnect if self.made <= 1 => Duration::ZERO,
            Again::Once => ABSENT_PAUSE.min(longest),
            Again::Reconnect | Again::Later => due / 2 + chance(due / 2),
            // Others were asked to wait for as long.
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

/// How many attempts there were, and how long they took: `3 attempts in 1.4 s`.
impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = if self.made == 1 { "attempt" } else { "attempts" };
        write!(f, "{} {attempts} in {:.1} s", self.made, self.start.elapsed().as_secs_f64())
    }
}

/// Time that a slow network takes to move `bytes` bytes.
pub(crate) fn moving(bytes: u64) -> Duration {
    Duration::from_millis(bytes.saturating_mul(1000) / SLOWEST)
}

/// Draws a time up to this one by chance.
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

    /// As long as it goes on: how many attempts there are, and how long they take.
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

    /// Bytes of answers that are cut give a request more time, again and again.
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
