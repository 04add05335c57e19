//! Operations of the abstract store interface that are the same for all stores.

use bytes::Bytes;

use crate::{ByteRange, Fetched, Key, Precondition, Prefix, Result, Store, Version};

/// The operations of the Zarr specification's abstract store interface that [`Store`] lacks, for every store.
///
/// `get`, `set`, `erase`, `erase_prefix`, `list_prefix` and `list_dir` are on [`Store`]. Zarr v3 core, section
/// "Abstract store interface".
pub trait StoreExt: Store {
    /// The whole value at `key`; `None` if there is no such key.
    ///
    /// # Errors
    /// Those of [`Store::get`].
    fn get_all(&self, key: &Key) -> Result<Option<Bytes>> {
        let mut fetched = Fetched::new();
        let found = self.get(key, &[ByteRange::Full], &mut fetched)?;
        Ok(found.then(|| fetched.into_bytes()))
    }

    /// For each key and range, in order, the bytes, or `None` if there is no such key.
    ///
    /// # Errors
    /// Those of [`Store::get`].
    fn get_partial_values(&self, key_ranges: &[(Key, ByteRange)]) -> Result<Vec<Option<Bytes>>> {
        let mut fetched = Fetched::new();
        let mut values = Vec::with_capacity(key_ranges.len());
        // Neighbours of one key are one get, so that they are of one state of the value.
        for run in key_ranges.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((key, _)) = run.first() else { continue };
            let ranges: Vec<ByteRange> = run.iter().map(|(_, range)| range.clone()).collect();
            let found = self.get(key, &ranges, &mut fetched)?;
            values.extend((0..run.len()).map(|i| found.then(|| fetched.to_bytes(i))));
        }
        Ok(values)
    }

    /// Sets the value at `key`, whether there is one or not.
    ///
    /// # Errors
    /// Those of [`Store::set`].
    fn set_all(&self, key: &Key, value: &[u8]) -> Result<Version> {
        self.set(key, value, &Precondition::None)
    }

    /// Writes each part into the value at its key, at its offset in bytes. Parts of one key that follow each other are
    /// one change.
    ///
    /// # Errors
    /// Those of [`Store::set_partial`]; the parts before the failure are written.
    fn set_partial_values(&self, key_start_values: &[(Key, u64, &[u8])]) -> Result<()> {
        for run in key_start_values.chunk_by(|(a, ..), (b, ..)| a == b) {
            let Some((key, ..)) = run.first() else { continue };
            let parts: Vec<(u64, &[u8])> = run.iter().map(|(_, start, value)| (*start, *value)).collect();
            self.set_partial(key, &parts)?;
        }
        Ok(())
    }

    /// Removes keys.
    ///
    /// # Errors
    /// Those of [`Store::erase`]; the keys before the failure are removed.
    fn erase_values(&self, keys: &[Key]) -> Result<()> {
        keys.iter().try_for_each(|key| self.erase(key))
    }

    /// All keys, sorted.
    ///
    /// # Errors
    /// Those of [`Store::list_prefix`].
    fn list(&self) -> Result<Vec<Key>> {
        self.list_prefix(&Prefix::root())
    }

    /// Whether there is such a key.
    ///
    /// # Errors
    /// Those of [`Store::get`].
    fn exists(&self, key: &Key) -> Result<bool> {
        self.get(key, &[], &mut Fetched::new())
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
