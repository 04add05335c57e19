//! Writing of data sets: creating, writing regions, and appending along a dimension.

use crate::dataset::Dataset;
use crate::index::Index;
use crate::indexer::Indexer;
use crate::into_values::IntoValues;
use crate::label::{Label, Labels};
use crate::new_dataset::NewDataset;
use crate::new_variable::{NewVariable, Planned, in_variable};
use crate::values::Values;
use crate::{Error, ErrorKind, Result, Variable};
use crate::{dimensions, encoder};
use std::sync::Arc;
use zarr_array::{Array, ArrayData, Group, NewGroup, Registry};
use zarr_grid::{AxisSelection, Selection};
use zarr_hierarchy::renew_consolidated;
use zarr_meta::{Dialect, NodePath, StoredNode};
use zarr_store::Store;

impl Dataset {
    /// Creates a group with the variables as arrays, as xarray does in mode `w-`, or `w` with [`NewDataset::overwrite`].
    ///
    /// All variables are encoded, and their settings checked, before anything is stored or erased. If the store fails meanwhile, the
    /// variables that were created are erased, and the group stays without them.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for variables that do not fit together or cannot be encoded; [`ErrorKind::Exists`] if there is a node;
    /// [`ErrorKind::Store`].
    pub fn create(store: &Arc<dyn Store>, path: &str, new: NewDataset, registry: &Arc<Registry>) -> Result<Self> {
        // Errors of the data set come before anything is erased.
        let dialect = new.dialect.unwrap_or_else(|| dialect_at(&**store, path));
        let (attributes, planned) = new.plan(dialect, registry)?;
        let settings = NewGroup::new().dialect(dialect).overwrite(new.overwrite).attributes(attributes);
        let group = Group::create(store, path, settings, registry)?;
        let mut created: Vec<Array> = Vec::new();
        for (variable, plan) in planned {
            match create_variable(&group, variable, plan) {
                Ok(array) => created.push(array),
                Err(error) => {
                    // These arrays were created by this call.
                    created.into_iter().for_each(|array| drop(array.erase()));
                    return Err(error);
                }
            }
        }
        finish(group, &new)
    }

