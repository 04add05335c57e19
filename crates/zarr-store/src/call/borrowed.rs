//! Values in calls, borrowed or owned.

use std::borrow::Cow;
use std::ops::Deref;

use bytes::Bytes;

use crate::Key;

/// Returns the keys and values of a call that sets several values, borrowed.
#[must_use]
pub fn lend_values<'c>(values: &'c [(Cow<'_, Key>, CallBytes<'_>)]) -> Vec<(&'c Key, &'c [u8])> {
    values.iter().map(|(key, value)| (&**key, &**value)).collect()
}

/// Value of a set, borrowed or owned.
#[derive(Clone, Debug)]
pub enum CallBytes<'a> {
    /// Bytes that the caller lends.
    Lent(&'a [u8]),
    /// Bytes that the call owns.
    Owned(Bytes),
}

impl CallBytes<'_> {
    /// Returns owned bytes; lent bytes are copied.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Lent(bytes) => Bytes::copy_from_slice(bytes),
            Self::Owned(bytes) => bytes,
        }
    }

    pub(super) fn into_owned(self) -> CallBytes<'static> {
        CallBytes::Owned(self.into_bytes())
    }
}

impl Deref for CallBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Pieces of a value of a set, borrowed or owned.
#[derive(Clone, Debug)]
pub enum CallPieces<'a> {
    /// Pieces that the caller lends.
    Lent(&'a [&'a [u8]]),
    /// Pieces that the call owns.
    Owned(Vec<Bytes>),
}

impl CallPieces<'_> {
    /// Returns the bytes of each piece.
    #[must_use]
    pub fn slices(&self) -> Cow<'_, [&[u8]]> {
        match self {
            Self::Lent(pieces) => Cow::Borrowed(pieces),
            Self::Owned(pieces) => pieces.iter().map(|piece| &**piece).collect(),
        }
    }

    /// Returns owned pieces; lent pieces are copied.
    #[must_use]
    pub fn into_bytes(self) -> Vec<Bytes> {
        match self {
            Self::Lent(pieces) => pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect(),
            Self::Owned(pieces) => pieces,
        }
    }

    pub(super) fn into_owned(self) -> CallPieces<'static> {
        CallPieces::Owned(self.into_bytes())
    }
}
