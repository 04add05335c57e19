//! Data sets that are to be written.

use crate::dimensions::ARRAY_DIMENSIONS;
use crate::new_variable::{NewVariable, Planned, in_variable};
use crate::related::{RELATED, words};
use crate::{Dataset, Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_array::Registry;
use zarr_json::{Map, Value};
use zarr_meta::Dialect;

/// Variables and attributes that are to be written: as a new data set ([`Dataset::create`]), or into an existing one ([`Dataset::append`],
/// [`Dataset::write`], [`Dataset::update`]).
///
/// Values are encoded as xarray encodes them. xarray opens the result in Zarr v2 and v3; drafts of v3 have the same encoding.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_dataset::{Dataset, NewDataset, NewVariable};
/// # use zarr_array::{Registry, Store};
/// # let mut registry = Registry::default();
/// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
/// # let registry = Arc::new(registry);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let part = |hours: [i32; 2], t2m: [f32; 2]| {
///     let hour = NewVariable::new("hour", &["hour"], hours)?.codecs("bytes")?;
///     let t2m = NewVariable::new("t2m", &["hour"], t2m)?.codecs("bytes")?.attribute("units", "K");
///     Ok::<_, zarr_dataset::Error>(NewDataset::new().variable(hour).variable(t2m).attribute("title", "Temperatures"))
/// };
/// let dataset = Dataset::create(&store, "/", part([0, 6], [273.0, f32::NAN])?, &registry)?;
/// let dataset = dataset.append("hour", &part([12, 18], [274.0, 275.0])?)?;
/// assert_eq!(dataset.sel("hour", 18)?.variable("t2m")?.read()?.to_vec::<f32>()?, [275.0]);
///
/// let noon = dataset.sel("hour", 12)?;
/// noon.variable("t2m")?.write([280.0_f32])?;
/// assert_eq!(dataset.variable("t2m")?.read()?.text(2), "280.0");
/// # Ok::<(), zarr_dataset::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is written until it is handed to `Dataset::create`"]
pub struct NewDataset {
    pub(crate) variables: Vec<NewVariable>,
    coordinates: BTreeSet<String>,
    pub(crate) attributes: Map,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) overwrite: bool,
    pub(crate) consolidated: bool,
    pub(crate) safe_chunks: bool,
}

impl Default for NewDataset {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            coordinates: BTreeSet::new(),
            attributes: Map::new(),
            dialect: None,
            overwrite: false,
            consolidated: true,
            safe_chunks: true,
        }
    }
}

impl NewDataset {
    /// Returns a data set without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the selected part of a data set, with its attributes and its encoding, as a data set to be written.
    ///
    /// # Errors
    /// The errors of [`NewVariable::of`].
    pub fn of(dataset: &Dataset) -> Result<Self> {
        let mut new = Self::new().attributes(dataset.attributes().clone());
        for variable in dataset.variables() {
            new = new.variable(NewVariable::of(variable)?);
        }
        new.coordinates = dataset.coordinates().map(|variable| variable.name().to_owned()).collect();
        Ok(new)
    }

    /// Adds a variable, which replaces a variable of the same name. A variable with one dimension of its own name is a coordinate.
    pub fn variable(mut self, variable: NewVariable) -> Self {
        self.variables.retain(|known| known.name != variable.name);
        self.variables.push(variable);
        self
    }

    /// Adds a variable that is a coordinate: variables that have its dimensions list it in their attribute `coordinates`.
    pub fn coordinate(mut self, variable: NewVariable) -> Self {
        self.coordinates.insert(variable.name.clone());
        self.variable(variable)
    }

