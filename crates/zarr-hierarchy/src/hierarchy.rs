//! Operations on nodes of any kind, known by their paths: open, find all, change attributes.

mod changes;
mod copied;
mod mixed;
mod only_copied;
mod other_keys;
mod walk;
mod walked;

pub use changes::{
    check_dimension_names, set_attributes, set_attributes_async, set_dimension_names, set_dimension_names_async,
};
pub use copied::CopiedAbove;
pub(crate) use only_copied::prefix_below;
pub(crate) use other_keys::document_names;
pub use other_keys::{OtherKey, have_equal_bytes, is_temporary, other_keys, other_keys_async};
pub use walk::WalkJob;
pub use walked::Walk;

use copied::open_copied;
use mixed::MixedWalkJob;

use crate::jobs::Operation;
use crate::node::{OpenNode, parse_path};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_drive::{Io, Script, run, run_async, run_free};
use zarr_meta::{Copies, Dialect, NodePath, StoredNode};
use zarr_store::{AccessProfile, AsyncStore, Capabilities, Store, StoreKind};

/// Finds the node at `path` (`/a/b`), in whatever dialect it is, or only in the one given.
///
/// A node whose own document is missing, and that consolidated metadata of a group has, is read from there, with a warning. Where the store
/// can list, and that group has a document of its own, values must be stored at or below the path: a copy of an erased node is no node.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) with the keys that were tried; the kinds of faults of its
/// metadata; [`ErrorKind::Store`](crate::ErrorKind::Store).
pub fn open_node(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on(store, |io, facts| open(io, facts, path, dialect, None))
}

/// As [`open_node`], but only if its own documents are stored.
///
/// # Errors
/// As [`open_node`].
pub fn open_stored_node(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    let find = |io: Io, facts: Facts| async move { facts.open(parse_path(path)?, dialect).run(&io).await };
    on(store, find)
}

/// As [`open_node`], where a group is expected and perhaps the nodes below it are wanted as its consolidated metadata has them: where
/// each request takes long, that is asked for at once with the documents of the group, and a walk has it from the node. A group of v3
/// then costs one request, one of v2 four in two rounds, whether it has consolidated metadata or not.
///
/// Where documents of an array and of a group lie at the same path, which no software writes, such a store is not asked for those of the
/// array: the group is found, and by [`open_node`] the array.
///
/// `copies` says whether the group itself may be as its consolidated metadata has it, where `dialect` is given: one request.
///
/// # Errors
/// As [`open_node`]. An array is no error.
pub fn open_group(store: &dyn Store, path: &str, dialect: Option<Dialect>, copies: Copies) -> Result<StoredNode> {
    on(store, |io, facts| open(io, facts, path, dialect, Some(copies)))
}

/// As [`open_group`], on a store that does not block.
///
/// # Errors
/// As [`open_group`].
pub async fn open_group_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
    copies: Copies,
) -> Result<StoredNode> {
    on_async(store, |io, facts| open(io, facts, path, dialect, Some(copies))).await
}

/// As [`open_node`], and if no dialect is given, looks whether there are nodes of others at the same path: a warning of the node
/// [names](zarr_meta::Warning::hides) each of their dialects. Behind a network, where that would cost another round of requests, it does
/// not look: [`walk`] finds those of the nodes below.
///
/// # Errors
/// As [`open_node`].
pub fn open_node_and_others(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on(store, |io, facts| open_and_others(io, facts, path, dialect))
}

/// As [`open_node_and_others`], on a store that does not block.
///
/// # Errors
/// As [`open_node`].
pub async fn open_node_and_others_async(
    store: &dyn AsyncStore,
    path: &str,
    dialect: Option<Dialect>,
) -> Result<StoredNode> {
    on_async(store, |io, facts| open_and_others(io, facts, path, dialect)).await
}

/// As [`open_node`], on a store that does not block.
///
/// # Errors
/// As [`open_node`].
pub async fn open_node_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<StoredNode> {
    on_async(store, |io, facts| open(io, facts, path, dialect, None)).await
}

/// Properties of a store by which operations choose their requests.
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

/// Runs an operation on a store, which its errors name.
pub(crate) fn on<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn Store,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of(store);
    run(store, Script::new(|io| operation(io, facts))).map_err(|error| in_store(store, error))
}

/// As [`on`], where many requests are made at the same time, and many documents are read: on the threads of the pool.
fn on_free<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn Store,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of(store);
    run_free(store, Script::new(|io| operation(io, facts))).map_err(|error| in_store(store, error))
}

/// As [`on`], on a store that does not block.
pub(crate) async fn on_async<T: Send, F: Future<Output = Result<T>> + Send>(
    store: &dyn AsyncStore,
    operation: impl FnOnce(Io, Facts) -> F,
) -> Result<T> {
    let facts = Facts::of_async(store);
    run_async(store, Script::new(|io| operation(io, facts))).await.map_err(|error| in_store(store, error))
}

/// Opens a node, which consolidated metadata may have alone. `group`: one is expected.
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
        Err(error) => open_copied(&io, &path, dialect, error, facts.capabilities.list).await,
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

