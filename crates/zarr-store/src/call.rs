//! Calls: operations on a store as values, and their answers.

mod answer;
mod borrowed;
mod fallback;
mod new;

use std::borrow::Cow;

use bytes::Bytes;

pub use answer::{Answer, Pinned};
pub use borrowed::{CallBytes, CallPieces, lend_values};
pub use fallback::{fallback, fallback_blocking};

use crate::{
    ByteRange, CopySource, Durability, GetOptions, Key, Operation, Prefix, Result, SetOptions, SetStream, SizeVisitor,
    ValueGet,
};

/// Operation on a store, which [`Store::call`](crate::Store::call) and [`AsyncStore::call`](crate::AsyncStore::call) answer: the method of
/// [`StoreExt`](crate::StoreExt) of the same name, with its arguments.
///
/// A call borrows its arguments, so that no value is copied; a store that wraps another may replace a key or a prefix by an owned
/// one. Such a store matches on every kind of call, so that a new kind is a change for all of them.
///
/// A job makes a [`Request`](crate::Request) to the driver, which makes one or more calls for it.
pub enum Call<'a> {
    /// Gets ranges of a value.
    Get {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Requested ranges.
        ranges: Cow<'a, [ByteRange]>,
        /// State of the value to read, and further options.
        options: Cow<'a, GetOptions>,
    },
    /// Get ranges of several values, which may lie beside each other in one file.
    GetMany {
        /// The gets.
        gets: Vec<ValueGet<'a>>,
    },
    /// Get a whole value into memory of the caller. A store that does not block may decline.
    GetInto {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Memory that receives the value.
        into: &'a mut [u8],
    },
    /// Sets a value.
    Set {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// New value.
        value: CallBytes<'a>,
        /// Precondition and durability.
        options: Cow<'a, SetOptions>,
    },
    /// Sets a value to concatenated pieces.
    SetPieces {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Pieces of the new value, in order.
        pieces: CallPieces<'a>,
        /// Precondition and durability.
        options: Cow<'a, SetOptions>,
    },
    /// Begins to set a value piece by piece.
    BeginSet {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Number of bytes in front of the pieces, which are passed last.
        head: u64,
        /// Precondition and durability.
        options: Cow<'a, SetOptions>,
    },
    /// Appends pieces to a value that is being set.
    AppendToSet {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Stream from the answer to [`BeginSet`](Self::BeginSet).
        stream: Cow<'a, SetStream>,
        /// Pieces to append.
        pieces: Vec<Bytes>,
    },
    /// Finishes the set of a value whose pieces are all appended.
    FinishSet {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Stream from the answer to [`BeginSet`](Self::BeginSet).
        stream: Cow<'a, SetStream>,
        /// Bytes in front of the pieces.
        head: Bytes,
    },
    /// Sets values without a precondition, in this order.
    SetMany {
        /// Keys and values to set.
        values: Vec<(Cow<'a, Key>, CallBytes<'a>)>,
    },
    /// Sets values whose keys must not exist, in this order.
    CreateMany {
        /// Keys and values to set.
        values: Vec<(Cow<'a, Key>, CallBytes<'a>)>,
        /// Durability of each value.
        durability: Durability,
    },
    /// Writes parts into a value, each at its offset.
    SetPartial {
        /// Key of the value.
        key: Cow<'a, Key>,
        /// Parts with their offsets in bytes.
        parts: Vec<(u64, CallBytes<'a>)>,
    },
    /// Sets a value to a copy of a value in the same service.
    Copy {
        /// Location of the value that is copied.
        from: Cow<'a, CopySource>,
        /// Key of the copy.
        to: Cow<'a, Key>,
    },
    /// Removes a key.
    Erase {
        /// Key to remove.
        key: Cow<'a, Key>,
    },
    /// Removes all keys under a prefix.
    ErasePrefix {
        /// Prefix whose keys are removed.
        prefix: Cow<'a, Prefix>,
    },
    /// Renames all keys under a prefix.
    RenamePrefix {
        /// Old prefix of the keys.
        from: Cow<'a, Prefix>,
        /// New prefix of the keys.
        to: Cow<'a, Prefix>,
    },
    /// Exchanges the keys under two prefixes.
    ExchangePrefixes {
        /// First prefix.
        a: Cow<'a, Prefix>,
        /// Second prefix.
        b: Cow<'a, Prefix>,
    },
    /// Lists the keys and prefixes directly under a prefix.
    ListDir {
        /// Prefix to list.
        prefix: Cow<'a, Prefix>,
    },
    /// Lists all keys under a prefix.
    ListPrefix {
        /// Prefix to list.
        prefix: Cow<'a, Prefix>,
    },
    /// Passes all keys under a prefix to a visitor, with the sizes of their values.
    ListSizes {
        /// Prefix to list.
        prefix: Cow<'a, Prefix>,
        /// Visitor that is called with each key and size.
        visit: Cow<'a, SizeVisitor>,
    },
    /// Finds the first symbolic link under a prefix.
    FindLink {
        /// Prefix to search.
        prefix: Cow<'a, Prefix>,
    },
    /// Finds temporary files and directories that killed writers left directly under a prefix.
    Leftovers {
        /// Prefix to search.
        prefix: Cow<'a, Prefix>,
        /// Whether the files and directories are removed.
        remove: bool,
    },
    /// Pins a prefix to the keys that are under it now.
    Pin {
        /// Prefix to pin.
        prefix: Cow<'a, Prefix>,
    },
    /// Checks whether the pinned prefix is still found under its name.
    IsInPlace,
    /// Takes the lock of a prefix.
    Lock {
        /// Prefix to lock.
        prefix: Cow<'a, Prefix>,
    },
    /// Makes earlier writes durable.
    Flush,
    /// Orders earlier writes before later writes.
    Barrier,
}

