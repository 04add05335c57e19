//! Finding the children of a group in a listing.

use crate::dialect::table::rules;
use crate::{Children, Dialect, Documents, NodePath};

/// The prefix (empty or ending in `/`) whose listing shows the children of a group.
pub fn listing_prefix(dialect: Dialect, path: &NodePath) -> String {
    rules(dialect).listing_prefix(path)
}

/// The beginnings (ending in `/`) of the keys of all documents and chunks of a dialect that keeps these apart from each other. In other
/// dialects, where keys begin with the path of their node, there are none.
pub fn key_spaces(dialect: Dialect) -> Vec<String> {
    let (rules, root) = (rules(dialect), NodePath::root());
    let prefixes = [rules.listing_prefix(&root), rules.chunk_prefix(&root, &Documents::new())];
    let space = |prefix: &String| Some(format!("{}/", prefix.split_once('/')?.0));
    prefixes.iter().filter(|_| !dialect.has_documents_at_paths()).filter_map(space).collect()
}

/// The children of the group at `path`, from the keys and the prefixes (ending in `/`) directly below
/// [`listing_prefix`], both relative to the root of the store.
///
/// `entry` has the document that [`entry_point_key`](crate::entry_point_key) names, which says how the others are called; it may have others,
/// and be empty where the dialect has none.
pub fn children(dialect: Dialect, path: &NodePath, keys: &[&str], prefixes: &[&str], entry: &Documents) -> Children {
    rules(dialect).children(path, keys, prefixes, entry)
}

/// The path of the node whose document has this key, in dialects that keep documents apart from chunks
/// ([`Dialect::implies_groups`]); `None` for keys of anything else, and for paths that are not safe. `entry` as for [`children`].
pub fn document_path(dialect: Dialect, key: &str, entry: &Documents) -> Option<NodePath> {
    rules(dialect).document_path(key, entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_candidates() {
        let group = NodePath::parse("/g").unwrap();
        let children = children(
            Dialect::V3,
            &group,
            &["g/zarr.json", "g/.DS_Store"],
            &["g/b/", "g/../", "g/.a/"],
            &Documents::new(),
        );
        let paths: Vec<_> = children.candidates.iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["/g/.a", "/g/b"]);
        assert_eq!(children.refused, ["g/../"]);
        assert_eq!(listing_prefix(Dialect::V2, &group), "g/");
    }
}