    /// Appends values to all variables along a dimension. `new` must have a part of each variable that has the dimension; variables without
    /// the dimension stay unchanged. Values are encoded as the variables are. Returns the grown data set.
    ///
    /// All values are encoded before the first is stored. The arrays then grow one after another. If the store fails meanwhile, arrays that
    /// have grown shrink again; an interrupted process can leave arrays of different sizes, which [`open`](Self::open) reports.
    ///
    /// Readers without consolidated metadata can see variables of unequal lengths during an append. Consolidated metadata of this group and
    /// of groups above keeps the old sizes until all arrays have grown, and gets the new sizes by one set of its document: readers that
    /// open the data set by consolidated metadata find one size of the dimension at any time (in stores with conditional sets, and if
    /// nobody else appends, changes the variables or consolidates meanwhile).
    ///
    /// A [`zarr_array::Appender`] appends small pieces to a single array, and collects them until they fill chunks.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `new` lacks a variable that has the dimension, sizes of other dimensions differ, a value cannot be
    /// encoded, an array of the group is broken, or NCZarr lists the size of the dimension; [`ErrorKind::NotFound`] for a variable that
    /// does not exist; [`ErrorKind::Conflict`] if the data set was changed since it was opened; [`ErrorKind::Store`].
    pub fn append(&self, dimension: &str, new: &NewDataset) -> Result<Self> {
        self.check_whole()?;
        self.check_dimension(dimension)?;
        if self.inherited().any(|coordinate| coordinate.name() == dimension) {
            let message = format!("dimension {dimension} is one of a group above, whose variables would not grow");
            return Err(Error::argument(message).with_hint("append to that group and to all below it"));
        }
        if let Some(broken) = self.broken().first() {
            let message = format!("an array of the group cannot be opened, and would not grow: {broken}");
            return Err(Error::argument(message));
        }
        let metadata = self.group().found().node.as_group();
        let listed = metadata.map_or_else(Vec::new, |group| dimensions::listed(&group.attributes, &group.extra));
        if listed.iter().any(|known| known.name == dimension) {
            let message =
                format!("NCZarr lists the size of dimension {dimension} in the group, which would be another one");
            return Err(Error::argument(message));
        }
        new.sizes()?;
        for variable in self.variables().filter(|variable| variable.dimensions().any(|name| name == dimension)) {
            if new.get(variable.name()).is_none() {
                let message =
                    format!("variable {} has dimension {dimension}, and nothing to append to it", variable.name());
                return Err(Error::argument(message).with_hint("all variables of a dimension grow together"));
            }
        }
        let mut parts = Vec::new();
        for added in &new.variables {
            let variable = self.variable(&added.name)?;
            let mut shape = variable.shape();
            let Some(axis) = variable.dimensions().position(|name| name == dimension) else { continue };
            let values = transposed(added, variable)?;
            if let (Some(len), Some(&found)) = (shape.get_mut(axis), values.shape().get(axis)) {
                *len = found;
            }
            check_shape(variable, values.shape(), &shape)?;
            parts.push((variable, axis, variable.encoded(&values)?));
        }
        let grew = |variable: &Variable| {
            let message = format!("variable {} grew since the data set was opened", variable.name());
            let error = variable.locate(Error::new(ErrorKind::Conflict, message));
            error.with_hint(match variable.stored().found().documents.are_consolidated() {
                true => {
                    "open it again; if it is opened with the old length from then on, an append ended early, and consolidated metadata is to be written again"
                }
                false => "open it again",
            })
        };
        for (variable, ..) in &parts {
            let stored = variable.stored();
            let now = Array::open(stored.store(), &stored.path().to_string(), stored.registry())?;
            if now.shape() != stored.shape() {
                return Err(grew(variable));
            }
        }
        let mut grown: Vec<Grown> = Vec::new();
        for (variable, axis, data) in parts {
            // Consolidated metadata is updated once, when all arrays have grown.
            let options = variable.stored().options().clone().consolidated_later(true);
            let mut array = variable.stored().with(options)?;
            let len = |array: &Array| array.shape().get(axis).copied().unwrap_or(0);
            let added = data.shape().get(axis).copied().unwrap_or(0);
            let expected = len(&array) + added;
            let appended = array.append(axis, &data);
            let is_expected = appended.is_ok() && len(&array) == expected;
            grown.extend(appended.is_ok().then_some(Grown { array, axis, added }));
            if !is_expected {
                let shrunk: Vec<StoredNode> = grown.into_iter().map(Grown::shrink).collect();
                // Other writers may have consolidated the larger sizes meanwhile.
                let _ = renew_consolidated(&**self.group().store(), &shrunk);
                return Err(appended.err().unwrap_or_else(|| grew(variable)));
            }
        }
        let grown: Vec<StoredNode> = grown.into_iter().map(|grown| grown.array.found().clone()).collect();
        let renewed = renew_consolidated(&**self.group().store(), &grown)?;
        if renewed.iter().any(NodePath::is_root) { self.reopened() } else { self.finish(new) }
    }

    /// Writes the selected part of existing variables (mode `r+` of xarray): `dataset.isel("time", 0..10)?.write(&part)` and
    /// `dataset.sel("time", "2020-01")?.write(&part)` write regions. Values are encoded as the variables are.
    ///
    /// All values are encoded before the first is stored. Coordinates without any dimension of the region are not written.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a variable that does not exist; [`ErrorKind::Argument`] for a variable without any dimension of the
    /// region, for other sizes or dimensions, for a value that cannot be encoded, and for a region that covers parts of chunks, unless
    /// [`safe_chunks`](NewDataset::safe_chunks) is switched off; [`ErrorKind::Store`].
    pub fn write(&self, new: &NewDataset) -> Result<()> {
        store_all(self.encoded(new)?)
    }

