//! The nodes of a hierarchy that is checked, as a walk found them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use zarr_array::{Array, Options, Registry};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Walk};
use zarr_meta::{NodePath, StoredNode, consolidated};
use zarr_store::Store;

/// The nodes of a hierarchy, and what is known of their keys.
pub(crate) struct Hierarchy {
    /// Sorted by path; the first one is where the check begins.
    pub(crate) nodes: Vec<StoredNode>,
    /// For each node, the array, if it is one that can be opened.
    pub(crate) arrays: Vec<Option<Array>>,
    /// The paths of nodes that are there but broken.
    broken: HashSet<String>,
    /// The keys of documents.
    documents: HashSet<String>,
    /// Nodes by their paths.
    numbers: HashMap<String, usize>,
    /// The numbers of the nodes in a group, by its path.
    children: HashMap<String, Vec<usize>>,
    /// The paths of nodes that lie below arrays, of which the walk has told.
    below_arrays: HashSet<String>,
    /// Documents of consolidated metadata by their keys.
    pub(crate) copies: HashMap<String, usize>,
    /// Arrays by the prefixes of their chunks.
    prefixes: HashMap<String, Vec<(usize, ChunkKeys)>>,
    /// Prefixes of arrays whose keys are not known.
    unknown: HashSet<String>,
}

impl Hierarchy {
    /// Opens the arrays of a walk; `fault` is told why one cannot be opened.
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        options: &Options,
        walk: &mut Walk,
        fault: impl Fn(Error),
    ) -> Self {
        let nodes = std::mem::take(&mut walk.nodes);
        let broken: HashSet<String> = walk.broken.iter().filter_map(|error| error.location().path.clone()).collect();
        let mut unknown = HashSet::new();
        if let Some(first) = nodes.first() {
            let paths = broken.iter().filter_map(|path| NodePath::parse(path).ok());
            unknown.extend(paths.flat_map(|path| zarr_meta::owned(first.dialect, &path, &first.documents).prefixes));
        }
        let mut hierarchy = Self {
            nodes,
            arrays: Vec::new(),
            broken,
            documents: HashSet::new(),
            numbers: HashMap::new(),
            children: HashMap::new(),
            below_arrays: walk.below_arrays.iter().map(|node| node.path.to_string()).collect(),
            copies: HashMap::new(),
            prefixes: HashMap::new(),
            unknown,
        };
        for number in 0..hierarchy.nodes.len() {
            hierarchy.add(number, store, registry, options, &fault);
        }
        hierarchy
    }

    fn add(
        &mut self,
        number: usize,
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        options: &Options,
        fault: &impl Fn(Error),
    ) {
        let Some(found) = self.nodes.get(number) else { return };
        self.documents.extend(found.documents.keys().map(str::to_owned));
        self.numbers.insert(found.path.to_string(), number);
        if let Some(group) = found.path.parent() {
            self.children.entry(group.to_string()).or_default().push(number);
        }
        if found.node.as_array().is_none() {
            self.copies.extend(consolidated::document_key(found).map(|key| (key, number)));
            self.arrays.push(None);
            return;
        }
        let opened = Array::from_found(store, found.clone(), registry, options.clone());
        let array = opened.map_err(fault).ok();
        match ChunkKeys::new(found) {
            Ok(keys) => {
                let prefixes: HashSet<String> = keys.prefixes().map(str::to_owned).collect();
                let mut keys = Some(keys);
                for prefix in prefixes {
                    let keys = keys.take().or_else(|| ChunkKeys::new(found).ok());
                    self.prefixes.entry(prefix).or_default().extend(keys.map(|keys| (number, keys)));
                }
            }
            Err(_) => {
                self.unknown.insert(found.chunk_prefix());
            }
        }
        self.arrays.push(array);
    }

    /// Whether there is a node at a path that is broken.
    pub(crate) fn is_broken(&self, path: &NodePath) -> bool {
        self.broken.contains(&path.to_string())
    }

    /// Whether what lies below a prefix belongs to a node that cannot be read, so that nothing is known of it.
    pub(crate) fn is_unknown(&self, prefix: &str) -> bool {
        self.unknown.contains(prefix)
    }

    /// The arrays whose chunks lie below a prefix, with their numbers.
    pub(crate) fn arrays_at(&self, prefix: &str) -> Option<&[(usize, ChunkKeys)]> {
        self.prefixes.get(prefix).map(Vec::as_slice)
    }

    /// Whether a key is that of a document of a node.
    pub(crate) fn is_document(&self, key: &str) -> bool {
        self.documents.contains(key)
    }

    /// Whether the walk has found a node at a path below an array.
    pub(crate) fn is_below_array(&self, path: &NodePath) -> bool {
        self.below_arrays.contains(&path.to_string())
    }

    /// The node at a path.
    pub(crate) fn node(&self, path: &NodePath) -> Option<&StoredNode> {
        self.nodes.get(*self.numbers.get(&path.to_string())?)
    }

    /// The nodes directly in a group.
    pub(crate) fn children(&self, path: &NodePath) -> impl Iterator<Item = &StoredNode> {
        let numbers = self.children.get(&path.to_string()).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().filter_map(|number| self.nodes.get(*number))
    }

    /// The node at a path, and all below it.
    pub(crate) fn within(&self, path: &NodePath) -> impl Iterator<Item = &StoredNode> {
        let prefix = path.key_prefix();
        // Sorted by path, all nodes below it stand together.
        let first = self.nodes.partition_point(|node| *node.path.as_relative() < *prefix);
        let below = self.nodes.get(first..).unwrap_or_default().iter();
        let below = below.take_while(move |node| node.path.as_relative().starts_with(prefix.as_str()));
        self.node(path).filter(|_| !path.is_root()).into_iter().chain(below)
    }

    /// The path of a node by its number.
    pub(crate) fn path(&self, number: usize) -> String {
        self.nodes.get(number).map_or_else(String::new, |node| node.path.to_string())
    }

    /// The array of a node by its number.
    pub(crate) fn array(&self, number: usize) -> Option<&Array> {
        self.arrays.get(number).and_then(Option::as_ref)
    }
}
