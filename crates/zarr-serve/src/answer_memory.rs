//! Memory for answers that wait to be sent: limited for all connections together, and in the time that clients may take.

use crate::request_error::RequestError;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// Number of bytes per permit.
const UNIT: usize = 1 << 10;
/// Number of bytes for which a client gets one more second.
const PER_SECOND: usize = 32 << 10;
/// Greatest size in bytes of an answer, or piece of a value, that uses the separate memory for small answers: slow clients with large
/// answers do not block small ones.
const SMALL: usize = 64 << 10;
/// Divisor of the memory: the greatest share for small answers and pieces.
const PART_OF_SMALL: usize = 8;
/// Longest time that a finished answer waits for memory. While it waits, it occupies a computation permit.
const TIME_OF_ANSWER: Duration = Duration::from_secs(2);

/// Memory that answers may occupy until they are sent.
pub(crate) struct AnswerMemory {
    small: Permits,
    large: Permits,
    /// Time that a client may take for few bytes.
    time: Duration,
}

/// Permits for memory.
struct Permits {
    left: Arc<Semaphore>,
    /// Total number of permits.
    most: u32,
}

impl Permits {
    fn new(count: usize) -> Self {
        let most = u32::try_from(count).unwrap_or(u32::MAX).clamp(1, MOST_PERMITS);
        Self { left: Arc::new(Semaphore::new(most as usize)), most }
    }

    /// Returns the number of permits for `bytes` bytes. An answer larger than the whole memory takes all permits.
    fn count(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT as u64)).unwrap_or(u32::MAX).min(self.most)
    }
}

/// Connection that is closed if its client does not take an answer in time.
#[derive(Debug, Default)]
pub(crate) struct Connection(Notify);

impl Connection {
    /// Waits until [`give_up`](Self::give_up) is called.
    pub(crate) async fn given_up(&self) {
        self.0.notified().await;
    }

    /// Ends the connection.
    pub(crate) fn give_up(&self) {
        self.0.notify_one();
    }
}

/// Permission to hold some bytes in memory.
pub(crate) struct Room {
    permit: OwnedSemaphorePermit,
    time: Duration,
}

/// Bytes with the permits that they occupy while they exist.
struct PermittedBytes {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
    /// Closed when this value is dropped, which stops the timer.
    _is_kept: oneshot::Sender<()>,
}

impl AsRef<[u8]> for PermittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AnswerMemory {
    /// Creates memory of `most` bytes, of which a part is only for small answers: if there is enough, one small answer per connection.
    pub(crate) fn new(most: usize, connections: usize, time: Duration) -> Self {
        let small = connections.saturating_mul(SMALL).min(most / PART_OF_SMALL);
        let large = most.saturating_sub(small);
        Self { small: Permits::new(small.div_ceil(UNIT)), large: Permits::new(large.div_ceil(UNIT)), time }
    }

    fn room_of(&self, bytes: u64, permit: OwnedSemaphorePermit) -> Room {
        let more = Duration::from_secs(bytes / PER_SECOND as u64);
        Room { permit, time: self.time.saturating_add(more) }
    }

    /// Waits for memory for `bytes` bytes. Clients of other answers have to take them in their time.
    pub(crate) async fn room(&self, bytes: u64) -> Result<Room, RequestError> {
        let permits = if bytes <= SMALL as u64 { &self.small } else { &self.large };
        let permit = Arc::clone(&permits.left).acquire_many_owned(permits.count(bytes)).await;
        permit.map(|permit| self.room_of(bytes, permit)).map_err(|_| RequestError::internal("the server stops"))
    }

    /// Takes memory for an optional `bytes` bytes, only if at least half of the memory stays free.
    pub(crate) fn room_to_spare(&self, bytes: u64) -> Option<Room> {
        let Permits { left, most } = &self.large;
        let permit = Arc::clone(left).try_acquire_many_owned(self.large.count(bytes)).ok()?;
        (left.available_permits() >= (most / 2) as usize).then(|| self.room_of(bytes, permit))
    }

