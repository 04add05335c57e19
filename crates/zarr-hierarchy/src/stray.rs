//! Search for keys below a node that do not belong to the node.

use crate::chunk_keys::ChunkKeys;
use crate::hierarchy::{document_names, in_store, walk};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_meta::{Dialect, Documents, StoredNode, consolidated, document_keys};
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Finds a key that [`Erasure`](crate::Erasure) would erase with `node` and that is neither a document nor a chunk of `node`: a key of a
/// node below it (even below an array, which a walk does not show), or a file of other software. `None` if there is no such key, or if the
/// store cannot list.
///
/// Erasing the root erases only keys of nodes: for the root only nodes below an array are found.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store).
///
/// ```
/// use zarr_hierarchy::{open_node, stray_key};
/// use zarr_store::{Key, MemoryStore, StoreExt};
///
/// let store = MemoryStore::new();
/// store.set_all(&Key::new("g/zarr.json")?, br#"{"zarr_format": 3, "node_type": "group"}"#)?;
/// let group = open_node(&store, "/g", None)?;
/// assert_eq!(stray_key(&store, &group)?, None);
/// let key = Key::new("g/notes.txt")?;
/// store.set_all(&key, b"mine")?;
/// assert_eq!(stray_key(&store, &group)?, Some(key));
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
pub fn stray_key(store: &dyn Store, node: &StoredNode) -> Result<Option<Key>> {
    if !store.capabilities().list {
        return Ok(None);
    }
    if node.path.is_root() {
        return below_root(store, node);
    }
    let mut own: BTreeSet<String> = node.own_documents().map(str::to_owned).collect();
    for dialect in std::iter::once(node.dialect).chain(Dialect::at_paths()) {
        own.extend(consolidated::document_key(&StoredNode::implicit(dialect, node.path.clone())));
        own.extend(document_keys(dialect, &node.path, &Documents::new()));
    }
    let chunks = node.node.as_array().map(|_| ChunkKeys::new(node).ok());
    let names = document_names();
    let is_own = |key: &Key| {
        own.contains(key.as_str())
            || match &chunks {
                Some(Some(chunks)) => chunks.has_form(key),
                // Where the form of chunk keys is not known, any key but a document may be one.
                Some(None) => !names.contains(key.name()),
                None => false,
            }
    };
    for prefix in node.own_prefixes() {
        let listed = Prefix::new(&prefix).and_then(|prefix| store.list_prefix(&prefix));
        let keys = listed.map_err(|error| in_store(store, Error::from(error)))?;
        if let Some(stray) = keys.into_iter().find(|key| !is_own(key)) {
            return Ok(Some(stray));
        }
    }
    Ok(None)
}

/// Returns a document of a node below an array at the root; `None` if there is none.
fn below_root(store: &dyn Store, root: &StoredNode) -> Result<Option<Key>> {
    if root.node.as_array().is_none() {
        return Ok(None);
    }
    let below = walk(store, "/", Some(root.dialect))?.below_arrays;
    Ok(below.iter().flat_map(StoredNode::own_documents).next().map(Key::new).transpose()?)
}
