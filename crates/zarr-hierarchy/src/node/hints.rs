//! Errors with hints: about nodes that are looked for inside of a hierarchy whose documents and chunks lie apart, and nodes in the way.

use super::parse_path;
use crate::{Error, ErrorKind, open_node};
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::Store;

/// Adds to an error of the kind [`NotFound`](crate::ErrorKind::NotFound) where to look instead, if the opened store is
/// a directory in a hierarchy of a draft of version 3: these have documents below `meta/` and chunks below `data/`,
/// none of which is a store or a node. Looks at the directories above the store, if it is a directory.
pub fn with_location(error: Error, store: &dyn Store, path: &str) -> Error {
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

/// The node in a hierarchy of a draft whose documents or chunks lie in a directory, or the next one above.
fn node_of(store: &dyn Store, directory: &[impl AsRef<str>]) -> Option<(NodePath, Dialect)> {
    let dialect = open_node(store, "/", None).ok()?.dialect;
    let names = dialect.names_in_directory(&directory.iter().map(AsRef::as_ref).collect::<Vec<_>>())?;
    (0..=names.len()).rev().find_map(|count| {
        let path = names.iter().take(count).try_fold(NodePath::root(), |path, name| path.join(name)).ok()?;
        open_node(store, &path.to_string(), Some(dialect)).ok().map(|found| (found.path, dialect))
    })
}

/// The error that there is a node already where one is to be created.
pub(super) fn in_the_way(there: &StoredNode) -> Error {
    let error = |kind: &str| Error::new(ErrorKind::Exists, format!("there is {kind} already")).at_path(&there.path);
    match there.node.as_array() {
        Some(_) => error("an array"),
        // Who replaces a group loses all in it: more than is asked for where a node was to go into it.
        None => error("a group").with_hint("a node in it has a path of its own: name that, or another one"),
    }
}
