//! Walks over the nodes of every dialect in one store.

use super::{Walk, WalkJob};
use crate::jobs::{Operation, get_document};
use crate::node::OpenNode;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use zarr_drive::Io;
use zarr_meta::{DETECTION_KEYS, Dialect, Documents, NodePath, StoredNode, Warning, consolidated};
use zarr_store::{AccessProfile, Key, StoreKind};

/// Walk from a node over all dialects that the store holds.
///
/// Nodes of the self-contained dialects (v3, v2) are found by one walk, since their documents are at their paths; nodes
/// of each other dialect by a separate walk. If several nodes share a path, the result has the node that
/// [`open_node`](crate::open_node) finds.
///
/// If consolidated metadata is trusted, and the group has any, the nodes are those of the consolidated metadata, of one dialect.
#[derive(Debug)]
pub(crate) struct MixedWalkJob {
    root: StoredNode,
    depth: Option<usize>,
    is_stored_only: bool,
    /// Whether consolidated metadata of the root of the walk is trusted, if there is any.
    trusts_consolidated: bool,
    /// Whether the store is remote, so that each request takes long.
    is_remote: bool,
    /// Whether it is known that the root of the walk has no consolidated metadata.
    is_not_consolidated: bool,
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
    /// Walks `depth` levels below `root`, or all levels if `None`. The store must be able to list.
    pub(crate) fn new(root: StoredNode, depth: Option<usize>) -> Self {
        Self {
            root,
            depth,
            is_stored_only: false,
            trusts_consolidated: false,
            is_remote: false,
            is_not_consolidated: false,
            skipped: Vec::new(),
            walk: Walk::default(),
            nodes: BTreeMap::new(),
        }
    }

    /// Sets whether nodes that only consolidated metadata has are left out.
    pub(crate) fn stored_only(self, is_stored_only: bool) -> Self {
        Self { is_stored_only, ..self }
    }

    /// Sets whether consolidated metadata of the root of the walk is trusted, if there is any.
    pub(crate) fn trusting(self, trusts_consolidated: bool) -> Self {
        Self { trusts_consolidated, ..self }
    }

    /// Sets the kind of store. In a remote store, documents of older dialects are requested only if the document of v3 is missing: a node
    /// of v2 at the path of a node of v3 is not found.
    pub(crate) fn on_store(self, profile: &AccessProfile) -> Self {
        Self { is_remote: profile.kind == StoreKind::Remote, ..self }
    }

    /// Returns the families of dialects to walk, which follow from the documents that identify dialects.
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
        // Documents and chunks of these dialects are no nodes.
        if has_absent || families.iter().any(|family| *family != Family::SelfContained) {
            self.skipped = ["meta", "data"].map(|name| NodePath::root().join(name)).into_iter().flatten().collect();
        }
        if !families.contains(&Family::SelfContained) {
            families.push(Family::SelfContained);
        }
        Ok(families)
    }

    /// Opens the group from which the nodes of `family` are walked; `None` if there is none.
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
        if self.is_not_consolidated && family == Family::of(self.root.dialect) {
            walk = walk.without_copy();
        }
        match family {
            Family::SelfContained => walk.mixed(self.skipped.clone()).newest_first(self.is_remote),
            Family::Of(_) => walk,
        }
    }

    fn add(&mut self, walk: Walk) {
        self.walk.broken.extend(walk.broken);
        self.walk.bad_consolidated.extend(walk.bad_consolidated);
        self.walk.listed.extend(walk.listed);
        self.walk.consolidated = self.walk.consolidated.take().or(walk.consolidated);
        for node in walk.nodes {
            self.merge(node);
        }
    }

    /// Adds a node. At the same path, a node with a document takes precedence over an implicit group, and then the node that opening finds
    /// takes precedence.
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
        // The walk may have begun without a document of the root, to search other dialects.
        let mut walk = Walk { nodes: self.nodes.into_values().collect(), ..self.walk };
        walk.broken.sort_by(|a, b| a.location().path.cmp(&b.location().path));
        walk
    }
}

impl Operation for MixedWalkJob {
    type Output = Walk;

    async fn run(mut self, io: &Io) -> Result<Walk> {
        if self.trusts_consolidated {
            let walk = WalkJob::new(self.root.clone(), self.depth, true).copy_only().run(io).await?;
            if walk.consolidated.is_some() {
                return Ok(walk);
            }
            self.walk.bad_consolidated = walk.bad_consolidated;
            self.is_not_consolidated = true;
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
