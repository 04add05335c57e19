//! Requests to a store, and the replies.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    ByteRange, Error, Fetched, GetOptions, Key, Listing, Lock, Precondition, Prefix, Result, SetOptions, SetStream,
};

/// A request to a store. Whoever runs jobs answers every kind of them, so that a new one is a change for all drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Get ranges of a value, in this order; the driver merges them as [`crate::AccessProfile`] allows.
    Get {
        /// The key.
        key: Key,
        /// The ranges.
        ranges: Vec<ByteRange>,
        /// Which state of the value.
        options: GetOptions,
    },
    /// Set a value.
    Set {
        /// The key.
        key: Key,
        /// The new value.
        value: Vec<u8>,
        /// The precondition and the durability.
        options: SetOptions,
    },
    /// Begin to set a value piece by piece, as [`crate::Store::begin_set`] does.
    BeginSet {
        /// The key.
        key: Key,
        /// How many bytes lie in front of the pieces.
        head: u64,
        /// The precondition and the durability.
        options: SetOptions,
    },
    /// Append pieces to a value that is being set, as [`crate::Store::append_to_set`] does.
    AppendToSet {
        /// The key.
        key: Key,
        /// Stream that the reply to `BeginSet` brought.
        stream: SetStream,
        /// The pieces.
        pieces: Vec<Bytes>,
    },
    /// Set a value of which all pieces are appended, as [`crate::Store::finish_set`] does; the reply is that to `Set`.
    FinishSet {
        /// The key.
        key: Key,
        /// Stream that the reply to `BeginSet` brought.
        stream: SetStream,
        /// The bytes in front of the pieces.
        head: Bytes,
    },
    /// Remove a key.
    Erase {
        /// The key.
        key: Key,
    },
    /// Remove all keys under a prefix, as [`crate::Store::erase_prefix`] does.
    ErasePrefix {
        /// The prefix.
        prefix: Prefix,
    },
    /// Rename all keys under a prefix, as [`crate::Store::rename_prefix`] does.
    RenamePrefix {
        /// The old prefix.
        from: Prefix,
        /// The new prefix.
        to: Prefix,
    },
    /// Exchange all keys under two prefixes, as [`crate::Store::exchange_prefixes`] does.
    ExchangePrefixes {
        /// One prefix.
        a: Prefix,
        /// The other prefix.
        b: Prefix,
    },
    /// Take the lock of a prefix, as [`crate::Store::try_lock`] does.
    Lock {
        /// The prefix.
        prefix: Prefix,
    },
    /// Order earlier writes before later ones on the disk, as [`crate::Store::barrier`] does.
    Barrier,
    /// Wait.
    Pause {
        /// How long.
        duration: Duration,
    },
    /// List the keys and prefixes directly under a prefix.
    List {
        /// The prefix.
        prefix: Prefix,
    },
    /// List all keys under a prefix.
    ListAll {
        /// The prefix.
        prefix: Prefix,
    },
    /// List all keys under a prefix with the sizes of their values.
    ListSizes {
        /// The prefix.
        prefix: Prefix,
    },
    /// Get the size of a value.
    Size {
        /// The key.
        key: Key,
    },
}

impl Request {
    /// Gets the newest state of a whole value.
    #[must_use]
    pub fn get(key: Key) -> Self {
        Self::get_ranges(key, vec![ByteRange::Full])
    }

    /// Gets ranges of the newest state of a value.
    #[must_use]
    pub fn get_ranges(key: Key, ranges: Vec<ByteRange>) -> Self {
        Self::Get { key, ranges, options: GetOptions::default() }
    }

    /// Sets a value if `when` holds.
    #[must_use]
    pub fn set(key: Key, value: Vec<u8>, when: Precondition) -> Self {
        Self::Set { key, value, options: SetOptions::when(when) }
    }
}

/// The reply to the [`Request`] of the same name.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The pieces, one for each range; `None` if there is no such key.
    Got(Option<Fetched>),
    /// The value has this many bytes. They are in the memory that the asking job has for them if that is as long.
    Received(u64),
    /// The value is set.
    Set,
    /// The set is begun.
    Begun(SetStream),
    /// The pieces are appended.
    Appended,
    /// The precondition of a set or get did not hold: nothing was changed or read. The job may read again and retry.
    Conflict,
    /// The key is removed, or all under the prefix.
    Erased,
    /// Whether the keys are renamed.
    Renamed(bool),
    /// Whether the keys are exchanged.
    Exchanged(bool),
    /// The lock; `None` if another holds it.
    Locked(Option<Lock>),
    /// Later writes reach the disk after earlier ones.
    Barrier,
    /// The time has passed.
    Paused,
    /// The keys and prefixes directly under the prefix.
    Listing(Listing),
    /// All keys under the prefix, sorted.
    Keys(Vec<Key>),
    /// All keys under the prefix with the bytes of their values, sorted by key.
    Sizes(Vec<(Key, u64)>),
    /// The size in bytes; `None` if there is no such key.
    Size(Option<u64>),
}

impl Reply {
    /// The value that was got, or the parts of it.
    ///
    /// # Errors
    /// [`Error::Job`](crate::Error::Job) if this is the reply to another request.
    pub fn into_got(self) -> Result<Option<Fetched>> {
        if let Self::Got(fetched) = self { Ok(fetched) } else { Err(Error::OTHER_REPLY) }
    }

    /// The keys and prefixes directly under a prefix.
    ///
    /// # Errors
    /// As [`into_got`](Self::into_got).
    pub fn into_listing(self) -> Result<Listing> {
        if let Self::Listing(listing) = self { Ok(listing) } else { Err(Error::OTHER_REPLY) }
    }

    /// All keys under a prefix.
    ///
    /// # Errors
    /// As [`into_got`](Self::into_got).
    pub fn into_keys(self) -> Result<Vec<Key>> {
        if let Self::Keys(keys) = self { Ok(keys) } else { Err(Error::OTHER_REPLY) }
    }

    /// The size of a value.
    ///
    /// # Errors
    /// As [`into_got`](Self::into_got).
    pub fn into_size(self) -> Result<Option<u64>> {
        if let Self::Size(size) = self { Ok(size) } else { Err(Error::OTHER_REPLY) }
    }

    /// Whether a value was set or erased, or writes ordered; false if the precondition did not hold.
    ///
    /// # Errors
    /// As [`into_got`](Self::into_got).
    pub fn is_made(&self) -> Result<bool> {
        match self {
            Self::Set | Self::Erased | Self::Barrier => Ok(true),
            Self::Conflict => Ok(false),
            _ => Err(Error::OTHER_REPLY),
        }
    }
}
