//! Labels of segments over an image.

use crate::color_map::Rgb;
use crate::cut::Cut;
use crate::cut_samples::Budget;
use crate::located::{at, in_array, in_group};
use crate::ome::ImageCut;
use crate::picture::blended;
use crate::samples::Samples;
use crate::slice::{Numbers, Slice};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::OnceLock;
use zarr_array::{Array, Group};
use zarr_grid::{AxisSelection, Selection};
use zarr_ome::{AxisKind, Image, ImageLabel, Listed, Metadata};

/// Group beside the levels of an image that has its label images.
const LABELS: &str = "labels";
/// Greatest number of names that an error lists.
const MOST_LISTED: usize = 32;
/// Number of colours that values have in turn.
const COLORS: i128 = 18;

/// Label image of an image, whose values are drawn over it as colours.
///
/// The value 0 is transparent. Other values have the colours of `image-label`, or else one of 18 colours by their number. Labels are never
/// averaged: each element of the picture has the value of the nearest element of the labels.
#[derive(Clone, Debug)]
pub struct LabelLayer {
    /// Name of the label image.
    pub name: String,
    /// Opacity of the colours, from 0 to 1.
    pub opacity: f64,
    /// Messages about metadata that cannot be followed, and what is drawn instead.
    pub warnings: Vec<String>,
    image: Image,
    finest: Array,
    colors: HashMap<i128, [u8; 4]>,
    /// Whether the shape is that of the image, once it is known.
    checked: OnceLock<()>,
    /// Level that was chosen first, with the lengths for which it was chosen: frames of an animation have the same.
    chosen: OnceLock<ChosenLevel>,
}

/// Level of labels, with the pairs of an axis and its least length for which it was chosen.
type ChosenLevel = (Vec<(usize, u64)>, usize, Array);

/// Labels that were drawn over a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnLabels {
    /// Index of the level of the labels that was read.
    pub level: usize,
    /// Whether fewer labels were read than the picture has pixels, because of the budget.
    pub is_cut: bool,
}

impl LabelLayer {
    /// Opacity unless another is chosen.
    pub const OPACITY: f64 = 0.5;
    /// Greatest number of label images that are drawn over an image.
    pub const MOST: usize = 16;

