//! Chunks that are looked up when they are read, for arrays whose table of all chunks would be large.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{AccessProfile, AsyncStore, BoxFuture, Bytes, Key, Result, Store};

use crate::ChunkTable;

/// Place of a chunk that was looked up.
#[derive(Clone, Debug)]
pub enum FoundChunk {
    /// The chunk is not stored.
    Missing,
    /// The bytes of the chunk, which are in memory.
    Inline(Bytes),
    /// The chunk is a file or a range of a file, of which each get reads the newest state.
    File {
        /// Store that contains the file.
        store: Arc<dyn Store>,
        /// Key of the file.
        file: Key,
        /// Range of the chunk in the file, in bytes; `None` if the chunk is the whole file.
        range: Option<Range<u64>>,
    },
}

/// Table that looks up the places of the chunks of an array, by their numbers in C order.
///
/// Readers use this trait in place of a [`ChunkTable`] for formats that split the table of chunks into files. A method returns the same
/// answer at each call.
pub trait FindChunks: Send + Sync + fmt::Debug {
    /// Returns the number of chunks of the array, including missing chunks.
    fn count(&self) -> u64;

    /// Returns the place of the chunk `index`. Errors show `key`, the key of the chunk.
    ///
    /// # Errors
    /// The errors of the store that contains the table; [`zarr_store::Error::Format`] if a file of the table is invalid.
    fn find(&self, key: &Key, index: u64) -> Result<FoundChunk>;

    /// Returns the place of the chunk `index` without blocking. Errors show `key`, the key of the chunk.
    ///
    /// # Errors
    /// The errors of [`find`](Self::find).
    fn find_without_blocking<'a>(&'a self, key: &'a Key, index: u64) -> BoxFuture<'a, Result<FoundChunk>>;

    /// Returns the place of the chunk `index` if the place is known without a request and without waiting for one; `None`, by default, if
    /// not. Gets of chunks whose places are known are made together if the chunks lie near each other in a file.
    fn known(&self, key: &Key, index: u64) -> Option<FoundChunk> {
        let _ = (key, index);
        None
    }

    /// Returns the number of the first stored chunk at or after chunk `from`; `None` if no chunk follows.
    ///
    /// # Errors
    /// The errors of [`find`](Self::find).
    fn next(&self, from: u64) -> Result<Option<u64>>;

    /// Returns the access profile of the files that contain the chunks.
    fn access_profile(&self) -> AccessProfile;

    /// Returns the warnings of the stores that contain the table and the chunks, each once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns a store that does not block and contains files of the table or of chunks; `None` if all these stores block.
    fn not_blocking(&self) -> Option<Arc<dyn AsyncStore>>;
}

/// Table of the chunks of an array: in memory, or looked up in files.
pub(crate) enum Table {
    Held(ChunkTable),
    Found(Arc<dyn FindChunks>),
}

impl Table {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Held(table) => table.count(),
            Self::Found(found) => found.count(),
        }
    }

    /// Returns the number of the first stored chunk at or after chunk `from`; `None` if no chunk follows.
    pub(crate) fn next(&self, from: u64) -> Result<Option<u64>> {
        match self {
            Self::Held(table) => Ok(table.next(from)),
            Self::Found(found) => found.next(from),
        }
    }

    /// Returns the numbers of the stored chunks of `range`, in order. The iterator ends after an error.
    pub(crate) fn present(&self, range: Range<u64>) -> impl Iterator<Item = Result<u64>> {
        let mut from = range.start;
        std::iter::from_fn(move || {
            if from >= range.end {
                return None;
            }
            let found = self.next(from).map(|found| found.filter(|found| *found < range.end)).transpose()?;
            // Nothing follows an error.
            from = found.as_ref().map_or(range.end, |found| found + 1);
            Some(found)
        })
    }
}

#[cfg(test)]
mod tests;
