//! Errors with hints: about nodes that were searched inside of a hierarchy whose documents and chunks are stored apart, and about nodes
//! that exist already.

use super::parse_path;
use crate::{Error, ErrorKind, open_node};
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::Store;

/// Adds a hint to an error of the kind [`NotFound`](crate::ErrorKind::NotFound) if the store is a directory inside of a hierarchy of a
/// draft of version 3: the hint names the hierarchy and the path to open. These drafts have documents below `meta/` and chunks below
/// `data/`, and neither is a store or a node. Searches the directories above the store, if the store is a directory.
pub fn with_hierarchy_hint(error: Error, store: &dyn Store, path: &str) -> Error {
    if !error.is_not_found() || error.hint().is_some() {
        return error;
    }
    match elsewhere(store, path) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn elsewhere(store: &dyn Store, path: &str) -> Option<String> {
    let path = parse_path(path).ok()?;
    let names: Vec<&str> = path.names().collect();
    if let Some((&space, below)) = names.split_first()
        && is_space(space)
        && let Some((node, dialect)) = node_of(store, below)
    {
        return Some(format!("in {dialect} documents lie below meta/ and chunks below data/: open the path {node}"));
    }
    let mut below: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let mut above = store.parent();
    while let Some((parent, name)) = above {
        if is_space(&name)
            && let Some((node, dialect)) = node_of(&*parent, &below)
        {
            return Some(format!(
                "this is inside of the hierarchy {parent} of {dialect}, whose documents lie below meta/ and chunks below data/: open \
                 that, with the path {node}"
            ));
        }
        below.insert(0, name);
        above = parent.parent();
    }
    None
}

fn is_space(name: &str) -> bool {
    matches!(name, "meta" | "data")
}

/// Returns the node of a hierarchy of a draft, whose documents or chunks are stored in `directory`, or the nearest node above it; with its
/// dialect.
fn node_of(store: &dyn Store, directory: &[impl AsRef<str>]) -> Option<(NodePath, Dialect)> {
    let dialect = open_node(store, "/", None).ok()?.dialect;
    let names = dialect.names_in_directory(&directory.iter().map(AsRef::as_ref).collect::<Vec<_>>())?;
    (0..=names.len()).rev().find_map(|count| {
        let path = names.iter().take(count).try_fold(NodePath::root(), |path, name| path.join(name)).ok()?;
        open_node(store, &path.to_string(), Some(dialect)).ok().map(|found| (found.path, dialect))
    })
}

/// Returns the error that the node `there` exists where a new node is to be created.
pub(super) fn in_the_way(there: &StoredNode) -> Error {
    let error = |kind: &str| Error::new(ErrorKind::Exists, format!("there is {kind} already")).at_path(&there.path);
    match there.node.as_array() {
        Some(_) => error("an array"),
        // Replacing the group would erase all nodes in it, so the hint names a path inside of the group.
        None => error("a group").with_hint("a node in it has a path of its own: name that, or another one"),
    }
}
