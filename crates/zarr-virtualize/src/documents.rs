//! Metadata documents of the stores that this crate builds.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_hierarchy::{Result, consolidate};
use zarr_meta::{Dialect, Documents, Node, NodePath, documents_with_nan_literals};
use zarr_store::{Bytes, Key, MemoryStore, Store, StoreExt};
use zarr_store_virtual::VirtualStoreBuilder;

/// Adds the metadata documents of `nodes` in `dialect` to a store, with consolidated metadata if the root is a group.
pub(crate) fn put_documents(
    builder: &mut VirtualStoreBuilder,
    nodes: &[(&NodePath, &Node)],
    dialect: Dialect,
) -> Result<()> {
    let store = MemoryStore::new();
    for (path, node) in nodes {
        for (key, text) in documents_of(dialect, path, node)? {
            store.set_all(&key, &text)?;
        }
    }
    if nodes.iter().any(|(path, node)| path.is_root() && node.as_group().is_some()) {
        consolidate(&store, "/", Some(dialect))?;
    }
    for key in store.list()? {
        if let Some(text) = store.get_all(&key)? {
            builder.document(key, text);
        }
    }
    Ok(())
}

/// Returns the metadata documents of `node` at `path` by key.
pub(crate) fn documents_of(dialect: Dialect, path: &NodePath, node: &Node) -> Result<BTreeMap<Key, Bytes>> {
    let written = documents_with_nan_literals(dialect, path, node, None)
        .map_err(|error| zarr_hierarchy::Error::from(error).at_path(path))?;
    let mut documents = BTreeMap::new();
    for (key, text) in written {
        if let Some(text) = text {
            documents.insert(Key::new(&key)?, Bytes::from(text));
        }
    }
    Ok(documents)
}

/// Writes `node` as the root of a new store in memory. Returns the store and the node as read back from the store.
pub(crate) fn alone(dialect: Dialect, node: &Node) -> Result<(Arc<dyn Store>, zarr_meta::StoredNode)> {
    let store = MemoryStore::new();
    let mut documents = Documents::new();
    for (key, text) in documents_of(dialect, &NodePath::root(), node)? {
        store.set_all(&key, &text)?;
        documents.insert(key.to_string(), text.to_vec());
    }
    let found = zarr_meta::StoredNode::read(dialect, NodePath::root(), &documents)?;
    let found = found.ok_or_else(|| zarr_hierarchy::Error::internal("a document that was written is none"))?;
    Ok((Arc::new(store), found))
}
