//! Lists of the nodes in a group, as in NCZarr: netCDF does not see an array that is not listed, and fails for a listed array that does
//! not exist.

use super::OpenNode;
use super::replace::ReplaceNode;
use super::revise::Edit;
use crate::jobs::Operation;
use crate::{ErrorKind, Result};
use zarr_drive::Io;
use zarr_meta::{Node, NodePath, StoredNode, conventions};
use zarr_store::{AccessProfile, Capabilities, Conflicts};

/// Maximum number of attempts to change the lists when other writers change the group at the same time.
const MAX_TRIES: u32 = 1000;

/// Adds a node to the lists of the group above it, or removes it from them, if the group has lists of its nodes.
#[derive(Debug)]
pub struct ListNode {
    path: NodePath,
    is_array: bool,
    is_there: bool,
    capabilities: Capabilities,
    profile: Option<AccessProfile>,
}

impl ListNode {
    /// Adds the node at `path` to the lists if `is_there`, and removes it otherwise. `is_array` says in which list the node belongs.
    #[must_use]
    pub fn new(path: NodePath, is_array: bool, is_there: bool, capabilities: Capabilities) -> Self {
        Self { path, is_array, is_there, capabilities, profile: None }
    }

    /// Sets the kind of store. In a remote store few documents of the group are requested.
    #[must_use]
    pub fn on_store(self, profile: &AccessProfile) -> Self {
        Self { profile: Some(*profile), ..self }
    }

    fn open(&self, group: NodePath) -> OpenNode {
        let open = OpenNode::new(group, None, false);
        match &self.profile {
            Some(profile) => open.on_store(profile),
            None => open,
        }
    }

    /// Returns the group with changed lists; `None` if nothing changes.
    fn changed(&self, group: &StoredNode) -> Option<Node> {
        let (Node::Group(mut node), Some(name)) = (group.node.clone(), self.path.name()) else { return None };
        let is_readable = group.attributes_error.is_none();
        let is_changed = is_readable && conventions::list_child(&mut node, name, self.is_array, self.is_there);
        is_changed.then_some(Node::Group(node))
    }
}

impl Operation for ListNode {
    type Output = ();

    async fn run(self, io: &Io) -> Result<()> {
        let Some(above) = self.path.parent() else { return Ok(()) };
        let mut conflicts = Conflicts::new(MAX_TRIES);
        loop {
            let group = match self.open(above.clone()).find(io).await {
                Ok(Some(group)) => group,
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Store => return Err(error),
                // A group that cannot be read has no lists.
                Err(_) => return Ok(()),
            };
            let Some(changed) = self.changed(&group) else { return Ok(()) };
            match ReplaceNode::new(&group, Edit::to(&group, changed), self.capabilities).run(io).await {
                Err(error) if error.kind() == ErrorKind::Conflict => match conflicts.again() {
                    Some(duration) => io.pause(duration).await?,
                    None => return Err(error),
                },
                done => return done.map(drop),
            }
        }
    }
}
