//! How many bytes elements take in memory.

use zarr_array::Array;
use zarr_grid::Region;
use zarr_hierarchy::{Error, Result};

/// How many positions of an array of elements of variable length are looked at for their usual length.
const SAMPLES: u64 = 3;

/// Bytes that an element of an array takes in memory. Of elements of variable length a few positions are read, and twice their usual length
/// is taken; those whose error `is_passed_over` do not count.
///
/// # Errors
/// As [`Array::read_data`].
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
