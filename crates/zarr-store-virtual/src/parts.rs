//! Access to the parts of a virtual store, for code that makes another store or a file of references from them.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Bytes, Key, Result, Snapshot, Store};

use crate::contents::{ArrayChunks, Looked, Place};
use crate::found::Table;
use crate::source::Source;
use crate::{ChunkKeyForm, ChunkTable, FoundChunk, SourceId, VirtualStore};

/// Chunks of an array in a [`VirtualStore`]: their keys, and their places in files.
///
/// ```
/// use std::sync::Arc;
/// use zarr_store::{Key, MemoryStore, Prefix};
/// use zarr_store_virtual::{Chunk, ChunkKeyForm, ChunkTableBuilder, Separator, VirtualStore};
///
/// let mut builder = VirtualStore::builder("x.bin");
/// let file = builder.source(Arc::new(MemoryStore::new()), Key::new("x.bin")?);
/// let mut table = ChunkTableBuilder::new(4);
/// table.set(3, Chunk::Range { source: file, offset: 24, length: 8 })?;
/// builder.chunks(Prefix::new("a/")?, ChunkKeyForm::V2(Separator::Dot), &[2, 2], table.build()?);
/// let store = builder.build()?;
///
/// let array = store.arrays().next().expect("an array");
/// let stored: Vec<u64> = array.table().stored().collect();
/// assert_eq!((array.prefix(), array.counts(), stored), ("a/", &[2, 2][..], vec![3]));
/// assert_eq!(array.key(3)?.as_str(), "a/1.1");
/// let Chunk::Range { source, offset, length } = array.table().get(3) else { unreachable!() };
/// let file = store.source(source).expect("a file");
/// assert_eq!((file.key().as_str(), offset, length), ("x.bin", 24, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct VirtualArray<'a> {
    prefix: &'a str,
    chunks: &'a ArrayChunks,
    table: &'a ChunkTable,
}

impl<'a> VirtualArray<'a> {
    /// Creates a `VirtualArray`; `None` if chunks of the array are looked up.
    fn new(prefix: &'a str, chunks: &'a ArrayChunks) -> Option<Self> {
        match &chunks.table {
            Table::Held(table) => Some(Self { prefix, chunks, table }),
            Table::Found(_) => None,
        }
    }

    /// Returns the prefix of the chunk keys: the path of the array with a slash at its end, or empty for an array at the root.
    #[must_use]
    pub fn prefix(&self) -> &'a str {
        self.prefix
    }

    /// Returns the form of the chunk keys, without the prefix.
    #[must_use]
    pub fn form(&self) -> ChunkKeyForm {
        self.chunks.form
    }

    /// Returns the number of chunks along each axis.
    #[must_use]
    pub fn counts(&self) -> &'a [u64] {
        &self.chunks.counts
    }

    /// Returns the table of the places of the chunks in files.
    #[must_use]
    pub fn table(&self) -> &'a ChunkTable {
        self.table
    }

    /// Returns the key of the chunk with the number `index` in C order.
    ///
    /// # Errors
    /// If the key is too long.
    pub fn key(&self, index: u64) -> Result<Key> {
        self.chunks.key(self.prefix, index)
    }
}

impl fmt::Debug for VirtualArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualArray").field("prefix", &self.prefix).field("counts", &self.counts()).finish()
    }
}

/// File that contains chunks of a [`VirtualStore`]: a value of another store.
#[derive(Clone, Copy)]
pub struct SourceFile<'a>(&'a Source);

impl<'a> SourceFile<'a> {
    /// Returns the store that contains the file.
    #[must_use]
    pub fn store(&self) -> &'a Arc<dyn Store> {
        &self.0.store
    }

    /// Returns the key of the file in its store.
    #[must_use]
    pub fn key(&self) -> &'a Key {
        &self.0.key
    }

    /// Returns the state to which the file is pinned; `None` if each get reads the newest state.
    #[must_use]
    pub fn state(&self) -> Option<&'a Snapshot> {
        self.0.state.as_ref().map(|state| &state.snapshot)
    }
}

/// Shows the address of the file as messages do.
impl fmt::Display for SourceFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SourceFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceFile({self})")
    }
}

impl VirtualStore {
    /// Returns the keys and bytes of the documents, in the order of the keys.
    pub fn documents(&self) -> impl Iterator<Item = (&Key, &Bytes)> {
        self.contents().documents.iter().map(|(key, document)| (key, &document.bytes))
    }

    /// Returns the arrays that have a table of chunks in memory, in the order of their prefixes.
    pub fn arrays(&self) -> impl Iterator<Item = VirtualArray<'_>> {
        self.contents().arrays.iter().filter_map(|(prefix, chunks)| VirtualArray::new(prefix, chunks))
    }

    /// Whether chunks of at least one array are looked up when they are read ([`FindChunks`](crate::FindChunks)). [`arrays`](Self::arrays)
    /// omits the arrays whose chunks are looked up.
    #[must_use]
    pub fn finds_chunks(&self) -> bool {
        self.contents().arrays.values().any(|chunks| matches!(chunks.table, Table::Found(_)))
    }

    /// Looks up the place of the chunk at `key`, if chunks of its array are looked up. A document at `key` is returned as a chunk in
    /// memory. `None` for any other key.
    ///
    /// # Errors
    /// The errors of [`FindChunks::find`](crate::FindChunks::find).
    pub fn find_chunk(&self, key: &Key) -> Result<Option<FoundChunk>> {
        match self.contents().find(key) {
            Some(Looked::Find(index, chunks)) => chunks.find(key, index).map(Some),
            // A document at the key of a chunk is read in place of the chunk.
            Some(Looked::Place(Place::Document(document))) => Ok(Some(FoundChunk::Inline(document.bytes.clone()))),
            _ => Ok(None),
        }
    }

    /// Returns the array whose chunk keys have the prefix `prefix`; `None` if no array has this prefix, or if chunks of the array are
    /// looked up.
    #[must_use]
    pub fn array(&self, prefix: &str) -> Option<VirtualArray<'_>> {
        let (prefix, chunks) = self.contents().arrays.get_key_value(prefix)?;
        VirtualArray::new(prefix, chunks)
    }

    /// Returns the file with the number `source`; `None` if the store has no file of this number.
    #[must_use]
    pub fn source(&self, source: SourceId) -> Option<SourceFile<'_>> {
        self.contents().sources.get(source.0 as usize).map(SourceFile)
    }
}

impl ChunkTable {
    /// Returns the numbers of the stored chunks in C order, in ascending order.
    pub fn stored(&self) -> impl Iterator<Item = u64> {
        self.present(0..self.count())
    }
}
