//! Values of the store, read in pieces while they are sent.

use crate::fault::Fault;
use crate::shared::Shared;
use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use zarr_store::{ByteRange, GetOptions, Key, Snapshot, Store};

/// Bytes that are read at once. A connection holds one piece: a client that takes its time holds no more.
pub(crate) const PIECE: u64 = 128 << 10;

type Reading = Pin<Box<dyn Future<Output = Result<Bytes, Fault>> + Send>>;

/// The bytes of a range of one state of a value.
pub(crate) struct ValueBody {
    shared: Arc<Shared>,
    key: Key,
    snapshot: Option<Snapshot>,
    /// Read already: the first piece, so that a failure of the store becomes a status.
    ready: Option<Bytes>,
    /// The piece that is being read, and its bytes.
    reading: Option<(u64, Reading)>,
    /// Not yet asked for.
    rest: Range<u64>,
}

impl ValueBody {
    /// Reads the first piece.
    pub(crate) async fn begin(
        shared: &Arc<Shared>,
        key: Key,
        snapshot: Option<Snapshot>,
        range: Range<u64>,
    ) -> Result<Self, Fault> {
        let mut body = Self { shared: Arc::clone(shared), key, snapshot, ready: None, reading: None, rest: range };
        if let Some((_, reading)) = body.next_piece() {
            body.ready = Some(reading.await?);
        }
        Ok(body)
    }

    /// How many bytes are still to be sent.
    pub(crate) fn left(&self) -> u64 {
        let ready = self.ready.as_ref().map_or(0, Bytes::len) as u64;
        let reading = self.reading.as_ref().map_or(0, |(len, _)| *len);
        ready + reading + (self.rest.end - self.rest.start)
    }

    /// Begins to read the next piece, if there is one.
    fn next_piece(&mut self) -> Option<(u64, Reading)> {
        let start = self.rest.start;
        let end = self.rest.end.min(start.saturating_add(PIECE));
        if start >= end {
            return None;
        }
        self.rest.start = end;
        let (shared, key) = (Arc::clone(&self.shared), self.key.clone());
        let options = GetOptions::if_match(self.snapshot.clone());
        let reading: Reading = Box::pin(async move {
            let range = ByteRange::Range(start..end);
            let get = move |store: &dyn Store| piece(store, &key, range, &options);
            let bytes = shared.get(get).await??;
            match bytes.len() as u64 == end - start {
                true => Ok(bytes),
                false => Err(Fault::internal(format!("the store gave {} bytes of {}", bytes.len(), end - start))),
            }
        });
        Some((end - start, reading))
    }

    pub(crate) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Fault>>> {
        if let Some(piece) = self.ready.take() {
            return Poll::Ready(Some(Ok(piece)));
        }
        if self.reading.is_none() {
            self.reading = self.next_piece();
        }
        let Some((_, reading)) = &mut self.reading else { return Poll::Ready(None) };
        let piece = ready!(reading.as_mut().poll(context));
        self.reading = None;
        if piece.is_err() {
            self.rest.start = self.rest.end;
        }
        Poll::Ready(Some(piece))
    }
}

/// One piece of the state that `options` require.
fn piece(store: &dyn Store, key: &Key, range: ByteRange, options: &GetOptions) -> Result<Bytes, Fault> {
    match store.get(key, &[range], options)? {
        Some(fetched) => Ok(fetched.into_bytes()),
        None => Err(Fault::not_found(format!("{key} was erased while it was read"))),
    }
}

impl fmt::Debug for ValueBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueBody").field("key", &self.key).field("rest", &self.rest).finish_non_exhaustive()
    }
}
