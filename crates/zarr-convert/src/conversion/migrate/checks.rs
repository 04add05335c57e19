//! Conditions that must hold before new documents are written beside old documents.

use super::super::{Action, PlannedNode};
use super::removal::DocumentRemoval;
use std::collections::BTreeSet;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, ErrorKind, Result, open_stored_node};
use zarr_meta::StoredNode;
use zarr_store::{Key, Store};

/// Returns the keys of documents that are erased before the migration.
pub(super) fn dropped(replaced: Option<&DocumentRemoval>) -> BTreeSet<&str> {
    replaced.into_iter().flat_map(DocumentRemoval::keys).map(Key::as_str).collect()
}

/// Checks that no node of the new dialect exists at the path, except a node whose documents are all in `dropped`.
pub(super) fn check_unused(store: &dyn Store, planned: &PlannedNode, dropped: &BTreeSet<&str>) -> Result<()> {
    match open_stored_node(store, &planned.path.to_string(), Some(planned.dialect)) {
        Ok(found) if !found.implicit && !found.own_documents().all(|key| dropped.contains(key)) => {
            let error = Error::new(ErrorKind::Exists, format!("there is a node of dialect {} already", found.dialect));
            Err(error.with_hint("finish drops the old documents, undo the new ones"))
        }
        Err(error) if !error.is_not_found() && error.kind() != ErrorKind::UnsupportedVersion => Err(error),
        _ => Ok(()),
    }
}

/// Checks that the new node overwrites no key of the old hierarchy. `taken` holds the keys of the old documents.
pub(super) fn check_keys(
    store: &dyn Store,
    planned: &PlannedNode,
    new: &StoredNode,
    taken: &BTreeSet<String>,
) -> Result<()> {
    if let Some(key) = new.documents.iter().map(|(key, _)| key).find(|key| taken.contains(*key)) {
        let message = format!("the key {key} is taken by a document of dialect {}", planned.source.dialect);
        let error = Error::new(ErrorKind::NotExpressible, message).at(|location| location.key = Some(key.to_owned()));
        return Err(error.with_hint("convert it into another store instead"));
    }
    // A value cannot be a directory, too.
    let is_below = |key: &str| {
        taken.iter().find(|taken| key.strip_prefix(taken.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    if let Some((key, above)) = new.documents.iter().find_map(|(key, _)| Some((key, is_below(key)?))) {
        let dialect = planned.source.dialect;
        let message = format!(
            "the key {above}, a document of dialect {dialect}, is in the way of the key {key} of dialect {}",
            planned.dialect
        );
        let error = Error::new(ErrorKind::NotExpressible, message).at(|location| location.key = Some(above.clone()));
        return Err(error.with_hint("convert it into another store instead"));
    }
    if !matches!(planned.how, Action::CopyChunks | Action::Reencode) {
        return Ok(());
    }
    let to = ChunkKeys::new(new)?;
    for (key, _) in ChunkKeys::new(&planned.source)?.stored(store)? {
        if to.chunk_at(&key).is_some() {
            let message = format!("the key {key} would be one of a chunk that differs from the one there");
            let error =
                Error::new(ErrorKind::NotExpressible, message).at(|location| location.key = Some(key.to_string()));
            return Err(error.with_hint("convert it into another store instead"));
        }
    }
    Ok(())
}
