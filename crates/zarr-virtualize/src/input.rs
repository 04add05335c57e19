//! Inputs of a join: stores whose chunks are ranges of files.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use zarr_grid::ChunkIndex;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Result};
use zarr_meta::{Dialect, Node, NodePath};
use zarr_store::{Key, Prefix, Store};
use zarr_store_virtual::{
    Chunk, ChunkKeyForm, ChunkTable, ChunkTableBuilder, FoundChunk, Separator, SourceId, VirtualStore,
    VirtualStoreBuilder,
};

use crate::documents::put_documents;
use crate::forms::{in_v3, walk_whole};

/// Form of the chunk keys in the stores that this crate builds.
pub(crate) const KEYS: ChunkKeyForm = ChunkKeyForm::Default(Separator::Slash);

/// Input of [`join`](crate::join): a file or another store, with the location of each of its chunks.
#[derive(Clone)]
pub struct Input {
    pub(crate) name: String,
    pub(crate) store: VirtualStore,
}

impl Input {
    /// Creates an input of a `store` that knows the locations of its chunks. Messages call the input `name`.
    pub fn new(name: impl Into<String>, store: VirtualStore) -> Self {
        Self { name: name.into(), store }
    }

    /// Creates an input of any `store`. Messages call the input `name`.
    ///
    /// `locate` returns the location of the chunk with a key of `store`. If it returns `None` or an error that is not retryable, the
    /// location is the whole value of `store` with that key.
    ///
    /// # Errors
    /// If a node is broken or has no equivalent in Zarr v3, retryable errors of `locate`, and the errors of `store`.
    pub fn of_store(
        name: impl Into<String>,
        store: &Arc<dyn Store>,
        locate: &dyn Fn(&Key) -> zarr_store::Result<Option<FoundChunk>>,
    ) -> Result<Self> {
        let name = name.into();
        let mut builder = VirtualStore::builder(name.as_str());
        let mut nodes = Vec::new();
        for found in walk_whole(&**store)? {
            let path = found.path.clone();
            let mut has_missing = false;
            if found.node.as_array().is_some() {
                let keys = ChunkKeys::new(&found).map_err(|error| error.at_path(&path))?;
                let counts = keys.grid().grid_shape();
                let stored = keys.stored(&**store)?;
                let table = table(&mut builder, store, &counts, &stored, locate)?;
                has_missing = (stored.len() as u64) < table.count();
                builder.chunks(Prefix::new(&path.key_prefix())?, KEYS, &counts, table);
            }
            nodes.push((path, in_v3(&found, has_missing)?));
        }
        let nodes: Vec<(&NodePath, &Node)> = nodes.iter().map(|(path, node)| (path, node)).collect();
        put_documents(&mut builder, &nodes, Dialect::V3)?;
        Ok(Self { name, store: builder.build()? })
    }

    /// Returns the name of the input in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the store of the input, with documents and locations of chunks.
    #[must_use]
    pub fn store(&self) -> &VirtualStore {
        &self.store
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

fn table(
    builder: &mut VirtualStoreBuilder,
    store: &Arc<dyn Store>,
    counts: &[u64],
    stored: &[(Key, ChunkIndex)],
    locate: &dyn Fn(&Key) -> zarr_store::Result<Option<FoundChunk>>,
) -> Result<ChunkTable> {
    let total = counts.iter().try_fold(1_u64, |total, count| total.checked_mul(*count));
    let total = total.ok_or_else(|| Error::argument(format!("found {counts:?} chunks, more than 2^64")))?;
    let mut table = ChunkTableBuilder::new(total);
    // The builder keeps the stores, so that their addresses stay theirs.
    let mut sources: HashMap<(usize, Key), SourceId> = HashMap::new();
    for (key, index) in stored {
        let located = match locate(key) {
            Err(error) if error.is_retryable() => return Err(error.into()),
            // The array may not be needed. If it is, reading the value or writing its reference reports the error.
            Err(_) => None,
            Ok(located) => located,
        };
        let mut source = |store: &Arc<dyn Store>, key: &Key| {
            let file = (Arc::as_ptr(store).addr(), key.clone());
            *sources.entry(file).or_insert_with(|| builder.source(Arc::clone(store), key.clone()))
        };
        let chunk = match located {
            None => Chunk::Whole { source: source(store, key) },
            Some(FoundChunk::Missing) => continue,
            Some(FoundChunk::Inline(bytes)) => Chunk::Inline(bytes),
            Some(FoundChunk::File { store, file, range: None }) => Chunk::Whole { source: source(&store, &file) },
            Some(FoundChunk::File { store, file, range: Some(range) }) => Chunk::Range {
                source: source(&store, &file),
                offset: range.start,
                length: range.end.saturating_sub(range.start),
            },
        };
        let number = index.iter().zip(counts).fold(0, |number, (at, count)| number * count + at);
        table.set(number, chunk).map_err(|fault| fault.of(store.to_string()))?;
    }
    table.build().map_err(|fault| fault.of(store.to_string()).into())
}
