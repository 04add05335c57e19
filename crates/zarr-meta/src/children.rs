//! Paths of the nodes below a group, as a listing shows them.

use crate::NodePath;

/// The paths at which children of a group may lie, as far as a listing tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Children {
    /// Paths at which the listing shows a document or a prefix, sorted. Each has to be probed: a prefix may also hold files that belong to
    /// no node.
    pub candidates: Vec<NodePath>,
    /// Paths, sorted, that have a prefix but no document: each is an implicit group if documents lie below the prefix. Empty in dialects
    /// whose documents lie below the path of the node.
    pub maybe_implicit: Vec<NodePath>,
    /// Names in the listing that are not allowed as names of nodes, because they could lead out of the hierarchy.
    pub refused: Vec<String>,
}

impl Children {
    /// Returns one candidate for each name in `names`, and in `maybe_implicit` the groups that the prefixes directly below `above` may
    /// imply.
    #[cfg(feature = "drafts")]
    pub(crate) fn from_names(
        path: &NodePath,
        names: impl IntoIterator<Item = impl AsRef<str>>,
        above: &str,
        prefixes: &[&str],
    ) -> Self {
        let mut children = Self::default();
        for name in names {
            match path.join(name.as_ref()) {
                Ok(child) => children.candidates.push(child),
                Err(_) => children.refused.push(name.as_ref().to_owned()),
            }
        }
        children.candidates.sort();
        children.candidates.dedup();
        for prefix in prefixes {
            let name = prefix.strip_prefix(above).unwrap_or(prefix);
            match path.join(name.strip_suffix('/').unwrap_or(name)) {
                Ok(child) if children.candidates.binary_search(&child).is_err() => children.maybe_implicit.push(child),
                Ok(_) => {}
                Err(_) => children.refused.push((*prefix).to_owned()),
            }
        }
        children.maybe_implicit.sort();
        children.maybe_implicit.dedup();
        children
    }

    /// Returns one candidate for each of the `prefixes` directly below `path`.
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
