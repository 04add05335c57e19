//! The nodes of every dialect in one store.

use super::{Walk, WalkJob};
use crate::jobs::{get_document, unfit, within};
use crate::node::OpenNode;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use zarr_meta::{DETECTION_KEYS, Dialect, Documents, NodePath, StoredNode, Warning, consolidated};
use zarr_store::{Job, Key, Next, Reply};

/// Walks down from a node in every dialect that the store holds.
///
/// Nodes of the self-contained dialects (v3, v2) are found by one walk, since their documents lie at their paths; nodes
/// of each other dialect by a walk of its own. Of several nodes at one path the node that
/// [`open_node`](crate::open_node) finds is kept.
///
/// ```text
/// Look ──► Open ──► Walk ──► Open ──► Walk ──► ... ──► done
/// ```
///
/// If consolidated metadata is to be trusted, and the group has some, the nodes are those that it has: of one dialect.
#[derive(Debug)]
pub(crate) struct MixedWalkJob {
    root: StoredNode,
    depth: Option<usize>,
    is_stored_only: bool,
    /// Whether consolidated metadata of the root is believed, where there is some.
    trusts_copy: bool,
    /// Whether it is known that the root has none.
    has_no_copy: bool,
    state: State,
    /// The dialects by which the store is still to be walked.
    families: Vec<Family>,
    skipped: Vec<NodePath>,
    walk: Walk,
    nodes: BTreeMap<NodePath, StoredNode>,
}

#[derive(Debug)]
enum State {
    Begin,
    Copy(Box<WalkJob>),
    Look,
    Open(Box<OpenNode>, Family),
    Walk(Box<WalkJob>),
}

/// Dialects whose nodes are found by one walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    SelfContained,
    Of(Dialect),
}

impl Family {
    fn of(dialect: Dialect) -> Self {
        if dialect.has_documents_at_paths() { Self::SelfContained } else { Self::Of(dialect) }
    }
}

impl MixedWalkJob {
    /// Walks down from where `root` was found, `depth` levels or all. The store must be able to list.
    pub(crate) fn new(root: StoredNode, depth: Option<usize>) -> Self {
        Self {
            root,
            depth,
            is_stored_only: false,
            trusts_copy: false,
            has_no_copy: false,
            state: State::Begin,
            families: Vec::new(),
            skipped: Vec::new(),
            walk: Walk::default(),
            nodes: BTreeMap::new(),
        }
    }

    /// Leaves out nodes that only consolidated metadata have.
    pub(crate) fn stored_only(self, is_stored_only: bool) -> Self {
        Self { is_stored_only, ..self }
    }

    /// Believes consolidated metadata of the root, where there is some.
    pub(crate) fn trusting(self, trusts_copy: bool) -> Self {
        Self { trusts_copy, ..self }
    }

    fn begin(&mut self) -> Result<Next<Self>> {
        if !self.trusts_copy {
            return self.look();
        }
        let walk = WalkJob::new(self.root.clone(), self.depth, true).copy_only();
        self.copy(Box::new(walk), &[])
    }

    fn copy(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        within(self, walk, replies, |job, walk| job.state = State::Copy(walk), Self::copied)
    }

    fn copied(&mut self, walk: Walk) -> Result<Next<Self>> {
        if walk.consolidated.is_some() {
            return Ok(Next::Done(walk));
        }
        self.walk.bad_copies = walk.bad_copies;
        self.has_no_copy = true;
        self.look()
    }

    /// Asks for the documents by which dialects are detected.
    fn look(&mut self) -> Result<Next<Self>> {
        self.state = State::Look;
        let keys = DETECTION_KEYS.into_iter().map(|key| Ok(get_document(Key::new(key)?)));
        Ok(Next::Ask(keys.collect::<Result<_>>()?))
    }

    /// Takes the dialects of the store from these documents.
    fn looked(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let mut documents = Documents::new();
        for (index, key) in DETECTION_KEYS.into_iter().enumerate() {
            match replies.get(index) {
                // Only groups of v3 have consolidated metadata in their document.
                Some(Reply::Got(Some(fetched))) if consolidated::is_cut_off(key, fetched.part(0)) => {}
                Some(Reply::Got(Some(fetched))) => documents.insert(key, fetched.part(0)),
                Some(Reply::Got(None)) => {}
                _ => return Err(unfit()),
            }
        }
        let own = Family::of(self.root.dialect);
        let mut families = vec![own];
        for detected in zarr_meta::detected_dialects(&documents) {
            match detected {
                // Dialects of one array have nothing below the root.
                Ok((_, dialect)) if dialect.holds_one_array() && !self.root.path.is_root() => {}
                Ok((_, dialect)) if families.contains(&Family::of(dialect)) => {}
                Ok((_, dialect)) => families.push(Family::of(dialect)),
                Err(error) => self.walk.broken.push(Error::from(error).at_path(&NodePath::root())),
            }
        }
        // Their documents and chunks are no nodes.
        if families.iter().any(|family| *family != Family::SelfContained) {
            self.skipped = ["meta", "data"].map(|name| NodePath::root().join(name)).into_iter().flatten().collect();
        }
        if !families.contains(&Family::SelfContained) {
            families.push(Family::SelfContained);
        }
        families.reverse();
        self.families = families;
        self.next_family()
    }

