//! Consolidated metadata of the groups above a node that a verb changes. The change makes it stale, so that it is dropped; readers rely on
//! it, so that it is written again.

use crate::context::Context;
use crate::failure::Result;
use std::sync::Arc;
use zarr::hierarchy::{consolidate, consolidated_above};
use zarr::meta::NodePath;
use zarr::store::Store;

/// Carries out the verb, which changes nodes at these places, and writes the consolidated metadata again that groups at and above them
/// had. Where it cannot be, or the verb fails after it was dropped, a warning says so.
pub(crate) fn keeping<T>(
    context: &Context,
    places: &[(&Arc<dyn Store>, &NodePath)],
    verb: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let mut groups: Vec<(&Arc<dyn Store>, NodePath)> = Vec::new();
    for (store, path) in places {
        for group in consolidated_above(&***store, &path.to_string())? {
            if !groups.iter().any(|(other, known)| Arc::ptr_eq(other, store) && *known == group) {
                groups.push((store, group));
            }
        }
    }
    // A group above has copies of the documents of the groups below it.
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.names().count()));
    let done = verb();
    for (store, group) in groups {
        let path = group.to_string();
        // A group may be gone, or never have changed.
        let is_dropped = zarr::hierarchy::node_exists(&**store, &path, None).unwrap_or(false)
            && consolidated_above(&**store, &path).is_ok_and(|left| !left.contains(&group));
        if !is_dropped {
            continue;
        }
        let written = match &done {
            Ok(_) => consolidate(&**store, &path, None).map(drop).map_err(|error| format!(": {error}")),
            Err(_) => Err(String::new()),
        };
        if let Err(why) = written {
            let hint = format!("`zarr consolidate {store} {path}` writes it again");
            context.warnings(&[format!("{store}: {path}: consolidated metadata was dropped{why}; {hint}")]);
        }
    }
    done
}
