//! Chunks that reads get and decode at present. Another read of such a chunk waits for its entry, and does not get it as well.
//!
//! A read that misses a chunk claims it, and drops the claim when the entry is in the cache, or when the read fails, panics or is dropped. A
//! read that finds a claim of another read goes on with the rest of its chunks, and waits only when all its own claims are dropped. So no
//! circle of reads waits for each other. As a read may also be a future that nobody polls, a claim counts for a limited time ([`PATIENCE`]);
//! then one of the reads that wait claims the chunk itself. An entry that comes later nevertheless ends the claim of that read as well.

use super::timer::{Awaited, Timer, wake_all};
use super::{CacheKey, ChunkCache};
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Time for which other reads wait for a chunk that a read has claimed.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Claims by the keys of their chunks.
#[derive(Debug, Default)]
pub(super) struct Claims {
    claimed: Mutex<HashMap<CacheKey, Arc<Claimed>>>,
    timer: Arc<Timer>,
}

/// State of a claim, which the read that has it shares with those that wait for it.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// Epoch of the chunk in which the read began.
    epoch: u64,
    /// Time until which other reads wait.
    until: Instant,
    state: Mutex<ClaimState>,
    ended: Condvar,
    timer: Arc<Timer>,
}

#[derive(Debug)]
enum ClaimState {
    /// The chunk is being read.
    Reading(Wakers),
    /// The claim was dropped, or the entry is in the cache.
    Ended(ClaimEnd),
}

/// Wakers of the futures that wait for a claim, by their numbers.
#[derive(Debug, Default)]
struct Wakers {
    wakers: BTreeMap<u64, Waker>,
    next: u64,
    /// Whether the timer wakes them when the claim no longer counts.
    is_watched: bool,
}

/// End of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimEnd {
    /// The entry is in the cache.
    Kept,
    /// The chunk was read, and the cache did not take its entry.
    Unkept,
    /// The read failed or was dropped.
    Failed,
}

impl Claims {
    fn lock(&self) -> MutexGuard<'_, HashMap<CacheKey, Arc<Claimed>>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of chunks that are claimed at present.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Number of threads that wake futures.
    #[cfg(test)]
    pub(super) fn threads(&self) -> usize {
        self.timer.started()
    }
}

impl ChunkCache {
    /// Claims a chunk whose read begins in the epoch `epoch`, or returns the claim of another read of the same state.
    pub(super) fn claim(&self, key: &CacheKey, epoch: u64) -> Result<Claim, Arc<Claimed>> {
        self.claim_for(key, epoch, self.0.patience)
    }

    /// Claims a chunk like [`claim`](Self::claim), for which other reads wait for `patience`.
    fn claim_for(&self, key: &CacheKey, epoch: u64, patience: Duration) -> Result<Claim, Arc<Claimed>> {
        let mut claims = self.0.claims.lock();
        if let Some(other) = claims.get(key).filter(|other| other.epoch == epoch && !other.is_over()) {
            return Err(Arc::clone(other));
        }
        let claimed = Arc::new(Claimed {
            epoch,
            until: Instant::now() + patience,
            state: Mutex::new(ClaimState::Reading(Wakers::default())),
            ended: Condvar::new(),
            timer: Arc::clone(&self.0.claims.timer),
        });
        claims.insert(key.clone(), Arc::clone(&claimed));
        Ok(Claim { cache: self.clone(), key: key.clone(), claimed, end: ClaimEnd::Failed })
    }
}

/// Claim of a read to a chunk, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    cache: ChunkCache,
    key: CacheKey,
    claimed: Arc<Claimed>,
    end: ClaimEnd,
}

impl Claim {
    /// Ends the claim after the chunk was read. `is_kept` says that its entry is in the cache.
    pub(crate) fn end_read(mut self, is_kept: bool) {
        self.end = if is_kept { ClaimEnd::Kept } else { ClaimEnd::Unkept };
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = self.cache.0.claims.lock();
        // Another read may have claimed the chunk meanwhile. Those that wait for it need not, if the entry is there.
        let is_served = |other: &Arc<Claimed>| self.end == ClaimEnd::Kept && other.epoch == self.claimed.epoch;
        let ends = |other: &Arc<Claimed>| Arc::ptr_eq(other, &self.claimed) || is_served(other);
        let other = if claims.get(&self.key).is_some_and(ends) { claims.remove(&self.key) } else { None };
        drop(claims);
        self.claimed.end(self.end);
        if let Some(other) = other {
            other.end(self.end);
        }
    }
}

impl Claimed {
    fn state(&self) -> MutexGuard<'_, ClaimState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the claim, unless it has ended.
    fn end(&self, end: ClaimEnd) {
        let mut state = self.state();
        if let ClaimState::Reading(reading) = &mut *state {
            let wakers = mem::take(&mut reading.wakers);
            *state = ClaimState::Ended(end);
            drop(state);
            self.ended.notify_all();
            wake_all(wakers.into_values());
        }
    }

