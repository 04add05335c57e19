//! Values as tables for people, with the labels of rows and columns.

use super::labels::{rounded, short_float, shorten_times};
use super::text::is_text;
use super::{AxisLabels, Cells, Format, LEFT_OUT, TextStyle};
use crate::columns::{padded, padding, widest};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use unicode_width::UnicodeWidthStr;
use zarr::dtype::DataType;

/// Digits behind the point that are printed of 8-byte floats, as in numpy: further digits mostly come from the binary representation of
/// decimals.
const DIGITS: usize = 8;
/// Spaces between columns.
const GAP: &str = "  ";
/// Greatest number of rows of a table, for which all column widths are the same; further rows get a table of their own.
const ROWS: usize = 50_000;

/// Prints an array of one dimension as a column of labels and a column of values, and more dimensions as a table for each plane. Columns
/// that do not fit the width follow in further tables below.
#[derive(Debug)]
pub(crate) struct Table {
    /// Name of the variable, with its units.
    title: String,
    /// Names and values of scalar coordinates.
    scalars: Vec<(String, String)>,
    style: TextStyle,
    is_begun: bool,
}

/// Plane of values: rows and columns with their labels.
struct Plane<'c> {
    cells: &'c Cells,
    /// Labels of the rows, and the name of their dimension; `None` if the values themselves are the labels.
    rows: Option<&'c AxisLabels>,
    /// Labels of the columns; `None` for a single column.
    columns: Option<&'c AxisLabels>,
    /// Index in `cells` of the first value of the plane, and the number of values in a row.
    start: usize,
    len: usize,
    /// Row before which rows were left out; `None` if the rows are complete.
    gap: Option<usize>,
    style: &'c TextStyle,
}

impl Table {
    /// Returns a printer of the variable `name`. `scalars` are the coordinates without dimensions, except those of a dimension along which
    /// a single index was selected.
    pub(crate) fn new(name: &str, units: Option<&str>, scalars: Vec<(String, String)>, style: TextStyle) -> Self {
        let units = units.map(|units| format!(" ({})", escape::line(units))).unwrap_or_default();
        Self { title: format!("{}{units}", escape::line(name)), scalars, style, is_begun: false }
    }

    /// Returns `NAME = LABEL` for each axis at an index along that axis, such as `time = 2020-01-01`.
    fn located<'a>(axes: impl Iterator<Item = (&'a AxisLabels, usize)>) -> Vec<String> {
        let one = |(axis, at): (&AxisLabels, usize)| {
            let label = axis.labels.get(at).map_or("", String::as_str);
            format!("{} = {}", escape::line(&axis.name), escape::line(label))
        };
        axes.map(one).collect()
    }

    fn line(out: &mut Output, line: &str) -> Result<()> {
        out.text(&format!("{}\n", line.trim_end()))
    }
}

impl Format for Table {
    fn piece(&mut self, cells: &Cells, axes: &[AxisLabels], out: &mut Output) -> Result<()> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let gone = axes.iter().filter(|axis| axis.is_gone && !axis.is_itself);
        if is_first {
            for line in Self::located(gone.map(|axis| (axis, 0))) {
                Self::line(out, &line)?;
            }
            for (name, value) in &self.scalars {
                Self::line(out, &format!("{} = {}", escape::line(name), escape::line(value)))?;
            }
        }
        let kept: Vec<&AxisLabels> = axes.iter().filter(|axis| !axis.is_gone).collect();
        match kept.as_slice() {
            [] => {
                let cell = plain(cells, 0..1, &self.style).pop().unwrap_or_default();
                Self::line(out, &format!("{} = {cell}", self.title))
            }
            [axis] => {
                let rows = Some(*axis).filter(|axis| !axis.is_itself);
                let plane = Plane { cells, rows, columns: None, start: 0, len: 1, gap: axis.gap, style: &self.style };
                plane.print(axis.labels.len(), &self.title, is_first, out)
            }
            [outer @ .., rows, columns] => {
                if is_first {
                    Self::line(out, &self.title)?;
                }
                let size = rows.labels.len() * columns.labels.len();
                let planes = cells.len().checked_div(size).unwrap_or(0);
                for number in 0..planes {
                    if !(is_first && number == 0) {
                        Self::line(out, "")?;
                    }
                    let mut inner = planes;
                    let at = outer.iter().map(|axis| {
                        inner /= axis.labels.len().max(1);
                        (*axis, number / inner.max(1) % axis.labels.len().max(1))
                    });
                    let at: Vec<(&AxisLabels, usize)> = at.collect();
                    if is_behind_gap(&at) {
                        Self::line(out, LEFT_OUT)?;
                        Self::line(out, "")?;
                    }
                    let named = Self::located(at.into_iter()).join(", ");
                    if !named.is_empty() {
                        Self::line(out, &named)?;
                    }
                    let (start, len) = (number * size, columns.labels.len());
                    let (gap, style) = (rows.gap, &self.style);
                    let plane = Plane { cells, rows: Some(rows), columns: Some(columns), start, len, gap, style };
                    plane.print(rows.labels.len(), &self.title, true, out)?;
                }
                // Mark planes that were left out at the end.
                match outer.iter().any(|axis| axis.gap.is_some_and(|gap| gap >= axis.labels.len())) {
                    true => Self::line(out, &format!("\n{LEFT_OUT}")),
                    false => Ok(()),
                }
            }
        }
    }
}

