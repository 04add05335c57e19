//! Storage usage by nodes, from one listing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use zarr_array::{NodePath, Registry, Result, StoredNode, element_spec};
use zarr_grid::total_size;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::node::REPLACEMENTS;
use zarr_scan::{OtherKeys, lock, outermost};
use zarr_store::{Key, Prefix, SizeVisitor, Store, StoreExt, StoreKind};

/// Storage usage of a node, without the nodes below it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeUsage {
    /// Path of the node.
    pub path: NodePath,
    /// Usage of the chunks, if the node is an array; `None` for a group.
    pub array: Option<ArrayUsage>,
    /// Number of bytes of the node's metadata documents, including consolidated metadata.
    pub metadata: u64,
    /// Number of bytes of other keys that lie below the node and below no node further down, such as chunks outside of the grid, and of
    /// files that killed writers have left in a group.
    pub other: u64,
    /// Number of these other keys.
    pub other_keys: u64,
}

/// Storage usage of the chunks of an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayUsage {
    /// Number of stored bytes of all chunks.
    pub stored: u64,
    /// Number of bytes of the elements of the array; `None` if they are of variable length, or of an unknown data type.
    pub logical: Option<u128>,
    /// Number of bytes of the elements of the stored chunks, including elements beyond the edges of the array; `None` if they are of
    /// variable length, or of an unknown data type.
    pub written: Option<u128>,
    /// Number of stored chunks (shards, if the array is sharded).
    pub chunks: u64,
    /// Number of all chunks of the grid.
    pub possible: u128,
}

impl NodeUsage {
    /// Number of all stored bytes of the node: chunks, metadata and other keys.
    pub fn stored(&self) -> u64 {
        let chunks = self.array.as_ref().map_or(0, |array| array.stored);
        chunks.saturating_add(self.metadata).saturating_add(self.other)
    }
}

/// Counts during the listing of keys.
#[derive(Debug, Default)]
struct Tally {
    nodes: Vec<NodeUsage>,
    /// Number of bytes of keys that lie below no node.
    outside: u64,
    outside_keys: u64,
    /// Chunks under other keys than those that the metadata implies, by the number of the node.
    others: HashMap<usize, OtherKeys>,
}

/// Storage usage of several nodes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Usage {
    /// Usage of each node, in the given order.
    pub nodes: Vec<NodeUsage>,
    /// Number of bytes of keys under the listed prefixes that belong to no node.
    pub outside: u64,
    /// Number of keys that belong to no node.
    pub outside_keys: u64,
}

/// Index of nodes by the keys that belong to them.
struct NodeKeys {
    /// Numbers of nodes, by the prefixes of the keys below them.
    below: HashMap<String, usize>,
    /// Numbers of nodes, by the keys of their documents.
    documents: HashMap<String, usize>,
    /// Keys of the chunks of each node; `None` for a group, and for an array whose keys are not known.
    chunks: Vec<Option<ArrayKeys>>,
}

struct ArrayKeys {
    keys: ChunkKeys,
    /// Number of bytes of an element; `None` if elements are of variable length, or of an unknown data type.
    item: Option<u64>,
}

impl NodeKeys {
    fn of(nodes: &[StoredNode], registry: &Registry) -> Self {
        let mut node_keys = Self { below: HashMap::new(), documents: HashMap::new(), chunks: Vec::new() };
        for (number, node) in nodes.iter().enumerate() {
            let consolidated = zarr_meta::consolidated::document_key(node);
            for key in node.own_documents().map(str::to_owned).chain(consolidated) {
                node_keys.documents.entry(key).or_insert(number);
            }
            node_keys.below.extend(node.own_prefixes().into_iter().map(|prefix| (prefix, number)));
            let keys = ChunkKeys::new(node).ok();
            // Chunks of older dialects lie apart from documents.
            for prefix in keys.iter().flat_map(ChunkKeys::prefixes) {
                node_keys.below.entry(prefix.to_owned()).or_insert(number);
            }
            let item = node.node.as_array().and_then(|array| {
                let element = element_spec(array, node.dialect, &registry.data_types).ok()?;
                (!element.is_variable()).then(|| element.item_size() as u64)
            });
            node_keys.chunks.push(keys.map(|keys| ArrayKeys { keys, item }));
        }
        node_keys
    }

    /// Number of the innermost node below which a key lies; `None` if there is none.
    fn node(&self, key: &str) -> Option<usize> {
        let ends = key.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>();
        let prefixes = ends.into_iter().rev().filter_map(|end| key.get(..end)).chain([""]);
        prefixes.filter_map(|prefix| self.below.get(prefix)).next().copied()
    }

    fn count(&self, key: &Key, size: u64, tally: &mut Tally) {
        let document = self.documents.get(key.as_str()).copied();
        let Some(number) = document.or_else(|| self.node(key.as_str())) else {
            tally.outside = tally.outside.saturating_add(size);
            tally.outside_keys += 1;
            return;
        };
        let Some(node) = tally.nodes.get_mut(number) else { return };
        if document.is_some() {
            node.metadata = node.metadata.saturating_add(size);
            return;
        }
        let keys = self.chunks.get(number).and_then(Option::as_ref);
        match keys.and_then(|keys| Some((keys, keys.keys.chunk_at(key)?))) {
            Some((keys, chunk)) => {
                let others = tally.others.entry(number).or_default();
                if !others.keep(&keys.keys, key, &chunk, size) {
                    keys.count(&chunk, size, node);
                }
            }
            None => node.count_other(size),
        }
    }
}