    /// Returns the variables to write, each with the selection to write and the encoded elements.
    fn encoded<'d>(&'d self, new: &NewDataset) -> Result<Vec<(&'d Variable, Selection, ArrayData)>> {
        new.sizes()?;
        let is_region = self.check_whole().is_err();
        let mut parts = Vec::new();
        for given in &new.variables {
            let variable = self.variable(&given.name)?;
            if is_region && !variable.is_selected() {
                if self.coordinates().any(|coordinate| coordinate.name() == given.name) {
                    continue;
                }
                let message = format!("variable {} has none of the dimensions of the region", given.name);
                return Err(variable.locate(Error::argument(message)).with_hint("write it apart from the region"));
            }
            let values = transposed(given, variable)?;
            check_shape(variable, values.shape(), &variable.shape())?;
            if new.safe_chunks {
                variable.check_chunks()?;
            }
            parts.push((variable, variable.region()?, variable.encoded(&values)?));
        }
        Ok(parts)
    }

    /// Writes whole variables, and creates variables that do not exist (mode `a` of xarray). Sets the attributes of the group that `new`
    /// has. Returns the changed data set.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write) and [`create`](Self::create).
    pub fn update(&self, new: &NewDataset) -> Result<Self> {
        self.check_whole()?;
        let sizes = new.sizes()?;
        for dimension in self.dimensions() {
            if let Some(size) = sizes.get(dimension.name.as_str()).filter(|&&size| size != dimension.size) {
                let (name, expected) = (&dimension.name, dimension.size);
                return Err(Error::argument(format!("dimension {name}: found {size} elements, expected {expected}")));
            }
        }
        let mut group = self.group().clone();
        let (attributes, planned) = new.plan(group.dialect(), group.registry())?;
        let mut known = new.clone();
        known.variables.retain(|variable| self.variables().any(|it| it.name() == variable.name));
        let parts = self.encoded(&known)?;
        let fresh = |variable: &NewVariable| known.get(&variable.name).is_none();
        for (variable, plan) in planned.into_iter().filter(|(variable, _)| fresh(variable)) {
            create_variable(&group, variable, plan)?;
        }
        store_all(parts)?;
        if !attributes.is_empty() {
            let mut all = group.attributes()?.clone();
            attributes.iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
            group.set_attributes(all)?;
        }
        self.finish(new)
    }

    /// Selects the part of this data set whose coordinates are equal to those of `new`, to be [written](Self::write): the region `auto` of
    /// xarray. Dimensions without coordinates in `new` stay whole.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if a label does not exist, or if labels are not neighbours in this order.
    pub fn region_of(&self, new: &NewDataset) -> Result<Self> {
        let mut region = self.clone();
        for name in new.sizes()?.into_keys() {
            let Some(coordinate) = new.get(name).filter(|it| *it.dimensions == [name.to_owned()]) else { continue };
            let Some(values) = coordinate.values() else { continue };
            let labels: Vec<Label> = (0..values.len()).map(|index| label(values, index)).collect::<Result<_>>()?;
            let labels = Labels::from(labels);
            let Some(stored) = self.variables().find(|variable| variable.name() == name) else { continue };
            let found = Index::new(stored, name, &labels)?.find_each(&labels)?;
            let start = found.first().copied().unwrap_or(0);
            if !found.iter().zip(start..).all(|(index, expected)| *index == expected) {
                let message = format!("the values of coordinate {name} are no neighbours in the stored coordinate");
                return Err(stored.locate(Error::argument(message)));
            }
            region = region.isel(name, AxisSelection::range(start as i64, start as i64 + found.len() as i64))?;
        }
        Ok(region)
    }

    /// Checks that nothing is selected.
    fn check_whole(&self) -> Result<()> {
        match self.variables().find(|variable| variable.is_selected()) {
            None => Ok(()),
            Some(variable) => {
                let message = format!("found a selection of {}, expected the whole data set", variable.name());
                Err(Error::argument(message))
            }
        }
    }

    fn finish(&self, new: &NewDataset) -> Result<Self> {
        consolidate(self.group(), new)?;
        self.reopened()
    }

    /// Opens the data set again, as it is stored at present.
    fn reopened(&self) -> Result<Self> {
        let group = self.group();
        Self::open_with(&Group::open(group.store(), &group.path().to_string(), group.registry())?, self.options())
    }
}

/// Array that has grown by an append.
struct Grown {
    array: Array,
    axis: usize,
    added: u64,
}

impl Grown {
    /// Removes the added elements: the last elements of the axis, behind elements that others appended meanwhile.
    fn shrink(mut self) -> StoredNode {
        let mut shape = self.array.shape().to_vec();
        shape.get_mut(self.axis).into_iter().for_each(|len| *len = len.saturating_sub(self.added));
        // Consolidated metadata with the larger shape, which others may have written, is dropped first.
        let options = self.array.options().clone().consolidated_later(false);
        if let Ok(array) = self.array.with(options) {
            self.array = array;
        }
        // The error that is returned is the one of the append.
        let _ = self.array.resize(&shape);
        self.array.found().clone()
    }
}

fn finish(group: Group, new: &NewDataset) -> Result<Dataset> {
    consolidate(&group, new)?;
    Dataset::open(&Group::open(group.store(), &group.path().to_string(), group.registry())?)
}

/// Stores encoded elements.
fn store_all<'d>(parts: impl IntoIterator<Item = (&'d Variable, Selection, ArrayData)>) -> Result<()> {
    let is_left = |(_, _, data): &(&Variable, Selection, ArrayData)| !data.is_empty();
    parts.into_iter().filter(is_left).try_for_each(|(variable, region, data)| variable.stored().write(region, &data))
}

