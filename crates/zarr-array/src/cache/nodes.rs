//! The arrays of a cache: which of them are the same, and when their chunks were changed.

use crate::{Checksums, Registry};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use zarr_json::{NamedConfig, Value};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{AsyncStore, Store};

/// Number of epochs that the chunks of an array share: a write of one chunk may make others be read again.
const EPOCHS: usize = 1024;
/// Maximum number of nodes that are remembered though no array of them is open.
const MAX_IDLE: usize = 1024;

/// Identity of a store: the value behind an `Arc`. Held weakly, so that the address is no other store's as long as it is known.
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

/// The nodes whose arrays were opened.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<OpenNodes>);

#[derive(Debug, Default)]
struct OpenNodes {
    /// By the address of the store, and the path.
    nodes: HashMap<(usize, String), Arc<Node>>,
    /// How many were left when nodes without an open array were forgotten.
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

/// A node of a store.
#[derive(Debug)]
pub(crate) struct Node {
    store: StoreId,
    /// How often all chunks were changed.
    changed: AtomicU64,
    /// How often single chunks were changed; none until the first was.
    epochs: OnceLock<Box<[AtomicU64]>>,
    owners: Mutex<Vec<(DecodeIdentity, u64)>>,
}

/// All that the decoded content of chunks depends on.
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

    /// The owner of chunks that are decoded in this way.
    pub(super) fn owner(&self, identity: DecodeIdentity, new: impl FnOnce() -> u64) -> u64 {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, owner)) = owners.iter().find(|(known, _)| *known == identity) {
            return *owner;
        }
        let owner = new();
        owners.push((identity, owner));
        owner
    }

    /// Grows whenever the chunk is changed.
    pub(super) fn epoch(&self, index: &[u64]) -> u64 {
        let one = self.epochs.get().and_then(|epochs| epochs.get(slot(index)));
        let one = one.map_or(0, |epoch| epoch.load(Ordering::SeqCst));
        one.wrapping_add(self.changed.load(Ordering::SeqCst))
    }

    /// Notes that a chunk (all if `None`) was changed.
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

/// A change under way. It is dropped when the change has ended, also where that failed: a failed write may have been done.
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
