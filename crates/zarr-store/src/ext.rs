//! Operations of the abstract store interface that are the same for all stores.

use bytes::Bytes;

use crate::durability::ALWAYS;
use crate::snapshot::NEWEST;
use crate::{
    AsyncStore, BoxFuture, ByteRange, Error, Fetched, Key, Precondition, Prefix, Result, SetOptions, Store, Version,
};

/// Shorter forms of the operations of a [`Store`], and those operations of the Zarr specification's abstract store interface that [`Store`]
/// lacks.
///
/// `erase`, `erase_prefix`, `list_prefix` and `list_dir` are methods of [`Store`]. See Zarr v3 core, section "Abstract store interface".
pub trait StoreExt: Store {
    /// Returns the whole value at `key`; `None` if the key does not exist.
    ///
    /// # Errors
    /// The errors of [`Store::get`].
    fn get_all(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(self.get_ranges(key, &[ByteRange::Full])?.map(Fetched::into_bytes))
    }

    /// Returns ranges of the newest state of the value at `key`; `None` if the key does not exist.
    ///
    /// # Errors
    /// The errors of [`Store::get`].
    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Fetched>> {
        Fetched::checked(&self, key, self.get(key, ranges, &NEWEST)?, ranges.len(), &NEWEST)
    }

    /// Returns the bytes of each key and range, in order; `None` for a key that does not exist.
    ///
    /// # Errors
    /// The errors of [`Store::get`].
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
    /// The errors of [`Store::get`].
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.get_ranges(key, &[])?.map(|fetched| size_of(&self, key, &fetched)).transpose()
    }

    /// Whether `key` exists.
    ///
    /// # Errors
    /// The errors of [`Store::get`].
    fn exists(&self, key: &Key) -> Result<bool> {
        Ok(self.get_ranges(key, &[])?.is_some())
    }

    /// Sets the value at `key`, unconditionally.
    ///
    /// # Errors
    /// The errors of [`Store::set`].
    fn set_all(&self, key: &Key, value: &[u8]) -> Result<Option<Version>> {
        self.set(key, value, &ALWAYS)
    }

    /// Sets the value at `key` if `when` holds.
    ///
    /// # Errors
    /// The errors of [`Store::set`].
    fn set_if(&self, key: &Key, value: &[u8], when: &Precondition) -> Result<Option<Version>> {
        self.set(key, value, &SetOptions::when(when.clone()))
    }

    /// Writes each part into the value at its key, at its offset in bytes. Consecutive parts of one key are one change. If parts overlap,
    /// which the specification forbids, the last part counts.
    ///
    /// # Errors
    /// The errors of [`Store::set_partial`]; the parts before the failure are written.
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
    /// The errors of [`Store::erase`]; the keys before the failure are removed.
    fn erase_values(&self, keys: &[Key]) -> Result<()> {
        keys.iter().try_for_each(|key| self.erase(key))
    }

    /// Returns all keys, sorted.
    ///
    /// # Errors
    /// The errors of [`Store::list_prefix`].
    fn list(&self) -> Result<Vec<Key>> {
        self.list_prefix(&Prefix::root())
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// Shorter forms of the operations of an [`AsyncStore`], like [`StoreExt`] for a [`Store`].
pub trait AsyncStoreExt: AsyncStore {
    /// Returns the whole value at `key`; `None` if the key does not exist.
    fn get_all<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Bytes>>> {
        Box::pin(async move { Ok(self.get_ranges(key, &[ByteRange::Full]).await?.map(Fetched::into_bytes)) })
    }

    /// Returns ranges of the newest state of the value at `key`; `None` if the key does not exist.
    fn get_ranges<'a>(&'a self, key: &'a Key, ranges: &'a [ByteRange]) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            let fetched = self.get(key, ranges, &NEWEST).await?;
            Fetched::checked(&self, key, fetched, ranges.len(), &NEWEST)
        })
    }

    /// Returns the size in bytes of the value at `key`; `None` if the key does not exist. The value is not read.
    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            let fetched = self.get_ranges(key, &[]).await?;
            fetched.map(|fetched| size_of(&self, key, &fetched)).transpose()
        })
    }

    /// Whether `key` exists.
    fn exists<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { Ok(self.get_ranges(key, &[]).await?.is_some()) })
    }

    /// Sets the value at `key`, unconditionally.
    fn set_all<'a>(&'a self, key: &'a Key, value: Bytes) -> BoxFuture<'a, Result<Option<Version>>> {
        self.set(key, value, &ALWAYS)
    }
}

impl<S: AsyncStore + ?Sized> AsyncStoreExt for S {}

/// Returns the size of a value from the reply to a get without ranges.
fn size_of(store: &dyn std::fmt::Display, key: &Key, fetched: &Fetched) -> Result<u64> {
    fetched.size.ok_or_else(|| Error::contract(store, key, "no size", "the size of the value"))
}
