//! Windows of channels: the values that are displayed as black and in the full colour, by statistics of the elements.

use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use std::collections::BTreeMap;
use zarr::convert::ConvertOptions;
use zarr::dtype::{Class, DataType};
use zarr::grid::{AxisSelection, Region};
use zarr::meta::{NodePath, StoredNode};
use zarr::ome::document::{Window, with_windows};
use zarr::ome::{AxisKind, Image, Multiscales};
use zarr::stats::{Statistics, StatsOptions};
use zarr::{Array, Group};

/// Greatest number of channels whose elements are looked at, since each takes a pass over its chunks.
const MOST_CHANNELS: u64 = 1000;
/// Least number of elements of a channel by which percentiles are found: levels with fewer are not looked at.
const ENOUGH: u128 = 1 << 20;

/// Shares of values at the ends of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows([f64; 2]);

impl Windows {
    /// Windows from the least to the greatest value.
    pub(super) const WHOLE: Self = Self([0.0, 1.0]);

    /// Parses `minmax`, or two percentiles such as `1,99`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let share = |part: &str| part.trim().parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
        let pair = || {
            let (least, greatest) = text.split_once(',')?;
            let ends = [share(least)? / 100.0, share(greatest)? / 100.0];
            (ends[0] < ends[1]).then_some(Self(ends))
        };
        match text {
            "minmax" => Ok(Self::WHOLE),
            _ => pair().ok_or_else(|| "expected minmax, or two percentiles such as 1,99".to_owned()),
        }
    }

    /// Returns the window of channel `number` by its values in a region; `axis` is that of channels. A channel without finite values is an
    /// error.
    pub(super) fn of_channel(self, array: &Array, region: &Region, axis: Option<usize>, number: u64) -> Result<Window> {
        self.of_finite(array, region, axis, number)?.ok_or_else(|| {
            let path = array.path();
            Failure::usage(format!(
                "{path}: --channel-windows: found no finite values of channel {number}, expected some"
            ))
        })
    }

    /// Returns that window, or `None` for a channel without finite values.
    pub(super) fn of_finite(
        self,
        array: &Array,
        region: &Region,
        axis: Option<usize>,
        number: u64,
    ) -> Result<Option<Window>> {
        let Self(shares) = self;
        if matches!(array.data_type().class(), None | Some(Class::Complex)) {
            let (path, found) = (array.path(), array.data_type());
            return Err(Failure::usage(format!("{path}: --channel-windows: found {found}, expected numbers")));
        }
        let ranges = region.axes().iter().enumerate().map(|(at, range)| {
            let (first, len) = if axis == Some(at) { (number, 1) } else { (0, range.len) };
            let start = range.start.saturating_add(first.saturating_mul(range.step));
            let stop = start.saturating_add(len.saturating_mul(range.step));
            let [start, stop, step] = [start, stop, range.step].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            AxisSelection::Range { start: Some(start), stop: Some(stop), step }
        });
        let selection: Vec<AxisSelection> = ranges.collect();
        let options = StatsOptions::default().quantiles(&shares).bins(0);
        let numbers = Statistics::of(array, &selection, &options)?.numbers;
        // Infinite values are no ends of a window, and no numbers in JSON.
        let Some([min, max]) = numbers.finite.map(|ends| ends.map(|end| end.float)) else { return Ok(None) };
        let mut window = Window::new(min, max);
        if let [least, greatest] = numbers.quantiles.as_slice() {
            let finite = |value: f64, other: f64| if value.is_finite() { value } else { other };
            (window.start, window.end) = (finite(least.value.float, min), finite(greatest.value.float, max));
        }
        Ok(Some(window))
    }

    /// Returns the windows of the channels of all images at and below a node that are converted, but for labels, by the paths of their groups.
    /// The least and the greatest value are those of the finest level. Percentiles are those of the coarsest level with enough elements; a
    /// warning names it.
    pub(super) fn of_images(
        self,
        context: &Context,
        source: &NodeLocation,
        options: &ConvertOptions,
    ) -> Result<BTreeMap<NodePath, Vec<Window>>> {
        let walk = zarr::hierarchy::walk_stored(&*source.store, &source.path.to_string(), source.dialect)?;
        let mut all = BTreeMap::new();
        let label_groups: Vec<NodePath> =
            walk.nodes.iter().filter(|node| lists_labels(node)).map(|node| node.path.clone()).collect();
        for found in walk.nodes {
            let is_left = options.exclude.iter().any(|above| found.path.is_within(above))
                || options
                    .arrays
                    .as_ref()
                    .is_some_and(|arrays| !arrays.iter().any(|array| array.is_within(&found.path)))
                || label_groups.iter().any(|above| found.path.is_within(above));
            let Some(group) = found.node.as_group().filter(|_| !is_left) else { continue };
            let is_label = || matches!(Multiscales::read(&group.attributes), Ok(Some(read)) if read.is_labels);
            if is_label() {
                continue;
            }
            let path = found.path.clone();
            let group = Group::from_found(&source.store, found, &context.registry)?;
            let image = Image::open(&group).map_err(Failure::from);
            match image.and_then(|image| image.map(|image| self.of_image(context, &image)).transpose()) {
                Ok(windows) => all.extend(windows.map(|windows| (path, windows))),
                Err(failure) if options.keep_going => {
                    context.warnings(&[format!("{path}: windows of channels stay as they are: {}", failure.line)]);
                }
                Err(failure) => return Err(failure),
            }
        }
        match all.is_empty() {
            true => Err(Failure::usage(format!("{}: --channel-windows: found no image with channels", source.path))),
            false => Ok(all),
        }
    }

    fn of_image(self, context: &Context, image: &Image) -> Result<Vec<Window>> {
        let axis = image.multiscale().axes.iter().position(|axis| axis.kind == AxisKind::Channel);
        let (number, array) = self.level(image, axis)?;
        if number > 0 {
            let (path, last) = (image.group().path(), image.level_count() - 1);
            context
                .warnings(&[format!("{path}: windows of channels are percentiles of level {number} of 0 to {last}")]);
        }
        let count = axis.and_then(|axis| array.shape().get(axis).copied()).unwrap_or(1);
        check_count(image.group().path(), count)?;
        // Before all elements are looked at. Of percentiles, ends of what can be chosen stay where a channel has some.
        let keeps = Window { min: None, max: None, ..Window::new(0.0, 1.0) };
        let attributes = image.group().attributes()?;
        with_windows(attributes, &vec![keeps; usize::try_from(count).unwrap_or(usize::MAX)])
            .map_err(|error| Failure::data("metadata", format!("{}: {error}", image.group().path())))?;
        let has_ends = |channel: u64| {
            let omero = attributes.get("ome").and_then(|ome| ome.get("omero")).or_else(|| attributes.get("omero"));
            let window = omero.and_then(|omero| omero.pointer(&format!("/channels/{channel}/window")));
            let number = |name: &str| window.and_then(|window| window.get(name)).is_some_and(|end| !end.is_null());
            number("min") && number("max")
        };
        let region = Region::whole(array.shape());
        let window = |channel| {
            let window = self.of_channel(&array, &region, axis, channel)?;
            if self.is_whole() {
                return Ok(window);
            }
            let ends = of_type(array.data_type()).map(|(min, max)| Window {
                min: Some(min),
                max: Some(max),
                ..window.clone()
            });
            Ok(match has_ends(channel) {
                true => Window { min: None, max: None, ..window },
                false => ends.unwrap_or(window),
            })
        };
        (0..count).map(window).collect()
    }

    /// Returns the level whose elements are looked at. Coarser levels mostly lack the least and the greatest value.
    fn level(self, image: &Image, axis: Option<usize>) -> Result<(usize, Array)> {
        let last = if self.is_whole() { 0 } else { image.level_count().saturating_sub(1) };
        for number in (1..=last).rev() {
            let array = image.level(number)?;
            let lengths = array.shape().iter().enumerate().filter(|(at, _)| axis != Some(*at));
            if lengths.fold(1, |product: u128, (_, &len)| product.saturating_mul(len.into())) >= ENOUGH {
                return Ok((number, array));
            }
        }
        Ok((0, image.level(0)?))
    }

    fn is_whole(self) -> bool {
        self.0 == Self::WHOLE.0
    }
}

