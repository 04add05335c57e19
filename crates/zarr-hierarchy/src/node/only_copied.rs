//! Documents that only consolidated metadata have.

use crate::hierarchy::{is_stored, list_below};
use crate::node::order;
use crate::{Error, Result, jobs};
use zarr_meta::consolidated::FoundCopy;
use zarr_meta::{NodePath, StoredNode};
use zarr_store::{Capabilities, Job, Key, Next, Reply, Request};

/// Refuses a change that drops consolidated metadata with the only documents of nodes. Software that writes such metadata alone writes no
/// documents.
///
/// A node has only them if its own document is missing, and it is no stale copy of one that was erased: as
/// [`open_node`](crate::open_node) finds it.
///
/// Sizes ── documents are missing ──► Listings ──► done, or the error
#[derive(Debug)]
pub(crate) struct OnlyCopied {
    /// Nodes, and whether each is there whatever is stored.
    nodes: Vec<Copied>,
    can_list: bool,
    state: State,
}

#[derive(Debug)]
struct Copied {
    node: StoredNode,
    group: NodePath,
    is_sure: bool,
}

#[derive(Debug)]
enum State {
    Begin,
    Sizes,
    Listings,
}

impl OnlyCopied {
    /// Looks for the documents of all nodes of these copies, but those of a node that goes with all below it, and of groups that are `made`
    /// again as they are: without attributes.
    pub(crate) fn new(
        copies: &[FoundCopy],
        but: Option<&NodePath>,
        made: &[NodePath],
        capabilities: Capabilities,
    ) -> Self {
        let is_made = |node: &StoredNode| {
            let group = node.node.as_group().filter(|_| made.contains(&node.path));
            group.is_some_and(|group| group.attributes.is_empty() && group.extra.is_empty())
        };
        let mut nodes = Vec::new();
        for copy in copies {
            let own = (!copy.has_document).then(|| copy.node(&copy.group)).flatten();
            let all = own.into_iter().chain(copy.nodes_below(&copy.group));
            let stays = all.filter(|node| but.is_none_or(|gone| !node.path.is_within(gone)) && !is_made(node));
            nodes.extend(stays.map(|node| Copied { node, group: copy.group.clone(), is_sure: !copy.has_document }));
        }
        // Without a key there is nothing to lose.
        nodes.retain(|copied| copied.node.own_documents().next().is_some());
        Self { nodes, can_list: capabilities.list, state: State::Begin }
    }

    /// Keeps the nodes whose documents are missing.
    fn sized(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let mut missing = Vec::new();
        for (copied, reply) in std::mem::take(&mut self.nodes).into_iter().zip(replies) {
            match reply {
                Reply::Size(Some(_)) => {}
                Reply::Size(None) => missing.push(copied),
                _ => return Err(jobs::unfit()),
            }
        }
        if let Some(copied) = missing.iter().find(|copied| copied.is_sure || !self.can_list) {
            return Err(lost(&copied.node.path, &copied.group));
        }
        if missing.is_empty() {
            return Ok(Next::Done(()));
        }
        self.nodes = missing;
        self.state = State::Listings;
        Ok(Next::Ask(self.nodes.iter().map(|copied| list_below(&copied.node)).collect::<Result<_>>()?))
    }

    fn listed(&self, replies: &[Reply]) -> Result<Next<Self>> {
        for (copied, reply) in self.nodes.iter().zip(replies) {
            if is_stored(reply)? {
                return Err(lost(&copied.node.path, &copied.group));
            }
        }
        Ok(Next::Done(()))
    }
}

fn lost(path: &NodePath, at: &NodePath) -> Error {
    let message = format!(
        "the document of {path} is nowhere but in the consolidated metadata, which a change makes stale and drops"
    );
    let hint = "`zarr convert` makes a hierarchy that has all documents";
    Error::argument(message).with_hint(hint).at_path(at)
}

impl Job for OnlyCopied {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match self.state {
            State::Begin if self.nodes.is_empty() => Ok(Next::Done(())),
            State::Begin => {
                self.state = State::Sizes;
                let first = |copied: &Copied| order::to_erase(&copied.node).into_iter().next().unwrap_or_default();
                let size = |copied: &Copied| Ok(Request::Size { key: Key::new(&first(copied))? });
                Ok(Next::Ask(self.nodes.iter().map(size).collect::<Result<_>>()?))
            }
            State::Sizes => self.sized(replies),
            State::Listings => self.listed(replies),
        }
    }
}
