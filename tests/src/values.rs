//! Elements in files of fixtures, compared with the elements of arrays.

use crate::Fault;
use crate::expected::{Encoding, ExpectedData};
use crate::fixtures::Case;
use zarr_array::ArrayData;
use zarr_dtype::{ByteOrder, DataType};
use zarr_json::Value;

/// Compares the elements of an array with the elements that a case expects.
///
/// # Errors
/// A message about the indices of the elements that differ.
pub(crate) fn compare(case: &Case, expected: &ExpectedData, found: &ArrayData) -> Result<(), Fault> {
    let file = case.file(&expected.file)?;
    let undefined = expected.undefined.as_ref().map(|mask| case.file(mask)).transpose()?;
    let counts = |index: usize| undefined.as_ref().is_none_or(|mask| mask.get(index) != Some(&1));
    match expected.encoding {
        Encoding::Raw => {
            let size = found.data_type().item_size().max(1);
            let bytes = little_endian(found.data_type(), found.items());
            let pairs = file.chunks(size).zip(bytes.chunks(size));
            differing(file.len() / size, found.len(), pairs.map(|(file, found)| file == found), counts)
        }
        Encoding::Variable => {
            let file = variable(&file)?;
            let items = match found.data_type() {
                DataType::VlenArray(items) => items,
                whole => whole,
            };
            let found: Vec<_> = found.variable().ok_or("elements of fixed size")?.collect();
            let pairs = file.iter().zip(&found).map(|(file, found)| **file == little_endian(items, found));
            differing(file.len(), found.len(), pairs, counts)
        }
        Encoding::Json => {
            let text = std::str::from_utf8(&file).map_err(|error| error.to_string())?;
            let file = Value::from_json(text).map_err(|error| error.to_string())?;
            let file = file.as_array().unwrap_or_default();
            let pairs = file.iter().enumerate().map(|(index, file)| file.semantically_eq(&found.json(index)));
            differing(file.len(), found.len(), pairs, counts)
        }
    }
}

/// Returns an error if lengths differ, or with the indices of elements that differ, among the indices for which `counts` returns true.
fn differing(
    expected: usize,
    found: usize,
    equal: impl Iterator<Item = bool>,
    counts: impl Fn(usize) -> bool,
) -> Result<(), Fault> {
    if expected != found {
        return Err(format!("found {found} elements, expected {expected}"));
    }
    let positions: Vec<_> = equal.enumerate().filter(|(index, equal)| !equal && counts(*index)).collect();
    match positions.first() {
        Some((first, _)) => Err(format!("{} of {found} elements differ, the first at {first}", positions.len())),
        None => Ok(()),
    }
}

/// Returns elements in memory form with the bytes of each number in little-endian order.
pub(crate) fn little_endian(data_type: &DataType, items: &[u8]) -> Vec<u8> {
    let mut bytes = items.to_vec();
    data_type.layout().swap(&ByteOrder::Little, &mut bytes);
    bytes
}

/// Splits a file of elements of variable length.
fn variable(file: &[u8]) -> Result<Vec<&[u8]>, Fault> {
    let mut elements = Vec::new();
    let mut rest = file;
    while let Some((len, after)) = rest.split_first_chunk() {
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let (element, after) = after.split_at_checked(len).ok_or("the file of elements ends early")?;
        elements.push(element);
        rest = after;
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_elements_differ() {
        let check = |expected, equal: &[bool], mask: &[usize]| {
            differing(expected, equal.len(), equal.iter().copied(), |index| !mask.contains(&index)).err()
        };
        assert_eq!(check(2, &[true, true], &[]), None);
        assert_eq!(check(3, &[true, true], &[]).as_deref(), Some("found 2 elements, expected 3"));
        assert_eq!(check(2, &[true, false], &[]).as_deref(), Some("1 of 2 elements differ, the first at 1"));
        assert_eq!(check(2, &[true, false], &[1]), None);
    }

    #[test]
    fn elements_of_variable_length() {
        assert_eq!(variable(b"\x01\0\0\0a\0\0\0\0").unwrap(), [&b"a"[..], b""]);
        assert!(variable(b"\x02\0\0\0a").is_err());
    }
}