    /// Returns the names of the label images of an image; none if it has no labels.
    ///
    /// # Errors
    /// The errors of opening the group `labels`, but for one that does not exist.
    pub fn names(image: &Image) -> Result<Vec<String>> {
        let group = match image.group().group(LABELS) {
            Ok(group) => group,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let metadata = Metadata::find(group.attributes()?, Some(LABELS));
        let listed = metadata.as_ref().and_then(Listed::labels);
        Ok(listed.map(|listed| listed.paths.into_iter().map(|(path, _)| path).collect()).unwrap_or_default())
    }

    /// Opens the label images with these names, in the order in which they are first given, as [`open`](Self::open) does.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for more than [`MOST`](Self::MOST); the errors of [`open`](Self::open).
    pub fn open_all(image: &Image, names: &[String]) -> Result<Vec<Self>> {
        let mut once: Vec<&str> = Vec::new();
        for name in names.iter().map(|name| relative(name)) {
            if !once.contains(&name) {
                once.push(name);
            }
            if once.len() > Self::MOST {
                let message = format!("found {} names of labels, expected at most {}", names.len(), Self::MOST);
                return Err(in_group(image.group(), Error::argument(message)));
            }
        }
        once.into_iter().map(|name| Self::open(image, name)).collect()
    }

    /// Opens the label image `name` of an image, also one that is not listed: `nuclei`, or `labels/nuclei`. Its arrays are opened with the
    /// options of the image.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the image has no such labels, with the names of those that it has; [`ErrorKind::InvalidMetadata`] for a
    /// group that is no image; [`ErrorKind::Argument`] for an image whose elements are not integers; the errors of
    /// [`names`](Self::names) and [`Image::open`].
    pub fn open(image: &Image, name: &str) -> Result<Self> {
        let name = relative(name);
        let absent = || {
            let known = match Self::names(image) {
                Ok(names) if names.is_empty() => "the image has none".to_owned(),
                Ok(names) => format!("expected one of {}", listed(&names)),
                Err(error) => return error,
            };
            let (group, message) = (image.group(), format!("found no labels {name:?}, {known}"));
            let path = format!("{}/{LABELS}/{name}", group.path().to_string().trim_end_matches('/'));
            at(group.store(), path.trim_end_matches('/'), Error::new(ErrorKind::NotFound, message))
        };
        if name.is_empty() {
            return Err(absent());
        }
        let group = match image.group().group(&format!("{LABELS}/{name}")) {
            Ok(group) => group,
            Err(error) if error.is_not_found() => return Err(absent()),
            Err(error) => return Err(error),
        };
        let Some(labels) = Image::open(&group)? else {
            let message = format!("labels {name}: found a group without an image of OME-Zarr");
            return Err(in_group(&group, Error::new(ErrorKind::InvalidMetadata, message)));
        };
        let labels = match image.options() {
            Some(options) => labels.arrays(options.clone()),
            None => labels,
        };
        let (mut colors, mut warnings) = (HashMap::new(), Vec::new());
        if let Some(label) = colors_of(&group)? {
            let mut faults = label.faults.iter().filter(|fault| fault.pointer().contains("/colors"));
            if let Some(first) = faults.next() {
                let more = match faults.count() {
                    0 => String::new(),
                    more => format!(", and {more} more"),
                };
                warnings.push(format!("colours of labels {name} are left out: {first}{more}"));
            }
            // The first colour of a value is its colour.
            label.colors.into_iter().for_each(|(value, rgba)| {
                colors.entry(value).or_insert(rgba);
            });
        }
        let finest = labels.level(0)?;
        match Numbers::of(finest.data_type()) {
            Some(Numbers::Integers | Numbers::Bools) => Ok(Self {
                name: name.to_owned(),
                opacity: Self::OPACITY,
                warnings,
                image: labels,
                finest,
                colors,
                checked: OnceLock::new(),
                chosen: OnceLock::new(),
            }),
            _ => {
                let message = format!("labels {name}: found elements of {}, expected integers", finest.data_type());
                Err(in_array(&finest, Error::argument(message)))
            }
        }
    }

    /// Returns the colour and the opacity of a value; `None` for 0, which is transparent.
    pub fn color(&self, value: i128) -> Option<(Rgb, f64)> {
        if value == 0 {
            return None;
        }
        match self.colors.get(&value) {
            Some(&[r, g, b, alpha]) => Some(([r, g, b], self.opacity * f64::from(alpha) / 255.0)),
            None => {
                let place = usize::try_from(value.wrapping_sub(1).rem_euclid(COLORS)).unwrap_or(0);
                Some((crate::shading::Categories::color(place), self.opacity))
            }
        }
    }

    /// Draws the labels over `pixels`, which are those of `samples` of a cut of a level of the image, of which the labels were opened.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the labels have another shape than each level of the image along axes in space, several elements along
    /// another axis that the image lacks or has in another length; the errors of [`Slice::read`].
    pub fn draw(
        &self,
        pixels: &mut [Rgb],
        image: &Image,
        cut: &ImageCut,
        samples: &[Samples],
        budget: &Budget,
    ) -> Result<DrawnLabels> {
        let of_labels = self.cut(image, cut, samples)?;
        let most: Vec<u64> = samples.iter().map(|samples| samples.count).collect();
        let (values, read) = Slice::read_integers(&of_labels.array, &of_labels.cut, &most, budget)?;
        let ([rows, columns], [down, across]) = (samples, read.samples.as_slice()) else {
            return Err(self.wrong("they are drawn over planes alone"));
        };
        let width = usize::try_from(across.count).unwrap_or(usize::MAX);
        let (rows_at, columns_at) =
            (nearest(cut, &of_labels, 0, rows, down), nearest(cut, &of_labels, 1, columns, across));
        let values = rows_at.iter().flat_map(|&row| {
            let first = row.saturating_mul(width);
            let values = &values;
            columns_at.iter().map(move |&column| values.get(first.saturating_add(column)).copied().unwrap_or(0))
        });
        for (pixel, value) in pixels.iter_mut().zip(values) {
            if let Some((color, opacity)) = self.color(value) {
                *pixel = blended(*pixel, color, opacity);
            }
        }
        Ok(DrawnLabels { level: of_labels.level, is_cut: read.is_cut })
    }

    /// Chooses the level of the labels and the part of it that lies under the samples of a cut of the image.
    fn cut(&self, image: &Image, cut: &ImageCut, samples: &[Samples]) -> Result<ImageCut> {
        let (axes, own) = (&image.multiscale().axes, &self.image.multiscale().axes);
        let place = |name: &str| axes.iter().position(|axis| axis.name == name);
        if self.checked.get().is_none() {
            self.check_shape(image, &self.finest)?;
            self.checked.get_or_init(|| ());
        }
        // Axes of the picture in the order of the labels' own.
        let mut shown = Vec::new();
        for &axis in cut.cut.shown() {
            let name = axes.get(axis).map(|axis| axis.name.as_str()).unwrap_or_default();
            let found = own.iter().position(|axis| axis.name == name);
            shown.push(found.ok_or_else(|| self.wrong(&format!("found no axis {name}, which the picture shows")))?);
        }
        let len_of = |axis: usize| cut.array.shape().get(axis).copied().unwrap_or(1).max(1);
        let runs: Vec<(u64, u64)> =
            samples.iter().zip(cut.cut.shown()).map(|(one, &axis)| run(one, len_of(axis))).collect();
        // As many elements of the axis as make one for each sample.
        let mut least = Vec::new();
        for ((&number, &axis), (one, (first, end))) in shown.iter().zip(cut.cut.shown()).zip(samples.iter().zip(&runs))
        {
            let len = u128::from(one.count) * u128::from(len_of(axis)) / u128::from(end - first);
            least.push((number, u64::try_from(len).unwrap_or(u64::MAX)));
        }
        let (level, array) = match self.chosen.get() {
            Some((known, level, array)) if *known == least => (*level, array.clone()),
            _ => {
                let (level, array) = self.image.level_of(&least)?;
                self.chosen.get_or_init(|| (least, level, array.clone()));
                (level, array)
            }
        };
        let selected = own.iter().zip(array.shape()).enumerate().map(|(number, (axis, &len))| {
            let last = len.saturating_sub(1);
            let of_image = place(&axis.name);
            let index = |index: u64, axis: usize| if len == 1 { 0 } else { scaled(index, len, len_of(axis)).min(last) };
            match (shown.iter().position(|shown| *shown == number).and_then(|at| runs.get(at)), of_image) {
                (Some(&(first, end)), Some(axis)) => {
                    let first = index(first, axis);
                    let end = scaled(end, len, len_of(axis)).clamp(first + 1, len.max(first + 1));
                    AxisSelection::Range { start: Some(signed(first)), stop: Some(signed(end)), step: 1 }
                }
                (_, Some(axis)) => {
                    let hidden = cut.cut.others().find(|hidden| hidden.axis == axis);
                    AxisSelection::Index(signed(index(hidden.map_or(0, |hidden| hidden.index), axis)))
                }
                (_, None) => AxisSelection::Index(0),
            }
        });
        let selection = Selection::Axes(selected.collect());
        let cut = Cut::new(array.shape(), &selection, Some(&shown))?;
        Ok(ImageCut { level, array, cut })
    }

    /// Checks that the labels have the shape of a level of the image along the axes in space that they share, the length of the image or one
    /// element along other axes that they share, and one element along axes that the image has not.
    fn check_shape(&self, image: &Image, finest: &Array) -> Result<()> {
        let (axes, own) = (&image.multiscale().axes, &self.image.multiscale().axes);
        for (axis, &len) in own.iter().zip(finest.shape()) {
            if len != 1 && !axes.iter().any(|known| known.name == axis.name) {
                return Err(self.wrong(&format!("found axis {} of {len} elements, which the image has not", axis.name)));
            }
        }
        let in_space: Vec<(usize, usize)> = own
            .iter()
            .enumerate()
            .filter(|(_, axis)| axis.kind == AxisKind::Space)
            .filter_map(|(number, axis)| Some((number, axes.iter().position(|known| known.name == axis.name)?)))
            .collect();
        let len = |array: &Array, axis: usize| array.shape().get(axis).copied().unwrap_or(1);
        let of_image = image.level(0)?;
        // Levels have all times and channels of the image.
        for (axis, &found) in own.iter().zip(finest.shape()).filter(|(axis, _)| axis.kind != AxisKind::Space) {
            let Some(shared) = axes.iter().position(|known| known.name == axis.name) else { continue };
            let expected = len(&of_image, shared);
            if ![1, expected].contains(&found) {
                let name = &axis.name;
                return Err(self.wrong(&format!("found axis {name} of {found} elements, expected {expected} or 1")));
            }
        }
        for number in 0..image.level_count() {
            let level = image.level(number)?;
            if in_space.iter().all(|&(own, axis)| [1, len(&level, axis)].contains(&len(finest, own))) {
                return Ok(());
            }
        }
        let (found, expected) = (finest.shape(), of_image.shape());
        Err(self.wrong(&format!("found shape {found:?}, expected that of a level of the image: {expected:?}")))
    }

    fn wrong(&self, message: &str) -> Error {
        in_group(self.image.group(), Error::argument(format!("labels {}: {message}", self.name)))
    }
}

/// Returns the name of a label image relative to the group of labels.
fn relative(name: &str) -> &str {
    let name = name.trim_matches('/');
    name.strip_prefix("labels/").unwrap_or(name)
}

/// Returns names as a list, in which many are left out.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_LISTED { format!("{shown}, ..") } else { shown }
}

