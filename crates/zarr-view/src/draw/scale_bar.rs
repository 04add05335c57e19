//! Scale bars: a round length in the unit of an axis, drawn in a corner of a plane.

use crate::draw::{BLACK, WHITE};
use crate::font;
use crate::labels::{AxisLabels, Positions, short};
use crate::picture::Picture;
use crate::samples::Samples;

/// Greatest part of the width of a plane that a scale bar takes.
const MOST: f64 = 0.25;
/// Distance of a scale bar from the border of a plane, in pixels.
const MARGIN: usize = 8;
/// Thickness of a scale bar in pixels.
const THICKNESS: usize = 4;
/// Units of length, as OME-Zarr, CF and coordinate reference systems write them.
const LENGTHS: [&str; 26] = [
    "pm",
    "nm",
    "µm",
    "um",
    "μm",
    "mm",
    "cm",
    "dm",
    "m",
    "km",
    "Å",
    "fm",
    "in",
    "ft",
    "yd",
    "mi",
    "metre",
    "metres",
    "meter",
    "meters",
    "kilometre",
    "kilometres",
    "kilometer",
    "kilometers",
    "micron",
    "microns",
];

/// Scale bar of a plane: the greatest of the lengths 1, 2 and 5 times a power of ten that takes at most a quarter of the width.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleBar {
    /// Length in `unit`.
    pub length: f64,
    /// Unit of the axis.
    pub unit: String,
    /// Part of the width of the plane that the bar takes: at least 0.1, at most 0.25.
    pub fraction: f64,
}

impl ScaleBar {
    /// Returns the scale bar for the axis of columns and its samples; `None` if positions are unknown or uneven, or their unit is no length.
    ///
    /// ```
    /// use zarr_view::{AxisLabels, Positions, Samples, ScaleBar};
    ///
    /// let positions = Positions::Numbers((0..400).map(|column| 0.5 * f64::from(column)).collect());
    /// let columns = AxisLabels { name: None, units: Some("µm".to_owned()), positions };
    /// let bar = ScaleBar::new(&columns, &Samples::all(0, 1, 400)).unwrap();
    /// // The columns are 200 µm long in all.
    /// assert_eq!((bar.text().as_str(), bar.fraction), ("50 µm", 0.25));
    /// ```
    pub fn new(columns: &AxisLabels, samples: &Samples) -> Option<Self> {
        let unit = columns.units.as_deref().filter(|unit| LENGTHS.contains(unit))?;
        let Positions::Numbers(numbers) = &columns.positions else { return None };
        let (first, last) = (numbers.first()?, numbers.last()?);
        let step = (last - first) / (numbers.len() - 1) as f64;
        let is_even = |pair: &[f64]| matches!(pair, [a, b] if (b - a - step).abs() <= 1e-3 * step.abs());
        if numbers.len() < 2 || numbers.len() as u64 != samples.count || !numbers.windows(2).all(is_even) {
            return None;
        }
        let width = step.abs() * numbers.len() as f64;
        let length = round_below(width * MOST)?;
        Some(Self { length, unit: unit.to_owned(), fraction: length / width })
    }

    /// Returns the length with its unit, such as `50 µm`.
    pub fn text(&self) -> String {
        format!("{} {}", short(self.length), self.unit)
    }

    /// Draws the bar in the lower right corner of a plane with this corner, width and height. Draws nothing where it has no room.
    pub(crate) fn draw(&self, picture: &mut Picture, (left, top): (usize, usize), (width, height): (usize, usize)) {
        let long = (self.fraction * width as f64).round().max(1.0) as usize;
        let text = self.text();
        let box_width = long.max(font::width(&text));
        let box_height = THICKNESS + font::HEIGHT + 2;
        if box_width + 2 * MARGIN > width || box_height + 2 * MARGIN > height || long < MARGIN {
            return;
        }
        let right = left + width - MARGIN;
        let y = top + height - MARGIN - THICKNESS;
        let x = right - long - (box_width - long) / 2;
        picture.fill(x - 1, y - 1, long + 2, THICKNESS + 2, BLACK);
        picture.fill(x, y, long, THICKNESS, WHITE);
        let at = (right - box_width + (box_width - font::width(&text)) / 2, y - font::HEIGHT - 2);
        // White letters with a dark border are seen on all colours.
        for (dx, dy) in [(0, 1), (2, 1), (1, 0), (1, 2)] {
            picture.text(at.0 + dx - 1, at.1 + dy - 1, &text, BLACK);
        }
        picture.text(at.0, at.1, &text, WHITE);
    }
}

