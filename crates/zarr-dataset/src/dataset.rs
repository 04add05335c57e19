//! Groups as data sets.
//!
//! # Opening
//! The arrays of a group come from its consolidated metadata, or from a listing. Faulty ones are set aside, dimensions agree by name,
//! and attributes name the coordinates (`open.rs`). A tree does so for each group of one walk, and adds coordinates of the groups above
//! (`tree.rs`). The attributes that say how values are encoded are taken from those of the user, by the rules of the dialect.
//!
//! # Values
//! A variable has a second array, of the decoded data type (`decoded.rs`). Its first codec exists in memory only, lies in front of the
//! codecs of the document, within shards, and decodes a chunk where it is read (`codec.rs`). So each way to read an array reads values,
//! in parallel, in parts and through caches. The codec does not know where its chunk is: an element without a value is looked for
//! again, so that the error has its index (`fault.rs`). Times are `numpy.datetime64` in nanoseconds, or of an extension type of their
//! calendar (`calendar_time.rs`); as in xarray the first and the last element decide. Characters, encoded bytes and missing strings are
//! put together after the read (`strings.rs`).
//!
//! # Selections
//! A selection narrows an indexer for each axis (`indexer.rs`). Nothing is read for it but the coordinate of a label (`index.rs`). Axes
//! along which points are selected share the name of one dimension (`points.rs`, `gather.rs`).
//!
//! # Writing
//! Written values take no codec: a part of a chunk that is written must not decode and encode the rest. They become elements before the
//! first is stored (`encoder.rs`), new variables by the encoding that a reader would take from their attributes (`new_variable.rs`),
//! present ones by the encoding that they were opened with. `write.rs` has the operations: create, append, write a region, update.

use crate::dimensions::Dimension;
use crate::index::Index;
use crate::indexer::Indexer;
use crate::label::Labels;
use crate::open::{self, Parts};
use crate::{DatasetOptions, Error, ErrorKind, Result, Variable, decoded};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use zarr_array::{Group, Registry, Store};
use zarr_grid::AxisSelection;
use zarr_json::Map;
use zarr_meta::StoredNode;

/// A group of arrays that share dimensions by name: its variables.
///
/// It is a view of what is stored: nothing but metadata is read until values are asked for, and [`isel`](Self::isel) and
/// [`sel`](Self::sel) make other views of the same.
#[derive(Clone)]
pub struct Dataset {
    group: Group,
    attributes: Map,
    dimensions: Vec<Dimension>,
    variables: BTreeMap<String, Variable>,
    coordinates: Arc<BTreeSet<String>>,
    /// The coordinates of groups above.
    inherited: Arc<BTreeSet<String>>,
    broken: Arc<Vec<Error>>,
    options: Arc<DatasetOptions>,
}

impl Dataset {
    /// The data set of a group, from its consolidated metadata where there is some.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if an array has no names of its dimensions, or a dimension two sizes; [`ErrorKind::Store`].
    pub fn open(group: &Group) -> Result<Self> {
        Self::open_with(group, &DatasetOptions::default())
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(group: &Group, options: &DatasetOptions) -> Result<Self> {
        let walk = if options.ignore_consolidated { group.children()? } else { group.consolidated_children()? };
        Self::of_nodes(group, walk.nodes, walk.broken, options, &decoded::registry(group.registry()))
    }

    /// The data set of a group with these children; `broken` ones cannot be read.
    pub(crate) fn of_nodes(
        group: &Group,
        nodes: Vec<StoredNode>,
        broken: Vec<Error>,
        options: &DatasetOptions,
        registry: &Arc<Registry>,
    ) -> Result<Self> {
        let Parts { attributes, dimensions, variables, coordinates, broken } =
            open::parts(group, nodes, broken, options, registry)?;
        let (coordinates, broken) = (Arc::new(coordinates), Arc::new(broken));
        let (group, inherited, options) = (group.clone(), Arc::default(), Arc::new(options.clone()));
        Ok(Self { group, attributes, dimensions, variables, coordinates, inherited, broken, options })
    }

    /// Adds the dimension and the coordinate that labels it of a group above, where this one has no variable of that name.
    pub(crate) fn inherit(&mut self, dimension: &Dimension, coordinate: &Variable) {
        let name = &dimension.name;
        if self.variables.contains_key(name) {
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

    /// The same data set with the coordinates that label its dimensions in the groups above it, as a [`DataTree`](crate::DataTree) has them.
    /// Each dimension that has none here is looked for in each group above.
    ///
    /// # Errors
    /// As [`inheriting`](Self::inheriting).
    pub fn with_inherited(mut self) -> Result<Self> {
        let above: Vec<_> = self.group.path().ancestors().collect();
        for path in above.into_iter().rev() {
            if self.unlabelled().next().is_none() {
                break;
            }
            let (store, registry) = (Arc::clone(self.group.store()), Arc::clone(self.group.registry()));
            match zarr_hierarchy::open_node(&*store, &path.to_string(), Some(self.group.dialect())) {
                Ok(found) if found.node.as_group().is_some() => {
                    self = self.inheriting(&Group::from_found(&store, found, &registry)?)?;
                }
                // An array, or nothing: then the group is one of a hierarchy that begins below.
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(zarr_hierarchy::with_location(error, &*store, &path.to_string())),
            }
        }
        Ok(self)
    }

    /// The same data set with the coordinates of another group, which lies above this one, of dimensions that have none here.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if such a dimension has another size there; [`ErrorKind::Store`].
    pub fn inheriting(mut self, above: &Group) -> Result<Self> {
        let unlabelled: Vec<String> = self.unlabelled().map(str::to_owned).collect();
        for name in unlabelled {
            let opened = match Self::open_variables(above, &[&name], &self.options) {
                Ok(opened) => opened,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Path) => continue,
                Err(error) => return Err(error),
            };
            let Ok(coordinate) = opened.index_coordinate(&name) else { continue };
            let sizes = |dataset: &Self| dataset.dimensions.iter().find(|known| known.name == name).cloned();
            let (Some(dimension), Some(own)) = (sizes(&opened), sizes(&self)) else { continue };
            if dimension.size != own.size {
                let (found, path) = (own.size, self.group.path());
                let (size, group) = (dimension.size, above.path());
                let message =
                    format!("dimension {name} has {found} elements in group {path}, but {size} in group {group}");
                let error = Error::new(ErrorKind::InvalidMetadata, message).at_path(path);
                return Err(error.with_hint("a group has the dimensions of the groups above it"));
            }
            self.inherit(&dimension, coordinate);
        }
        Ok(self)
    }

    /// The dimensions without a variable of their name.
    fn unlabelled(&self) -> impl Iterator<Item = &str> {
        let names = self.dimensions.iter().map(|dimension| dimension.name.as_str());
        names.filter(|name| !self.variables.contains_key(*name))
    }

    /// The same data set, read through another store that has the same values, such as one that counts requests, or ends them.
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

    /// The group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The attributes of the group, without the ones of conventions.
    pub fn attributes(&self) -> &Map {
        &self.attributes
    }

    /// The dimensions, in the order in which variables have them.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// All variables, by name.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.values()
    }

    /// The variables that are coordinates: of one dimension whose name they have, or named in attributes, of which
    /// [`DatasetOptions::decode_coords`] says.
    pub fn coordinates(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| self.coordinates.contains(variable.name()))
    }

