//! Changes of the metadata of existing nodes.

use super::of_node;
use crate::jobs::Operation;
use crate::{Result, node};
use zarr_drive::{run, run_async};
use zarr_json::Map;
use zarr_meta::StoredNode;
use zarr_store::{AsyncStore, Store};

/// Replaces the attributes of `node` and returns the changed node. The rest of its documents stays unchanged, byte for byte. Works for
/// arrays of unknown data type or codecs, too.
///
/// Entries of the node in consolidated metadata of the node itself and of groups above are updated afterwards; in stores without
/// conditional sets, the consolidated metadata is dropped first.
///
/// # While others write
/// `node` may be older than the stored documents. The differences between its attributes and `attributes` are applied
/// to the newest documents, and later changes of others stay; an attribute that both changed to different values is an
/// error. On stores with conditional sets ([`Capabilities::conditional`](zarr_store::Capabilities)) no change of
/// another is lost, however many writers there are.
///
/// # Errors
/// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) naming an attribute that another writer changed as well;
/// [`ErrorKind::Store`](crate::ErrorKind::Store); the kinds of faults of the stored attributes.
pub fn set_attributes(store: &dyn Store, node: &StoredNode, attributes: Map) -> Result<StoredNode> {
    let in_node = |error| of_node(store, node, error);
    let job = node::set_attributes(node, attributes, store.capabilities()).map_err(in_node)?;
    run(store, job.job()).map_err(in_node)
}

/// Async form of [`set_attributes`]: replaces the attributes of `node` and returns the changed node.
///
/// # Errors
/// The errors of [`set_attributes`].
pub async fn set_attributes_async(store: &dyn AsyncStore, node: &StoredNode, attributes: Map) -> Result<StoredNode> {
    let in_node = |error| of_node(store, node, error);
    let job = node::set_attributes(node, attributes, store.capabilities()).map_err(in_node)?;
    run_async(store, job.job()).await.map_err(in_node)
}

/// Checks that [`set_dimension_names`] can set the dimension names of the array `node` to `names`.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there are not as many names as dimensions, the node is no array, or NCZarr
/// names its dimensions otherwise, by references to its groups.
pub fn check_dimension_names(node: &StoredNode, names: &[&str]) -> Result<()> {
    let checked = node::check_dimension_names(node, names).map(drop);
    checked.map_err(|error| error.at(|location| location.path = Some(node.path.to_string())))
}

/// Sets the dimension names of the array `node`, one name per dimension, and returns the changed node. Zarr v3 stores them in the member
/// `dimension_names`, older versions in the attribute `_ARRAY_DIMENSIONS`. The rest of the documents stays unchanged.
///
/// # Errors
/// The errors of [`check_dimension_names`] and [`set_attributes`].
pub fn set_dimension_names(store: &dyn Store, node: &StoredNode, names: &[&str]) -> Result<StoredNode> {
    let in_node = |error| of_node(store, node, error);
    let job = node::set_dimension_names(node, names, store.capabilities()).map_err(in_node)?;
    run(store, job.job()).map_err(in_node)
}

/// Async form of [`set_dimension_names`]: sets the dimension names of the array `node` and returns the changed node.
///
/// # Errors
/// The errors of [`set_dimension_names`].
pub async fn set_dimension_names_async(
    store: &dyn AsyncStore,
    node: &StoredNode,
    names: &[&str],
) -> Result<StoredNode> {
    let in_node = |error| of_node(store, node, error);
    let job = node::set_dimension_names(node, names, store.capabilities()).map_err(in_node)?;
    run_async(store, job.job()).await.map_err(in_node)
}
