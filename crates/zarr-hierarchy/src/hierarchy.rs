//! Operations on nodes of any kind, found by their paths: open, walk, change attributes.

mod changes;
mod mixed;
mod only_consolidated;
mod other_keys;
mod walk;
mod walk_consolidated;
mod walked;

pub use changes::{
    check_dimension_names, set_attributes, set_attributes_async, set_dimension_names, set_dimension_names_async,
};
pub(crate) use only_consolidated::prefix_below;
pub(crate) use other_keys::document_names;
pub use other_keys::{OtherKey, have_equal_bytes, is_temporary, other_keys, other_keys_async};
pub use walk::WalkJob;
pub use walk_consolidated::CopiedAbove;
pub use walked::Walk;

use mixed::MixedWalkJob;
use walk_consolidated::open_consolidated;

use crate::jobs::Operation;
use crate::node::{OpenNode, parse_path};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_drive::{Io, Script, run, run_async, run_free};
use zarr_meta::{Copies, Dialect, NodePath, StoredNode};
use zarr_store::{AccessProfile, AsyncStore, Capabilities, Store, StoreKind};

/// Finds the node at `path` (`/a/b`), in any dialect, or only in `dialect` if it is given.
///
/// A node whose own document is missing, and that consolidated metadata of a group has, is read from the consolidated metadata, with a
/// warning. If the store can list, and that group has a document of its own, values must be stored at or below the path: otherwise the
/// node was erased.
///
/// Opening a group never compares its consolidated metadata with the nodes below it: [`staleness`](crate::staleness) does.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) with the keys that were tried; the kinds of faults of its
/// metadata; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn open_node(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on(store, |io, facts| open(io, facts, path, dialect, None))
}

/// Finds the node at `path` if its own documents are stored: consolidated metadata is not searched.
///
/// # Errors
/// The errors of [`open_node`].
pub fn open_stored_node(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    let find = |io: Io, facts: Facts| async move { facts.open(parse_path(path)?, dialect).run(&io).await };
    on(store, find)
}

/// Finds the node at `path`, where a group is expected whose nodes may all be wanted. In a remote store the consolidated metadata of the
/// group is requested together with its documents, and a later walk takes it from the returned node. A group of v3 then costs one request,
/// a group of v2 four requests in two rounds, with or without consolidated metadata.
///
/// If the path has documents of an array and of a group, which no software writes, this function finds the group in a remote store, and
/// [`open_node`] the array.
///
/// `copies` says whether the metadata of the group itself may be taken from its consolidated metadata if `dialect` is given: one request.
/// Consolidated metadata is not compared with the nodes; [`staleness`](crate::staleness) does.
///
/// # Errors
/// The errors of [`open_node`]. An array is no error.
pub fn open_group(store: &dyn Store, path: &str, dialect: Option<Dialect>, copies: Copies) -> Result<StoredNode> {
    on(store, |io, facts| open(io, facts, path, dialect, Some(copies)))
}

/// Async form of [`open_group`]: finds the node at `path`, where a group is expected.
///
/// # Errors
/// The errors of [`open_group`].
pub async fn open_group_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
    copies: Copies,
) -> Result<StoredNode> {
    on_async(store, |io, facts| open(io, facts, path, dialect, Some(copies))).await
}

/// Finds the node at `path` and, if `dialect` is `None`, nodes of other dialects at the same path: for each of these, the node has a
/// warning that [names](zarr_meta::Warning::hides) the dialect. Other dialects are not searched in a remote store, to save a round of
/// requests; there [`walk`] finds them for the nodes below.
///
/// # Errors
/// The errors of [`open_node`].
pub fn open_node_and_others(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on(store, |io, facts| open_and_others(io, facts, path, dialect))
}

/// Async form of [`open_node_and_others`]: finds the node at `path`, with a warning for each other dialect that has a node at the same
/// path.
///
/// # Errors
/// The errors of [`open_node`].
pub async fn open_node_and_others_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
) -> Result<StoredNode> {
    on_async(store, |io, facts| open_and_others(io, facts, path, dialect)).await
}

/// Async form of [`open_node`]: finds the node at `path`.
///
/// # Errors
/// The errors of [`open_node`].
pub async fn open_node_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on_async(store, |io, facts| open(io, facts, path, dialect, None)).await
}

