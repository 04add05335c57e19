//! Values of calls, borrowed or owned.

use std::borrow::Cow;
use std::ops::Deref;

use bytes::Bytes;

/// A value that is set, as the caller has it.
#[derive(Clone, Debug)]
pub enum CallBytes<'a> {
    /// The caller lends it.
    Lent(&'a [u8]),
    /// The call owns it.
    Owned(Bytes),
}

impl CallBytes<'_> {
    /// The bytes for whoever keeps them: lent ones are copied.
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

/// Pieces of a value that is set, as the caller has them.
#[derive(Clone, Debug)]
pub enum CallPieces<'a> {
    /// The caller lends them.
    Lent(&'a [&'a [u8]]),
    /// The call owns them.
    Owned(Vec<Bytes>),
}

impl CallPieces<'_> {
    /// The bytes of each piece.
    #[must_use]
    pub fn slices(&self) -> Cow<'_, [&[u8]]> {
        match self {
            Self::Lent(pieces) => Cow::Borrowed(pieces),
            Self::Owned(pieces) => pieces.iter().map(|piece| &**piece).collect(),
        }
    }

    /// The pieces for whoever keeps them: lent ones are copied.
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