/// Column of a table: its head, its cells, and its width.
type Column = (String, Vec<String>, usize);

/// Returns the columns that fit into `width`. Further columns are left out beside column `gap`, which stands for the columns that were left
/// out.
fn fitting(mut columns: Vec<Column>, mut gap: usize, width: usize) -> Vec<Column> {
    let total = |columns: &[Column]| columns.iter().map(|column| GAP.len() + column.2).sum::<usize>();
    while total(&columns) > width && columns.len() > 3 {
        // The longer side loses the column beside the mark.
        let behind = columns.len() - gap - 1;
        if gap >= behind {
            gap -= 1;
            columns.remove(gap);
        } else {
            columns.remove(gap + 1);
        }
    }
    columns
}

/// Returns whether planes were left out before the plane at these indices of the outer axes.
fn is_behind_gap(at: &[(&AxisLabels, usize)]) -> bool {
    let innermost = at.iter().rev().find(|(_, index)| *index > 0);
    innermost.is_some_and(|(axis, index)| axis.gap == Some(*index))
}

impl Plane<'_> {
    /// Returns the number of printed columns, including the column that stands for columns that were left out.
    fn printed(&self) -> usize {
        self.len + usize::from(self.column_gap().is_some())
    }

    fn column_gap(&self) -> Option<usize> {
        self.columns.and_then(|axis| axis.gap)
    }

    /// Returns the index of printed column `number`; `None` if that column stands for columns that were left out.
    fn column(&self, number: usize) -> Option<usize> {
        match self.column_gap() {
            Some(gap) if number == gap => None,
            Some(gap) if number > gap => Some(number - 1),
            _ => Some(number),
        }
    }

    /// Prints all rows. If the columns have no labels, the head of the single column is `title`.
    fn print(&self, rows: usize, title: &str, has_head: bool, out: &mut Output) -> Result<()> {
        for first in (0..rows).step_by(ROWS) {
            let rows = first..rows.min(first.saturating_add(ROWS));
            let is_headed = has_head && (first == 0 || self.columns.is_some());
            if first > 0 && self.columns.is_some() {
                Table::line(out, "")?;
            }
            self.print_rows(rows, title, is_headed, out)?;
        }
        Ok(())
    }

    fn print_rows(&self, rows: std::ops::Range<usize>, title: &str, is_headed: bool, out: &mut Output) -> Result<()> {
        let line = |label: &String| escape::line(label).into_owned();
        let corner = match (self.rows, self.columns) {
            (Some(rows), Some(columns)) => format!("{} \\ {}", escape::line(&rows.name), escape::line(&columns.name)),
            (Some(rows), None) => escape::line(&rows.name).into_owned(),
            (None, _) => String::new(),
        };
        let labels: Vec<String> = match self.rows {
            Some(axis) => axis.labels.get(rows.clone()).unwrap_or_default().iter().map(line).collect(),
            None => Vec::new(),
        };
        let side = widest(labels.iter().chain([&corner]));
        let gap = if self.rows.is_some() { GAP } else { "" };
        let column = |number: usize| {
            let (head, cells) = match (self.column(number), self.columns) {
                (None, _) => (LEFT_OUT.to_owned(), vec![LEFT_OUT.to_owned(); rows.len()]),
                (Some(column), axis) => {
                    let head = axis.map(|axis| axis.labels.get(column).map(line).unwrap_or_default());
                    let at = |row: usize| self.start + row * self.len + column;
                    let cells = plain(self.cells, rows.clone().map(at), self.style);
                    (head.unwrap_or_else(|| title.to_owned()), cells)
                }
            };
            let width = widest(cells.iter().chain([&head]));
            (head, cells, width)
        };
        let columns: Box<dyn Iterator<Item = Column> + '_> = match self.column_gap() {
            None => Box::new((0..self.printed()).map(column)),
            Some(gap) => {
                let all = (0..self.printed()).map(column).collect();
                Box::new(fitting(all, gap, self.style.width.saturating_sub(side)).into_iter())
            }
        };
        let mut columns = columns.peekable();
        while columns.peek().is_some() {
            // As many columns as fit.
            let (mut block, mut width) = (Vec::new(), side);
            while let Some(next) =
                columns.next_if(|next| block.is_empty() || width + GAP.len() + next.2 <= self.style.width)
            {
                width += GAP.len() + next.2;
                block.push(next);
            }
            if is_headed {
                let heads: Vec<String> = block.iter().map(|(head, _, column)| self.aligned(head, *column)).collect();
                Table::line(out, &format!("{}{gap}{}", padded(&corner, side), heads.join(GAP)))?;
            }
            for row in 0..rows.len() {
                if self.gap == Some(rows.start + row) {
                    let cells: Vec<String> = block.iter().map(|(.., column)| self.aligned(LEFT_OUT, *column)).collect();
                    let label = if self.rows.is_some() { LEFT_OUT } else { "" };
                    Table::line(out, &format!("{}{gap}{}", padded(label, side), cells.join(GAP)))?;
                }
                let cell =
                    |(_, cells, column): &Column| self.aligned(cells.get(row).map_or("", String::as_str), *column);
                let label = labels.get(row).map_or("", String::as_str);
                let cells: Vec<String> = block.iter().map(cell).collect();
                Table::line(out, &format!("{}{gap}{}", padded(label, side), cells.join(GAP)))?;
            }
            if columns.peek().is_some() {
                Table::line(out, "")?;
            }
        }
        Ok(())
    }

    /// Pads `text` to `width` columns: strings are aligned to the left, numbers to the right.
    fn aligned(&self, text: &str, width: usize) -> String {
        match is_text(self.cells.data().data_type()) {
            true => padded(text, width.max(text.width())),
            false => format!("{}{text}", padding(text, width)),
        }
    }
}

