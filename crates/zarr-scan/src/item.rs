//! Size of elements in memory.

use zarr_array::Array;
use zarr_grid::Region;
use zarr_hierarchy::{Error, Result};

/// Number of parts of an array that are read to estimate the usual length of elements of variable length.
const SAMPLES: u64 = 3;

/// Returns the number of bytes that an element of an array takes in memory. For elements of variable length it reads a few parts of the
/// array, and takes twice their usual length. Parts whose read fails with an error that `is_passed_over` accepts do not count.
///
/// # Errors
/// The errors of [`Array::read_data`].
pub fn usual_item_size(array: &Array, is_passed_over: impl Fn(&Error) -> bool) -> Result<u64> {
    let item = array.data_type().item_size() as u64;
    if !array.data_type().is_variable() {
        return Ok(item);
    }
    let (mut elements, mut bytes) = (0_u64, 0_u64);
    for sample in 0..SAMPLES {
        let part = array.part_shape();
        let range = |(&len, &part): (&u64, &u64)| {
            let part = part.min(len);
            let start = (len - part) / (SAMPLES - 1) * sample;
            start..start + part
        };
        let ranges: Vec<_> = array.shape().iter().zip(&part).map(range).collect();
        let data = match array.read_data(Region::from_ranges(&ranges)) {
            Err(error) if is_passed_over(&error) => continue,
            data => data?,
        };
        elements += data.len() as u64;
        bytes += data.heap().map_or(0, |heap| heap.size());
    }
    // Twice the usual length: other positions may have longer ones, and writing copies them.
    Ok(item + 2 * bytes.div_ceil(elements.max(1)))
}