/// Properties of a store that decide which requests an operation makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) capabilities: Capabilities,
    profile: AccessProfile,
}

impl Facts {
    fn of(store: &dyn Store) -> Self {
        Self { capabilities: store.capabilities(), profile: store.access_profile() }
    }

    fn of_async(store: &dyn AsyncStore) -> Self {
        Self { capabilities: store.capabilities(), profile: store.access_profile() }
    }

    fn open(&self, path: NodePath, dialect: Option<Dialect>) -> OpenNode {
        OpenNode::new(path, dialect, self.capabilities.list).on_store(&self.profile)
    }
}

/// Runs an operation on a store; errors name the store.
pub(crate) fn on<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn Store,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of(store);
    run(store, Script::new(|io| operation(io, facts))).map_err(|error| in_store(store, error))
}

/// Runs an operation on a store that makes many requests at the same time and parses many documents: on the threads of the pool. Errors
/// name the store.
fn on_free<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn Store,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of(store);
    run_free(store, Script::new(|io| operation(io, facts))).map_err(|error| in_store(store, error))
}

/// Runs an operation on an async store; errors name the store.
pub(crate) async fn on_async<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn AsyncStore,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of_async(store);
    run_async(store, Script::new(|io| operation(io, facts))).await.map_err(|error| in_store(store, error))
}

/// Opens the node at `path`, possibly from consolidated metadata of a group above. `group`: a group is expected.
pub(crate) async fn open(
    io: Io,
    facts: Facts,
    path: &str,
    dialect: Option<Dialect>,
    group: Option<Copies>,
) -> Result<StoredNode> {
    let path = parse_path(path)?;
    let open = facts.open(path.clone(), dialect);
    let open = match group {
        Some(copies) => open.expecting_group(copies, &facts.profile),
        None => open,
    };
    match open.run(&io).await {
        Err(error) => open_consolidated(&io, &path, dialect, error, facts.capabilities.list).await,
        opened => opened,
    }
}

async fn open_and_others(io: Io, facts: Facts, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    let found = open(io.clone(), facts, path, dialect, None).await?;
    let is_looked_at = facts.capabilities.list && facts.profile.kind != StoreKind::Remote;
    if dialect.is_some() || !is_looked_at {
        return Ok(found);
    }
    let walk = MixedWalkJob::new(found.clone(), Some(0)).run(&io).await?;
    Ok(walk.nodes.into_iter().next().unwrap_or(found))
}

/// Finds the node at `path` and all nodes below it, in any dialect, or only in `dialect` if it is given. A walk costs a listing per group
/// and the documents of each node, however many chunks there are.
///
/// In a store that returns values and denies listings, the nodes are those of the consolidated metadata of the group, if there is any:
/// [`Walk::unlisted`] has the error of the store.
///
/// If several nodes share a path, the walk has the node that [`open_node`] finds, with a warning that
/// [names](zarr_meta::Warning::hides) the dialect of the other node.
///
/// # Errors
/// The errors of [`open_node`] for the node at `path`; [`Walk::broken`] has the errors of the nodes below.
pub fn walk(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    open_and_walk(store, path, dialect, None)
}

/// Async form of [`walk`]: finds the node at `path` and all nodes below it.
///
/// # Errors
/// The errors of [`walk`].
pub async fn walk_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    open_and_walk_async(store, path, dialect, None).await
}

fn open_and_walk(store: &dyn Store, path: &str, dialect: Option<Dialect>, depth: Option<usize>) -> Result<Walk> {
    let root = open_node(store, path, dialect)?;
    walk_from(store, &root, dialect, depth, Copies::Read)
}

async fn open_and_walk_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
    depth: Option<usize>,
) -> Result<Walk> {
    let root = open_node_async(store, path, dialect).await?;
    walk_from_async(store, &root, dialect, depth, Copies::Read).await
}

/// Walks from `root`, which was opened in `dialect` or in any dialect. A failed request ends its operation, so the nodes below are found by
/// an operation of their own: the second operation can do without a listing.
fn walk_from(
    store: &dyn Store,
    root: &StoredNode,
    dialect: Option<Dialect>,
    depth: Option<usize>,
    copies: Copies,
) -> Result<Walk> {
    let walked = on_free(store, |io, facts| walk_below(io, facts, root, dialect, depth, copies));
    on_free(store, |io, facts| complete(io, facts, walked, root, depth)).map(|walk| walk.in_store(store))
}

