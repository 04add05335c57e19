//! How many elements there are along axes, and how far apart they lie.

use smallvec::SmallVec;

/// Lengths of a view per axis, in elements.
pub type Dims = SmallVec<[usize; 6]>;
/// Distances between neighbouring elements per axis, in bytes; may be negative.
pub type Strides = SmallVec<[isize; 6]>;
