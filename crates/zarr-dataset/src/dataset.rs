//! Groups as data sets.

use crate::dimensions::{self, Axis, Dimension, Sizes};
use crate::index::Index;
use crate::indexer::Indexer;
use crate::label::Labels;
use crate::{Error, ErrorKind, Result, Variable, decoded};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use zarr_array::{Array, Group, Options};
use zarr_dtype::DataType;
use zarr_grid::AxisSelection;
use zarr_json::{Map, Value};

/// How a data set is opened.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// Whether dimensions without names are called `dim_0`, `dim_1`, as `xarray` calls them. Else they are an error.
    pub number_dimensions: bool,
    /// Whether nodes are looked for although there is consolidated metadata, which may be stale.
    pub ignore_consolidated: bool,
    /// How its arrays are opened.
    pub arrays: Options,
}

impl DatasetOptions {
    /// Dimensions without names are called `dim_0`, `dim_1`.
    #[must_use]
    pub fn number_dimensions(mut self, number_dimensions: bool) -> Self {
        self.number_dimensions = number_dimensions;
        self
    }

    /// Consolidated metadata is not believed.
    #[must_use]
    pub fn ignore_consolidated(mut self, ignore_consolidated: bool) -> Self {
        self.ignore_consolidated = ignore_consolidated;
        self
    }