    /// Sets an attribute of the group.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(name, value);
        self
    }

    /// Sets all attributes of the group.
    pub fn attributes(mut self, attributes: Map) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets the dialect: v3, v2, or a draft of v3, which xarray cannot read. The default is the dialect of the hierarchy, or v3 for a new
    /// hierarchy.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets whether [`Dataset::create`] first erases an existing node at the path.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets whether metadata is consolidated at the root of the store after writing; `true` by default. Dialects without consolidated
    /// metadata ignore this.
    pub fn consolidated(mut self, consolidated: bool) -> Self {
        self.consolidated = consolidated;
        self
    }

    /// Sets whether [`Dataset::write`] refuses regions that cover parts of chunks; `true` by default. If another process writes another
    /// part of such a chunk at the same time, one of the writes could be lost.
    pub fn safe_chunks(mut self, safe_chunks: bool) -> Self {
        self.safe_chunks = safe_chunks;
        self
    }

    /// Returns the variable called `name`; `None` if there is none.
    pub fn get(&self, name: &str) -> Option<&NewVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Returns the sizes of the dimensions, by name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if a dimension has two sizes, or if a variable has a dimension twice.
    pub(crate) fn sizes(&self) -> Result<BTreeMap<&str, u64>> {
        let mut sizes: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for variable in &self.variables {
            let mut seen = BTreeSet::new();
            for (dimension, &size) in variable.dimensions.iter().zip(&variable.shape) {
                let (known, owner) = *sizes.entry(dimension).or_insert((size, &variable.name));
                if known != size {
                    let name = &variable.name;
                    return Err(Error::argument(format!(
                        "dimension {dimension} has {size} elements in {name}, but {known} in {owner}"
                    )));
                }
                if !seen.insert(dimension) {
                    return Err(in_variable(
                        Error::argument(format!("dimension {dimension} is there twice")),
                        &variable.name,
                    ));
                }
            }
        }
        Ok(sizes.into_iter().map(|(name, (size, _))| (name, size)).collect())
    }

    /// Returns the attributes of the group, and each variable as an array of `dialect`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] with the variable, for sizes, names and encodings that do not fit.
    pub(crate) fn plan(
        &self,
        dialect: Dialect,
        registry: &Arc<Registry>,
    ) -> Result<(Map, Vec<(&NewVariable, Planned)>)> {
        if dialect.holds_one_array() {
            let message =
                format!("found dialect {dialect}, in which a store is one array, expected one that has groups");
            return Err(Error::argument(message));
        }
        self.sizes()?;
        for variable in &self.variables {
            if variable.name.is_empty() || variable.name.contains('/') {
                return Err(Error::argument(format!("found a variable called {:?}, expected a name", variable.name)));
            }
        }
        let (variables, global) = self.with_coordinates()?;
        let mut planned = Vec::new();
        for (variable, own) in self.variables.iter().zip(&variables) {
            let mut plan = own.plan(dialect, registry)?;
            if own.attributes.get("coordinates").is_some_and(Value::is_null) {
                plan.attributes.remove("coordinates");
            }
            if !dialect.has_dimension_names() {
                // In version 3 this is an attribute of the user. In version 2 it has the names of the dimensions, as in xarray.
                plan.attributes.remove(ARRAY_DIMENSIONS);
            }
            plan.new = plan.new.attributes(plan.attributes.clone());
            plan.new.check(&format!("/{}", variable.name), registry)?;
            planned.push((variable, plan));
        }
        let mut attributes = self.attributes.clone();
        if !global.is_empty() {
            if attributes.contains_key("coordinates") {
                let message = format!("attribute coordinates of the group is to list {global}");
                return Err(Error::new(ErrorKind::Argument, message).with_hint("leave the attribute out"));
            }
            attributes.insert("coordinates", global);
        }
        Ok((attributes, planned))
    }

    /// Adds the attribute `coordinates` to the variables. Returns them, and the names of coordinates that only the group can list.
    fn with_coordinates(&self) -> Result<(Vec<NewVariable>, String)> {
        let mut variables = self.variables.clone();
        if let Some(name) = self.coordinates.iter().find(|name| name.contains(char::is_whitespace)) {
            let message = format!("a coordinate called {name:?} cannot be listed, for spaces separate names");
            return Err(Error::argument(message));
        }
        let is_index = |variable: &NewVariable| *variable.dimensions == [variable.name.clone()];
        let listed = |name: &str| self.get(name).filter(|variable| !is_index(variable));
        let others: Vec<&NewVariable> = self.coordinates.iter().filter_map(|name| listed(name)).collect();
        // Bounds and other related variables are found by other attributes.
        let is_related = |name: &str| {
            let values =
                self.variables.iter().flat_map(|variable| RELATED.iter().filter_map(|it| variable.encoding.get(it)));
            values.into_iter().any(|value| words(value).any(|word| word.trim_end_matches(':') == name))
        };
        let mut written: BTreeSet<String> = BTreeSet::new();
        for variable in &mut variables {
            let given = variable.encoding.get("coordinates").or_else(|| variable.attributes.get("coordinates"));
            match given {
                Some(Value::Null) => {}
                Some(value) => written.extend(words(value).map(str::to_owned)),
                None if self.coordinates.contains(&variable.name) || variable.dimensions.contains(&variable.name) => {}
                None => {
                    let has = |it: &&&NewVariable| it.dimensions.iter().all(|name| variable.dimensions.contains(name));
                    let names = others.iter().filter(has).map(|it| it.name.as_str()).filter(|name| !is_related(name));
                    let names: Vec<&str> = names.collect();
                    if !names.is_empty() {
                        written.extend(names.iter().map(|&name| name.to_owned()));
                        variable.encoding.insert("coordinates", names.join(" "));
                    }
                }
            }
        }
        let global = others.iter().map(|it| it.name.as_str());
        let global: Vec<&str> = global.filter(|name| !written.contains(*name) && !is_related(name)).collect();
        self.give_units_to_bounds(&mut variables);
        Ok((variables, global.join(" ")))
    }

    /// Copies the units of times to the bounds of the times, if units were given.
    fn give_units_to_bounds(&self, variables: &mut [NewVariable]) {
        for variable in &self.variables {
            let bounds = variable.attributes.get("bounds").or_else(|| variable.encoding.get("bounds"));
            let units = variable.encoding.get("units");
            let is_time = units.and_then(Value::as_str).is_some_and(|units| units.contains("since"));
            let bounds = bounds.and_then(Value::as_str).filter(|_| is_time);
            let Some(bounds) = bounds.and_then(|name| variables.iter_mut().find(|it| it.name == name)) else {
                continue;
            };
            // Bounds that are no times have their own units.
            if !bounds.attributes_of_times().contains(&"calendar") {
                continue;
            }
            for name in ["units", "calendar"] {
                if let Some(value) = variable.encoding.get(name).filter(|_| !bounds.encoding.contains_key(name)) {
                    bounds.encoding.insert(name, value.clone());
                }
            }
        }
    }
}