/// Returns the cells at `indices` as short strings that are safe to print.
fn plain(cells: &Cells, indices: impl Iterator<Item = usize>, style: &TextStyle) -> Vec<String> {
    let mut texts: Vec<String> = indices.map(|index| escape::line(&cells.text(index)).into_owned()).collect();
    let data_type = cells.data().data_type();
    match style.precision {
        Some(_) if data_type.class().is_some() => {
            texts.iter_mut().for_each(|text| *text = rounded(std::mem::take(text), data_type, style.precision));
        }
        _ => shorten(&mut texts, data_type),
    }
    texts
}

/// Shortens the printed elements of `data_type` for people: removes the ends of times that are 0, and digits of floats.
pub(crate) fn shorten(texts: &mut [String], data_type: &DataType) {
    match data_type {
        DataType::DateTime64(_) | DataType::Extension(_) => shorten_times(texts),
        DataType::Float64 => texts.iter_mut().for_each(|text| *text = short_float(std::mem::take(text), DIGITS)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_beside_the_mark_are_left_out_first() {
        let columns =
            |heads: &str| heads.split(' ').map(|head| (head.to_owned(), Vec::new(), 1)).collect::<Vec<Column>>();
        let fitting = |width: usize| {
            let fitting = fitting(columns("a b c . x y z"), 3, width);
            fitting.into_iter().map(|column| column.0).collect::<String>()
        };
        assert_eq!([21, 20, 15, 12, 9, 1].map(fitting), ["abc.xyz", "ab.xyz", "ab.yz", "a.yz", "a.z", "a.z"]);
    }
}
