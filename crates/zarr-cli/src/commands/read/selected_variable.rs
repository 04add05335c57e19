//! Reads variables of a data set: by label, decoded, with their coordinates.

use super::narrow::{self, Ends};
use super::{PIECE, Read, TransferTotals, VARIABLE, View, select};
use super::{notes, opened};
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::format::{AxisLabels, Cells, Format, OutputForm, Record, Table, Tidy, format, shorten, without_fraction};
use crate::object::object;
use crate::selection_pieces::{Order, SelectionPiece, SelectionPieces};
use std::cell::{Cell, RefCell};
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::dtype::DataType;
use zarr::grid::AxisSelection;
use zarr::hierarchy::{open_node, with_hierarchy_hint};
use zarr::meta::NodePath;
use zarr::meta::json::{Map, Value};
use zarr::store::StoreAddress;
use zarr::{Array, Group, Options, Selection, Store};

/// Greatest number of bytes of values that are written at once: the values, packed, and encoded ones are in memory at the same time.
const WRITTEN: u64 = 32 << 20;

/// Variable of a data set, with a selection.
pub(crate) struct SelectedVariable<'c> {
    context: &'c Context,
    dataset: Dataset,
    name: String,
    /// Dimensions of the variable before the selection.
    dimensions: Vec<Dimension>,
}

/// Dimension of a variable.
#[derive(Debug)]
struct Dimension {
    name: String,
    /// Whether the labels are values of the coordinate of the dimension; otherwise they are indices.
    has_coordinate: RefCell<bool>,
    /// Whether values of the coordinate have been read for an earlier piece.
    was_read: Cell<bool>,
    /// Selection along the dimension by index; all indices if none was given.
    indices: AxisSelection,
    size: u64,
    /// Ends of the selection that are printed; `None` if all elements are.
    shown: Option<Ends>,
}

/// Opens the group of a node. The second value is the name of the node in the group. `None` if the node lies in no group.
pub(crate) fn group_of(context: &Context, location: &NodeLocation) -> Result<Option<(Group, String)>> {
    let (store, path, name) = match (location.path.parent(), location.path.name()) {
        (Some(parent), Some(name)) => (std::sync::Arc::clone(&location.store), parent, name.to_owned()),
        // The store is the directory of an array, which may lie in a group.
        _ => match above(&location.address) {
            Some((folder, name)) => (context.open_store(&folder)?, NodePath::root(), name),
            None => return Ok(None),
        },
    };
    match open_node(&*store, &path.to_string(), location.dialect) {
        // A folder without a document of its own does not say that its arrays belong together.
        Ok(found) if found.implicit && location.path.is_root() => Ok(None),
        Ok(found) if found.node.as_array().is_some() => Ok(None),
        Ok(found) => Ok(Some((Group::from_found(&store, found, &context.registry)?, name))),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(with_hierarchy_hint(error, &*store, &path.to_string()).into()),
    }
}

/// Returns the address of the directory above that of a store, and the name of the store in it; `None` if the store is no directory.
fn above(address: &StoreAddress) -> Option<(StoreAddress, String)> {
    let path = std::path::absolute(address.path()?).ok()?;
    let path = path.is_dir().then_some(path)?;
    Some((StoreAddress::of_path(path.parent()?), path.file_name()?.to_str()?.to_owned()))
}

/// Opens the groups above the root of a store in a directory, the nearest first; empty if there are none.
pub(crate) fn groups_above(context: &Context, address: &StoreAddress) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut next = above(address);
    while let Some((folder, _)) = next {
        let Ok(store) = context.open_store(&folder) else { break };
        // A folder without a document of its own does not say that its nodes belong together.
        let found = open_node(&*store, "/", None).ok().filter(|found| !found.implicit);
        let Some(group) = found.and_then(|found| Group::from_found(&store, found, &context.registry).ok()) else {
            break;
        };
        groups.push(group);
        next = above(&folder);
    }
    groups
}

/// Adds the coordinates of the groups above the store to a data set, if they fit.
pub(crate) fn inheriting(context: &Context, address: &StoreAddress, dataset: Dataset) -> Result<Dataset> {
    let is_labelled = |name: &str| dataset.variables().any(|variable| variable.name() == name);
    if dataset.dimensions().iter().all(|dimension| is_labelled(&dimension.name)) {
        return Ok(dataset);
    }
    // Groups that are no tree of data sets may have dimensions of one name and several sizes.
    Ok(dataset.with_fitting(&groups_above(context, address))?)
}

