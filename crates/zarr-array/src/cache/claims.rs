//! Chunks that reads get and decode at present. Another read of such a chunk waits for its entry, and does not get it as well.
//!
//! A read that misses a chunk claims it, and drops the claim when the entry is in the cache, or when the read fails, panics or is dropped. A
//! read that finds a claim of another read goes on with the rest of its chunks, and waits only when all its own claims are dropped. So no
//! circle of reads waits for each other. As a read may also be a future that nobody polls, a claim counts for a limited time ([`PATIENCE`]);
//! then one of the reads that wait claims the chunk itself.

use super::{CacheKey, ChunkCache};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Time for which other reads wait for a chunk that a read has claimed.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Claims by the keys of their chunks.
#[derive(Debug, Default)]
pub(super) struct Claims(Mutex<HashMap<CacheKey, Arc<Claimed>>>);

/// State of a claim, which the read that has it shares with those that wait for it.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// Epoch of the chunk in which the read began.
    epoch: u64,
    /// Time until which other reads wait.
    until: Instant,
    state: Mutex<ClaimState>,
    ended: Condvar,
}

#[derive(Debug)]
enum ClaimState {
    /// The chunk is being read. Wakers are those of the futures that wait.
    Reading(Vec<Waker>),
    /// The claim was dropped. `is_kept` says that the entry is in the cache.
    Ended { is_kept: bool },
}

impl Claims {
    fn lock(&self) -> MutexGuard<'_, HashMap<CacheKey, Arc<Claimed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of chunks that are claimed at present.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl ChunkCache {
    /// Claims a chunk whose read begins in the epoch `epoch`, or returns the claim of another read of the same state.
    pub(super) fn claim(&self, key: &CacheKey, epoch: u64) -> Result<Claim, Arc<Claimed>> {
        let mut claims = self.0.claims.lock();
        if let Some(other) = claims.get(key).filter(|other| other.epoch == epoch && !other.time_left().is_zero()) {
            return Err(Arc::clone(other));
        }
        let state = Mutex::new(ClaimState::Reading(Vec::new()));
        let claimed =
            Arc::new(Claimed { epoch, until: Instant::now() + self.0.patience, state, ended: Condvar::new() });
        claims.insert(key.clone(), Arc::clone(&claimed));
        Ok(Claim { cache: self.clone(), key: key.clone(), claimed, is_kept: false })
    }
}

/// Claim of a read to a chunk, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    cache: ChunkCache,
    key: CacheKey,
    claimed: Arc<Claimed>,
    is_kept: bool,
}

impl Claim {
    /// Ends the claim, since the entry of the chunk is in the cache.
    pub(crate) fn end_kept(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = self.cache.0.claims.lock();
        // Another read may have claimed the chunk meanwhile.
        if claims.get(&self.key).is_some_and(|claimed| Arc::ptr_eq(claimed, &self.claimed)) {
            claims.remove(&self.key);
        }
        drop(claims);
        let before = mem::replace(&mut *self.claimed.state(), ClaimState::Ended { is_kept: self.is_kept });
        self.claimed.ended.notify_all();
        if let ClaimState::Reading(wakers) = before {
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

impl Claimed {
    fn state(&self) -> MutexGuard<'_, ClaimState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time for which other reads still wait.
    pub(crate) fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Blocks the thread until the claim is dropped, or no longer counts.
    pub(crate) fn wait(&self) {
        let is_reading = |state: &mut ClaimState| matches!(state, ClaimState::Reading(_));
        let left = self.time_left();
        drop(self.ended.wait_timeout_while(self.state(), left, is_reading).unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns ready when the claim is dropped.
    pub(crate) fn poll_ended(&self, context: &Context<'_>) -> Poll<()> {
        match &mut *self.state() {
            ClaimState::Ended { .. } => Poll::Ready(()),
            ClaimState::Reading(wakers) => {
                if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Whether the claim ended without an entry, since the read failed or was dropped, or the cache has no room.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(&*self.state(), ClaimState::Ended { is_kept: false })
    }
}
