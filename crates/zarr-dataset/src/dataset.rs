//! Groups of arrays as data sets.
//!
//! # Opening
//! The arrays of a group are found in its consolidated metadata, or by listing. Broken arrays are set aside, dimensions must agree by
//! name, and attributes name the coordinates (`open.rs`). A tree opens each group of one walk in this way, and adds coordinates of the
//! groups above (`tree.rs`). The attributes of the encoding are separated from those of the user, by the rules of the dialect. Opening
//! never compares consolidated metadata with the nodes.
//!
//! # Values
//! A variable has a second array, of the decoded data type (`decoded.rs`). Its first codec exists in memory only, precedes the
//! codecs of the document, within shards, and decodes chunks as they are read (`codec.rs`). So each way to read an array reads values,
//! in parallel, in parts and through caches. The codec does not know the position of its chunk: an element that cannot be decoded is
//! searched again, so that the error has its index (`fault.rs`). Times are `numpy.datetime64` in nanoseconds, or of an extension type of
//! their calendar (`calendar_time.rs`), which the first and the last element decide, as in xarray. Characters are joined, bytes decoded
//! and missing strings marked after the read (`strings.rs`).
//!
//! # Selections
//! A selection narrows an indexer for each axis (`indexer.rs`). It reads nothing but the coordinate of a label (`index.rs`). Axes
//! along which points are selected share the name of one dimension (`points.rs`, `gather.rs`).
//!
//! # Writing
//! Written values are not encoded by a codec, since writing a part of a chunk must not decode and encode the rest. All values are encoded
//! to elements before the first is stored (`encoder.rs`): values of new variables by the encoding that a reader would take from their
//! attributes (`new_variable.rs`), values of existing variables by the encoding with which these were opened. `write.rs` has the
//! operations: create, append, write a region, update.

use crate::dimensions::Dimension;
use crate::index::Index;
use crate::indexer::Indexer;
use crate::label::Labels;
use crate::open::{self, Parts};
use crate::{DatasetOptions, Error, ErrorKind, Result, Variable, decoded};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use zarr_array::{ChunkCache, Group, Registry, Store};
use zarr_grid::AxisSelection;
use zarr_json::Map;
use zarr_meta::StoredNode;

/// Greatest number of variables that a hint names.
const NAMED: usize = 8;

/// A group of arrays that share dimensions by name: its variables.
///
/// A data set is a view of stored arrays: nothing but metadata is read until values are read, and [`isel`](Self::isel) and
/// [`sel`](Self::sel) return other views of the same arrays.
#[derive(Clone)]
pub struct Dataset {
    group: Group,
    attributes: Map,
    dimensions: Vec<Dimension>,
    variables: BTreeMap<String, Variable>,
    coordinates: Arc<BTreeSet<String>>,
    /// Names of the coordinates that belong to groups above.
    inherited: Arc<BTreeSet<String>>,
    broken: Arc<Vec<Error>>,
    /// Index in `broken` of the first error of each array of the group, by the name of the array.
    broken_names: Arc<BTreeMap<String, usize>>,
    /// Errors of coordinates of groups above that this data set would inherit, by their names.
    broken_above: Arc<BTreeMap<String, Arc<Error>>>,
    options: Arc<DatasetOptions>,
}

impl Dataset {
    /// Opens the data set of a group. Its arrays are found in the consolidated metadata of the group, if there is any, which is not
    /// compared with the nodes ([`zarr_hierarchy::staleness`] does), and by listing otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if an array has no names of its dimensions, or a dimension two sizes; [`ErrorKind::Store`].
    pub fn open(group: &Group) -> Result<Self> {
        Self::open_with(group, &DatasetOptions::default())
    }

