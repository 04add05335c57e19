//! Sources of pictures: an array, alone or as a variable of a data set, or a level of an image or of a map.

use super::map_level::{self, MapLevel, plane};
use super::{View, labels};
use crate::args::axis_of;
use crate::commands::read::{VariableRequest, group_of, inheriting, labelled};
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use std::collections::BTreeSet;
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::geo::{Crs, Georeference};
use zarr::hierarchy::StoredNode;
use zarr::meta::json::Value;
use zarr::ome::{AxisKind, Image};
use zarr::view::{
    AxisLabels, Budget, Channels, Cut, Figure, HiddenAxis, ImageCut, LabelLayer, Numbers, Positions, Range, Room,
    Samples, flag_names, place_of, shown_array,
};
use zarr::{Array, ErrorKind, Group, Selection};

/// Source of a picture.
pub(super) struct PictureSource {
    /// Array to read; it has decoded values if the source is a variable of a data set.
    pub(super) array: Array,
    pub(super) cut: Cut,
    pub(super) is_decoded: bool,
    /// Names of the dimensions of the array.
    names: Vec<Option<String>>,
    pub(super) part: ArrayParent,
    /// Level of a map, if the array is one and the group was given.
    map_level: Option<MapLevel>,
    /// Channels of an image that are drawn together; `None` if one slice is drawn.
    pub(super) channels: Option<Channels>,
    /// Labels that are drawn over an image.
    pub(super) labels: Vec<LabelLayer>,
    /// Where on Earth the elements of an array are; `None` if it is not known.
    pub(super) place: Option<Georeference>,
    /// Whether pictures have a scale bar.
    pub(super) has_scale_bar: bool,
}

/// Data set or image that contains the array.
pub(super) enum ArrayParent {
    Nothing,
    Dataset { dataset: Box<Dataset>, name: String },
    Image { image: Box<Image>, cut: Box<ImageCut>, is_chosen: bool },
}

impl PictureSource {
    /// Opens the source that the arguments name.
    pub(super) fn open(
        context: &Context,
        args: &View,
        room: Room,
        location: NodeLocation,
        found: StoredNode,
    ) -> Result<Self> {
        if found.node.as_array().is_none() {
            let group = Group::from_found(&location.store, found, &context.registry)?;
            if let Some(image) = Image::open(&group)? {
                return Self::of_image(context, args, image, room);
            }
            return match map_level::of_group(
                context,
                &location,
                &group,
                [args.level.is_some(), args.chosen.is_given()],
            )? {
                Some(levels) => Self::of_map(context, args, room, &location, levels),
                None => Err(no_image(context, &location)),
            };
        }
        if args.level.is_some() {
            return Err(Failure::usage(format!("{location}: --level: an array has no levels, only an image or a map")));
        }
        let whole = Self::cut(context, args, &location)?;
        Self::of_array(context, args, location, found, (whole, None))
    }

    /// Opens the level of a map, of which `levels` are the arrays, the finest first. Selections are those of the finest level.
    fn of_map(
        context: &Context,
        args: &View,
        room: Room,
        group: &NodeLocation,
        mut levels: Vec<(NodeLocation, StoredNode)>,
    ) -> Result<Self> {
        let count = levels.len();
        if let Some(number) = args.level.filter(|number| *number >= count) {
            let message = format!("{group}: --level: found {number}, expected 0 to {}", count - 1);
            return Err(Failure::usage(message));
        }
        let shape = |number: usize| {
            let array = levels.get(number).and_then(|(_, found)| found.node.as_array());
            array.map(|array| array.shape.clone()).unwrap_or_default()
        };
        let (finest, _) = levels.first().ok_or_else(|| no_image(context, group))?;
        let whole = Self::cut(context, args, finest)?;
        let (number, cut) = room.level(whole, &shape(0), count, args.level, |number| Ok(shape(number)))?;
        let (location, found) = levels.swap_remove(number);
        let level = MapLevel { number, count, is_chosen: args.level.is_some() };
        Self::of_array(context, args, location, found, (cut, Some(level)))
    }

