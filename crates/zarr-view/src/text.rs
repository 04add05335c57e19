//! Figures as characters, for terminals and text files.

mod braille;

use crate::color_map::Rgb;
use crate::draw::{shortened, wrapped};
use crate::figure::{Figure, Room};
use crate::shading::Shading;
use std::fmt::Write;

/// Greatest length of labels beside rows, in characters.
const MOST_ROW_LABEL: usize = 10;
/// Number of lines besides the plane: title, ticks, axis name, colour bar, note.
const OTHER_LINES: usize = 6;
/// Characters for values, from the least to the greatest.
const RAMP: &[u8; 10] = b".:-=+*oO#@";
/// Characters for categories.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Characters and colours of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Two pixels per character, one above the other, as half blocks in 24-bit colours.
    TrueColor,
    /// Two pixels per character, as half blocks in the nearest of the 256 colours of xterm.
    Colors256,
    /// One letter per pixel without colours: `.:-=+*oO#@` from the least value to the greatest, a space for missing values; for categories,
    /// their indices.
    Plain,
}

impl Ink {
    /// Returns the number of rows of pixels in a line of text.
    fn rows(self) -> usize {
        if self == Self::Plain { 1 } else { 2 }
    }
}

impl Room {
    /// Creates the room for a figure of `columns` columns and `lines` lines of text.
    pub fn text(columns: usize, lines: usize, ink: Ink) -> Self {
        let width = columns.saturating_sub(MOST_ROW_LABEL + 2).max(4);
        let height = lines.saturating_sub(OTHER_LINES).max(2) * ink.rows();
        // Braille has two dots beside each other.
        Self { width, height, pixel: if ink == Ink::Plain { 2 } else { 1 }, dots: width * 2 }
    }
}

