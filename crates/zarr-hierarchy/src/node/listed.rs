//! The lists that NCZarr keeps of the nodes in a group: netCDF sees no array that is not in them, and fails for one that is in them
//! and not there.

use super::replace::ReplaceNode;
use super::revise::Edit;
use super::{OpenNode, Probed};
use crate::{Error, ErrorKind, Result, jobs};
use zarr_meta::{Node, NodePath, StoredNode, conventions};
use zarr_store::{Capabilities, Conflicts, Job, Next, Reply, Request};

/// How often the list is read again when others change it at the same time.
const MAX_TRIES: u32 = 1000;

/// Adds a node to the lists of the group above it, or takes it out, where that group has such lists.
///
/// Open ── no lists, or nothing to change ──► done
///   ▲ └──► Replace ── done ──► done
///   └─ Pause ◄┘ another changed the list
#[derive(Debug)]
pub struct ListNode {
    path: NodePath,
    is_array: bool,
    is_there: bool,
    capabilities: Capabilities,
    conflicts: Conflicts,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    Open(Box<OpenNode>),
    Replace(Box<ReplaceNode>),
}

impl ListNode {
    /// Of the node at `path`, which is there after the change or not.
    #[must_use]
    pub fn new(path: NodePath, is_array: bool, is_there: bool, capabilities: Capabilities) -> Self {
        Self { path, is_array, is_there, capabilities, conflicts: Conflicts::new(MAX_TRIES), state: State::Begin }
    }

    fn open(&mut self, mut open: Box<OpenNode>, replies: &[Reply]) -> Result<Next<Self>> {
        match open.go_on(replies) {
            Ok(Probed::Asks(requests)) => {
                self.state = State::Open(open);
                Ok(Next::Ask(requests))
            }
            Ok(Probed::Found(group)) => self.change(&group),
            Ok(Probed::NotFound(_)) => Ok(Next::Done(())),
            Err(error) if error.kind() == ErrorKind::Store => Err(error),
            // A group that cannot be read has no lists.
            Err(_) => Ok(Next::Done(())),
        }
    }

    fn change(&mut self, group: &StoredNode) -> Result<Next<Self>> {
        let (Node::Group(mut node), Some(name)) = (group.node.clone(), self.path.name()) else {
            return Ok(Next::Done(()));
        };
        let is_readable = group.attributes_error.is_none();
        if !is_readable || !conventions::list_child(&mut node, name, self.is_array, self.is_there) {
            return Ok(Next::Done(()));
        }
        let replace = ReplaceNode::new(group, Edit::to(group, Node::Group(node)), self.capabilities);
        self.replace(Box::new(replace), &[])
    }

    fn replace(&mut self, replace: Box<ReplaceNode>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, replace| job.state = State::Replace(replace);
        match jobs::within(self, replace, replies, wait, |_, _| Ok(Next::Done(()))) {
            Err(error) if error.kind() == ErrorKind::Conflict => match self.conflicts.again() {
                Some(duration) => {
                    self.state = State::Begin;
                    Ok(Next::Ask(vec![Request::Pause { duration }]))
                }
                None => Err(error),
            },
            done => done,
        }
    }

    fn begin(&mut self) -> Result<Next<Self>> {
        match self.path.parent() {
            Some(above) => self.open(Box::new(OpenNode::new(above, None, false)), &[]),
            None => Ok(Next::Done(())),
        }
    }
}

impl Job for ListNode {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin => self.begin(),
            State::Open(open) => self.open(open, replies),
            State::Replace(replace) => self.replace(replace, replies),
        }
    }
}
