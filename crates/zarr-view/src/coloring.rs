//! Mapping of values to colours.

use crate::color_map::{ColorMap, Rgb};

/// Mapping of values to colours: a colour map, the values of its first and last colour, and a linear or logarithmic scale.
///
/// ```
/// use zarr_view::{ColorMap, Coloring};
///
/// let coloring = Coloring::new(ColorMap::GRAY, 0.0, 10.0);
/// assert_eq!(coloring.pixel(5.0), [128; 3]);
/// assert_eq!(coloring.pixel(-1.0), [0; 3]);
/// assert_eq!(coloring.pixel(f64::NAN), Coloring::MISSING);
/// let coloring = Coloring::new(ColorMap::GRAY, 1.0, 10_000.0).logarithmic();
/// assert_eq!(coloring.pixel(100.0), [128; 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coloring {
    map: ColorMap,
    first: f64,
    last: f64,
    is_log: bool,
}

impl Coloring {
    /// Colour of missing values: grey.
    pub const MISSING: Rgb = [128, 128, 128];

    /// Creates a linear mapping from `first` to the first colour of `map`, and from `last`, which may be less than `first`, to the last
    /// colour. If both are equal, or one is not finite, all values have the middle colour.
    pub fn new(map: ColorMap, first: f64, last: f64) -> Self {
        Self { map, first, last, is_log: false }
    }

    /// Returns the mapping with a logarithmic scale. Zero and negative values then count as missing; if a bound is not positive, all
    /// positive values have the middle colour.
    pub fn logarithmic(self) -> Self {
        Self { is_log: true, ..self }
    }

    /// Returns the colour map.
    pub fn map(&self) -> ColorMap {
        self.map
    }

    /// Returns the values of the first and the last colour.
    pub fn bounds(&self) -> (f64, f64) {
        (self.first, self.last)
    }

    /// Returns whether the scale is logarithmic.
    pub fn is_logarithmic(&self) -> bool {
        self.is_log
    }

    /// Returns the position of a value in the range: 0 for the first bound, 1 for the last, other values beyond the bounds, NaN for NaN.
    pub fn fraction(&self, value: f64) -> f64 {
        let [value, first, last] = match self.is_log {
            true => [value, self.first, self.last].map(|it| if it > 0.0 { it.log10() } else { f64::NAN }),
            false => [value, self.first, self.last],
        };
        // Compute with halves, since their differences do not overflow.
        let part = (value / 2.0 - first / 2.0) / (last / 2.0 - first / 2.0);
        match value.is_nan() {
            true => f64::NAN,
            false if part.is_nan() || first == last => 0.5,
            false => part,
        }
    }

    /// Returns the value at a position in the range, the inverse of [`fraction`](Self::fraction).
    pub fn value(&self, fraction: f64) -> f64 {
        match self.is_log && self.first > 0.0 && self.last > 0.0 {
            true => 10_f64.powf(self.first.log10() * (1.0 - fraction) + self.last.log10() * fraction),
            false => self.first * (1.0 - fraction) + self.last * fraction,
        }
    }

    /// Returns the colour of a value; [`MISSING`](Self::MISSING) for NaN.
    pub fn pixel(&self, value: f64) -> Rgb {
        self.map.at(self.fraction(value)).unwrap_or(Self::MISSING)
    }

    /// Returns the colours of values, 3 bytes for each.
    pub fn pixels(&self, values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.pixel(value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels equal those in `tests/numpy.rgb`, which `tests/tables.py` has computed with numpy and the tables of matplotlib.
    #[test]
    fn pixels_are_those_of_numpy() {
        let expected: &[u8] = include_bytes!("../tests/numpy.rgb");
        let mut values = Vec::new();
        for (y, x) in (0..24).flat_map(|y| (0..32).map(move |x| (y, x))) {
            values.push(f64::from((x * 37 + y * 91) % 257) / 100.0 - 1.25);
        }
        values[5 * 32 + 7] = f64::NAN;
        values[23 * 32 + 31] = f64::INFINITY;
        let planes = expected.chunks_exact(3 * values.len());
        assert_eq!(planes.len(), ColorMap::ALL.len());
        for (map, plane) in ColorMap::ALL.into_iter().zip(planes) {
            assert!(Coloring::new(map, -1.0, 1.0).pixels(&values) == plane, "{map}");
        }
    }

    #[test]
    fn extremes_make_colours_all_the_same() {
        let coloring = Coloring::new(ColorMap::GRAY, -f64::MAX, f64::MAX);
        assert_eq!(coloring.pixels(&[-f64::MAX, 0.0, f64::MAX]), [0, 0, 0, 128, 128, 128, 255, 255, 255]);
        assert_eq!(coloring.pixel(f64::INFINITY), [255; 3]);
        assert_eq!(Coloring::new(ColorMap::GRAY, 3.0, 3.0).pixel(7.0), [128; 3]);
        assert_eq!(Coloring::new(ColorMap::GRAY, 3.0, f64::NAN).pixel(7.0), [128; 3]);
        // From the greatest to the least.
        assert_eq!(Coloring::new(ColorMap::GRAY, 10.0, 0.0).pixel(10.0), [0; 3]);
    }

    #[test]
    fn values_come_back() {
        for coloring in
            [Coloring::new(ColorMap::GRAY, -3.0, 9.0), Coloring::new(ColorMap::GRAY, 0.01, 9.0).logarithmic()]
        {
            for fraction in [0.0, 0.25, 0.5, 1.0] {
                assert!((coloring.fraction(coloring.value(fraction)) - fraction).abs() < 1e-12);
            }
        }
        let logarithmic = Coloring::new(ColorMap::GRAY, 0.01, 9.0).logarithmic();
        assert_eq!(logarithmic.pixel(0.0), Coloring::MISSING);
        assert_eq!(logarithmic.pixel(-1.0), Coloring::MISSING);
        let without = Coloring::new(ColorMap::GRAY, 0.0, 9.0).logarithmic();
        assert_eq!((without.pixel(5.0), without.pixel(0.0), without.value(1.0)), ([128; 3], Coloring::MISSING, 9.0));
    }
}
