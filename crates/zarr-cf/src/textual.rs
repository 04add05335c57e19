//! Elements that are strings or byte strings.

use std::borrow::Cow;
use zarr_dtype::DataType;

/// Returns whether elements are strings or byte strings.
#[must_use]
pub fn is_textual(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(
        data_type,
        D::String | D::Bytes { .. } | D::FixedBytes { .. } | D::FixedUtf32 { .. } | D::RawBytes { .. } | D::RawBits(_)
    )
}

/// Returns bytes without the NULs at their end.
#[must_use]
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.get(..len).unwrap_or_default()
}

/// Returns the content of a string or byte string element, for comparison: without NULs at the end, strings in UTF-8.
#[must_use]
pub fn content<'e>(data_type: &DataType, element: &'e [u8]) -> Cow<'e, [u8]> {
    match data_type {
        DataType::FixedUtf32 { .. } => {
            let points = element.as_chunks::<4>().0.iter().map(|&point| u32::from_ne_bytes(point));
            let text: String =
                points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            Cow::Owned(text.trim_end_matches('\0').as_bytes().to_vec())
        }
        DataType::FixedBytes { .. } => Cow::Borrowed(trimmed(element)),
        _ => Cow::Borrowed(element),
    }
}
