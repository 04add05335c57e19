//! Elements as comma-separated values.

use super::{AxisLabels, Cells, Format};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::output::Output;
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Prints a line for each row of values. For structs, prints a header with the names of the fields, and a line for each element.
///
/// The format is RFC 4180, with single line feeds at the end of lines. A string that is unsafe to print becomes a JSON string: see
/// [`escape::cell`].
#[derive(Debug)]
pub(super) struct Csv {
    /// Names of the fields of a struct; empty for other data types.
    fields: Vec<String>,
    /// Number of elements in a line.
    row: u64,
    /// Number of elements printed so far.
    done: u64,
}

impl Csv {
    pub(super) fn new(data_type: &DataType, shape: &[u64]) -> Result<Self> {
        let fields = match data_type {
            DataType::Struct(fields) => fields.fields().iter().map(|field| field.name.clone()).collect(),
            _ => Vec::new(),
        };
        let most = if fields.is_empty() { 2 } else { 1 };
        if shape.len() > most {
            let message =
                format!("expected at most {most} dimensions for a table of {data_type}, found {}", shape.len());
            return Err(Failure::usage(message).with_hint("--decode prints a row for each value, of an array whose dimensions have names; or select a single index of the others, or use --as json"));
        }
        let row = if shape.len() == 2 { shape.last().copied().unwrap_or(1) } else { 1 };
        Ok(Self { fields, row: row.max(1), done: 0 })
    }
}

impl Format for Csv {
    fn begin(&mut self, out: &mut Output) -> Result<()> {
        let names: Vec<String> = self.fields.iter().map(|name| quoted(&escape::cell(name))).collect();
        if names.is_empty() { Ok(()) } else { out.text(&format!("{}\n", names.join(","))) }
    }

    fn piece(&mut self, cells: &Cells, _: &[AxisLabels], out: &mut Output) -> Result<()> {
        for index in 0..cells.len() {
            let value = cells.json(index);
            match value.as_object().filter(|_| !self.fields.is_empty()) {
                Some(members) => {
                    let cells: Vec<String> = members.iter().map(|(_, value)| cell(value)).collect();
                    out.text(&cells.join(","))?;
                }
                None => out.text(&cell(&value))?,
            }
            self.done += 1;
            out.text(if self.done.is_multiple_of(self.row) { "\n" } else { "," })?;
        }
        Ok(())
    }
}

pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(&escape::cell(text)),
        other => quoted(&escape::json_value(other)),
    }
}

/// Puts a string in quotes if the string needs them. An empty string and a string with spaces at its ends get quotes too, for which the
/// crate csv has no option: other software takes an empty field for a missing value, and drops spaces.
pub(super) fn quoted(text: &str) -> String {
    let needs = text.is_empty() || text.contains([',', '"', '\n', '\r']) || text.trim() != text;
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_quotes_where_other_software_changes_them() {
        let strings = ["", " a", "a,b", "a\"b", "a\nb", "a b"];
        assert_eq!(strings.map(quoted), ["\"\"", "\" a\"", "\"a,b\"", "\"a\"\"b\"", "\"a\nb\"", "a b"]);
    }
}
