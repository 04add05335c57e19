//! The contract for implementers of stores.

use std::fmt;

use crate::splice::splice_and_set;
use crate::{ByteRange, Coalesce, Fetched, GetOptions, Key, Lock, Precondition, Prefix, Result, SetOptions, Version};

/// A key-value store of bytes: the contract for implementers, who check themselves with [`crate::testing::contract`].
///
/// `Display` gives the address that error messages show. All methods may be called from many threads at once. The rest
/// of the operations of the Zarr specification's abstract store interface are in [`crate::StoreExt`].
pub trait Store: Send + Sync + fmt::Debug + fmt::Display {
    /// Gets ranges of the value at `key`, in the order asked for, into `into`, which is cleared first.
    ///
    /// Returns false if there is no such key, with `into` empty. Without ranges, says only whether there is the key.
    /// All pieces are of one state of the value, even while it is being replaced. `into.size` and `into.version` are
    /// set where that costs nothing more; for [`ByteRange::Full`] and [`ByteRange::First`] they always are if the store knows
    /// them.
    ///
    /// # Errors
    /// [`crate::Error::Range`] if a range is not wholly inside the value.
    fn get(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool>;

    /// As [`Store::get`], of the state that `options` name, so that several gets read parts of one state of the value.
    ///
    /// By default the version in the reply is compared, so that a store which tells it with every reply needs no more.
    ///
    /// # Errors
    /// As [`Store::get`]; [`crate::Error::Precondition`] if the value has another state by now.
    fn get_with(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions, into: &mut Fetched) -> Result<bool> {
        let got = self.get(key, ranges, into);
        let found = match got {
            // A value that became shorter has another state.
            Err(error) if error.is_range() && options.if_match.is_some() => {
                if !self.get(key, &[ByteRange::First(0)], into)? {
                    return Ok(false);
                }
                options.check(&Named(self), key, into)?;
                return Err(error);
            }
            got => got?,
        };
        if found {
            options.check(&Named(self), key, into)?;
        }
        Ok(found)
    }

    /// Gets the whole value at `key` into `into`, which is as long as whoever asks expects the value to be.
    ///
    /// For stores that read values rather than hold them: nothing lies in between then. By default it is declined, and
    /// [`Store::get`] is to be asked.
    ///
    /// # Errors
    /// Those of the store below.
    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
        let _ = (key, into);
        Ok(Placed::Declined)
    }

    /// Replaces the value at `key`, or makes it, if `when` holds, and names the new state.
    ///
    /// All or nothing: no reader ever sees a part of `value`, and a failure leaves what was there.
    ///
    /// # Errors
    /// [`crate::Error::Precondition`] if `when` does not hold; [`crate::Error::ReadOnly`] if the store takes no writes.
    fn set(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Version>;

    /// As [`Store::set`], with what `options` say of durability too. By default a set does no more for it: right for stores
    /// whose values survive a loss of power once they are set, and for those in which nothing does.
    ///
    /// # Errors
    /// As [`Store::set`].
    fn set_with(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Version> {
        self.set(key, value, &options.when)
    }

    /// Replaces values, or makes them, in this order, each as [`Store::set`] does without a precondition: for many small ones,
    /// where a store can do something once for all of them.
    ///
    /// # Errors
    /// As [`Store::set`]. The values before the one that failed are set.
    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        values.iter().try_for_each(|(key, value)| self.set(key, value, &Precondition::None).map(drop))
    }

    /// Removes `key`. Removing what is not there succeeds.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn erase(&self, key: &Key) -> Result<()>;

    /// The keys and prefixes directly under `prefix`, sorted. Nothing there is no error.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list.
    fn list_dir(&self, prefix: &Prefix) -> Result<Listing>;

    /// The size in bytes of the value at `key`; `None` if there is no such key.
    ///
    /// # Errors
    /// Those of the store below.
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        let mut fetched = Fetched::new();
        if !self.get(key, &[ByteRange::Full], &mut fetched)? {
            return Ok(None);
        }
        Ok(Some(fetched.part(0).len() as u64))
    }

