//! Drawing of figures as pictures: the plane, its axes, and its legend.

pub(crate) mod chart;
pub(crate) mod scale_bar;

use crate::Result;
use crate::color_map::Rgb;
use crate::coloring::Coloring;
use crate::figure::{Figure, Room};
use crate::font;
use crate::labels::{Tick, round_numbers};
use crate::picture::Picture;
use crate::shading::{Categories, Shading};

pub(crate) const WHITE: Rgb = [255, 255, 255];
pub(crate) const BLACK: Rgb = [24, 24, 24];
/// Length of a tick mark in pixels.
const MARK: usize = 5;
/// Distance between separate parts of a picture, in pixels.
const GAP: usize = 10;
/// Width of the colour bar in pixels.
const BAR: usize = 18;
/// Greatest number of categories in a legend.
const MOST_NAMED: usize = 20;
/// Greatest length of labels, in characters. Longer labels are cut.
pub(crate) const MOST_LETTERS: usize = 24;

impl Figure {
    /// Draws the plane without axes: one or more pixels per sample, as many as fit into the room.
    ///
    /// # Errors
    /// The errors of [`Picture::new`].
    pub fn plane(&self, room: Room) -> Result<Picture> {
        let (width, height) = self.plane_size(room);
        let mut picture = Picture::new(width, height, WHITE)?;
        self.draw_plane(&mut picture, (0, 0), self.scale(room));
        Ok(picture)
    }

    /// Returns the width and height of the [`plane`](Self::plane) in pixels, without drawing it.
    pub fn plane_size(&self, room: Room) -> (usize, usize) {
        let (across, down) = self.scale(room);
        (self.slice.columns() * across, self.slice.rows() * down)
    }

    fn draw_plane(&self, picture: &mut Picture, (left, top): (usize, usize), (across, down): (usize, usize)) {
        for row in 0..self.slice.rows() {
            for column in 0..self.slice.columns() {
                let color = self.pixel(row, column);
                picture.fill(left + column * across, top + row * down, across, down, color);
            }
        }
    }

    /// Returns the width and height of the [`picture`](Self::picture) in pixels, without drawing it.
    pub fn size(&self, room: Room) -> (usize, usize) {
        if self.is_plane() { Layout::new(self, room).size } else { chart::Layout::new(self, room).size }
    }

    /// Draws the figure: a plane with its axes, title, and colour bar or legend; a line as a chart.
    ///
    /// # Errors
    /// The errors of [`Picture::new`].
    pub fn picture(&self, room: Room) -> Result<Picture> {
        if !self.is_plane() {
            return chart::picture(self, room);
        }
        let Layout { scale, plane: (width, height), left, top, rows, row_title, legend, title, note, size } =
            Layout::new(self, room);
        let mut picture = Picture::new(size.0, size.1, WHITE)?;
        for (line, text) in title.iter().enumerate() {
            picture.text(GAP, GAP + line * (font::HEIGHT + 2), text, BLACK);
        }
        self.draw_plane(&mut picture, (left, top), scale);
        if let Some(bar) = self.scale_bar() {
            bar.draw(&mut picture, (left, top), (width, height));
        }
        picture.outline(left - 1, top - 1, width + 2, height + 2, BLACK);
        for tick in &rows {
            let y = top + along(tick, scale.1 as f64, height);
            picture.fill(left - 1 - MARK, y, MARK, 1, BLACK);
            let x = (left - MARK - 4).saturating_sub(font::width(&tick.text));
            picture.text(x, y.saturating_sub(font::HEIGHT / 2), &tick.text, BLACK);
        }
        if !row_title.is_empty() {
            let bottom = top + (height + font::width(&row_title)) / 2;
            picture.text_upwards(GAP / 2, bottom.min(top + height), &row_title, BLACK);
        }
        let bottom = top + height;
        draw_columns(&mut picture, self, (left, bottom), (scale.0 as f64, width));
        legend.draw(&mut picture, (left + width + GAP * 2, top), height);
        let first = bottom.max(top + legend.height()) + MARK + 2 + font::HEIGHT * 2 + 6;
        for (line, text) in note.iter().enumerate() {
            picture.text(GAP, first + line * (font::HEIGHT + 2), text, [96; 3]);
        }
        Ok(picture)
    }

    /// Returns the ticks along rows, at most `most`.
    pub(crate) fn row_ticks(&self, most: usize) -> Vec<Tick> {
        let (Some(axis), Some(samples)) = (self.axes.first(), self.slice.samples.first()) else { return Vec::new() };
        cut(axis.ticks(samples, most))
    }

