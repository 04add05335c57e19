//! The metadata documents of one dialect, dropped from a store that has those of another.

use super::{end, nodes};
use std::sync::Arc;
use zarr_hierarchy::{Error, ErrorKind, Result, open_node};
use zarr_meta::{Dialect, NodePath, StoredNode, consolidated};
use zarr_store::{Key, Store, StoreExt};

/// The documents of all nodes of one dialect in a store, which are to be erased, as the command `zarr remove-metadata` of zarr-python
/// does. Chunks and all other keys stay.
///
/// [`Migration::finish`](super::Migration::finish) and [`undo`](super::Migration::undo) do more: they erase chunks that the other
/// hierarchy does not use, and find documents that were changed since they were migrated. Where a migration is recorded, these are the
/// operations to use.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, Dialect, NewArray, Registry, Store};
/// use zarr_convert::DocumentRemoval;
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[2], "int8").codecs("bytes")?.dialect(Dialect::V2);
/// Array::create(&store, "/a", new, &registry)?;
///
/// // There is no document of version 3 instead.
/// assert!(DocumentRemoval::plan(&store, Dialect::V2, Some(Dialect::V3)).is_err());
/// let removal = DocumentRemoval::plan(&store, Dialect::V2, None)?;
/// assert!(removal.keys().iter().any(|key| key.as_str() == "a/.zarray"));
/// removal.run()?;
/// assert!(Array::open(&store, "/a", &registry).is_err());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Debug)]
pub struct DocumentRemoval {
    store: Arc<dyn Store>,
    /// In the order in which they are erased.
    keys: Vec<Key>,
}

impl DocumentRemoval {
    /// Finds the documents of `dialect`. Nothing is erased. With `instead`, each node has to have one of that dialect at its path, which
    /// can be read.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no hierarchy of `dialect`, or a node is none of `instead`; the errors of reading metadata.
    pub fn plan(store: &Arc<dyn Store>, dialect: Dialect, instead: Option<Dialect>) -> Result<Self> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        let keys = Self::find(&**store, dialect, instead).map_err(in_store)?;
        Ok(Self { store: Arc::clone(store), keys })
    }

    fn find(store: &dyn Store, dialect: Dialect, instead: Option<Dialect>) -> Result<Vec<Key>> {
        let root = open_node(store, "/", Some(dialect))?;
        let mut keys = Vec::new();
        // From the root on: from then on readers find the other hierarchy.
        for node in nodes(store, &root)? {
            if let Some(instead) = instead.filter(|_| !node.implicit) {
                check_instead(store, &node, instead)?;
            }
            for key in node.own_documents() {
                keys.push(Key::new(key)?);
            }
            if let Some(copy) = consolidated::document_key(&node) {
                let copy = Key::new(&copy)?;
                if !keys.contains(&copy) && store.exists(&copy)? {
                    keys.push(copy);
                }
            }
        }
        Ok(keys)
    }

    /// The keys of the documents, those of the root first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Erases them.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if somebody else migrates the store right now; [`ErrorKind::Store`]: to plan and run again erases the rest.
    pub fn run(&self) -> Result<()> {
        let in_store = |error: Error| error.at(|location| location.store = Some(self.store.to_string()));
        let _lock = end::lock(&*self.store).map_err(in_store)?;
        // The documents that stay are on the disk before others are gone.
        self.store.barrier().map_err(|error| in_store(error.into()))?;
        for key in &self.keys {
            self.store.erase(key).map_err(|error| in_store(error.into()))?;
        }
        self.store.flush().map_err(|error| in_store(error.into()))
    }
}

/// Checks that there is a node of another dialect at the path of a node.
fn check_instead(store: &dyn Store, node: &StoredNode, instead: Dialect) -> Result<()> {
    match open_node(store, &NodePath::to_string(&node.path), Some(instead)) {
        Ok(other) if !other.implicit => Ok(()),
        Err(error) if !error.is_not_found() => Err(error),
        _ => {
            let message = format!(
                "found no metadata of {instead}, without which the metadata of {} cannot be removed; nothing was removed",
                node.dialect
            );
            Err(Error::new(ErrorKind::NotFound, message).at_path(&node.path))
        }
    }
}
