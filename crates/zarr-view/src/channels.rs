//! Channels of images: which are drawn together, in which colours and ranges of values.

use crate::color_map::Rgb;
use crate::composite::Layer;
use crate::cut::Cut;
use crate::cut_samples::{Budget, CutSamples};
use crate::range::Range;
use crate::samples::Samples;
use crate::slice::Slice;
use crate::{Error, Result};
use zarr_array::Array;
use zarr_dtype::DataType;
use zarr_ome::{AxisKind, Channel, Image};

/// Channels of an image that are drawn together, in one picture.
///
/// By default these are the active ones of `omero`, or the first six of an image without it. Without a colour, a channel has
/// that of [`Channel::default_color`]; without a range of values, that of the [percentiles](Range::default) of the values that are drawn. Three channels
/// of `uint8` without `omero` are red, green and blue from 0 to 255: elements are pixels then. A single channel is one of these if `omero`
/// says its colour, or that it is inverted.
#[derive(Clone, Debug, PartialEq)]
pub struct Channels {
    /// Axis of the channels; `None` for a single channel of an image without such an axis.
    pub axis: Option<usize>,
    /// Number of channels among which these were chosen.
    pub of: u64,
    /// Channels that are drawn, at least one.
    pub drawn: Vec<DrawnChannel>,
    /// Messages about metadata that cannot be followed, and what is drawn instead.
    pub warnings: Vec<String>,
}

/// Channel of an image, with its colour and range of values.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnChannel {
    /// Index along the axis of channels.
    pub number: u64,
    /// Name of the channel; its index if it has none.
    pub name: String,
    /// Colour of the channel.
    pub color: Rgb,
    /// Values that are black and that have the full colour; `None` for a range that depends on the values.
    pub window: Option<(f64, f64)>,
    /// Whether the first bound of the window has the full colour, and the last is black.
    pub is_inverted: bool,
}

impl DrawnChannel {
    /// Returns the window for the values of slices: that of the channel, or the percentiles of the values.
    pub fn window_of<'s>(&self, slices: impl IntoIterator<Item = &'s Slice>) -> (f64, f64) {
        self.window.unwrap_or_else(|| {
            let values: Vec<f64> = slices.into_iter().flat_map(|slice| slice.values.iter().copied()).collect();
            let (first, last) = Range::default().of(&values, false).unwrap_or((0.0, 1.0));
            // A channel of one value has nothing to show: it is black.
            (first, if first < last { last } else { first + first.abs().max(1.0) })
        })
    }

    /// Returns the layer of a picture for values of the channel.
    pub fn layer(&self, slice: Slice, window: (f64, f64)) -> Layer {
        Layer {
            slice,
            color: self.color,
            window,
            is_inverted: self.is_inverted,
            name: self.name.clone(),
            number: self.number,
        }
    }
}

impl Channels {
    /// Greatest number of channels that are drawn together.
    pub const MOST: usize = 32;
    /// Greatest number of channels that are drawn together unless the image or the caller says which.
    pub const MOST_BY_DEFAULT: usize = 6;

