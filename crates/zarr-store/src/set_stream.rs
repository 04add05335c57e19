//! Streams: values that are set piece by piece.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::{Error, ErrorKind, Key, Operation, Result, SetOptions};

/// Stream of a value that is being set piece by piece, returned by [`begin_set`](crate::StoreExt::begin_set). It belongs to the store
/// and the key of that call.
///
/// If the stream and its clones are dropped before the set is finished, nothing is set, and the store removes the pieces.
#[derive(Clone)]
pub struct SetStream {
    head: u64,
    state: Arc<dyn Any + Send + Sync>,
}

impl SetStream {
    /// Returns a stream with `head` bytes in front of all pieces and the store's own `state`, which [`state`](Self::state) returns.
    /// Dropping the state must remove the pieces of an unfinished set.
    pub fn new(head: u64, state: impl Any + Send + Sync) -> Self {
        Self { head, state: Arc::new(state) }
    }

    /// Returns the number of bytes in front of all pieces.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Returns the state of the store.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the state is no `T`: another store has begun the stream.
    pub fn state<T: Any + Send + Sync>(&self, store: &dyn fmt::Display, key: &Key) -> Result<&T> {
        let fail = || fail(store, key, "another store has begun this set".to_owned());
        self.state.downcast_ref().ok_or_else(fail)
    }

    /// Checks the number of bytes `head` that [`finish_set`](crate::StoreExt::finish_set) receives for the front of the value.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `head` has another length than the set was begun with.
    pub fn check_head(&self, store: &dyn fmt::Display, key: &Key, head: &[u8]) -> Result<()> {
        if head.len() as u64 == self.head {
            return Ok(());
        }
        Err(fail(store, key, format!("found {} bytes in front, expected {}, as begun", head.len(), self.head)))
    }

    /// Returns the error for a stream that is finished, or in which an earlier step failed.
    #[must_use]
    pub fn ended(store: &dyn fmt::Display, key: &Key) -> Error {
        fail(store, key, "the set has ended, or an earlier step of it failed".to_owned())
    }
}

fn fail(store: &dyn fmt::Display, key: &Key, text: String) -> Error {
    Error::failed(store, Operation::Set, key.as_str(), ErrorKind::Argument, text)
}

impl PartialEq for SetStream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for SetStream {}

impl fmt::Debug for SetStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetStream").field("head", &self.head).finish_non_exhaustive()
    }
}

/// State of a stream for stores that set a value in one call: all its pieces.
pub(crate) struct Collected {
    options: SetOptions,
    /// Pieces of the value; the first piece is a placeholder for the bytes in front. `None` when the stream is finished.
    pieces: Mutex<Option<Vec<Bytes>>>,
}

impl Collected {
    pub(crate) fn stream(head: u64, options: &SetOptions) -> SetStream {
        SetStream::new(head, Self { options: options.clone(), pieces: Mutex::new(Some(vec![Bytes::new()])) })
    }

    pub(crate) fn append(store: &dyn fmt::Display, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        let state: &Self = stream.state(store, key)?;
        let mut collected = state.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        collected.as_mut().ok_or_else(|| SetStream::ended(store, key))?.extend(pieces);
        Ok(())
    }

    /// Returns all pieces of the value, with `head` in front, and the options of the set.
    pub(crate) fn finish<'s>(
        store: &dyn fmt::Display,
        key: &Key,
        stream: &'s SetStream,
        head: Bytes,
    ) -> Result<(Vec<Bytes>, &'s SetOptions)> {
        stream.check_head(store, key, &head)?;
        let state: &Self = stream.state(store, key)?;
        let pieces = state.pieces.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut pieces = pieces.ok_or_else(|| SetStream::ended(store, key))?;
        if let Some(first) = pieces.first_mut() {
            *first = head;
        }
        Ok((pieces, &state.options))
    }
}
