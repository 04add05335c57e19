//! Titles of pictures: the name of the array or image, and the positions along the axes that are not drawn.

use super::picture_source::{ArrayParent, PictureSource};
use crate::context::Context;
use crate::number::grouped;
use zarr::ome::AxisKind;
use zarr::view::{AxisLabels, Positions, Samples};

/// Title of a picture, or of the frames of an animation.
pub(super) struct Title {
    /// Name of the array or image.
    name: String,
    /// Axes that are not drawn, each with its text.
    at: Vec<(usize, String)>,
}

impl Title {
    /// Returns the whole title.
    pub(super) fn text(&self) -> String {
        self.with(|_, text| Some(text.to_owned()))
    }

    /// Returns the title without the text about `axis`; the whole title for `None`.
    pub(super) fn without(&self, axis: Option<usize>) -> String {
        self.with(|other, text| (Some(other) != axis).then(|| text.to_owned()))
    }

    /// Returns the title of a frame: `label` replaces the text about `axis`, and the text about the axis `left_out` is omitted.
    pub(super) fn at(&self, axis: usize, label: &str, left_out: Option<usize>) -> String {
        self.with(|other, text| match other == axis {
            true => Some(label.to_owned()),
            false => (Some(other) != left_out).then(|| text.to_owned()),
        })
    }

    fn with(&self, of_axis: impl Fn(usize, &str) -> Option<String>) -> String {
        let texts = self.at.iter().filter_map(|(axis, text)| of_axis(*axis, text));
        std::iter::once(self.name.clone()).chain(texts).collect::<Vec<_>>().join(", ")
    }
}

impl PictureSource {
    /// Returns the title: the name of the array or image, and the positions along the axes that are not drawn.
    pub(super) fn title(&self, context: &Context) -> Title {
        let name = match (&self.part, self.attribute("long_name")) {
            (ArrayParent::Image { image, .. }, _) => {
                let name = image.multiscale().name.clone();
                name.or_else(|| image.group().path().name().map(str::to_owned)).unwrap_or_else(|| "image".to_owned())
            }
            (_, long) => {
                let name = self.array.path().name().unwrap_or("/").to_owned();
                long.map(|long| format!("{name}: {long}")).unwrap_or(name)
            }
        };
        let text = |hidden: zarr::view::HiddenAxis| {
            let one = Samples::all(hidden.index, 1, 1);
            let label = self.labels_at(context, hidden.axis, &one).into_iter().next().unwrap_or_default();
            let first = if hidden.of > 1 { format!(" (first of {})", grouped(hidden.of)) } else { String::new() };
            (hidden.axis, format!("{label}{first}"))
        };
        Title { name, at: self.cut.others().map(text).collect() }
    }

    /// Returns the text about each index of an axis that is not drawn: `time = 2020-01-01`.
    pub(super) fn labels_at(&self, context: &Context, axis: usize, samples: &Samples) -> Vec<String> {
        let name = self.name_of(axis).map_or_else(|| format!("axis {axis}"), str::to_owned);
        let indices = || (0..samples.count).map(|number| grouped(samples.index(number))).collect();
        let labels = self.positions(context, axis, samples).unwrap_or_else(indices);
        labels.into_iter().map(|label| format!("{name} = {label}")).collect()
    }

    /// Returns the positions of indices along an axis as strings, if they are known.
    fn positions(&self, context: &Context, axis: usize, samples: &Samples) -> Option<Vec<String>> {
        match &self.part {
            ArrayParent::Dataset { dataset, .. } => {
                let name = self.name_of(axis)?;
                AxisLabels::at_indices(dataset, name, samples).unwrap_or_else(|error| {
                    context.warnings(&[format!("an index instead of a label: coordinate {name}: {error}")]);
                    None
                })
            }
            ArrayParent::Image { image, .. } if image.multiscale().axes.get(axis)?.kind == AxisKind::Channel => {
                let label = |index: u64| {
                    let channel = usize::try_from(index).ok().and_then(|at| image.metadata().channels.get(at));
                    let label = channel.and_then(|channel| channel.label.as_deref());
                    label.map_or_else(|| index.to_string(), |label| format!("{index} ({label})"))
                };
                Some((0..samples.count).map(|number| label(samples.index(number))).collect())
            }
            ArrayParent::Image { image, cut, .. } => {
                let labels = cut.labels(image, axis, samples).ok()?;
                let units = labels.units.map(|units| format!(" {units}")).unwrap_or_default();
                let Positions::Numbers(numbers) = labels.positions else { return None };
                let text = |number: f64| format!("{}{units}", zarr::meta::text::rounded(number, 7));
                Some(numbers.into_iter().map(text).collect())
            }
            ArrayParent::Nothing => None,
        }
    }
}
