//! Boxes of elements that are hashed together. They depend only on shape and data type.

use zarr_dtype::DataType;
use zarr_grid::ChunkGrid;

/// Greatest number of elements of a box.
const MOST: u64 = 1 << 18;
/// Greatest size of a box in bytes, unless a single element is larger.
const LARGEST: u64 = 4 << 20;
/// Assumed size of an element of variable length, in bytes.
const VARIABLE: u64 = 64;

/// Returns the lengths of a box along the axes of an array: powers of two, so that box bounds coincide with those of usual chunks.
///
/// A box has at most 2^18 elements, and at most 4 MiB unless a single element is larger; an element of variable length counts as 64
/// bytes. Initially each length is the least power of two that is not below the length of the array along that axis. While the box is
/// too large, its longest length is halved; if several are longest, that of the first axis.
///
/// ```
/// use zarr_compare::box_shape;
/// use zarr_dtype::DataType;
///
/// assert_eq!(box_shape(&[8760, 721, 1440], &DataType::Float32), [64, 64, 64]);
/// assert_eq!(box_shape(&[1_000_000], &DataType::UInt8), [1 << 18]);
/// assert_eq!(box_shape(&[3, 5000, 5000], &DataType::UInt8), [4, 256, 256]);
/// assert_eq!(box_shape(&[100, 100], &DataType::String), [128, 128]);
/// ```
pub fn box_shape(shape: &[u64], data_type: &DataType) -> Vec<u64> {
    let size = if data_type.is_variable() { VARIABLE } else { (data_type.item_size() as u64).max(1) };
    let mut most = MOST;
    while most > 1 && most.saturating_mul(size) > LARGEST {
        most /= 2;
    }
    let powers: Vec<u32> =
        shape.iter().map(|&len| len.checked_next_power_of_two().unwrap_or(1 << 63).trailing_zeros()).collect();
    // By halving the longest again and again, all that are above some power come down to it, and then the first of them to the one below. It
    // is found at once: a file that says how long the boxes are may name very many axes.
    let most = u64::from(most.trailing_zeros());
    let sum = |limit: u32| powers.iter().map(|&power| u64::from(power.min(limit))).sum::<u64>();
    let limit = (0..u64::BITS).find(|&limit| sum(limit) >= most).unwrap_or(u64::BITS);
    let mut above = sum(limit).saturating_sub(most);
    let length = |&power: &u32| {
        let is_halved = above > 0 && power >= limit;
        above -= u64::from(is_halved);
        1 << (power.min(limit) - u32::from(is_halved))
    };
    powers.iter().map(length).collect()
}

/// Returns the boxes of an array as a chunk grid. Boxes at the ends of the array are cut.
pub(crate) fn boxes(shape: &[u64], data_type: &DataType) -> zarr_grid::Result<ChunkGrid> {
    ChunkGrid::regular(shape, &box_shape(shape, data_type))
}

/// Returns the position of a box in C order; `counts` is the number of boxes along each axis.
pub(crate) fn number(counts: &[u64], index: &[u64]) -> u64 {
    index.iter().zip(counts).fold(0, |number, (index, count)| number.wrapping_mul(*count).wrapping_add(*index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn large_elements_lie_in_boxes_of_few() {
        let huge = DataType::RawBytes { len: 64 << 20 };
        assert_eq!(box_shape(&[10, 10], &huge), [1, 1]);
        assert_eq!(box_shape(&[10, 10], &DataType::RawBytes { len: 1 << 20 }), [2, 2]);
        assert_eq!(box_shape(&[1 << 10, 1 << 10], &DataType::Complex128), [512, 512]);
        assert!(box_shape(&[], &DataType::Int8).is_empty());
        assert_eq!(box_shape(&[0, 7], &DataType::Int8), [1, 8]);
        assert_eq!(box_shape(&[u64::MAX], &DataType::Int8), [1 << 18]);
    }

    #[test]
    fn very_many_axes_take_no_time() {
        let lengths = box_shape(&vec![3; 1 << 20], &DataType::Int8);
        // All but the last 18 are halved twice.
        assert_eq!(lengths.iter().filter(|&&length| length == 2).count(), 18);
        assert!(lengths.iter().rev().take(18).all(|&length| length == 2) && lengths.iter().all(|&length| length < 4));
    }

    /// Computes the box shape literally by its definition.
    fn by_definition(shape: &[u64], most: u64) -> Vec<u64> {
        let mut lengths: Vec<u64> = shape.iter().map(|len| len.next_power_of_two()).collect();
        while lengths.iter().map(|&len| u128::from(len)).product::<u128>() > most.into() {
            let longest = lengths.iter().copied().max().unwrap();
            *lengths.iter_mut().find(|length| **length == longest).unwrap() /= 2;
        }
        lengths
    }

    proptest! {
        #[test]
        fn boxes_are_those_of_the_definition(
            shape in proptest::collection::vec((0_u64..1 << 40, 0_u32..40).prop_map(|(len, by)| len >> by), 0..4),
            large in 0_u32..22,
        ) {
            let most = MOST.min(LARGEST >> large);
            prop_assert_eq!(box_shape(&shape, &DataType::RawBytes { len: 1 << large }), by_definition(&shape, most));
        }

        #[test]
        fn boxes_are_as_large_as_may_be(shape in proptest::collection::vec(1_u64..1 << 40, 1..6), size in 1_u32..1000) {
            let lengths = box_shape(&shape, &DataType::RawBytes { len: size });
            let count: u64 = lengths.iter().product();
            prop_assert!(count <= MOST && (count == 1 || count * u64::from(size) <= LARGEST));
            let is_whole = lengths.iter().zip(&shape).all(|(length, len)| length >= len);
            prop_assert!(is_whole || count == MOST || count * 2 * u64::from(size) > LARGEST);
        }
    }
}
