//! Contents of a store, and their places.

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
    /// By their prefixes.
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

/// The chunks of an array.
pub(crate) struct ArrayChunks {
    pub(crate) form: ChunkKeyForm,
    /// Along each axis.
    pub(crate) counts: Box<[u64]>,
    pub(crate) table: Table,
}

/// Where a value is.
pub(crate) enum Place<'a> {
    Document(&'a Document),
    /// A chunk that is not missing, and the table that has it.
    Chunk(Chunk, &'a ChunkTable),
}

/// Where a value is, or who finds it.
pub(crate) enum Looked<'a> {
    Place(Place<'a>),
    /// The chunk of this number is looked up.
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

    /// The chunk at a key. One that is known to be missing has no place.
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

    /// A store that does not block, of those that chunks lie in.
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

/// The version of bytes that have none: equal for equal ones.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    Version::new(&format!("{:016x}-{}", hasher.finish(), bytes.len()))
}