    /// Opens the data set of a group with options. Its arrays are found in the consolidated metadata of the group, if there is any and
    /// unless [`DatasetOptions::ignore_consolidated`] is set, and by listing otherwise.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(group: &Group, options: &DatasetOptions) -> Result<Self> {
        let walk = if options.ignore_consolidated { group.children()? } else { group.consolidated_children()? };
        Self::of_nodes(group, walk.nodes, walk.broken, options, &decoded::registry(group.registry()))
    }

    /// Returns the data set of `group` with the children `nodes`. `broken` are the errors of children that cannot be read.
    pub(crate) fn of_nodes(
        group: &Group,
        nodes: Vec<StoredNode>,
        broken: Vec<Error>,
        options: &DatasetOptions,
        registry: &Arc<Registry>,
    ) -> Result<Self> {
        let Parts { attributes, dimensions, variables, coordinates, broken } =
            open::parts(group, nodes, broken, options, registry)?;
        let broken_names = Arc::new(by_name(&broken, group));
        let (coordinates, broken) = (Arc::new(coordinates), Arc::new(broken));
        let (group, inherited, options) = (group.clone(), Arc::default(), Arc::new(options.clone()));
        let broken_above = Arc::default();
        Ok(Self {
            group,
            attributes,
            dimensions,
            variables,
            coordinates,
            inherited,
            broken,
            broken_names,
            broken_above,
            options,
        })
    }

    /// Adds a dimension of a group above and the coordinate that labels it, unless this group has an array of that name, even one that
    /// cannot be opened.
    pub(crate) fn inherit(&mut self, dimension: &Dimension, coordinate: &Variable) {
        let name = &dimension.name;
        if self.variables.contains_key(name) || self.fault(name).is_some() {
            return;
        }
        self.variables.insert(name.clone(), coordinate.clone());
        Arc::make_mut(&mut self.coordinates).insert(name.clone());
        Arc::make_mut(&mut self.inherited).insert(name.clone());
        match self.dimensions.iter_mut().find(|known| known.name == *name) {
            Some(known) => known.is_unlimited |= dimension.is_unlimited,
            None => self.dimensions.push(dimension.clone()),
        }
    }

    /// Adds coordinates of the groups above that label dimensions of this group, as in a [`DataTree`](crate::DataTree). For each dimension
    /// without a coordinate, the groups above are searched from the nearest to the root.
    ///
    /// # Errors
    /// The errors of [`inheriting`](Self::inheriting).
    pub fn with_inherited(mut self) -> Result<Self> {
        self.inherit_from_ancestors(&mut None)?;
        Ok(self)
    }

    /// Adds coordinates of the groups above as [`with_inherited`](Self::with_inherited) does, and then of `further` groups above these, the
    /// nearest first. A coordinate that does not fit, since its dimension has another size there, is left out in place of an error, and that of
    /// a group further above does not take its place.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub fn with_fitting(mut self, further: &[Group]) -> Result<Self> {
        let mut unfit = Some(BTreeSet::new());
        let is_whole = self.inherit_from_ancestors(&mut unfit)?;
        for above in further.iter().filter(|_| is_whole) {
            self.inherit_from(above, &mut unfit)?;
        }
        Ok(self)
    }

    /// Adds the coordinates of the groups above in the store, as [`inherit_from`](Self::inherit_from) does. Groups above one that cannot be read
    /// are not looked at: its coordinates, which are not known, would come first. Returns whether all could be read; if not, the dimensions
    /// that have no coordinate yet have a [`fault`](Self::fault).
    fn inherit_from_ancestors(&mut self, unfit: &mut Option<BTreeSet<String>>) -> Result<bool> {
        let above: Vec<_> = self.group.path().ancestors().collect();
        for path in above.into_iter().rev() {
            if self.unlabelled().next().is_none() {
                break;
            }
            let (store, registry) = (Arc::clone(self.group.store()), Arc::clone(self.group.registry()));
            match zarr_hierarchy::open_node(&*store, &path.to_string(), Some(self.group.dialect())) {
                Ok(found) if found.node.as_group().is_some() => {
                    self.inherit_from(&Group::from_found(&store, found, &registry)?, unfit)?;
                }
                // An array, or no node: the hierarchy of this group begins below.
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) if unfit.is_some() && is_about_documents(&error) => {
                    let error = Arc::new(error);
                    let is_unfit = |name: &&str| unfit.as_ref().is_some_and(|unfit| unfit.contains(*name));
                    let names: Vec<String> =
                        self.unlabelled().filter(|name| !is_unfit(name)).map(str::to_owned).collect();
                    let broken = Arc::make_mut(&mut self.broken_above);
                    for name in names {
                        broken.entry(name).or_insert_with(|| Arc::clone(&error));
                    }
                    return Ok(false);
                }
                Err(error) => return Err(zarr_hierarchy::with_hierarchy_hint(error, &*store, &path.to_string())),
            }
        }
        Ok(true)
    }

    /// Adds the coordinates of `above`, a group above this one, for dimensions that have no coordinate here. A coordinate that cannot be
    /// opened, here or there, is a [`fault`](Self::fault), and that of a group further above does not take its place.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if such a dimension has another size in `above`; [`ErrorKind::Store`].
    pub fn inheriting(mut self, above: &Group) -> Result<Self> {
        self.inherit_from(above, &mut None)?;
        Ok(self)
    }

    /// Adds the coordinates of `above`. A coordinate that does not fit is an error; or else, if there is a set of names that do not fit, its
    /// name is added to them. Names in the set are not looked for.
    fn inherit_from(&mut self, above: &Group, unfit: &mut Option<BTreeSet<String>>) -> Result<()> {
        let is_unfit = |name: &&str| unfit.as_ref().is_some_and(|unfit| unfit.contains(*name));
        let unlabelled: Vec<String> = self.unlabelled().filter(|name| !is_unfit(name)).map(str::to_owned).collect();
        let mut does_not_fit = |name: &str, error: Error| match (is_about_documents(&error), &mut *unfit) {
            (true, Some(unfit)) => {
                unfit.insert(name.to_owned());
                Ok(())
            }
            _ => Err(error),
        };
        for name in unlabelled {
            let opened = match Self::open_variables(above, &[&name], &self.options) {
                Ok(opened) => opened,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Path) => continue,
                Err(error) if is_about_documents(&error) && is_of(&error, above, &name) => {
                    Arc::make_mut(&mut self.broken_above).insert(name, Arc::new(error));
                    continue;
                }
                Err(error) => {
                    does_not_fit(&name, error)?;
                    continue;
                }
            };
            let Ok(coordinate) = opened.index_coordinate(&name) else {
                let broken = Arc::into_inner(opened.broken).unwrap_or_default();
                if let Some(error) = broken.into_iter().find(|error| is_of(error, above, &name)) {
                    Arc::make_mut(&mut self.broken_above).insert(name, Arc::new(error));
                }
                continue;
            };
            let sizes = |dataset: &Self| dataset.dimensions.iter().find(|known| known.name == name).cloned();
            let (Some(dimension), Some(own)) = (sizes(&opened), sizes(self)) else { continue };
            if dimension.size != own.size {
                let (found, path) = (own.size, self.group.path());
                let (size, group) = (dimension.size, above.path());
                let message =
                    format!("dimension {name} has {found} elements in group {path}, but {size} in group {group}");
                let error = Error::new(ErrorKind::InvalidMetadata, message).at_path(path);
                does_not_fit(&name, error.with_hint("a group has the dimensions of the groups above it"))?;
                continue;
            }
            self.inherit(&dimension, coordinate);
        }
        Ok(())
    }

    /// Iterates over the dimensions without an array of the same name.
    fn unlabelled(&self) -> impl Iterator<Item = &str> {
        let names = self.dimensions.iter().map(|dimension| dimension.name.as_str());
        names.filter(|name| !self.variables.contains_key(*name) && self.fault(name).is_none())
    }

    /// Returns the data set with reads through `store`, which must have the same values, like a store that counts requests or one with a
    /// deadline.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
    /// # use zarr_dataset::Dataset;
    /// # use zarr_store::{Counted, MemoryStore};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// # let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
    /// # let new = NewArray::new(&[3], "uint8").dimension_names(&["x"]).codecs("bytes")?;
    /// # group.create_array("a", new)?.write(.., &[1_u8, 2, 3])?;
    /// let counted = Arc::new(Counted::new(store));
    /// let through: Arc<dyn Store> = counted.clone();
    /// let dataset = Dataset::open(&group)?.through(&through)?;
    /// assert_eq!(dataset.variable("a")?.read()?.to_vec::<u8>()?, [1, 2, 3]);
    /// // The chunk, and then the document of the array, whether it is still there.
    /// assert_eq!(counted.counts().gets, 2);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the group is an array.
    pub fn through(&self, store: &Arc<dyn Store>) -> Result<Self> {
        let group = Group::from_found(store, self.group.found().clone(), self.group.registry())?;
        let variables = self.variables.iter().map(|(name, variable)| (name.clone(), variable.through(store))).collect();
        Ok(Self { group, variables, ..self.clone() })
    }

    /// Returns the data set with a cache of decoded chunks, for reads of its variables in a store that takes no writes: elements that are
    /// written are not those that are decoded, so that the cache would not notice the writes.
    ///
    /// # Errors
    /// The errors of [`Array::with`](zarr_array::Array::with).
    pub fn with_cache(&self, cache: &ChunkCache) -> Result<Self> {
        let with = |(name, variable): (&String, &Variable)| {
            Ok((name.clone(), variable.with_options(|options| options.cache(cache.clone()))?))
        };
        let variables = self.variables.iter().map(with).collect::<Result<_>>()?;
        Ok(Self { variables, ..self.clone() })
    }

    /// Returns the group of the data set.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns the attributes of the group, without those of conventions (`coordinates`, NCZarr).
    pub fn attributes(&self) -> &Map {
        &self.attributes
    }

    /// Returns the dimensions, in the order of their first appearance in variables.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Iterates over all variables, by name.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.values()
    }

    /// Iterates over the variables that are coordinates: variables with one dimension of the same name, and variables that attributes name
    /// as coordinates ([`DatasetOptions::decode_coords`]).
    pub fn coordinates(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| self.coordinates.contains(variable.name()))
    }

    /// Iterates over the coordinates that belong to groups above, in a data set of a [`DataTree`](crate::DataTree) or
    /// [`with_inherited`](Self::with_inherited).
    pub fn inherited(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| self.inherited.contains(variable.name()))
    }

    /// Iterates over the variables that are not coordinates.
    pub fn data_variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| !self.coordinates.contains(variable.name()))
    }

    /// Iterates over the coordinates of `variable`: those with no other dimensions than `variable` has.
    pub fn coordinates_of<'d>(&'d self, variable: &'d Variable) -> impl Iterator<Item = &'d Variable> {
        let has = |dimension: &str| variable.dimensions().any(|name| name == dimension);
        self.coordinates().filter(move |coordinate| coordinate.dimensions().all(has))
    }

    /// A hint with the names of the first variables.
    fn names(&self) -> String {
        let names: Vec<&str> = self.variables.keys().map(String::as_str).take(NAMED).collect();
        let more = if self.variables.len() > NAMED { ", ..." } else { "" };
        match names.is_empty() {
            true => "it has no variables".to_owned(),
            false => format!("it has {}{more}", names.join(", ")),
        }
    }

    /// Why arrays of the group are no variables of the data set: each with its path. Those of the group's own attributes, if they cannot
    /// be read, are among them.
    pub fn broken(&self) -> &[Error] {
        &self.broken
    }

    /// Iterates over all reasons why arrays are no variables of the data set: those of [`broken`](Self::broken), and of coordinates of groups
    /// above that the data set would have [inherited](Self::inheriting).
    pub fn faults(&self) -> impl Iterator<Item = &Error> {
        self.broken.iter().chain(self.broken_above.values().map(Arc::as_ref))
    }

    /// Returns why the array called `name` is no variable of the data set: an array of the group, or the coordinate of a group above that
    /// the data set would have [inherited](Self::inheriting). `None` if there is no such array, or nothing is wrong with it.
    pub fn fault(&self, name: &str) -> Option<&Error> {
        let own = self.broken_names.get(name).and_then(|&at| self.broken.get(at));
        own.or_else(|| self.broken_above.get(name).map(Arc::as_ref))
    }

    /// Returns the variable called `name`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no variable of this name, with the most similar name. The error of its array if that is
    /// [`broken`](Self::broken).
    pub fn variable(&self, name: &str) -> Result<&Variable> {
        self.variables.get(name).ok_or_else(|| {
            let path = self.group.path().to_string();
            if let Some(fault) = self.fault(name) {
                let location = fault.location().clone();
                return Error::new(fault.kind(), fault.message()).at(|known| *known = location);
            }
            let near = zarr_json::nearest_name(name, self.variables.keys().map(String::as_str));
            let error = Error::new(ErrorKind::NotFound, format!("found no variable {name}"));
            let store = self.group.store().to_string();
            let error = error.at(|location| (location.store, location.path) = (Some(store), Some(path)));
            match near {
                Some(near) => error.with_hint(format!("there is one called {near}")),
                None => error.with_hint(self.names()),
            }
        })
    }

    /// Selects indices of a dimension, as numpy does: an index (which removes the dimension), a range or a list.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such dimension or index.
    pub fn isel(&self, dimension: &str, indices: impl Into<AxisSelection>) -> Result<Self> {
        let axis = indices.into();
        self.check_dimension(dimension)?;
        let mut left = Vec::new();
        for known in self.dimensions.iter().cloned() {
            if known.name != dimension {
                left.push(known);
            } else if let Some(size) = Indexer::all(known.size).select(dimension, &axis)?.len() {
                left.push(Dimension { size, ..known });
            }
        }
        self.with_variables(left, |variable| variable.select(dimension, &axis))
    }

    /// Returns the data set with other dimensions, and with each variable replaced by the result of `other`.
    pub(crate) fn with_variables(
        &self,
        dimensions: Vec<Dimension>,
        other: impl Fn(&Variable) -> Result<Variable>,
    ) -> Result<Self> {
        let variables = self.variables.iter().map(|(name, variable)| Ok((name.clone(), other(variable)?)));
        Ok(Self { variables: variables.collect::<Result<_>>()?, dimensions, ..self.clone() })
    }

    /// Selects labels of the coordinate of a dimension: `dataset.sel("lat", 52.5)`, `sel("time", "2020-01")`,
    /// `sel("lat", Labels::nearest(52.4))`, `sel("level", [500, 850])`. Only the coordinate is read.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such dimension, coordinate or label; the errors of [`Variable::read`] for the coordinate.
    pub fn sel(&self, dimension: &str, labels: impl Into<Labels>) -> Result<Self> {
        let coordinate = self.index_coordinate(dimension)?;
        let labels = labels.into();
        let axis = Index::new(coordinate, dimension, &labels)?.find(&labels)?;
        self.isel(dimension, axis)
    }

    /// Options with which the data set was opened.
    pub(crate) fn options(&self) -> &DatasetOptions {
        &self.options
    }

    /// Returns the coordinate that has the labels of `dimension`.
    pub(crate) fn index_coordinate(&self, dimension: &str) -> Result<&Variable> {
        self.check_dimension(dimension)?;
        let coordinate = self.variables.get(dimension).filter(|variable| variable.dimensions().eq([dimension]));
        coordinate.ok_or_else(|| {
            let error = Error::argument(format!("dimension {dimension} has no coordinate"));
            error.with_hint("select indices of it")
        })
    }

    pub(crate) fn check_dimension(&self, dimension: &str) -> Result<()> {
        if self.dimensions.iter().any(|known| known.name == dimension) {
            return Ok(());
        }
        let names: Vec<&str> = self.dimensions.iter().map(|known| known.name.as_str()).collect();
        Err(Error::argument(format!("found no dimension {dimension}, expected one of {}", names.join(", "))))
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("group", &self.group)
            .field("dimensions", &self.dimensions)
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Returns whether an error is that of what is stored as a document, and not that of its store.
fn is_about_documents(error: &Error) -> bool {
    use ErrorKind::{InvalidJson, InvalidMetadata, Limit, UnknownExtension, UnknownMember, UnsupportedVersion};
    let kinds = [InvalidJson, InvalidMetadata, Limit, UnknownExtension, UnknownMember, UnsupportedVersion];
    kinds.contains(&error.kind())
}

/// Returns the index of the first error of each array of `group`, by the name of the array.
fn by_name(broken: &[Error], group: &Group) -> BTreeMap<String, usize> {
    let (path, mut names) = (group.path().to_string(), BTreeMap::new());
    for (at, error) in broken.iter().enumerate() {
        if let Some((parent, name)) = error.location().path.as_deref().and_then(|path| path.rsplit_once('/'))
            && parent == path.trim_end_matches('/')
        {
            names.entry(name.to_owned()).or_insert(at);
        }
    }
    names
}

/// Returns whether an error is that of the array called `name` in `group`.
fn is_of(error: &Error, group: &Group, name: &str) -> bool {
    let path = error.location().path.as_deref().and_then(|path| path.rsplit_once('/'));
    path.is_some_and(|(parent, last)| last == name && parent == group.path().to_string().trim_end_matches('/'))
}