/// Whether a group lists label images, which are below it (OME-Zarr, section labels). Some have no member that says so themselves.
fn lists_labels(node: &StoredNode) -> bool {
    let Some(group) = node.node.as_group() else { return false };
    let of_ome = group.attributes.get("ome").and_then(|ome| ome.get("labels"));
    let labels = group.attributes.get("labels").or(of_ome);
    node.path.name() == Some("labels") && labels.is_some_and(|labels| labels.as_array().is_some())
}

/// Refuses a number of channels whose elements are not looked at.
pub(super) fn check_count(path: &NodePath, count: u64) -> Result<()> {
    match count > MOST_CHANNELS {
        true => Err(Failure::usage(format!(
            "{path}: --channel-windows: found {count} channels, expected at most {MOST_CHANNELS}"
        ))),
        false => Ok(()),
    }
}

/// Returns the least and the greatest value of a small integer.
pub(super) fn of_type(data_type: &DataType) -> Option<(f64, f64)> {
    match data_type {
        DataType::UInt8 => Some((0.0, 255.0)),
        DataType::Int8 => Some((-128.0, 127.0)),
        DataType::UInt16 => Some((0.0, 65_535.0)),
        DataType::Int16 => Some((-32_768.0, 32_767.0)),
        _ => None,
    }
}
