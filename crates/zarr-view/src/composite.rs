//! Composition of several channels in one picture.

use crate::color_map::Rgb;
use crate::coloring::Coloring;
use crate::shading::{Categories, Category, Shading};
use crate::slice::Slice;

/// Channel of a composed picture: values, colour, and range of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Values of the channel.
    pub slice: Slice,
    /// Colour that is added for the last bound of `window`, or for the first if `is_inverted`.
    pub color: Rgb,
    /// First and last bound of the values: the first is black, and the last has the full `color`.
    pub window: (f64, f64),
    /// Whether the first bound of `window` has the full colour, and the last is black.
    pub is_inverted: bool,
    /// Name of the channel.
    pub name: String,
    /// Index along the axis of channels.
    pub number: u64,
}

/// Composes channels to one colour per element: the sum of the channel colours, each weighted by its value, as fluorescence microscopes
/// show them. Missing values add nothing; an element that is missing in all channels has the colour of missing values. Also returns the
/// legend, with a category for each channel.
///
/// ```
/// # use zarr_view::{Layer, Numbers, Samples, Slice, composite};
/// # let layer = |values: &[f64], color| Layer {
/// #     slice: Slice {
/// #         samples: vec![Samples::all(0, 1, 1), Samples::all(0, 1, 3)], values: values.to_vec(),
/// #         numbers: Numbers::Floats, is_cut: false, text: None,
/// #     },
/// #     color, window: (0.0, 100.0), is_inverted: false, name: String::new(), number: 0,
/// # };
/// let (red, green) = (layer(&[0.0, 100.0, 50.0], [255, 0, 0]), layer(&[0.0, 200.0, f64::NAN], [0, 255, 0]));
/// assert_eq!(composite(&[red, green]).0, [[0, 0, 0], [255, 255, 0], [128, 0, 0]]);
/// ```
pub fn composite(layers: &[Layer]) -> (Vec<Rgb>, Shading) {
    let count = layers.iter().map(|layer| layer.slice.values.len()).max().unwrap_or(0);
    let mut sums = vec![([0.0_f64; 3], false); count];
    for layer in layers {
        let coloring = Coloring::new(crate::ColorMap::GRAY, layer.window.0, layer.window.1);
        for (sum, &value) in sums.iter_mut().zip(&layer.slice.values).filter(|(_, value)| !value.is_nan()) {
            let part = coloring.fraction(value).clamp(0.0, 1.0);
            let part = if layer.is_inverted { 1.0 - part } else { part };
            sum.0.iter_mut().zip(layer.color).for_each(|(sum, channel)| *sum += part * f64::from(channel));
            sum.1 = true;
        }
    }
    let pixel = |(sum, is_known): ([f64; 3], bool)| match is_known {
        // Saturates.
        true => sum.map(|channel| channel.round() as u8),
        false => Coloring::MISSING,
    };
    let entry = |(number, layer): (usize, &Layer)| Category {
        value: number as f64,
        color: layer.color,
        name: layer.name.clone(),
    };
    let entries = layers.iter().enumerate().map(entry).collect();
    (sums.into_iter().map(pixel).collect(), Shading::Categories(Categories { entries }))
}