impl Figure {
    /// Returns the figure as lines of text, at most `columns` columns wide.
    pub fn text(&self, columns: usize, lines: usize, ink: Ink) -> String {
        let room = Room::text(columns, lines, ink);
        let mut text = String::new();
        for line in wrapped(&clean(&self.title), columns) {
            text.push_str(&line);
            text.push('\n');
        }
        match self.slice.samples.len() {
            2 => self.plane_text(room, ink, columns, &mut text),
            1 => braille::chart(self, room, columns, ink, &mut text),
            _ => {
                let value = self.slice.text.as_deref().map(clean).unwrap_or_default();
                let units = self.units.as_deref().map(|units| format!(" {}", clean(units))).unwrap_or_default();
                text.push_str(&format!("{value}{units}\n"));
            }
        }
        for line in self.note.iter().flat_map(|note| wrapped(&clean(note), columns)) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn plane_text(&self, room: Room, ink: Ink, columns: usize, text: &mut String) {
        let (across, down) = self.scale(room);
        let (width, height) = (self.slice.columns() * across, self.slice.rows() * down);
        let lines = height.div_ceil(ink.rows());
        let ticks = self.row_ticks((lines / 3).clamp(1, 8));
        let mut labels = vec![String::new(); lines];
        for tick in &ticks {
            let row = ((tick.at + 0.5) * down as f64).max(0.0) as usize;
            if let Some(label) = labels.get_mut((row / ink.rows()).min(lines.saturating_sub(1))) {
                *label = shortened(&clean(&tick.text), MOST_ROW_LABEL);
            }
        }
        let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        if let Some(title) = self.axes.first().map(|axis| clean(&axis.title())).filter(|title| !title.is_empty()) {
            text.push_str(&shortened(&title, columns));
            text.push('\n');
        }
        let color = |x: usize, y: usize| (y < height).then(|| self.pixel(y / down, x / across));
        for (line, label) in labels.iter().enumerate() {
            let mark = if label.is_empty() { ' ' } else { '-' };
            // Writing to a string does not fail.
            let _ = write!(text, "{label:>gutter$}{mark}");
            let mut pen = Pen::new(ink);
            for x in 0..width {
                match ink {
                    Ink::Plain => text.push(self.letter_of(line / down, x / across)),
                    _ => pen.two_pixels(color(x, 2 * line), color(x, 2 * line + 1), text),
                }
            }
            pen.end(text);
            text.push('\n');
        }
        let lines = self.below(width, across as f64, gutter + 1, columns);
        text.push_str(&lines);
        self.legend(ink, gutter + 1, width.clamp(10, 48).min(columns), columns, text);
    }

    /// Returns the ticks, labels and axis name below a plane or chart that begins at column `left`.
    pub(crate) fn below(&self, width: usize, each: f64, left: usize, columns: usize) -> String {
        let mut marks = vec![' '; left + width];
        let mut labels = vec![' '; columns.max(left + width)];
        let mut end = 0;
        let mut has_marks = false;
        for tick in self.column_ticks(width) {
            let x = left + (((tick.at + 0.5) * each).max(0.0) as usize).min(width.saturating_sub(1));
            let label: Vec<char> = clean(&tick.text).chars().collect();
            let start = x.saturating_sub(label.len() / 2).max(end).min(labels.len().saturating_sub(label.len()));
            if start < end {
                continue;
            }
            if let Some(mark) = marks.get_mut(x) {
                *mark = '|';
                has_marks = true;
            }
            labels.iter_mut().skip(start).zip(&label).for_each(|(cell, letter)| *cell = *letter);
            end = start + label.len() + 1;
        }
        let mut text = String::new();
        for line in [marks, labels] {
            if has_marks {
                text.push_str(line.iter().collect::<String>().trim_end());
                text.push('\n');
            }
        }
        let title = self.axes.last().map(|axis| shortened(&clean(&axis.title()), columns)).unwrap_or_default();
        if !title.is_empty() {
            let start = (left + width.saturating_sub(title.chars().count()) / 2)
                .min(columns.saturating_sub(title.chars().count()));
            let _ = writeln!(text, "{:start$}{title}", "");
        }
        text
    }

    /// Writes the legend of colours or letters, in one or two lines.
    fn legend(&self, ink: Ink, left: usize, width: usize, columns: usize, text: &mut String) {
        let units = self.units.as_deref().map(|units| format!(" {}", clean(units))).unwrap_or_default();
        match &self.shading {
            Shading::Even(coloring) => {
                let [first, last] = [coloring.bounds().0, coloring.bounds().1].map(crate::labels::short);
                let scale = if coloring.is_logarithmic() { " (log)" } else { "" };
                let others = first.chars().count() + last.chars().count() + units.chars().count() + scale.len() + 2;
                let width = width.min(columns.saturating_sub(others + left)).max(4);
                let _ = write!(text, "{:left$}{first} ", "");
                let mut pen = Pen::new(ink);
                for at in 0..width {
                    let value = coloring.value((at as f64 + 0.5) / width as f64);
                    match ink {
                        Ink::Plain => text.push(self.letter(value)),
                        _ => pen.two_pixels(Some(coloring.pixel(value)), Some(coloring.pixel(value)), text),
                    }
                }
                pen.end(text);
                let _ = writeln!(text, " {last}{units}{scale}");
            }
            Shading::Categories(categories) => {
                let mut used = left;
                text.push_str(&" ".repeat(left));
                let shown = categories.entries().iter().take(24);
                for (number, entry) in shown.enumerate() {
                    let name = shortened(&clean(&entry.name), 24);
                    let len = name.chars().count() + 5;
                    if used + len > columns && used > left {
                        text.push('\n');
                        text.push_str(&" ".repeat(left));
                        used = left;
                    }
                    if ink == Ink::Plain {
                        let letter = LETTERS.get(number % LETTERS.len()).copied().map_or('?', char::from);
                        let _ = write!(text, "{letter} = {name}  ");
                    } else {
                        let mut pen = Pen::new(ink);
                        pen.two_pixels(Some(entry.color), Some(entry.color), text);
                        pen.two_pixels(Some(entry.color), Some(entry.color), text);
                        pen.end(text);
                        let _ = write!(text, " {name}  ");
                    }
                    used += len + 1;
                }
                let more = categories.entries().len().saturating_sub(24);
                if more > 0 {
                    let _ = write!(text, "and {more} more");
                }
                text.truncate(text.trim_end_matches(' ').len());
                text.push_str(&units);
                text.push('\n');
            }
        }
    }

    /// Returns the letter of a sample: by its value, or by the lightness of its colour if channels are composed.
    fn letter_of(&self, row: usize, column: usize) -> char {
        match &self.colors {
            None => self.letter(self.slice.row(row).get(column).copied().unwrap_or(f64::NAN)),
            Some(_) => {
                let [r, g, b] = self.pixel(row, column).map(usize::from);
                let light = (r * 2 + g * 7 + b) / 10;
                RAMP.get(light * RAMP.len() / 256).copied().map_or(' ', char::from)
            }
        }
    }

    /// Returns the letter of a value.
    fn letter(&self, value: f64) -> char {
        let letter = match &self.shading {
            Shading::Even(coloring) => {
                let fraction = coloring.fraction(value);
                let at = ((fraction * RAMP.len() as f64) as usize).min(RAMP.len() - 1);
                RAMP.get(at).filter(|_| !fraction.is_nan())
            }
            Shading::Categories(categories) => {
                categories.number(value).and_then(|number| LETTERS.get(number % LETTERS.len()))
            }
        };
        letter.copied().map_or(' ', char::from)
    }
}

/// Replaces control characters by escapes.
pub(crate) fn clean(text: &str) -> String {
    zarr_meta::text::line(text).into_owned()
}

/// Writer of colour escapes, which are written only if the colour changes.
pub(crate) struct Pen {
    ink: Ink,
    over: Option<Rgb>,
    under: Option<Rgb>,
}

impl Pen {
    pub(crate) fn new(ink: Ink) -> Self {
        Self { ink, over: None, under: None }
    }

