//! Constructors of calls from the arguments of the methods.

use std::borrow::Cow::{self, Borrowed};

use bytes::Bytes;

use super::{Call, CallBytes, CallPieces};
use crate::{ByteRange, CopySource, Durability, GetOptions, Key, Prefix, SetOptions, SetStream, SizeVisitor, ValueGet};

/// Borrows the keys and values of a call that sets several values.
fn lent<'a>(values: &[(&'a Key, &'a [u8])]) -> Vec<(Cow<'a, Key>, CallBytes<'a>)> {
    values.iter().map(|(key, value)| (Borrowed(*key), CallBytes::Lent(value))).collect()
}

/// Constructors: each returns the call of the method of [`StoreExt`](crate::StoreExt) of the same name, with borrowed arguments.
impl<'a> Call<'a> {
    /// Returns the call of [`crate::StoreExt::get`].
    pub fn get(key: &'a Key, ranges: &'a [ByteRange], options: &'a GetOptions) -> Self {
        Self::Get { key: Borrowed(key), ranges: Borrowed(ranges), options: Borrowed(options) }
    }

    /// Returns the call of [`crate::StoreExt::get_many`].
    #[must_use]
    pub fn get_many(gets: Vec<ValueGet<'a>>) -> Self {
        Self::GetMany { gets }
    }

    /// Returns the call of [`crate::StoreExt::get_into`].
    pub fn get_into(key: &'a Key, into: &'a mut [u8]) -> Self {
        Self::GetInto { key: Borrowed(key), into }
    }

    /// Returns the call of [`crate::StoreExt::set`].
    pub fn set(key: &'a Key, value: CallBytes<'a>, options: &'a SetOptions) -> Self {
        Self::Set { key: Borrowed(key), value, options: Borrowed(options) }
    }

    /// Returns the call of [`crate::StoreExt::set_pieces`].
    pub fn set_pieces(key: &'a Key, pieces: CallPieces<'a>, options: &'a SetOptions) -> Self {
        Self::SetPieces { key: Borrowed(key), pieces, options: Borrowed(options) }
    }

    /// Returns the call of [`crate::StoreExt::begin_set`].
    pub fn begin_set(key: &'a Key, head: u64, options: &'a SetOptions) -> Self {
        Self::BeginSet { key: Borrowed(key), head, options: Borrowed(options) }
    }

    /// Returns the call of [`crate::StoreExt::append_to_set`].
    pub fn append_to_set(key: &'a Key, stream: &'a SetStream, pieces: Vec<Bytes>) -> Self {
        Self::AppendToSet { key: Borrowed(key), stream: Borrowed(stream), pieces }
    }

    /// Returns the call of [`crate::StoreExt::finish_set`].
    pub fn finish_set(key: &'a Key, stream: &'a SetStream, head: Bytes) -> Self {
        Self::FinishSet { key: Borrowed(key), stream: Borrowed(stream), head }
    }

    /// Returns the call of [`crate::StoreExt::set_many`].
    pub fn set_many(values: &[(&'a Key, &'a [u8])]) -> Self {
        Self::SetMany { values: lent(values) }
    }

    /// Returns the call of [`crate::StoreExt::create_many`].
    pub fn create_many(values: &[(&'a Key, &'a [u8])], durability: Durability) -> Self {
        Self::CreateMany { values: lent(values), durability }
    }

    /// Returns the call of [`crate::StoreExt::set_partial`].
    pub fn set_partial(key: &'a Key, parts: &[(u64, &'a [u8])]) -> Self {
        let parts = parts.iter().map(|(offset, part)| (*offset, CallBytes::Lent(part))).collect();
        Self::SetPartial { key: Borrowed(key), parts }
    }

    /// Returns the call of [`crate::StoreExt::copy`].
    pub fn copy(from: &'a CopySource, to: &'a Key) -> Self {
        Self::Copy { from: Borrowed(from), to: Borrowed(to) }
    }

    /// Returns the call of [`crate::StoreExt::erase`].
    pub fn erase(key: &'a Key) -> Self {
        Self::Erase { key: Borrowed(key) }
    }

    /// Returns the call of [`crate::StoreExt::erase_prefix`].
    pub fn erase_prefix(prefix: &'a Prefix) -> Self {
        Self::ErasePrefix { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::rename_prefix`].
    pub fn rename_prefix(from: &'a Prefix, to: &'a Prefix) -> Self {
        Self::RenamePrefix { from: Borrowed(from), to: Borrowed(to) }
    }

    /// Returns the call of [`crate::StoreExt::exchange_prefixes`].
    pub fn exchange_prefixes(a: &'a Prefix, b: &'a Prefix) -> Self {
        Self::ExchangePrefixes { a: Borrowed(a), b: Borrowed(b) }
    }

    /// Returns the call of [`crate::StoreExt::list_dir`].
    pub fn list_dir(prefix: &'a Prefix) -> Self {
        Self::ListDir { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::list_prefix`].
    pub fn list_prefix(prefix: &'a Prefix) -> Self {
        Self::ListPrefix { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::list_sizes`].
    pub fn list_sizes(prefix: &'a Prefix, visit: &'a SizeVisitor) -> Self {
        Self::ListSizes { prefix: Borrowed(prefix), visit: Borrowed(visit) }
    }

    /// Returns the call of [`crate::StoreExt::find_link`].
    pub fn find_link(prefix: &'a Prefix) -> Self {
        Self::FindLink { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::leftovers`].
    pub fn leftovers(prefix: &'a Prefix, remove: bool) -> Self {
        Self::Leftovers { prefix: Borrowed(prefix), remove }
    }

    /// Returns the call of [`crate::StoreExt::pin`].
    pub fn pin(prefix: &'a Prefix) -> Self {
        Self::Pin { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::try_lock`].
    pub fn try_lock(prefix: &'a Prefix) -> Self {
        Self::Lock { prefix: Borrowed(prefix) }
    }

    /// Returns the call of [`crate::StoreExt::is_in_place`].
    pub fn is_in_place() -> Self {
        Self::IsInPlace
    }

    /// Returns the call of [`crate::StoreExt::flush`].
    pub fn flush() -> Self {
        Self::Flush
    }

    /// Returns the call of [`crate::StoreExt::barrier`].
    pub fn barrier() -> Self {
        Self::Barrier
    }
}
