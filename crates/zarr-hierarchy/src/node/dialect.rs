//! Dialect of a new node, which follows from the hierarchy.

use super::OpenNode;
use crate::jobs::Operation;
use crate::{Error, Result};
use zarr_drive::Io;
use zarr_meta::{Dialect, NodePath};
use zarr_store::AccessProfile;

/// Dialect of new nodes in a store without nodes, unless the caller asks for another.
pub const DEFAULT_DIALECT: Dialect = Dialect::NEWEST;

/// Whether nodes of both dialects may be in one hierarchy.
#[must_use]
pub fn same_hierarchy(a: Dialect, b: Dialect) -> bool {
    a == b || (a.is_v3() && b.is_v3())
}

/// Finds the dialect of a new node: the dialect of the nearest group above it; if no group has a document, the dialect of the nodes in the
/// store, as far as listings show them; otherwise the dialect that the caller asked for.
///
/// A dialect other than that of the hierarchy is an error: the new documents would hide the existing nodes.
#[derive(Debug)]
pub struct FindDialect {
    path: NodePath,
    asked: Option<Dialect>,
    overwrite: bool,
    can_list: bool,
    profile: AccessProfile,
}

impl FindDialect {
    /// Finds the dialect of a new node at `path`. `asked` is the dialect that the caller asked for, and `overwrite` says that existing
    /// nodes at `path` are replaced.
    #[must_use]
    pub fn new(
        path: NodePath,
        asked: Option<Dialect>,
        overwrite: bool,
        can_list: bool,
        profile: &AccessProfile,
    ) -> Self {
        Self { path, asked, overwrite, can_list, profile: *profile }
    }

    /// Returns the dialect of the new node in a hierarchy of dialect `there`.
    fn within(&self, there: Dialect) -> Result<Dialect> {
        match self.asked {
            // A dialect that has settled is written in its final form.
            None if same_hierarchy(there, DEFAULT_DIALECT) => Ok(DEFAULT_DIALECT),
            None => Ok(there),
            Some(asked) if same_hierarchy(asked, there) || self.replaces_all() => Ok(asked),
            Some(asked) => {
                let message = format!("the hierarchy is of dialect {there}, not {asked}, which would hide its nodes");
                let hint = "without a dialect the node takes that of the hierarchy; one of another dialect needs a store of its own";
                Err(Error::argument(message).with_hint(hint).at_path(&self.path))
            }
        }
    }

    /// Whether all existing nodes are replaced.
    fn replaces_all(&self) -> bool {
        self.overwrite && self.path.is_root()
    }
}

impl Operation for FindDialect {
    type Output = Dialect;

    async fn run(self, io: &Io) -> Result<Dialect> {
        let first = self.path.parent().unwrap_or_else(NodePath::root);
        for at in std::iter::successors(Some(first), NodePath::parent) {
            // Nodes below are looked for only where there is no document at all, not even of the root.
            let can_list = self.can_list && at.is_root();
            let mut open = OpenNode::new(at.clone(), None, can_list).on_store(&self.profile);
            let there = match open.find(io).await {
                Ok(Some(found)) if found.node.as_array().is_some() && at != self.path => {
                    let message = format!("{at} is an array (dialect {}), expected a group", found.dialect);
                    return Err(Error::argument(message).at_path(&self.path));
                }
                Ok(Some(found)) => Some(found.dialect),
                // The entry point document names the dialect.
                Ok(None) => open.dialect(),
                // Broken documents that will be replaced do not count.
                Err(error) if self.replaces_all() && error.is_of_broken_node() => break,
                Err(error) => return Err(error.at_path(&at)),
            };
            if let Some(there) = there {
                return self.within(there);
            }
        }
        Ok(self.asked.unwrap_or(DEFAULT_DIALECT))
    }
}
