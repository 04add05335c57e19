use smallvec::SmallVec;

/// The number of elements along each axis, outermost first. Empty for a 0-d array.
pub type Shape = SmallVec<[u64; 6]>;

/// The position of a chunk in its grid, counted in chunks along each axis. Empty for a 0-d array.
pub type ChunkIndex = SmallVec<[u64; 6]>;

/// The product of `shape`: 1 for a 0-d shape, 0 as soon as one axis is empty, `None` if it does not fit 64 bits.
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
