//! Strings: characters put together, bytes decoded, and missing ones marked.

use crate::encoding::{Encoding, Fill, content, invalid};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_array::ArrayData;
use zarr_dtype::{DataType, Heap};

/// Elements of one byte whose last axis are the characters of strings, as one byte string each.
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

/// Byte strings as strings, by the attribute `_Encoding`.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] for an encoding that is not known, [`ErrorKind::CorruptChunk`] for bytes that are not of it.
pub(crate) fn decode(bytes: &ArrayData, encoding: &str) -> Result<ArrayData> {
    let name: String = encoding.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    let decode: fn(&[u8]) -> Option<String> = match name.as_str() {
        "utf8" | "u8" => |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned),
        "ascii" | "usascii" | "646" => {
            |bytes| bytes.is_ascii().then(|| bytes.iter().map(|&byte| char::from(byte)).collect())
        }
        "latin1" | "iso88591" | "l1" => |bytes| Some(bytes.iter().map(|&byte| char::from(byte)).collect()),
        _ => return Err(invalid("_Encoding", &format!("{encoding:?}"), "utf-8, ascii or latin-1")),
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

/// Which elements the variable marks as missing; `None` if it marks none so.
pub(crate) fn missing(data: &ArrayData, encoding: &Encoding) -> Option<Vec<bool>> {
    let fills: Vec<Vec<u8>> = encoding
        .fills
        .iter()
        .filter_map(|fill| match fill {
            Fill::Bytes(bytes) => Some(bytes.clone()),
            // Bools.
            Fill::Integer(value) => u8::try_from(*value).ok().map(|value| vec![value]),
            Fill::Float(_) | Fill::Complex(..) => None,
        })
        .collect();
    if fills.is_empty() {
        return None;
    }
    let is_missing = |index: usize| {
        let element = element(data, index);
        let content = content(data.data_type(), &element);
        fills.iter().any(|fill| **fill == *content)
    };
    Some((0..data.len()).map(is_missing).collect())
}

/// The bytes of an element, or its content where its length varies.
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