    /// Returns the part of an array that the arguments choose.
    fn cut(context: &Context, args: &View, location: &NodeLocation) -> Result<Cut> {
        let array = context.array(location)?;
        let selection = labels_selected(context, args, location, &array)?;
        let plane = args.plane.as_deref().map(|text| plane(text, &names_of(&array))).transpose()?;
        Ok(Cut::new(array.shape(), &selection, plane.as_deref())?)
    }

    /// Opens an array and the part of it that is shown: with its level, if it is a level of a map.
    fn of_array(
        context: &Context,
        args: &View,
        location: NodeLocation,
        found: StoredNode,
        (cut, map_level): (Cut, Option<MapLevel>),
    ) -> Result<Self> {
        if args.channel.is_some() {
            return Err(Failure::usage(format!("{location}: --channel: an array has no channels, only an image")));
        }
        if !args.labels.is_empty() {
            let failure = Failure::usage(format!("{location}: --labels: an array has no labels, only an image"));
            return Err(failure.with_hint("the labels are drawn over the group that is the image"));
        }
        let array = context.array(&location)?;
        let names = names_of(&array);
        let dataset = dataset_of(context, &location, &array)?;
        let part = ArrayParent::Nothing;
        let (channels, labels) = (None, Vec::new());
        let place = place(context, &found, &array, dataset.as_ref());
        // A bar would be true at the equator alone.
        let is_mercator = place.as_ref().and_then(|place| place.crs.as_ref()).is_some_and(Crs::is_mercator);
        let has_scale_bar = !args.no_scale_bar && !is_mercator;
        let is_decoded = false;
        let mut source =
            Self { array, cut, is_decoded, names, part, map_level, channels, labels, place, has_scale_bar };
        if let Some((dataset, name)) = dataset {
            if !args.raw {
                source.decode(context, &dataset, &name)?;
            }
            source.part = ArrayParent::Dataset { dataset: Box::new(dataset), name };
        }
        Ok(source)
    }

    /// Replaces the array by the array of decoded values. If the values cannot be decoded, the stored elements are drawn.
    fn decode(&mut self, context: &Context, dataset: &Dataset, name: &str) -> Result<()> {
        match dataset.variable(name).and_then(|variable| shown_array(variable)) {
            Ok((array, is_decoded)) => {
                let array = array.clone();
                // Both arrays have the axes of the stored array.
                if is_decoded && array.shape() == self.array.shape() {
                    (self.array, self.is_decoded) = (array, true);
                }
                Ok(())
            }
            Err(error) => {
                context.warnings(&[format!("elements are shown as they are stored: {error}")]);
                Ok(())
            }
        }
    }

    fn of_image(context: &Context, args: &View, image: Image, room: Room) -> Result<Self> {
        if let Some(why) = &image.multiscale().unplaced {
            context.warnings(&[format!("indices instead of positions, which are not known: {why}")]);
        }
        let axes = &image.multiscale().axes;
        let names: Vec<Option<String>> = axes.iter().map(|axis| Some(axis.name.clone())).collect();
        let in_space: Vec<usize> =
            axes.iter().enumerate().filter(|(_, axis)| axis.kind == AxisKind::Space).map(|(axis, _)| axis).collect();
        if !args.chosen.labels().is_empty() {
            let failure = Failure::usage("--sel: an image has no labels");
            return Err(failure.with_hint("--isel selects indices of level 0"));
        }
        let selection = args.chosen.by_index_of(&names)?;
        let plane = match &args.plane {
            Some(text) => Some(plane(text, &names)?),
            // The default is the plane of the image in space, even if it has a single row.
            None if args.chosen.is_empty() => in_space.get(in_space.len().saturating_sub(2)..).map(<[usize]>::to_vec),
            None => None,
        };
        let plane = plane.filter(|axes| axes.len() == 2 || args.plane.is_some());
        let whole = |shape: &[u64]| Cut::new(shape, &selection, plane.as_deref());
        let cut = ImageCut::new(&image, whole, room, args.level)?;
        let channels = channels(context, args, &image, &cut)?;
        let labels = labels::open(context, args, &image, &cut)?;
        Ok(Self {
            channels,
            labels,
            map_level: None,
            place: None,
            has_scale_bar: !args.no_scale_bar,
            array: cut.array.clone(),
            cut: cut.cut.clone(),
            is_decoded: false,
            names,
            part: ArrayParent::Image { image: Box::new(image), cut: Box::new(cut), is_chosen: args.level.is_some() },
        })
    }