impl<'c> SelectedVariable<'c> {
    /// Opens the variable of an array, with the selections that the arguments give. `None` if the array belongs to no data set: its
    /// dimensions have no names, or it lies in no group.
    pub(super) fn open(
        context: &'c Context,
        labels: &[String],
        location: &NodeLocation,
        array: &Array,
        options: &Options,
        selection: &Selection,
    ) -> Result<Option<Self>> {
        let names = array.dimension_names().unwrap_or_default();
        if names.len() != array.shape().len() || names.iter().any(Option::is_none) {
            return Ok(None);
        }
        let Some((group, name)) = group_of(context, location)? else { return Ok(None) };
        // Read the documents of the nodes themselves, not consolidated metadata, if the store can list.
        let ignore = group.store().capabilities().list;
        let options = DatasetOptions::default().arrays(options.clone()).ignore_consolidated(ignore);
        let (dataset, _) = opened::open(&group, &[&name], &options)?;
        let mut dataset = inheriting(context, &location.address, dataset)?;
        let variable = dataset.variable(&name)?.clone();
        let axes = narrow::axes(selection, array.shape().len());
        let mut dimensions = Vec::new();
        for (dimension, size) in variable.dimensions().zip(variable.shape()) {
            let mut own = names.iter().zip(&axes).filter(|(name, _)| name.as_deref() == Some(dimension));
            let indices = own.next().map_or(AxisSelection::All, |(_, axis)| axis.clone());
            if own.next().is_some() {
                return Err(Failure::usage(format!("{name} has dimension {dimension} more than once")));
            }
            let has_coordinate =
                dataset.variables().any(|it| it.name() == dimension && it.dimensions().eq([dimension]));
            let name = dimension.to_owned();
            dimensions.push(Dimension {
                name,
                has_coordinate: RefCell::new(has_coordinate),
                was_read: Cell::default(),
                indices,
                size,
                shown: None,
            });
        }
        for (known, _) in names.iter().flatten().zip(&axes).filter(|(_, axis)| **axis != AxisSelection::All) {
            if dimensions.iter().all(|dimension| dimension.name != *known) {
                let message = format!("{known} is no dimension of the values of {name}, only of the stored elements");
                return Err(Failure::usage(message).with_hint("--raw reads these"));
            }
        }
        for dimension in dimensions.iter().filter(|dimension| dimension.indices != AxisSelection::All) {
            dataset = dataset.isel(&dimension.name, dimension.indices.clone())?;
        }
        let mut done: Vec<&str> = Vec::new();
        for text in labels {
            let is_repeated = text.split_once('=').is_some_and(|(name, _)| done.contains(&name.trim()));
            let is_by_index = |dimension: &Dimension| dimension.indices != AxisSelection::All;
            let both = text.split_once('=').and_then(|(name, _)| dimensions.iter().find(|it| it.name == name.trim()));
            if is_repeated || both.is_some_and(is_by_index) {
                let name = text.split('=').next().unwrap_or_default().trim();
                return Err(Failure::usage(format!("dimension {name} is selected more than once")));
            }
            opened::broken_coordinate(&dataset, text)?;
            let (dimension, selected) = select::by_label(&dataset, &name, text)?;
            done.push(dimension);
            notes::warn(context, &dataset, &selected, (dimension, text));
            dataset = selected;
        }
        let labelled = Self { context, dataset, name, dimensions };
        labelled.warn_of_broken_coordinates();
        Ok(Some(labelled))
    }

    /// Narrows the selection to the printed elements; `ends` has an entry for each remaining dimension. If `is_elided`, marks are printed
    /// in place of elements that are left out.
    pub(super) fn narrow(&mut self, ends: &[Ends], is_elided: bool) -> Result<()> {
        let left: Vec<String> = self.variable()?.dimensions().map(str::to_owned).collect();
        for (name, ends) in left.iter().zip(ends).filter(|(_, ends)| !ends.is_all()) {
            self.dataset = self.dataset.isel(name, ends.selection())?;
            if let Some(dimension) = self.dimensions.iter_mut().find(|dimension| dimension.name == *name) {
                dimension.shown = is_elided.then_some(*ends);
            }
        }
        Ok(())
    }

