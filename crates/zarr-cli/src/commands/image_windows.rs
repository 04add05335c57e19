//! Windows of channels: the values that are displayed as black and in the full colour, by statistics of the elements.

use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use std::collections::BTreeMap;
use zarr::convert::ConvertOptions;
use zarr::dtype::Class;
use zarr::grid::{AxisSelection, Region};
use zarr::meta::NodePath;
use zarr::ome::document::Window;
use zarr::ome::{AxisKind, Image, Multiscales};
use zarr::stats::{Extreme, Statistics, StatsOptions};
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

    /// Returns the window of channel `number` by its values in a region; `axis` is that of channels.
    pub(super) fn of_channel(self, array: &Array, region: &Region, axis: Option<usize>, number: u64) -> Result<Window> {
        let Self(shares) = self;
        if matches!(array.data_type().class(), None | Some(Class::Complex)) {
            return Err(Failure::usage(format!("--channel-windows: found {}, expected numbers", array.data_type())));
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
        let end = |extreme: &Option<Extreme>, other: f64| extreme.as_ref().map_or(other, |at| at.value.float);
        let mut window = Window::new(end(&numbers.min, 0.0), end(&numbers.max, 1.0));
        if let [least, greatest] = numbers.quantiles.as_slice() {
            (window.start, window.end) = (least.value.float, greatest.value.float);
        }
        Ok(window)
    }

    /// Returns the windows of the channels of all images at and below a node, but for labels, by the paths of their groups. The least and the
    /// greatest value are those of the finest level. Percentiles are those of the coarsest level with enough elements; a warning names it.
    pub(super) fn of_images(
        self,
        context: &Context,
        source: &NodeLocation,
        options: &ConvertOptions,
    ) -> Result<BTreeMap<NodePath, Vec<Window>>> {
        let walk = zarr::hierarchy::walk_stored(&*source.store, &source.path.to_string(), source.dialect)?;
        let mut all = BTreeMap::new();
        for found in walk.nodes {
            let is_left = options.exclude.iter().any(|above| found.path.is_within(above));
            let Some(group) = found.node.as_group().filter(|_| !is_left) else { continue };
            let is_label = || matches!(Multiscales::read(&group.attributes), Ok(Some(read)) if read.is_labels);
            if is_label() {
                continue;
            }
            let path = found.path.clone();
            let group = Group::from_found(&source.store, found, &context.registry)?;
            if let Some(image) = Image::open(&group)? {
                all.insert(path, self.of_image(context, &image)?);
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
        check_count(count)?;
        let region = Region::whole(array.shape());
        let window = |channel| {
            let window = self.of_channel(&array, &region, axis, channel)?;
            // Those of percentiles are no ends of what can be chosen.
            Ok(if self.is_whole() { window } else { Window { min: None, max: None, ..window } })
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

/// Refuses a number of channels whose elements are not looked at.
pub(super) fn check_count(count: u64) -> Result<()> {
    match count > MOST_CHANNELS {
        true => {
            Err(Failure::usage(format!("--channel-windows: found {count} channels, expected at most {MOST_CHANNELS}")))
        }
        false => Ok(()),
    }
}
