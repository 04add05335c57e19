//! A slice with all that stands around it.

use crate::color_map::Rgb;
use crate::coloring::Coloring;
use crate::fit;
use crate::labels::AxisLabels;
use crate::shading::Shading;
use crate::slice::Slice;

/// A slice to be shown, with its title, the labels of its axes and its colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title: the thing that is shown.
    pub title: String,
    /// The values.
    pub slice: Slice,
    /// The labels of the axes: rows and columns; of a line one.
    pub axes: Vec<AxisLabels>,
    /// The colours.
    pub shading: Shading,
    /// The colour of each value, instead of those of the shading: of channels that are shown together.
    pub colors: Option<Vec<Rgb>>,
    /// The units of the values.
    pub units: Option<String>,
    /// A note on anything else that a reader has to know, such as how much was left out.
    pub note: Option<String>,
}

/// The room for a figure, in pixels of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The height of a pixel by its width.
    pub(crate) pixel: u8,
    /// The dots of a line that lie side by side.
    pub(crate) dots: usize,
}

impl Room {
    /// The room in a picture for the plane itself: its axes and labels are beside it.
    pub fn pixels(width: usize, height: usize) -> Self {
        Self { width, height, pixel: 1, dots: width }
    }

    /// The number of samples that make use of the room, along each axis that is shown. `selected` are the lengths of these axes.
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
    /// The lengths of the axes, in elements of the array.
    fn selected(&self) -> (u64, u64) {
        match self.slice.samples.as_slice() {
            [rows, columns] => (rows.of, columns.of),
            _ => (1, 1),
        }
    }

    /// The width and the height of each sample, in pixels.
    pub(crate) fn scale(&self, room: Room) -> (usize, usize) {
        let (rows, columns) = self.selected();
        let (width, height) = fit::fit(rows, columns, room.width, room.height, f64::from(room.pixel));
        fit::enlarged(&self.slice, width, height)
    }

    /// The colour of a sample of a plane.
    pub(crate) fn pixel(&self, row: usize, column: usize) -> Rgb {
        let at = row.saturating_mul(self.slice.columns()).saturating_add(column);
        match &self.colors {
            Some(colors) => colors.get(at).copied().unwrap_or(Coloring::MISSING),
            None => self.shading.pixel(self.slice.values.get(at).copied().unwrap_or(f64::NAN)),
        }
    }

    /// Whether it is a plane.
    pub fn is_plane(&self) -> bool {
        self.slice.samples.len() == 2
    }
}
