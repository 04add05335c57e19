//! Digests: hashes that depend only on shape, data type and values.

mod difference;
mod document;

pub use difference::{ArrayDifference, DigestDifference};

use crate::encoding::encode;
use crate::fold::Fold;
use crate::hash::finished;
use crate::progress::Reporter;
use crate::selected::{self, select};
use crate::{Hash, Progress, attributes, boxes, data_type, leaves};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::{Array, Options, Registry};
use zarr_dtype::DataType;
use zarr_grid::{ChunkGrid, Region};
use zarr_hierarchy::{Error, IntoFlow, Result};
use zarr_json::{NamedConfig, Value};
use zarr_meta::{Dialect, Node, NodePath, StoredNode};
use zarr_scan::Selected;
use zarr_store::Store;

/// Options for the computation of a digest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DigestOptions {
    /// Whether all NaNs of a type count as equal, and both zeros. By default values are hashed by their bits. Digests with and without this
    /// option are never equal.
    pub ieee: bool,
    /// Whether attributes of nodes, dimension names and groups are hashed. By default only the values of arrays are.
    pub attributes: bool,
    /// Greatest number of bytes of memory for data. Default 1 GiB.
    pub memory: u64,
    /// Dialect of the nodes that are hashed, for stores with nodes of several dialects; `None` for all nodes.
    pub dialect: Option<Dialect>,
    /// Regions of arrays that are hashed, by path: a region is hashed as if it were an array. Arrays without a region are hashed whole.
    pub regions: BTreeMap<NodePath, Region>,
    /// Options for reading arrays.
    pub options: Options,
}

impl Default for DigestOptions {
    fn default() -> Self {
        Self {
            ieee: false,
            attributes: false,
            memory: 1 << 30,
            dialect: None,
            regions: BTreeMap::new(),
            options: Options::default(),
        }
    }
}

impl DigestOptions {
    /// Sets [`ieee`](Self#structfield.ieee).
    #[must_use]
    pub fn ieee(mut self, ieee: bool) -> Self {
        self.ieee = ieee;
        self
    }

    /// Sets [`attributes`](Self#structfield.attributes).
    #[must_use]
    pub fn attributes(mut self, attributes: bool) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(mut self, dialect: impl Into<Option<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Sets [`regions`](Self#structfield.regions).
    #[must_use]
    pub fn regions(mut self, regions: BTreeMap<NodePath, Region>) -> Self {
        self.regions = regions;
        self
    }

    /// Sets [`options`](Self#structfield.options).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    fn fold(&self) -> Fold {
        Fold { nan: self.ieee, zero: self.ieee }
    }
}

/// Digest of a node and of all nodes below it.
///
/// All copies of the same data have the same digest, whatever their dialect, chunks, codecs and byte order, and whether chunks of
/// fill values are stored or missing. `docs/digest.md` of the project has the definition, with test vectors.
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, Dialect, NewArray, Registry, Store};
/// use zarr_compare::{Digest, DigestOptions};
/// use zarr_store::MemoryStore;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let digest = |new: NewArray| {
///     let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
///     Array::create(&store, "/a", new, &registry)?.write(.., &[1_i16, 2, 3, 4])?;
///     Digest::of(&store, "/a", &registry, &DigestOptions::default(), |_| {})
/// };
/// let small = NewArray::new(&[4], "int16").chunks(&[1]).codecs("bytes")?;
/// let big = NewArray::new(&[4], "int16").codecs(r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#)?;
/// let (a, b) = (digest(small)?, digest(big.dialect(Dialect::V2))?);
/// assert_eq!(a.hash, b.hash);
/// assert_eq!(a.hash.to_string(), "4e30c8226141f389b097eb5c454df440ac7ef67c8e26555f38eb5b96bca29e37");
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Digest {
    /// Hash of all nodes; if the node is an array and attributes are not hashed, the hash of that array.
    pub hash: Hash,
    /// Whether all NaNs of a type, and both zeros, were taken as equal.
    pub ieee: bool,
    /// Whether attributes were hashed.
    pub attributes: bool,
    /// Digests of the nodes, sorted by path: of arrays, and of groups if attributes were hashed.
    pub nodes: Vec<NodeDigest>,
}

