//! Walk over the nodes below a group, level by level.

use super::Walk;
use super::only_consolidated::{only_in, with_values};
use crate::jobs::{Operation, get_document, get_whole_document, unfit};
use crate::node::{OpenNode, Probed, REPLACEMENTS, reread};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_drive::{Io, map};
use zarr_meta::consolidated::{self, FoundConsolidated};
use zarr_meta::{Consolidated, Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Fetched, Key, Listing, Prefix, Reply, Request};

/// Number of nodes of consolidated metadata that are parsed at a time.
const BLOCK: usize = 1 << 12;

/// Walk below a group, level by level: lists the groups of a level, then requests the documents that nodes there may have.
#[derive(Debug)]
pub struct WalkJob {
    dialect: Dialect,
    depth: Option<usize>,
    /// Depth of the whole walk; `depth` counts down.
    levels: Option<usize>,
    walk: Walk,
    /// Documents of the whole hierarchy.
    entry: Documents,
    /// Searches for possible nodes that are in progress, each with the number of replies that it waits for.
    probing: Vec<(OpenNode, usize)>,
    /// Groups of the next level.
    next: Vec<NodePath>,
    /// Prefixes without a document, which are groups if a node is found below them.
    maybe: Vec<NodePath>,
    /// Searches at prefixes that have a document of attributes only.
    attributed: BTreeMap<NodePath, OpenNode>,
    can_list: bool,
    /// Whether nodes of all self-contained dialects are searched, and not only nodes of `dialect`.
    is_mixed: bool,
    /// Whether the document of v3 is requested alone, and documents of older dialects only if it is missing.
    newest_first: bool,
    /// Paths that are not listed: documents and chunks of another hierarchy.
    skipped: Vec<NodePath>,
    /// Whether consolidated metadata is trusted, if there is any.
    trust_consolidated: bool,
    /// Whether it is known that the group has no consolidated metadata.
    is_not_consolidated: bool,
    /// Whether the walk ends with the group if there is no consolidated metadata.
    is_consolidated_only: bool,
    /// Whether nodes that only consolidated metadata has are left out.
    is_stored_only: bool,
}

/// Places at which the documents of a node are searched.
enum Where {
    /// The path of the node.
    Here,
    /// The path of the node and below it: the node may be an implicit group.
    Below,
    /// The listed keys, which are all keys that exist.
    Among(Arc<BTreeSet<Key>>),
}

impl WalkJob {
    /// Walks `depth` levels below `root`, or all levels if `None`. `can_list`: the store can list.
    #[must_use]
    pub fn new(root: StoredNode, depth: Option<usize>, can_list: bool) -> Self {
        let dialect = root.dialect;
        // Below an array there may be no node, but where documents lie apart from chunks it costs little to see some.
        let is_listed = root.node.as_group().is_some() || dialect.implies_groups();
        let next = if is_listed { vec![root.path.clone()] } else { Vec::new() };
        let entry = match zarr_meta::entry_point_key(dialect).and_then(|key| Some((key, root.documents.get(key)?))) {
            Some((key, bytes)) => [(key.to_owned(), bytes.to_vec())].into_iter().collect(),
            None => Documents::new(),
        };
        let walk = Walk { nodes: vec![root], ..Walk::default() };
        Self {
            dialect,
            depth,
            levels: depth,
            walk,
            entry,
            probing: Vec::new(),
            next,
            maybe: Vec::new(),
            attributed: BTreeMap::new(),
            can_list,
            is_mixed: false,
            newest_first: false,
            skipped: Vec::new(),
            trust_consolidated: false,
            is_not_consolidated: false,
            is_consolidated_only: false,
            is_stored_only: false,
        }
    }

    /// Trusts consolidated metadata of the group, if there is any.
    #[must_use]
    pub fn trusting(self) -> Self {
        Self { trust_consolidated: true, ..self }
    }

    /// Trusts consolidated metadata; without any, the walk has only the group.
    pub(crate) fn copy_only(self) -> Self {
        Self { is_consolidated_only: true, ..self.trusting() }
    }

    /// Skips reading consolidated metadata: it is known that there is none.
    pub(crate) fn without_copy(self) -> Self {
        Self { is_not_consolidated: true, ..self }
    }

    /// Sets whether nodes that only consolidated metadata has are left out. The group itself stays in any case.
    pub(crate) fn stored_only(self, is_stored_only: bool) -> Self {
        Self { is_stored_only, ..self }
    }

    /// Searches for nodes of all self-contained dialects, but not at and below the paths in `skipped`.
    pub(crate) fn mixed(self, skipped: Vec<NodePath>) -> Self {
        Self { is_mixed: true, skipped, ..self }
    }

