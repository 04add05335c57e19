//! Figures: slices with titles, labels and colours.

use crate::color_map::Rgb;
use crate::coloring::Coloring;
use crate::draw::scale_bar::ScaleBar;
use crate::fit;
use crate::labels::AxisLabels;
use crate::shading::Shading;
use crate::slice::Slice;

/// Slice to be shown, with its title, axis labels and colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Title, which names the array that is shown.
    pub title: String,
    /// Values that are shown.
    pub slice: Slice,
    /// Labels of the axes: of rows and columns for a plane, of the one axis for a line.
    pub axes: Vec<AxisLabels>,
    /// Mapping of values to colours.
    pub shading: Shading,
    /// Colour of each value, which overrides `shading`: for composed channels. `None` otherwise.
    pub colors: Option<Vec<Rgb>>,
    /// Units of the values; `None` if unknown.
    pub units: Option<String>,
    /// Note to the reader, such as how much was left out; `None` if there is none.
    pub note: Option<String>,
    /// Whether the picture of a plane has a [scale bar](ScaleBar), if its columns have a unit of length.
    pub has_scale_bar: bool,
    /// Whether samples are pixels of the room already, such as those of a grid of thumbnails: each is drawn as one pixel.
    pub is_in_pixels: bool,
}

/// Space for a figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Ratio of the height of a pixel to its width.
    pub(crate) pixel: u8,
    /// Number of dots of a line along the horizontal axis.
    pub(crate) dots: usize,
}

impl Room {
    /// Creates the room for a picture whose plane has at most this width and height in pixels; axes and labels are outside.
    pub fn pixels(width: usize, height: usize) -> Self {
        Self { width, height, pixel: 1, dots: width }
    }

    /// Returns the number of samples along each shown axis that fill the room. `selected` holds the numbers of selected elements along
    /// these axes.
    pub fn most(&self, selected: &[u64]) -> Vec<u64> {
        match *selected {
            [rows, columns] => {
                let (width, height) = fit::fit(rows, columns, self.width, self.height, f64::from(self.pixel));
                vec![height as u64, width as u64]
            }
            [_] => vec![self.dots as u64],
            _ => Vec::new(),
        }
    }
}

impl Figure {
    /// Returns the numbers of selected elements of the array along rows and columns; 1 for a line.
    fn selected(&self) -> (u64, u64) {
        match self.slice.samples.as_slice() {
            [rows, columns] => (rows.of, columns.of),
            _ => (1, 1),
        }
    }

    /// Returns the width and height of a sample in pixels.
    pub(crate) fn scale(&self, room: Room) -> (usize, usize) {
        if self.is_in_pixels {
            return (1, 1);
        }
        let (rows, columns) = self.selected();
        let (width, height) = fit::fit(rows, columns, room.width, room.height, f64::from(room.pixel));
        fit::enlarged(&self.slice, width, height)
    }

    /// Returns the colour of a sample of a plane.
    pub(crate) fn pixel(&self, row: usize, column: usize) -> Rgb {
        let at = row.saturating_mul(self.slice.columns()).saturating_add(column);
        match &self.colors {
            Some(colors) => colors.get(at).copied().unwrap_or(Coloring::MISSING),
            None => self.shading.pixel(self.slice.values.get(at).copied().unwrap_or(f64::NAN)),
        }
    }

    /// Returns the scale bar of the picture; `None` if it has none.
    pub fn scale_bar(&self) -> Option<ScaleBar> {
        let (Some(columns), [_, samples]) = (self.axes.last(), self.slice.samples.as_slice()) else { return None };
        if self.has_scale_bar { ScaleBar::new(columns, samples) } else { None }
    }

    /// Returns whether the slice is a plane.
    pub fn is_plane(&self) -> bool {
        self.slice.samples.len() == 2
    }
}
