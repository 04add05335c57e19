//! Elements from JSON and CSV files.

mod csv;
mod json;
mod scan;

use super::spool::{Spool, SpooledElements, in_heap};
use super::{Input, InputForm, PIECE, Write};
use crate::commands::transfer::Transfer;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::selection_pieces::{Order, SelectionPieces};
use scan::Scanner;
use std::sync::Arc;
use zarr::codec::View;
use zarr::dtype::{Class, DataType, Heap, Unit, print};
use zarr::meta::json::{Number, Value};
use zarr::{Array, Selection};

/// Greatest number of bytes of elements from JSON or CSV that are in memory at once.
const TEXT_PIECE: u64 = 64 << 20;
/// Greatest length of the text of an element of variable length, in bytes: the codecs store lengths in 4 bytes.
const LONGEST: usize = u32::MAX as usize;

/// Returns the form of the input file; `None` for a file of numpy.
pub(super) fn form(args: &Write) -> Option<InputForm> {
    let form = args.form.or_else(|| InputForm::by_name(args.from.as_deref()?)).unwrap_or(InputForm::Npy);
    Some(form).filter(|form| *form != InputForm::Npy)
}

/// Reads the elements of a file that are appended along `axis` to an array of `shape`. Changes the length of `shape` along `axis` to the
/// number of indices that the file has, so that `shape` is that of the returned elements.
pub(super) fn appended(
    form: InputForm,
    data_type: &DataType,
    (shape, axis): (&mut [u64], usize),
    input: &mut Input,
) -> Result<SpooledElements> {
    if form == InputForm::Csv {
        return Err(Failure::usage(
            "CSV does not tell how many indices are appended, expected JSON or a file of numpy",
        ));
    }
    let mut lengths: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
    lengths.get_mut(axis).into_iter().for_each(|len| *len = None);
    let mut spool = Spool::new(data_type);
    let mut scanner = Scanner::new(&input.name, &mut input.input);
    json::read(&mut scanner, data_type, &mut lengths, &mut spool)?;
    shape.iter_mut().zip(lengths).for_each(|(len, found)| *len = found.unwrap_or(0));
    spool.finish()
}

/// Reads all elements of a file, in C order of `shape`. A surplus element is an error.
pub(super) fn read(form: InputForm, data_type: &DataType, shape: &[u64], input: &mut Input) -> Result<SpooledElements> {
    let mut spool = Spool::new(data_type);
    let mut scanner = Scanner::new(&input.name, &mut input.input);
    match form {
        InputForm::Csv => csv::read(&mut scanner, data_type, shape, &mut spool)?,
        _ => {
            let mut lengths: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
            json::read(&mut scanner, data_type, &mut lengths, &mut spool)?;
        }
    }
    spool.finish()
}

/// Returns the greatest length of the text of an element, in bytes. For elements of fixed size the limit is many times what any element
/// needs.
fn longest_text(data_type: &DataType) -> usize {
    match data_type.is_variable() {
        true => LONGEST,
        false => data_type.item_size().saturating_mul(32).saturating_add(64 << 10),
    }
}

/// Writes elements to a selection, piece by piece.
pub(super) fn write(
    array: &Array,
    selection: &Selection,
    spooled: &mut SpooledElements,
    progress: &Transfer,
) -> Result<()> {
    let (item, resolved) = (spooled.item_size(), selection.resolve_on(array.chunk_grid())?);
    let chunk = array.chunk_grid().largest_chunk_shape();
    let mut pieces = SelectionPieces::new(selection, &resolved, item, &chunk, TEXT_PIECE);
    while let Some(piece) = pieces.next()? {
        let count = zarr::grid::element_count(&piece.shape).unwrap_or(u64::MAX);
        let block = spooled.take(count)?;
        let shape = array.selected_shape(&piece.selection)?;
        array.write(piece.selection, block.view_in(Order::C, array.data_type(), &shape)?)?;
        progress.add(usize::try_from(count).unwrap_or(usize::MAX));
    }
    Ok(())
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
    let mut pieces = SelectionPieces::new(selection, &resolved, item, &array.chunk_grid().largest_chunk_shape(), PIECE);
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

/// Converts JSON values to elements of a data type, with a heap if the type has variable length.
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

/// Returns the JSON value of a table cell: a string for types of strings or bytes and for years, else JSON, or a string such as `NaN`. A
/// JSON string with escapes of the form `\u001b`, as [`escape::cell`] writes it, is decoded.
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

/// Parses a number in a spelling of tables that JSON lacks: `+1`, `.5`, `5.`, `nan`, `-inf`.
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