    /// Sets whether the document of v3 is requested alone first: one request per node if most nodes are of v3.
    pub(crate) fn newest_first(self, newest_first: bool) -> Self {
        Self { newest_first: newest_first && matches!(self.dialect, Dialect::V3 | Dialect::V3Provisional2023), ..self }
    }

    /// Reads the consolidated metadata of the group. If it is trusted, or if the store cannot list, the nodes are taken from it; otherwise
    /// it is only checked for errors, since it may be stale. Returns whether the walk is complete.
    async fn look_at_copy(&mut self, io: &Io) -> Result<bool> {
        let Some(root) = self.walk.nodes.first().cloned() else { return Ok(true) };
        let key = consolidated::document_key(&root);
        let beside = match (&key, root.consolidated_beside()) {
            (_, Some(known)) => known,
            (Some(key), None) => match read_consolidated_copy(io, key).await? {
                Some(document) => Consolidated::parse_document(self.dialect, key, document.part(0)),
                None => Ok(None),
            },
            (None, None) => Ok(None),
        };
        let inside = root.node.as_group().and_then(|group| group.consolidated.clone());
        let locate = |error: zarr_meta::Error| {
            let key = key.clone();
            Error::from(error).at(|location| {
                location.path = Some(root.path.to_string());
                location.key = key;
            })
        };
        match beside.map(|beside| beside.or(inside)) {
            Err(error) => self.walk.bad_consolidated.push(locate(error)),
            Ok(None) => {}
            Ok(Some(consolidated)) => {
                if let Err(error) = consolidated.check() {
                    self.walk.bad_consolidated.push(locate(error));
                }
                let trusted = self.trust_consolidated || !self.can_list;
                if trusted {
                    self.walk_consolidated(&root, &consolidated);
                }
                self.walk.consolidated = Some(consolidated);
                if trusted {
                    return Ok(true);
                }
            }
        }
        Ok(self.is_consolidated_only)
    }

    /// Takes the nodes of the walk from consolidated metadata.
    fn walk_consolidated(&mut self, root: &StoredNode, consolidated: &Consolidated) {
        let below = |path: &NodePath| {
            let depth = path.names().count() - root.path.names().count();
            *path != root.path && self.depth.is_none_or(|most| depth <= most)
        };
        let nodes: Vec<_> = consolidated.nodes(&root.path).into_iter().filter(|(path, _)| below(path)).collect();
        if self.dialect.implies_groups() {
            let paths: BTreeSet<NodePath> = nodes.iter().map(|(path, _)| path.clone()).collect();
            let above = paths.iter().flat_map(NodePath::ancestors);
            let implicit =
                above.filter(|path| path.is_within(&root.path) && *path != root.path && !paths.contains(path));
            self.maybe.extend(implicit.collect::<BTreeSet<_>>());
        }
        let dialect = self.dialect;
        let parse = |(path, documents): (NodePath, Documents)| match reread(dialect, &path, &documents) {
            // An implicit group may have a document of attributes only.
            Err(error) if error.is_not_found() => {
                let implied = StoredNode::implied(dialect, path, &documents);
                let is_there = implied.own_documents().next().is_some();
                is_there.then_some(implied).ok_or(error)
            }
            read => read.map_err(|error| error.at_path(&path)),
        };
        self.walk.nodes.reserve(nodes.len());
        let mut nodes = nodes.into_iter();
        loop {
            // In blocks: the results are large, and are in memory twice while they are moved.
            let block: Vec<_> = nodes.by_ref().take(BLOCK).collect();
            if block.is_empty() {
                return;
            }
            for read in map(block, parse) {
                match read {
                    Ok(found) => self.walk.nodes.push(found),
                    Err(error) => self.walk.broken.push(error),
                }
            }
        }
    }

    /// Lists one level after another, and opens the nodes at the listed paths.
    async fn walk_levels(&mut self, io: &Io) -> Result<()> {
        while !self.next.is_empty() && self.depth.is_none_or(|depth| depth > 0) {
            let prefix = |path: &NodePath| Ok(Prefix::new(&zarr_meta::listing_prefix(self.dialect, path))?);
            let prefixes = self.next.iter().map(prefix).collect::<Result<_>>()?;
            // If documents are stored apart from chunks, one listing shows all nodes. For a few levels only it could show too much.
            if self.depth.is_none() && self.dialect.implies_groups() {
                let listed = io.list_all(prefixes).await?.into_iter().flatten().collect();
                let requests = self.probe_all(listed);
                return self.open(io, requests).await;
            }
            self.depth = self.depth.map(|depth| depth - 1);
            let groups = std::mem::take(&mut self.next);
            let requests = self.probe(groups, io.list(prefixes).await?);
            self.open(io, requests).await?;
        }
        self.settle(io).await
    }

