//! Conversion of selections along named dimensions to regions of arrays.

use crate::indexer::Indexer;
use crate::{DataTree, Dataset, DatasetOptions, Error, ErrorKind, Labels, Result, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_array::{Group, Registry, Store};
use zarr_grid::{AxisRange, AxisSelection, Region};
use zarr_hierarchy::{open_node, walk, with_hierarchy_hint};
use zarr_meta::{Dialect, NodePath, StoredNode};

/// Selections along named dimensions, which are converted to regions of the arrays of a hierarchy: the part of a data set that a conversion
/// takes.
///
/// Labels are searched in the coordinates of each group, or of the groups above it. Dimensions stay even if one index is selected, so that
/// arrays of the regions are a data set again. A selection that is no box, such as a list of unevenly spaced indices, is an error.
///
/// A data set has arrays of one dialect. In arrays of other dialects than that of the node, indices are selected by the names of their
/// dimensions; labels are an error.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
/// # use zarr_dataset::{DatasetOptions, DimensionSelection, Labels};
/// # use zarr_grid::{AxisSelection, Region};
/// # use zarr_meta::NodePath;
/// # let mut registry = Registry::default();
/// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
/// # let registry = Arc::new(registry);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// # let group = Group::create(&store, "/", NewGroup::new(), &registry)?;
/// # let new = |names: &[&str]| NewArray::new(&vec![4; names.len()], "int32").dimension_names(names).codecs("bytes");
/// group.create_array("lat", new(&["lat"])?)?.write(.., &[60, 50, 40, 30])?;
/// group.create_array("t", new(&["time", "lat"])?)?;
///
/// let selection = DimensionSelection::default().sel("lat", Labels::between(50, 30)).isel("time", AxisSelection::Index(-1));
/// let regions = selection.regions(&store, &NodePath::root(), &registry, &DatasetOptions::default())?;
/// assert_eq!(regions[&NodePath::parse("/t")?], Region::from_ranges(&[3..4, 1..4]));
/// assert_eq!(regions[&NodePath::parse("/lat")?], Region::from_ranges(&[1..4]));
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DimensionSelection {
    along: Vec<(String, Along)>,
    above: Vec<Group>,
    exclude: Vec<NodePath>,
    arrays: Option<Vec<NodePath>>,
    dialect: Option<Dialect>,
}

#[derive(Clone, Debug)]
enum Along {
    Labels(Labels),
    Indices(AxisSelection),
}

impl DimensionSelection {
    /// Selects labels of the coordinate of a dimension, as [`Dataset::sel`] does.
    #[must_use]
    pub fn sel(mut self, dimension: &str, labels: impl Into<Labels>) -> Self {
        self.along.push((dimension.to_owned(), Along::Labels(labels.into())));
        self
    }

    /// Selects indices of a dimension, as [`Dataset::isel`] does.
    #[must_use]
    pub fn isel(mut self, dimension: &str, indices: impl Into<AxisSelection>) -> Self {
        self.along.push((dimension.to_owned(), Along::Indices(indices.into())));
        self
    }

    /// Sets groups above the root of the store, the nearest first, whose coordinates are inherited: the store may be the directory of a
    /// group.
    #[must_use]
    pub fn above(mut self, groups: Vec<Group>) -> Self {
        self.above = groups;
        self
    }

    /// Excludes nodes, and all nodes below them: errors of these nodes do not matter.
    #[must_use]
    pub fn exclude(mut self, nodes: Vec<NodePath>) -> Self {
        self.exclude = nodes;
        self
    }

    /// Restricts the regions to the arrays at these paths; `None` for all arrays.
    #[must_use]
    pub fn arrays(mut self, arrays: Option<Vec<NodePath>>) -> Self {
        self.arrays = arrays;
        self
    }

    /// Restricts the regions to nodes of one dialect, if the store has several; `None` for the nodes that [`walk`](zarr_hierarchy::walk)
    /// finds.
    #[must_use]
    pub fn dialect(mut self, dialect: Option<Dialect>) -> Self {
        self.dialect = dialect;
        self
    }

    /// Whether the array at `path` gets a region.
    fn is_taken(&self, path: &NodePath) -> bool {
        let is_left = self.exclude.iter().any(|above| path.is_within(above));
        !is_left && self.arrays.as_ref().is_none_or(|arrays| arrays.contains(path))
    }

    /// Whether labels are selected in a coordinate called like the node at `path`.
    fn has_labels(&self, path: &NodePath) -> bool {
        let is_label = |(name, along): &(String, Along)| matches!(along, Along::Labels(_)) && path.name() == Some(name);
        self.along.iter().any(is_label)
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.along.is_empty()
    }

    /// Returns the regions, by path, of the arrays at and below a node that are selected in part, including arrays whose codecs or other
    /// extensions are unknown. Arrays that are selected as a whole are left out. The nodes are those that are stored, as a conversion or a
    /// comparison finds them: consolidated metadata is not trusted if the store can list.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a dimension that no array has or that is given twice, a label that does not exist, a dimension without a
    /// coordinate, labels for an array of another dialect, and a selection that is no box; the errors of [`DataTree::open`].
    pub fn regions(
        &self,
        store: &Arc<dyn Store>,
        path: &NodePath,
        registry: &Arc<Registry>,
        options: &DatasetOptions,
    ) -> Result<BTreeMap<NodePath, Region>> {
        if self.is_empty() {
            return Ok(BTreeMap::new());
        }
        for (number, (name, _)) in self.along.iter().enumerate() {
            if self.along.iter().take(number).any(|(before, _)| before == name) {
                return Err(Error::argument(format!("dimension {name} is selected more than once")));
            }
        }
        let text = path.to_string();
        let walk = walk(&**store, &text, self.dialect).map_err(|error| with_hierarchy_hint(error, &**store, &text))?;
        let Some(found) = walk.nodes.first().cloned() else { return Ok(BTreeMap::new()) };
        let (own, others): (Vec<_>, Vec<_>) = walk.nodes.into_iter().partition(|node| node.dialect == found.dialect);
        let mut taken = Taken::default();
        self.take_others(&others, found.dialect, &mut taken)?;
        match self.datasets(found, (&own, walk.broken), store, registry, options) {
            Ok(datasets) => {
                for (dataset, name) in datasets {
                    self.take(dataset, name.as_deref(), &mut taken)?;
                }
            }
            // Indices need no data set.
            Err(error) if self.along.iter().any(|(_, along)| matches!(along, Along::Labels(_))) => return Err(error),
            Err(_) => self.take_arrays(&own, &mut taken)?,
        }
        match self.along.iter().find(|(name, _)| !taken.used.contains(name)) {
            None => Ok(taken.regions),
            Some((name, _)) => Err(no_dimension(name, &taken.known)),
        }
    }

    /// Returns the data sets of a node and of the groups below it. For an array, returns the data set of its group, with the name of the
    /// array.
    fn datasets(
        &self,
        found: StoredNode,
        (nodes, broken): (&[StoredNode], Vec<Error>),
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        options: &DatasetOptions,
    ) -> Result<Vec<(Dataset, Option<String>)>> {
        if found.node.as_array().is_none() {
            let group = Group::from_found(store, found, registry)?;
            let has = |path: &NodePath| self.is_taken(path) || self.has_labels(path);
            let nodes = nodes.iter().filter(|node| node.node.as_array().is_none() || has(&node.path));
            let tree = DataTree::of_nodes(&group, nodes.cloned().collect(), broken, options)?;
            let datasets = tree.iter().map(|(_, dataset)| Ok((self.inheriting(dataset)?, None)));
            return datasets.collect();
        }
        let (Some(above), Some(name)) = (found.path.parent(), found.path.name()) else {
            return Err(Error::argument("the array lies in no group that is a data set").at_path(&found.path));
        };
        let group = Group::from_found(store, open(store, &above, found.dialect)?, registry)?;
        let dataset = Dataset::open_variables(&group, &[name], options)?;
        Ok(vec![(self.inheriting(dataset)?, Some(name.to_owned()))])
    }

    fn inheriting(&self, dataset: Dataset) -> Result<Dataset> {
        let dataset = dataset.with_inherited()?;
        self.above.iter().try_fold(dataset, Dataset::inheriting)
    }

    /// Adds the regions of the variables of a data set, without inherited coordinates; with `only`, of the variable of that name.
    fn take(&self, dataset: Dataset, only: Option<&str>, taken: &mut Taken) -> Result<()> {
        let path = dataset.group().path().clone();
        let inherited: BTreeSet<String> = dataset.inherited().map(|it| it.name().to_owned()).collect();
        let is_own = |variable: &&Variable| {
            !inherited.contains(variable.name()) && only.is_none_or(|name| name == variable.name())
        };
        let is_taken = |variable: &&Variable| is_own(variable) && self.is_taken(variable.stored().path());
        taken.known.extend(dataset.variables().filter(is_taken).flat_map(Variable::dimensions).map(str::to_owned));
        let (mut selected, mut narrowed) = (dataset.clone(), BTreeSet::new());
        for (name, along) in &self.along {
            let has = |variable: &Variable| variable.dimensions().any(|known| known == name);
            if !dataset.variables().filter(is_own).any(has) {
                continue;
            }
            let done = match along {
                Along::Labels(labels) => selected.sel(name, labels.clone()),
                Along::Indices(indices) => selected.isel(name, indices.clone()),
            };
            selected = done.map_err(|error| match error.location().path.is_none() {
                true => error.at_path(&path),
                false => error,
            })?;
            narrowed.insert(name);
            if dataset.variables().filter(is_taken).any(has) {
                taken.used.insert(name.clone());
            }
        }
        for variable in selected.variables().filter(is_taken) {
            let axes = variable.axes_of_stored().map(|(name, indexer)| range(name, indexer));
            let axes = axes.collect::<Result<Vec<_>>>().map_err(|error| error.at_path(variable.stored().path()))?;
            taken.add(variable.stored().path(), variable.stored().shape(), Region::new(axes)?);
        }
        self.take_unknown(&dataset, (&selected, &narrowed), taken)
    }

    /// Adds the regions of arrays with unknown extensions, which are no variables, by the names of their dimensions. `selected` is the data
    /// set after the selection, and `narrowed` are the dimensions along which it was selected.
    fn take_unknown(
        &self,
        dataset: &Dataset,
        (selected, narrowed): (&Dataset, &BTreeSet<&String>),
        taken: &mut Taken,
    ) -> Result<()> {
        let unknown = dataset.broken().iter().filter(|error| error.kind() == ErrorKind::UnknownExtension);
        for error in unknown {
            let path = error.location().path.as_deref().and_then(|path| NodePath::parse(path).ok());
            let Some(path) = path.filter(|path| self.is_taken(path)) else { continue };
            let found = match open(dataset.group().store(), &path, dataset.group().dialect()) {
                // A node of another dialect that cannot be read.
                Err(error) if error.is_not_found() => continue,
                found => found?,
            };
            let Some(array) = found.node.as_array() else { continue };
            let names: Vec<Option<&str>> = array.dimension_names.iter().flatten().map(Option::as_deref).collect();
            let named = names.iter().copied().chain(std::iter::repeat(None));
            let axis = |(name, &len): (Option<&str>, &u64)| {
                let along = self.along.iter().find(|(known, _)| Some(known.as_str()) == name);
                let Some((name, along)) = along else { return Ok(AxisRange::new(0, len)) };
                match along {
                    Along::Indices(indices) => range(Some(name), &Indexer::all(len).select(name, indices)?),
                    Along::Labels(_) => {
                        let selected = Some(selected).filter(|_| narrowed.contains(name));
                        range(Some(name), &labelled(dataset, selected, (name, len), error)?)
                    }
                }
            };
            let axes = named.zip(&array.shape).map(axis).collect::<Result<Vec<_>>>();
            let region = Region::new(axes.map_err(|error| error.at_path(&path))?)?;
            taken.known.extend(names.iter().flatten().map(|name| (*name).to_owned()));
            taken.used.extend(names.iter().flatten().map(|name| (*name).to_owned()));
            taken.add(&path, &array.shape, region);
        }
        Ok(())
    }

    /// Adds the regions of arrays of other dialects than `dialect`, which belong to no data set.
    fn take_others(&self, nodes: &[StoredNode], dialect: Dialect, taken: &mut Taken) -> Result<()> {
        for found in nodes.iter().filter(|found| self.is_taken(&found.path)) {
            let Some(array) = found.node.as_array() else { continue };
            let has = |name: &str| array.dimension_names.iter().flatten().any(|known| known.as_deref() == Some(name));
            let labelled = self.along.iter().find(|(name, along)| matches!(along, Along::Labels(_)) && has(name));
            if let Some((name, _)) = labelled {
                let other = found.dialect;
                let message = format!(
                    "dimension {name}: found an array of {other}, expected one of {dialect}, whose data sets have the labels"
                );
                let hint = format!("take a node of {other} alone, select indices of {name}, or leave the array out");
                return Err(Error::argument(message).at_path(&found.path).with_hint(hint));
            }
        }
        self.take_arrays(nodes, taken)
    }

    /// Adds the regions of arrays by the names of their dimensions alone.
    fn take_arrays(&self, nodes: &[StoredNode], taken: &mut Taken) -> Result<()> {
        for found in nodes {
            let Some(array) = found.node.as_array().filter(|_| self.is_taken(&found.path)) else { continue };
            let names: Vec<Option<&str>> = array.dimension_names.iter().flatten().map(Option::as_deref).collect();
            taken.known.extend(names.iter().flatten().map(|name| (*name).to_owned()));
            let named = names.iter().copied().chain(std::iter::repeat(None));
            let axis = |(name, &len): (Option<&str>, &u64)| {
                let all = Indexer::all(len);
                let known = name.and_then(|name| self.along.iter().find(|(known, _)| known == name));
                match known {
                    Some((name, Along::Indices(indices))) => range(Some(name), &all.select(name, indices)?),
                    _ => range(None, &all),
                }
            };
            let axes = named.zip(&array.shape).map(axis).collect::<Result<Vec<_>>>();
            let region = Region::new(axes.map_err(|error| error.at_path(&found.path))?)?;
            taken.used.extend(names.iter().flatten().map(|name| (*name).to_owned()));
            taken.add(&found.path, &array.shape, region);
        }
        Ok(())
    }
}

/// Regions and dimensions found so far.
#[derive(Default)]
struct Taken {
    regions: BTreeMap<NodePath, Region>,
    /// Names of the dimensions that arrays have.
    known: BTreeSet<String>,
    /// Names of the dimensions that are selected and that arrays have.
    used: BTreeSet<String>,
}

impl Taken {
    fn add(&mut self, path: &NodePath, shape: &[u64], region: Region) {
        if !region.is_whole(shape) {
            self.regions.insert(path.clone(), region);
        }
    }
}

fn open(store: &Arc<dyn Store>, path: &NodePath, dialect: Dialect) -> Result<StoredNode> {
    let path = path.to_string();
    open_node(&**store, &path, Some(dialect)).map_err(|error| with_hierarchy_hint(error, &**store, &path))
}

/// Returns the selected indices of a dimension of `len` elements, for an array that cannot be opened because of `reason`.
fn labelled(
    dataset: &Dataset,
    selected: Option<&Dataset>,
    (name, len): (&str, u64),
    reason: &Error,
) -> Result<Indexer> {
    let size = dataset.dimensions().iter().find(|known| known.name == name).map(|known| known.size);
    let axes = selected.into_iter().flat_map(Dataset::variables).flat_map(Variable::axes_of_stored);
    let mut indexers = axes.filter(|(known, _)| *known == Some(name)).map(|(_, indexer)| indexer.clone());
    match (size, indexers.next()) {
        (Some(size), Some(indexer)) if size == len => Ok(indexer),
        (Some(size), Some(_)) => {
            let message = format!("dimension {name} has {len} elements here, but {size} in the data set");
            Err(Error::new(ErrorKind::InvalidMetadata, message))
        }
        _ => {
            let message = format!("no region of it can be taken: {}", reason.message());
            Err(Error::new(reason.kind(), message).with_hint("no variable has labels of its dimension"))
        }
    }
}

/// Converts the indices of an indexer to a range.
fn range(name: Option<&str>, indexer: &Indexer) -> Result<AxisRange> {
    let name = name.unwrap_or_default();
    let no_box = |found: &str, hint: &str| {
        let message = format!("dimension {name}: found {found}, expected a range: a region is a box of elements");
        Err(Error::argument(message).with_hint(hint))
    };
    match indexer {
        Indexer::One(index) => Ok(AxisRange::new(*index, 1)),
        Indexer::Strided { len: 0, .. } => Ok(AxisRange::new(0, 0)),
        Indexer::Strided { start, step, len } => match u64::try_from(*step) {
            Ok(step) => Ok(AxisRange { start: *start, len: *len, step }),
            Err(_) if *len == 1 => Ok(AxisRange::new(*start, 1)),
            Err(_) => no_box("a range that goes backwards", "take it forwards"),
        },
        Indexer::List(list) | Indexer::Points { indices: list, .. } => {
            let step = match list.get(..2) {
                Some([first, second]) => second.checked_sub(*first).filter(|step| *step > 0),
                _ => Some(1),
            };
            let is_even =
                |step: u64| list.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(step) == Some(*b)));
            match step.filter(|step| is_even(*step)) {
                Some(step) => Ok(AxisRange { start: list.first().copied().unwrap_or(0), len: list.len() as u64, step }),
                None => no_box("a list that is not evenly apart", "take a range, or each part of it alone"),
            }
        }
    }
}

fn no_dimension(name: &str, known: &BTreeSet<String>) -> Error {
    let all: Vec<&str> = known.iter().map(String::as_str).collect();
    let expected = match all.as_slice() {
        [] => "no array has names of dimensions".to_owned(),
        all => format!("expected one of {}", all.join(", ")),
    };
    let error = Error::argument(format!("found no dimension {name}: {expected}"));
    match zarr_json::nearest_name(name, all) {
        Some(near) => error.with_hint(format!("is {near:?} meant?")),
        None => error,
    }
}

#[cfg(test)]
mod tests;
