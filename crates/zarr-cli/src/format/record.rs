//! A variable as a JSON object, as `DataArray.to_dict` of xarray has it.

use super::nested_json::NestedJson;
use super::{AxisLabels, Cells, Format};
use crate::escape;
use crate::failure::Result;
use crate::output::Output;
use zarr::dataset::Values;
use zarr::meta::json::{Map, Value};

/// Prints a JSON object. The values are its last member, `data`.
#[derive(Debug)]
pub(crate) struct Record {
    members: Map,
    data: NestedJson,
}

impl Record {
    /// Returns the printer of an array of `shape`. `members` has all members of the object except `data`.
    pub(crate) fn new(members: Map, shape: &[u64]) -> Self {
        Self { members, data: NestedJson::new(shape) }
    }

    /// Returns `values` as nested JSON arrays.
    pub(crate) fn nested(values: Values) -> Value {
        let shape = values.shape().to_vec();
        let cells = Cells::Decoded(values);
        let mut items: Vec<Value> = (0..cells.len()).map(|index| cells.json(index)).collect();
        for &len in shape.iter().skip(1).rev() {
            let len = usize::try_from(len).unwrap_or(usize::MAX).max(1);
            let mut rows = Vec::with_capacity(items.len() / len);
            let mut rest = items.into_iter();
            loop {
                let row: Vec<Value> = rest.by_ref().take(len).collect();
                if row.is_empty() {
                    break;
                }
                rows.push(Value::Array(row));
            }
            items = rows;
        }
        match shape.is_empty() {
            true => items.into_iter().next().unwrap_or_default(),
            false => Value::Array(items),
        }
    }
}

impl Format for Record {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        out.text("{")?;
        for (name, value) in self.members.iter() {
            let name = escape::json_value(&Value::from(name));
            out.text(&format!("{name}: {},\n", escape::json_value(&value.clone().without_nan_literals())))?;
        }
        out.text("\"data\": ")?;
        self.data.begin(out)
    }

    fn piece(&mut self, cells: &Cells, axes: &[AxisLabels], out: &mut Output) -> Result<()> {
        self.data.piece(cells, axes, out)
    }

    fn end(&mut self, out: &mut Output) -> Result<()> {
        self.data.end(out)?;
        out.text("}\n")
    }
}
