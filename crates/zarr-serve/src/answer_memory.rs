//! Bytes of answers that wait to be sent: bounded over all connections, and in the time that a client has to take them.

use crate::request_error::RequestError;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// Number of bytes that a permit stands for.
const UNIT: usize = 1 << 10;
/// Bytes for which a client has a second more.
const PER_SECOND: usize = 32 << 10;
/// Number of bytes up to which an answer, or a piece of a value, has room of its own: clients that hardly read large ones do not stop
/// small ones.
const SMALL: usize = 64 << 10;
/// Divisor of the room: the greatest share of it for small answers and pieces.
const PART_OF_SMALL: usize = 8;
/// A question that is answered keeps others from being worked on until there is room for its answer: for no longer than this.
const TIME_OF_ANSWER: Duration = Duration::from_secs(2);

/// Memory that answers may hold until they are sent.
pub(crate) struct AnswerMemory {
    small: Permits,
    large: Permits,
    /// The time to take few bytes.
    time: Duration,
}

/// Room that is left.
struct Permits {
    left: Arc<Semaphore>,
    /// The number of all permits.
    most: u32,
}

impl Permits {
    fn new(count: usize) -> Self {
        let most = u32::try_from(count).unwrap_or(u32::MAX).clamp(1, MOST_PERMITS);
        Self { left: Arc::new(Semaphore::new(most as usize)), most }
    }

    /// The number of permits that `bytes` bytes take. An answer larger than all that may be held is held alone.
    fn count(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT as u64)).unwrap_or(u32::MAX).min(self.most)
    }
}

/// A connection, which ends if its client does not take an answer in time.
#[derive(Debug, Default)]
pub(crate) struct Connection(Notify);

impl Connection {
    /// Waits until the client is given up.
    pub(crate) async fn given_up(&self) {
        self.0.notified().await;
    }

    /// Gives the client up.
    pub(crate) fn give_up(&self) {
        self.0.notify_one();
    }
}

/// The permission to hold some bytes.
pub(crate) struct Room {
    permit: OwnedSemaphorePermit,
    time: Duration,
}

/// Bytes for as long as anybody has them.
struct PermittedBytes {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
    /// Closed with the rest.
    _is_kept: oneshot::Sender<()>,
}

impl AsRef<[u8]> for PermittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AnswerMemory {
    /// Room for `most` bytes, of which some is for small answers alone: if there is enough, for one of each connection.
    pub(crate) fn new(most: usize, connections: usize, time: Duration) -> Self {
        let small = connections.saturating_mul(SMALL).min(most / PART_OF_SMALL);
        let large = most.saturating_sub(small);
        Self { small: Permits::new(small.div_ceil(UNIT)), large: Permits::new(large.div_ceil(UNIT)), time }
    }

    fn room_of(&self, bytes: u64, permit: OwnedSemaphorePermit) -> Room {
        let more = Duration::from_secs(bytes / PER_SECOND as u64);
        Room { permit, time: self.time.saturating_add(more) }
    }

    /// Waits for room for `bytes` bytes. Others make room in the time that they have.
    pub(crate) async fn room(&self, bytes: u64) -> Result<Room, RequestError> {
        let permits = if bytes <= SMALL as u64 { &self.small } else { &self.large };
        let permit = Arc::clone(&permits.left).acquire_many_owned(permits.count(bytes)).await;
        permit.map(|permit| self.room_of(bytes, permit)).map_err(|_| RequestError::internal("the server stops"))
    }

    /// Takes room for `bytes` bytes, where fewer would do: only if half of all is left to others.
    pub(crate) fn room_to_spare(&self, bytes: u64) -> Option<Room> {
        let Permits { left, most } = &self.large;
        let permit = Arc::clone(left).try_acquire_many_owned(self.large.count(bytes)).ok()?;
        (left.available_permits() >= (most / 2) as usize).then(|| self.room_of(bytes, permit))
    }

    /// Room for the first bytes of a value, for which a client does not wait longer than others may take to make room.
    pub(crate) async fn room_to_begin(&self, bytes: u64) -> Result<Room, RequestError> {
        self.room_within(self.time, bytes).await
    }

    /// Room for an answer that is there already.
    pub(crate) async fn room_for_answer(&self, bytes: u64) -> Result<Room, RequestError> {
        self.room_within(self.time.min(TIME_OF_ANSWER), bytes).await
    }

    async fn room_within(&self, time: Duration, bytes: u64) -> Result<Room, RequestError> {
        let waited = tokio::time::timeout(time, self.room(bytes)).await;
        waited.unwrap_or_else(|_| Err(RequestError::busy("too many answers wait to be sent")))
    }
}

impl Room {
    /// The bytes, which leave the room to others once they are sent. If that takes too long, the connection ends.
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

/// More than any machine has memory for.
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
