//! Nodes of the hierarchy that is checked, as a walk found them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use zarr_array::{Array, Options, Registry};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, Walk};
use zarr_meta::{NodePath, StoredNode, consolidated};
use zarr_store::Store;

/// Nodes of a hierarchy, and indexes of their keys.
pub(crate) struct Hierarchy {
    /// Nodes sorted by path; the first is the node at which the check begins.
    pub(crate) nodes: Vec<StoredNode>,
    /// Opened array of each node; `None` for a group, and for an array that cannot be opened.
    pub(crate) arrays: Vec<Option<Array>>,
    /// Paths of nodes whose documents are broken.
    broken: HashSet<String>,
    /// Keys of the documents of all nodes.
    documents: HashSet<String>,
    /// Numbers of nodes in `nodes`, by their paths.
    numbers: HashMap<String, usize>,
    /// Numbers of the nodes directly in a group, by the path of the group.
    children: HashMap<String, Vec<usize>>,
    /// Paths of the nodes below arrays that the walk has reported.
    below_arrays: HashSet<String>,
    /// Numbers of groups with a separate document of consolidated metadata, by the key of that document.
    pub(crate) copies: HashMap<String, usize>,
    /// Arrays with the keys of their chunks, by the prefixes of their chunks.
    prefixes: HashMap<String, Vec<(usize, ChunkKeys)>>,
    /// Prefixes of nodes whose keys are not known, since their documents are broken.
    unknown: HashSet<String>,
}

impl Hierarchy {
    /// Opens the arrays of a walk. Calls `fault` with the error of an array that cannot be opened.
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

    /// Whether the node at `path` has broken documents.
    pub(crate) fn is_broken(&self, path: &NodePath) -> bool {
        self.broken.contains(&path.to_string())
    }

    /// Whether keys below `prefix` belong to a node that cannot be read, so that nothing is known about them.
    pub(crate) fn is_unknown(&self, prefix: &str) -> bool {
        self.unknown.contains(prefix)
    }

    /// Arrays whose chunks lie below `prefix`, with their numbers and keys; `None` if there are none.
    pub(crate) fn arrays_at(&self, prefix: &str) -> Option<&[(usize, ChunkKeys)]> {
        self.prefixes.get(prefix).map(Vec::as_slice)
    }

    /// Whether `key` is the key of a document of a node.
    pub(crate) fn is_document(&self, key: &str) -> bool {
        self.documents.contains(key)
    }

    /// Whether the walk has reported the node at `path` as lying below an array.
    pub(crate) fn is_below_array(&self, path: &NodePath) -> bool {
        self.below_arrays.contains(&path.to_string())
    }

    /// Node at `path`; `None` if there is none.
    pub(crate) fn node(&self, path: &NodePath) -> Option<&StoredNode> {
        self.nodes.get(*self.numbers.get(&path.to_string())?)
    }

    /// Nodes directly in the group at `path`.
    pub(crate) fn children(&self, path: &NodePath) -> impl Iterator<Item = &StoredNode> {
        let numbers = self.children.get(&path.to_string()).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().filter_map(|number| self.nodes.get(*number))
    }

    /// Node at `path`, and all nodes below it.
    pub(crate) fn within(&self, path: &NodePath) -> impl Iterator<Item = &StoredNode> {
        let prefix = path.key_prefix();
        // Sorted by path, all nodes below it stand together.
        let first = self.nodes.partition_point(|node| *node.path.as_relative() < *prefix);
        let below = self.nodes.get(first..).unwrap_or_default().iter();
        let below = below.take_while(move |node| node.path.as_relative().starts_with(prefix.as_str()));
        self.node(path).filter(|_| !path.is_root()).into_iter().chain(below)
    }

    /// Path of the node with the number `number`.
    pub(crate) fn path(&self, number: usize) -> String {
        self.nodes.get(number).map_or_else(String::new, |node| node.path.to_string())
    }

    /// Opened array of the node with the number `number`; `None` for a group, and for an array that cannot be opened.
    pub(crate) fn array(&self, number: usize) -> Option<&Array> {
        self.arrays.get(number).and_then(Option::as_ref)
    }
}