/// Returns the greatest of 1, 2 and 5 times a power of ten that is at most `most`; `None` if it is not a positive, finite number.
fn round_below(most: f64) -> Option<f64> {
    if !(most.is_finite() && most > 0.0) {
        return None;
    }
    let exponent = most.log10().floor();
    let candidates = [exponent - 1.0, exponent, exponent + 1.0]
        .into_iter()
        .flat_map(|exponent| [1.0, 2.0, 5.0].map(|factor: f64| factor * 10_f64.powf(exponent)));
    // A quarter of four times a round length may differ from that length in the last digit.
    let fitting = candidates.filter(|length| *length > 0.0 && *length <= most * (1.0 + 1e-12));
    fitting.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bar(step: f64, count: usize, unit: &str) -> Option<ScaleBar> {
        let positions = Positions::Numbers((0..count).map(|at| 3.0 + step * at as f64).collect());
        let columns = AxisLabels { name: None, units: Some(unit.to_owned()), positions };
        ScaleBar::new(&columns, &Samples::all(0, 1, count as u64))
    }

    proptest! {
        /// A bar has a round length, and takes a tenth to a quarter of the width.
        #[test]
        fn bars_have_round_lengths(exponent in -9.0..9.0_f64, count in 2_usize..5000, is_falling in any::<bool>()) {
            let step = 10_f64.powf(exponent);
            let found = bar(if is_falling { -step } else { step }, count, "µm");
            // Steps that vanish beside the position are uneven.
            prop_assume!(step > 1e-6);
            let found = found.unwrap();
            let width = step * count as f64;
            prop_assert!((found.length / width - found.fraction).abs() < 1e-6);
            prop_assert!((0.1 - 1e-9..=MOST + 1e-9).contains(&found.fraction), "{found:?}");
            let digits = found.length / 10_f64.powf(found.length.log10().round());
            let is_round = [0.5, 1.0, 2.0, 5.0, 0.2].iter().any(|round| (digits - round).abs() < 1e-9);
            prop_assert!(is_round, "{found:?}");
        }
    }

    #[test]
    fn what_is_no_length_has_no_bar() {
        assert!(bar(1.0, 10, "degrees_east").is_none());
        assert!(bar(1.0, 10, "s").is_none());
        assert!(bar(1.0, 1, "m").is_none());
        assert!(bar(0.0, 10, "m").is_none());
        let uneven = Positions::Numbers(vec![0.0, 1.0, 3.0]);
        let columns = AxisLabels { name: None, units: Some("m".to_owned()), positions: uneven };
        assert!(ScaleBar::new(&columns, &Samples::all(0, 1, 3)).is_none());
        let indices = AxisLabels { name: None, units: Some("m".to_owned()), positions: Positions::Indices };
        assert!(ScaleBar::new(&indices, &Samples::all(0, 1, 3)).is_none());
        assert_eq!((round_below(f64::NAN), round_below(-1.0), round_below(5e-324)), (None, None, None));
    }

    #[test]
    fn bars_are_drawn_where_they_have_room() {
        let bar = bar(1.0, 200, "m").unwrap();
        assert_eq!((bar.text().as_str(), bar.fraction), ("50 m", 0.25));
        let mut picture = Picture::new(220, 120, [90; 3]).unwrap();
        bar.draw(&mut picture, (10, 10), (200, 100));
        // 50 pixels, which end 8 pixels before the border at 210.
        assert_eq!((picture.get(152, 99), picture.get(201, 99)), (Some(WHITE), Some(WHITE)));
        assert_eq!((picture.get(150, 99), picture.get(203, 99)), (Some([90; 3]), Some([90; 3])));
        let mut small = Picture::new(40, 20, [90; 3]).unwrap();
        bar.draw(&mut small, (0, 0), (40, 20));
        assert!(small.pixels().iter().all(|pixel| *pixel == [90; 3]));
    }
}
