//! Elements from JSON and from CSV.

mod csv;

use super::elements::in_heap;
use super::{Input, PIECE, Source, Write};
use crate::commands::transfer::Transfer;
use crate::failure::{Failure, Result};
use crate::pieces::Pieces;
use crate::{escape, number};
use std::sync::Arc;
use zarr::codec::View;
use zarr::dtype::{Class, DataType, Heap, Unit, print};
use zarr::meta::json::{self, Number, ParseOptions, Value};
use zarr::{Array, Selection};

/// The form of a file, unless it is that of numpy.
pub(super) fn form(args: &Write) -> Option<Source> {
    let form = args.form.or_else(|| Source::by_name(args.from.as_deref()?)).unwrap_or(Source::Npy);
    Some(form).filter(|form| *form != Source::Npy)
}

/// Appends the values in a file to an array.
pub(super) fn append(array: &mut Array, axis: usize, form: Source, input: &mut Input) -> Result<()> {
    if form == Source::Csv {
        return Err(Failure::usage(
            "CSV does not tell how many indices are appended, expected JSON or a file of numpy",
        ));
    }
    let text = input.text()?;
    let broken = |message: String| Failure::data("invalid-metadata", format!("{}: {message}", input.name));
    let options = ParseOptions::default().nan_literals(true);
    let value = json::parse(text.as_bytes(), options).map_err(|error| broken(error.to_string()))?;
    let value = value.value.without_nan_literals();
    let mut shape = array.shape().to_vec();
    // The first of the arrays at each depth tells how many there are.
    let mut inner = Some(&value);
    for _ in 0..axis {
        inner = inner.and_then(Value::as_array).and_then(|items| items.first());
    }
    let added = inner.and_then(Value::as_array).map_or(0, |items| items.len() as u64);
    shape.get_mut(axis).into_iter().for_each(|len| *len = added);
    let mut values = Vec::new();
    flatten(value, &shape, &mut values).map_err(broken)?;
    with_view(&array.data_type().clone(), &shape, &values, |view| array.append(axis, view))
}

/// The values in a file, in C order of `shape`.
pub(super) fn read(form: Source, data_type: &DataType, shape: &[u64], input: &mut Input) -> Result<Vec<Value>> {
    let text = input.text()?;
    let broken = |message: String| Failure::data("invalid-metadata", format!("{}: {message}", input.name));
    if form == Source::Csv {
        return csv::values(data_type, shape, &text).map_err(broken);
    }
    // Python's NaN literal becomes a string.
    let options = ParseOptions::default().nan_literals(true);
    let value = json::parse(text.as_bytes(), options).map_err(|error| broken(error.to_string()))?;
    let mut values = Vec::new();
    flatten(value.value.without_nan_literals(), shape, &mut values).map_err(broken)?;
    Ok(values)
}

/// The values in nested arrays.
fn flatten(value: Value, shape: &[u64], into: &mut Vec<Value>) -> std::result::Result<(), String> {
    let Some((&len, inner)) = shape.split_first() else {
        into.push(value);
        return Ok(());
    };
    match value {
        Value::Array(items) if items.len() as u64 == len => {
            items.into_iter().try_for_each(|item| flatten(item, inner, into))
        }
        Value::Array(items) => Err(format!("an array of {}, expected {len}", number::grouped(items.len() as u64))),
        other => Err(format!("{}, expected an array of {len}", other.excerpt())),
    }
}

/// Writes values to a selection of `shape`.
pub(super) fn write(array: &Array, at: Selection, shape: &[u64], values: &[Value]) -> Result<()> {
    with_view(array.data_type(), shape, values, |view| array.write(at, view))
}