    /// Chooses the channels of an image that a cut of one of its levels shows together; `None` if it shows no plane, or one channel alone:
    /// of an image with one channel that has neither a colour nor is inverted, or with an index selected along the axis of channels. `picks`
    /// are the names or numbers of the channels to choose.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for `picks` of an image in which no channels can be chosen, for one that is no
    /// channel, and for more than [`MOST`](Self::MOST).
    pub fn new(image: &Image, array: &Array, cut: &Cut, picks: Option<&[String]>) -> Result<Option<Self>> {
        let is_channel = |axis: usize| {
            let axis = image.multiscale().axes.get(axis);
            axis.is_some_and(|axis| axis.kind == AxisKind::Channel)
        };
        let Some(hidden) = cut.others().find(|hidden| is_channel(hidden.axis)) else {
            let has_axis = image.multiscale().axes.iter().any(|axis| axis.kind == AxisKind::Channel);
            if let (None, false, Some(alone)) = (picks, has_axis, Self::alone(image, array, cut, None)) {
                return Ok(Some(alone));
            }
            return refused(picks, "the image has no axis of channels beside those that are shown");
        };
        let Some(selected) = cut.along(hidden.axis) else {
            return refused(picks, "an index of the axis of channels is selected");
        };
        if cut.shown().len() != 2 {
            return refused(picks, "channels are drawn together in planes alone");
        }
        if picks.is_none() && image.metadata().is_labels {
            return Ok(None);
        }
        if picks.is_none() && selected.count < 2 {
            let is_only = array.shape().get(hidden.axis) == Some(&1);
            return Ok(if is_only { Self::alone(image, array, cut, Some(hidden.axis)) } else { None });
        }
        let found = Self::found(image, array, Some(hidden.axis));
        // An axis may have any length: only as many of its indices are looked at as are described, or drawn.
        let first = |most: usize| (0..selected.count.min(most as u64)).map(|number| selected.index(number));
        let mut channels =
            Self { axis: Some(hidden.axis), of: selected.count, drawn: Vec::new(), warnings: found.warnings.clone() };
        let most = if found.channels.is_empty() && picks.is_none() { Self::MOST_BY_DEFAULT } else { Self::MOST };
        let (chosen, count): (Vec<u64>, u64) = match picks {
            Some(picks) => {
                let chosen = picked(picks, &selected, &found)?;
                let count = chosen.len() as u64;
                (chosen, count)
            }
            None if found.channels.is_empty() => (first(most).collect(), selected.count),
            None => {
                let active: Vec<u64> =
                    found.described(&selected).into_iter().filter(|number| found.is_active(*number)).collect();
                if active.is_empty() {
                    channels.warnings.push("no channel is active: the first is shown".to_owned());
                    (first(1).collect(), 1)
                } else {
                    let count = active.len() as u64;
                    (active, count)
                }
            }
        };
        if count > most as u64 {
            if picks.is_some() {
                return Err(Error::argument(format!("found {count} channels, expected at most {most}")));
            }
            channels.warnings.push(format!("{most} of {count} channels are shown"));
        }
        for number in chosen.into_iter().take(most) {
            let (drawn, warning) = found.one(number);
            channels.drawn.push(drawn);
            channels.warnings.extend(warning);
        }
        Ok(Some(channels))
    }

    /// Returns the only channel of an image; `None` if the image says neither its colour nor that it is inverted.
    fn alone(image: &Image, array: &Array, cut: &Cut, axis: Option<usize>) -> Option<Self> {
        let [only] = image.metadata().channels.as_slice() else { return None };
        let is_drawn = (only.color.is_some() || only.is_inverted) && !image.metadata().is_labels;
        if !is_drawn || cut.shown().len() != 2 || cut.is_empty() {
            return None;
        }
        let found = Self::found(image, array, axis);
        let (drawn, warning) = found.one(0);
        let warnings = found.warnings.into_iter().chain(warning).collect();
        Some(Self { axis, of: 1, drawn: vec![drawn], warnings })
    }

    /// Returns the cut of one of the channels.
    pub fn cut(&self, cut: &Cut, channel: &DrawnChannel) -> Cut {
        match self.axis {
            Some(axis) => cut.at(axis, channel.number),
            None => cut.clone(),
        }
    }

