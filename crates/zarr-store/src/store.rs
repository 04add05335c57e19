//! Contract for implementers of blocking stores.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::capabilities::{check_writable, refuse};
use crate::{
    AccessProfile, Answer, AsyncStore, ByteRange, Call, CallPieces, Capabilities, Copied, CopySource, Durability,
    Error, Fetched, GetOptions, GotMany, Key, Leftover, Listing, Location, Lock, Operation, Pinned, Prefix, Result,
    SetOptions, SetStream, SizeVisitor, ValueGet, Version, fallback_blocking, lend_values,
};

/// Key-value store of bytes: the contract for implementers, who test their stores with [`crate::testing::contract`].
///
/// [`get`](Store::get) and two methods that describe the store are required, and make a read-only store. A store that takes
/// writes also implements [`set`](Store::set) and [`erase`](Store::erase), and a store that can list
/// [`list_dir`](Store::list_dir); its [`Capabilities`] must say so. The other methods have defaults that are right for every
/// store; a store overrides those that it can do better.
///
/// `Display` gives the address that error messages show. All methods may be called from many threads at once. Shorter forms of the
/// same operations, and the rest of the Zarr specification's abstract store interface, are in [`crate::StoreExt`].
pub trait Store: Send + Sync + fmt::Debug + fmt::Display {
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
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>>;

    /// Gets several values, each as [`Store::get`] does; the outcomes stand in the order of the gets. By default they are got one after
    /// another. A store whose [values lie in files](Capabilities::locates) gets those that lie near each other in a file by one request, as
    /// its access profile allows; each outcome has memory of its own.
    ///
    /// # Errors
    /// If none of the gets was made. Else each outcome has its own.
    fn get_many(&self, gets: Vec<ValueGet<'_>>) -> Result<GotMany> {
        fallback_blocking(self, Call::get_many(gets))?.into_got_many()
    }

