//! Comparisons of two nodes and all nodes below them.

mod coordinates;
mod documents;
mod elements;
mod missing;
mod ome;
mod options;
mod others;
mod report;
mod stored;
mod values;

pub use documents::Fact;
pub use options::{CompareOptions, Tolerance};
pub use others::{OtherDifference, OtherKeyDiffers};
pub use values::{DifferentElement, NotCompared, ValueDifferences, Values};

use crate::Progress;
use crate::digest::below;
use crate::merge::{Pair, merge};
use crate::progress::Reporter;
use crate::selected::{self, select};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::{Array, Registry};
use zarr_grid::Region;
use zarr_hierarchy::{ErrorKind, IntoFlow, Result};
use zarr_meta::{Dialect, Node, NodePath, StoredNode};
use zarr_scan::Selected;
use zarr_store::{Key, Store};

/// One side of a comparison: a node in a store, with all nodes below it.
#[derive(Clone, Debug)]
pub struct Side {
    /// Store of the node.
    pub store: Arc<dyn Store>,
    /// Path of the node in `store`.
    pub path: NodePath,
    /// Dialect of the nodes that are compared, for stores with nodes of several dialects; `None` for all nodes.
    pub dialect: Option<Dialect>,
    /// Regions of arrays that are compared, by path. A region needs the same length along each axis as the other side. Arrays without a
    /// region are compared whole.
    pub regions: BTreeMap<NodePath, Region>,
}

impl Side {
    /// Creates a side for the node at `path`, of any dialect, without regions.
    pub fn new(store: &Arc<dyn Store>, path: NodePath) -> Self {
        Self { store: Arc::clone(store), path, dialect: None, regions: BTreeMap::new() }
    }
}

impl Side {
    /// Returns the node `found` with the shape of its region, if it has one.
    fn as_selected(&self, found: &StoredNode) -> StoredNode {
        let mut found = found.clone();
        if let (Node::Array(array), Some(region)) = (&mut found.node, self.regions.get(&found.path)) {
            array.shape = region.shape().to_vec();
        }
        found
    }
}

/// Differences between two nodes and all nodes below them.
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, NewArray, NodePath, Registry, Store};
/// use zarr_compare::{CompareOptions, Comparison, Side, Values};
/// use zarr_store::MemoryStore;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let create = |path: &str, chunk: u64, elements: [f32; 4]| {
///     let new = NewArray::new(&[4], "float32").chunks(&[chunk]).codecs("bytes")?;
///     Array::create(&store, path, new, &registry)?.write(.., &elements)?;
///     Ok::<_, zarr_hierarchy::Error>(Side::new(&store, NodePath::parse(path)?))
/// };
/// let (a, b) = (create("/a", 4, [1.0, 2.0, 3.0, 4.0])?, create("/b", 1, [1.0, 2.5, 3.0, 4.0])?);
/// let comparison = Comparison::of(&a, &b, &registry, &CompareOptions::default(), |_| {})?;
/// assert!(!comparison.is_equal());
/// let Values::Compared(values) = &comparison.nodes[0].values else { panic!("both have the same shape") };
/// assert_eq!((values.different, values.max_abs), (1, Some(0.5)));
/// assert_eq!(values.first[0].index, [1]);
///
/// let options = CompareOptions::default().tolerance(0.2, 0.0);
/// let comparison = Comparison::of(&a, &b, &registry, &options, |_| {})?;
/// assert!(comparison.is_equal() && comparison.nodes[0].facts.iter().all(|fact| fact.is_layout));
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// Paths of the nodes that only the first side has, relative to its node; `/` is that node itself.
    pub only_in_first: Vec<String>,
    /// Paths of the nodes that only the second side has, relative to its node.
    pub only_in_second: Vec<String>,
    /// Comparisons of the nodes that both sides have, sorted by path.
    pub nodes: Vec<NodeComparison>,
    /// Keys below groups that belong to no node and differ, sorted: files of other software ([`other_keys`](zarr_hierarchy::other_keys)).
    pub other_keys: Vec<OtherDifference>,
}

/// Differences between two nodes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeComparison {
    /// Path of the node, relative to the compared root nodes; `/` is the root node itself.
    pub path: String,
    /// Document members that differ.
    pub facts: Vec<Fact>,
    /// Attributes that differ, each with its JSON pointer into the attributes.
    pub attributes: Vec<Fact>,
    /// Result of comparing the elements.
    pub values: Values,
}

