//! Bytes of answers that wait to be sent: bounded over all connections, and in the time that a client has to take them.

use crate::fault::Fault;
use bytes::Bytes;
use hyper::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// What a permit stands for.
const UNIT: usize = 1 << 10;
/// Bytes for which a client has a second more.
const PER_SECOND: usize = 32 << 10;

/// How much memory answers may hold until they are sent.
pub(crate) struct Held {
    permits: Arc<Semaphore>,
    /// How many there are.
    most: u32,
    /// The time to take few bytes.
    time: Duration,
}

/// A connection, which ends if its client does not take an answer in time.
#[derive(Debug, Default)]
pub(crate) struct Connection(Notify);

impl Connection {
    /// Waits until the client is given up.
    pub(crate) async fn given_up(&self) {
        self.0.notified().await;
    }
}

/// The permission to hold some bytes.
pub(crate) struct Room {
    permit: OwnedSemaphorePermit,
    time: Duration,
}

/// Bytes for as long as anybody has them.
struct Kept {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
    /// Closed with the rest.
    _is_kept: oneshot::Sender<()>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Held {
    pub(crate) fn new(most: usize, time: Duration) -> Self {
        let most = u32::try_from(most.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, MOST_PERMITS);
        Self { permits: Arc::new(Semaphore::new(most as usize)), most, time }
    }

    /// How many permits so many bytes take. What is larger than all that may be held is held alone.
    fn count(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT as u64)).unwrap_or(u32::MAX).min(self.most)
    }

    fn room_of(&self, bytes: u64, permit: OwnedSemaphorePermit) -> Room {
        let more = Duration::from_secs(bytes / PER_SECOND as u64);
        Room { permit, time: self.time.saturating_add(more) }
    }

    /// Waits for room for so many bytes. Others make room in the time that they have.
    pub(crate) async fn room(&self, bytes: u64) -> Result<Room, Fault> {
        let permit = Arc::clone(&self.permits).acquire_many_owned(self.count(bytes)).await;
        permit.map(|permit| self.room_of(bytes, permit)).map_err(|_| Fault::internal("the server stops"))
    }

    /// Room for so many bytes, if there is some now.
    pub(crate) fn room_now(&self, bytes: u64) -> Option<Room> {
        let permit = Arc::clone(&self.permits).try_acquire_many_owned(self.count(bytes)).ok()?;
        Some(self.room_of(bytes, permit))
    }

    /// Room for an answer that is there already, for which a client does not wait longer than it may take to be sent.
    pub(crate) async fn room_for_answer(&self, bytes: u64) -> Result<Room, Fault> {
        let waited = tokio::time::timeout(self.time, self.room(bytes)).await;
        waited.unwrap_or_else(|_| {
            Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "limit", "too many answers wait to be sent"))
        })
    }
}

impl Room {
    /// The bytes, which leave the room to others once they are sent. If that takes too long, the connection ends.
    pub(crate) fn hold(self, connection: &Arc<Connection>, bytes: Bytes) -> Bytes {
        let (kept, released) = oneshot::channel();
        let (connection, time) = (Arc::clone(connection), self.time);
        tokio::spawn(async move {
            if tokio::time::timeout(time, released).await.is_err() {
                connection.0.notify_one();
            }
        });
        Bytes::from_owner(Kept { bytes, _permit: self.permit, _is_kept: kept })
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
            let held = Held::new(4 * UNIT, Duration::from_secs(100));
            let connection = Arc::new(Connection::default());
            let first = held.room(3 * UNIT as u64).await.expect("room").hold(&connection, Bytes::from_static(b"abc"));
            assert!(held.room_now(2 * UNIT as u64).is_none());
            let part = first.slice(1..2);
            drop(first);
            assert!(held.room_now(2 * UNIT as u64).is_none(), "a part of them is left");
            drop(part);
            assert!(held.room_now(2 * UNIT as u64).is_some());
            // Alone, what is larger than all that may be held.
            let all = held.room(u64::MAX).await.expect("room");
            assert!(held.room_now(1).is_none());
            drop(all);
        });
    }

    #[test]
    fn connections_whose_clients_take_too_long_are_given_up() {
        in_runtime(async {
            let held = Held::new(UNIT, Duration::from_millis(1));
            let connection = Arc::new(Connection::default());
            let bytes = held.room(1).await.expect("room").hold(&connection, Bytes::from_static(b"a"));
            connection.given_up().await;
            assert!(held.room_for_answer(1).await.is_err(), "nobody waits for ever");
            drop(bytes);
        });
    }
}