    /// Finds what the image says about its channels.
    fn found<'i>(image: &'i Image, array: &Array, axis: Option<usize>) -> Found<'i> {
        let len = axis.map_or(1, |axis| array.shape().get(axis).copied().unwrap_or(0));
        let channels = image.metadata().channels.as_slice();
        let mut warnings = Vec::new();
        // A faulty document of channels is left out as a whole.
        if channels.is_empty() {
            let faults = image.metadata().deviations.iter().filter(|text| text.contains("/omero"));
            warnings.extend(faults.map(|fault| format!("colours and ranges of channels are left out: {fault}")));
        } else if (channels.len() as u64) < len {
            warnings
                .push(format!("omero describes {} of {len} channels: the others are shown if chosen", channels.len()));
        }
        let is_rgb = channels.is_empty() && len == 3 && *array.data_type() == DataType::UInt8;
        Found { channels, len, is_rgb, warnings }
    }

    /// Reads the channels of a cut of the array, and returns the layers of the picture. The channels share the budget.
    ///
    /// # Errors
    /// The errors of [`Slice::read`].
    pub fn read(&self, array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> Result<Vec<Layer>> {
        self.read_each(array, cut, most, &budget.shared(self.drawn.len()))
    }

    /// Reads the channels as [`read`](Self::read) does, each with a whole budget.
    ///
    /// # Errors
    /// The errors of [`Slice::read`].
    pub fn read_each(&self, array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> Result<Vec<Layer>> {
        let slices = self.slices(array, cut, most, budget)?;
        let layer = |(channel, slice): (&DrawnChannel, Slice)| {
            let window = channel.window_of([&slice]);
            channel.layer(slice, window)
        };
        Ok(self.drawn.iter().zip(slices).map(layer).collect())
    }

    /// Reads a slice of each channel, all with the same samples, each within the budget.
    pub(crate) fn slices(&self, array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> Result<Vec<Slice>> {
        let cuts: Vec<Cut> = self.drawn.iter().map(|channel| self.cut(cut, channel)).collect();
        let thinned = cuts
            .iter()
            .map(|cut| budget.checked(array, cut.thinned(array, most, budget)?))
            .collect::<Result<Vec<_>>>()?;
        // Chunks of a channel may be smaller than those of another: the fewest samples suit all.
        let count =
            |thinned: &&CutSamples| thinned.samples.iter().fold(1_u64, |all, one| all.saturating_mul(one.count));
        let Some(fewest) = thinned.iter().min_by_key(count) else { return Ok(Vec::new()) };
        cuts.iter().map(|cut| Slice::read_thinned(array, cut, fewest.clone())).collect()
    }
}

fn refused(picks: Option<&[String]>, why: &str) -> Result<Option<Channels>> {
    match picks {
        Some(_) => Err(Error::argument(format!("no channels can be chosen: {why}"))),
        None => Ok(None),
    }
}

/// Facts about the channels of an image.
struct Found<'i> {
    channels: &'i [Channel],
    len: u64,
    is_rgb: bool,
    warnings: Vec<String>,
}

impl Found<'_> {
    fn channel(&self, number: u64) -> Option<&Channel> {
        self.channels.get(usize::try_from(number).ok()?)
    }

    fn name(&self, number: u64) -> Option<&str> {
        self.channel(number)?.label.as_deref()
    }

    /// Returns whether a channel is drawn by default.
    fn is_active(&self, number: u64) -> bool {
        self.channel(number).is_some_and(|channel| channel.is_active)
    }

    /// Returns the selected indices that the image describes, in the order of the selection.
    fn described(&self, selected: &Samples) -> Vec<u64> {
        let mut numbers: Vec<u64> =
            (0..self.channels.len() as u64).filter(|&number| selected.contains(number)).collect();
        if selected.step < 0 {
            numbers.reverse();
        }
        numbers
    }

    /// Returns a channel as it is drawn, and a warning about its metadata.
    fn one(&self, number: u64) -> (DrawnChannel, Option<String>) {
        let known = self.channel(number);
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let count = usize::try_from(self.len).unwrap_or(usize::MAX);
        let default = match self.is_rgb {
            true => [[255, 0, 0], [0, 255, 0], [0, 0, 255]].get(at).copied().unwrap_or([255; 3]),
            false => Channel::default_color(at, count),
        };
        let name = known.and_then(|channel| channel.label.clone()).unwrap_or_else(|| number.to_string());
        let stated = known.and_then(|channel| channel.window).or(self.is_rgb.then_some((0.0, 255.0)));
        let window = stated.filter(|(start, end)| start != end);
        let warning = stated.filter(|(start, end)| start == end).map(|(start, _)| {
            format!("channel {name}: its window begins and ends at {start}: the range of its values is shown")
        });
        let color = known.and_then(|channel| channel.color).unwrap_or(default);
        let is_inverted = known.is_some_and(|channel| channel.is_inverted);
        (DrawnChannel { number, name, color, window, is_inverted }, warning)
    }
}

/// Returns the numbers of channels that are given by name or number, each once.
fn picked(picks: &[String], selected: &Samples, found: &Found<'_>) -> Result<Vec<u64>> {
    let mut chosen = Vec::new();
    let described = found.described(selected);
    for pick in picks {
        let named = |is_it: &dyn Fn(&str) -> bool| {
            described.iter().copied().find(|number| found.name(*number).is_some_and(is_it))
        };
        let by_number = || pick.parse().ok().filter(|number| selected.contains(*number));
        let number =
            named(&|name| name == pick).or_else(by_number).or_else(|| named(&|name| name.eq_ignore_ascii_case(pick)));
        let Some(number) = number else {
            let text = |number: u64| match found.name(number) {
                Some(name) => format!("{number} ({name})"),
                None => number.to_string(),
            };
            let shown = selected.count.min(Channels::MOST as u64);
            let known: Vec<String> = (0..shown).map(|number| text(selected.index(number))).collect();
            let more = if selected.count > shown { ", .." } else { "" };
            return Err(Error::argument(format!(
                "found no channel {pick:?}, expected one of {}{more}",
                known.join(", ")
            )));
        };
        if !chosen.contains(&number) {
            chosen.push(number);
        }
        if chosen.len() > Channels::MOST {
            break;
        }
    }
    match chosen.is_empty() {
        true => Err(Error::argument("found no channel, expected names or numbers of channels")),
        false => Ok(chosen),
    }
}

#[cfg(test)]
mod tests;