/// Finds the node at `path` and all nodes below it, in whatever dialects they are, or only in the one given. Costs a listing for
/// each group and the documents of each node, however many chunks there are.
///
/// A store that gives values and refuses to list is walked by the consolidated metadata of the group, where there is some:
/// [`Walk::unlisted`] has the refusal.
///
/// The walk has, where several nodes share a path, the node that [`open_node`] finds, with a warning that
/// [names](zarr_meta::Warning::hides) the dialect of the other.
///
/// # Errors
/// As [`open_node`], for the node at `path`; [`Walk::broken`] has the errors of the nodes below.
pub fn walk(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    open_and_walk(store, path, dialect, None)
}

/// As [`walk`], on a store that does not block.
///
/// # Errors
/// As [`walk`].
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

/// The walk from a node that was found in this dialect, or in any. A request that fails ends its operation: the nodes below are looked for by
/// one of their own, so that the other can do without them where the store does not list.
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

/// As [`walk_from`], on a store that does not block.
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
        // Whoever believes copies does not ask for all that could be there either.
        return if trusts { walk.on_store(&facts.profile) } else { walk }.run(&io).await;
    }
    let walk = WalkJob::new(root.clone(), depth, can_list);
    if trusts { walk.trusting() } else { walk }.run(&io).await
}

/// The walk with the nodes that only consolidated metadata of groups above have.
async fn complete(io: Io, facts: Facts, walked: Result<Walk>, root: &StoredNode, depth: Option<usize>) -> Result<Walk> {
    let copied = CopiedAbove::new(walked, root, depth, facts.capabilities.list, facts.profile.kind);
    copied.run(&io).await.map(Walk::checked)
}

/// As [`walk`], but believes consolidated metadata of the group at `path` if it has some: one document is read instead of one
/// for each node, and the nodes are those of its dialect. It is a copy, which is stale if a node below was changed since by software that
/// leaves it so; see [`staleness`](crate::staleness).
///
/// Where a group of v3 behind a network has none, each node below is asked for its document of v3, and for those of v2 only where there is
/// none: a node of v2 that a node of v3 hides is no warning there, unlike in [`walk`].
///
/// # Errors
/// As [`walk`].
pub fn walk_consolidated(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let root = on(store, |io, facts| open(io, facts, path, dialect, Some(Copies::Trusted)))?;
    walk_from(store, &root, dialect, None, Copies::Trusted)
}

/// As [`walk_consolidated`], on a store that does not block.
///
/// # Errors
/// As [`walk`].
pub async fn walk_consolidated_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let root = on_async(store, |io, facts| open(io, facts, path, dialect, Some(Copies::Trusted))).await?;
    walk_from_async(store, &root, dialect, None, Copies::Trusted).await
}

/// The node `root`, which was opened before in this dialect or in any, and the nodes up to `depth` levels below it, as
/// [`walk_consolidated`] finds them.
///
/// # Errors
/// As [`walk`].
pub fn consolidated_below(
    store: &dyn Store,
    root: &StoredNode,
    dialect: Option<Dialect>,
    depth: Option<usize>,
) -> Result<Walk> {
    walk_from(store, root, dialect, depth, Copies::Trusted)
}

/// As [`walk`], without the nodes that only consolidated metadata have, where the store can list: the nodes whose documents are stored.
///
/// # Errors
/// As [`walk`].
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

/// Finds the nodes directly below the group at `path`, sorted by path, of all dialects as [`walk`] does. An array has none.
///
/// # Errors
/// As [`walk`].
pub fn children(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let group = parse_path(path)?;
    open_and_walk(store, path, dialect, Some(1)).map(|walk| walk.below(&group))
}

/// As [`children`], on a store that does not block.
///
/// # Errors
/// As [`children`].
pub async fn children_async(store: &dyn AsyncStore, path: &str, dialect: Option<Dialect>) -> Result<Walk> {
    let group = parse_path(path)?;
    open_and_walk_async(store, path, dialect, Some(1)).await.map(|walk| walk.below(&group))
}

/// Whether there is a node at `path`, be it an implicit group.
///
/// # Errors
/// As [`open_node`], but for [`ErrorKind::NotFound`](crate::ErrorKind::NotFound): a node that is broken is no missing one.
pub fn node_exists(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<bool> {
    is_there(open_node(store, path, dialect))
}

/// As [`node_exists`], on a store that does not block.
///
/// # Errors
/// As [`node_exists`].
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

/// The same error, in a store.
#[must_use]
pub fn in_store(store: impl std::fmt::Display, error: Error) -> Error {
    error.at(|location| location.store = Some(store.to_string()))
}

impl Walk {
    /// Without the node that the walk began with.
    #[must_use]
    pub fn below(mut self, root: &NodePath) -> Self {
        self.nodes.retain(|node| node.path != *root);
        self
    }

    /// With the nodes below arrays in [`below_arrays`](Self::below_arrays).
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

    /// With arrays whose data type is not known among the broken ones, even if their documents name another one to fall back to. A
    /// walk takes that, as opening does unless the option `refuse_fallbacks` is set. Errors name
    /// `store`.
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

    /// With nodes in whose documents something is odd among the broken ones, as opening refuses them if
    /// the option `strict` is set. Errors name `store`.
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

    /// With errors that name a store.
    #[must_use]
    pub fn in_store(mut self, store: impl std::fmt::Display) -> Self {
        let locate = |errors: Vec<Error>| errors.into_iter().map(|error| in_store(&store, error)).collect();
        (self.broken, self.bad_copies) = (locate(self.broken), locate(self.bad_copies));
        self
    }
}