    /// Returns the dimensions of the selection, with their sizes.
    pub(super) fn sizes(&self) -> Result<Vec<(String, u64)>> {
        let variable = self.variable()?;
        Ok(variable.dimensions().map(str::to_owned).zip(variable.shape()).collect())
    }

    /// Returns the data set with the selection applied, and the name of the variable.
    pub(crate) fn dataset(&self) -> (&Dataset, &str) {
        (&self.dataset, &self.name)
    }

    /// Returns the selection, or a piece of it, as a selection of the stored array.
    pub(crate) fn stored_selection(&self, piece: Option<&SelectionPiece>) -> Result<Selection> {
        let selection = self.piece(piece)?.variable(&self.name)?.stored_selection();
        selection.ok_or_else(|| Failure::usage(format!("points of several dimensions of {} are selected", self.name)))
    }

    /// Returns the data type of the values that are read.
    pub(super) fn data_type(&self, is_decoded: bool) -> Result<DataType> {
        let variable = self.variable()?;
        Ok(if is_decoded { variable.data_type()? } else { variable.stored().data_type().clone() })
    }

    /// Splits the selection into the pieces in which the variable is read. If `is_labelled`, labels are printed beside the values.
    pub(super) fn pieces(&self, is_decoded: bool, is_labelled: bool) -> Result<SelectionPieces> {
        let (variable, data_type) = (self.variable()?, self.data_type(is_decoded)?);
        let item = if data_type.is_variable() { VARIABLE } else { data_type.item_size() as u64 };
        let shape = variable.shape();
        let all = Selection::all();
        let parts = if shape == variable.stored().shape() {
            variable.stored().part_shape()
        } else {
            vec![1; shape.len()].into()
        };
        // A label may take ten times the memory of its element.
        let budget = if is_labelled { PIECE / 16 } else { PIECE };
        Ok(SelectionPieces::new(&all, &all.resolve(&shape)?, item, &parts, budget))
    }

    /// Calls `each` with each piece of the variable, in the given order. A value takes at most `item` bytes. If it costs nothing, pieces
    /// consist of whole chunks.
    pub(crate) fn each_piece(
        &self,
        order: Order,
        item: u64,
        mut each: impl FnMut(&Variable) -> Result<()>,
    ) -> Result<()> {
        let mut pieces = self.pieces_to_write(order, item)?;
        while let Some(piece) = pieces.next()? {
            each(self.piece(Some(&piece))?.variable(&self.name)?)?;
        }
        Ok(())
    }

    /// Returns whether [`each_piece`](Self::each_piece) calls its function only once.
    pub(crate) fn is_one_piece(&self, order: Order, item: u64) -> Result<bool> {
        Ok(self.pieces_to_write(order, item)?.is_one())
    }

    fn pieces_to_write(&self, order: Order, item: u64) -> Result<SelectionPieces> {
        let variable = self.variable()?;
        let (shape, all) = (variable.shape(), Selection::all());
        let parts = match shape == variable.stored().shape() {
            true => variable.stored().chunk_grid().largest_chunk_shape().to_vec(),
            false => vec![1; shape.len()],
        };
        Ok(SelectionPieces::in_order(order, &all, &all.resolve(&shape)?, item.max(1), &parts, WRITTEN))
    }

    fn variable(&self) -> Result<&Variable> {
        Ok(self.dataset.variable(&self.name)?)
    }

    /// Checks that the attributes are a valid encoding of values.
    pub(super) fn check(&self) -> Result<()> {
        let hinted = |failure: Failure| match failure.hint {
            Some(_) => failure,
            None => failure.with_hint("--raw reads elements as they are stored"),
        };
        self.variable()?.data_type().map(drop).map_err(|error| hinted(error.into()))
    }

    /// Warns of coordinates that cannot be opened; the values are read nevertheless.
    fn warn_of_broken_coordinates(&self) {
        let is_meant = |error: &&zarr::Error| {
            let name = error.location().path.as_deref().and_then(|path| path.rsplit('/').next());
            self.dimensions.iter().any(|dimension| Some(dimension.name.as_str()) == name)
        };
        let broken: Vec<String> = self.dataset.faults().filter(is_meant).map(ToString::to_string).collect();
        self.context.warnings(&broken);
    }

