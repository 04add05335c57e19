//! Consolidated metadata of the groups above a node that a verb changes. A change that makes it stale drops it; readers rely on it, so that it
//! is written again, from all nodes below the group.

use crate::context::Context;
use crate::failure::Result;
use std::sync::Arc;
use zarr::hierarchy::{
    DroppedConsolidated, consolidate, consolidated_above, drop_consolidated, node_exists, staleness,
};
use zarr::meta::{Dialect, NodePath};
use zarr::store::{Store, StoreKind};

/// Number of attempts to write consolidated metadata while others change nodes at the same time.
const MAX_TRIES: usize = 5;

/// Runs `verb`, then rewrites the consolidated metadata of the groups at and above `places` that had some before, or have got some from
/// other writers meanwhile. Prints a warning if it cannot be rewritten, or if the verb fails after dropping it. `places` are stores with
/// the path of a group; for a verb that creates, replaces or erases a node, the group is the one above the node. `None` stands for no
/// group.
pub(crate) fn keeping<T>(
    context: &Context,
    places: &[(&Arc<dyn Store>, Option<NodePath>)],
    verb: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let above = || {
        let mut groups: Vec<Group<'_>> = Vec::new();
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
    let before = above()?;
    let done = verb();
    let after = above().unwrap_or_default();
    let is_among = |groups: &[Group<'_>], (store, group): &Group<'_>| {
        groups.iter().any(|(other, known)| Arc::ptr_eq(other, store) && known == group)
    };
    // Other writers may meanwhile have written consolidated metadata without this change. After a failed verb, only groups that lost theirs
    // count.
    let groups: Vec<Group<'_>> = match done.is_ok() {
        true => before.iter().chain(after.iter().filter(|group| !is_among(&before, group))).cloned().collect(),
        false => before.iter().filter(|group| !is_among(&after, group)).cloned().collect(),
    };
    write_again(context, groups, done.is_ok());
    done
}

/// Runs `verb`, which adds to `dropped` the groups whose consolidated metadata it drops, then rewrites that metadata. Makes no requests
/// before the verb. Unless the store is remote, also rewrites consolidated metadata of `above`, and of groups above it, that other writers
/// wrote meanwhile.
pub(crate) fn keeping_dropped<T>(
    context: &Context,
    (store, above): (&Arc<dyn Store>, Option<NodePath>),
    dropped: &DroppedConsolidated,
    verb: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let done = verb();
    let mut groups = dropped.take();
    if let Some(above) = above.filter(|_| done.is_ok() && store.access_profile().kind != StoreKind::Remote) {
        let by_others = consolidated_above(&**store, &above.to_string()).unwrap_or_default();
        groups.extend(by_others.into_iter().filter(|group| !groups.contains(group)).collect::<Vec<_>>());
    }
    write_again(context, groups.into_iter().map(|group| (store, group)).collect(), done.is_ok());
    done
}

/// Rewrites the consolidated metadata of `groups` after a verb that succeeded. Warns that it was dropped if it cannot be written, or if the
/// verb failed.
fn write_again(context: &Context, mut groups: Vec<Group<'_>>, is_done: bool) {
    // A group above has copies of the documents of the groups below it.
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.names().count()));
    for (store, group) in groups {
        let path = group.to_string();
        if !node_exists(&**store, &path, None).unwrap_or(false) {
            continue;
        }
        let told = match is_done.then(|| renew(&**store, &path, None)) {
            Some(Ok(true)) => continue,
            Some(Ok(false)) | None => String::new(),
            Some(Err(error)) => format!(": {error}"),
        };
        let hint = format!("`zarr consolidate {store} {path}` writes it again");
        context.warnings(&[format!("{store}: {path}: consolidated metadata was dropped{told}; {hint}")]);
    }
}

/// Runs a verb that changes the metadata of the node at a path. If the store sets values on conditions, the change itself updates the
/// copies in consolidated metadata. Otherwise the consolidated metadata is dropped, and rewritten by [`keeping`].
pub(crate) fn renewing<T>(
    context: &Context,
    (store, path): (&Arc<dyn Store>, &NodePath),
    verb: impl FnOnce() -> Result<T>,
) -> Result<T> {
    match store.capabilities().conditional {
        true => verb(),
        false => keeping(context, &[(store, Some(path.clone()))], verb),
    }
}

/// Group that has consolidated metadata: its store and its path.
type Group<'s> = (&'s Arc<dyn Store>, NodePath);

/// Rewrites the consolidated metadata of a group if it is stale. Returns `false` if it was dropped, since it stayed stale after all
/// attempts.
pub(crate) fn renew(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> zarr::Result<bool> {
    for attempt in 0..MAX_TRIES {
        match staleness(store, path, dialect)? {
            Some(found) if !found.is_stale() => return Ok(true),
            // Only documents that exist nowhere else remain in the consolidated metadata.
            Some(found) if attempt > 0 && found.missing.is_empty() && found.changed.is_empty() => return Ok(true),
            _ => consolidate(store, path, dialect)?,
        };
    }
    if staleness(store, path, dialect)?.is_some_and(|found| !found.is_stale()) {
        return Ok(true);
    }
    drop_consolidated(store, path, dialect)?;
    Ok(false)
}