impl NodeComparison {
    /// Returns whether no compared property differs except the layout. False if elements [could not be compared](NotCompared).
    pub fn is_equal(&self) -> bool {
        self.facts.iter().chain(&self.attributes).all(|fact| fact.is_layout) && self.values.are_equal()
    }

    /// Returns whether the layout differs: dialect, chunks, codecs or chunk keys.
    pub fn has_other_layout(&self) -> bool {
        self.facts.iter().chain(&self.attributes).any(|fact| fact.is_layout)
    }
}

impl Comparison {
    /// Compares two nodes and all nodes below them.
    ///
    /// Elements are read in slabs that fit into memory; each chunk of both sides is read once if memory suffices. `progress` is called
    /// with each event.
    ///
    /// # Errors
    /// If a node does not exist, a node below is broken, or a chunk cannot be read; [`Argument`](zarr_hierarchy::ErrorKind::Argument) if
    /// chunks are larger than the memory allows, or a region exceeds its array; [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) for a
    /// region whose array does not exist; [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled).
    pub fn of<F: IntoFlow>(
        first: &Side,
        second: &Side,
        registry: &Arc<Registry>,
        options: &CompareOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Self> {
        let progress = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&progress);
        // Chunks of nodes that are not to be seen look like keys of no node.
        let can_tell = |side: &Side| side.dialect.is_none() && side.store.capabilities().list;
        let with_others = options.other_keys && can_tell(first) && can_tell(second);
        let (mut of_first, first_others) = nodes_of(first, options, with_others)?;
        let (mut of_second, second_others) = nodes_of(second, options, with_others)?;
        let is_v3 = |nodes: &[Found]| nodes.first().is_some_and(|(_, node)| node.dialect.is_v3());
        if is_v3(&of_first) != is_v3(&of_second) {
            [&mut of_first, &mut of_second].into_iter().for_each(|nodes| ome::as_in_v3(nodes));
        }
        let (mut comparison, pairs) = pair(of_first, of_second);
        comparison.other_keys = others::compare((first, first_others), (second, second_others))?;
        let mut planned = Vec::new();
        let mut total = 0_u128;
        for (path, a, b) in pairs {
            let node = Planned::new(path, (first, a), (second, b), registry, options)?;
            total = total.saturating_add(node.size());
            planned.push(node);
        }
        reporter.report(Progress::Total(total))?;
        for node in planned {
            comparison.nodes.push(node.compare(registry, options, &reporter)?);
        }
        Ok(comparison)
    }

    /// Returns whether no compared property differs except the layout. False if elements [could not be compared](NotCompared).
    pub fn is_equal(&self) -> bool {
        self.only_in_first.is_empty()
            && self.only_in_second.is_empty()
            && self.other_keys.is_empty()
            && self.nodes.iter().all(NodeComparison::is_equal)
    }

    /// Returns the number of nodes whose elements should have been compared and could not be.
    pub fn not_compared(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.values, Values::NotCompared(why) if why.is_unknown())).count()
    }

    /// Returns whether the layout of any node differs.
    pub fn has_other_layout(&self) -> bool {
        self.nodes.iter().any(NodeComparison::has_other_layout)
    }
}

/// Returns the nodes of a side with their relative paths, sorted, and, if `with_others`, the keys that belong to no node.
fn nodes_of(side: &Side, options: &CompareOptions, with_others: bool) -> Result<(Vec<Found>, BTreeMap<String, Key>)> {
    let walk = zarr_hierarchy::walk(&*side.store, &side.path.to_string(), side.dialect)?;
    let others = match with_others {
        true => others::below(side, zarr_hierarchy::other_keys(&*side.store, &walk)?),
        false => BTreeMap::new(),
    };
    if let Some(error) = walk.broken.into_iter().next() {
        return Err(error);
    }
    let as_read = |node: StoredNode| (below(&side.path, &node.path), options.options.as_read(node));
    let mut nodes: Vec<Found> = walk.nodes.into_iter().map(as_read).collect();
    nodes.sort_by(|a, b| a.0.cmp(&b.0));
    selected::check(&side.regions, nodes.iter().map(|(_, node)| node))?;
    Ok((nodes, others))
}

