//! Elements as comma-separated values.

use super::Format;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::output::Output;
use zarr::ArrayData;
use zarr::dtype::DataType;
use zarr::meta::json::Value;

/// Prints a line for each row; of structs one for each element, behind one with the names of the fields.
///
/// RFC 4180, with line feeds alone at the end of lines. Text that is unsafe to print is a JSON string: see [`escape::cell`].
#[derive(Debug)]
pub(super) struct Csv {
    /// The names of fields; empty for what are no structs.
    fields: Vec<String>,
    /// Elements in a line.
    row: u64,
    /// How many elements were printed.
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
            let message = format!("a table of {data_type} with {} dimensions, expected at most {most}", shape.len());
            return Err(Failure::usage(message).with_hint("select a single index of the others, or use --as json"));
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

    fn piece(&mut self, data: &ArrayData, out: &mut Output) -> Result<()> {
        let mut text = String::new();
        for place in 0..data.len() {
            let value = super::json(data, place);
            match value.as_object().filter(|_| !self.fields.is_empty()) {
                Some(members) => {
                    let cells: Vec<String> = members.iter().map(|(_, value)| cell(value)).collect();
                    text.push_str(&cells.join(","));
                }
                None => text.push_str(&cell(&value)),
            }
            self.done += 1;
            text.push(if self.done.is_multiple_of(self.row) { '\n' } else { ',' });
            if text.len() > 1 << 16 {
                out.text(&text)?;
                text.clear();
            }
        }
        out.text(&text)
    }

    fn end(&mut self, _: &mut Output) -> Result<()> {
        Ok(())
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(&escape::cell(text)),
        other => quoted(&escape::json_value(other)),
    }
}

/// A text in quotes if it needs them. One that is empty has them, so that a line is never empty.
fn quoted(text: &str) -> String {
    let needs = text.is_empty() || text.contains([',', '"', '\n', '\r']) || text.trim() != text;
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
