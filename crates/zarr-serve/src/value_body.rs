//! Values of the store, read while they are sent: small ones at once, others in pieces, of which one is read while the one before is sent.

use crate::answer_memory::{Connection, Room};
use crate::request_error::RequestError;
use crate::server_state::ServerState;
use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use zarr_store::{ByteRange, GetOptions, Key, Snapshot, Store};

/// Number of bytes that are read by one get, if there is room to spare: some stores have to decompress all of a value for any part of it.
const WHOLE: u64 = 8 << 20;
/// Bytes of the first piece, and of the pieces of a client that takes its time.
const LEAST: u64 = 128 << 10;
/// Bytes of a piece of a quick client.
const MOST: u64 = 4 << 20;
/// Time in which a client has to take a piece to get one twice as large.
const QUICK: Duration = Duration::from_millis(250);
/// Time to take a piece from which on a client gets one half as large.
const SLOW: Duration = Duration::from_secs(1);

/// The bytes of a range of one state of a value.
pub(crate) struct ValueBody {
    source: ValueSource,
    /// Read already: the first piece, so that a failure of the store becomes a status.
    ready: Option<Bytes>,
    /// The piece that is being read, and its bytes.
    reading: Option<(u64, PieceRead)>,
    /// Not yet asked for.
    rest: Range<u64>,
    /// Bytes of the next piece.
    size: u64,
    /// The time at which the last piece was taken.
    taken: Instant,
}

/// Source of the bytes.
#[derive(Clone)]
struct ValueSource {
    shared: Arc<ServerState>,
    connection: Arc<Connection>,
    key: Key,
    /// Bytes of the value.
    size: u64,
    options: GetOptions,
}

/// A piece that is being read, for as long as anybody waits for it.
struct PieceRead(JoinHandle<Result<Bytes, RequestError>>);

impl Drop for PieceRead {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ValueSource {
    /// Reads a part, for which there is room; else waits for that.
    async fn read(self, part: Range<u64>, room: Option<Room>) -> Result<Bytes, RequestError> {
        let (start, end) = (part.start, part.end);
        let room = match room {
            Some(room) => room,
            None => self.shared.held.room(end - start).await?,
        };
        // Of whole values some stores compare a checksum.
        let range = if start == 0 && end == self.size { ByteRange::Full } else { ByteRange::Range(start..end) };
        let Self { shared, connection, key, options, .. } = self;
        let bytes = shared.get(move |store: &dyn Store| piece(store, &key, range, &options)).await??;
        match bytes.len() as u64 == end - start {
            true => Ok(room.hold(&connection, bytes)),
            false => Err(RequestError::internal(format!("the store gave {} bytes of {}", bytes.len(), end - start))),
        }
    }
}

impl ValueBody {
    /// Reads the first piece of a range of a value of `size` bytes.
    pub(crate) async fn begin(
        (shared, connection): (&Arc<ServerState>, &Arc<Connection>),
        (key, size, snapshot): (Key, u64, Option<Snapshot>),
        range: Range<u64>,
    ) -> Result<Self, RequestError> {
        let (shared, connection) = (Arc::clone(shared), Arc::clone(connection));
        let source = ValueSource { shared, connection, key, size, options: GetOptions::if_match(snapshot) };
        let mut body = Self { source, ready: None, reading: None, rest: range, size: LEAST, taken: Instant::now() };
        let all = body.rest.end - body.rest.start;
        let (first, room) = body.next_room(if all <= WHOLE { all } else { LEAST });
        if first > 0 {
            let room = match room {
                Some(room) => room,
                None => body.source.shared.held.room_to_begin(first).await?,
            };
            let part = body.take(first);
            body.ready = Some(body.source.clone().read(part, Some(room)).await?);
        }
        Ok(body)
    }

    /// The number of bytes that are still to be sent.
    pub(crate) fn left(&self) -> u64 {
        let ready = self.ready.as_ref().map_or(0, Bytes::len) as u64;
        let reading = self.reading.as_ref().map_or(0, |(len, _)| *len);
        ready + reading + (self.rest.end - self.rest.start)
    }

    /// Takes the next bytes that are not yet asked for, at most `most`.
    fn take(&mut self, most: u64) -> Range<u64> {
        let start = self.rest.start;
        self.rest.start = self.rest.end.min(start.saturating_add(most));
        start..self.rest.start
    }

    /// The number of bytes that are read next, at most `most`. If they are more than [`LEAST`], there is room for them: clients that read
    /// slowly hold no more than [`LEAST`] each, once they hold half of all.
    fn next_room(&self, most: u64) -> (u64, Option<Room>) {
        let wanted = most.min(self.rest.end - self.rest.start);
        if wanted > LEAST
            && let Some(room) = self.source.shared.held.room_to_spare(wanted)
        {
            return (wanted, Some(room));
        }
        (wanted.min(LEAST), None)
    }

    /// Begins to read the next piece, if there is one.
    fn read_on(&mut self) {
        let (len, room) = self.next_room(self.size);
        if len > 0 {
            let part = self.take(len);
            self.reading = Some((len, PieceRead(tokio::spawn(self.source.clone().read(part, room)))));
        }
    }

    /// A piece for the client, while the next one is being read: how large that is depends on how quick the client was.
    fn hand_out(&mut self, piece: Bytes) -> Poll<Option<Result<Bytes, RequestError>>> {
        self.size = next_size(self.size, self.taken.elapsed());
        self.taken = Instant::now();
        self.read_on();
        Poll::Ready(Some(Ok(piece)))
    }

    pub(crate) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, RequestError>>> {
        if let Some(piece) = self.ready.take() {
            return self.hand_out(piece);
        }
        let Some((_, PieceRead(reading))) = &mut self.reading else { return Poll::Ready(None) };
        let piece = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        match piece.unwrap_or_else(|error| Err(RequestError::internal(error.to_string()))) {
            Ok(piece) => self.hand_out(piece),
            Err(fault) => {
                self.rest.start = self.rest.end;
                Poll::Ready(Some(Err(fault)))
            }
        }
    }
}

/// Bytes of the piece after one of this size that was taken in a time.
fn next_size(size: u64, time: Duration) -> u64 {
    match time {
        time if time < QUICK => size.saturating_mul(2).min(MOST),
        time if time > SLOW => (size / 2).max(LEAST),
        _ => size,
    }
}

/// One piece of the state that `options` require.
fn piece(store: &dyn Store, key: &Key, range: ByteRange, options: &GetOptions) -> Result<Bytes, RequestError> {
    match store.get(key, &[range], options)? {
        Some(fetched) => Ok(fetched.into_bytes()),
        None => Err(RequestError::not_found(format!("{key} was erased while it was read"))),
    }
}

impl fmt::Debug for ValueBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueBody").field("key", &self.source.key).field("rest", &self.rest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_for_quick_clients_alone() {
        let sizes = |time| std::iter::successors(Some(LEAST), |&size| Some(next_size(size, time))).nth(10);
        assert_eq!(sizes(Duration::ZERO), Some(MOST));
        assert_eq!(sizes(Duration::from_millis(500)), Some(LEAST));
        assert_eq!(next_size(MOST, Duration::from_secs(2)), MOST / 2);
        assert_eq!(next_size(LEAST, Duration::from_secs(2)), LEAST);
    }
}