/// Consolidates metadata at the root of the store, as xarray does; at the group if the root is no group. Does nothing for dialects without
/// consolidated metadata.
fn consolidate(group: &Group, new: &NewDataset) -> Result<()> {
    if !new.consolidated {
        return Ok(());
    }
    let may_consolidate = |path: &NodePath| group.dialect().may_consolidate(path);
    if !may_consolidate(&NodePath::root()) && !may_consolidate(group.path()) {
        return Ok(());
    }
    let dialect = Some(group.dialect());
    let done = match zarr_hierarchy::consolidate(&**group.store(), "/", dialect) {
        Err(error) if error.is_not_found() => {
            zarr_hierarchy::consolidate(&**group.store(), &group.path().to_string(), dialect)
        }
        result => result,
    };
    done.map(drop)
}

/// Returns the dialect of the node at `path`, or of the root; version 3 if neither exists.
fn dialect_at(store: &dyn Store, path: &str) -> Dialect {
    let at = |path: &str| zarr_hierarchy::open_node(store, path, None).ok().map(|found| found.dialect);
    at(path).or_else(|| at("/")).unwrap_or(Dialect::V3)
}

fn create_variable(group: &Group, variable: &NewVariable, plan: Planned) -> Result<Array> {
    let array = group.create_array(&variable.name, plan.new)?;
    let written = match &plan.stored {
        Some(data) if !data.is_empty() => array.write(.., data),
        _ => Ok(()),
    };
    match written {
        Ok(()) => Ok(array),
        Err(error) => {
            let _ = array.erase();
            Err(error)
        }
    }
}

/// Returns the values with their dimensions in the order of the stored variable.
fn transposed(given: &NewVariable, variable: &Variable) -> Result<Values> {
    let Some(values) = given.values() else {
        return Err(in_variable(Error::argument("found no values, expected values to write"), &given.name));
    };
    check_units(given, values, variable)?;
    let expected: Vec<&str> = variable.dimensions().collect();
    if given.dimensions == expected {
        return Ok(values.clone());
    }
    let order: Option<Vec<usize>> =
        expected.iter().map(|name| given.dimensions.iter().position(|it| it == name)).collect();
    let Some(order) = order.filter(|order| order.len() == given.dimensions.len()) else {
        let (found, expected) = (given.dimensions.join(", "), expected.join(", "));
        return Err(variable.locate(Error::argument(format!("found dimensions ({found}), expected ({expected})"))));
    };
    let data = values.data();
    let view = data.view().permuted(&order);
    let shape: Vec<u64> = view.shape().iter().map(|&len| len as u64).collect();
    let mut items = Vec::new();
    view.append_to(&mut items)?;
    let missing = values.missing.as_ref().map(|missing| {
        let bytes: Vec<u8> = missing.iter().map(|&missing| u8::from(missing)).collect();
        let dims: Vec<usize> = data.shape().iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        let mut moved = Vec::new();
        let view = zarr_codec::View::new(&bytes, 1, &dims)?;
        view.permuted(&order).append_to(&mut moved)?;
        Ok::<_, Error>(moved.into_iter().map(|byte| byte != 0).collect())
    });
    let data = ArrayData::from_items(data.data_type(), &shape, &items, data.heap().cloned())?;
    Ok(Values { dimensions: Vec::new(), data, missing: missing.transpose()? })
}

/// Checks that numbers with units of times have the units that are stored.
fn check_units(given: &NewVariable, values: &Values, variable: &Variable) -> Result<()> {
    let own = |name: &str| given.encoding.get(name).or_else(|| given.attributes.get(name)).cloned();
    let stored = variable.encoding();
    if values.data_type().class().is_none() || !stored.contains_key("units") {
        return Ok(());
    }
    for name in ["units", "calendar"] {
        if let (Some(found), Some(expected)) = (own(name), stored.get(name))
            && found != *expected
        {
            let message = format!("found numbers of {name} {found}, expected {expected}");
            return Err(variable.locate(Error::argument(message)).with_hint("write times: they are counted anew"));
        }
    }
    Ok(())
}

fn check_shape(variable: &Variable, found: &[u64], expected: &[u64]) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(variable.locate(Error::argument(format!("found values of shape {found:?}, expected {expected:?}"))))
}