    /// Waits for memory for the first bytes of a value, at most for the time that another client may take.
    pub(crate) async fn room_to_begin(&self, bytes: u64) -> Result<Room, RequestError> {
        self.room_within(self.time, bytes).await
    }

    /// Waits a short time for memory for an answer that is already computed.
    pub(crate) async fn room_for_answer(&self, bytes: u64) -> Result<Room, RequestError> {
        self.room_within(self.time.min(TIME_OF_ANSWER), bytes).await
    }

    async fn room_within(&self, time: Duration, bytes: u64) -> Result<Room, RequestError> {
        let waited = tokio::time::timeout(time, self.room(bytes)).await;
        waited.unwrap_or_else(|_| Err(RequestError::busy("too many answers wait to be sent")))
    }
}

impl Room {
    /// Attaches the permits to `bytes`, so that the memory is free once they are sent. If that takes too long, the connection ends.
    pub(crate) fn hold(self, connection: &Arc<Connection>, bytes: Bytes) -> Bytes {
        let (kept, released) = oneshot::channel();
        let (connection, time) = (Arc::clone(connection), self.time);
        tokio::spawn(async move {
            if tokio::time::timeout(time, released).await.is_err() {
                connection.give_up();
            }
        });
        Bytes::from_owner(PermittedBytes { bytes, _permit: self.permit, _is_kept: kept })
    }
}

/// Greatest number of permits, more than any machine has memory for.
const MOST_PERMITS: u32 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn in_runtime(work: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
    }

    #[test]
    fn room_is_left_to_others_once_bytes_are_gone() {
        in_runtime(async {
            let held = AnswerMemory::new(1 << 20, 0, Duration::from_secs(100));
            let left = || held.large.left.available_permits();
            let connection = Arc::new(Connection::default());
            let first = held.room(3 << 18).await.expect("room").hold(&connection, Bytes::from_static(b"abc"));
            assert_eq!(left(), 256);
            let part = first.slice(1..2);
            drop(first);
            assert_eq!(left(), 256, "a part of them is left");
            drop(part);
            assert_eq!(left(), 1024);
            // Alone, what is larger than all that may be held.
            let all = held.room(u64::MAX).await.expect("room");
            assert_eq!(left(), 0);
            drop(all);
        });
    }

    #[test]
    fn more_than_needed_is_held_in_one_half_of_the_room() {
        let held = AnswerMemory::new(1 << 20, 0, Duration::from_secs(100));
        let first = held.room_to_spare(300 << 10);
        assert!(first.is_some());
        assert!(held.room_to_spare(300 << 10).is_none());
        assert_eq!(held.large.left.available_permits(), 724, "what was refused is not held");
        assert!(held.room_to_spare(212 << 10).is_some());
    }

    #[test]
    fn small_answers_do_not_wait_for_large_ones() {
        in_runtime(async {
            let held = AnswerMemory::new(1 << 20, 256, Duration::from_millis(1));
            let all = held.room(u64::MAX).await.expect("room");
            assert!(held.room_to_begin(SMALL as u64 + 1).await.is_err());
            let small = held.room_for_answer(SMALL as u64).await.expect("room of its own");
            let other = held.room_to_begin(SMALL as u64).await.expect("room of its own");
            assert!(held.room_for_answer(SMALL as u64).await.is_err(), "of that there is an end, too");
            drop((all, small, other));
        });
    }

    #[test]
    fn connections_whose_clients_take_too_long_are_given_up() {
        in_runtime(async {
            let held = AnswerMemory::new(UNIT, 1, Duration::from_millis(1));
            let connection = Arc::new(Connection::default());
            let bytes = held.room(1).await.expect("room").hold(&connection, Bytes::from_static(b"a"));
            connection.given_up().await;
            assert!(held.room_for_answer(1).await.is_err(), "nobody waits for ever");
            drop(bytes);
        });
    }
}
