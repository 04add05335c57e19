//! Arrays that share a cache: which are the same, and when their chunks were changed.

use crate::core::ArrayCore;
use crate::{Checksums, Registry};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use zarr_meta::{ArrayMetadata, Dialect, NamedConfig, NodePath};
use zarr_store::{AsyncStore, Store};

/// Chunks share so many stamps: a write of one may make others be read again.
const STAMPS: usize = 1024;
/// So many nodes that no array is open of are remembered.
const MAX_IDLE: usize = 1024;

/// Which store: the value behind an `Arc`. Held weakly, so that the address is no other store's as long as it is known.
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

/// The nodes that arrays were opened of.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<Opened>);

#[derive(Debug, Default)]
struct Opened {
    /// By the address of the store, and the path.
    nodes: HashMap<(usize, String), Arc<Node>>,
    /// How many were left when those that no array is open of were forgotten.
    left: usize,
}

impl Nodes {
    pub(super) fn node(&self, store: StoreId, path: &NodePath) -> Arc<Node> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Opened { nodes, left } = &mut *opened;
        let key = (store.address(), path.to_string());
        if let Some(node) = nodes.get(&key) {
            return Arc::clone(node);
        }
        // Rarely enough that it costs little in all.
        if nodes.len() >= 2 * *left + MAX_IDLE {
            nodes.retain(|_, node| Arc::strong_count(node) > 1 && !node.store.is_gone());
            *left = nodes.len();
        }
        let node = Node { store, changed: AtomicU64::new(0), stamps: OnceLock::new(), owners: Mutex::default() };
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
    stamps: OnceLock<Box<[AtomicU64]>>,
    owners: Mutex<Vec<(Meaning, u64)>>,
}

/// What the decoded content of chunks depends on.
#[derive(Debug)]
struct Meaning {
    metadata: ArrayMetadata,
    dialect: Dialect,
    checksums: Checksums,
    fallback_type: Option<NamedConfig>,
    registry: Arc<Registry>,
}

impl Meaning {
    fn is_of(&self, core: &ArrayCore) -> bool {
        let (mine, other) = (&self.metadata, core.metadata());
        self.dialect == core.dialect()
            && self.checksums == core.options.checksums
            && self.fallback_type == core.options.fallback_type
            && Arc::ptr_eq(&self.registry, &core.registry)
            && mine.data_type == other.data_type
            && mine.chunk_grid == other.chunk_grid
            && mine.chunk_key_encoding == other.chunk_key_encoding
            && mine.fill_value == other.fill_value
            && mine.codecs == other.codecs
    }
}

impl Node {
    pub(super) fn store(&self) -> &StoreId {
        &self.store
    }

    /// The number under which chunks are kept as this array decodes them.
    pub(super) fn owner(&self, core: &ArrayCore, new: impl FnOnce() -> u64) -> u64 {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, owner)) = owners.iter().find(|(meaning, _)| meaning.is_of(core)) {
            return *owner;
        }
        let (attributes, extra) = Default::default();
        let meaning = Meaning {
            metadata: ArrayMetadata { attributes, extra, ..core.metadata().clone() },
            dialect: core.dialect(),
            checksums: core.options.checksums,
            fallback_type: core.options.fallback_type.clone(),
            registry: Arc::clone(&core.registry),
        };
        let owner = new();
        owners.push((meaning, owner));
        owner
    }

    /// Grows whenever the chunk is changed.
    pub(super) fn stamp(&self, index: &[u64]) -> u64 {
        let one = self.stamps.get().and_then(|stamps| stamps.get(slot(index)));
        let one = one.map_or(0, |stamp| stamp.load(Ordering::SeqCst));
        one.wrapping_add(self.changed.load(Ordering::SeqCst))
    }

    /// Notes that a chunk (all if `None`) was changed.
    pub(super) fn touch(&self, index: Option<&[u64]>) {
        let Some(index) = index else {
            self.changed.fetch_add(1, Ordering::SeqCst);
            return;
        };
        let stamps = self.stamps.get_or_init(|| (0..STAMPS).map(|_| AtomicU64::new(0)).collect());
        if let Some(stamp) = stamps.get(slot(index)) {
            stamp.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn slot(index: &[u64]) -> usize {
    let mut hasher = DefaultHasher::new();
    index.hash(&mut hasher);
    hasher.finish() as usize % STAMPS
}

/// A change under way. Dropped when it is over, however it ended: a write that failed may have been done.
#[derive(Debug)]
pub(crate) struct Changing {
    node: Arc<Node>,
    index: Option<zarr_grid::ChunkIndex>,
}

impl Changing {
    pub(super) fn new(node: &Arc<Node>, index: Option<&[u64]>) -> Self {
        Self { node: Arc::clone(node), index: index.map(zarr_grid::ChunkIndex::from_slice) }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        self.node.touch(self.index.as_deref());
    }
}