    /// Returns the index of an axis that is given by its name or index.
    pub(super) fn axis(&self, text: &str) -> Result<usize> {
        axis_of("--animate", text, &self.names, self.names.len())
    }

    pub(super) fn name_of(&self, axis: usize) -> Option<&str> {
        self.names.get(axis)?.as_deref()
    }

    pub(super) fn level(&self) -> Option<usize> {
        match &self.part {
            ArrayParent::Image { cut, .. } => Some(cut.level),
            _ => self.map_level.as_ref().map(|level| level.number),
        }
    }

    /// Returns the labels along an axis that is drawn.
    pub(super) fn labels(&self, context: &Context, axis: usize, samples: &Samples) -> Result<AxisLabels> {
        let by_place = || {
            let name = self.name_of(axis)?;
            self.place.as_ref().and_then(|place| AxisLabels::of_place(place, name, samples))
        };
        let plain = || {
            let name = self.name_of(axis).map(str::to_owned);
            by_place().unwrap_or_else(|| AxisLabels { name, ..AxisLabels::default() })
        };
        match &self.part {
            ArrayParent::Image { image, cut, .. } => Ok(cut.labels(image, axis, samples)?),
            ArrayParent::Dataset { dataset, .. } => {
                let Some(name) = self.name_of(axis) else { return Ok(plain()) };
                match AxisLabels::of_dimension(dataset, name, samples) {
                    Ok(labels) if labels.positions == Positions::Indices => Ok(by_place().unwrap_or(labels)),
                    Ok(labels) => Ok(labels),
                    Err(error) => {
                        context.warnings(&[format!("indices instead of labels: coordinate {name}: {error}")]);
                        Ok(plain())
                    }
                }
            }
            ArrayParent::Nothing => Ok(plain()),
        }
    }

    /// Returns whether rows are drawn from the last to the first.
    pub(super) fn is_upwards(&self, axes: &[AxisLabels]) -> bool {
        match (&self.part, axes.first()) {
            (ArrayParent::Dataset { dataset, .. }, Some(rows)) => rows.is_upwards(dataset),
            (ArrayParent::Nothing, Some(rows)) => self.place.is_some() && rows.is_rising(),
            _ => false,
        }
    }

