//! Size of the picture of a plane.

use crate::slice::Slice;

/// Greatest ratio of the sides of a picture.
const MOST_LONG: f64 = 4.0;

/// Returns the width and height in pixels with which a plane of `rows` rows and `columns` columns fits into a box. Elements are square,
/// unless one side of the plane is more than four times as long as the other. `pixel` is the ratio of the height of a pixel to its width.
pub(crate) fn fit(rows: u64, columns: u64, width: usize, height: usize, pixel: f64) -> (usize, usize) {
    let ratio = (columns.max(1) as f64 / rows.max(1) as f64).clamp(1.0 / MOST_LONG, MOST_LONG) * pixel;
    let (width, height) = (width.max(1) as f64, height.max(1) as f64);
    let fitted_width = width.min(height * ratio);
    let fitted_height = height.min(width / ratio);
    // Far below the bounds of integers.
    (fitted_width.round().max(1.0) as usize, fitted_height.round().max(1.0) as usize)
}

/// Returns the width and height of a sample in pixels, at least 1, so that the slice fits into `width` x `height`.
pub(crate) fn enlarged(slice: &Slice, width: usize, height: usize) -> (usize, usize) {
    let of = |count: usize, pixels: usize| (pixels / count.max(1)).max(1);
    (of(slice.columns(), width), of(slice.rows(), height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_square() {
        assert_eq!(fit(180, 360, 800, 600, 1.0), (800, 400));
        assert_eq!(fit(360, 180, 800, 600, 1.0), (300, 600));
        assert_eq!(fit(1, 1_000_000, 800, 600, 1.0), (800, 200));
        assert_eq!(fit(1_000_000, 0, 800, 600, 1.0), (150, 600));
        // Characters are twice as high as wide.
        assert_eq!(fit(100, 100, 70, 20, 2.0), (40, 20));
        assert_eq!(fit(5, 5, 0, 0, 1.0), (1, 1));
    }
}
