//! Strings: joining characters, decoding bytes, marking missing strings.

use crate::attribute::{invalid, unmarked};
use crate::values::Values;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_array::ArrayData;
use zarr_cf::encoding::Encoding;
use zarr_cf::fill::Fill;
use zarr_cf::textual::content;
use zarr_dtype::{DataType, Heap};

/// Joins characters, elements of one byte, along the last axis to byte strings.
///
/// # Errors
/// [`ErrorKind::Limit`] for strings beyond 4 GiB.
pub(crate) fn join(characters: &ArrayData) -> Result<ArrayData> {
    let Some((&len, shape)) = characters.shape().split_last() else { return Ok(characters.clone()) };
    if len == 0 {
        // numpy has no strings of 0 bytes.
        let count = usize::try_from(zarr_grid::total_size(shape, 1)).unwrap_or(usize::MAX);
        let mut zeros: Vec<u8> = Vec::new();
        let memory = |_| Error::new(ErrorKind::Limit, format!("no memory for {count} empty strings"));
        zeros.try_reserve_exact(count).map_err(memory)?;
        zeros.resize(count, 0);
        return ArrayData::from_items(&DataType::FixedBytes { len: 1 }, shape, &zeros, None);
    }
    let len = u32::try_from(len)
        .map_err(|_| Error::new(ErrorKind::Limit, format!("found {len} characters, expected at most 2^32")))?;
    ArrayData::from_items(&DataType::FixedBytes { len }, shape, characters.items(), None)
}

/// Decodes byte strings by the encoding that the attribute `_Encoding` names.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] for an unknown encoding, [`ErrorKind::CorruptChunk`] for bytes that are invalid in it.
pub(crate) fn decode(bytes: &ArrayData, encoding: &str) -> Result<ArrayData> {
    let decode: fn(&[u8]) -> Option<String> = match charset(encoding)? {
        Charset::Utf8 => |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned),
        Charset::Ascii => |bytes| bytes.is_ascii().then(|| bytes.iter().map(|&byte| char::from(byte)).collect()),
        Charset::Latin1 => |bytes| Some(bytes.iter().map(|&byte| char::from(byte)).collect()),
    };
    let mut strings = Vec::with_capacity(bytes.len());
    for index in 0..bytes.len() {
        let element = element(bytes, index);
        let string = decode(&content(bytes.data_type(), &element));
        strings.push(string.ok_or_else(|| {
            let found: String = element.escape_ascii().to_string();
            Error::new(ErrorKind::CorruptChunk, format!("element {index}: found b\"{found}\", expected {encoding}"))
        })?);
    }
    ArrayData::from_elements(&DataType::String, bytes.shape(), &strings)
}

/// Character encoding of stored strings.
#[derive(Clone, Copy)]
enum Charset {
    Utf8,
    Ascii,
    Latin1,
}

/// Returns the character encoding that an attribute `_Encoding` names, by Python's names for encodings.
fn charset(encoding: &str) -> Result<Charset> {
    let name: String = encoding.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    match name.as_str() {
        "utf8" | "u8" => Ok(Charset::Utf8),
        "ascii" | "usascii" | "646" => Ok(Charset::Ascii),
        "latin1" | "iso88591" | "l1" => Ok(Charset::Latin1),
        _ => Err(invalid("_Encoding", &format!("{encoding:?}"), "utf-8, ascii or latin-1")),
    }
}

/// Returns the number of bytes of the longest string, in the encoding of the given name.
///
/// # Errors
/// For an unknown encoding.
pub(crate) fn longest(values: &Values, encoding: &str) -> Result<usize> {
    let charset = charset(encoding)?;
    let data = values.data();
    let len = |index: usize| {
        let bytes = content(data.data_type(), &element(data, index)).into_owned();
        // A string that the set does not have is an error where it is encoded.
        in_charset(&bytes, charset).map_or(bytes.len(), |bytes| bytes.len())
    };
    Ok((0..data.len()).map(len).max().unwrap_or(0))
}

