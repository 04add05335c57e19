//! Elements as text for people and for line tools.

use super::{AxisLabels, Cells, Format};
use crate::columns::{padding, widest};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Up to so many elements are lined up in columns; more are separated by one space.
const ALIGNED: usize = 10_000;

/// Prints one dimension as a column, more as a line for each row, with an empty line between planes.
#[derive(Debug)]
pub(super) struct Text {
    shape: Vec<u64>,
    /// How many elements were printed.
    done: u64,
}

impl Text {
    pub(super) fn new(shape: &[u64]) -> Self {
        Self { shape: shape.to_vec(), done: 0 }
    }

    /// The separator before element `index`.
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
}

impl Format for Text {
    fn piece(&mut self, cells: &Cells, _: &[AxisLabels], out: &mut Output) -> Result<()> {
        let quoted = self.shape.len() > 1 && is_text(cells.data().data_type());
        let cell = |index: usize| {
            let text = cells.text(index);
            if quoted { escape::json_value(&Value::from(text)) } else { escape::line(&text).into_owned() }
        };
        let aligned = cells.len() <= ALIGNED && self.shape.len() > 1;
        let width = if aligned { widest((0..cells.len()).map(cell)) } else { 0 };
        for index in 0..cells.len() {
            out.text(self.separator(self.done))?;
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
        if self.done > 0 { out.text("\n") } else { Ok(()) }
    }
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String | DataType::FixedUtf32 { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separators(shape: &[u64], count: u64) -> String {
        let text = Text::new(shape);
        (0..count).map(|index| format!("{}x", text.separator(index))).collect()
    }

    #[test]
    fn rows_and_planes() {
        assert_eq!(separators(&[], 1), "x");
        assert_eq!(separators(&[3], 3), "x\nx\nx");
        assert_eq!(separators(&[2, 2], 4), "x x\nx x");
        assert_eq!(separators(&[2, 2, 1], 4), "x\nx\n\nx\nx");
    }
}