    /// Where the value at `key` lies in a file, if the store knows that without a request. `None` for a value that has a file of its own,
    /// and in stores that [cannot tell](Capabilities::locates), which is the default.
    fn location(&self, key: &Key) -> Option<Location> {
        let _ = key;
        None
    }

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// Returns the access profile of the store: how its values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Reads the whole value at `key` into `into`, which has the length that the caller expects of the value.
    ///
    /// This saves a copy in stores that do not hold values in memory. By default it is declined, and the caller uses
    /// [`Store::get`].
    ///
    /// # Errors
    /// The errors of the store below.
    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        let _ = (key, into);
        Ok(GetInto::Declined)
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
        let _ = (key, value, options);
        refuse(&Named(self), Operation::Set)
    }

    /// Sets the value at `key` to the concatenated `pieces`, as [`Store::set`] does. By default the pieces are copied together; a store
    /// that does not need the memory for the whole value overrides this.
    ///
    /// # Errors
    /// The errors of [`Store::set`]; [`crate::Error::Memory`] if there is not enough memory for the value.
    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        fallback_blocking(self, Call::set_pieces(key, CallPieces::Lent(pieces), options))?.into_version()
    }

    /// Begins to set the value at `key` to pieces that follow one after another, behind `head` bytes that are passed last: for values that
    /// should not be in memory as a whole. Pieces are [appended](Store::append_to_set), and [`finish_set`](Store::finish_set) sets the
    /// value; until then readers see no part of it. By default all pieces are collected, and finishing is one [`Store::set_pieces`].
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes. The precondition of `options` is compared in
    /// [`finish_set`](Store::finish_set).
    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        fallback_blocking(self, Call::begin_set(key, head, options))?.into_begun()
    }

    /// Appends pieces to a value that is being set, behind the pieces that were appended before. The steps of one set must be made one
    /// after another, each after the previous one has returned. After an error the set cannot be finished.
    ///
    /// # Errors
    /// The errors of the store below.
    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        fallback_blocking(self, Call::append_to_set(key, stream, pieces))?.into_done()
    }

    /// Finishes the set of a value whose pieces are all appended: sets it, with the bytes `head` in front, as [`Store::set`] does.
    ///
    /// # Errors
    /// The errors of [`Store::set_pieces`]; [`crate::Error::Failed`] if `head` has another length than the set was begun with, or if the
    /// stream is finished already.
    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        fallback_blocking(self, Call::finish_set(key, stream, head))?.into_version()
    }

    /// Sets values in this order, each as [`Store::set`] does without a precondition. A store that can do a part of the work once for all
    /// values overrides this.
    ///
    /// # Errors
    /// The errors of [`Store::set`]. The values before the failed one are set.
    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        check_writable(&Named(self), self.capabilities(), Operation::Set)?;
        let options = SetOptions::default();
        values.iter().try_for_each(|(key, value)| self.set(key, value, &options).map(drop))
    }

    /// Sets values whose keys must not exist, in this order, each as [`Store::set`] does with
    /// [`Precondition::NotExists`](crate::Precondition::NotExists) and `durability`. A store that waits for a disk overrides this, to wait
    /// once for a group of values: the values of a group may then become visible when the bytes of all are on the disk.
    ///
    /// # Errors
    /// The errors of [`Store::set`]; [`crate::Error::Precondition`] names the key that exists. Values before the failed one may be set.
    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        fallback_blocking(self, Call::create_many(values, durability))?.into_done()
    }

    /// Returns the location of the value at `key` in a storage service, for [`Store::copy`]; `None` (the default) for stores without
    /// copies.
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
    }

    /// Sets the value at `to` to a value in the same service, as [`Store::set`] does without a precondition, but without passing the bytes
    /// through this machine. By default the copy is declined, and the caller reads the value and sets it.
    ///
    /// # Errors
    /// The errors of [`Store::set`]. A copy that the service refuses is declined, which is no error.
    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        let _ = (from, to);
        Ok(Copied::Declined)
    }

    /// Removes `key`. A missing key is no error.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, which is the default.
    fn erase(&self, key: &Key) -> Result<()> {
        let _ = key;
        refuse(&Named(self), Operation::Erase)
    }

    /// Returns the keys and prefixes directly under `prefix`, sorted. An empty result is no error.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list, which is the default.
    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        let _ = prefix;
        Err(Error::Unsupported { store: Named(self).to_string(), operation: Operation::List })
    }

    /// Returns all keys under `prefix`, at any depth, sorted. By default this is one [`Store::list_dir`] per prefix.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list.
    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        fallback_blocking(self, Call::list_prefix(prefix))?.into_keys()
    }

    /// Calls `visit` once with each key under `prefix`, at any depth, in any order, and the size of its value in bytes. The keys are those
    /// that [`Store::list_prefix`] returns; they are not collected, so that memory does not grow with their number, except for a few bytes
    /// per key of a service that lists in no order. By default this is a [`Store::list_prefix`] and a get without ranges per key; a store
    /// whose listing has sizes overrides it. Keys that are erased meanwhile are left out. A key whose value cannot be read, like a link
    /// that leads out of the store, is included with any size. `visit` must not use the store.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list. After an error some keys may have been visited.
    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        fallback_blocking(self, Call::list_sizes(prefix, visit))?.into_done()
    }

    /// Removes all keys under `prefix`: at once if [`Capabilities::erases_at_once`] is set, otherwise one after another in any order. A
    /// store of files may also remove files under `prefix` that are no values.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, [`crate::Error::Unsupported`] if it cannot list.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        fallback_blocking(self, Call::erase_prefix(prefix))?.into_done()
    }

    /// Writes `parts` into the value at `key`, each at its offset in bytes, in order. The value grows if a part ends behind it, with zeros
    /// in gaps; a missing value counts as empty. All or nothing, as for [`Store::set`].
    ///
    /// The value is read, changed and set. In stores with [`Capabilities::conditional`], no concurrent change of the value
    /// is lost; for other stores the caller must exclude other writers.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes; [`crate::Error::Memory`] if the new value does not fit.
    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        fallback_blocking(self, Call::set_partial(key, parts))?.into_done()
    }

    /// Renames all keys under the prefix `from`, at once, so that they begin with `to`. No key may be under `to`, neither prefix may be the
    /// root, and neither may contain the other. Returns `false`, with nothing changed, if the store cannot do this, if keys are under `to`
    /// or none under `from`, or if there are symbolic links, whose relative targets would change.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        fallback_blocking(self, Call::rename_prefix(from, to))?.into_bool()
    }

    /// Exchanges the keys under two prefixes: keys under `a` get the names that they would have under `b`, and the reverse. Neither prefix
    /// may be the root, and neither may contain the other. If [`Capabilities::exchanges`] is set, a reader finds under each prefix either
    /// all its old keys or all those of the other prefix. Returns `false`, with nothing changed, if the store cannot do this, if no key is
    /// under one of the prefixes, or if one may not be renamed. A later loss of power does not undo the exchange.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        fallback_blocking(self, Call::exchange_prefixes(a, b))?.into_bool()
    }

    /// Returns the path, from the root, of the first symbolic link under `prefix`, or of `prefix` itself if it is a link: its target may be
    /// under other keys, or in another store. `None` if there is no link, as in all stores without links.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if directories cannot be listed.
    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        let _ = prefix;
        Ok(None)
    }

    /// Returns the temporary files and directories directly under `prefix` that killed writers left behind, sorted by path. They contain no
    /// values, and no listing shows them. If `remove` is set, they are removed, and then the directory itself if it is empty. By default,
    /// for stores without such files, the result is empty.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if the directory cannot be listed.
    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<Leftover>> {
        let _ = (prefix, remove);
        Ok(Vec::new())
    }

    /// Returns an async form of the store if many of its requests should be in flight at the same time, since each takes long: drivers of
    /// jobs then use the async form. Its futures need no particular runtime. `None` (the default) for stores whose threads best make one
    /// request after another.
    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// Returns the store of the parent directory, and the name of this store in it. `None` (the default) for stores that are no
    /// directories.
    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        None
    }

    /// Returns a store in which `prefix` is pinned to the keys that are under it now, whatever other writers do with this name. If they
    /// move the keys, the returned store reads and sets them at their new place; if they replace the keys, it has the old ones; if they
    /// erase the keys, nothing can be set under `prefix` any more. `None` (the default) if the store cannot do this, or if no key is under
    /// `prefix`. A store of files holds the directory open.
    ///
    /// # Errors
    /// The errors of the store below.
    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let _ = prefix;
        Ok(None)
    }

    /// Returns whether the pinned prefix is still found under its name: not moved, replaced or erased. `true` for a store that is not
    /// [pinned](Store::pin).
    ///
    /// # Errors
    /// The errors of the store below.
    fn is_in_place(&self) -> Result<bool> {
        Ok(true)
    }

    /// Takes the lock of `prefix`, which excludes other takers until the [`Lock`] is dropped; `None` if another holds it. The lock is
    /// advisory: gets, sets and erases ignore it. By default it is a lock among the threads of this process.
    ///
    /// # Errors
    /// The errors of the store below.
    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        Ok(Lock::in_process(&Named(self), prefix))
    }

    /// Returns warnings about the store for the user that no error carries, such as that it has no locks. Each warning is returned once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes all earlier writes durable, so that they survive a loss of power.
    ///
    /// # Errors
    /// The errors of the store below.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Orders earlier writes before later writes: if any later write survives a loss of power, all earlier ones do. By default this is a
    /// [`Store::flush`], and nothing for stores whose writes [appear at a flush](Capabilities::appears_at_flush) together.
    ///
    /// # Errors
    /// The errors of the store below.
    fn barrier(&self) -> Result<()> {
        if self.capabilities().appears_at_flush { Ok(()) } else { self.flush() }
    }

    /// Answers a call by the method of the same name. A store that wraps another store, or forwards calls to one elsewhere, implements this
    /// instead of the methods ([`Wrapper`](crate::Wrapper), [`methods_by_call`](crate::methods_by_call)).
    ///
    /// # Errors
    /// The errors of the method of the same name.
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::GetMany { gets } => Answer::GotMany(self.get_many(gets)?),
            Call::GetInto { key, into } => Answer::GotInto(self.get_into(&key, into)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::SetPieces { key, pieces, options } => {
                Answer::Set(self.set_pieces(&key, &pieces.slices(), &options)?)
            }
            Call::BeginSet { key, head, options } => Answer::Begun(self.begin_set(&key, head, &options)?),
            Call::AppendToSet { key, stream, pieces } => done(self.append_to_set(&key, &stream, pieces))?,
            Call::FinishSet { key, stream, head } => Answer::Set(self.finish_set(&key, &stream, head)?),
            Call::SetMany { values } => done(self.set_many(&lend_values(&values)))?,
            Call::CreateMany { values, durability } => done(self.create_many(&lend_values(&values), durability))?,
            Call::SetPartial { key, parts } => {
                let parts: Vec<(u64, &[u8])> = parts.iter().map(|(offset, part)| (*offset, &**part)).collect();
                done(self.set_partial(&key, &parts))?
            }
            Call::Copy { from, to } => Answer::Copied(self.copy(&from, &to)?),
            Call::Erase { key } => done(self.erase(&key))?,
            Call::ErasePrefix { prefix } => done(self.erase_prefix(&prefix))?,
            Call::RenamePrefix { from, to } => Answer::Is(self.rename_prefix(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_prefixes(&a, &b)?),
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            Call::ListSizes { prefix, visit } => done(self.list_sizes(&prefix, &visit))?,
            Call::FindLink { prefix } => Answer::Link(self.find_link(&prefix)?),
            Call::Leftovers { prefix, remove } => Answer::Leftovers(self.leftovers(&prefix, remove)?),
            Call::Pin { prefix } => Answer::Pinned(self.pin(&prefix)?.map(Pinned::Blocking)),
            Call::IsInPlace => Answer::Is(self.is_in_place()?),
            Call::Lock { prefix } => Answer::Locked(self.try_lock(&prefix)?),
            Call::Flush => done(self.flush())?,
            Call::Barrier => done(self.barrier())?,
        })
    }
}

fn done(result: Result<()>) -> Result<Answer> {
    result.map(|()| Answer::Done)
}

/// Displays a store of any type, sized or not.
struct Named<'s, S: ?Sized>(&'s S);

impl<S: fmt::Display + ?Sized> fmt::Display for Named<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Outcome of [`Store::get_into`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetInto {
    /// The value exists and has this size in bytes. Its bytes are in `into` if that has the same length; otherwise the content of `into` is
    /// unspecified.
    Found(u64),
    /// The key does not exist.
    Missing,
    /// Nothing was read: the caller uses [`Store::get`].
    Declined,
}
