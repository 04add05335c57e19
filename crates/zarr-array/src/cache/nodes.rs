//! Nodes of a cache: which arrays share entries, and when their chunks were changed.

use crate::{Checksums, Registry};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use zarr_json::{NamedConfig, Value};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{AsyncStore, Store};

/// Number of epochs that the chunks of an array share. A write of one chunk may make the entries of other chunks invalid.
const EPOCHS: usize = 1024;
/// Maximum number of nodes without an open array that are remembered.
const MAX_IDLE: usize = 1024;

/// Identity of a store: the address of the value behind its `Arc`. The value is held weakly, so that no other store gets the same address
/// meanwhile.
#[derive(Clone, Debug)]
pub(crate) enum StoreId {
    Blocking(Weak<dyn Store>),
    Waiting(Weak<dyn AsyncStore>),
}

impl StoreId {
    pub(crate) fn blocking(store: &Arc<dyn Store>) -> Self {
        Self::Blocking(Arc::downgrade(store))
    }

    pub(crate) fn waiting(store: &Arc<dyn AsyncStore>) -> Self {
        Self::Waiting(Arc::downgrade(store))
    }

    fn address(&self) -> usize {
        match self {
            Self::Blocking(store) => store.as_ptr().addr(),
            Self::Waiting(store) => store.as_ptr().addr(),
        }
    }

    fn is_gone(&self) -> bool {
        match self {
            Self::Blocking(store) => store.strong_count() == 0,
            Self::Waiting(store) => store.strong_count() == 0,
        }
    }
}

/// Nodes of the arrays that were opened with the cache.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<OpenNodes>);

#[derive(Debug, Default)]
struct OpenNodes {
    /// Nodes by the address of their store and their path.
    nodes: HashMap<(usize, String), Arc<Node>>,
    /// Number of nodes that were left when nodes without an open array were last removed.
    left: usize,
}

impl Nodes {
    pub(super) fn node(&self, store: StoreId, path: &NodePath) -> Arc<Node> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let OpenNodes { nodes, left } = &mut *opened;
        let key = (store.address(), path.to_string());
        if let Some(node) = nodes.get(&key) {
            return Arc::clone(node);
        }
        // Rarely enough that it costs little in all.
        if nodes.len() >= 2 * *left + MAX_IDLE {
            nodes.retain(|_, node| Arc::strong_count(node) > 1 && !node.store.is_gone());
            *left = nodes.len();
        }
        let node = Node { store, changed: AtomicU64::new(0), epochs: OnceLock::new(), owners: Mutex::default() };
        Arc::clone(nodes.entry(key).or_insert_with(|| Arc::new(node)))
    }
}

/// Node of a store whose array was opened with the cache, with the epochs of its chunks.
#[derive(Debug)]
pub(crate) struct Node {
    store: StoreId,
    /// Number of times that all chunks of the array were changed at once.
    changed: AtomicU64,
    /// Number of times that single chunks were changed, for each of the shared epochs; unset before the first change.
    epochs: OnceLock<Box<[AtomicU64]>>,
    owners: Mutex<Vec<(DecodeIdentity, u64)>>,
}

/// Everything on which the decoded content of chunks depends.
#[derive(Clone, Debug)]
pub(crate) struct DecodeIdentity {
    pub(crate) dialect: Dialect,
    pub(crate) data_type: NamedConfig,
    pub(crate) fallback_type: Option<NamedConfig>,
    pub(crate) fill_value: Option<Value>,
    pub(crate) chunk_grid: NamedConfig,
    pub(crate) chunk_key_encoding: NamedConfig,
    pub(crate) codecs: Vec<NamedConfig>,
    pub(crate) checksums: Checksums,
    pub(crate) registry: Arc<Registry>,
}

impl PartialEq for DecodeIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.dialect == other.dialect
            && self.data_type == other.data_type
            && self.fallback_type == other.fallback_type
            && self.fill_value == other.fill_value
            && self.chunk_grid == other.chunk_grid
            && self.chunk_key_encoding == other.chunk_key_encoding
            && self.codecs == other.codecs
            && self.checksums == other.checksums
            && self.registry.decodes_as(&other.registry)
    }
}

impl Node {
    pub(super) fn store(&self) -> &StoreId {
        &self.store
    }

    /// Owner number of the cache keys of chunks that are decoded as `identity` says; `new` makes the number for a new identity.
    pub(super) fn owner(&self, identity: DecodeIdentity, new: impl FnOnce() -> u64) -> u64 {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, owner)) = owners.iter().find(|(known, _)| *known == identity) {
            return *owner;
        }
        let owner = new();
        owners.push((identity, owner));
        owner
    }

    /// Epoch of the chunk at `index`: a number that grows whenever the chunk is changed.
    pub(super) fn epoch(&self, index: &[u64]) -> u64 {
        let one = self.epochs.get().and_then(|epochs| epochs.get(slot(index)));
        let one = one.map_or(0, |epoch| epoch.load(Ordering::SeqCst));
        one.wrapping_add(self.changed.load(Ordering::SeqCst))
    }

    /// Begins a new epoch of the chunk at `index` (of all chunks if `None`), so that older entries are no longer found.
    pub(super) fn invalidate(&self, index: Option<&[u64]>) {
        let Some(index) = index else {
            self.changed.fetch_add(1, Ordering::SeqCst);
            return;
        };
        let epochs = self.epochs.get_or_init(|| (0..EPOCHS).map(|_| AtomicU64::new(0)).collect());
        if let Some(epoch) = epochs.get(slot(index)) {
            epoch.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn slot(index: &[u64]) -> usize {
    let mut hasher = DefaultHasher::new();
    index.hash(&mut hasher);
    hasher.finish() as usize % EPOCHS
}

/// Guard of a change of a chunk, or of all chunks. It invalidates their entries when it is dropped, also after a failed write, which may
/// have changed the store nevertheless.
#[derive(Debug)]
pub(crate) struct InvalidationGuard {
    node: Arc<Node>,
    index: Option<zarr_grid::ChunkIndex>,
}

impl InvalidationGuard {
    pub(super) fn new(node: &Arc<Node>, index: Option<&[u64]>) -> Self {
        Self { node: Arc::clone(node), index: index.map(zarr_grid::ChunkIndex::from_slice) }
    }
}

impl Drop for InvalidationGuard {
    fn drop(&mut self) {
        self.node.invalidate(self.index.as_deref());
    }
}
