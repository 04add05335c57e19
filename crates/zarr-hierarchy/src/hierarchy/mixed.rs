//! The nodes of every dialect in one store.

use super::{Walk, WalkJob};
use crate::jobs::{Operation, get_document};
use crate::node::OpenNode;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use zarr_drive::Io;
use zarr_meta::{DETECTION_KEYS, Dialect, Documents, NodePath, StoredNode, Warning, consolidated};
use zarr_store::{AccessProfile, Key, StoreKind};

/// Walks down from a node in every dialect that the store holds.
///
/// Nodes of the self-contained dialects (v3, v2) are found by one walk, since their documents lie at their paths; nodes
/// of each other dialect by a walk of its own. Of several nodes at one path the node that
/// [`open_node`](crate::open_node) finds is kept.
///
/// If consolidated metadata is to be trusted, and the group has some, the nodes are those that it has: of one dialect.
#[derive(Debug)]
pub(crate) struct MixedWalkJob {
    root: StoredNode,
    depth: Option<usize>,
    is_stored_only: bool,
    /// Whether consolidated metadata of the root is believed, where there is some.
    trusts_copy: bool,
    /// Whether the store takes long for each request.
    is_remote: bool,
    /// Whether it is known that the root has none.
    has_no_copy: bool,
    skipped: Vec<NodePath>,
    walk: Walk,
    nodes: BTreeMap<NodePath, StoredNode>,
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
            is_remote: false,
            has_no_copy: false,
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

    /// Asks for no document of an older dialect where there is one of v3, and each request takes long: a node of v2 at the path of
    /// one of v3 is not seen there.
    pub(crate) fn on_store(self, profile: &AccessProfile) -> Self {
        Self { is_remote: profile.kind == StoreKind::Remote, ..self }
    }

    /// The dialects by which the store is to be walked, from the documents by which dialects are detected.
    async fn families(&mut self, io: &Io) -> Result<Vec<Family>> {
        let keys = DETECTION_KEYS.into_iter().map(|key| Ok(get_document(Key::new(key)?)));
        let fetched = io.get(keys.collect::<Result<_>>()?).await?;
        let mut documents = Documents::new();
        for (key, fetched) in DETECTION_KEYS.into_iter().zip(fetched) {
            // Only groups of v3 have consolidated metadata in their document.
            if let Some(fetched) = fetched.filter(|fetched| !consolidated::is_cut_off(key, fetched.part(0))) {
                documents.insert(key, fetched.part(0));
            }
        }
        let own = Family::of(self.root.dialect);
        let mut families = vec![own];
        let mut has_absent = false;
        for detected in zarr_meta::detected_dialects(&documents) {
            match detected {
                // Dialects of one array have nothing below the root.
                Ok((_, dialect)) if dialect.holds_one_array() && !self.root.path.is_root() => {}
                Ok((_, dialect)) if families.contains(&Family::of(dialect)) => {}
                Ok((_, dialect)) => families.push(Family::of(dialect)),
                Err(error) if error.is_absent_dialect() && !self.root.path.is_root() => has_absent = true,
                Err(error) => {
                    has_absent |= error.is_absent_dialect();
                    self.walk.broken.push(Error::from(error).at_path(&NodePath::root()));
                }
            }
        }
        // Their documents and chunks are no nodes.
        if has_absent || families.iter().any(|family| *family != Family::SelfContained) {
            self.skipped = ["meta", "data"].map(|name| NodePath::root().join(name)).into_iter().flatten().collect();
        }
        if !families.contains(&Family::SelfContained) {
            families.push(Family::SelfContained);
        }
        Ok(families)
    }

    /// The group by which the nodes of a family are walked; `None` if there is none.
    async fn open(&mut self, io: &Io, family: Family) -> Option<StoredNode> {
        let path = self.root.path.clone();
        let mut open = match family {
            _ if family == Family::of(self.root.dialect) => return Some(self.root.clone()),
            Family::Of(dialect) => OpenNode::new(path, Some(dialect), true),
            // The document of the root is of another dialect.
            Family::SelfContained if path.is_root() => {
                OpenNode::new(path, Some(Dialect::BESIDE_ZARR_JSON), false).self_contained_only()
            }
            Family::SelfContained => OpenNode::new(path, None, false).self_contained_only(),
        };
        match open.find(io).await {
            Ok(None) if family == Family::SelfContained => Some(open.implied(Dialect::BESIDE_ZARR_JSON)),
            Ok(found) => found,
            Err(error) => {
                self.walk.broken.push(error.at_path(&self.root.path));
                None
            }
        }
    }

    fn walk_of(&self, root: StoredNode, family: Family) -> WalkJob {
        let mut walk = WalkJob::new(root, self.depth, true).stored_only(self.is_stored_only);
        if self.has_no_copy && family == Family::of(self.root.dialect) {
            walk = walk.without_copy();
        }
        match family {
            Family::SelfContained => walk.mixed(self.skipped.clone()).newest_first(self.is_remote),
            Family::Of(_) => walk,
        }
    }

    fn add(&mut self, walk: Walk) {
        self.walk.broken.extend(walk.broken);
        self.walk.bad_copies.extend(walk.bad_copies);
        self.walk.listed.extend(walk.listed);
        self.walk.consolidated = self.walk.consolidated.take().or(walk.consolidated);
        for node in walk.nodes {
            self.merge(node);
        }
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

    fn finish(self) -> Walk {
        // Where the walk began without a document of the root, only to look for others.
        let mut walk = Walk { nodes: self.nodes.into_values().collect(), ..self.walk };
        walk.broken.sort_by(|a, b| a.location().path.cmp(&b.location().path));
        walk
    }
}

impl Operation for MixedWalkJob {
    type Output = Walk;

    async fn run(mut self, io: &Io) -> Result<Walk> {
        if self.trusts_copy {
            let walk = WalkJob::new(self.root.clone(), self.depth, true).copy_only().run(io).await?;
            if walk.consolidated.is_some() {
                return Ok(walk);
            }
            self.walk.bad_copies = walk.bad_copies;
            self.has_no_copy = true;
        }
        for family in self.families(io).await? {
            if let Some(root) = self.open(io, family).await {
                let walk = self.walk_of(root, family).run(io).await?;
                self.add(walk);
            }
        }
        Ok(self.finish())
    }
}