    /// The coordinates that are those of groups above: in data sets of a [`DataTree`](crate::DataTree).
    pub fn inherited(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| self.inherited.contains(variable.name()))
    }

    /// The variables that are no coordinates.
    pub fn data_variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| !self.coordinates.contains(variable.name()))
    }

    /// The coordinates whose dimensions `variable` has all of.
    pub fn coordinates_of<'d>(&'d self, variable: &'d Variable) -> impl Iterator<Item = &'d Variable> {
        let has = |dimension: &str| variable.dimensions().any(|name| name == dimension);
        self.coordinates().filter(move |coordinate| coordinate.dimensions().all(has))
    }

    /// Why arrays of the group are no variables of the data set: each with its path. Those of the group's own attributes, if they cannot
    /// be read, are among them.
    pub fn broken(&self) -> &[Error] {
        &self.broken
    }

    /// A variable.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none of that name, with the nearest name. If it is [`broken`](Self::broken), why.
    pub fn variable(&self, name: &str) -> Result<&Variable> {
        self.variables.get(name).ok_or_else(|| {
            let path = self.group.path().to_string();
            let of_variable = format!("{}/{name}", path.trim_end_matches('/'));
            let fault = self.broken.iter().find(|fault| fault.location().path.as_deref() == Some(&of_variable));
            if let Some(fault) = fault {
                let location = fault.location().clone();
                return Error::new(fault.kind(), fault.message()).at(|known| *known = location);
            }
            let near = zarr_json::nearest_name(name, self.variables.keys().map(String::as_str));
            let error = Error::new(ErrorKind::NotFound, format!("found no variable {name}"));
            let error = error.at(|location| location.path = Some(path));
            match near {
                Some(near) => error.with_hint(format!("there is one called {near}")),
                None => error,
            }
        })
    }

    /// The same data set with indices of a dimension selected, as numpy selects them: an index (the dimension is gone then), a range, a
    /// list.
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

    /// The same data set with these dimensions and other variables.
    pub(crate) fn with_variables(
        &self,
        dimensions: Vec<Dimension>,
        other: impl Fn(&Variable) -> Result<Variable>,
    ) -> Result<Self> {
        let variables = self.variables.iter().map(|(name, variable)| Ok((name.clone(), other(variable)?)));
        Ok(Self { variables: variables.collect::<Result<_>>()?, dimensions, ..self.clone() })
    }

    /// The same data set with labels of a coordinate selected: `dataset.sel("lat", 52.5)`, `sel("time", "2020-01")`,
    /// `sel("lat", Labels::nearest(52.4))`, `sel("level", [500, 850])`. Only the coordinate is read.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such dimension, coordinate or label; as [`Variable::read`] for the coordinate.
    pub fn sel(&self, dimension: &str, labels: impl Into<Labels>) -> Result<Self> {
        let coordinate = self.index_coordinate(dimension)?;
        let labels = labels.into();
        let axis = Index::new(coordinate, dimension, &labels)?.find(&labels)?;
        self.isel(dimension, axis)
    }

    /// The options that it was opened with.
    pub(crate) fn options(&self) -> &DatasetOptions {
        &self.options
    }

    /// The coordinate that has the labels of a dimension.
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