/// Async form of [`walk_from`]: walks from `root`, which was opened in `dialect` or in any dialect.
async fn walk_from_async(
    store: &dyn AsyncStore,
    root: &StoredNode,
    dialect: Option<Dialect>,
    depth: Option<usize>,
    copies: Copies,
) -> Result<Walk> {
    let walked = on_async(store, |io, facts| walk_below(io, facts, root, dialect, depth, copies)).await;
    let walk = on_async(store, |io, facts| complete(io, facts, walked, root, depth)).await?;
    Ok(walk.in_store(store))
}

async fn walk_below(
    io: Io,
    facts: Facts,
    root: &StoredNode,
    dialect: Option<Dialect>,
    depth: Option<usize>,
    copies: Copies,
) -> Result<Walk> {
    let (trusts, can_list) = (copies == Copies::Trusted, facts.capabilities.list);
    if dialect.is_none() && can_list {
        let walk = MixedWalkJob::new(root.clone(), depth).trusting(trusts);
        // A caller that trusts consolidated metadata does not need nodes of older dialects that v3 hides.
        return if trusts { walk.on_store(&facts.profile) } else { walk }.run(&io).await;
    }
    let walk = WalkJob::new(root.clone(), depth, can_list);
    if trusts { walk.trusting() } else { walk }.run(&io).await
}

/// Adds to the walk the nodes that only consolidated metadata of groups above has.
async fn complete(io: Io, facts: Facts, walked: Result<Walk>, root: &StoredNode, depth: Option<usize>) -> Result<Walk> {
    let copied = CopiedAbove::new(walked, root, depth, facts.capabilities.list, facts.profile.kind);
    copied.run(&io).await.map(Walk::checked)
}

/// Finds the node at `path` and all nodes below it, and trusts consolidated metadata of the group at `path` if there is any: one document
/// is read instead of one per node, and the nodes are those of its dialect. Consolidated metadata is not compared with the nodes. It is
/// stale if software that does not update it changed a node below; see [`staleness`](crate::staleness).
///
/// If a group of v3 in a remote store has no consolidated metadata, the document of v3 is requested for each node below, and documents of
/// v2 only if it is missing: unlike in [`walk`], there is no warning about a node of v2 that a node of v3 hides.
///
/// # Errors
/// The errors of [`walk`].
pub fn walk_consolidated(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let root = on(store, |io, facts| open(io, facts, path, dialect, Some(Copies::Trusted)))?;
    walk_from(store, &root, dialect, None, Copies::Trusted)
}

/// Async form of [`walk_consolidated`]: finds the node at `path` and all nodes below it, by consolidated metadata of the group if there is
/// any.
///
/// # Errors
/// The errors of [`walk`].
pub async fn walk_consolidated_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let root = on_async(store, |io, facts| open(io, facts, path, dialect, Some(Copies::Trusted))).await?;
    walk_from_async(store, &root, dialect, None, Copies::Trusted).await
}

/// Finds the nodes up to `depth` levels below `root`, with `root`, as [`walk_consolidated`] does: consolidated metadata of `root` is
/// trusted. `dialect` is the dialect in which `root` was opened; `None` if it was opened in any dialect.
///
/// # Errors
/// The errors of [`walk`].
pub fn consolidated_below(
    store: &dyn Store,
    root: &StoredNode,
    dialect: Option<Dialect>,
    depth: Option<usize>,
) -> Result<Walk> {
    walk_from(store, root, dialect, depth, Copies::Trusted)
}

/// Finds the node at `path` and all nodes below it whose documents are stored. Nodes that only consolidated metadata has are left out, if
/// the store can list.
///
/// # Errors
/// The errors of [`walk`].
pub fn walk_stored(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    if !store.capabilities().list {
        return walk(store, path, dialect);
    }
    let walk = |io: Io, facts| async move {
        let root = open(io.clone(), facts, path, dialect, None).await?;
        let walked = match dialect {
            None => MixedWalkJob::new(root, None).stored_only(true).run(&io).await,
            Some(_) => WalkJob::new(root, None, true).stored_only(true).run(&io).await,
        };
        walked.map(Walk::checked)
    };
    on_free(store, walk).map(|walk| walk.in_store(store))
}

