//! Requests of jobs to a store, and the replies.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    ByteRange, Error, Fetched, GetOptions, Key, Listing, Lock, Precondition, Prefix, Result, SetOptions, SetStream,
};

/// Request of a job to a store. Drivers answer every kind of request, so that a new kind is a change for all drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Gets ranges of a value, in this order; the driver merges them as [`crate::AccessProfile`] allows.
    Get {
        /// Key of the value.
        key: Key,
        /// Requested ranges.
        ranges: Vec<ByteRange>,
        /// State of the value to read, and further options.
        options: GetOptions,
    },
    /// Sets a value.
    Set {
        /// Key of the value.
        key: Key,
        /// New value.
        value: Vec<u8>,
        /// Precondition and durability.
        options: SetOptions,
    },
    /// Begins to set a value piece by piece, as [`crate::StoreExt::begin_set`] does.
    BeginSet {
        /// Key of the value.
        key: Key,
        /// Number of bytes in front of the pieces, which are set last.
        head: u64,
        /// Precondition and durability.
        options: SetOptions,
    },
    /// Appends pieces to a value that is being set, as [`crate::StoreExt::append_to_set`] does.
    AppendToSet {
        /// Key of the value.
        key: Key,
        /// Stream from the reply to `BeginSet`.
        stream: SetStream,
        /// Pieces to append.
        pieces: Vec<Bytes>,
    },
    /// Finishes the set of a value whose pieces are all appended, as [`crate::StoreExt::finish_set`] does. The reply is that of `Set`.
    FinishSet {
        /// Key of the value.
        key: Key,
        /// Stream from the reply to `BeginSet`.
        stream: SetStream,
        /// Bytes in front of the pieces.
        head: Bytes,
    },
    /// Removes a key.
    Erase {
        /// Key to remove.
        key: Key,
    },
    /// Removes all keys under a prefix, as [`crate::StoreExt::erase_prefix`] does.
    ErasePrefix {
        /// Prefix whose keys are removed.
        prefix: Prefix,
    },
    /// Renames all keys under a prefix, as [`crate::StoreExt::rename_prefix`] does.
    RenamePrefix {
        /// Old prefix of the keys.
        from: Prefix,
        /// New prefix of the keys.
        to: Prefix,
    },
    /// Exchanges the keys under two prefixes, as [`crate::StoreExt::exchange_prefixes`] does.
    ExchangePrefixes {
        /// First prefix.
        a: Prefix,
        /// Second prefix.
        b: Prefix,
    },
    /// Takes the lock of a prefix, as [`crate::StoreExt::try_lock`] does.
    Lock {
        /// Prefix to lock.
        prefix: Prefix,
    },
    /// Orders earlier writes before later writes on the disk, as [`crate::StoreExt::barrier`] does.
    Barrier,
    /// Pauses the job.
    Pause {
        /// Duration of the pause.
        duration: Duration,
    },
    /// Lists the keys and prefixes directly under a prefix.
    List {
        /// Prefix to list.
        prefix: Prefix,
    },
    /// Lists all keys under a prefix.
    ListAll {
        /// Prefix to list.
        prefix: Prefix,
    },
    /// Lists all keys under a prefix with the sizes of their values.
    ListSizes {
        /// Prefix to list.
        prefix: Prefix,
    },
    /// Gets the size of a value.
    Size {
        /// Key of the value.
        key: Key,
    },
}

impl Request {
    /// Returns a request for the newest state of a whole value.
    #[must_use]
    pub fn get(key: Key) -> Self {
        Self::get_ranges(key, vec![ByteRange::Full])
    }

    /// Returns a request for ranges of the newest state of a value.
    #[must_use]
    pub fn get_ranges(key: Key, ranges: Vec<ByteRange>) -> Self {
        Self::Get { key, ranges, options: GetOptions::default() }
    }

    /// Returns a request that sets a value if `when` holds.
    #[must_use]
    pub fn set(key: Key, value: Vec<u8>, when: Precondition) -> Self {
        Self::Set { key, value, options: SetOptions::when(when) }
    }
}

/// Reply to the [`Request`] of the same name.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// Pieces of the value, one per range; `None` if the key does not exist.
    Got(Option<Fetched>),
    /// Size of the value in bytes. The bytes are in the memory that the job provided if that has the same length.
    Received(u64),
    /// The value is set.
    Set,
    /// Stream of a set that was begun.
    Begun(SetStream),
    /// The pieces are appended.
    Appended,
    /// The precondition of a set or get did not hold: nothing was changed or read. The job may read again and retry.
    Conflict,
    /// The key, or all keys under the prefix, are removed.
    Erased,
    /// Whether the keys were renamed.
    Renamed(bool),
    /// Whether the keys were exchanged.
    Exchanged(bool),
    /// Lock of the prefix; `None` if another writer holds it.
    Locked(Option<Lock>),
    /// Later writes will reach the disk after earlier writes.
    Barrier,
    /// The pause is over.
    Paused,
    /// Keys and prefixes directly under the prefix.
    Listing(Listing),
    /// All keys under the prefix, sorted.
    Keys(Vec<Key>),
    /// All keys under the prefix with the sizes of their values in bytes, sorted by key.
    Sizes(Vec<(Key, u64)>),
    /// Size of the value in bytes; `None` if the key does not exist.
    Size(Option<u64>),
}

impl Reply {
    /// Returns the value that was read, or parts of it; `None` if the key does not exist.
    ///
    /// # Errors
    /// [`Error::Job`](crate::Error::Job) if this is the reply to another request.
    pub fn into_got(self) -> Result<Option<Fetched>> {
        if let Self::Got(fetched) = self { Ok(fetched) } else { Err(Error::OTHER_REPLY) }
    }

    /// Returns the keys and prefixes directly under a prefix.
    ///
    /// # Errors
    /// The errors of [`into_got`](Self::into_got).
    pub fn into_listing(self) -> Result<Listing> {
        if let Self::Listing(listing) = self { Ok(listing) } else { Err(Error::OTHER_REPLY) }
    }

    /// Returns all keys under a prefix.
    ///
    /// # Errors
    /// The errors of [`into_got`](Self::into_got).
    pub fn into_keys(self) -> Result<Vec<Key>> {
        if let Self::Keys(keys) = self { Ok(keys) } else { Err(Error::OTHER_REPLY) }
    }

    /// Returns the size of a value in bytes; `None` if the key does not exist.
    ///
    /// # Errors
    /// The errors of [`into_got`](Self::into_got).
    pub fn into_size(self) -> Result<Option<u64>> {
        if let Self::Size(size) = self { Ok(size) } else { Err(Error::OTHER_REPLY) }
    }

    /// Returns whether a value was set or erased, or writes were ordered; `false` if the precondition did not hold.
    ///
    /// # Errors
    /// The errors of [`into_got`](Self::into_got).
    pub fn is_made(&self) -> Result<bool> {
        match self {
            Self::Set | Self::Erased | Self::Barrier => Ok(true),
            Self::Conflict => Ok(false),
            _ => Err(Error::OTHER_REPLY),
        }
    }
}
