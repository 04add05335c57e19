//! Elements as text for people and for line tools.

use super::labels::rounded;
use super::{AxisLabels, Cells, Format, LEFT_OUT, TextStyle};
use crate::columns::{padding, widest};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Greatest number of elements for which columns are aligned; the values of larger arrays are separated by one space.
const ALIGNED: usize = 10_000;

/// Prints an array of one dimension as a column, and more dimensions as a line for each row, with an empty line between planes.
#[derive(Debug)]
pub(super) struct Text {
    shape: Vec<u64>,
    style: TextStyle,
    /// Number of elements printed so far.
    done: u64,
}

impl Text {
    pub(super) fn new(shape: &[u64], style: TextStyle) -> Self {
        Self { shape: shape.to_vec(), style, done: 0 }
    }

    /// Returns the separator before element `index`.
    fn separator(&self, index: u64) -> &'static str {
        let (row, rows) = match self.shape.as_slice() {
            [.., rows, row] => (*row, *rows),
            _ => (1, u64::MAX),
        };
        match index {
            0 => "",
            _ if !index.is_multiple_of(row.max(1)) => " ",
            _ if self.shape.len() > 2 && (index / row.max(1)).is_multiple_of(rows.max(1)) => "\n\n",
            _ => "\n",
        }
    }

    /// Returns the mark for left out elements if elements were left out before element `index`, along the outermost axis that starts anew
    /// there; else an empty string.
    fn mark(&self, index: u64) -> String {
        if index == 0 || self.style.gaps.is_empty() {
            return String::new();
        }
        let mut rest = index;
        for (inner, (axis, &len)) in self.shape.iter().enumerate().rev().enumerate() {
            let at = rest % len.max(1);
            rest /= len.max(1);
            if at > 0 {
                let gap = self.style.gaps.get(axis).copied().flatten();
                let is_here = gap.is_some_and(|gap| gap as u64 == at);
                return if is_here { format!("{LEFT_OUT}{}", self.behind(inner)) } else { String::new() };
            }
        }
        String::new()
    }

    /// Returns the separator behind the mark for elements that were left out along an axis with `inner` axes inside.
    fn behind(&self, inner: usize) -> &'static str {
        match (self.shape.len(), inner) {
            (2.., 0) => " ",
            (_, 0 | 1) => "\n",
            _ => "\n\n",
        }
    }
}

impl Format for Text {
    fn piece(&mut self, cells: &Cells, _: &[AxisLabels], out: &mut Output) -> Result<()> {
        let quoted = self.shape.len() > 1 && is_text(cells.data().data_type());
        let (precision, data_type) = (self.style.precision, cells.data().data_type());
        let cell = |index: usize| {
            let text = rounded(cells.text(index), data_type, precision);
            if quoted { escape::json_value(&Value::from(text)) } else { escape::line(&text).into_owned() }
        };
        let aligned = cells.len() <= ALIGNED && self.shape.len() > 1;
        let width = if aligned { widest((0..cells.len()).map(cell)) } else { 0 };
        for index in 0..cells.len() {
            out.text(self.separator(self.done))?;
            out.text(&self.mark(self.done))?;
            let cell = cell(index);
            let padding = padding(&cell, width);
            // Text begins in one column, numbers end in one.
            let parts = if quoted { [cell, padding] } else { [padding, cell] };
            out.text(&parts.concat())?;
            self.done += 1;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<()> {
        if self.done == 0 {
            return Ok(());
        }
        // Mark elements that were left out at the end.
        let ends = |(len, gap): (&u64, &Option<usize>)| gap.is_some_and(|gap| gap as u64 >= *len);
        let is_cut = self.shape.iter().zip(&self.style.gaps).any(ends);
        out.text(if is_cut { "\n...\n" } else { "\n" })
    }
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::FixedUtf32 { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(gaps: &[Option<usize>]) -> TextStyle {
        TextStyle { width: 80, precision: None, gaps: gaps.to_vec() }
    }

    fn separators(shape: &[u64], count: u64) -> String {
        elided(shape, count, &[])
    }

    fn elided(shape: &[u64], count: u64, gaps: &[Option<usize>]) -> String {
        let text = Text::new(shape, style(gaps));
        (0..count).map(|index| format!("{}{}x", text.separator(index), text.mark(index))).collect()
    }

    #[test]
    fn rows_and_planes() {
        assert_eq!(separators(&[], 1), "x");
        assert_eq!(separators(&[3], 3), "x\nx\nx");
        assert_eq!(separators(&[2, 2], 4), "x x\nx x");
        assert_eq!(separators(&[2, 2, 1], 4), "x\nx\n\nx\nx");
    }

    #[test]
    fn marks_stand_where_elements_were_left_out() {
        assert_eq!(elided(&[4], 4, &[Some(2)]), "x\nx\n...\nx\nx");
        assert_eq!(elided(&[2, 2], 4, &[None, Some(1)]), "x ... x\nx ... x");
        assert_eq!(elided(&[2, 2], 4, &[Some(1), None]), "x x\n...\nx x");
        let planes = "x ... x\n...\nx ... x\n\n...\n\nx ... x\n...\nx ... x";
        assert_eq!(elided(&[2, 2, 2], 8, &[Some(1); 3]), planes);
    }
}