    /// Options of the arrays: a cache, threads.
    #[must_use]
    pub fn arrays(mut self, arrays: Options) -> Self {
        self.arrays = arrays;
        self
    }
}

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
        let registry = decoded::registry(group.registry());
        let mut broken = walk.broken;
        let mut sizes = Sizes::default();
        let mut opened = Vec::new();
        for found in walk.nodes {
            if found.node.as_array().is_none() {
                continue;
            }
            let name = found.path.to_string().rsplit('/').next().unwrap_or_default().to_owned();
            match Array::from_found(group.store(), found, group.registry(), options.arrays.clone()) {
                Ok(array) => {
                    let locate = |error: Error| {
                        let (store, path) = (group.store().to_string(), array.path().to_string());
                        error.at(|location| {
                            location.store = Some(store);
                            location.path = Some(path);
                        })
                    };
                    let axes = dimensions::axes(&array, options.number_dimensions).map_err(locate)?;
                    sizes.add(&name, &axes, array.shape()).map_err(locate)?;
                    let attributes = dimensions::of_user(array.attributes().map_err(locate)?);
                    opened.push((name, array, axes, attributes));
                }
                Err(error) => broken.push(error),
            }
        }
        join_characters(&mut opened);
        add_units_of_bounds(&mut opened);
        let mut coordinates = BTreeSet::new();
        let names: BTreeSet<String> = opened.iter().map(|(name, ..)| name.clone()).collect();
        let mut variables = BTreeMap::new();
        for (name, array, axes, attributes) in opened {
            if matches!(axes.as_slice(), [Axis::Named(dimension)] if *dimension == name) {
                coordinates.insert(name.clone());
            }
            if let Some(listed) = attributes.get("coordinates") {
                coordinates.extend(words(listed).filter(|word| names.contains(*word)).map(str::to_owned));
            }
            let variable = Variable::new(&name, array, axes, attributes, &registry);
            variables.insert(name, variable);
        }
        let metadata = group.found().node.as_group();
        let mut attributes = dimensions::of_user(group.attributes()?);
        if attributes.get("coordinates").is_some_and(|listed| listed.as_str().is_some())
            && let Some(listed) = attributes.remove("coordinates")
        {
            coordinates.extend(words(&listed).filter(|word| names.contains(*word)).map(str::to_owned));
        }
        let listed = metadata.map_or_else(Vec::new, |group| dimensions::listed(&group.attributes, &group.extra));
        let kept: BTreeSet<&str> = variables.values().flat_map(Variable::dimensions).collect();
        let mut dimensions = sizes.finish(&listed);
        // Characters have no dimension any more.
        let is_listed = |name: &str| listed.iter().any(|dimension| dimension.name == name);
        dimensions.retain(|dimension| kept.contains(dimension.name.as_str()) || is_listed(&dimension.name));
        Ok(Self {
            group: group.clone(),
            attributes,
            dimensions,
            variables,
            coordinates: Arc::new(coordinates),
            broken: Arc::new(broken),
            options: Arc::new(options.clone()),
        })
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

    /// The variables that are coordinates: of one dimension whose name they have, or listed in an attribute `coordinates`.
    pub fn coordinates(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| self.coordinates.contains(variable.name()))
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

    /// Arrays below the group that cannot be opened: each with its path.
    pub fn broken(&self) -> &[Error] {
        &self.broken
    }

    /// A variable.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none of that name, with the nearest name; why it cannot be opened, if so.
    pub fn variable(&self, name: &str) -> Result<&Variable> {
        self.variables.get(name).ok_or_else(|| {
            let near = zarr_json::nearest_name(name, self.variables.keys().map(String::as_str));
            let error = Error::new(ErrorKind::NotFound, format!("found no variable {name}"));
            let path = self.group.path().to_string();
            let error = error.at(|location| location.path = Some(path));
            match (near, self.broken.is_empty()) {
                (Some(near), _) => error.with_hint(format!("there is one called {near}")),
                (None, true) => error,
                (None, false) => error.with_hint("some arrays of the group cannot be opened"),
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
        let mut selected = self.clone();
        for variable in selected.variables.values_mut() {
            *variable = variable.select(dimension, &axis)?;
        }
        let mut left = Vec::new();
        for known in selected.dimensions {
            if known.name != dimension {
                left.push(known);
            } else if let Some(size) = Indexer::all(known.size).select(dimension, &axis)?.len() {
                left.push(Dimension { size, ..known });
            }
        }
        selected.dimensions = left;
        Ok(selected)
    }

    /// The same data set with labels of a coordinate selected: `dataset.sel("lat", 52.5)`, `sel("time", "2020-01")`,
    /// `sel("lat", Labels::nearest(52.4))`, `sel("level", [500, 850])`. Only the coordinate is read.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such dimension, coordinate or label; as [`Variable::read`] for the coordinate.
    pub fn sel(&self, dimension: &str, labels: impl Into<Labels>) -> Result<Self> {
        self.check_dimension(dimension)?;
        let coordinate = self.variables.get(dimension).filter(|variable| variable.dimensions().eq([dimension]));
        let Some(coordinate) = coordinate else {
            let error = Error::argument(format!("dimension {dimension} has no coordinate"));
            return Err(error.with_hint("select indices of it"));
        };
        let axis = Index::new(coordinate, dimension)?.find(&labels.into().0)?;
        self.isel(dimension, axis)
    }

    /// The options that it was opened with.
    pub(crate) fn options(&self) -> &DatasetOptions {
        &self.options
    }

    pub(crate) fn check_dimension(&self, dimension: &str) -> Result<()> {
        if self.dimensions.iter().any(|known| known.name == dimension) {
            return Ok(());
        }
        let names: Vec<&str> = self.dimensions.iter().map(|known| known.name.as_str()).collect();
        Err(Error::argument(format!("found no dimension {dimension}, expected one of {}", names.join(", "))))
    }
}

/// A variable that is being opened.
type Opened = (String, Array, Vec<Axis>, Map);

/// Takes the last dimension of arrays of single characters for the characters of strings, where no other array uses it otherwise.
fn join_characters(opened: &mut [Opened]) {
    let is_character = |array: &Array| *array.data_type() == DataType::FixedBytes { len: 1 };
    let mut dimensions = BTreeSet::new();
    for (_, array, axes, _) in opened.iter() {
        if let (true, Some(Axis::Named(last))) = (is_character(array), axes.last()) {
            dimensions.insert(last.clone());
        }
    }
    dimensions.retain(|dimension| {
        let named = Axis::Named(dimension.clone());
        opened.iter().all(|(name, array, axes, _)| {
            let is_bytes = matches!(array.data_type(), DataType::FixedBytes { .. });
            let others = axes.len().saturating_sub(1);
            name != dimension
                && (!axes.contains(&named) || (is_bytes && !axes.iter().take(others).any(|axis| *axis == named)))
        })
    });
    for (.., axes, _) in opened.iter_mut().filter(|(_, array, ..)| is_character(array)) {
        if let Some(last) = axes.last_mut()
            && matches!(last, Axis::Named(name) if dimensions.contains(name))
        {
            *last = Axis::Characters;
        }
    }
}

/// Gives bounds of times the units of the times, which need not have them.
fn add_units_of_bounds(opened: &mut [Opened]) {
    let mut added = Vec::new();
    for (.., attributes) in opened.iter() {
        let units = attributes.get("units").filter(|units| units.as_str().is_some_and(|units| units.contains("since")));
        if let (Some(units), Some(bounds)) = (units, attributes.get("bounds").and_then(Value::as_str)) {
            added.push((bounds.to_owned(), units.clone(), attributes.get("calendar").cloned()));
        }
    }
    for (bounds, units, calendar) in added {
        if let Some((.., attributes)) = opened.iter_mut().find(|(name, ..)| *name == bounds) {
            for (name, value) in [("units", Some(units)), ("calendar", calendar)] {
                if let Some(value) = value.filter(|_| !attributes.contains_key(name)) {
                    attributes.insert(name, value);
                }
            }
        }
    }
}

/// The words of a text.
pub(crate) fn words(text: &Value) -> impl Iterator<Item = &str> {
    text.as_str().unwrap_or_default().split_whitespace()
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
