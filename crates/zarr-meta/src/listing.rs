//! Children of a group, found in a listing.

use crate::dialect::table::rules;
use crate::{Children, Dialect, Documents, NodePath};

/// Returns the prefix (empty or ending in `/`) to list in order to find the children of the group at `path`.
pub fn listing_prefix(dialect: Dialect, path: &NodePath) -> String {
    rules(dialect).listing_prefix(path)
}

/// Returns the prefixes (ending in `/`) of all documents and of all chunks, in a dialect that separates documents from chunks. Empty for
/// dialects whose keys begin with the path of the node.
pub fn key_spaces(dialect: Dialect) -> Vec<String> {
    let (rules, root) = (rules(dialect), NodePath::root());
    let prefixes = [rules.listing_prefix(&root), rules.chunk_prefix(&root, &Documents::new())];
    let space = |prefix: &String| Some(format!("{}/", prefix.split_once('/')?.0));
    prefixes.iter().filter(|_| !dialect.has_documents_at_paths()).filter_map(space).collect()
}

/// Returns the children of the group at `path`, from the `keys` and the `prefixes` (ending in `/`) directly below [`listing_prefix`], both
/// relative to the root of the store.
///
/// `entry` must contain the document that [`entry_point_key`](crate::entry_point_key) names, which determines the names of the other
/// documents. It may contain further documents, and may be empty if the dialect has no entry point.
pub fn children(dialect: Dialect, path: &NodePath, keys: &[&str], prefixes: &[&str], entry: &Documents) -> Children {
    rules(dialect).children(path, keys, prefixes, entry)
}

/// Returns the path of the node whose document has the given `key`, in dialects that separate documents from chunks
/// ([`Dialect::implies_groups`]); `None` if `key` is not the key of a document or the path is not safe. `entry` is the same as for
/// [`children`].
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
