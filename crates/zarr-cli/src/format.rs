//! Forms in which elements are printed.

mod csv;
mod labels;
mod nested_json;
mod raw;
mod record;
mod table;
mod text;
mod tidy;

pub(crate) use labels::{AxisLabels, shorten_times, without_fraction};
pub(crate) use record::Record;
pub(crate) use table::{Table, shorten};
pub(crate) use tidy::Tidy;

use crate::failure::{Failure, Result};
use crate::npy;
use crate::output::Output;
use clap::ValueEnum;
use std::path::Path;
use zarr::ArrayData;
use zarr::dataset::Values;
use zarr::dtype::{DataType, Unit, npy_literal};
use zarr::meta::json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    /// A line for each row, values separated by spaces.
    Text,
    /// Nested arrays; bytes as base64, NaN as "NaN", dates as ISO 8601 strings, durations as "5 ms".
    Json,
    /// Only the elements, in C order, little-endian; elements of variable length follow their length in 4 bytes.
    Raw,
    /// A file of numpy.
    Npy,
    /// A line for each row, values as in JSON separated by commas, strings without quotes; structs have a header with the names of
    /// fields. A string with control characters other than line feeds and tabs is a JSON string, which `write` reads.
    Csv,
    /// A table of a data set with its coordinates, in the IPC format of Arrow: a file, and a stream on standard output and for .arrows,
    /// which ends within a message if the read fails.
    Arrow,
    /// A table of a data set with its coordinates, in Parquet with zstd. Needs a command with the feature `parquet`.
    Parquet,
}

impl OutputForm {
    /// Whether the form is a table with a row for each element and columns for its coordinates.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }

    /// Returns the output form for the suffix of a file name, in any case; `None` if the name has no suffix.
    ///
    /// # Errors
    /// An error for a suffix that stands for no form.
    pub(crate) fn by_name(path: &Path) -> Result<Option<Self>> {
        let Some(suffix) = path.extension() else { return Ok(None) };
        Ok(Some(match suffix.to_string_lossy().to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "json" => Self::Json,
            "raw" | "bin" => Self::Raw,
            "npy" => Self::Npy,
            "csv" => Self::Csv,
            "arrow" | "arrows" | "feather" => Self::Arrow,
            "parquet" => Self::Parquet,
            other => {
                let message = format!("{}: no form of elements has the suffix .{other}", path.display());
                let hint = match is_netcdf(other) {
                    true => format!("{WRITTEN}; {NETCDF}"),
                    false => format!("{WRITTEN}; --as names the form of another file"),
                };
                return Err(Failure::usage(message).with_hint(hint));
            }
        }))
    }
}

/// Suffixes of the files that are written.
const WRITTEN: &str = "npy, csv, json, raw, bin, txt, arrow, arrows, feather and parquet are written";

/// Hint for users who want a netCDF file.
pub(crate) const NETCDF: &str = "xarray writes netCDF: xarray.open_zarr(\"x.zarr\").to_netcdf(\"x.nc\")";

/// Returns whether `name`, a form or a suffix of a file name, stands for netCDF.
pub(crate) fn is_netcdf(name: &str) -> bool {
    ["netcdf", "nc", "nc4", "cdf"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Options of elements printed as text.
#[derive(Clone, Debug)]
pub(crate) struct TextStyle {
    /// Greatest number of columns of a line, unless a single cell takes more.
    pub(crate) width: usize,
    /// Greatest number of digits behind the point of floats; `None` prints all.
    pub(crate) precision: Option<usize>,
    /// Index along each axis before which elements were left out, for elements without labels; `None` if the axis is complete.
    pub(crate) gaps: Vec<Option<usize>>,
}

/// Mark for elements that were left out.
pub(crate) const LEFT_OUT: &str = "...";

/// Elements that are printed, stored or decoded.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Elements as they are stored.
    Stored(ArrayData),
    /// Decoded values, some of which may be missing.
    Decoded(Values),
}

impl Cells {
    pub(crate) fn data(&self) -> &ArrayData {
        match self {
            Self::Stored(data) => data,
            Self::Decoded(values) => values.data(),
        }
    }

    fn len(&self) -> usize {
        self.data().len()
    }

    fn text(&self, index: usize) -> String {
        match self {
            Self::Stored(data) => data.text(index),
            Self::Decoded(values) => values.text(index),
        }
    }

    /// Returns element `index` as JSON, like [`ArrayData::json`], except that dates and durations are strings for people.
    fn json(&self, index: usize) -> Value {
        let value = match self {
            Self::Stored(data) => data.json(index),
            Self::Decoded(values) => values.json(index),
        };
        readable(self.data().data_type(), value)
    }
}

fn readable(data_type: &DataType, value: Value) -> Value {
    let each = |data_type: &DataType, value: Value| match value {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| readable(data_type, item)).collect()),
        value => readable(data_type, value),
    };
    match (data_type, value) {
        // Counts without a unit are numbers.
        (DataType::DateTime64(unit) | DataType::TimeDelta64(unit), value) if unit.unit == Unit::Generic => value,
        // A field may be an array of several dimensions.
        (DataType::DateTime64(_) | DataType::TimeDelta64(_), value @ Value::Array(_)) => each(data_type, value),
        (DataType::DateTime64(unit), value) => value.as_i64().map_or(value, |count| unit.date_text(count).into()),
        (DataType::TimeDelta64(unit), value) => value.as_i64().map_or(value, |count| unit.delta_text(count).into()),
        (DataType::VlenArray(item), value) => each(item, value),
        (DataType::Struct(fields), Value::Object(members)) => {
            let member = |(name, value): (&str, &Value)| {
                let field = fields.fields().iter().find(|field| field.name == name);
                let value = field.map_or_else(|| value.clone(), |field| each(&field.data_type, value.clone()));
                (name.to_owned(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        (_, value) => value,
    }
}

/// Printer of elements in one output form. The elements come in pieces, in C order, with the labels of their axes if those are known.
pub(crate) trait Format {
    /// Prints what precedes the elements, such as a header.
    fn begin(&mut self, _: &mut Output) -> Result<()> {
        Ok(())
    }
    /// Prints the next elements, `cells`. `axes` has the labels of each axis, and is empty without labels.
    fn piece(&mut self, cells: &Cells, axes: &[AxisLabels], out: &mut Output) -> Result<()>;
    /// Prints what follows the elements.
    fn end(&mut self, _: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// Returns the printer of a result of `shape` with elements of `data_type`, without labels.
pub(crate) fn format(
    form: OutputForm,
    data_type: &DataType,
    shape: &[u64],
    style: &TextStyle,
) -> Result<Box<dyn Format>> {
    Ok(match form {
        OutputForm::Text => Box::new(text::Text::new(shape, style.clone())),
        OutputForm::Json => Box::new(nested_json::NestedJson::new(shape)),
        OutputForm::Raw => Box::new(raw::Raw { header: Vec::new() }),
        OutputForm::Npy => {
            let descr = npy_literal(data_type).ok_or_else(|| {
                let failure = Failure::usage(format!("numpy files cannot hold elements of type {data_type}"));
                failure.with_hint("use --as json")
            })?;
            Box::new(raw::Raw { header: npy::header(&descr, shape) })
        }
        OutputForm::Csv => Box::new(csv::Csv::new(data_type, shape)?),
        OutputForm::Arrow | OutputForm::Parquet => return Err(Failure::usage("tables are made of data sets alone")),
    })
}
