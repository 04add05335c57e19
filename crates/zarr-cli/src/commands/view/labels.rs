//! `zarr view --labels`: labels of segments over an image.

use super::View;
use crate::context::Context;
use crate::failure::{Failure, Result};
use zarr::ome::Image;
use zarr::view::{Budget, Figure, ImageCut, LabelLayer, Shading};

/// Opens the labels that the arguments name.
pub(super) fn open(context: &Context, args: &View, image: &Image, cut: &ImageCut) -> Result<Vec<LabelLayer>> {
    if !args.labels.is_empty() && cut.cut.shown().len() != 2 {
        return Err(Failure::usage("--labels: labels are drawn over planes alone"));
    }
    let mut layers = match LabelLayer::open_all(image, &args.labels) {
        Ok(layers) => layers,
        // The argument says which image it is.
        Err(error) if error.is_not_found() => {
            return Err(Failure::usage(format!("--labels: {}", error.message_with_causes())));
        }
        Err(error) if error.kind() == zarr::ErrorKind::Argument => {
            return Err(Failure::usage(format!("--labels: {error}")));
        }
        Err(error) => return Err(error.into()),
    };
    for layer in &mut layers {
        layer.opacity = args.label_opacity;
        context.warnings(&layer.warnings);
    }
    Ok(layers)
}

/// Parses an opacity.
pub(super) fn opacity(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Draws labels over a figure of the image. `at` is an axis and the index along it of the plane, which that of the cut is by default.
pub(super) fn draw(
    labels: &[LabelLayer],
    (image, cut): (&Image, &ImageCut),
    figure: &mut Figure,
    at: Option<(usize, u64)>,
    budget: &Budget,
) -> Result<()> {
    let mut cut = cut.clone();
    if let Some((axis, index)) = at {
        cut.cut = cut.cut.at(axis, index);
    }
    let budget = budget.shared(labels.len());
    let of_values = |shading: &Shading, values: &[f64]| values.iter().map(|&value| shading.pixel(value)).collect();
    let mut colors = figure.colors.take().unwrap_or_else(|| of_values(&figure.shading, &figure.slice.values));
    let mut notes: Vec<String> = figure.note.take().into_iter().collect();
    for layer in labels {
        let drawn = layer.draw(&mut colors, image, &cut, &figure.slice.samples, &budget)?;
        let of_level = if drawn.level == cut.level { String::new() } else { format!(" at level {}", drawn.level) };
        let fewer = if drawn.is_cut { ", fewer than pixels; --full reads more" } else { "" };
        figure.slice.is_cut |= drawn.is_cut;
        notes.push(format!("labels {}{of_level}{fewer}", layer.name));
    }
    figure.colors = Some(colors);
    figure.note = Some(notes.join(", "));
    Ok(())
}