/// Converts a value of a coordinate to a label.
fn label(values: &Values, index: usize) -> Result<Label> {
    let json = values.json(index);
    let data_type = values.data_type();
    if crate::calendar_time::calendar(data_type).is_some() || matches!(data_type, zarr_dtype::DataType::DateTime64(_)) {
        return Ok(Label::Text(values.text(index)));
    }
    match json.as_number() {
        Some(number) => Ok(number.as_i128().map_or_else(|| Label::Number(number.as_f64()), Label::Integer)),
        None => match json.as_str() {
            Some(text) => Ok(Label::Text(text.to_owned())),
            None => Err(Error::argument(format!("value {index} of a coordinate is {json}, which is no label"))),
        },
    }
}

impl Variable {
    /// Writes values over the selected part, encoded as the variable is: `dataset.isel("time", 3)?.variable("t2m")?.write(&slab)`. Values
    /// are in C order of the selected dimensions. Numbers that are written to a variable of times are counts in its units.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for values of another shape, or that cannot be encoded, with the index of the first;
    /// [`ErrorKind::InvalidMetadata`] if the attributes of the variable are no valid encoding; [`ErrorKind::Store`].
    pub fn write(&self, values: impl IntoValues) -> Result<()> {
        store_all([(self, self.region()?, self.encode(values)?)])
    }

    /// Encodes values to the elements that [`write`](Self::write) would store, for programs that check many values before they write the
    /// first one.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write), except those of the store.
    pub fn encode(&self, values: impl IntoValues) -> Result<ArrayData> {
        let mut values = values.into_values().map_err(|error| self.locate(error))?;
        let (found, expected) = (values.data.len() as u64, self.shape());
        // A slice has no shape.
        if values.shape().len() <= 1 && Some(found) == zarr_grid::element_count(&expected) {
            let data = &values.data;
            values.data = ArrayData::from_items(data.data_type(), &expected, data.items(), data.heap().cloned())?;
        }
        check_shape(self, values.shape(), &expected)?;
        self.encoded(&values)
    }

    /// Returns the elements that decode to `values`.
    pub(crate) fn encoded(&self, values: &Values) -> Result<ArrayData> {
        let encoding = self.checked_encoding()?;
        encoder::encode(values, self.stored().data_type(), self.characters(), encoding)
            .map_err(|error| self.locate(error))
    }

    /// Converts the selection to a selection of the stored array.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if points are selected.
    fn region(&self) -> Result<Selection> {
        let indexers = || self.axes_of_stored().map(|(_, indexer)| indexer);
        if indexers().any(|indexer| indexer.points().is_some()) {
            return Err(self.locate(Error::argument("found a selection of points, expected a region to write")));
        }
        Ok(Selection::Axes(indexers().map(Indexer::to_axis).collect()))
    }

    /// Whether a part of the variable is selected, and not the whole variable.
    pub(crate) fn is_selected(&self) -> bool {
        let is_part =
            |((name, indexer), &len): ((Option<&str>, &Indexer), &u64)| name.is_some() && *indexer != Indexer::all(len);
        self.axes_of_stored().zip(self.stored().shape()).any(is_part)
    }

    /// Checks that the selected region begins and ends at borders of chunks (of shards if the array is sharded).
    fn check_chunks(&self) -> Result<()> {
        let array = self.stored();
        let refused = |dimension: &str, region: &str| {
            let message = format!("{region} of dimension {dimension} covers a part of a chunk, which others may write");
            Err(self.locate(Error::argument(message)).with_hint("choose whole chunks, or switch `safe_chunks` off"))
        };
        for (axis, (name, indexer)) in self.axes_of_stored().enumerate() {
            let len = array.shape().get(axis).copied().unwrap_or(0);
            let Some(name) = name.filter(|_| *indexer != Indexer::all(len)) else { continue };
            let (start, stop) = match indexer {
                Indexer::Strided { len: 0, .. } => continue,
                Indexer::Strided { start, step: 1, len } => (*start, start + len),
                Indexer::One(index) => (*index, index + 1),
                _ => return refused(name, "the selection"),
            };
            let is_border = |at: u64| at == 0 || at >= len || self.begins_chunk(axis, at);
            if !is_border(start) || !is_border(stop) {
                return refused(name, &format!("region {start}..{stop}"));
            }
        }
        Ok(())
    }

    /// Whether a chunk of the stored array begins at `index` along `axis`.
    fn begins_chunk(&self, axis: usize, index: u64) -> bool {
        let grid = self.stored().chunk_grid();
        let mut position = vec![0; grid.rank()];
        if let Some(at) = position.get_mut(axis) {
            *at = index;
        }
        let chunk = grid.chunk_at(&position).ok();
        chunk.is_none_or(|chunk| grid.chunk_region(&chunk).axes().get(axis).is_some_and(|range| range.start == index))
    }
}