    /// Prints the decoded values, or the stored elements, of the selection.
    pub(super) fn print(&self, args: &Read, form: OutputForm, is_decoded: bool, view: &View) -> Result<TransferTotals> {
        let data_type = self.data_type(is_decoded)?;
        let shape = self.variable()?.shape();
        super::check_size(&shape, data_type.item_size() as u64)?;
        let is_labelled = is_decoded && view.is_labelled;
        // In JSON, all coordinates precede the values.
        let has_labels = is_labelled && matches!(form, OutputForm::Text | OutputForm::Csv);
        let mut pieces = self.pieces(is_decoded, has_labels)?;
        let read = |piece: &SelectionPiece| self.read(piece, args.field.as_deref(), is_decoded);
        // The first piece is read before any output, so that an early failure leaves nothing behind.
        let mut piece = pieces.next()?;
        let mut cells = piece.as_ref().map(&read).transpose()?;
        let mut whole = shape.clone();
        // Stored strings may have an axis of characters, and fields axes of their own.
        whole.extend(cells.iter().flat_map(|cells| cells.data().shape().iter().skip(shape.len())));
        let data_type = cells.as_ref().map_or(data_type, |cells| cells.data().data_type().clone());
        let mut printer: Box<dyn Format> = match form {
            OutputForm::Text if is_labelled => {
                Box::new(Table::new(&self.name, self.units()?, self.scalars(), view.style.clone()))
            }
            OutputForm::Csv if is_labelled => Box::new(Tidy::new(&self.labels(piece.as_ref(), true)?, &self.name)),
            OutputForm::Json if is_labelled => Box::new(Record::new(self.members()?, &whole)),
            _ => format(form, &data_type, &whole, &view.style)?,
        };
        let mut out = view.open(args, form)?;
        let progress = view.progress(&whole, data_type.item_size());
        out.text(&view.header)?;
        printer.begin(&mut out)?;
        while let (Some(at), Some(elements)) = (&piece, cells) {
            let axes = if has_labels { self.labels(Some(at), form == OutputForm::Csv)? } else { Vec::new() };
            printer.piece(&elements, &axes, &mut out)?;
            progress.add(elements.data().len());
            drop(elements);
            piece = pieces.next()?;
            cells = piece.as_ref().map(&read).transpose()?;
        }
        printer.end(&mut out)?;
        Ok(progress.finish(out.finish()?))
    }

    /// Returns the data set with a piece of the variable selected; `None` is the whole selection.
    fn piece(&self, piece: Option<&SelectionPiece>) -> Result<Dataset> {
        let variable = self.variable()?;
        let mut dataset = self.dataset.clone();
        if let Some(Selection::Axes(axes)) = piece.map(|piece| &piece.selection) {
            for (dimension, axis) in variable.dimensions().zip(axes).filter(|(_, axis)| **axis != AxisSelection::All) {
                dataset = dataset.isel(dimension, axis.clone())?;
            }
        }
        Ok(dataset)
    }

    fn read(&self, piece: &SelectionPiece, field: Option<&str>, is_decoded: bool) -> Result<Cells> {
        let dataset = self.piece(Some(piece))?;
        let variable = dataset.variable(&self.name)?;
        Ok(match (is_decoded, field) {
            (true, _) => Cells::Decoded(variable.read()?),
            (false, None) => Cells::Stored(variable.read_stored()?),
            (false, Some(field)) => Cells::Stored(variable.read_stored()?.field(field)?),
        })
    }

    /// Returns the labels, for a piece, of all dimensions that the variable had before the selection. If `is_exact`, no label is shortened.
    fn labels(&self, piece: Option<&SelectionPiece>, is_exact: bool) -> Result<Vec<AxisLabels>> {
        let dataset = self.piece(piece)?;
        let variable = dataset.variable(&self.name)?;
        let mut kept = variable.dimensions().zip(variable.shape());
        let mut next = kept.next();
        let mut axes = Vec::new();
        for dimension in &self.dimensions {
            let here = next.filter(|(name, _)| *name == dimension.name);
            let count = here.map_or(1, |(_, len)| len);
            if here.is_some() {
                next = kept.next();
            }
            let start = piece.map_or(0, |piece| self.start(piece, &dimension.name));
            axes.push(AxisLabels {
                name: dimension.name.clone(),
                labels: self.labels_of(dimension, &dataset, start, count, is_exact)?.into(),
                is_gone: here.is_none(),
                is_itself: dimension.name == self.name && self.dimensions.len() == 1,
                gap: dimension.shown.and_then(Ends::gap),
            });
        }
        Ok(axes)
    }

