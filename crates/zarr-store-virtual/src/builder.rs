//! Builder of a [`VirtualStore`], and checks that its parts fit together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use zarr_store::{AccessProfile, Bytes, Error, Key, Prefix, Result, Snapshot, Store, StoreKind};

use crate::contents::{ArrayChunks, Contents, Document, Looked};
use crate::found::Table;
use crate::source::Source;
use crate::{ChunkKeyForm, ChunkTable, FindChunks, SourceId, VirtualStore};

/// Builds a [`VirtualStore`].
pub struct VirtualStoreBuilder {
    name: String,
    documents: BTreeMap<Key, Document>,
    arrays: Vec<(Prefix, ArrayChunks)>,
    sources: Vec<Source>,
    warnings: Vec<String>,
}

impl VirtualStore {
    /// Creates a builder of a store. Messages show `name`: the address of the file or of the references.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> VirtualStoreBuilder {
        VirtualStoreBuilder {
            name: name.into(),
            documents: BTreeMap::new(),
            arrays: Vec::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl VirtualStoreBuilder {
    /// Adds a document: a value in memory, which replaces an earlier document of the same key.
    pub fn document(&mut self, key: Key, bytes: impl Into<Bytes>) -> &mut Self {
        self.documents.insert(key, Document::new(bytes.into()));
        self
    }

    /// Adds a file that contains chunks. Each get reads the newest state of the file.
    pub fn source(&mut self, store: Arc<dyn Store>, key: Key) -> SourceId {
        self.add(Source::new(store, key, None))
    }

    /// Adds a file that contains chunks, and pins it to `state`, the state from which the table of chunks was read. A get of a chunk fails
    /// if the file has another state. If `state` is `None`, since the store has no states, each get reads the newest state.
    pub fn source_in_state(&mut self, store: Arc<dyn Store>, key: Key, state: Option<Snapshot>) -> SourceId {
        self.add(Source::new(store, key, state))
    }

    fn add(&mut self, source: Source) -> SourceId {
        // The table refuses numbers of sources for which it has no room.
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(source);
        id
    }

    /// Adds the array at `prefix`: its chunks are in `table`, and it has `counts` chunks along each axis.
    pub fn chunks(&mut self, prefix: Prefix, form: ChunkKeyForm, counts: &[u64], table: ChunkTable) -> &mut Self {
        self.arrays.push((prefix, ArrayChunks { form, counts: counts.into(), table: Table::Held(table) }));
        self
    }

    /// Adds the array at `prefix`, which has `counts` chunks along each axis: `found` looks up a chunk when it is read. A document whose
    /// key is the key of a chunk is read in place of the chunk.
    pub fn found_chunks(
        &mut self,
        prefix: Prefix,
        form: ChunkKeyForm,
        counts: &[u64],
        found: Arc<dyn FindChunks>,
    ) -> &mut Self {
        self.arrays.push((prefix, ArrayChunks { form, counts: counts.into(), table: Table::Found(found) }));
        self
    }

    /// Adds a warning for the user, which [`Store::take_warnings`] of the built store returns.
    pub fn warning(&mut self, text: impl Into<String>) -> &mut Self {
        self.warnings.push(text.into());
        self
    }

    /// Builds the store.
    ///
    /// # Errors
    /// [`Error::Argument`] if a table has another number of chunks than its array, names a source that was not added, or needs a maker and
    /// has none, if two arrays have the same prefix, or if a document has the key of a chunk that a table in memory stores.
    pub fn build(self) -> Result<VirtualStore> {
        let Self { name, documents, arrays, sources, warnings } = self;
        let refuse = |message: String| Error::Argument { store: name.clone(), message };
        let mut by_prefix = BTreeMap::new();
        for (prefix, array) in arrays {
            let ArrayChunks { counts, table, .. } = &array;
            let expected = counts.iter().try_fold(1_u64, |product, count| product.checked_mul(*count));
            if expected != Some(table.count()) {
                let found = table.count();
                return Err(refuse(format!("array {prefix}: found a table of {found} chunks, expected {counts:?}")));
            }
            if let Table::Held(table) = table {
                let (source, has_made) = table.needs();
                if source.is_some_and(|source| source as usize >= sources.len()) {
                    return Err(refuse(format!("array {prefix}: found a chunk in a file that is not in the store")));
                }
                if has_made && table.maker().is_none() {
                    return Err(refuse(format!(
                        "array {prefix}: found a chunk to be made, expected a maker of chunks"
                    )));
                }
            }
            if by_prefix.insert(prefix.as_str().to_owned(), array).is_some() {
                return Err(refuse(format!("array {prefix}: found two tables of chunks, expected one")));
            }
        }
        let profile = profile(&sources, &by_prefix);
        let (warnings, making) = (Mutex::new(warnings), Arc::default());
        let contents = Contents { name, documents, arrays: by_prefix, sources, profile, warnings, making };
        if let Some(key) = contents.documents.keys().find(|key| matches!(contents.chunk(key), Some(Looked::Place(_)))) {
            let message = format!("key {key}: found a chunk, expected none at the key of a document");
            return Err(Error::Argument { store: contents.name, message });
        }
        Ok(VirtualStore::new(contents))
    }
}

/// Returns the access profile of the source or table whose files are farthest away; that of memory if the store has no files. Parts are cheap
/// if they are so everywhere.
fn profile(sources: &[Source], arrays: &BTreeMap<String, ArrayChunks>) -> AccessProfile {
    let rank = |kind: StoreKind| match kind {
        StoreKind::Memory => 0,
        StoreKind::Local => 1,
        StoreKind::Remote => 2,
    };
    let profiles = sources.iter().map(|source| source.store.access_profile());
    let found = arrays.values().filter_map(|array| match &array.table {
        Table::Held(_) => None,
        Table::Found(found) => Some(found.access_profile()),
    });
    let profiles: Vec<AccessProfile> = profiles.chain(found).collect();
    let cheap_parts = profiles.iter().all(|profile| profile.cheap_parts);
    let farthest = profiles.into_iter().max_by_key(|profile| rank(profile.kind));
    farthest.unwrap_or(AccessProfile::MEMORY).cheap_parts(cheap_parts)
}

impl fmt::Debug for VirtualStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualStoreBuilder")
            .field("name", &self.name)
            .field("documents", &self.documents.len())
            .field("arrays", &self.arrays.len())
            .finish_non_exhaustive()
    }
}