impl ArrayKeys {
    fn count(&self, chunk: &[u64], size: u64, node: &mut NodeUsage) {
        let Some(array) = &mut node.array else { return };
        array.stored = array.stored.saturating_add(size);
        array.chunks = array.chunks.saturating_add(1);
        let written = self.item.map(|item| total_size(&self.keys.grid().chunk_shape(chunk), item));
        array.written = array.written.zip(written).map(|(all, one)| all.saturating_add(one));
    }
}

impl NodeUsage {
    fn count_other(&mut self, size: u64) {
        self.other = self.other.saturating_add(size);
        self.other_keys = self.other_keys.saturating_add(1);
    }
}

impl Usage {
    /// Computes the storage usage of `nodes`: a node and the nodes below it, as a walk finds them. It costs one listing (several in the
    /// drafts of version 3, in which documents and chunks lie apart). No key is stored: the memory grows with the number of nodes, and with
    /// the number of chunks under other keys than those that the metadata implies (as `0/0` of arrays of version 2 without
    /// `dimension_separator`). A chunk that is stored under both keys counts once.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    /// use zarr_stats::Usage;
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let array = Array::create(&store, "/a", NewArray::new(&[8], "int16").chunks(&[2]).codecs("bytes")?, &registry)?;
    /// array.write(0..3, &[1_i16; 3])?;
    /// let usage = Usage::of(&*store, &[array.found().clone()], &registry)?;
    /// let chunks = usage.nodes[0].array.as_ref().unwrap();
    /// assert_eq!((chunks.stored, chunks.logical, chunks.chunks, chunks.possible), (8, Some(16), 2, 4));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Store`] if the store fails or cannot list.
    pub fn of(store: &dyn Store, nodes: &[StoredNode], registry: &Registry) -> Result<Self> {
        let node_keys = NodeKeys::of(nodes, registry);
        let usage = |(node, keys): (&StoredNode, &Option<ArrayKeys>)| NodeUsage {
            path: node.path.clone(),
            array: keys.as_ref().map(|keys| ArrayUsage {
                stored: 0,
                logical: keys.item.map(|item| total_size(keys.keys.grid().shape(), item)),
                written: keys.item.map(|_| 0),
                chunks: 0,
                possible: total_size(&keys.keys.grid().grid_shape(), 1),
            }),
            metadata: 0,
            other: 0,
            other_keys: 0,
        };
        let mut all: Vec<NodeUsage> = nodes.iter().zip(&node_keys.chunks).map(usage).collect();
        let prefixes = prefixes(nodes);
        // Documents that lie elsewhere are known already.
        for (node, usage) in nodes.iter().zip(&mut all) {
            let outside = node.own_documents().filter(|key| !prefixes.iter().any(|below| key.starts_with(below)));
            usage.metadata = outside.filter_map(|key| node.documents.get(key)).map(|bytes| bytes.len() as u64).sum();
        }
        let node_keys = Arc::new(node_keys);
        let listed = Arc::clone(&node_keys);
        let tally = Arc::new(Mutex::new(Tally { nodes: all, ..Tally::default() }));
        let counting = Arc::clone(&tally);
        let visitor: SizeVisitor = Arc::new(move |key, size| {
            listed.count(&key, size, &mut lock(&counting));
        });
        let locate = |error: zarr_array::Error| error.at(|location| location.store = Some(store.to_string()));
        for prefix in prefixes {
            let list = || store.list_sizes(&Prefix::new(&prefix)?, &visitor);
            list().map_err(|error| locate(error.into()))?;
        }
        for (node, usage) in nodes.iter().zip(&mut lock(&tally).nodes) {
            if node.node.as_group().is_some() && store.access_profile().kind != StoreKind::Remote {
                let left = left_in_group(store, node).map_err(|error| locate(error.into()))?;
                usage.other = usage.other.saturating_add(left);
            }
        }
        let mut tally = std::mem::take(&mut *lock(&tally));
        for (number, others) in std::mem::take(&mut tally.others) {
            let keys = node_keys.chunks.get(number).and_then(Option::as_ref);
            let Some((keys, node)) = keys.zip(tally.nodes.get_mut(number)) else { continue };
            let visited = others.visit(store, &keys.keys, |_, chunk, size, is_read| match is_read {
                true => keys.count(chunk, size, node),
                false => node.count_other(size),
            });
            visited.map_err(locate)?;
        }
        Ok(Self { nodes: tally.nodes, outside: tally.outside, outside_keys: tally.outside_keys })
    }
}

/// Number of bytes that killed writers have left in a group, and in the directories in which nodes of the group are replaced.
fn left_in_group(store: &dyn Store, group: &StoredNode) -> zarr_store::Result<u64> {
    let own = Prefix::new(&group.path.key_prefix())?;
    let replacing = own.join_prefix(&Prefix::new(&format!("{REPLACEMENTS}/"))?);
    let mut places = vec![own];
    places.extend(store.list_dir(&replacing)?.prefixes);
    places.push(replacing);
    places.iter().try_fold(0_u64, |all, place| {
        let left = store.leftovers(place)?;
        Ok(left.iter().fold(all, |all, left| all.saturating_add(left.bytes)))
    })
}

/// Prefixes below which all keys of `nodes` lie, none within another.
fn prefixes(nodes: &[StoredNode]) -> Vec<String> {
    let of_top = nodes.first().into_iter().flat_map(StoredNode::own_prefixes);
    let arrays = nodes.iter().filter(|node| node.node.as_array().is_some());
    outermost(of_top.chain(arrays.map(StoredNode::chunk_prefix)))
}