    /// Returns the index along a dimension at which a piece begins.
    fn start(&self, piece: &SelectionPiece, dimension: &str) -> u64 {
        let Selection::Axes(axes) = &piece.selection else { return 0 };
        let dimensions = self.dataset.variable(&self.name).ok().into_iter().flat_map(Variable::dimensions);
        let axis = dimensions.zip(axes).find(|(name, _)| *name == dimension).map(|(_, axis)| axis);
        match axis {
            Some(AxisSelection::Range { start: Some(start), .. }) => u64::try_from(*start).unwrap_or(0),
            _ => 0,
        }
    }

    fn labels_of(
        &self,
        dimension: &Dimension,
        dataset: &Dataset,
        start: u64,
        count: u64,
        is_exact: bool,
    ) -> Result<Vec<String>> {
        if *dimension.has_coordinate.borrow() {
            let read = dataset.variable(&dimension.name).and_then(Variable::read);
            match read {
                Ok(values) => {
                    let mut labels: Vec<String> = (0..values.len()).map(|index| values.text(index)).collect();
                    dimension.was_read.set(true);
                    if !is_exact {
                        shorten(&mut labels, values.data_type());
                    } else if matches!(values.data_type(), DataType::DateTime64(_)) {
                        let len = |label: &String| without_fraction(label).len();
                        labels.iter_mut().for_each(|label| label.truncate(len(label)));
                    }
                    return Ok(labels);
                }
                // Labels of this dimension were already printed for an earlier piece.
                Err(error) if dimension.was_read.get() => return Err(error.into()),
                Err(error) => {
                    let message = format!("indices instead of labels: coordinate {}: {error}", dimension.name);
                    self.context.warnings(&[message]);
                    *dimension.has_coordinate.borrow_mut() = false;
                }
            }
        }
        let index = |at: u64| {
            let at = dimension.shown.map_or(at, |ends| ends.index(at));
            narrow::position(&dimension.indices, dimension.size, at).to_string()
        };
        Ok((start..start.saturating_add(count)).map(index).collect())
    }

    fn units(&self) -> Result<Option<&str>> {
        Ok(self.variable()?.attributes().get("units").and_then(Value::as_str))
    }

    /// Returns the names and values of scalar coordinates, except those whose dimension was removed by the selection.
    fn scalars(&self) -> Vec<(String, String)> {
        let is_other = |variable: &&Variable| {
            let own = self.dimensions.iter().any(|dimension| dimension.name == variable.name());
            !own && variable.name() != self.name && variable.dimensions().next().is_none()
        };
        let mut scalars = Vec::new();
        for coordinate in self.dataset.coordinates().filter(is_other) {
            match coordinate.read() {
                Ok(values) => {
                    let mut text = [values.text(0)];
                    shorten(&mut text, values.data_type());
                    scalars.extend(text.map(|text| (coordinate.name().to_owned(), text)));
                }
                Err(error) => self.context.warnings(&[format!("without coordinate {}: {error}", coordinate.name())]),
            }
        }
        scalars
    }

    /// Returns the members of the JSON object except `data`, as xarray names them.
    fn members(&self) -> Result<Map> {
        let variable = self.variable()?;
        let mut coordinates = Map::new();
        for coordinate in self.dataset.coordinates_of(variable) {
            let size = zarr::grid::total_size(&coordinate.shape(), VARIABLE);
            let read = match size > u128::from(PIECE) {
                false => coordinate.read().map_err(|error| error.to_string()),
                true => Err("it is large: read it alone".to_owned()),
            };
            match read {
                Ok(values) => {
                    let members = object! { ..described(coordinate), "data": Record::nested(values) };
                    coordinates.insert(coordinate.name(), members);
                }
                Err(why) => self.context.warnings(&[format!("without coordinate {}: {why}", coordinate.name())]),
            }
        }
        let name = object! { "name": self.name.as_str() };
        let described = described(variable);
        let members = described.iter().fold(name, |mut members, (name, value)| {
            members.insert(name, value.clone());
            members
        });
        Ok(object! { ..members, "coords": coordinates })
    }
}

/// Returns the dimensions and attributes of a variable as JSON.
fn described(variable: &Variable) -> Map {
    object! {
        "dims": variable.dimensions().collect::<Vec<_>>(),
        "attrs": variable.attributes().clone(),
    }
}
