//! The dialect of the hierarchy that a new node goes to.

use super::OpenNode;
use crate::jobs::Operation;
use crate::{Error, Result};
use zarr_drive::Io;
use zarr_meta::{Dialect, NodePath};
use zarr_store::AccessProfile;

/// The dialect of a store that holds no node, unless another is asked for.
pub const DEFAULT_DIALECT: Dialect = Dialect::NEWEST;

/// Whether nodes of both dialects may lie in one hierarchy.
#[must_use]
pub fn same_hierarchy(a: Dialect, b: Dialect) -> bool {
    a == b || (a.is_v3() && b.is_v3())
}

/// Finds the dialect that a new node takes: that of the nearest group above it; where none has a document, that of the nodes
/// in the store, as far as they can be found by listing; else the dialect that is asked for.
///
/// Another one than that of the hierarchy is an error: the new documents would hide the nodes that are there.
#[derive(Debug)]
pub struct FindDialect {
    path: NodePath,
    asked: Option<Dialect>,
    overwrite: bool,
    can_list: bool,
    profile: AccessProfile,
}

impl FindDialect {
    /// For a node at `path`, which is to replace the present one if `overwrite` is set, in a store that is such.
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

    /// The dialect, now that that of the hierarchy is known.
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

    /// Whether no present node stays.
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
                // The entry point document names it.
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
