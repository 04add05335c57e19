//! Operations on a store as values: what a store is asked, and its answers.

mod answer;
mod borrowed;
mod fallback;
mod new;

use std::borrow::Cow;

use bytes::Bytes;

pub use answer::{Answer, Pinned};
pub use borrowed::{CallBytes, CallPieces};
pub use fallback::fallback;

use crate::{
    ByteRange, CopySource, Durability, GetOptions, Key, Operation, Prefix, Result, SetOptions, SetStream, SizeVisitor,
    ValueGet,
};

/// An operation on a store, which [`Store::call`](crate::Store::call) and [`AsyncStore::call`](crate::AsyncStore::call) answer: each of their
/// methods of the same name, with its arguments.
///
/// A call borrows its arguments, so that it copies no value; a store that wraps another replaces a key or a prefix by one that the call
/// owns. Such a store says what it does with every kind of call, so that a new one is a change for all of them.
///
/// [`Request`](crate::Request) is what a job asks of the driver, which makes one call of it, or several.
pub enum Call<'a> {
    /// Get ranges of a value.
    Get {
        /// The key.
        key: Cow<'a, Key>,
        /// The ranges.
        ranges: Cow<'a, [ByteRange]>,
        /// Which state of the value.
        options: Cow<'a, GetOptions>,
    },
    /// Get ranges of several values, which may lie beside each other in one file.
    GetMany {
        /// The gets.
        gets: Vec<ValueGet<'a>>,
    },
    /// Get a whole value into memory of the caller. A store that does not block may decline.
    GetInto {
        /// The key.
        key: Cow<'a, Key>,
        /// The memory.
        into: &'a mut [u8],
    },
    /// Set a value.
    Set {
        /// The key.
        key: Cow<'a, Key>,
        /// The new value.
        value: CallBytes<'a>,
        /// The precondition and the durability.
        options: Cow<'a, SetOptions>,
    },
    /// Set a value to pieces, one behind the other.
    SetPieces {
        /// The key.
        key: Cow<'a, Key>,
        /// The pieces.
        pieces: CallPieces<'a>,
        /// The precondition and the durability.
        options: Cow<'a, SetOptions>,
    },
    /// Begin to set a value piece by piece.
    BeginSet {
        /// The key.
        key: Cow<'a, Key>,
        /// How many bytes lie in front of the pieces.
        head: u64,
        /// The precondition and the durability.
        options: Cow<'a, SetOptions>,
    },
    /// Append pieces to a value that is being set.
    AppendToSet {
        /// The key.
        key: Cow<'a, Key>,
        /// The answer to [`BeginSet`](Self::BeginSet).
        stream: Cow<'a, SetStream>,
        /// The pieces.
        pieces: Vec<Bytes>,
    },
    /// Set a value of which all pieces are appended.
    FinishSet {
        /// The key.
        key: Cow<'a, Key>,
        /// The answer to [`BeginSet`](Self::BeginSet).
        stream: Cow<'a, SetStream>,
        /// The bytes in front of the pieces.
        head: Bytes,
    },
    /// Set values without a precondition, in this order.
    SetMany {
        /// The keys and the values.
        values: Vec<(Cow<'a, Key>, CallBytes<'a>)>,
    },
    /// Set values that must not be there, in this order.
    CreateMany {
        /// The keys and the values.
        values: Vec<(Cow<'a, Key>, CallBytes<'a>)>,
        /// The durability of each.
        durability: Durability,
    },
    /// Write parts into a value, each at its offset.
    SetPartial {
        /// The key.
        key: Cow<'a, Key>,
        /// The offsets in bytes, and the parts.
        parts: Vec<(u64, CallBytes<'a>)>,
    },
    /// Set a value to one in the same service.
    Copy {
        /// Where the bytes are.
        from: Cow<'a, CopySource>,
        /// The key that is set.
        to: Cow<'a, Key>,
    },
    /// Remove a key.
    Erase {
        /// The key.
        key: Cow<'a, Key>,
    },
    /// Remove all keys under a prefix.
    ErasePrefix {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// Rename all keys under a prefix.
    RenamePrefix {
        /// The old prefix.
        from: Cow<'a, Prefix>,
        /// The new prefix.
        to: Cow<'a, Prefix>,
    },
    /// Exchange all keys under two prefixes.
    ExchangePrefixes {
        /// One prefix.
        a: Cow<'a, Prefix>,
        /// The other prefix.
        b: Cow<'a, Prefix>,
    },
    /// List the keys and prefixes directly under a prefix.
    ListDir {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// List all keys under a prefix.
    ListPrefix {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// Give a visitor all keys under a prefix, with the sizes of their values.
    ListSizes {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
        /// The visitor.
        visit: Cow<'a, SizeVisitor>,
    },
    /// Find the first symbolic link under a prefix.
    FindLink {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// Find what writers left directly under a prefix that were killed.
    Leftovers {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
        /// Whether it is removed.
        remove: bool,
    },
    /// Pin a prefix to what lies under it now.
    Pin {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// Ask whether what the store was pinned to has its name.
    IsInPlace,
    /// Take the lock of a prefix.
    Lock {
        /// The prefix.
        prefix: Cow<'a, Prefix>,
    },
    /// Make earlier writes durable.
    Flush,
    /// Order earlier writes before later ones.
    Barrier,
}

impl<'a> Call<'a> {
    /// The operation that errors name.
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

    /// Whether it sets, renames or removes something, or is a part of that: its [`operation`](Self::operation) is a set or an erase.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self.operation() {
            Operation::Set | Operation::Erase => true,
            Operation::Open | Operation::Get | Operation::List | Operation::Flush | Operation::Lock => false,
        }
    }

    /// The key or prefix that errors name: the first, `/` for the store itself.
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

    /// The prefix whose keys, prefixes or files the answer names; `None` if it names none.
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

    /// The same call with every key and every prefix replaced.
    ///
    /// # Errors
    /// The errors of the functions.
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

    /// The same call without what is borrowed, which is copied; `None` for a get into memory of the caller.
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
