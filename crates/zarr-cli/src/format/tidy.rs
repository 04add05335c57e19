//! Values as tidy rows: comma-separated values with a column for each dimension and one for the value.

use super::csv::{cell, quoted};
use super::labels::without_fraction;
use super::{AxisLabels, Cells, Format};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Prints a line for each value, with its labels. Missing strings are empty cells; empty strings have quotes.
#[derive(Debug)]
pub(crate) struct Tidy {
    /// Names of the columns.
    columns: Vec<String>,
}

impl Tidy {
    /// Returns the printer of a variable. `axes` has the names of its dimensions, in order; `name` is the name of the variable.
    pub(crate) fn new(axes: &[AxisLabels], name: &str) -> Self {
        let dimensions = axes.iter().filter(|axis| !axis.is_itself).map(|axis| axis.name.as_str());
        Self { columns: dimensions.chain([name]).map(str::to_owned).collect() }
    }
}

impl Format for Tidy {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        let names: Vec<String> = self.columns.iter().map(|name| quoted(&escape::cell(name))).collect();
        out.text(&format!("{}\n", names.join(",")))
    }

    fn piece(&mut self, cells: &Cells, axes: &[AxisLabels], out: &mut Output) -> Result<()> {
        let quote = |label: &String| quoted(&escape::cell(label));
        let labels: Vec<Vec<String>> = axes.iter().map(|axis| axis.labels.iter().map(quote).collect()).collect();
        let is_time = matches!(cells.data().data_type(), DataType::DateTime64(_));
        for index in 0..cells.len() {
            let mut line = String::new();
            let mut inner = cells.len();
            for (axis, labels) in axes.iter().zip(&labels) {
                inner /= labels.len().max(1);
                let at = index / inner.max(1) % labels.len().max(1);
                if !axis.is_itself {
                    line.push_str(labels.get(at).map_or("", String::as_str));
                    line.push(',');
                }
            }
            match cells.json(index) {
                Value::Null => {}
                Value::String(text) if is_time => line.push_str(&cell(&Value::from(without_fraction(&text)))),
                value => line.push_str(&cell(&value)),
            }
            line.push('\n');
            out.text(&line)?;
        }
        Ok(())
    }
}
