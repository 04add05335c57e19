//! Consolidated metadata of the groups above a node that a verb changes. The change makes it stale, so that it is dropped; readers rely on
//! it, so that it is written again, from all nodes below the group.

use crate::context::Context;
use crate::failure::{Failure, Result};
use std::sync::Arc;
use zarr::hierarchy::{
    consolidate, consolidated_above, drop_consolidated, node_exists, open_node, open_stored_node, staleness,
    walk_consolidated,
};
use zarr::meta::NodePath;
use zarr::store::Store;

/// How often it is written again where others change nodes at the same time.
const MAX_TRIES: usize = 5;

/// Carries out the verb, and then makes the consolidated metadata true that groups at and above these paths had before, or have by then
/// from others. Where it cannot be, or the verb fails after it was dropped, a warning says so. A verb that makes, replaces or erases a
/// node gives the path of the group above.
pub(crate) fn keeping<T>(
    context: &Context,
    places: &[(&Arc<dyn Store>, Option<NodePath>)],
    verb: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let above = || {
        let mut groups: Vec<(&Arc<dyn Store>, NodePath)> = Vec::new();
        for (store, path) in places {
            let Some(path) = path else { continue };
            for group in consolidated_above(&***store, &path.to_string())? {
                if !groups.iter().any(|(other, known)| Arc::ptr_eq(other, store) && *known == group) {
                    groups.push((store, group));
                }
            }
        }
        Ok::<_, zarr::Error>(groups)
    };
    let mut groups = above()?;
    for (store, group) in &groups {
        check_documents(&***store, &group.to_string())?;
    }
    let done = verb();
    // Others may have written copies meanwhile that do not know this change.
    for (store, group) in above().unwrap_or_default() {
        if !groups.iter().any(|(other, known)| Arc::ptr_eq(other, store) && *known == group) {
            groups.push((store, group));
        }
    }
    // A group above has copies of the documents of the groups below it.
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.names().count()));
    for (store, group) in groups {
        let path = group.to_string();
        if !node_exists(&**store, &path, None).unwrap_or(false) {
            continue;
        }
        let told = match (renew(&**store, &path, done.is_ok()), &done) {
            (Ok(true), _) => continue,
            (Ok(false), _) => String::new(),
            (Err(error), _) => format!(": {error}"),
        };
        let hint = format!("`zarr consolidate {store} {path}` writes it again");
        context.warnings(&[format!("{store}: {path}: consolidated metadata was dropped{told}; {hint}")]);
    }
    done
}

/// Refuses a change that would drop the only documents of nodes: those in the consolidated metadata of a group. Software that writes such
/// metadata alone writes no document of any node, so that the first node tells that is there.
///
/// # Errors
/// A failure of usage if documents would be lost; the errors of the group.
pub(super) fn check_documents(store: &dyn Store, group: &str) -> Result<()> {
    let copied = walk_consolidated(store, group, None)?;
    for node in copied.nodes.iter().filter(|node| node.path.to_string() != group) {
        let (path, dialect) = (node.path.to_string(), Some(node.dialect));
        match open_stored_node(store, &path, dialect) {
            Err(error) if error.is_not_found() => {}
            _ => return Ok(()),
        }
        // Else it is a stale copy of a node that was erased.
        if open_node(store, &path, dialect).is_ok() {
            let message = format!(
                "{store}: {group}: the document of {path} is nowhere but in the consolidated metadata, which a change makes stale and drops"
            );
            return Err(Failure::usage(message).with_hint("`zarr convert` makes a hierarchy that has all documents"));
        }
    }
    Ok(())
}

/// Makes the consolidated metadata of a group true; if not `writes`, only looks whether it is there. False if it is gone.
fn renew(store: &dyn Store, path: &str, writes: bool) -> zarr::Result<bool> {
    for _ in 0..MAX_TRIES {
        match staleness(store, path, None)? {
            Some(found) if !found.is_stale() || !writes => return Ok(true),
            None if !writes => return Ok(false),
            _ => consolidate(store, path, None)?,
        };
    }
    if staleness(store, path, None)?.is_some_and(|found| !found.is_stale()) {
        return Ok(true);
    }
    drop_consolidated(store, path, None)?;
    Ok(false)
}