type Found = (String, StoredNode);

/// Returns pairs of nodes that both sides have, and a comparison with the nodes that only one side has.
fn pair(first: Vec<Found>, second: Vec<Found>) -> (Comparison, Vec<(String, StoredNode, StoredNode)>) {
    let mut comparison =
        Comparison { only_in_first: Vec::new(), only_in_second: Vec::new(), nodes: Vec::new(), other_keys: Vec::new() };
    let mut pairs = Vec::new();
    for pair in merge(first, second, |(path, _)| path) {
        match pair {
            Pair::Both((path, a), (_, b)) => pairs.push((path, a, b)),
            // A group without a document is there if nodes lie below it: it says nothing that these do not.
            Pair::First((path, node)) if !node.implicit => comparison.only_in_first.push(path),
            Pair::Second((path, node)) if !node.implicit => comparison.only_in_second.push(path),
            Pair::First(_) | Pair::Second(_) => {}
        }
    }
    (comparison, pairs)
}

/// Two nodes whose documents are compared, and whose elements are still to be compared.
struct Planned {
    comparison: NodeComparison,
    arrays: Option<(Selected, Selected)>,
}

impl Planned {
    fn new(
        path: String,
        (first, a): (&Side, StoredNode),
        (second, b): (&Side, StoredNode),
        registry: &Arc<Registry>,
        options: &CompareOptions,
    ) -> Result<Self> {
        let open = |side: &Side, node: &StoredNode| match node.node.as_array() {
            Some(_) => Array::from_found(&side.store, node.clone(), registry, options.options.clone())
                .and_then(|array| select(array, &side.regions).map(Some)),
            None => Ok(None),
        };
        let mut is_unknown = false;
        let arrays = match options.values {
            true => match (open(first, &a), open(second, &b)) {
                (Err(error), _) | (_, Err(error)) if error.kind() == ErrorKind::UnknownExtension => {
                    is_unknown = true;
                    None
                }
                (first, second) => first?.zip(second?),
            },
            false => None,
        };
        let facts = match options.metadata {
            true => {
                let (a, b) = (first.as_selected(&a), second.as_selected(&b));
                documents::facts(&a, &b, &registry.data_types, options.equal_nan)
            }
            false => Vec::new(),
        };
        let attributes = match options.attributes {
            true => {
                zarr_hierarchy::node::attributes(&a)?;
                zarr_hierarchy::node::attributes(&b)?;
                documents::attributes(&a, &b)
            }
            false => Vec::new(),
        };
        let values = match &arrays {
            _ if !options.values => Values::NotCompared(NotCompared::NotAsked),
            None if a.node.as_array().is_some() != b.node.as_array().is_some() => {
                Values::NotCompared(NotCompared::Kinds)
            }
            // Elements that cannot be decoded are the same where the bytes are.
            None if is_unknown => {
                let is_same_region = first.regions.get(&a.path) == second.regions.get(&b.path);
                let are_alike = is_same_region && stored::are_alike((first, &a), (second, &b), &registry.data_types)?;
                Values::NotCompared(match are_alike {
                    true => NotCompared::StoredAlike,
                    false => NotCompared::Unknown,
                })
            }
            None => Values::NotCompared(NotCompared::NoArrays),
            Some((a, b)) => values::comparable(a, b),
        };
        let arrays = arrays.filter(|_| matches!(values, Values::Compared(_)));
        Ok(Self { comparison: NodeComparison { path, facts, attributes, values }, arrays })
    }

    /// Returns the bytes of elements of both arrays that are to be read.
    fn size(&self) -> u128 {
        self.arrays.as_ref().map_or(0, |(a, b)| a.size().saturating_add(b.size()))
    }

    fn compare(
        mut self,
        registry: &Arc<Registry>,
        options: &CompareOptions,
        reporter: &Reporter<'_>,
    ) -> Result<NodeComparison> {
        if let Some((a, b)) = &self.arrays {
            reporter.report(Progress::Begin(&self.comparison.path))?;
            let mut found = values::compare(a, b, options, reporter)?;
            coordinates::add(a.array(), registry, &mut found.first);
            self.comparison.values = Values::Compared(found);
        }
        Ok(self.comparison)
    }
}