/// Digest of one node.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NodeDigest {
    /// Path of the node, relative to the node of the whole digest; `/` is that node itself.
    pub path: String,
    /// Digest of the elements; `None` for a group.
    pub array: Option<ArrayDigest>,
    /// Hash of the attributes and dimension names; `None` if attributes were not hashed.
    pub attributes: Option<Hash>,
}

/// Digest of the elements of an array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArrayDigest {
    /// Hash of data type, shape and elements.
    pub hash: Hash,
    /// Canonical name of the data type as JSON, the same in all dialects.
    pub data_type: Value,
    /// Shape of the array, or of its region.
    pub shape: Vec<u64>,
    /// Lengths of a box along each axis, see [`box_shape`](crate::box_shape).
    pub box_shape: Vec<u64>,
    /// Hashes of the boxes, in C order; `None` if they are unknown.
    pub parts: Option<Vec<Hash>>,
}

impl Digest {
    /// Computes the digest of the node at `path` and of all nodes below it. Reads the elements of arrays, each chunk once if memory
    /// suffices, and calls `progress` with each event.
    ///
    /// # Errors
    /// If the node does not exist, a node below is broken, or a chunk cannot be read; [`Argument`](zarr_hierarchy::ErrorKind::Argument)
    /// if chunks are larger than the memory allows, or a region exceeds its array; [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) for
    /// a region whose array does not exist; [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled).
    pub fn of<F: IntoFlow>(
        store: &Arc<dyn Store>,
        path: &str,
        registry: &Arc<Registry>,
        options: &DigestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Self> {
        let walk = zarr_hierarchy::walk(&**store, path, options.dialect)?;
        if let Some(error) = walk.broken.into_iter().next() {
            return Err(error);
        }
        let progress = |event: Progress<'_>| progress(event).into_flow();
        Self::of_nodes(store, walk.nodes, registry, options, &Reporter::new(&progress))
    }

    fn of_nodes(
        store: &Arc<dyn Store>,
        nodes: Vec<StoredNode>,
        registry: &Arc<Registry>,
        options: &DigestOptions,
        reporter: &Reporter<'_>,
    ) -> Result<Self> {
        selected::check(&options.regions, nodes.iter())?;
        let root = nodes.first().map_or_else(NodePath::root, |node| node.path.clone());
        let mut opened = Vec::new();
        for found in nodes {
            let found = options.options.as_read(found);
            let path = below(&root, &found.path);
            let attributes = match options.attributes {
                // Broken attributes are an error, and not none.
                true => zarr_hierarchy::node::attributes(&found).map(|_| Some(attributes::hash(&found.node)))?,
                false => None,
            };
            let array = match &found.node {
                Node::Array(_) => {
                    let array = Array::from_found(store, found.clone(), registry, options.options.clone())?;
                    Some(select(array, &options.regions)?)
                }
                Node::Group(_) if options.attributes => None,
                Node::Group(_) => continue,
            };
            opened.push((path, array, attributes));
        }
        opened.sort_by(|a, b| a.0.cmp(&b.0));
        let sizes = opened.iter().filter_map(|(_, array, _)| array.as_ref().map(Selected::size));
        reporter.report(Progress::Total(sizes.fold(0, u128::saturating_add)))?;
        let mut nodes = Vec::new();
        for (path, array, attributes) in opened {
            let array = match array {
                Some(array) => {
                    reporter.report(Progress::Begin(&path))?;
                    Some(ArrayDigest::of_selected(&array, options, reporter)?)
                }
                None => None,
            };
            nodes.push(NodeDigest { path, array, attributes });
        }
        let (ieee, attributes) = (options.ieee, options.attributes);
        Ok(Self { hash: hash_of(&nodes, ieee, attributes), ieee, attributes, nodes })
    }
}

impl ArrayDigest {
    /// Computes the digest of an open array, without its attributes.
    ///
    /// # Errors
    /// The errors of [`Digest::of`].
    pub fn of<F: IntoFlow>(
        array: &Array,
        options: &DigestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Self> {
        let progress = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&progress);
        let selected = select(array.clone(), &options.regions)?;
        reporter.report(Progress::Total(selected.size()))?;
        Self::of_selected(&selected, options, &reporter)
    }

