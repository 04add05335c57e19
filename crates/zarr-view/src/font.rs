//! Glyphs for text in pictures: Noto Sans Mono, as pixels.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster, get_raster_width};

const WEIGHT: FontWeight = FontWeight::Regular;
const SIZE: RasterHeight = RasterHeight::Size16;

/// Distance from one character to the next, in pixels.
pub(crate) const WIDTH: usize = get_raster_width(WEIGHT, SIZE);
/// Distance from one line to the next, in pixels.
pub(crate) const HEIGHT: usize = SIZE.val();

/// Raster image of a character.
pub(crate) struct Glyph(Option<RasterizedChar>);

impl Glyph {
    /// Returns the rows of the glyph, each with the opacity of its pixels.
    pub(crate) fn rows(&self) -> &[&[u8]] {
        self.0.as_ref().map_or(&[], RasterizedChar::raster)
    }
}

/// Returns the glyph of a character of ASCII or Latin-1, and that of `?` for other characters and control characters.
pub(crate) fn glyph(c: char) -> Glyph {
    // The Greek letter, where the sign is meant.
    let c = if c == 'μ' { 'µ' } else { c };
    Glyph(get_raster(c, WEIGHT, SIZE).or_else(|| get_raster('?', WEIGHT, SIZE)))
}

/// Returns the width of a string in pixels.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count() * WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_there() {
        for c in ' '..='~' {
            let ink = glyph(c).rows().iter().flat_map(|row| row.iter()).filter(|strength| **strength > 0).count();
            assert_eq!(ink == 0, c == ' ', "{c}");
        }
        let rows = |c| glyph(c).rows().iter().map(|row| row.to_vec()).collect::<Vec<_>>();
        assert_eq!(rows('\u{1b}'), rows('?'));
        assert_eq!(rows('μ'), rows('µ'));
        assert_ne!(rows('µ'), rows('?'));
        assert_ne!(rows('°'), rows('?'));
    }
}
