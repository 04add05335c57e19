//! Erasing of nodes with all keys below them.

use crate::hierarchy::of_node;
use crate::jobs::Operation;
use crate::node::{EraseNode, Knowing, Known, ListNode};
use crate::{EraseProgress, Error, IntoFlow, Result};
use std::fmt;
use std::ops::ControlFlow;
use zarr_drive::{Script, run, run_async};
use zarr_meta::StoredNode;
use zarr_store::{AccessProfile, AsyncStore, Capabilities, Store};

/// Erases a node with all keys below its path; see [`Erasure`].
///
/// # Errors
/// The errors of [`Erasure::erase`].
pub fn erase_node(store: &dyn Store, node: &StoredNode) -> Result<()> {
    Erasure::of(node).erase(store)
}

/// Async form of [`erase_node`]: erases a node with all keys below its path.
///
/// # Errors
/// The errors of [`erase_node`].
pub async fn erase_node_async(store: &dyn AsyncStore, node: &StoredNode) -> Result<()> {
    Erasure::of(node).erase_async(store).await
}

/// Erasure of a node with all keys below its path, including keys that belong to no node. At the root only keys of nodes are erased, since
/// a store may have other files there. Consolidated metadata of the groups above the node, which becomes stale, is dropped first.
///
/// Documents are erased first, those of nodes below before those of the node, then chunks. So an interrupted or
/// cancelled erasure leaves a readable hierarchy: no array reads fill values for erased chunks. While the
/// node has a document, it can be erased again; chunks without a document are erased when an array is created there. A store that can
/// erase all keys under a prefix at once (a directory) does so.
///
/// In the drafts of version 3, implicit groups above that had no other node below them disappear with the node.
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
    /// Returns the erasure of `node`.
    pub fn of(node: &'p StoredNode) -> Self {
        Self { node, report: None }
    }

    /// Sets a function that is called with the progress and that may cancel the erasure: see [`IntoFlow`].
    pub fn progress<F: IntoFlow>(mut self, progress: impl Fn(EraseProgress) -> F + Send + Sync + 'p) -> Self {
        self.report = Some(Box::new(move |event| progress(event).into_flow()));
        self
    }

    /// Erases the node. In a hierarchy of NCZarr, the node is first removed from the lists of its group, before any progress is reported.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store); [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if `progress` cancels before
    /// all keys are erased. Keys that were erased before stay erased.
    pub fn erase(&self, store: &dyn Store) -> Result<()> {
        let job = self.job(store.capabilities(), &store.access_profile());
        run(store, job).map_err(|error| of_node(store, self.node, error))
    }

    /// Async form of [`erase`](Self::erase): erases the node.
    ///
    /// # Errors
    /// The errors of [`erase`](Self::erase).
    pub async fn erase_async(&self, store: &dyn AsyncStore) -> Result<()> {
        let job = self.job(store.capabilities(), &store.access_profile());
        run_async(store, job).await.map_err(|error| of_node(store, self.node, error))
    }

    /// Job that removes the node from the lists of NCZarr and erases it. Both parts read the groups above the node; in a remote store with
    /// conditional sets the groups are requested only once.
    fn job(&self, capabilities: Capabilities, profile: &AccessProfile) -> Script<'_, (), Error> {
        let is_array = self.node.node.as_array().is_some();
        let unlist = ListNode::new(self.node.path.clone(), is_array, false, capabilities).on_store(profile);
        let erase = EraseNode::new(self.node.clone(), capabilities);
        let report = |event| self.report.as_deref().map_or(ControlFlow::Continue(()), |report| report(event));
        let look = Script::new(|io| async move {
            unlist.run(&io).await?;
            erase.look_around(&io).await
        });
        let known = if capabilities.conditional { Known::of(profile) } else { Known::default() };
        let knowing = Knowing::new(look, known);
        Script::new(|io| async move {
            let (erase, _) = knowing.run(&io).await?;
            erase.report(&io, report).await
        })
    }
}

#[cfg(test)]
mod tests;
