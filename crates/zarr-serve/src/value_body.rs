//! Bodies that read values of the store while they are sent: small values at once, others in pieces, where each piece is read while the one
//! before is sent.

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
use zarr_store::{ByteRange, GetOptions, Key, Snapshot, Store, StoreExt};

/// Greatest size of a value that is read by one get if there is memory to spare: some stores decompress a whole value for any part of it.
const WHOLE: u64 = 8 << 20;
/// Size in bytes of the first piece, and of pieces for slow clients.
const LEAST: u64 = 128 << 10;
/// Greatest size of a piece in bytes.
const MOST: u64 = 4 << 20;
/// Time within which a client must take a piece so that the next one is twice as large.
const QUICK: Duration = Duration::from_millis(250);
/// Time for a piece above which the next one is half as large.
const SLOW: Duration = Duration::from_secs(1);

/// Body with a range of one state of a value.
pub(crate) struct ValueBody {
    source: ValueSource,
    /// First piece, which is read before the response begins, so that an error of the store becomes a status.
    ready: Option<Bytes>,
    /// Length of the piece that is being read, and the task that reads it.
    reading: Option<(u64, PieceRead)>,
    /// Bytes that are not yet requested from the store.
    rest: Range<u64>,
    /// Size of the next piece in bytes.
    size: u64,
    /// Time at which the client took the last piece.
    taken: Instant,
}

/// Value from which a body reads its bytes.
#[derive(Clone)]
struct ValueSource {
    shared: Arc<ServerState>,
    connection: Arc<Connection>,
    key: Key,
    /// Size of the whole value in bytes.
    size: u64,
    options: GetOptions,
}

/// Task that reads a piece; aborted if this value is dropped.
struct PieceRead(JoinHandle<Result<Bytes, RequestError>>);

impl Drop for PieceRead {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ValueSource {
    /// Reads a part of the value. Waits for memory unless `room` is given.
    async fn read(self, part: Range<u64>, room: Option<Room>) -> Result<Bytes, RequestError> {
        let (start, end) = (part.start, part.end);
        let room = match room {
            Some(room) => room,
            None => self.shared.held.room(end - start).await?,
        };
        // Some stores check a checksum if a value is read in whole.
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
    /// Begins a body for `range` of a value of `size` bytes, and reads its first piece.
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

    /// Returns the number of bytes that are still to be sent.
    pub(crate) fn left(&self) -> u64 {
        let ready = self.ready.as_ref().map_or(0, Bytes::len) as u64;
        let reading = self.reading.as_ref().map_or(0, |(len, _)| *len);
        ready + reading + (self.rest.end - self.rest.start)
    }

    /// Takes the next bytes that are not yet requested, at most `most`.
    fn take(&mut self, most: u64) -> Range<u64> {
        let start = self.rest.start;
        self.rest.start = self.rest.end.min(start.saturating_add(most));
        start..self.rest.start
    }

    /// Returns the size of the next read, at most `most`, and its memory if the size exceeds [`LEAST`]. If half of the memory is in use,
    /// clients only get [`LEAST`] bytes at a time.
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

    /// Hands a piece to the client, and begins to read the next one, whose size depends on how fast the client was.
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

/// Returns the size of the piece after one of `size` bytes that the client took in `time`.
fn next_size(size: u64, time: Duration) -> u64 {
    match time {
        time if time < QUICK => size.saturating_mul(2).min(MOST),
        time if time > SLOW => (size / 2).max(LEAST),
        _ => size,
    }
}

/// Reads one piece of the state that `options` require.
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
