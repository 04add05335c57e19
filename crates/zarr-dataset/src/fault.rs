//! Search for the element of a chunk that cannot be decoded, to name it in the error.

use crate::{Error, ErrorKind, decoded};
use zarr_array::Array;
use zarr_cf::encoding::Encoding;

/// Maximum number of bytes of a chunk whose elements are searched.
const LARGEST: u128 = 256 << 20;

/// Adds to the error of a decoding read the index, in the array, of the first element of the chunk that cannot be decoded: the codec sees a
/// part of a chunk, and does not know its position. Returns the error unchanged if no such element is found.
pub(crate) fn with_index(error: Error, stored: &Array, encoding: &Encoding) -> Error {
    match found(&error, stored, encoding) {
        Some(message) => {
            let location = error.location().clone();
            Error::new(error.kind(), message).at(|known| *known = location)
        }
        None => error,
    }
}

fn found(error: &Error, stored: &Array, encoding: &Encoding) -> Option<String> {
    let chunk = error.location().chunk.as_ref().filter(|_| error.kind() == ErrorKind::CorruptChunk)?;
    let region = stored.chunk_grid().chunk_region(chunk);
    let (shape, item) = (region.shape(), stored.data_type().item_size());
    if zarr_grid::total_size(&shape, item as u64) > LARGEST {
        return None;
    }
    let data = stored.read_data(&region).ok()?;
    let decoder = decoded::decoder(stored, encoding).ok()?;
    let size = decoder.data_type().item_size();
    let mut values = Vec::new();
    let mut fault = |start: usize, end: usize| {
        values.resize((end - start) * size, 0);
        let items = data.items().get(start * item..end * item)?;
        decoder.decode(items, &mut values).err()
    };
    let (mut start, mut end) = (0, data.len());
    let mut what = fault(start, end)?;
    while end - start > 1 {
        let middle = start + (end - start) / 2;
        match fault(start, middle) {
            Some(earlier) => (what, end) = (earlier, middle),
            None => start = middle,
        }
    }
    // Of this element alone.
    what = fault(start, end).unwrap_or(what);
    let mut left = start as u64;
    let mut index = vec![0; shape.len()];
    for ((number, axis), len) in index.iter_mut().zip(region.axes()).zip(&shape).rev() {
        *number = axis.start + left % len;
        left /= len;
    }
    Some(format!("element {index:?}: {}", what.replacen(" at index 0", "", 1)))
}
