//! Values that are set piece by piece.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::{Error, ErrorKind, Key, Operation, Result, SetOptions};

/// A value that is being set piece by piece: what [`Store::begin_set`](crate::Store::begin_set) returns. It belongs to the store and the
/// key that it was begun with.
///
/// If it and its clones are dropped before it is finished, nothing is set, and the store removes what it has of it.
#[derive(Clone)]
pub struct SetStream {
    head: u64,
    state: Arc<dyn Any + Send + Sync>,
}

impl SetStream {
    /// Makes a stream with `head` bytes in front of all pieces, and with a state of the store's, which [`state`](Self::state) returns. When
    /// the state is dropped, it removes what was not finished.
    pub fn new(head: u64, state: impl Any + Send + Sync) -> Self {
        Self { head, state: Arc::new(state) }
    }

    /// Number of bytes in front of all pieces.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The state of the store.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it is no `T`: another store has begun the stream.
    pub fn state<T: Any + Send + Sync>(&self, store: &dyn fmt::Display, key: &Key) -> Result<&T> {
        let fail = || fail(store, key, "another store has begun this set".to_owned());
        self.state.downcast_ref().ok_or_else(fail)
    }

    /// Checks the bytes that [`Store::finish_set`](crate::Store::finish_set) is given for the front of the value.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if they are not as many as the set was begun with.
    pub fn check_head(&self, store: &dyn fmt::Display, key: &Key, head: &[u8]) -> Result<()> {
        if head.len() as u64 == self.head {
            return Ok(());
        }
        Err(fail(store, key, format!("found {} bytes in front, expected {}, as begun", head.len(), self.head)))
    }

    /// The error for a stream that is finished, or of which an earlier step failed.
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

/// The state of a stream of a store that sets its values in one call: all pieces.
pub(crate) struct Collected {
    options: SetOptions,
    /// `None` when it is finished. The first piece stands for the bytes in front.
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

    /// The whole value in pieces, and how it is set.
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