/// Finds the nodes directly below the group at `path`, sorted by path, in any dialect as [`walk`] does. An array has none.
///
/// # Errors
/// The errors of [`walk`].
pub fn children(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let group = parse_path(path)?;
    open_and_walk(store, path, dialect, Some(1)).map(|walk| walk.below(&group))
}

/// Async form of [`children`]: finds the nodes directly below the group at `path`.
///
/// # Errors
/// The errors of [`children`].
pub async fn children_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let group = parse_path(path)?;
    open_and_walk_async(store, path, dialect, Some(1)).await.map(|walk| walk.below(&group))
}

/// Whether a node exists at `path`; implicit groups count.
///
/// # Errors
/// The errors of [`open_node`], except [`ErrorKind::NotFound`](crate::ErrorKind::NotFound). A broken node is an error.
pub fn node_exists(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<bool> {
    is_there(open_node(store, path, dialect))
}

/// Async form of [`node_exists`]: whether a node exists at `path`.
///
/// # Errors
/// The errors of [`node_exists`].
pub async fn node_exists_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<bool> {
    is_there(open_node_async(store, path, dialect).await)
}

fn is_there(opened: Result<StoredNode>) -> Result<bool> {
    match opened {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn of_node(store: impl std::fmt::Display, node: &StoredNode, error: Error) -> Error {
    in_store(store, error.at(|location| location.path = Some(node.path.to_string())))
}

/// Adds the address of the store to the location of the error, unless the location has one.
#[must_use]
pub fn in_store(store: impl std::fmt::Display, error: Error) -> Error {
    error.at(|location| location.store = Some(store.to_string()))
}

impl Walk {
    /// Removes the node at path `root` from the nodes of the walk.
    #[must_use]
    pub fn below(mut self, root: &NodePath) -> Self {
        self.nodes.retain(|node| node.path != *root);
        self
    }

    /// Moves nodes below arrays to [`below_arrays`](Self::below_arrays).
    fn checked(mut self) -> Self {
        let mut without_children = BTreeSet::new();
        let (below, nodes) = std::mem::take(&mut self.nodes).into_iter().partition(|node| {
            // Sorted by path, a node follows the one above it.
            let is_below = node.path.parent().is_some_and(|parent| without_children.contains(&parent));
            if is_below || node.node.as_array().is_some() {
                without_children.insert(node.path.clone());
            }
            is_below
        });
        self.nodes = nodes;
        self.below_arrays = below;
        // An implicit group has no keys of its own.
        self.below_arrays.retain(|node| !node.implicit);
        self
    }

    /// Moves arrays of unknown data type from the nodes to the broken nodes, even if their documents name a data type to fall back to, as
    /// opening does if the option `refuse_fallbacks` is set. By default a walk accepts such a fallback. Errors name `store`.
    #[must_use]
    pub fn refusing_fallbacks(mut self, store: impl std::fmt::Display) -> Self {
        self.nodes.retain(|node| {
            let refused = node.fallback.clone().map(|error| of_node(&store, node, error.into()));
            let stays = refused.is_none();
            self.broken.extend(refused);
            stays
        });
        self
    }

    /// Moves nodes whose documents have deviations to the broken nodes, as opening does if the option `strict` is set. Errors name `store`.
    #[must_use]
    pub fn strictly(mut self, store: impl std::fmt::Display) -> Self {
        self.nodes.retain(|node| {
            let refused = crate::check_strictly(node).err().map(|error| of_node(&store, node, error));
            let stays = refused.is_none();
            self.broken.extend(refused);
            stays
        });
        self
    }

    /// Adds the address of the store to the errors of the walk.
    #[must_use]
    pub fn in_store(mut self, store: impl std::fmt::Display) -> Self {
        let locate = |errors: Vec<Error>| errors.into_iter().map(|error| in_store(&store, error)).collect();
        (self.broken, self.bad_consolidated) = (locate(self.broken), locate(self.bad_consolidated));
        self
    }
}