    /// Writes two pixels, one above the other, as a half block. `lower` is `None` below the last row.
    fn two_pixels(&mut self, upper: Option<Rgb>, lower: Option<Rgb>, text: &mut String) {
        if lower.is_none() && self.under.take().is_some() {
            text.push_str("\u{1b}[49m");
        }
        if upper != self.over {
            self.over = upper;
            upper.iter().for_each(|color| self.color(38, *color, text));
        }
        if lower.is_some() && lower != self.under {
            self.under = lower;
            lower.iter().for_each(|color| self.color(48, *color, text));
        }
        text.push('▀');
    }

    /// Writes a letter in a colour.
    pub(crate) fn write(&mut self, color: Rgb, letter: char, text: &mut String) {
        if self.ink != Ink::Plain && self.over != Some(color) {
            self.over = Some(color);
            self.color(38, color, text);
        }
        text.push(letter);
    }

    fn color(&self, layer: u8, color: Rgb, text: &mut String) {
        let [r, g, b] = color;
        // Writing to a string does not fail.
        let _ = match self.ink {
            Ink::TrueColor => write!(text, "\u{1b}[{layer};2;{r};{g};{b}m"),
            Ink::Colors256 => write!(text, "\u{1b}[{layer};5;{}m", nearest(color)),
            Ink::Plain => Ok(()),
        };
    }

    /// Resets the colours of the terminal.
    pub(crate) fn end(&mut self, text: &mut String) {
        if self.over.take().is_some() | self.under.take().is_some() {
            text.push_str("\u{1b}[0m");
        }
    }
}

/// Returns the nearest of the colours 16 to 255 of xterm: a cube of six levels per channel, and 24 greys.
fn nearest(color: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance = |a: Rgb| -> u32 { a.iter().zip(color).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    let level = |channel: u8| {
        let near = LEVELS.iter().enumerate().min_by_key(|(_, level)| level.abs_diff(channel));
        near.map_or((0, 0), |(number, level)| (u8::try_from(number).unwrap_or(0), *level))
    };
    let [r, g, b] = color.map(level);
    let gray = (0..24_u8).map(|number| (232 + number, [8 + 10 * number; 3])).min_by_key(|(_, gray)| distance(*gray));
    match gray {
        Some((number, gray)) if distance(gray) < distance([r.1, g.1, b.1]) => number,
        _ => 16 + 36 * r.0 + 6 * g.0 + b.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_colours_are_found() {
        for (color, number) in
            [([0, 0, 0], 16), ([255; 3], 231), ([128; 3], 244), ([255, 0, 0], 196), ([68, 1, 84], 53)]
        {
            assert_eq!(nearest(color), number, "{color:?}");
        }
    }
}