    /// Continues the searches that are in progress until none needs further requests.
    async fn open(&mut self, io: &Io, mut requests: Vec<Request>) -> Result<()> {
        while !requests.is_empty() {
            let replies = io.ask(std::mem::take(&mut requests)).await;
            let mut rest = replies.as_slice();
            let mut answered = Vec::new();
            for (open, count) in std::mem::take(&mut self.probing) {
                let (mine, others) = rest.split_at_checked(count).ok_or_else(unfit)?;
                rest = others;
                answered.push((open, mine));
            }
            let parse = |(mut open, mine): (OpenNode, &[Reply])| {
                let probed = open.go_on(mine);
                (open, probed)
            };
            let parsed = map(answered, parse);
            self.walk.nodes.reserve(parsed.len());
            for (open, probed) in parsed {
                self.probed(open, probed, &mut requests);
            }
        }
        Ok(())
    }

    /// Starts a search at each path of the listings that may be a node, and returns the requests.
    fn probe(&mut self, groups: Vec<NodePath>, listings: Vec<Listing>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (path, listing) in groups.into_iter().zip(listings) {
            let keys: Vec<&str> = listing.keys.iter().map(Key::as_str).collect();
            let prefixes: Vec<&str> = listing.prefixes.iter().map(Prefix::as_str).collect();
            let mut children = zarr_meta::children(self.dialect, &path, &keys, &prefixes, &self.entry);
            let is_there = |path: &NodePath| path.name() != Some(REPLACEMENTS);
            children.candidates.retain(|path| is_there(path) && !self.skipped.contains(path));
            children.maybe_implicit.retain(is_there);
            self.maybe.extend(children.maybe_implicit.iter().cloned());
            self.next.extend(children.maybe_implicit);
            self.begin(children.candidates, &Where::Here, &mut requests);
            self.walk.listed.insert(zarr_meta::listing_prefix(self.dialect, &path), listing);
        }
        requests
    }

    /// Starts searches at `paths`, and appends their requests to `requests`.
    fn begin(&mut self, paths: Vec<NodePath>, at: &Where, requests: &mut Vec<Request>) {
        for path in paths {
            let dialect = Some(self.dialect).filter(|_| !self.is_mixed);
            let mut open = OpenNode::new(path, dialect, matches!(at, Where::Below)).knowing(&self.entry);
            if self.is_mixed {
                open = open.self_contained_only().newest_first(self.newest_first);
            }
            if let Where::Among(listed) = at {
                open = open.among(listed);
            }
            let probed = open.go_on(&[]);
            self.probed(open, probed, requests);
        }
    }

    /// Starts searches for all nodes whose documents are in `listed`, and returns the requests. Groups above these nodes exist implicitly.
    fn probe_all(&mut self, listed: BTreeSet<Key>) -> Vec<Request> {
        let Some(root) = self.walk.nodes.first().map(|root| root.path.clone()) else { return Vec::new() };
        let path = |key: &Key| zarr_meta::document_path(self.dialect, key.as_str(), &self.entry);
        let below = |path: &NodePath| path.is_within(&root) && *path != root;
        let paths: BTreeSet<NodePath> = listed.iter().filter_map(path).filter(below).collect();
        let above = paths.iter().flat_map(NodePath::ancestors).filter(|path| path.is_within(&root) && *path != root);
        let implicit: BTreeSet<_> = above.filter(|path| !paths.contains(path)).collect();
        self.maybe.extend(implicit);
        let mut requests = Vec::new();
        self.begin(paths.into_iter().collect(), &Where::Among(Arc::new(listed)), &mut requests);
        requests
    }

    /// Searches below prefixes that were not listed for a node that makes them implicit groups.
    async fn settle(&mut self, io: &Io) -> Result<()> {
        let open: BTreeSet<_> = std::mem::take(&mut self.next).into_iter().collect();
        let unknown: Vec<_> = self.maybe.iter().filter(|path| open.contains(path)).cloned().collect();
        if !self.can_list || !self.dialect.implies_groups() || unknown.is_empty() {
            return Ok(());
        }
        self.maybe.retain(|path| !open.contains(path));
        let mut requests = Vec::new();
        self.begin(unknown, &Where::Below, &mut requests);
        self.open(io, requests).await
    }

