use smallvec::SmallVec;

/// Number of elements along each axis, outermost axis first. Empty for a 0-d array.
pub type Shape = SmallVec<[u64; 6]>;

/// Index of a chunk in its grid: number of chunks before it along each axis. Empty for a 0-d array.
pub type ChunkIndex = SmallVec<[u64; 6]>;

/// Returns the product of `shape`: 1 for a 0-d shape, 0 if an axis is empty, `None` if it exceeds 64 bits.
///
/// For shapes that are to fit in memory, such as a chunk or a selection. A whole array may have more elements, see [`total_size`].
///
/// ```
/// assert_eq!(zarr_grid::element_count(&[3, 4]), Some(12));
/// assert_eq!(zarr_grid::element_count(&[]), Some(1));
/// assert_eq!(zarr_grid::element_count(&[u64::MAX, 2, 0]), Some(0));
/// assert_eq!(zarr_grid::element_count(&[u64::MAX, 2]), None);
/// ```
pub fn element_count(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |n, &len| n.checked_mul(len))
}

/// Returns the size in bytes of an array of `shape` with `item` bytes per element, at most `u128::MAX`. With `item` 1 it is the number of
/// elements.
///
/// ```
/// assert_eq!(zarr_grid::total_size(&[1 << 40, 1 << 40], 8), 1 << 83);
/// assert_eq!(zarr_grid::total_size(&[1 << 62, 1 << 62, 1 << 62], 1), u128::MAX);
/// assert_eq!(zarr_grid::total_size(&[1 << 62, 1 << 62, 1 << 62, 0], 1), 0);
/// ```
pub fn total_size(shape: &[u64], item: u64) -> u128 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(u128::from(item), |size, &len| size.saturating_mul(u128::from(len)))
}