    /// Returns the ticks along columns: as many as fit if a line has room for `room` characters.
    pub(crate) fn column_ticks(&self, room: usize) -> Vec<Tick> {
        let (Some(axis), Some(samples)) = (self.axes.last(), self.slice.samples.last()) else { return Vec::new() };
        for most in [12, 9, 7, 5, 4, 3, 2] {
            let ticks = cut(axis.ticks(samples, most));
            let longest = ticks.iter().map(|tick| tick.text.chars().count()).max().unwrap_or(0);
            if (longest + 2) * ticks.len() <= room {
                return ticks;
            }
        }
        cut(axis.ticks(samples, 1))
    }
}

/// Positions and sizes of the parts of the picture of a plane.
struct Layout<'f> {
    /// Width and height of a sample in pixels.
    scale: (usize, usize),
    /// Width and height of the plane in pixels; `left` and `top` are the coordinates of its upper left corner.
    plane: (usize, usize),
    left: usize,
    top: usize,
    rows: Vec<Tick>,
    row_title: String,
    legend: Legend<'f>,
    title: Vec<String>,
    note: Vec<String>,
    size: (usize, usize),
}

impl<'f> Layout<'f> {
    fn new(figure: &'f Figure, room: Room) -> Self {
        let scale = figure.scale(room);
        let (width, height) = figure.plane_size(room);
        let rows = figure.row_ticks((height / (font::HEIGHT * 2)).clamp(1, 12));
        let widest = rows.iter().map(|tick| font::width(&tick.text)).max().unwrap_or(0);
        let row_title =
            figure.axes.first().map(|axis| shortened(&axis.title(), height / font::WIDTH)).unwrap_or_default();
        let left = GAP + if row_title.is_empty() { 0 } else { font::HEIGHT + GAP / 2 } + widest + MARK + 3;
        let legend = Legend::of(figure, height);
        let total = (left + width + GAP * 2 + legend.width()).max(GAP * 2 + font::width("0") * 20) + GAP;
        let letters = (total - GAP * 2) / font::WIDTH;
        let title = wrapped(&figure.title, letters);
        let note = figure.note.as_deref().map(|note| wrapped(note, letters)).unwrap_or_default();
        let top = GAP + title.len() * (font::HEIGHT + 2) + GAP / 2;
        let below = MARK + 2 + font::HEIGHT * 2 + 4 + note.len() * (font::HEIGHT + 2) + GAP;
        let size = (total, top + height.max(legend.height()) + below);
        Self { scale, plane: (width, height), left, top, rows, row_title, legend, title, note, size }
    }
}

/// Draws the ticks and the axis title below a plane or chart.
pub(crate) fn draw_columns(
    picture: &mut Picture,
    figure: &Figure,
    (left, bottom): (usize, usize),
    (across, width): (f64, usize),
) {
    for tick in figure.column_ticks(width / font::WIDTH) {
        let x = left + along(&tick, across, width);
        picture.fill(x, bottom + 1, 1, MARK, BLACK);
        let start = x.saturating_sub(font::width(&tick.text) / 2);
        let most = picture.width().saturating_sub(font::width(&tick.text) + 1);
        picture.text(start.min(most), bottom + MARK + 2, &tick.text, BLACK);
    }
    let title = figure.axes.last().map(|axis| shortened(&axis.title(), width / font::WIDTH)).unwrap_or_default();
    let x = left + width.saturating_sub(font::width(&title)) / 2;
    picture.text(x, bottom + MARK + 4 + font::HEIGHT, &title, BLACK);
}

/// Returns the pixel of a tick: the middle of its sample. `each` is the length of a sample, and `all` the length of the axis, in pixels.
pub(crate) fn along(tick: &Tick, each: f64, all: usize) -> usize {
    let at = (tick.at + 0.5) * each;
    (at.max(0.0) as usize).min(all.saturating_sub(1))
}

fn cut(mut ticks: Vec<Tick>) -> Vec<Tick> {
    ticks.iter_mut().for_each(|tick| tick.text = shortened(&tick.text, MOST_LETTERS));
    // Positions may fall.
    ticks.sort_by(|a, b| a.at.total_cmp(&b.at));
    ticks
}

/// Cuts a string to at most `most` characters, with two dots at the end if it was longer.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() <= most {
        true => text.to_owned(),
        false => text.chars().take(most.saturating_sub(2)).chain("..".chars().take(most)).collect(),
    }
}