    /// All keys under `prefix`, however deep, sorted.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] if the store cannot list.
    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        let mut todo = vec![prefix.clone()];
        while let Some(prefix) = todo.pop() {
            let listing = self.list_dir(&prefix)?;
            keys.extend(listing.keys);
            todo.extend(listing.prefixes);
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// Removes all keys under `prefix`: at once, if [`Capabilities::erases_at_once`]; else one after another, in any order. A
    /// store of files may remove what is no key with them.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes, [`crate::Error::Unsupported`] if it cannot list.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        for key in self.list_prefix(prefix)? {
            self.erase(&key)?;
        }
        Ok(())
    }

    /// Writes `parts` into the value at `key`, each at its offset in bytes, in order. The value grows where they end
    /// behind it, with zeros in between; what is not there counts as empty. All or nothing, as [`Store::set`].
    ///
    /// The value is read, spliced and set. On stores with [`Capabilities::conditional`] nothing that others set
    /// meanwhile is lost; on others that is the caller's care.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes; [`crate::Error::Memory`] if the new value does not fit.
    fn set_partial(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        splice_and_set(
            self.capabilities().conditional,
            key,
            parts,
            &|into| self.get(key, &[ByteRange::Full], into),
            &|value, when| self.set(key, value, when),
        )
    }

    /// Renames all keys under the prefix `from`, at once, so that they begin with `to`, under which there must be nothing.
    /// Neither is the root, and none lies in the other. Returns false, with nothing changed, if the store cannot do that,
    /// if there is something under `to` or nothing under `from`, or if there are symbolic links, which may lead elsewhere from there.
    ///
    /// # Errors
    /// [`crate::Error::ReadOnly`] if the store takes no writes.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        let _ = (from, to);
        Ok(false)
    }

    /// The first symbolic link that there is under `prefix`, or that `prefix` itself is, relative to the root: what lies behind it may
    /// be under other keys, or of another store. `None` if there is none, as in all stores that have no links.
    ///
    /// # Errors
    /// [`crate::Error::Io`] if directories cannot be listed.
    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        let _ = prefix;
        Ok(None)
    }

    /// Takes the lock of `prefix`, which excludes others that ask for it until the [`Lock`] is dropped; `None` if another
    /// holds it. It is advisory: gets, sets and erases go on regardless. By default it is among the threads of this process.
    ///
    /// # Errors
    /// Those of the store below.
    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        Ok(Lock::in_process(&Named(self), prefix))
    }

    /// What users are to be told of the store that no error says, such as that it has no locks: each once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes all that was written before durable against loss of power.
    ///
    /// # Errors
    /// Those of the store below.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Separates what was written before from what is written after: a loss of power that leaves something of the latter
    /// leaves all of the former. By default [`Store::flush`].
    ///
    /// # Errors
    /// Those of the store below.
    fn barrier(&self) -> Result<()> {
        self.flush()
    }

    /// What the store can.
    fn capabilities(&self) -> Capabilities;

    /// How the store likes ranges merged.
    fn coalesce(&self) -> Coalesce;
}

/// What a store can; by default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Values can be set and erased.
    pub write: bool,
    /// Keys can be listed.
    pub list: bool,
    /// [`ByteRange::Suffix`] and [`ByteRange::From`] cost one request.
    pub suffix_ranges: bool,
    /// [`Precondition`]s are kept.
    pub conditional: bool,
    /// After [`Store::flush`] what was written survives loss of power.
    pub durable: bool,
    /// [`Store::erase_prefix`] makes all keys vanish at once, but for the root's, and those of a prefix that something is mounted at
    /// or that may not be renamed: there keys go before those below them, hidden ones first.
    pub erases_at_once: bool,
}

/// A store of any type, sized or not, by its name.
struct Named<'s, S: ?Sized>(&'s S);

impl<S: fmt::Display + ?Sized> fmt::Display for Named<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What [`Store::get_into`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The value has this many bytes. They are in the memory given, if that is as long; else its content is unspecified.
    Found(u64),
    /// There is no such key.
    Missing,
    /// Nothing: [`Store::get`] is to be asked.
    Declined,
}

/// What is directly under a prefix; both sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The keys.
    pub keys: Vec<Key>,
    /// The prefixes of what is further down.
    pub prefixes: Vec<Prefix>,
}