/// Returns for each sample `of` the image along a `side` of the picture the number of the nearest sample of the labels.
fn nearest(image: &ImageCut, labels: &ImageCut, side: usize, of: &Samples, own: &Samples) -> Vec<usize> {
    let len = |cut: &ImageCut| {
        let axis = cut.cut.shown().get(side).copied().unwrap_or(0);
        cut.array.shape().get(axis).copied().unwrap_or(1).max(1)
    };
    let (of_len, own_len) = (len(image), len(labels));
    // Labels are read forwards.
    let (step, last) = (own.step.unsigned_abs().max(1), own.count.saturating_sub(1));
    let nearest = |number: u64| {
        let element = scaled_middle(of.index(number), own_len, of_len);
        let at = (element.saturating_sub(own.start) + step / 2) / step;
        usize::try_from(at.min(last)).unwrap_or(0)
    };
    (0..of.count).map(nearest).collect()
}

/// Returns the metadata about the values of a label image.
fn colors_of(group: &Group) -> Result<Option<ImageLabel>> {
    let name = group.path().name().map(str::to_owned);
    Ok(Metadata::find(group.attributes()?, name.as_deref()).as_ref().and_then(ImageLabel::read))
}

/// Returns the range of elements, at least one, that samples stand for along an axis of `len` elements: each is in the middle of a run.
fn run(samples: &Samples, len: u64) -> (u64, u64) {
    let (first, last) = (samples.start, samples.index(samples.count.saturating_sub(1)));
    let step = samples.step.unsigned_abs().max(1);
    let start = first.min(last).saturating_sub((step - 1) / 2);
    (start, first.max(last).saturating_add(step / 2).saturating_add(1).min(len).max(start + 1))
}

/// Returns the index of an axis of `to` elements where the element `index` of an axis of `from` elements begins.
fn scaled(index: u64, to: u64, from: u64) -> u64 {
    u64::try_from(u128::from(index) * u128::from(to) / u128::from(from.max(1))).unwrap_or(u64::MAX)
}

/// Returns the index of an axis of `to` elements in which the middle of the element `index` of an axis of `from` elements lies.
fn scaled_middle(index: u64, to: u64, from: u64) -> u64 {
    let twice = u128::from(index) * 2 + 1;
    u64::try_from(twice * u128::from(to) / (u128::from(from.max(1)) * 2)).unwrap_or(u64::MAX)
}

fn signed(index: u64) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
