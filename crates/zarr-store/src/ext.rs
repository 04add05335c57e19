//! Operations on blocking stores, as methods.

use std::sync::Arc;

use bytes::Bytes;

use crate::durability::ALWAYS;
use crate::snapshot::NEWEST;
use crate::{
    ByteRange, Call, CallBytes, CallPieces, Copied, CopySource, Durability, Error, Fetched, GetInto, GetOptions,
    GotMany, Key, Leftover, Listing, Lock, Precondition, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store,
    ValueGet, Version,
};

/// Operations on a [`Store`], each a method that makes a [`Call`] and returns the output in its answer, and shorter forms of them. They
/// include all of the Zarr specification's abstract store interface: Zarr v3 core, section "Abstract store interface".
pub trait StoreExt: Store {
    /// Returns the bytes of `ranges` of the value at `key`, one piece per range, in the order of `ranges`; `None` if the key does not
    /// exist.
    ///
    /// All pieces are of one state of the value, which `options` choose, even while the value is being replaced. Without ranges no bytes
    /// are read: the reply shows that the key exists, and its [`size`](Fetched::size) is always set. With ranges, size and version
    /// are set if they cost no further request; for [`ByteRange::Full`] and [`ByteRange::First`] always, as far as the store
    /// knows them.
    ///
    /// [`Fetched::of_value`] makes the reply of a store that has the whole value in memory. Other stores call [`GetOptions::check`] and
    /// [`ByteRangeExt::check`](crate::ByteRangeExt::check).
    ///
    /// # Errors
    /// [`crate::Error::Range`] if a range is not wholly inside the value; [`crate::Error::Precondition`] if the value has
    /// another state than `options` require, whether the ranges are inside it or not.
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.call(Call::get(key, ranges, options))?.into_got()
    }

    /// Gets several values, each as [`Self::get`] does; the outcomes stand in the order of the gets. By default they are got one after
    /// another. A store whose [values lie in files](crate::Capabilities::locates) gets those that lie near each other in a file by one request, as
    /// its access profile allows; each outcome has memory of its own.
    ///
    /// # Errors
    /// If none of the gets was made. Else each outcome has its own.
    fn get_many(&self, gets: Vec<ValueGet<'_>>) -> Result<GotMany> {
        self.call(Call::get_many(gets))?.into_got_many()
    }

    /// Reads the whole value at `key` into `into`, which has the length that the caller expects of the value.
    ///
    /// This saves a copy in stores that do not hold values in memory. By default it is declined, and the caller uses
    /// [`Self::get`].
    ///
    /// # Errors
    /// The errors of the store below.
    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.call(Call::get_into(key, into))?.into_got_into()
    }

    /// Sets the value at `key` if the precondition of `options` holds, and returns its new version; `None` if the store has no versions.
    ///
    /// All or nothing: no reader sees a part of `value`, and a failure leaves the old value. A store may ignore the durability of
    /// `options` if all its values survive a loss of power as soon as they are set, or if none does.
    /// [`Precondition::check`](crate::Precondition::check) compares versions for a store that has them at hand.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if the precondition does not hold; [`crate::Error::ReadOnly`] if the store takes no writes,
    /// which is the default.
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.call(Call::set(key, CallBytes::Lent(value), options))?.into_version()
    }

    /// Sets the value at `key` to the concatenated `pieces`, as [`Self::set`] does. By default the pieces are copied together; a store
    /// that does not need the memory for the whole value answers the call itself.
    ///
    /// # Errors
    /// The errors of [`Self::set`]; [`crate::Error::Memory`] if there is not enough memory for the value.
    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.call(Call::set_pieces(key, CallPieces::Lent(pieces), options))?.into_version()
    }

    /// Begins to set the value at `key` to pieces that follow one after another, behind `head` bytes that are passed last: for values that
    /// should not be in memory as a whole. Pieces are [appended](Self::append_to_set), and [`finish_set`](Self::finish_set) sets the
    /// value; until then readers see no part of it. By default all pieces are collected, and finishing is one [`Self::set_pieces`].
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes. The precondition of `options` is compared in
    /// [`finish_set`](Self::finish_set).
    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.call(Call::begin_set(key, head, options))?.into_begun()
    }

    /// Appends pieces to a value that is being set, behind the pieces that were appended before. The steps of one set must be made one
    /// after another, each after the previous one has returned. After an error the set cannot be finished.
    ///
    /// # Errors
    /// The errors of the store below.
    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.call(Call::append_to_set(key, stream, pieces))?.into_done()
    }

    /// Finishes the set of a value whose pieces are all appended: sets it, with the bytes `head` in front, as [`Self::set`] does.
    ///
    /// # Errors
    /// The errors of [`Self::set_pieces`]; [`crate::Error::Failed`] if `head` has another length than the set was begun with, or if the
    /// stream is finished already.
    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.call(Call::finish_set(key, stream, head))?.into_version()
    }

    /// Sets values in this order, each as [`Self::set`] does without a precondition. A store that can do a part of the work once for all
    /// values answers the call itself.
    ///
    /// # Errors
    /// The errors of [`Self::set`]. The values before the failed one are set.
    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        self.call(Call::set_many(values))?.into_done()
    }

    /// Sets values whose keys must not exist, in this order, each as [`Self::set`] does with
    /// [`Precondition::NotExists`](crate::Precondition::NotExists) and `durability`. A store that waits for a disk answers the call
    /// itself, to wait once for a group of values: the values of a group may then become visible when the bytes of all are on the disk.
    ///
    /// # Errors
    /// The errors of [`Self::set`]; [`crate::Error::Precondition`] names the key that exists. Values before the failed one may be set.
    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        self.call(Call::create_many(values, durability))?.into_done()
    }

    /// Sets the value at `to` to a value in the same service, as [`Self::set`] does without a precondition, but without passing the bytes
    /// through this machine. By default the copy is declined, and the caller reads the value and sets it.
    ///
    /// # Errors
    /// The errors of [`Self::set`]. A copy that the service refuses is declined, which is no error.
    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        self.call(Call::copy(from, to))?.into_copied()
    }

    /// Removes `key`. A missing key is no error.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, which is the default.
    fn erase(&self, key: &Key) -> Result<()> {
        self.call(Call::erase(key))?.into_done()
    }

    /// Returns the keys and prefixes directly under `prefix`, sorted. An empty result is no error.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list, which is the default.
    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.call(Call::list_dir(prefix))?.into_listing()
    }

    /// Returns all keys under `prefix`, at any depth, sorted. By default this is one [`Self::list_dir`] per prefix.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list.
    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.call(Call::list_prefix(prefix))?.into_keys()
    }

    /// Calls `visit` once with each key under `prefix`, at any depth, in any order, and the size of its value in bytes. The keys are those
    /// that [`Self::list_prefix`] returns; they are not collected, so that memory does not grow with their number, except for a few bytes
    /// per key of a service that lists in no order. By default this is a [`Self::list_prefix`] and a get without ranges per key; a store
    /// whose listing has sizes answers the call itself. Keys that are erased meanwhile are left out. A key whose value cannot be read, like a link
    /// that leads out of the store, is included with any size. `visit` must not use the store.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list. After an error some keys may have been visited.
    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.call(Call::list_sizes(prefix, visit))?.into_done()
    }

    /// Removes all keys under `prefix`: at once if [`Capabilities::erases_at_once`](crate::Capabilities::erases_at_once) is set, otherwise one after another in any order. A
    /// store of files may also remove files under `prefix` that are no values.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, [`crate::Error::Unsupported`] if it cannot list.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.call(Call::erase_prefix(prefix))?.into_done()
    }

    /// Writes `parts` into the value at `key`, each at its offset in bytes, in order. The value grows if a part ends behind it, with zeros
    /// in gaps; a missing value counts as empty. All or nothing, as for [`Self::set`].
    ///
    /// The value is read, changed and set. In stores with [`Capabilities::conditional`](crate::Capabilities::conditional), no concurrent change of the value
    /// is lost; for other stores the caller must exclude other writers.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes; [`crate::Error::Memory`] if the new value does not fit.
    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        self.call(Call::set_partial(key, parts))?.into_done()
    }

    /// Renames all keys under the prefix `from`, at once, so that they begin with `to`. No key may be under `to`, neither prefix may be the
    /// root, and neither may contain the other. Returns `false`, with nothing changed, if the store cannot do this, if keys are under `to`
    /// or none under `from`, or if there are symbolic links, whose relative targets would change.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.call(Call::rename_prefix(from, to))?.into_bool()
    }

    /// Exchanges the keys under two prefixes: keys under `a` get the names that they would have under `b`, and the reverse. Neither prefix
    /// may be the root, and neither may contain the other. If [`Capabilities::exchanges`](crate::Capabilities::exchanges) is set, a reader finds under each prefix either
    /// all its old keys or all those of the other prefix. Returns `false`, with nothing changed, if the store cannot do this, if no key is
    /// under one of the prefixes, or if one may not be renamed. A later loss of power does not undo the exchange.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.call(Call::exchange_prefixes(a, b))?.into_bool()
    }

    /// Returns the path, from the root, of the first symbolic link under `prefix`, or of `prefix` itself if it is a link: its target may be
    /// under other keys, or in another store. `None` if there is no link, as in all stores without links.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if directories cannot be listed.
    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        self.call(Call::find_link(prefix))?.into_link()
    }

    /// Returns the temporary files and directories directly under `prefix` that killed writers left behind, sorted by path. They contain no
    /// values, and no listing shows them. By default, for stores without such files, the result is empty.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if the directory cannot be listed.
    fn leftovers(&self, prefix: &Prefix) -> Result<Vec<Leftover>> {
        self.call(Call::leftovers(prefix, false))?.into_leftovers()
    }

    /// Removes the [`leftovers`](Self::leftovers) of `prefix`, and then its directory if it is empty. Returns what was removed.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if the directory cannot be listed.
    fn remove_leftovers(&self, prefix: &Prefix) -> Result<Vec<Leftover>> {
        self.call(Call::leftovers(prefix, true))?.into_leftovers()
    }

    /// Returns a store in which `prefix` is pinned to the keys that are under it now, whatever other writers do with this name. If they
    /// move the keys, the returned store reads and sets them at their new place; if they replace the keys, it has the old ones; if they
    /// erase the keys, nothing can be set under `prefix` any more. `None` (the default) if the store cannot do this, or if no key is under
    /// `prefix`. A store of files holds the directory open.
    ///
    /// # Errors
    /// The errors of the store below.
    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        self.call(Call::pin(prefix))?.into_pinned()
    }

    /// Returns whether the pinned prefix is still found under its name: not moved, replaced or erased. `true` for a store that is not
    /// [pinned](Self::pin).
    ///
    /// # Errors
    /// The errors of the store below.
    fn is_in_place(&self) -> Result<bool> {
        self.call(Call::is_in_place())?.into_bool()
    }

    /// Takes the lock of `prefix`, which excludes other takers until the [`Lock`] is dropped; `None` if another holds it. The lock is
    /// advisory: gets, sets and erases ignore it. By default it is a lock among the threads of this process.
    ///
    /// # Errors
    /// The errors of the store below.
    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.call(Call::try_lock(prefix))?.into_lock()
    }

    /// Makes all earlier writes durable, so that they survive a loss of power.
    ///
    /// # Errors
    /// The errors of the store below.
    fn flush(&self) -> Result<()> {
        self.call(Call::flush())?.into_done()
    }

    /// Orders earlier writes before later writes: if any later write survives a loss of power, all earlier ones do. By default this is a
    /// [`Self::flush`], and nothing for stores whose writes [appear at a flush](crate::Capabilities::appears_at_flush) together.
    ///
    /// # Errors
    /// The errors of the store below.
    fn barrier(&self) -> Result<()> {
        self.call(Call::barrier())?.into_done()
    }

    /// Returns the whole value at `key`; `None` if the key does not exist.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    fn get_all(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(self.get_ranges(key, &[ByteRange::Full])?.map(Fetched::into_bytes))
    }

    /// Returns ranges of the newest state of the value at `key`; `None` if the key does not exist.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Fetched>> {
        Fetched::checked(&self, key, self.get(key, ranges, &NEWEST)?, ranges.len(), &NEWEST)
    }

    /// Returns the bytes of each key and range, in order; `None` for a key that does not exist.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    fn get_partial_values(&self, key_ranges: &[(Key, ByteRange)]) -> Result<Vec<Option<Bytes>>> {
        let mut values = Vec::with_capacity(key_ranges.len());
        // Consecutive ranges of one key are one get, so that they are read from one state of the value.
        for run in key_ranges.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((key, _)) = run.first() else { continue };
            let ranges: Vec<ByteRange> = run.iter().map(|(_, range)| range.clone()).collect();
            let fetched = self.get_ranges(key, &ranges)?;
            values.extend((0..run.len()).map(|i| fetched.as_ref().map(|fetched| fetched.to_bytes(i))));
        }
        Ok(values)
    }

    /// Returns the size in bytes of the value at `key`; `None` if the key does not exist. The value is not read.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.get_ranges(key, &[])?.map(|fetched| size_of(&self, key, &fetched)).transpose()
    }

    /// Whether `key` exists.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    fn exists(&self, key: &Key) -> Result<bool> {
        Ok(self.get_ranges(key, &[])?.is_some())
    }

    /// Sets the value at `key`, unconditionally.
    ///
    /// # Errors
    /// The errors of [`Self::set`].
    fn set_all(&self, key: &Key, value: &[u8]) -> Result<Option<Version>> {
        self.set(key, value, &ALWAYS)
    }

    /// Sets the value at `key` if `when` holds.
    ///
    /// # Errors
    /// The errors of [`Self::set`].
    fn set_if(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Option<Version>> {
        self.set(key, value, &SetOptions::when(when.clone()))
    }

    /// Writes each part into the value at its key, at its offset in bytes. Consecutive parts of one key are one change. If parts overlap,
    /// which the specification forbids, the last part counts.
    ///
    /// # Errors
    /// The errors of [`Self::set_partial`]; the parts before the failure are written.
    fn set_partial_values(&self, key_start_values: &[(Key, u64, &[u8])]) -> Result<()> {
        for run in key_start_values.chunk_by(|(a, ..), (b, ..)| a == b) {
            let Some((key, ..)) = run.first() else { continue };
            let parts: Vec<(u64, &[u8])> = run.iter().map(|(_, start, value)| (*start, *value)).collect();
            self.set_partial(key, &parts)?;
        }
        Ok(())
    }

    /// Removes `keys`.
    ///
    /// # Errors
    /// The errors of [`Self::erase`]; the keys before the failure are removed.
    fn erase_values(&self, keys: &[Key]) -> Result<()> {
        keys.iter().try_for_each(|key| self.erase(key))
    }

    /// Returns all keys, sorted.
    ///
    /// # Errors
    /// The errors of [`Self::list_prefix`].
    fn list(&self) -> Result<Vec<Key>> {
        self.list_prefix(&Prefix::root())
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// Returns the size of a value from the reply to a get without ranges.
pub(crate) fn size_of(store: &dyn std::fmt::Display, key: &Key, fetched: &Fetched) -> Result<u64> {
    fetched.size.ok_or_else(|| Error::contract(store, key, "no size", "the size of the value"))
}