    fn of_selected(selected: &Selected, options: &DigestOptions, reporter: &Reporter<'_>) -> Result<Self> {
        let (array, shape) = (selected.array(), selected.shape());
        let located = |error: Error| {
            error.at(|location| {
                (location.store, location.path) = (Some(array.store().to_string()), Some(array.path().to_string()));
            })
        };
        let boxes = boxes::boxes(&shape, array.data_type()).map_err(|error| located(error.into()))?;
        let advance = |bytes: u128| reporter.report(Progress::Done(bytes));
        let parts = leaves::leaves(selected, &boxes, options.fold(), options.memory, &advance).map_err(located)?;
        Ok(Self::new(data_type::canonical(array.data_type()), &shape, &boxes, parts, options.ieee))
    }

    fn new(data_type: Value, shape: &[u64], boxes: &ChunkGrid, parts: Vec<Hash>, ieee: bool) -> Self {
        let hash = Self::hash_of(&data_type, shape, &parts, ieee);
        let box_shape = boxes.regular_chunk_shape().unwrap_or_default().to_vec();
        Self { hash, data_type, shape: shape.to_vec(), box_shape, parts: Some(parts) }
    }

    fn hash_of(data_type: &Value, shape: &[u64], parts: &[Hash], ieee: bool) -> Hash {
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        let mut hasher = blake3::Hasher::new();
        let mut head = format!("zarr array 1\n{}\n", mode(ieee)).into_bytes();
        encode(data_type, &mut head);
        head.extend_from_slice(format!("\n{}\n", shape.join(",")).as_bytes());
        hasher.update(&head);
        parts.iter().for_each(|part| {
            hasher.update(part.as_bytes());
        });
        finished(&hasher)
    }

    /// Returns the region of the box at position `part`, in C order; `None` if there is no such box.
    pub fn region(&self, part: usize) -> Option<Region> {
        let boxes = ChunkGrid::regular(&self.shape, &self.box_shape).ok()?;
        let all = boxes.intersect(&Region::whole(&self.shape));
        let part = u64::try_from(part).ok().filter(|&part| part < all.len())?;
        Some(boxes.chunk_region(&all.get(part).index))
    }
}

fn mode(ieee: bool) -> &'static str {
    if ieee { "ieee" } else { "bits" }
}

/// Returns the hash of a hierarchy with these nodes, sorted by path.
fn hash_of(nodes: &[NodeDigest], ieee: bool, attributes: bool) -> Hash {
    if let [NodeDigest { path, array: Some(array), .. }] = nodes
        && path == "/"
        && !attributes
    {
        return array.hash;
    }
    let counted = if attributes { "attributes" } else { "values" };
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("zarr hierarchy 1\n{}\n{counted}\n", mode(ieee)).as_bytes());
    for node in nodes {
        hasher.update(&(node.path.len() as u64).to_le_bytes());
        hasher.update(node.path.as_bytes());
        match &node.array {
            Some(array) => hasher.update(b"a").update(array.hash.as_bytes()),
            None => hasher.update(b"g"),
        };
        if let Some(attributes) = &node.attributes {
            hasher.update(attributes.as_bytes());
        }
    }
    finished(&hasher)
}

/// Returns `path` relative to `root`; `/` if they are equal.
pub(crate) fn below(root: &NodePath, path: &NodePath) -> String {
    let rest = path.as_relative().strip_prefix(root.as_relative()).unwrap_or(path.as_relative());
    format!("/{}", rest.trim_start_matches('/'))
}

/// Returns the box shape for an array of this shape and canonical data type; `None` if the data type is unknown.
fn known_boxes(shape: &[u64], data_type: &Value) -> Option<Vec<u64>> {
    let data_type = DataType::from_config(&NamedConfig::from_value(data_type)?).ok()?;
    Some(boxes::box_shape(shape, &data_type))
}
