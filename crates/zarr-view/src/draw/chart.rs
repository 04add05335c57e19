//! Drawing of lines as charts: the values along one axis.

use crate::Result;
use crate::color_map::Rgb;
use crate::draw::{BLACK, WHITE, draw_columns, shortened, wrapped};
use crate::figure::{Figure, Room};
use crate::font;
use crate::labels::round_numbers;
use crate::picture::Picture;
use crate::shading::Shading;

const LINE: Rgb = [0x1f, 0x77, 0xb4];
const GRID: Rgb = [224, 224, 224];
const GAP: usize = 10;

/// Values at the bottom and top of a chart, and the scale between them.
pub(crate) struct Heights {
    pub(crate) low: f64,
    pub(crate) high: f64,
    is_log: bool,
}

impl Heights {
    /// Returns the range of a chart: that of the shading, or all values if the shading has none.
    pub(crate) fn of(figure: &Figure) -> Self {
        let bounds = match &figure.shading {
            Shading::Even(coloring) => Some((coloring.bounds(), coloring.is_logarithmic())),
            Shading::Categories(_) => None,
        };
        let is_log = bounds.is_some_and(|(_, is_log)| is_log);
        let full = crate::Range::Full.of(&figure.slice.values, is_log);
        let (low, high) = bounds.map(|(bounds, _)| bounds).or(full).unwrap_or((0.0, 1.0));
        let (low, high) = (low.min(high), low.max(high));
        // Lines do not touch the edges, unless these were asked for.
        let margin = match low == high {
            true => low.abs().max(1.0) / 2.0,
            false if !is_log && full == Some((low, high)) => (high / 32.0 - low / 32.0).min(f64::MAX / 8.0),
            false => 0.0,
        };
        Self { low: low - margin, high: high + margin, is_log }
    }

    /// Returns the height of a value: 0 at the bottom, 1 at the top, NaN if it cannot be placed.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let [value, low, high] = [value, self.low, self.high]
            .map(|it| if self.is_log { if it > 0.0 { it.log10() } else { f64::NAN } } else { it });
        // Compute with halves, since their differences do not overflow.
        let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if part.is_finite() { part } else { f64::NAN }
    }

    /// Returns the values of horizontal grid lines, with their labels.
    pub(crate) fn marks(&self, most: usize) -> Vec<(f64, String)> {
        if self.is_log && self.low > 0.0 {
            let powers = round_numbers(self.low.log10(), self.high.log10(), most, true);
            let marks: Vec<(f64, String)> =
                powers.into_iter().map(|(power, _)| (10_f64.powf(power), format!("1e{power}"))).collect();
            if marks.len() > 1 {
                return marks;
            }
        }
        round_numbers(self.low, self.high, most, false)
    }
}

/// Positions and sizes of the parts of a chart.
pub(super) struct Layout {
    heights: Heights,
    /// Width of the chart in pixels. `height` is its height, and `left` and `top` are the coordinates of its upper left corner.
    width: usize,
    height: usize,
    left: usize,
    top: usize,
    marks: Vec<(f64, String)>,
    units: String,
    title: Vec<String>,
    note: Vec<String>,
    pub(super) size: (usize, usize),
}

impl Layout {
    pub(super) fn new(figure: &Figure, room: Room) -> Self {
        let width = room.width.clamp(40, 1 << 13);
        let height = (room.width * 2 / 5).min(room.height).clamp(30, 1 << 13);
        let heights = Heights::of(figure);
        let marks = heights.marks((height / (font::HEIGHT * 2)).clamp(2, 10));
        let widest = marks.iter().map(|(_, text)| font::width(text)).max().unwrap_or(0);
        let units = shortened(figure.units.as_deref().unwrap_or_default(), height / font::WIDTH);
        let left = GAP + if units.is_empty() { 0 } else { font::HEIGHT + GAP / 2 } + widest + 8;
        let total = left + width + GAP * 2;
        let letters = (total - GAP * 2) / font::WIDTH;
        let title = wrapped(&figure.title, letters);
        let note = figure.note.as_deref().map(|note| wrapped(note, letters)).unwrap_or_default();
        let top = GAP + title.len() * (font::HEIGHT + 2) + GAP / 2;
        let below = font::HEIGHT * 2 + 14 + note.len() * (font::HEIGHT + 2) + GAP;
        Self { heights, width, height, left, top, marks, units, title, note, size: (total, top + height + below) }
    }
}

/// Draws the chart of a line.
pub(super) fn picture(figure: &Figure, room: Room) -> Result<Picture> {
    let Layout { heights, width, height, left, top, marks, units, title, note, size } = Layout::new(figure, room);
    let mut picture = Picture::new(size.0, size.1, WHITE)?;
    for (line, text) in title.iter().enumerate() {
        picture.text(GAP, GAP + line * (font::HEIGHT + 2), text, BLACK);
    }
    let y_of = |value: f64| top as f64 + (1.0 - heights.place(value).clamp(0.0, 1.0)) * (height - 1) as f64;
    for (value, text) in &marks {
        let y = y_of(*value).round().max(0.0) as usize;
        picture.fill(left, y, width, 1, GRID);
        picture.text((left - 6).saturating_sub(font::width(text)), y.saturating_sub(font::HEIGHT / 2), text, BLACK);
    }
    picture.outline(left - 1, top - 1, width + 2, height + 2, BLACK);
    if !units.is_empty() {
        let bottom = top + (height + font::width(&units)) / 2;
        picture.text_upwards(GAP / 2, bottom.min(top + height), &units, BLACK);
    }
    let values = figure.slice.row(0);
    let each = width as f64 / values.len().max(1) as f64;
    let mut before = None;
    for (column, &value) in values.iter().enumerate() {
        // Infinities lie at the edges, missing values leave gaps.
        let here = (!heights.place(value).is_nan()).then(|| (left as f64 + (column as f64 + 0.5) * each, y_of(value)));
        match (before, here) {
            (Some(from), Some(to)) => picture.line(from, to, 2, LINE),
            (None, Some(to)) => picture.line(to, to, 3, LINE),
            _ => {}
        }
        before = here;
    }
    draw_columns(&mut picture, figure, (left, top + height), (each, width));
    for (line, text) in note.iter().enumerate() {
        let y = top + height + font::HEIGHT * 2 + 14 + line * (font::HEIGHT + 2);
        picture.text(GAP, y, text, [96; 3]);
    }
    Ok(picture)
}