/// Encodes strings or byte strings to elements of type `stored`; to single characters if `characters`, the number of characters per string,
/// is given.
///
/// # Errors
/// For a string that is too long, that has characters which the encoding lacks, or that is missing if no value marks missing data.
pub(crate) fn encode(
    values: &Values,
    stored: &DataType,
    characters: Option<u64>,
    encoding: &Encoding,
) -> Result<ArrayData> {
    let data = values.data();
    if data.data_type() == stored && values.missing.is_none() && characters.is_none() {
        return Ok(data.clone());
    }
    let charset = encoding.strings.as_deref().map(charset).transpose()?;
    let is_text = matches!(data.data_type(), DataType::String | DataType::FixedUtf32 { .. });
    let mut contents = Vec::with_capacity(data.len());
    for index in 0..data.len() {
        if values.missing.as_ref().is_some_and(|missing| missing.get(index) == Some(&true)) {
            let Some(Fill::Bytes(fill)) = encoding.fills.first() else { return Err(unmarked(index, stored)) };
            contents.push(fill.clone());
            continue;
        }
        let bytes = content(data.data_type(), &element(data, index)).into_owned();
        contents.push(match charset.filter(|_| is_text) {
            None | Some(Charset::Utf8) => bytes,
            Some(charset) => in_charset(&bytes, charset).ok_or_else(|| {
                let name = encoding.strings.as_deref().unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Error::argument(format!("value {index} is {text:?}, which has characters that {name} has not"))
            })?,
        });
    }
    let shape = data.shape();
    match (stored, characters) {
        (DataType::FixedBytes { len: 1 }, Some(len)) => {
            let shape: Vec<u64> = shape.iter().copied().chain([len]).collect();
            ArrayData::from_items(stored, &shape, &padded(&contents, len)?, None)
        }
        (DataType::FixedBytes { len }, None) => {
            ArrayData::from_items(stored, shape, &padded(&contents, u64::from(*len))?, None)
        }
        (DataType::String | DataType::FixedUtf32 { .. }, None) => {
            let texts: Result<Vec<String>> = contents.into_iter().enumerate().map(to_text).collect();
            ArrayData::from_elements(stored, shape, &texts?)
        }
        _ => ArrayData::from_elements(stored, shape, &contents),
    }
}

fn to_text((index, bytes): (usize, Vec<u8>)) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let found = error.as_bytes().escape_ascii().to_string();
        Error::argument(format!("value {index} is b\"{found}\", expected a string in UTF-8"))
    })
}

fn in_charset(utf8: &[u8], charset: Charset) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(utf8).ok()?;
    match charset {
        Charset::Utf8 => Some(utf8.to_vec()),
        Charset::Ascii => text.is_ascii().then(|| utf8.to_vec()),
        Charset::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect(),
    }
}

/// Returns byte strings padded with NULs to `len` bytes each.
fn padded(contents: &[Vec<u8>], len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut items = Vec::new();
    let count = contents.len();
    let memory = |_| Error::new(ErrorKind::Limit, format!("no memory for {count} strings of {len} bytes"));
    items.try_reserve_exact(len.saturating_mul(count)).map_err(memory)?;
    for (index, bytes) in contents.iter().enumerate() {
        let Some(padding) = len.checked_sub(bytes.len()) else {
            let found = bytes.len();
            return Err(Error::argument(format!("value {index} has {found} bytes, expected at most {len}")));
        };
        items.extend_from_slice(bytes);
        items.resize(items.len() + padding, 0);
    }
    Ok(items)
}

/// Returns which elements the variable marks as missing; `None` if it has no mark for missing data.
pub(crate) fn missing(data: &ArrayData, encoding: &Encoding) -> Option<Vec<bool>> {
    if encoding.fills.is_empty() {
        return None;
    }
    let data_type = data.data_type().storage();
    let is_missing = |index: usize| {
        let element = element(data, index);
        encoding.fills.iter().any(|fill| fill.is(data_type, &element))
    };
    Some((0..data.len()).map(is_missing).collect())
}

/// Returns the bytes of an element; for elements of variable length the content.
fn element(data: &ArrayData, index: usize) -> Vec<u8> {
    let size = data.data_type().item_size();
    let item = data.items().get(index * size..(index + 1) * size).unwrap_or_default();
    match data.heap() {
        Some(heap) => in_heap(heap, item),
        None => item.to_vec(),
    }
}

fn in_heap(heap: &Arc<Heap>, item: &[u8]) -> Vec<u8> {
    let reference = item.try_into().ok().map(zarr_dtype::HeapRef::from_bytes);
    reference.and_then(|reference| heap.get(reference)).unwrap_or_default().to_vec()
}