    /// Whether other reads no longer wait.
    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Blocks the thread until the claim is dropped, or no longer counts.
    pub(crate) fn wait(&self) {
        let is_reading = |state: &mut ClaimState| matches!(state, ClaimState::Reading(_));
        let left = self.until.saturating_duration_since(Instant::now());
        drop(self.ended.wait_timeout_while(self.state(), left, is_reading).unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns a future that ends when the claim is dropped, or no longer counts. Its output is `false` if the system refuses the thread
    /// that would wake it.
    pub(crate) fn ended(self: &Arc<Self>) -> Ended<'_> {
        Ended { claimed: self, number: None }
    }

    /// Whether the claim ended without an entry, since the read failed or was dropped.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(&*self.state(), ClaimState::Ended(ClaimEnd::Failed))
    }

    /// Whether the chunk was read, and the cache did not take its entry.
    pub(crate) fn is_unkept(&self) -> bool {
        matches!(&*self.state(), ClaimState::Ended(ClaimEnd::Unkept))
    }
}

impl Awaited for Claimed {
    fn take_wakers(&self) -> Vec<Waker> {
        match &mut *self.state() {
            ClaimState::Reading(reading) => mem::take(&mut reading.wakers).into_values().collect(),
            ClaimState::Ended(_) => Vec::new(),
        }
    }
}

/// Wait for the end of a claim.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    claimed: &'a Arc<Claimed>,
    /// Number of its waker; `None` before the first poll.
    number: Option<u64>,
}

impl Future for Ended<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        let claimed = self.claimed;
        let mut state = claimed.state();
        let ClaimState::Reading(reading) = &mut *state else { return Poll::Ready(true) };
        if claimed.is_over() {
            return Poll::Ready(true);
        }
        let number = *self.number.get_or_insert_with(|| {
            reading.next += 1;
            reading.next
        });
        // Another task may poll the future now than the one that did before.
        reading.wakers.insert(number, context.waker().clone());
        if !reading.is_watched {
            reading.is_watched = claimed.timer.watch(claimed.until, Arc::<Claimed>::downgrade(claimed));
        }
        if reading.is_watched { Poll::Pending } else { Poll::Ready(false) }
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number
            && let ClaimState::Reading(reading) = &mut *self.claimed.state()
        {
            reading.wakers.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CacheKey {
        CacheKey { owner: 1, index: [3].into_iter().collect() }
    }

    /// A read that takes longer than others wait ends the claim of the read that began in its place.
    #[test]
    fn a_late_entry_ends_the_claim_of_another_read() {
        let cache = ChunkCache::new(1 << 20);
        let (key, long) = (key(), Duration::from_secs(3600));
        for (is_kept, epoch, due) in [(true, 0, true), (false, 0, false), (true, 1, false)] {
            let late = cache.claim_for(&key, 0, Duration::ZERO).unwrap();
            let second = cache.claim_for(&key, epoch, long).unwrap();
            let other = cache.claim_for(&key, epoch, long).unwrap_err();
            late.end_read(is_kept);
            assert_eq!(matches!(&*other.state(), ClaimState::Ended(ClaimEnd::Kept)), due, "{is_kept} {epoch}");
            // The end of the second read changes nothing about that.
            drop(second);
            assert_eq!((other.has_failed(), cache.claimed()), (!due, 0));
        }
    }

    /// One thread wakes all futures, and those that are dropped leave no wakers.
    #[test]
    fn one_thread_wakes_all_futures() {
        let cache = ChunkCache::new(1 << 20);
        let mut context = Context::from_waker(Waker::noop());
        let long = Duration::from_secs(3600);
        let keys = (0..1000).map(|at| CacheKey { owner: 1, index: [at].into_iter().collect() });
        let claims: Vec<Claim> = keys.map(|key| cache.claim_for(&key, 0, long).unwrap()).collect();
        let mut waits: Vec<Ended<'_>> = claims.iter().map(|claim| claim.claimed.ended()).collect();
        for wait in &mut waits {
            assert!((0..3).all(|_| Pin::new(&mut *wait).poll(&mut context).is_pending()));
        }
        assert_eq!(cache.0.claims.threads(), 1);
        let wakers = |claim: &Claim| match &*claim.claimed.state() {
            ClaimState::Reading(reading) => reading.wakers.len(),
            ClaimState::Ended(_) => 0,
        };
        assert!(claims.iter().all(|claim| wakers(claim) == 1));
        drop(waits);
        assert!(claims.iter().all(|claim| wakers(claim) == 0));
    }
}
