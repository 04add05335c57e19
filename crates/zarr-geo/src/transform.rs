//! Affine transformations from indices to coordinates.

/// Affine transformation `[a, b, c, d, e, f]` from a column and a row to coordinates: `x = a * column + b * row + c` and
/// `y = d * column + e * row + f`. With [`Registration::Pixel`](crate::Registration::Pixel), (0, 0) is the corner of the first pixel, and
/// (0.5, 0.5) its centre.
///
/// ```
/// use zarr_geo::Transform;
///
/// // GDAL has the same numbers in another order.
/// let transform = Transform::from_gdal([500_000.0, 10.0, 0.0, 5_000_000.0, 0.0, -10.0]);
/// assert_eq!(transform, Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]));
/// assert_eq!(transform.at(2.0, 1.0), (500_020.0, 4_999_990.0));
/// assert_eq!(transform.scaled(2.0, 2.0).pixel_size(), (20.0, 20.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform(
    /// Coefficients a to f.
    pub [f64; 6],
);

impl Transform {
    /// Transformation with the coefficients in the order of GDAL: `[c, a, b, f, d, e]`.
    pub fn from_gdal([c, a, b, f, d, e]: [f64; 6]) -> Self {
        Self([a, b, c, d, e, f])
    }

    /// Returns the coefficients in the order of GDAL: `[c, a, b, f, d, e]`.
    pub fn to_gdal(self) -> [f64; 6] {
        let [a, b, c, d, e, f] = self.0;
        [c, a, b, f, d, e]
    }

    /// Transformation of a grid whose coordinates, those of the centres of pixels, are evenly spaced; `None` if they are not, or if there
    /// are fewer than two along an axis.
    ///
    /// ```
    /// # use zarr_geo::Transform;
    /// let transform = Transform::of_centres(&[0.5, 1.5, 2.5], &[89.5, 88.5]).unwrap();
    /// assert_eq!(transform, Transform([1.0, 0.0, 0.0, 0.0, -1.0, 90.0]));
    /// assert_eq!(Transform::of_centres(&[0.0, 1.0, 3.0], &[0.0, 1.0]), None);
    /// ```
    pub fn of_centres(x: &[f64], y: &[f64]) -> Option<Self> {
        let (x, y) = (Even::of(x)?, Even::of(y)?);
        Some(Self([x.step, 0.0, x.corner(), 0.0, y.step, y.corner()]))
    }

    /// Returns the coordinates `(x, y)` at a column and a row.
    pub fn at(self, column: f64, row: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * column + b * row + c, d * column + e * row + f)
    }

    /// Returns the lengths of a pixel along its columns and rows.
    pub fn pixel_size(self) -> (f64, f64) {
        let [a, b, _, d, e, _] = self.0;
        (a.hypot(d), b.hypot(e))
    }

    /// Returns the transformation of a grid of larger pixels with the same corner: each has `columns` times `rows` pixels of this one.
    pub fn scaled(self, columns: f64, rows: f64) -> Self {
        let [a, b, c, d, e, f] = self.0;
        Self([a * columns, b * rows, c, d * columns, e * rows, f])
    }

    /// Returns the transformation of a grid that begins at a column and a row of this one.
    pub fn shifted(self, column: f64, row: f64) -> Self {
        let ([a, b, _, d, e, _], (c, f)) = (self.0, self.at(column, row));
        Self([a, b, c, d, e, f])
    }

    /// Returns the bounding box `[xmin, ymin, xmax, ymax]` of the columns from 0 to `width` and the rows from 0 to `height`.
    pub fn extent(self, width: f64, height: f64) -> [f64; 4] {
        let corners = [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)].map(|(x, y)| self.at(x, y));
        corners
            .iter()
            .fold([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY], |[l, b, r, t], &(x, y)| {
                [l.min(x), b.min(y), r.max(x), t.max(y)]
            })
    }
}

/// Greatest deviation of a coordinate from an even spacing, as a share of the step.
const MOST_OFF: f64 = 1e-3;

/// Returns the step between evenly spaced coordinates, which may fall; `None` if there are fewer than two, or if they are not even. A step
/// that is a simple fraction, such as 0.1 or 5/6, is returned exactly, although coordinates of 32 bits are not.
pub fn regular_step(coordinates: &[f64]) -> Option<f64> {
    Even::of(coordinates).map(|even| even.step)
}

/// Even spacing of coordinates.
struct Even {
    first: f64,
    step: f64,
    /// Greatest difference of a coordinate from the spacing.
    deviation: f64,
}

impl Even {
    fn of(coordinates: &[f64]) -> Option<Self> {
        let (&first, last) = (coordinates.first()?, coordinates.last()?);
        let steps = coordinates.len().checked_sub(1).filter(|&steps| steps > 0)?;
        let step = (last - first) / steps as f64;
        if !step.is_finite() || step == 0.0 {
            return None;
        }
        let deviation = |step: f64| {
            let of = |(number, found): (usize, &f64)| (first + step * number as f64 - found).abs();
            coordinates.iter().enumerate().map(of).fold(0.0, f64::max)
        };
        let found = deviation(step);
        // NaN is no even spacing.
        if found.is_nan() || found > MOST_OFF * step.abs() || coordinates.iter().any(|it| it.is_nan()) {
            return None;
        }
        // A simple fraction that fits as well is the step that was meant.
        let step = simple(step, (found + step.abs() * 1e-12) / steps as f64);
        Some(Self { first, step, deviation: found })
    }

    /// Coordinate of the edge of the first pixel.
    fn corner(&self) -> f64 {
        simple(self.first - self.step / 2.0, self.deviation + self.step.abs() * 1e-12)
    }
}

/// Greatest denominator of a fraction that is taken for simple: that of degrees in seconds of arc.
const MOST_PARTS: u32 = 3600;

/// Returns the fraction of the least denominator that is at most `off` from a number; the number itself if there is none. So 0.8333333,
/// read from coordinates of 32 bits, is 5/6, and 0.1 is 1/10.
fn simple(number: f64, off: f64) -> f64 {
    let fractions = (1..=MOST_PARTS).map(|parts| (number * f64::from(parts)).round() / f64::from(parts));
    // Zero is never negative.
    fractions.into_iter().find(|fraction| (fraction - number).abs() <= off).unwrap_or(number) + 0.0
}