    /// Searches for nodes that only the consolidated metadata of the group has.
    async fn look_for_copied(&mut self, io: &Io) -> Result<()> {
        let (Some(consolidated), Some(root)) = (self.walk.consolidated.clone(), self.walk.nodes.first()) else {
            return Ok(());
        };
        // A group without a document of its own is known from its consolidated metadata only.
        let has_document = !root.implicit && !root.documents.are_consolidated();
        if has_document && self.is_stored_only {
            return Ok(());
        }
        let (dialect, group) = (root.dialect, root.path.clone());
        let copy = FoundConsolidated::new(dialect, group.clone(), has_document, consolidated);
        let only = only_in(&[copy], &self.walk, &group, self.levels).into_iter().map(|(node, _)| node).collect();
        let there = if has_document { with_values(io, only).await? } else { only };
        self.take_copied(there);
        Ok(())
    }

    fn take_copied(&mut self, nodes: impl IntoIterator<Item = StoredNode>) {
        for node in nodes {
            let root = self.walk.nodes.first().map(|root| root.path.clone()).unwrap_or_else(NodePath::root);
            let above = node.path.ancestors().filter(|path| path.is_within(&root) && *path != root);
            let new: Vec<NodePath> = above
                .filter(|path| !self.maybe.contains(path) && !self.walk.nodes.iter().any(|it| it.path == *path))
                .collect();
            self.maybe.extend(new);
            self.maybe.retain(|path| *path != node.path);
            self.walk.nodes.push(node);
        }
    }

    fn probed(&mut self, open: OpenNode, probed: Result<Probed>, requests: &mut Vec<Request>) {
        match probed {
            Ok(Probed::Asks(asks)) => {
                self.probing.push((open, asks.len()));
                requests.extend(asks);
            }
            Ok(Probed::Found(found)) => {
                if let Node::Group(group) = &found.node {
                    self.next.push(found.path.clone());
                    // Names that lead out of the hierarchy were not written by mistake.
                    if let Some(Err(error)) = group.consolidated.as_ref().map(Consolidated::check) {
                        self.walk.bad_consolidated.push(Error::from(error).at_path(&found.path));
                    }
                }
                self.walk.nodes.push(*found);
            }
            Ok(Probed::NotFound(_)) => {
                let path = open.path().clone();
                self.maybe.push(path.clone());
                self.next.push(path.clone());
                // The document of attributes alone.
                if open.implied(self.dialect).own_documents().next().is_some() {
                    self.attributed.insert(path, open);
                }
            }
            Err(error) => {
                let path = open.path().to_string();
                self.walk.broken.push(error.at(|location| location.path = Some(path)));
            }
        }
    }

    fn finish(&mut self) -> Walk {
        let mut walk = std::mem::take(&mut self.walk);
        walk.nodes.sort_by(|a, b| a.path.cmp(&b.path));
        let groups: Vec<(NodePath, Dialect)> = std::mem::take(&mut self.maybe)
            .into_iter()
            .filter_map(|path| {
                // Sorted by path, all nodes below it stand together.
                let prefix = path.key_prefix();
                let below = walk.nodes.partition_point(|node| *node.path.as_relative() < *prefix);
                let first = walk.nodes.get(below).filter(|node| node.path.is_within(&path))?;
                Some((path, first.dialect))
            })
            .collect();
        let implied = |(path, dialect)| match self.attributed.get(&path) {
            Some(open) => open.implied(dialect),
            None => {
                let mut found = StoredNode::implicit(dialect, path);
                found.documents = self.entry.clone();
                found
            }
        };
        walk.nodes.extend(groups.into_iter().map(implied));
        walk.nodes.sort_by(|a, b| a.path.cmp(&b.path));
        walk
    }
}

/// Reads the document of consolidated metadata at `key`, which is stored beside the documents of a group.
async fn read_consolidated_copy(io: &Io, key: &str) -> Result<Option<Fetched>> {
    let document = io.get(vec![get_document(Key::new(key)?)]).await?.pop().flatten();
    match document {
        Some(document) if consolidated::is_cut_off(key, document.part(0)) => {
            Ok(io.get(vec![get_whole_document(Key::new(key)?)]).await?.pop().flatten())
        }
        document => Ok(document),
    }
}

impl Operation for WalkJob {
    type Output = Walk;

    async fn run(mut self, io: &Io) -> Result<Walk> {
        if self.is_not_consolidated || !self.look_at_copy(io).await? {
            self.walk_levels(io).await?;
            self.look_for_copied(io).await?;
        }
        Ok(self.finish())
    }
}
