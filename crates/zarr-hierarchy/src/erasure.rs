//! Erasing nodes.

use crate::hierarchy::of_node;
use crate::node::{EraseNode, ListNode};
use crate::{Error, IntoFlow, Result};
use std::fmt;
use std::ops::ControlFlow;
use zarr_meta::StoredNode;
use zarr_store::{AsyncStore, Capabilities, Job, Next, Reply, Store, run, run_async};

/// Erases a node with all that lies below it, as [`Erasure`] does.
///
/// # Errors
/// As [`Erasure::erase`].
pub fn erase_node(store: &dyn Store, node: &StoredNode) -> Result<()> {
    Erasure::of(node).erase(store)
}

/// As [`erase_node`], on a store that does not block.
///
/// # Errors
/// As [`erase_node`].
pub async fn erase_node_async(store: &dyn AsyncStore, node: &StoredNode) -> Result<()> {
    Erasure::of(node).erase_async(store).await
}

/// An event of a running erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseProgress {
    /// The keys of the node are known, and none of them is erased yet: so many keys, where keys that vanish with a
    /// prefix at once count as one.
    Begin(u64),
    /// So many of them are gone. Of many there is a report for each 512 or less.
    Done(u64),
}

/// A node that is to be erased with all that lies below it, be it of no node. Of the root only the keys of nodes are
/// erased, since anything may lie beside them. Consolidated metadata of groups above, which becomes stale, is dropped
/// before.
///
/// Documents go first, from the nodes below up to the node's own, then chunks. So an erase that is interrupted or
/// cancelled leaves a hierarchy that can be read: no array reads fill values for erased chunks. As long as the
/// node has a document, it can be erased again; chunks without one are erased when an array is created there. Where a
/// store can make all keys under a prefix vanish at once (a directory), it does that.
///
/// In the drafts of version 3 implicit groups above that had no other node below them are gone with it, as those drafts say.
///
/// ```
/// use std::ops::ControlFlow;
/// use zarr_hierarchy::{EraseProgress, Erasure, ErrorKind, node_exists, open_node};
/// use zarr_store::{Key, MemoryStore, StoreExt};
///
/// let store = MemoryStore::new();
/// let group = br#"{"zarr_format": 3, "node_type": "group"}"#;
/// for key in ["zarr.json", "a/zarr.json", "a/b/zarr.json"] {
///     store.set_all(&Key::new(key)?, group)?;
/// }
/// let node = open_node(&store, "/a", None)?;
/// // Cancelled before anything is erased.
/// let ask = |progress| match progress {
///     EraseProgress::Begin(_) => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// let error = Erasure::of(&node).progress(ask).erase(&store).expect_err("cancelled");
/// assert!(error.kind() == ErrorKind::Cancelled && node_exists(&store, "/a/b", None)?);
///
/// Erasure::of(&node).progress(|progress| println!("{progress:?}")).erase(&store)?;
/// assert!(!node_exists(&store, "/a", None)?);
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[must_use = "nothing is erased until `erase` or `erase_async`"]
pub struct Erasure<'p> {
    node: &'p StoredNode,
    report: Option<Box<Report<'p>>>,
}

type Report<'p> = dyn Fn(EraseProgress) -> ControlFlow<()> + Send + Sync + 'p;

impl fmt::Debug for Erasure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erasure").field("path", &self.node.path).finish_non_exhaustive()
    }
}

impl<'p> Erasure<'p> {
    /// Of a node as it was found.
    pub fn of(node: &'p StoredNode) -> Self {
        Self { node, report: None }
    }

    /// Calls a function with the progress, which may cancel: see [`IntoFlow`].
    pub fn progress<F: IntoFlow>(mut self, progress: impl Fn(EraseProgress) -> F + Send + Sync + 'p) -> Self {
        self.report = Some(Box::new(move |event| progress(event).into_flow()));
        self
    }

    /// Erases the node. In a hierarchy of NCZarr it is taken out of the lists of its group first, before any progress is reported.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store); [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if `progress` cancels before
    /// all is erased. Keys erased until then are gone.
    pub fn erase(&self, store: &dyn Store) -> Result<()> {
        let in_node = |error| of_node(store, self.node, error);
        run(store, self.unlist(store.capabilities())).map_err(in_node)?;
        run(store, self.job(store.capabilities())).map_err(in_node)
    }

    /// Erases the node, on a store that does not block.
    ///
    /// # Errors
    /// As [`erase`](Self::erase).
    pub async fn erase_async(&self, store: &dyn AsyncStore) -> Result<()> {
        let in_node = |error| of_node(store, self.node, error);
        run_async(store, self.unlist(store.capabilities())).await.map_err(in_node)?;
        run_async(store, self.job(store.capabilities())).await.map_err(in_node)
    }

    /// Takes the node out of the lists of NCZarr.
    fn unlist(&self, capabilities: Capabilities) -> ListNode {
        ListNode::new(self.node.path.clone(), self.node.node.as_array().is_some(), false, capabilities)
    }

    fn job(&self, capabilities: Capabilities) -> Reported<'_> {
        let erase = EraseNode::new(self.node.clone(), capabilities);
        Reported { erase, report: self.report.as_deref(), has_begun: false }
    }
}

/// Erases a node, and reports it.
struct Reported<'p> {
    erase: EraseNode,
    report: Option<&'p Report<'p>>,
    has_begun: bool,
}

impl Reported<'_> {
    fn report(&self, progress: EraseProgress) -> ControlFlow<()> {
        self.report.map_or(ControlFlow::Continue(()), |report| report(progress))
    }
}

impl Job for Reported<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let erased = replies.iter().filter(|reply| matches!(reply, Reply::Erased)).count() as u64;
        let mut flow = match self.has_begun && erased > 0 {
            true => self.report(EraseProgress::Done(erased)),
            false => ControlFlow::Continue(()),
        };
        let next = match self.erase.step(replies)? {
            Next::Ask(requests) | Next::FetchInto(requests) => Next::Ask(requests),
            // There is nothing left to be cancelled.
            Next::Done(()) => return Ok(Next::Done(())),
            Next::Fork(_) => return Err(Error::internal("a job that erases a node forked")),
        };
        if let Some(keys) = self.erase.keys().filter(|_| !self.has_begun) {
            self.has_begun = true;
            flow = self.report(EraseProgress::Begin(keys));
        }
        flow.into_result().map(|()| next)
    }
}
