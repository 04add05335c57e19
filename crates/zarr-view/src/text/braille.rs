//! Charts of lines as braille characters, whose eight dots serve as pixels.

use crate::draw::chart::Heights;
use crate::figure::{Figure, Room};
use crate::text::{Ink, Pen};
use std::fmt::Write;

/// Colour of the line.
const LINE: [u8; 3] = [0x4c, 0x9f, 0xd8];
/// Bits of the dots of a character, by row and column.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Writes the chart of a line.
pub(crate) fn chart(figure: &Figure, room: Room, columns: usize, ink: Ink, text: &mut String) {
    let lines = (room.height * usize::from(room.pixel) / 2).clamp(4, 15);
    let heights = Heights::of(figure);
    let mut labels = vec![String::new(); lines];
    for (value, label) in heights.marks((lines / 2).clamp(2, 8)) {
        let line = ((1.0 - heights.place(value)) * (lines * 4 - 1) as f64).round().max(0.0) as usize / 4;
        if let Some(cell) = labels.get_mut(line) {
            *cell = label;
        }
    }
    let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let width = columns.saturating_sub(gutter + 2).clamp(4, 1 << 12);
    let mut dots = vec![vec![0_u32; width]; lines];
    let values = figure.slice.row(0);
    let each = (width * 2) as f64 / values.len().max(1) as f64;
    let mut before = None::<(f64, f64)>;
    for (number, &value) in values.iter().enumerate() {
        let place = heights.place(value);
        let here = (!place.is_nan())
            .then(|| ((number as f64 + 0.5) * each - 0.5, (1.0 - place.clamp(0.0, 1.0)) * (lines * 4 - 1) as f64));
        if let Some(to) = here {
            let from = before.unwrap_or(to);
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 1e5);
            for step in 0..=steps as u32 {
                let part = f64::from(step) / steps;
                let at = |from: f64, to: f64| (from + (to - from) * part).round().max(0.0) as usize;
                let (x, y) = (at(from.0, to.0), at(from.1, to.1));
                let bit = DOTS.get(y % 4).and_then(|row| row.get(x % 2)).copied().unwrap_or(0);
                if let Some(cell) = dots.get_mut(y / 4).and_then(|line| line.get_mut(x / 2)) {
                    *cell |= bit;
                }
            }
        }
        before = here;
    }
    if let Some(units) = &figure.units {
        text.push_str(&crate::text::clean(units));
        text.push('\n');
    }
    for (label, line) in labels.iter().zip(&dots) {
        let _ = write!(text, "{label:>gutter$}{}", if label.is_empty() { '|' } else { '+' });
        let last = line.iter().rposition(|cell| *cell != 0).map_or(0, |last| last + 1);
        let mut pen = Pen::new(ink);
        for cell in line.iter().take(last) {
            pen.write(LINE, char::from_u32(0x2800 + cell).filter(|_| *cell != 0).unwrap_or(' '), text);
        }
        pen.end(text);
        text.push('\n');
    }
    text.push_str(&figure.below(width, each / 2.0, gutter + 1, columns));
}
