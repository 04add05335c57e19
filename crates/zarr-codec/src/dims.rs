//! Lengths of the axes of views in elements, and distances between elements in bytes.

use smallvec::SmallVec;

/// Lengths of a view per axis, in elements.
pub type Dims = SmallVec<[usize; 6]>;
/// Distances between neighbouring elements per axis, in bytes; may be negative.
pub type Strides = SmallVec<[isize; 6]>;
