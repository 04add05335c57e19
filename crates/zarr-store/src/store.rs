//! The contract for implementers of stores.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::below::{Blocking, at_once};
use crate::capabilities::{check_writable, refuse};
use crate::{
    AccessProfile, Answer, AsyncStore, ByteRange, Call, CallPieces, Capabilities, Copied, CopySource, Durability,
    Error, Fetched, GetOptions, GotMany, Key, Leftover, Listing, Location, Lock, Operation, Pinned, Prefix, Result,
    SetOptions, SetStream, SizeVisitor, ValueGet, Version, fallback,
};

/// A key-value store of bytes: the contract for implementers, who check themselves with [`crate::testing::contract`].
///
/// [`get`](Store::get) and two methods that describe the store are required: that is a store to read from. One that takes
/// writes implements [`set`](Store::set) and [`erase`](Store::erase), one that can list
/// [`list_dir`](Store::list_dir), and each says so in its [`Capabilities`]. The other methods have defaults that are right for every
/// store; a store overrides them where it can do better than their documentation says.
///
/// `Display` gives the address that error messages show. All methods may be called from many threads at once. Shorter forms of the
/// same operations, and the rest of the Zarr specification's abstract store interface, are in [`crate::StoreExt`].
pub trait Store: Send + Sync + fmt::Debug + fmt::Display {
    /// The bytes of ranges of the value at `key`, one piece for each, in the order asked for; `None` if there is no such key.
    ///
    /// All pieces are of one state of the value, even while it is being replaced; which one, `options` say. Without ranges no bytes
    /// are read: the reply says that there is the key, and its [`size`](Fetched::size) is always set. With ranges, size and version
    /// are set where that costs no further request; for [`ByteRange::Full`] and [`ByteRange::First`] always, as far as the store
    /// knows them.
    ///
    /// [`Fetched::of_value`] makes the reply of a store that has the whole value at hand. Others call [`GetOptions::check`] and
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
        at_once(fallback(Blocking(self), Call::get_many(gets)))?.into_got_many()
    }

    /// Where the value at `key` lies in a file, if the store knows that without a request. `None` for a value that has a file of its own,
    /// and in stores that [cannot tell](Capabilities::locates), which is the default.
    fn location(&self, key: &Key) -> Option<Location> {
        let _ = key;
        None
    }

    /// The capabilities of the store.
    fn capabilities(&self) -> Capabilities;

    /// How values are best read and written.
    fn access_profile(&self) -> AccessProfile;

    /// Gets the whole value at `key` into `into`, which is as long as the caller expects the value to be.
    ///
    /// It saves a copy in stores that read values and do not hold them in memory. By default it is declined, and the caller uses
    /// [`Store::get`].
    ///
    /// # Errors
    /// The errors of the store below.
    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        let _ = (key, into);
        Ok(GetInto::Declined)
    }

    /// Sets the value at `key` if the precondition of `options` holds, and returns its new version, if the store has versions.
    ///
    /// All or nothing: no reader sees a part of `value`, and a failure leaves the old value. A store may ignore the durability of
    /// `options` if its values survive a loss of power once they are set, or if nothing does.
    /// [`Precondition::check`](crate::Precondition::check) compares versions for a store that has them at hand.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if the precondition does not hold; [`crate::Error::ReadOnly`] if the store takes no writes,
    /// which is the default.
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        let _ = (key, value, options);
        refuse(&Named(self), Operation::Set)
    }

    /// Sets the value at `key` to `pieces`, one behind the other, as [`Store::set`] does. By default they are brought together; a
    /// store overrides this if it can do without the memory for that.
    ///
    /// # Errors
    /// As [`Store::set`]; [`crate::Error::Memory`] if the value does not fit.
    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        at_once(fallback(Blocking(self), Call::set_pieces(key, CallPieces::Lent(pieces), options)))?.into_version()
    }

    /// Begins to set the value at `key` to pieces that come one after another, behind `head` bytes that come last: for values that are not
    /// to be in memory as a whole. The pieces are [appended](Store::append_to_set), and [`finish_set`](Store::finish_set) sets the value;
    /// until then no reader sees anything of it. By default all pieces are kept, and finishing is one [`Store::set_pieces`].
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes. The precondition of `options` is compared in
    /// [`finish_set`](Store::finish_set).
    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        at_once(fallback(Blocking(self), Call::begin_set(key, head, options)))?.into_begun()
    }

    /// Appends pieces to a value that is being set, behind those that were appended before. The steps of one set come one after another,
    /// each when the one before has ended. After an error the set cannot be finished.
    ///
    /// # Errors
    /// The errors of the store below.
    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        at_once(fallback(Blocking(self), Call::append_to_set(key, stream, pieces)))?.into_done()
    }

    /// Sets the value of which all pieces are appended, with the bytes `head` in front, as [`Store::set`] does.
    ///
    /// # Errors
    /// As [`Store::set_pieces`]; [`crate::Error::Failed`] if `head` has another length than the set was begun with, or the stream is
    /// finished already.
    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        at_once(fallback(Blocking(self), Call::finish_set(key, stream, head)))?.into_version()
    }

    /// Sets values in this order, each as [`Store::set`] does without a precondition. A store overrides this if it can do a part of
    /// the work once for all values.
    ///
    /// # Errors
    /// As [`Store::set`]. The values before the failed one are set.
    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        check_writable(&Named(self), self.capabilities(), Operation::Set)?;
        let options = SetOptions::default();
        values.iter().try_for_each(|(key, value)| self.set(key, value, &options).map(drop))
    }

    /// Sets values that must not be there, in this order, each as [`Store::set`] does with
    /// [`Precondition::NotExists`](crate::Precondition::NotExists) and this durability. A store that waits for a disk overrides this, to
    /// wait once for many of them: the values of a group of them may then take their names when the bytes of all are on the disk.
    ///
    /// # Errors
    /// As [`Store::set`]; [`crate::Error::Precondition`] names the key that is there. Values before the failed one may be set.
    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        at_once(fallback(Blocking(self), Call::create_many(values, durability)))?.into_done()
    }

    /// Where the value at `key` lies, for [`Store::copy`]; `None` for stores without copies, which is the default.
    fn copy_source(&self, key: &Key) -> Option<CopySource> {
        let _ = key;
        None
    }

    /// Sets the value at `to` to one in the same service, as [`Store::set`] does without a precondition, though its bytes do not pass
    /// through this machine. By default it is declined, and the caller gets the value and sets it.
    ///
    /// # Errors
    /// As [`Store::set`]. What the service refuses is declined.
    fn copy(&self, from: &CopySource, to: &Key) -> Result<Copied> {
        let _ = (from, to);
        Ok(Copied::Declined)
    }

    /// Removes `key`. It is no error if there is no such key.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, which is the default.
    fn erase(&self, key: &Key) -> Result<()> {
        let _ = key;
        refuse(&Named(self), Operation::Erase)
    }

    /// The keys and prefixes directly under `prefix`, sorted. It is no error if there are none.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list, which is the default.
    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        let _ = prefix;
        Err(Error::Unsupported { store: Named(self).to_string(), operation: Operation::List })
    }

    /// All keys under `prefix`, however deep, sorted. By default one [`Store::list_dir`] for each prefix.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list.
    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        at_once(fallback(Blocking(self), Call::list_prefix(prefix)))?.into_keys()
    }

    /// Gives `visit` each key under `prefix`, however deep, once, in any order, with the bytes of its value: the keys that
    /// [`Store::list_prefix`] gives. They are not kept, so that the memory does not grow with their number; of a service that lists in no
    /// order a few bytes of each may be. By default a [`Store::list_prefix`], and a get without ranges for each key; a store overrides it
    /// if a listing tells sizes. A key that is erased meanwhile is left out; one whose value can not be got, as a link that leads out of
    /// the store, is not, and may have any size. `visit` must not use the store.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list. After an error some keys may have been visited.
    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        at_once(fallback(Blocking(self), Call::list_sizes(prefix, visit)))?.into_done()
    }

    /// Removes all keys under `prefix`: at once, if [`Capabilities::erases_at_once`]; else one after another, in any order. A
    /// store of files may also remove files there that are no values.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, [`crate::Error::Unsupported`] if it cannot list.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        at_once(fallback(Blocking(self), Call::erase_prefix(prefix)))?.into_done()
    }

    /// Writes `parts` into the value at `key`, each at its offset in bytes, in order. The value grows where they end
    /// behind it, with zeros in between; a missing value counts as empty. All or nothing, as [`Store::set`].
    ///
    /// The value is read, spliced and set. On stores with [`Capabilities::conditional`] nothing that others set
    /// meanwhile is lost; on others the caller has to exclude other writers.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes; [`crate::Error::Memory`] if the new value does not fit.
    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        at_once(fallback(Blocking(self), Call::set_partial(key, parts)))?.into_done()
    }

    /// Renames all keys under the prefix `from`, at once, so that they begin with `to`, under which there must be nothing.
    /// Neither is the root, and none lies in the other. Returns false, with nothing changed, if the store cannot do that,
    /// if there is something under `to` or nothing under `from`, or if there are symbolic links, which may lead elsewhere from there.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        at_once(fallback(Blocking(self), Call::rename_prefix(from, to)))?.into_bool()
    }

    /// Exchanges the keys under two prefixes: all under `a` get the names that they would have under `b`, and the other way around.
    /// Neither is the root, and none lies in the other. Where [`Capabilities::exchanges`], whoever reads meanwhile finds under each
    /// prefix what was under the one or what was under the other. Returns false, with nothing changed, if the store cannot do
    /// that, if there is nothing under one of them, or if one may not be renamed. A loss of power afterwards does not undo it.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        at_once(fallback(Blocking(self), Call::exchange_prefixes(a, b)))?.into_bool()
    }

    /// The path, from the root, of the first symbolic link under `prefix`, or of `prefix` itself if it is one: its target may be under
    /// other keys, or in another store. `None` if there is no link, as in all stores without links.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if directories cannot be listed.
    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        let _ = prefix;
        Ok(None)
    }

    /// The temporary files and directories directly under `prefix` that a writer left behind which was killed, sorted by their paths: no
    /// value lies in them, and no listing shows them. With `remove` they are removed, and then the directory itself, if nothing is in it.
    /// None in stores that need no such files, which is the default.
    ///
    /// # Errors
    /// [`crate::Error::Failed`] if the directory cannot be looked through.
    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<Leftover>> {
        let _ = (prefix, remove);
        Ok(Vec::new())
    }

    /// The same store without blocking, where its requests take so long that many should be under way: drivers of jobs use that one
    /// then. Its futures need no particular runtime. `None` for stores whose requests are best made one after another by each thread.
    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    /// The store in the parent directory, and the name of this store there. `None` for stores that are no directories.
    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        None
    }

    /// The same store, in which all that lies under `prefix` is what lies there now, whatever others do with that name: if they move it, its
    /// keys are found and set where it is then, if they replace it, those of the old state, and if they erase it, nothing can be set
    /// under it any more. `None` where that cannot be, which is the default, and where nothing is under `prefix`. In a directory the
    /// store that is returned holds it open.
    ///
    /// # Errors
    /// The errors of the store below.
    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        let _ = prefix;
        Ok(None)
    }

    /// Whether what this store was [pinned](Store::pin) to still has its name. True for a store that is not pinned.
    ///
    /// # Errors
    /// The errors of the store below.
    fn is_in_place(&self) -> Result<bool> {
        Ok(true)
    }

    /// Takes the lock of `prefix`, which excludes others that ask for it until the [`Lock`] is dropped; `None` if another
    /// holds it. It is advisory: gets, sets and erases go on regardless. By default it is among the threads of this process.
    ///
    /// # Errors
    /// The errors of the store below.
    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        Ok(Lock::in_process(&Named(self), prefix))
    }

    /// Warnings about the store for the user that no error carries, such as that it has no locks. Each is returned once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes all earlier writes durable against loss of power.
    ///
    /// # Errors
    /// The errors of the store below.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Orders earlier writes before later ones: if any later write survives a loss of power, all earlier ones do. By default
    /// [`Store::flush`]; nothing where all writes [appear at a flush](Capabilities::appears_at_flush), together.
    ///
    /// # Errors
    /// The errors of the store below.
    fn barrier(&self) -> Result<()> {
        if self.capabilities().appears_at_flush { Ok(()) } else { self.flush() }
    }

    /// Answers a call: each is a method of the same name, which it makes by default. A store that wraps another one, or asks one elsewhere,
    /// implements this instead of the methods ([`Wrapper`](crate::Wrapper), [`methods_by_call`](crate::methods_by_call)).
    ///
    /// # Errors
    /// The errors of the method.
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
            Call::SetMany { values } => {
                let values: Vec<(&Key, &[u8])> = values.iter().map(|(key, value)| (&**key, &**value)).collect();
                done(self.set_many(&values))?
            }
            Call::CreateMany { values, durability } => {
                let values: Vec<(&Key, &[u8])> = values.iter().map(|(key, value)| (&**key, &**value)).collect();
                done(self.create_many(&values, durability))?
            }
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

/// The outcome of [`Store::get_into`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetInto {
    /// The value has this many bytes. They are in `into` if that is as long; else its content is unspecified.
    Found(u64),
    /// There is no such key.
    Missing,
    /// Nothing was read: the caller uses [`Store::get`].
    Declined,
}