    fn variable(&self) -> Option<&Variable> {
        match &self.part {
            ArrayParent::Dataset { dataset, name } => dataset.variable(name).ok(),
            _ => None,
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let of = |attributes: &zarr::meta::json::Map| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
        match self.variable() {
            Some(variable) => of(variable.attributes()),
            None => self.array.attributes().ok().and_then(of),
        }
    }

    /// Returns the units of the values. Packed elements have none, and those of times are a part of their encoding.
    pub(super) fn units(&self) -> Option<String> {
        let is_packed = |variable: &Variable| {
            let encoding = variable.encoding();
            encoding.contains_key("scale_factor") || encoding.contains_key("add_offset")
        };
        if !self.is_decoded && self.variable().is_some_and(is_packed) {
            return None;
        }
        self.attribute("units")
    }

    /// Returns the range of values that the image metadata gives for the drawn channel.
    pub(super) fn window(&self) -> Option<Range> {
        let ArrayParent::Image { image, .. } = &self.part else { return None };
        let axes = &image.multiscale().axes;
        let channels = &image.metadata().channels;
        let is_channel = |hidden: &HiddenAxis| axes.get(hidden.axis).is_some_and(|it| it.kind == AxisKind::Channel);
        let number = self.cut.others().find(is_channel).map(|it| usize::try_from(it.index).unwrap_or(usize::MAX));
        let (first, last) = match (number, channels.as_slice()) {
            (Some(number), channels) => channels.get(number)?.window?,
            (None, [only]) => only.window?,
            _ => return None,
        };
        (first != last).then_some(Range::Bounds(first, last))
    }

    /// Returns the names of values that stand for categories; empty if there are none.
    pub(super) fn names(&self) -> Vec<(f64, String)> {
        let of_variable = self.variable().map(|variable| flag_names(variable.attributes()));
        of_variable.or_else(|| self.array.attributes().ok().map(flag_names)).unwrap_or_default()
    }

    /// Returns whether the elements are labels of segments.
    pub(super) fn is_labels(&self) -> bool {
        let is_labels = matches!(&self.part, ArrayParent::Image { image, .. } if image.metadata().is_labels);
        is_labels && Numbers::of(self.array.data_type()) == Some(Numbers::Integers)
    }

    /// Draws the labels over a figure of the image: see [`labels::draw`].
    pub(super) fn draw_labels(&self, figure: &mut Figure, at: Option<(usize, u64)>, budget: &Budget) -> Result<()> {
        match &self.part {
            ArrayParent::Image { image, cut, .. } if !self.labels.is_empty() => {
                labels::draw(&self.labels, (image, cut), figure, at, budget)
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the coordinate reference system of a map that is drawn; `None` if it is unknown, or if the picture shows other
    /// dimensions.
    pub(super) fn crs(&self) -> Option<String> {
        let place = self.place.as_ref()?;
        let is_shown = |name: &String| self.cut.shown().iter().any(|&axis| self.name_of(axis) == Some(name.as_str()));
        let dimensions = place.dimensions.as_ref()?;
        place.crs.as_ref().filter(|_| dimensions.iter().all(is_shown)).map(ToString::to_string)
    }

    /// Returns a note on the drawn level; `None` if the arguments choose the level, or there is only one.
    pub(super) fn level_note(&self) -> Option<String> {
        match &self.part {
            ArrayParent::Image { image, cut, is_chosen: false } if image.level_count() > 1 => {
                Some(format!("level {} of 0 to {}", cut.level, image.level_count() - 1))
            }
            ArrayParent::Image { .. } => None,
            _ => self.map_level.as_ref().and_then(MapLevel::note),
        }
    }
}

/// Returns the channels of an image that are drawn together; `None` if the arguments ask for one slice.
fn channels(context: &Context, args: &View, image: &Image, cut: &ImageCut) -> Result<Option<Channels>> {
    let is_alone = args.cmap.is_some() || args.range.is_some() || args.log;
    if is_alone && args.channel.is_some() {
        let failure =
            Failure::usage("--channel: channels have their own colours and ranges, found --cmap, --range or --log");
        return Err(failure.with_hint("--isel selects one channel, of which they may be given"));
    }
    if is_alone || args.no_composite {
        return Ok(None);
    }
    let channels =
        Channels::new(image, &cut.array, &cut.cut, args.channel.as_deref()).map_err(|error| match args.channel {
            Some(_) => Failure::usage(format!("--channel: {error}")),
            None => error.into(),
        })?;
    context.warnings(channels.as_ref().map(|channels| channels.warnings.as_slice()).unwrap_or_default());
    Ok(channels)
}

/// Returns the names of the dimensions of an array.
fn names_of(array: &Array) -> Vec<Option<String>> {
    array.dimension_names().map_or_else(|| vec![None; array.shape().len()], <[_]>::to_vec)
}

/// Returns where the elements of an array are. Warns if that cannot be read.
fn place(
    context: &Context,
    node: &StoredNode,
    array: &Array,
    dataset: Option<&(Dataset, String)>,
) -> Option<Georeference> {
    let of_dataset = dataset.map(|(dataset, name)| (dataset, name.as_str()));
    place_of(array, node, of_dataset).unwrap_or_else(|error| {
        context.warnings(&[format!("the place of the elements is not known: {error}")]);
        None
    })
}

/// Opens the data set of which the array is a variable. The second value is the name of the variable. `None` if there is no data set, or it
/// cannot be opened.
fn dataset_of(context: &Context, location: &NodeLocation, array: &Array) -> Result<Option<(Dataset, String)>> {
    let names = array.dimension_names().unwrap_or_default();
    if names.len() != array.shape().len() || names.is_empty() || names.iter().any(Option::is_none) {
        return Ok(None);
    }
    let Some((group, name)) = group_of(context, location)? else { return Ok(None) };
    let ignore = group.store().capabilities().list;
    let options = DatasetOptions::default().arrays(array.options().clone()).ignore_consolidated(ignore);
    // Open only the variable with what describes it, since the group may have thousands.
    let described = related(array)?;
    let names: Vec<&str> =
        described.iter().map(String::as_str).filter(|other| *other != name).chain([&*name]).collect();
    let opened = Dataset::open_variables(&group, &names, &options).or_else(|error| {
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Path) {
            return Err(error);
        }
        // Attributes may name variables that are not there. Faults of documents are those of the data set, and the store may fail.
        let mut there = Vec::new();
        for &other in &names {
            if other == name || is_there(&group, other)? {
                there.push(other);
            }
        }
        Dataset::open_variables(&group, &there, &options)
    });
    match opened {
        Ok(dataset) if dataset.variable(&name).is_ok() => {
            Ok(Some((inheriting(context, &location.address, dataset)?, name)))
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::Store => Err(error.into()),
        Err(error) => {
            context.warnings(&[format!("shown without its data set: {error}")]);
            Ok(None)
        }
    }
}

/// Whether a group has a node of a name, whatever its document says.
fn is_there(group: &Group, name: &str) -> zarr::Result<bool> {
    let Ok(path) = group.path().join(name) else { return Ok(false) };
    match zarr::hierarchy::open_node(&**group.store(), &path.to_string(), Some(group.dialect())) {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) if error.kind() == ErrorKind::Store => Err(error),
        Err(_) => Ok(true),
    }
}

/// Greatest number of names that are looked for.
const MOST_NAMES: usize = 256;

/// Returns the names of the coordinates and of the grid mapping that the attributes of an array name: of the first [`MOST_NAMES`].
fn related(array: &Array) -> Result<BTreeSet<String>> {
    let attributes = array.attributes()?;
    let texts = ["coordinates", "grid_mapping"].into_iter().filter_map(|name| attributes.get(name)?.as_str());
    let words = texts.flat_map(str::split_whitespace).take(MOST_NAMES);
    Ok(words.map(|name| name.trim_end_matches(':').to_owned()).collect())
}

/// Returns the selection of an array by index, or by label if labels are given.
fn labels_selected(context: &Context, args: &View, location: &NodeLocation, array: &Array) -> Result<Selection> {
    let selection = args.chosen.by_index(array)?;
    let wanted = VariableRequest { labels: args.chosen.labels(), is_asked: false, is_default: false, instead: "" };
    match labelled(context, &wanted, location, array, &selection)? {
        Some((variable, _)) => variable.stored_selection(None),
        None => Ok(selection),
    }
}

/// Returns the error about a group that is neither an image nor a pyramid. Its hint names arrays in the group.
fn no_image(context: &Context, location: &NodeLocation) -> Failure {
    let failure =
        Failure::usage(format!("{location}: found a group, expected an array, an OME-Zarr image or a pyramid of maps"));
    failure.with_hint(context.arrays_below(location))
}