impl<'a> Call<'a> {
    /// Returns the operation that errors name.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::Get { .. } | Self::GetMany { .. } | Self::GetInto { .. } | Self::Pin { .. } | Self::IsInPlace => {
                Operation::Get
            }
            Self::Set { .. }
            | Self::SetPieces { .. }
            | Self::BeginSet { .. }
            | Self::AppendToSet { .. }
            | Self::FinishSet { .. }
            | Self::SetMany { .. }
            | Self::CreateMany { .. }
            | Self::SetPartial { .. }
            | Self::Copy { .. }
            | Self::RenamePrefix { .. }
            | Self::ExchangePrefixes { .. } => Operation::Set,
            Self::Erase { .. } | Self::ErasePrefix { .. } | Self::Leftovers { remove: true, .. } => Operation::Erase,
            Self::ListDir { .. }
            | Self::ListPrefix { .. }
            | Self::ListSizes { .. }
            | Self::FindLink { .. }
            | Self::Leftovers { remove: false, .. } => Operation::List,
            Self::Lock { .. } => Operation::Lock,
            Self::Flush | Self::Barrier => Operation::Flush,
        }
    }

    /// Whether the call sets, renames or removes something, or is a step of a set: its [`operation`](Self::operation) is a set or an erase.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self.operation() {
            Operation::Set | Operation::Erase => true,
            Operation::Open | Operation::Get | Operation::List | Operation::Flush | Operation::Lock => false,
        }
    }

    /// Returns the key or prefix that errors name: the first one of the call; `/` for calls about the store itself.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Get { key, .. }
            | Self::GetInto { key, .. }
            | Self::Set { key, .. }
            | Self::SetPieces { key, .. }
            | Self::BeginSet { key, .. }
            | Self::AppendToSet { key, .. }
            | Self::FinishSet { key, .. }
            | Self::SetPartial { key, .. }
            | Self::Copy { to: key, .. }
            | Self::Erase { key } => key.as_str(),
            Self::GetMany { gets } => gets.first().map_or("/", |get| get.key.as_str()),
            Self::SetMany { values } | Self::CreateMany { values, .. } => {
                values.first().map_or("/", |(key, _)| key.as_str())
            }
            Self::ErasePrefix { prefix }
            | Self::RenamePrefix { from: prefix, .. }
            | Self::ExchangePrefixes { a: prefix, .. }
            | Self::ListDir { prefix }
            | Self::ListPrefix { prefix }
            | Self::ListSizes { prefix, .. }
            | Self::FindLink { prefix }
            | Self::Leftovers { prefix, .. }
            | Self::Pin { prefix }
            | Self::Lock { prefix } => prefix.as_str(),
            Self::IsInPlace | Self::Flush | Self::Barrier => "/",
        }
    }

    /// Returns the prefix of a call whose answer lists keys, prefixes or files; `None` for other calls.
    #[must_use]
    pub fn listed(&self) -> Option<&Prefix> {
        match self {
            Self::ListDir { prefix }
            | Self::ListPrefix { prefix }
            | Self::ListSizes { prefix, .. }
            | Self::Leftovers { prefix, .. } => Some(prefix),
            _ => None,
        }
    }

    /// Returns the call with every key replaced by `key_of` and every prefix by `prefix_of`.
    ///
    /// # Errors
    /// The errors of `key_of` and `prefix_of`.
    pub fn with_names(
        self,
        key_of: impl Fn(&Key) -> Result<Key>,
        prefix_of: impl Fn(&Prefix) -> Result<Prefix>,
    ) -> Result<Self> {
        let key_of = |key: Cow<'a, Key>| key_of(&key).map(Cow::Owned);
        let prefix_of = |prefix: Cow<'a, Prefix>| prefix_of(&prefix).map(Cow::Owned);
        let keys_of = |values: Vec<(_, CallBytes<'a>)>| {
            values.into_iter().map(|(key, value)| Ok((key_of(key)?, value))).collect::<Result<Vec<_>>>()
        };
        Ok(match self {
            Self::Get { key, ranges, options } => Self::Get { key: key_of(key)?, ranges, options },
            Self::GetMany { gets } => {
                let named = |get: ValueGet<'a>| Ok(ValueGet { key: key_of(get.key)?, ..get });
                Self::GetMany { gets: gets.into_iter().map(named).collect::<Result<_>>()? }
            }
            Self::GetInto { key, into } => Self::GetInto { key: key_of(key)?, into },
            Self::Set { key, value, options } => Self::Set { key: key_of(key)?, value, options },
            Self::SetPieces { key, pieces, options } => Self::SetPieces { key: key_of(key)?, pieces, options },
            Self::BeginSet { key, head, options } => Self::BeginSet { key: key_of(key)?, head, options },
            Self::AppendToSet { key, stream, pieces } => Self::AppendToSet { key: key_of(key)?, stream, pieces },
            Self::FinishSet { key, stream, head } => Self::FinishSet { key: key_of(key)?, stream, head },
            Self::SetMany { values } => Self::SetMany { values: keys_of(values)? },
            Self::CreateMany { values, durability } => Self::CreateMany { values: keys_of(values)?, durability },
            Self::SetPartial { key, parts } => Self::SetPartial { key: key_of(key)?, parts },
            Self::Copy { from, to } => Self::Copy { from, to: key_of(to)? },
            Self::Erase { key } => Self::Erase { key: key_of(key)? },
            Self::ErasePrefix { prefix } => Self::ErasePrefix { prefix: prefix_of(prefix)? },
            Self::RenamePrefix { from, to } => Self::RenamePrefix { from: prefix_of(from)?, to: prefix_of(to)? },
            Self::ExchangePrefixes { a, b } => Self::ExchangePrefixes { a: prefix_of(a)?, b: prefix_of(b)? },
            Self::ListDir { prefix } => Self::ListDir { prefix: prefix_of(prefix)? },
            Self::ListPrefix { prefix } => Self::ListPrefix { prefix: prefix_of(prefix)? },
            Self::ListSizes { prefix, visit } => Self::ListSizes { prefix: prefix_of(prefix)?, visit },
            Self::FindLink { prefix } => Self::FindLink { prefix: prefix_of(prefix)? },
            Self::Leftovers { prefix, remove } => Self::Leftovers { prefix: prefix_of(prefix)?, remove },
            Self::Pin { prefix } => Self::Pin { prefix: prefix_of(prefix)? },
            Self::Lock { prefix } => Self::Lock { prefix: prefix_of(prefix)? },
            call @ (Self::IsInPlace | Self::Flush | Self::Barrier) => call,
        })
    }

    /// Returns the call with owned arguments; borrowed values are copied. `None` for a get into memory of the caller.
    #[must_use]
    pub fn into_owned(self) -> Option<Call<'static>> {
        fn own<T: Clone + 'static>(borrowed: Cow<'_, T>) -> Cow<'static, T> {
            Cow::Owned(borrowed.into_owned())
        }
        let own_values = |values: Vec<(Cow<'a, Key>, CallBytes<'a>)>| {
            values.into_iter().map(|(key, value)| (own(key), value.into_owned())).collect()
        };
        Some(match self {
            Self::Get { key, ranges, options } => {
                Call::Get { key: own(key), ranges: Cow::Owned(ranges.into_owned()), options: own(options) }
            }
            Self::GetMany { gets } => Call::GetMany { gets: gets.into_iter().map(ValueGet::into_owned).collect() },
            Self::GetInto { .. } => return None,
            Self::Set { key, value, options } => {
                Call::Set { key: own(key), value: value.into_owned(), options: own(options) }
            }
            Self::SetPieces { key, pieces, options } => {
                Call::SetPieces { key: own(key), pieces: pieces.into_owned(), options: own(options) }
            }
            Self::BeginSet { key, head, options } => Call::BeginSet { key: own(key), head, options: own(options) },
            Self::AppendToSet { key, stream, pieces } => {
                Call::AppendToSet { key: own(key), stream: own(stream), pieces }
            }
            Self::FinishSet { key, stream, head } => Call::FinishSet { key: own(key), stream: own(stream), head },
            Self::SetMany { values } => Call::SetMany { values: own_values(values) },
            Self::CreateMany { values, durability } => Call::CreateMany { values: own_values(values), durability },
            Self::SetPartial { key, parts } => {
                let parts = parts.into_iter().map(|(offset, part)| (offset, part.into_owned())).collect();
                Call::SetPartial { key: own(key), parts }
            }
            Self::Copy { from, to } => Call::Copy { from: own(from), to: own(to) },
            Self::Erase { key } => Call::Erase { key: own(key) },
            Self::ErasePrefix { prefix } => Call::ErasePrefix { prefix: own(prefix) },
            Self::RenamePrefix { from, to } => Call::RenamePrefix { from: own(from), to: own(to) },
            Self::ExchangePrefixes { a, b } => Call::ExchangePrefixes { a: own(a), b: own(b) },
            Self::ListDir { prefix } => Call::ListDir { prefix: own(prefix) },
            Self::ListPrefix { prefix } => Call::ListPrefix { prefix: own(prefix) },
            Self::ListSizes { prefix, visit } => Call::ListSizes { prefix: own(prefix), visit: own(visit) },
            Self::FindLink { prefix } => Call::FindLink { prefix: own(prefix) },
            Self::Leftovers { prefix, remove } => Call::Leftovers { prefix: own(prefix), remove },
            Self::Pin { prefix } => Call::Pin { prefix: own(prefix) },
            Self::IsInPlace => Call::IsInPlace,
            Self::Lock { prefix } => Call::Lock { prefix: own(prefix) },
            Self::Flush => Call::Flush,
            Self::Barrier => Call::Barrier,
        })
    }
}
