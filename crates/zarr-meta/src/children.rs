//! Which nodes lie below a group.

use crate::dialect::rules;
use crate::{Dialect, NodePath};

/// The paths at which children of a group may lie, as far as a listing tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// Candidates, sorted, each to be probed: a prefix may also hold files that are no node.
    pub candidates: Vec<NodePath>,
    /// Names in the listing that no node may have, because they could lead out of the hierarchy.
    pub refused: Vec<String>,
}

impl Children {
    /// One candidate for each prefix directly below `path`.
    pub(crate) fn from_prefixes(path: &NodePath, prefixes: &[&str]) -> Self {
        let mut children = Self::default();
        let above = path.key_prefix();
        for prefix in prefixes {
            let name = prefix.strip_prefix(above.as_str()).unwrap_or(prefix);
            match path.join(name.strip_suffix('/').unwrap_or(name)) {
                Ok(child) => children.candidates.push(child),
                Err(_) => children.refused.push((*prefix).to_owned()),
            }
        }
        children.candidates.sort();
        children.candidates.dedup();
        children
    }
}

/// The prefix (empty or ending in `/`) whose listing shows the children of a group.
pub fn listing_prefix(dialect: Dialect, path: &NodePath) -> String {
    rules(dialect).map_or_else(|_| path.key_prefix(), |rules| rules.listing_prefix(path))
}

/// The children of the group at `path`, from the keys and the prefixes (ending in `/`) directly below
/// [`listing_prefix`], both relative to the root of the store.
pub fn children(dialect: Dialect, path: &NodePath, keys: &[&str], prefixes: &[&str]) -> Children {
    rules(dialect).map_or_else(|_| Children::default(), |rules| rules.children(path, keys, prefixes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_candidates() {
        let group = NodePath::parse("/g").unwrap();
        let children = children(Dialect::V3, &group, &["g/zarr.json", "g/.DS_Store"], &["g/b/", "g/../", "g/.a/"]);
        let paths: Vec<_> = children.candidates.iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["/g/.a", "/g/b"]);
        assert_eq!(children.refused, ["g/../"]);
        assert_eq!(listing_prefix(Dialect::V2, &group), "g/");
    }
}
