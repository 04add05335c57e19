//! Chunks that are looked up when they are asked for, where a table of all of them would be large.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{AccessProfile, AsyncStore, BoxFuture, Bytes, Key, Result, Store};

use crate::ChunkTable;

/// Where a chunk is that was looked up.
#[derive(Clone, Debug)]
pub enum FoundChunk {
    /// It is not stored.
    Missing,
    /// In memory.
    Inline(Bytes),
    /// In a file, which is read in the state that it has then.
    File {
        /// The store that the file is in.
        store: Arc<dyn Store>,
        /// The key of the file.
        file: Key,
        /// The range in bytes; `None` for all of the file.
        range: Option<Range<u64>>,
    },
}

/// Looks up where the chunks of an array are, by their numbers in C order.
///
/// In place of a [`ChunkTable`], for formats that have parts of a table in files of their own. The answers are the same at each call.
pub trait FindChunks: Send + Sync + fmt::Debug {
    /// Number of chunks, with those that are missing.
    fn count(&self) -> u64;

    /// Finds a chunk. Its key is for errors.
    ///
    /// # Errors
    /// The errors of the store below; [`zarr_store::Error::Format`] where the file of the table is at fault.
    fn find(&self, key: &Key, index: u64) -> Result<FoundChunk>;

    /// Finds a chunk without blocking.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    fn find_without_blocking<'a>(&'a self, key: &'a Key, index: u64) -> BoxFuture<'a, Result<FoundChunk>>;

    /// The first chunk that is stored, from this one on.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    fn next(&self, from: u64) -> Result<Option<u64>>;

    /// How the files are best read that chunks may lie in.
    fn access_profile(&self) -> AccessProfile;

    /// Returns the warnings of the files that are read here, each once.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// A store that does not block, of those that are read here; `None` if all block.
    fn not_blocking(&self) -> Option<Arc<dyn AsyncStore>>;
}

/// Where the chunks of an array are: in memory, or to be looked up.
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

    /// The first chunk that is stored, from this one on.
    pub(crate) fn next(&self, from: u64) -> Result<Option<u64>> {
        match self {
            Self::Held(table) => Ok(table.next(from)),
            Self::Found(found) => found.next(from),
        }
    }

    /// The chunks of a range that are stored.
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
