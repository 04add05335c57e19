//! Pictures of pixels.

use crate::color_map::Rgb;
use crate::font;
use crate::{Error, Result};
use zarr_meta::text::grouped;

/// Picture: rows of pixels with red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

impl Picture {
    /// Greatest number of pixels of a picture; they take 192 MiB.
    pub const MOST_PIXELS: usize = 1 << 26;

    /// Creates a picture of one colour. Width and height are raised to at least 1.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there would be more than [`MOST_PIXELS`](Self::MOST_PIXELS) pixels.
    pub fn new(width: usize, height: usize, color: Rgb) -> Result<Self> {
        let (width, height) = (width.max(1), height.max(1));
        match width.checked_mul(height).filter(|&count| count <= Self::MOST_PIXELS) {
            Some(count) => Ok(Self { width, height, pixels: vec![color; count] }),
            None => {
                let most = grouped(Self::MOST_PIXELS as u64);
                let message = format!("found a picture of {width} x {height} pixels, expected at most {most}");
                Err(Error::argument(message))
            }
        }
    }

    /// Returns the number of pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the pixels, row by row.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// Returns the bytes of the pixels: red, green and blue of each pixel in turn.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Returns the colour of a pixel; `None` outside the picture.
    pub fn get(&self, x: usize, y: usize) -> Option<Rgb> {
        if x < self.width { self.pixels.get(y * self.width + x).copied() } else { None }
    }

    /// Sets the colour of a pixel. Does nothing outside the picture.
    pub fn set(&mut self, x: usize, y: usize, color: Rgb) {
        if x < self.width
            && let Some(pixel) = self.pixels.get_mut(y.saturating_mul(self.width).saturating_add(x))
        {
            *pixel = color;
        }
    }

    /// Fills a rectangle.
    pub(crate) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, color: Rgb) {
        for row in y..y.saturating_add(height).min(self.height) {
            (x..x.saturating_add(width).min(self.width)).for_each(|column| self.set(column, row, color));
        }
    }

    /// Draws the outline of a rectangle.
    pub(crate) fn outline(&mut self, x: usize, y: usize, width: usize, height: usize, color: Rgb) {
        self.fill(x, y, width, 1, color);
        self.fill(x, y + height.saturating_sub(1), width, 1, color);
        self.fill(x, y, 1, height, color);
        self.fill(x + width.saturating_sub(1), y, 1, height, color);
    }

    /// Draws a straight line of `width` pixels.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), width: usize, color: Rgb) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        // Each point lies beside the next one.
        let steps = dx.abs().max(dy.abs()).ceil().clamp(1.0, 1e5);
        for step in 0..=steps as u32 {
            let part = f64::from(step) / steps;
            let (x, y) = (from.0 + dx * part, from.1 + dy * part);
            if x >= 0.0 && y >= 0.0 {
                self.fill(
                    (x.round() as usize).saturating_sub(width / 2),
                    (y.round() as usize).saturating_sub(width / 2),
                    width,
                    width,
                    color,
                );
            }
        }
    }

    /// Draws text with its upper left corner at (x, y).
    pub(crate) fn text(&mut self, x: usize, y: usize, text: &str, color: Rgb) {
        let mut left = x;
        for glyph in text.chars().map(font::glyph) {
            for (dy, row) in glyph.rows().iter().enumerate() {
                for (dx, &strength) in row.iter().enumerate().filter(|(_, strength)| **strength > 0) {
                    if let Some(under) = self.get(left + dx, y + dy) {
                        self.set(left + dx, y + dy, blended(under, color, f64::from(strength) / 255.0));
                    }
                }
            }
            left += font::WIDTH;
        }
    }

    /// Draws text that is rotated to the left, upwards from (x, y); x is its left edge.
    pub(crate) fn text_upwards(&mut self, x: usize, y: usize, text: &str, color: Rgb) {
        let mut bottom = y;
        for glyph in text.chars().map(font::glyph) {
            for (dy, row) in glyph.rows().iter().enumerate() {
                for (dx, &strength) in row.iter().enumerate().filter(|(_, strength)| **strength > 0) {
                    if let (Some(up), Some(under)) =
                        (bottom.checked_sub(dx), bottom.checked_sub(dx).and_then(|up| self.get(x + dy, up)))
                    {
                        self.set(x + dy, up, blended(under, color, f64::from(strength) / 255.0));
                    }
                }
            }
            let Some(next) = bottom.checked_sub(font::WIDTH) else { return };
            bottom = next;
        }
    }
}

/// Returns a colour over another, with an opacity from 0 to 1.
pub(crate) fn blended(under: Rgb, over: Rgb, opacity: f64) -> Rgb {
    let part = |(under, over): (u8, u8)| f64::from(under) * (1.0 - opacity) + f64::from(over) * opacity;
    let [r, g, b] = [0, 1, 2].map(|at| part((under[at], over[at])).round().clamp(0.0, 255.0) as u8);
    [r, g, b]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_the_edges_is_left_out() {
        let mut picture = Picture::new(3, 2, [0; 3]).unwrap();
        picture.set(3, 0, [9; 3]);
        picture.set(0, 2, [9; 3]);
        picture.fill(2, 1, 50, 50, [7; 3]);
        picture.line((-5.0, -5.0), (40.0, -3.0), 1, [9; 3]);
        picture.text(2, 0, "wide", [0; 3]);
        picture.text_upwards(0, 1, "high", [0; 3]);
        assert_eq!(picture.get(2, 1), Some([7; 3]));
        assert_eq!(picture.pixels().iter().filter(|pixel| **pixel != [0; 3]).count(), 1);
    }

    #[test]
    fn pictures_that_are_too_large_are_refused() {
        let error = Picture::new(16_384, 16_384, [0; 3]).unwrap_err();
        assert_eq!(error.to_string(), "found a picture of 16384 x 16384 pixels, expected at most 67_108_864");
        assert!(Picture::new(usize::MAX, 2, [0; 3]).is_err());
        assert_eq!(Picture::new(0, 0, [0; 3]).unwrap().pixels().len(), 1);
    }

    #[test]
    fn text_is_turned() {
        let mut flat = Picture::new(40, 40, [255; 3]).unwrap();
        flat.text(0, 0, "7x", [0; 3]);
        let mut turned = Picture::new(40, 40, [255; 3]).unwrap();
        turned.text_upwards(0, 39, "7x", [0; 3]);
        assert!(flat.pixels().iter().any(|pixel| pixel[0] < 128));
        for (x, y) in (0..40).flat_map(|x| (0..40).map(move |y| (x, y))) {
            assert_eq!(flat.get(x, y), turned.get(y, 39 - x), "{x} {y}");
        }
    }
}
