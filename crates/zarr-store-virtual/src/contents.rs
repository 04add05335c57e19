//! Contents of a virtual store, and the search for the value of a key.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_store::{AccessProfile, AsyncStore, Bytes, Capabilities, Key, Version};

use crate::found::Table;
use crate::making::Making;
use crate::source::Source;
use crate::{Chunk, ChunkKeyForm, ChunkTable, FindChunks};

pub(crate) struct Contents {
    pub(crate) name: String,
    pub(crate) documents: BTreeMap<Key, Document>,
    /// Chunks of each array, by the prefix of the array.
    pub(crate) arrays: BTreeMap<String, ArrayChunks>,
    pub(crate) sources: Vec<Source>,
    pub(crate) profile: AccessProfile,
    pub(crate) warnings: Mutex<Vec<String>>,
    pub(crate) making: Arc<Making>,
}

pub(crate) struct Document {
    pub(crate) bytes: Bytes,
    pub(crate) version: Version,
}

impl Document {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { version: version_of(&bytes), bytes }
    }
}

/// Chunks of one array.
pub(crate) struct ArrayChunks {
    pub(crate) form: ChunkKeyForm,
    /// Number of chunks along each axis.
    pub(crate) counts: Box<[u64]>,
    pub(crate) table: Table,
}

/// Place of a value whose place is known.
pub(crate) enum Place<'a> {
    Document(&'a Document),
    /// Chunk that is not missing, and its table.
    Chunk(Chunk, &'a ChunkTable),
}

/// Result of the search for a key: the place of the value, or the table that looks the place up.
pub(crate) enum Looked<'a> {
    Place(Place<'a>),
    /// Number of a chunk in C order, and the table that looks the chunk up.
    Find(u64, &'a dyn FindChunks),
}

impl Contents {
    pub(crate) const CAPABILITIES: Capabilities = Capabilities::none().list(true).suffix_ranges(true).locates(true);

    pub(crate) fn find(&self, key: &Key) -> Option<Looked<'_>> {
        if let Some(document) = self.documents.get(key) {
            return Some(Looked::Place(Place::Document(document)));
        }
        self.chunk(key)
    }

    /// Returns the chunk at a key; `None` if no array has this key, or a table in memory says that the chunk is missing.
    pub(crate) fn chunk(&self, key: &Key) -> Option<Looked<'_>> {
        let text = key.as_str();
        let ends = std::iter::once(0).chain(text.match_indices('/').map(|(at, _)| at + 1));
        ends.filter_map(|end| {
            let array = self.arrays.get(&text[..end])?;
            let index = array.form.index(&text[end..], &array.counts)?;
            match &array.table {
                Table::Held(table) => match table.get(index) {
                    Chunk::Missing => None,
                    chunk => Some(Looked::Place(Place::Chunk(chunk, table))),
                },
                Table::Found(found) => Some(Looked::Find(index, &**found)),
            }
        })
        .next()
    }

    /// Returns the store that does not block of any source or table; `None` if all their stores block.
    pub(crate) fn not_blocking(&self) -> Option<Arc<dyn AsyncStore>> {
        let of_source = self.sources.iter().find_map(|source| source.not_blocking.clone());
        of_source.or_else(|| {
            self.arrays.values().find_map(|array| match &array.table {
                Table::Held(_) => None,
                Table::Found(found) => found.not_blocking(),
            })
        })
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        let of_sources = self.sources.iter().flat_map(|source| source.store.take_warnings());
        let of_tables = self.arrays.values().filter_map(|array| match &array.table {
            Table::Held(_) => None,
            Table::Found(found) => Some(found.take_warnings()),
        });
        for warning in of_sources.chain(of_tables.flatten()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Returns a version for bytes whose source has no version: their hash and length, so that equal bytes have equal versions.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    Version::new(&format!("{:016x}-{}", hasher.finish(), bytes.len()))
}
