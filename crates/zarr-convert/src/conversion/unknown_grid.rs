//! Arrays with an unknown chunk grid. Since the keys of their chunks are unknown, all values below such an array are copied under the same
//! names.

use super::copy::{copy_within, value_within};
use super::work::Work;
use super::{Conversion, PlannedNode};
use zarr_grid::ChunkGrid;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::{ArrayMetadata, Dialect, StoredNode};
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Returns whether a node is an array with an unknown chunk grid.
pub(super) fn is_of(found: &StoredNode) -> bool {
    let is_unknown = |array: &ArrayMetadata| {
        let grid = ChunkGrid::from_config(&array.chunk_grid, &array.shape);
        matches!(grid, Err(zarr_grid::Error::UnknownName { .. }))
    };
    // A draft may have a grid of its own by a name that version 3 gave to another one.
    let is_unknown_of_draft = found.unknown.as_ref().is_some_and(|error| error.pointer().starts_with("/chunk_grid"));
    is_unknown_of_draft || found.node.as_array().is_some_and(is_unknown)
}

/// Checks that the array is copied as it is stored: in its dialect, as a whole, with its codecs.
///
/// # Errors
/// Returns `error`, which says what is unknown.
pub(super) fn check(
    found: &StoredNode,
    to: &ArrayMetadata,
    dialect: Dialect,
    is_changed: bool,
    error: Error,
) -> Result<()> {
    let is_same_keys = |from: &ArrayMetadata| from.chunk_key_encoding == to.chunk_key_encoding;
    let is_alike = found.dialect == dialect || (found.dialect.is_v3() && dialect.is_v3());
    let stays = is_alike && !is_changed && found.node.as_array().is_some_and(is_same_keys);
    match stays {
        true => Ok(()),
        false => {
            Err(error.with_hint("chunks of such a grid can only be copied as they are stored: `zarr cp` does that"))
        }
    }
}

/// Copies all values below the array, except documents of nodes and keys below other nodes.
pub(super) fn copy(
    conversion: &Conversion,
    planned: &PlannedNode,
    source: &dyn Store,
    written: &StoredNode,
    destination: &dyn Store,
    work: &Work<'_>,
) -> Result<()> {
    let (from, to) = (planned.source.chunk_prefix(), written.chunk_prefix());
    for key in keys(source, &planned.source)? {
        work.confirm()?;
        let located = |error: Error| error.at(|location| location.key = Some(key.to_string()));
        let rest = key.as_str().strip_prefix(from.as_str()).unwrap_or_default();
        let target = Key::new(&format!("{to}{rest}"))?;
        if copy_within(source, &key, destination, &target).map_err(located)? {
            continue;
        }
        if let Some(value) = value_within(source, &key, conversion.options.memory).map_err(located)? {
            destination.set_all(&target, &value).map_err(|error| located(error.into()))?;
        }
    }
    work.advance(planned.size)
}

/// Returns the keys of the values that are copied.
pub(super) fn keys(store: &dyn Store, found: &StoredNode) -> Result<Vec<Key>> {
    if !store.capabilities().list {
        let message = "the store cannot list, and which keys chunks have is not known";
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let prefix = found.chunk_prefix();
    let mut keys = store.list_prefix(&Prefix::new(&prefix)?)?;
    // Of the nodes below, which only dialects with documents beside chunks have.
    let node =
        |key: &Key| Some(format!("{prefix}{}/", key.as_str().strip_prefix(&prefix)?.strip_suffix("/zarr.json")?));
    let below: Vec<String> = keys.iter().filter_map(node).collect();
    keys.retain(|key| {
        let is_below = below.iter().any(|above| key.as_str().starts_with(above));
        !is_below && found.documents.get(key.as_str()).is_none()
    });
    Ok(keys)
}