/// Splits a string into lines of at most `most` characters, at spaces if possible.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::<String>::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&shortened(word, most.max(2)));
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// Legend of the colours.
enum Legend<'f> {
    /// Colour bar: colouring, ticks, and the title beside it.
    Bar(&'f Coloring, Vec<Tick>, String),
    Categories(&'f Categories, String),
}

impl<'f> Legend<'f> {
    fn of(figure: &'f Figure, height: usize) -> Self {
        let units = figure.units.clone().unwrap_or_default();
        match &figure.shading {
            Shading::Even(coloring) => {
                let title = shortened(&units, (height / font::WIDTH).max(4));
                Self::Bar(coloring, bar_ticks(coloring, (height / (font::HEIGHT * 2)).clamp(2, 9)), title)
            }
            Shading::Categories(categories) => Self::Categories(categories, units),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Bar(_, ticks, title) => {
                let widest = ticks.iter().map(|tick| font::width(&tick.text)).max().unwrap_or(0);
                BAR + MARK + 3 + widest + if title.is_empty() { 0 } else { GAP / 2 + font::HEIGHT }
            }
            Self::Categories(categories, _) => {
                let names = categories.entries().iter().take(MOST_NAMED);
                let widest = names.map(|entry| entry.name.chars().count().min(MOST_LETTERS)).max().unwrap_or(0);
                font::HEIGHT + 4 + widest.max("and 999 more".len()) * font::WIDTH
            }
        }
    }

    fn height(&self) -> usize {
        match self {
            Self::Bar(..) => 0,
            Self::Categories(categories, _) => (categories.entries().len().min(MOST_NAMED) + 1) * (font::HEIGHT + 4),
        }
    }

    fn draw(&self, picture: &mut Picture, (left, top): (usize, usize), height: usize) {
        match self {
            Self::Bar(coloring, ticks, title) => {
                for y in 0..height {
                    // Use the value at the middle of each row.
                    let fraction = 1.0 - (y as f64 + 0.5) / height as f64;
                    let color = coloring.map().at(fraction).unwrap_or(Coloring::MISSING);
                    picture.fill(left, top + y, BAR, 1, color);
                }
                picture.outline(left - 1, top - 1, BAR + 2, height + 2, BLACK);
                let mut widest = 0;
                for tick in ticks {
                    let y = top + ((1.0 - tick.at) * height.saturating_sub(1) as f64).round().max(0.0) as usize;
                    picture.fill(left + BAR + 1, y, MARK, 1, BLACK);
                    picture.text(left + BAR + MARK + 4, y.saturating_sub(font::HEIGHT / 2), &tick.text, BLACK);
                    widest = widest.max(font::width(&tick.text));
                }
                if !title.is_empty() {
                    let bottom = top + (height + font::width(title)) / 2;
                    let x = left + BAR + MARK + 4 + widest + GAP / 2;
                    picture.text_upwards(x, bottom.min(top + height + GAP), title, BLACK);
                }
            }
            Self::Categories(categories, units) => {
                let line = font::HEIGHT + 4;
                let entries = categories.entries();
                for (number, entry) in entries.iter().take(MOST_NAMED).enumerate() {
                    let y = top + number * line;
                    picture.fill(left, y, font::HEIGHT - 2, font::HEIGHT - 2, entry.color);
                    picture.outline(left, y, font::HEIGHT - 2, font::HEIGHT - 2, BLACK);
                    picture.text(left + font::HEIGHT + 4, y, &shortened(&entry.name, MOST_LETTERS), BLACK);
                }
                let more = entries.len().saturating_sub(MOST_NAMED);
                let last = match (more, units.as_str()) {
                    (0, units) => units.to_owned(),
                    (more, _) => format!("and {more} more"),
                };
                let y = top + entries.len().min(MOST_NAMED) * line;
                picture.text(left, y, &shortened(&last, MOST_LETTERS), BLACK);
            }
        }
    }
}

/// Returns the ticks of a colour bar, at positions from 0 to 1: round numbers, or powers of ten for a logarithmic scale.
pub(crate) fn bar_ticks(coloring: &Coloring, most: usize) -> Vec<Tick> {
    let (first, last) = coloring.bounds();
    if first == last || !first.is_finite() || !last.is_finite() {
        return vec![Tick { at: 0.5, text: crate::labels::short(first) }];
    }
    let tick = |(value, text): (f64, String)| Tick { at: coloring.fraction(value), text };
    let round = |ticks: Vec<(f64, String)>| {
        ticks.into_iter().map(tick).filter(|tick| (0.0..=1.0).contains(&tick.at)).collect::<Vec<_>>()
    };
    if coloring.is_logarithmic() {
        let powers = round_numbers(first.log10(), last.log10(), most, true);
        let power = |(exponent, _): (f64, String)| {
            let value = 10_f64.powf(exponent);
            (value, if exponent.abs() < 4.0 { crate::labels::short(value) } else { format!("1e{exponent}") })
        };
        let ticks = round(powers.into_iter().map(power).collect());
        if ticks.len() > 1 {
            return ticks;
        }
    }
    let ticks = round(round_numbers(first, last, most, false));
    match ticks.len() {
        0 => [first, last].map(|value| tick((value, crate::labels::short(value)))).to_vec(),
        _ => ticks,
    }
}
