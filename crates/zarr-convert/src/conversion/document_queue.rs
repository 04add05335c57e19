//! Queue of nodes whose chunks are written and whose documents are created in batches.

use super::destination::{KeyedDocuments, NodeDocuments, created_meanwhile};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_hierarchy::Result;
use zarr_store::{Durability, Key, Store, StoreExt};

/// Nodes whose chunks are written, and whose documents wait until the chunks are on the disk.
pub(super) struct DocumentQueue<'t> {
    target: &'t Arc<dyn Store>,
    /// Fails if this run no longer owns the journal: another run has taken over, or the target was erased.
    check_own: &'t dyn Fn() -> Result<()>,
    waiting: Vec<NodeDocuments>,
    since: Instant,
}

/// Shortest time between two batches of documents. Documents are created in batches, since each batch waits for the disk; the last batch is
/// created at the end.
const PAUSE: Duration = Duration::from_secs(1);

impl<'t> DocumentQueue<'t> {
    pub(super) fn new(target: &'t Arc<dyn Store>, check_own: &'t dyn Fn() -> Result<()>) -> Self {
        Self { target, check_own, waiting: Vec::new(), since: Instant::now() }
    }

    /// Adds the documents of a node, and creates all waiting nodes if the last batch is at least [`PAUSE`] old.
    pub(super) fn add(&mut self, documents: NodeDocuments) -> Result<()> {
        self.waiting.push(documents);
        if !self.target.capabilities().durable || self.since.elapsed() >= PAUSE { self.create() } else { Ok(()) }
    }

    /// Creates all waiting nodes.
    pub(super) fn create(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        if waiting.len() > 1 && self.target.capabilities().conditional {
            self.create_together(waiting)?;
        } else {
            self.order()?;
            waiting.into_iter().try_for_each(|documents| documents.create(self.target))?;
        }
        self.since = Instant::now();
        Ok(())
    }

    /// Waits until all values written so far are on the disk, and checks that this run still owns the journal.
    fn order(&self) -> Result<()> {
        self.target.barrier()?;
        (self.check_own)()
    }

    /// Creates the nodes in order, with few waits for the disk: one wait for the chunks and for the documents before the deciding
    /// documents, and the waits of [`create_many`](zarr_store::StoreExt::create_many).
    fn create_together(&self, waiting: Vec<NodeDocuments>) -> Result<()> {
        let nodes = waiting.iter().map(NodeDocuments::apart).collect::<Result<Vec<_>>>()?;
        // The document that is for the whole hierarchy makes its root, which is created before the others that have it.
        let alone = waiting.iter().zip(&nodes).filter(|(_, node)| node.is_none());
        let alone = alone.flat_map(|(documents, _)| documents.changes().map(|(key, _)| key));
        let deciding = nodes.iter().flatten().map(|node| node.deciding.0.as_str());
        let not_before: BTreeSet<&str> = deciding.chain(alone).collect();
        let before: BTreeMap<&Key, &[u8]> =
            nodes.iter().flatten().flat_map(|node| &node.before).map(|(key, value)| (key, value.as_slice())).collect();
        let before: Vec<(&Key, &[u8])> =
            before.into_iter().filter(|(key, _)| !not_before.contains(key.as_str())).collect();
        if !before.is_empty() {
            (self.check_own)()?;
            for node in nodes.iter().flatten().filter(|node| !node.before.is_empty()) {
                node.check_free(self.target)?;
            }
            self.target.set_many(&before)?;
        }
        self.order()?;
        let mut together = Vec::new();
        for (documents, node) in waiting.into_iter().zip(nodes) {
            match node {
                Some(node) => together.push(node),
                None => {
                    self.decide(&std::mem::take(&mut together))?;
                    documents.create(self.target)?;
                }
            }
        }
        self.decide(&together)
    }

    /// Writes the documents that make the nodes visible.
    fn decide(&self, nodes: &[KeyedDocuments]) -> Result<()> {
        let documents: Vec<(&Key, &[u8])> =
            nodes.iter().map(|node| (&node.deciding.0, node.deciding.1.as_slice())).collect();
        self.target.create_many(&documents, Durability::File).map_err(|error| match &error {
            zarr_store::Error::Precondition { key, .. } => {
                let node = nodes.iter().find(|node| node.deciding.0 == *key);
                node.map_or_else(|| error.into(), |node| created_meanwhile(&node.path))
            }
            _ => error.into(),
        })
    }
}
