//! Trees of data sets: groups below each other, which inherit coordinates.

use crate::{Dataset, DatasetOptions, Dimension, Error, ErrorKind, Result, Variable, decoded};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use zarr_array::Group;
use zarr_meta::{NodePath, StoredNode};

/// Tree of the data sets of a group and of all groups below it: `xarray.DataTree`.
///
/// A group inherits the coordinates that label dimensions of the groups above it, unless it has variables of the same names. So the sizes
/// of dimensions must agree along each path.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
/// # use zarr_dataset::DataTree;
/// # let mut registry = Registry::default();
/// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// # let root = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
/// let new = || NewArray::new(&[3], "int32").dimension_names(&["x"]).codecs("bytes");
/// root.create_array("x", new()?)?.write(.., &[10, 20, 30])?;
/// root.create_group("fine", NewGroup::new())?.create_array("v", new()?)?.write(.., &[1, 2, 3])?;
///
/// let tree = DataTree::open(&root)?;
/// let paths: Vec<&str> = tree.iter().map(|(path, _)| path).collect();
/// assert_eq!(paths, ["/", "/fine"]);
/// // The labels are those of the group above.
/// let fine = tree.dataset("/fine")?;
/// assert_eq!(fine.sel("x", 20)?.variable("v")?.read()?.to_vec::<i32>()?, [2]);
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataTree {
    /// The group and all groups below it; each group precedes the groups below it.
    groups: Vec<Node>,
}

/// Group of the tree.
#[derive(Clone, Debug)]
struct Node {
    /// Path of the group, relative to the group at which the tree was opened.
    path: String,
    /// Index in [`DataTree::groups`] of the nearest group above; `None` for the first group.
    parent: Option<usize>,
    /// Data set of the group, without inherited coordinates.
    dataset: Dataset,
}

impl DataTree {
    /// Opens the data sets of a group and of all groups below it. The nodes are found in the consolidated metadata of the group, if there
    /// is any, which is not compared with the nodes, and by listing otherwise.
    ///
    /// # Errors
    /// The errors of [`Dataset::open`] for each group; [`ErrorKind::InvalidMetadata`] if a dimension has another size than in a group
    /// above.
    pub fn open(group: &Group) -> Result<Self> {
        Self::open_with(group, &DatasetOptions::default())
    }

    /// Opens the data sets of a group and of all groups below it, all with `options`.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(group: &Group, options: &DatasetOptions) -> Result<Self> {
        let walk = if options.ignore_consolidated { group.walk()? } else { group.consolidated_walk()? };
        Self::of_nodes(group, walk.nodes, walk.broken, options)
    }

    /// Returns the data sets of `group` and of the `nodes` below it. `broken` are the errors of nodes that cannot be read.
    pub(crate) fn of_nodes(
        group: &Group,
        nodes: Vec<StoredNode>,
        broken: Vec<Error>,
        options: &DatasetOptions,
    ) -> Result<Self> {
        let registry = decoded::registry(group.registry());
        let found = by_group(group, nodes, broken);
        let root = group.path().names().count();
        let mut groups: Vec<Node> = Vec::with_capacity(found.len());
        let mut sizes = Sizes::default();
        for Found { path, node, arrays, broken } in found {
            let group = Group::from_found(group.store(), node, group.registry())?;
            let dataset = Dataset::of_nodes(&group, arrays, broken, options, &registry)?;
            let parent = sizes.enter(groups.len(), &path, &dataset)?;
            let names: String = path.names().skip(root).fold(String::new(), |path, name| path + "/" + name);
            let path = if names.is_empty() { "/".to_owned() } else { names };
            groups.push(Node { path, parent, dataset });
        }
        Ok(Self { groups })
    }

    /// Returns the data set of the group at `path`, relative to the group at which the tree was opened: `/`, `/a/b`. It has the inherited
    /// coordinates.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such group, with the most similar path.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        Ok(self.inherited(self.find(path)?.1))
    }

    /// Iterates over all groups, each before the groups below it: the path, and the data set with the inherited coordinates.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Dataset)> {
        self.groups.iter().map(|group| (group.path.as_str(), self.inherited(group)))
    }

    /// Iterates over the paths of the groups directly below the group at `path`.
    ///
    /// # Errors
    /// The errors of [`dataset`](Self::dataset).
    pub fn children(&self, path: &str) -> Result<impl Iterator<Item = &str>> {
        let parent = Some(self.find(path)?.0);
        Ok(self.groups.iter().filter(move |group| group.parent == parent).map(|group| group.path.as_str()))
    }

    /// Returns the overview of the tree as text: the overview of each group under its path. Inherited coordinates are shown only in the
    /// group that they belong to. Reads the ends of coordinates, as [`Dataset::overview`] does for each group.
    pub fn overview(&self) -> impl fmt::Display + use<> {
        let mut text = String::new();
        for (number, group) in self.groups.iter().enumerate() {
            let dataset = self.inherited(group);
            let is_own = |variable: &Variable| dataset.inherited().all(|inherited| inherited.name() != variable.name());
            let overview = crate::Overview::new(&dataset, is_own);
            let separator = if number == 0 { "" } else { "\n\n" };
            // Writing to a string never fails.
            let _ = write!(text, "{separator}Group: {}\n{overview}", group.path);
        }
        text
    }

    fn find(&self, path: &str) -> Result<(usize, &Node)> {
        let wanted = NodePath::parse(path).map_err(Error::from)?.to_string();
        let found = self.groups.iter().enumerate().find(|(_, group)| group.path == wanted);
        found.ok_or_else(|| {
            let error = Error::new(ErrorKind::NotFound, format!("found no group {wanted}"));
            match zarr_json::nearest_name(&wanted, self.groups.iter().map(|group| group.path.as_str())) {
                Some(near) => error.with_hint(format!("there is one called {near}")),
                None => error,
            }
        })
    }

    /// Returns the data set of a group with the coordinates of the groups above it. Those of a group further above take the place of none
    /// that cannot be opened.
    fn inherited(&self, group: &Node) -> Dataset {
        let mut dataset = group.dataset.clone();
        let mut passed: Vec<&Dataset> = Vec::new();
        let mut above = group.parent;
        while let Some(group) = above.and_then(|number| self.groups.get(number)) {
            passed.push(&group.dataset);
            for dimension in group.dataset.dimensions() {
                let is_broken = passed.iter().any(|below| below.fault(&dimension.name).is_some());
                if let (Ok(coordinate), false) = (group.dataset.index_coordinate(&dimension.name), is_broken) {
                    dataset.inherit(dimension, coordinate);
                }
            }
            above = group.parent;
        }
        dataset
    }
}