/// Hands values, as elements of a data type, to `f` in this shape.
fn with_view(
    data_type: &DataType,
    shape: &[u64],
    values: &[Value],
    f: impl FnOnce(View<'_>) -> zarr::Result<()>,
) -> Result<()> {
    let (items, heap) = items(data_type, values)?;
    let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let view = View::new(&items, data_type.item_size(), &dims).map_err(zarr::Error::from)?.with_heap(heap);
    Ok(f(view)?)
}

/// Writes one value to all elements of a selection.
pub(super) fn fill(array: &Array, selection: &Selection, text: &str, progress: &Transfer) -> Result<()> {
    let data_type = array.data_type();
    let value = cell(data_type, text);
    let wrong = |error: zarr::dtype::Error| Failure::usage(format!("--value {text}: {error}"));
    print::parse(data_type, &value).map_err(wrong)?;
    let (one, heap) = items(data_type, &[value])?;
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let item = (one.len() as u64).max(1);
    let mut pieces = Pieces::new(selection, &resolved, item, &array.chunk_grid().largest_chunk_shape(), PIECE);
    while let Some(piece) = pieces.next()? {
        let count = zarr::grid::element_count(&piece.shape).unwrap_or(u64::MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let items = one.repeat(count);
        let shape = array.selected_shape(&piece.selection)?;
        let view = View::new(&items, data_type.item_size(), &shape).map_err(zarr::Error::from)?;
        array.write(piece.selection, view.with_heap(heap.clone()))?;
        progress.add(count);
    }
    Ok(())
}

/// Values as elements of a data type, with the heap of those of variable length.
pub(super) fn items(data_type: &DataType, values: &[Value]) -> Result<(Vec<u8>, Option<Arc<Heap>>)> {
    let element = |(index, value): (usize, &Value)| {
        let wrong = |error: zarr::dtype::Error| Failure::data("invalid-metadata", format!("value {index}: {error}"));
        print::parse(data_type, value).map_err(wrong)
    };
    let elements = values.iter().enumerate().map(element);
    let heap = data_type.is_variable().then(|| Arc::new(Heap::new()));
    let items = match heap.as_deref() {
        Some(heap) => in_heap(elements, Some(heap))?,
        None => elements.collect::<Result<Vec<_>>>()?.concat(),
    };
    Ok((items, heap))
}

/// The value of a cell in a table: a string for types of strings or bytes and for years, else JSON, or a string such as `NaN`.
/// A JSON string with escapes of the form `\u001b`, as [`escape::cell`] writes it, is decoded.
pub(super) fn cell(data_type: &DataType, text: &str) -> Value {
    if let Some(text) = escape::from_cell(text) {
        return Value::from(text);
    }
    let is_string = matches!(
        data_type,
        DataType::String
            | DataType::FixedUtf32 { .. }
            | DataType::Bytes { .. }
            | DataType::FixedBytes { .. }
            | DataType::RawBytes { .. }
            | DataType::RawBits(_)
    ) || matches!(data_type, DataType::DateTime64(unit) if unit.unit == Unit::Year);
    let value =
        if is_string { None } else { Value::from_json(text.trim()).ok().or_else(|| foreign_number(text.trim())) };
    match value {
        Some(Value::Number(number)) if is_integer(data_type) => {
            // numpy.savetxt writes integers as 1.000000000000000000e+00.
            let integer = number.to_i128().and_then(|integer| Number::parse(&integer.to_string()));
            Value::Number(integer.unwrap_or(number))
        }
        Some(value) => value,
        None => Value::from(text),
    }
}

fn is_integer(data_type: &DataType) -> bool {
    matches!(data_type.class(), Some(Class::Signed | Class::Unsigned))
}

/// A number in a spelling that JSON does not have and tables do: `+1`, `.5`, `5.`, `nan`, `-inf`.
fn foreign_number(text: &str) -> Option<Value> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    match digits.to_ascii_lowercase().as_str() {
        "nan" => return Some(Value::from("NaN")),
        "inf" | "infinity" => return Some(Value::from(format!("{sign}Infinity"))),
        _ => {}
    }
    let (mantissa, exponent) = digits.split_at(digits.find(['e', 'E']).unwrap_or(digits.len()));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let or_zero = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    Number::parse(&format!("{sign}{}.{}{exponent}", or_zero(whole), or_zero(fraction))).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr::meta::json;

    #[test]
    fn numbers_of_other_software_are_read() {
        for (text, value) in [
            ("nan", json!("NaN")),
            ("-NaN", json!("NaN")),
            ("inf", json!("Infinity")),
            ("-Infinity", json!("-Infinity")),
            ("+1.5", json!(1.5)),
            ("-.5", json!(-0.5)),
            ("5.", json!(5.0)),
            (" 1E5 ", Value::from_json("1E5").unwrap()),
        ] {
            assert_eq!(cell(&DataType::Float64, text), value, "{text}");
        }
        // As numpy.savetxt writes integers.
        assert_eq!(cell(&DataType::UInt64, "2.500000000000000000e+02"), json!(250));
        assert_eq!(cell(&DataType::Int4, "-1.000000000000000000e+00"), json!(-1));
        assert_eq!(cell(&DataType::Int8, "+7"), json!(7));
        assert_eq!(cell(&DataType::Int8, "1.5"), json!(1.5));
        assert_eq!(cell(&DataType::String, "nan"), json!("nan"));
        for text in ["", ".", "+", "e5", "1,5", "1e", "0x10", "--1", "NA", "1.5.2"] {
            assert_eq!(cell(&DataType::Float32, text), Value::from(text), "{text}");
        }
    }
}