    fn next_family(&mut self) -> Result<Next<Self>> {
        let Some(family) = self.families.pop() else { return Ok(Next::Done(self.finish())) };
        if family == Family::of(self.root.dialect) {
            return self.begin_walk(self.root.clone(), family);
        }
        let path = self.root.path.clone();
        let open = match family {
            Family::Of(dialect) => OpenNode::new(path, Some(dialect), true),
            // The document of the root is of another dialect.
            Family::SelfContained if path.is_root() => {
                OpenNode::new(path, Some(Dialect::BESIDE_ZARR_JSON), false).self_contained_only()
            }
            Family::SelfContained => OpenNode::new(path, None, false).self_contained_only(),
        };
        self.open(Box::new(open), family, &[])
    }

    fn open(&mut self, mut open: Box<OpenNode>, family: Family, replies: &[Reply]) -> Result<Next<Self>> {
        use crate::node::Probed;
        match (open.go_on(replies), family) {
            (Ok(Probed::Asks(requests)), _) => {
                self.state = State::Open(open, family);
                Ok(Next::Ask(requests))
            }
            (Ok(Probed::Found(found)), _) => self.begin_walk(*found, family),
            (Ok(Probed::NotFound(_)), Family::SelfContained) => {
                self.begin_walk(open.implied(Dialect::BESIDE_ZARR_JSON), family)
            }
            (Ok(Probed::NotFound(_)), Family::Of(_)) => self.next_family(),
            (Err(error), _) => {
                self.walk.broken.push(error.at_path(&self.root.path));
                self.next_family()
            }
        }
    }

    fn begin_walk(&mut self, root: StoredNode, family: Family) -> Result<Next<Self>> {
        let mut walk = WalkJob::new(root, self.depth, true).stored_only(self.is_stored_only);
        if self.has_no_copy && family == Family::of(self.root.dialect) {
            walk = walk.without_copy();
        }
        if family == Family::SelfContained {
            walk = walk.mixed(self.skipped.clone());
        }
        self.go_on(Box::new(walk), &[])
    }

    fn go_on(&mut self, walk: Box<WalkJob>, replies: &[Reply]) -> Result<Next<Self>> {
        within(self, walk, replies, |job, walk| job.state = State::Walk(walk), Self::walked)
    }

    fn walked(&mut self, walk: Walk) -> Result<Next<Self>> {
        self.walk.broken.extend(walk.broken);
        self.walk.bad_copies.extend(walk.bad_copies);
        self.walk.listed.extend(walk.listed);
        self.walk.consolidated = self.walk.consolidated.take().or(walk.consolidated);
        for node in walk.nodes {
            self.merge(node);
        }
        self.next_family()
    }

    /// Takes one more node. A node with a document comes before an implicit group, and then the node that is opened.
    fn merge(&mut self, node: StoredNode) {
        let is_root = node.path == self.root.path;
        match self.nodes.entry(node.path.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(node)),
            Entry::Occupied(mut entry) => {
                let rank = |node: &StoredNode| (node.implicit, !node.dialect.has_documents_at_paths());
                let replaces = !is_root && rank(&node) < rank(entry.get());
                let other = if replaces { entry.insert(node) } else { node };
                let taken = entry.get_mut();
                if let Some(key) = other.own_documents().next().filter(|_| !other.implicit) {
                    taken.warnings.push(Warning::hidden(key, other.dialect, taken.dialect));
                }
            }
        }
    }

    fn finish(&mut self) -> Walk {
        let nodes = std::mem::take(&mut self.nodes).into_values();
        // Where the walk began without a document of the root, only to look for others.
        let mut walk = Walk { nodes: nodes.collect(), ..std::mem::take(&mut self.walk) };
        walk.broken.sort_by(|a, b| a.location().path.cmp(&b.location().path));
        walk
    }
}

impl Job for MixedWalkJob {
    type Output = Walk;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin => self.begin(),
            State::Copy(walk) => self.copy(walk, replies),
            State::Look => self.looked(replies),
            State::Open(open, family) => self.open(open, family, replies),
            State::Walk(walk) => self.go_on(walk, replies),
        }
    }
}