/// Group that was found, with its arrays.
struct Found {
    path: NodePath,
    node: StoredNode,
    arrays: Vec<StoredNode>,
    broken: Vec<Error>,
}

/// Groups `nodes`: returns each group with its arrays, before the groups below it. An error in `broken` belongs to the nearest group above
/// its path.
fn by_group(root: &Group, nodes: Vec<StoredNode>, broken: Vec<Error>) -> Vec<Found> {
    let names = |path: &NodePath| path.names().map(str::to_owned).collect::<Vec<_>>();
    let found = |node: StoredNode| Found { path: node.path.clone(), node, arrays: Vec::new(), broken: Vec::new() };
    let (arrays, groups): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|node| node.node.as_array().is_some());
    // Sorted by names, all groups below one follow it.
    let mut sorted: BTreeMap<Vec<String>, Found> =
        groups.into_iter().map(|node| (names(&node.path), found(node))).collect();
    sorted.entry(names(root.path())).or_insert_with(|| found(root.found().clone()));
    for node in arrays {
        let Some(above) = node.path.parent() else { continue };
        // Consolidated metadata may have arrays in groups that are missing in it.
        let group = sorted.entry(names(&above));
        group.or_insert_with(|| found(StoredNode::implicit(node.dialect, above))).arrays.push(node);
    }
    for error in broken {
        let path = error.location().path.as_deref().and_then(|path| NodePath::parse(path).ok());
        let mut above = path.as_ref().and_then(NodePath::parent).unwrap_or_else(|| root.path().clone());
        while !sorted.contains_key(&names(&above)) {
            above = above.parent().unwrap_or_else(|| root.path().clone());
        }
        if let Some(group) = sorted.get_mut(&names(&above)) {
            group.broken.push(error);
        }
    }
    sorted.into_values().collect()
}

/// Sizes of dimensions along the path to the present group.
#[derive(Default)]
struct Sizes {
    /// Groups on the path: path, number, and names of dimensions of each.
    path: Vec<(NodePath, usize, Vec<String>)>,
    /// Sizes of each dimension in the groups on the path, with the group of each size.
    known: BTreeMap<String, Vec<(u64, NodePath)>>,
}

impl Sizes {
    /// Moves to a group, and returns the number of the nearest group above it.
    fn enter(&mut self, number: usize, path: &NodePath, dataset: &Dataset) -> Result<Option<usize>> {
        while let Some((_, _, names)) = self.path.pop_if(|(above, ..)| !path.is_within(above)) {
            for name in names {
                self.known.get_mut(&name).map(Vec::pop);
            }
        }
        let parent = self.path.last().map(|(_, number, _)| *number);
        let mut names = Vec::new();
        // Dimensions that NCZarr lists, but no variable has, need not agree.
        let is_used = |known: &&Dimension| dataset.variables().any(|it| it.dimensions().any(|name| name == known.name));
        for dimension in dataset.dimensions().iter().filter(is_used) {
            let sizes = self.known.entry(dimension.name.clone()).or_default();
            if let Some((size, group)) = sizes.last().filter(|(size, _)| *size != dimension.size) {
                let Dimension { name, size: found, .. } = dimension;
                let message =
                    format!("dimension {name} has {found} elements in group {path}, but {size} in group {group}");
                let error = Error::new(ErrorKind::InvalidMetadata, message).at_path(path);
                return Err(error.with_hint("a group has the dimensions of the groups above it"));
            }
            sizes.push((dimension.size, path.clone()));
            names.push(dimension.name.clone());
        }
        self.path.push((path.clone(), number, names));
        Ok(parent)
    }
}
