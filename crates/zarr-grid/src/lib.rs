//! Geometry of chunked arrays: shapes, regions, selections, chunk grids, chunk keys.
//!
//! The crate does no I/O and knows neither codecs nor element types: it only computes with positions.
//!
//! ```
//! use zarr_grid::{ChunkGrid, Region};
//!
//! let grid = ChunkGrid::regular(&[1000, 1000], &[100, 400])?;
//! let overlaps = grid.intersect(&Region::from_ranges(&[150..310, 390..410]));
//! assert_eq!(overlaps.len(), 6);
//! assert_eq!(overlaps.get(0).index.as_slice(), [1, 0]);
//! assert_eq!(overlaps.get(0).region, Region::from_ranges(&[50..100, 390..400]));
//! # Ok::<(), zarr_grid::Error>(())
//! ```

mod config;
mod error;
mod factors;
mod grid;
mod key;
mod overlaps;
mod points_by_chunk;
mod region;
mod resolved;
mod selected_elements;
mod selection;
mod shape;

pub use error::{Error, Result};
pub use factors::{first_picked, gcd, lcm, level_factors};
pub use grid::{AxisChunks, BoundedGrid, ChunkGrid, RectilinearGrid, RegularGrid, Run};
pub use key::{ChunkKeyEncoding, Separator};
pub use overlaps::{AxisOverlap, AxisOverlaps, ChunkOverlap, ChunkOverlapIter, ChunkOverlaps, Cursor};
pub use region::{AxisRange, Region};
pub use resolved::{
    AxisIndices, BoxSelection, CoordinateSelection, MaskSelection, OrthogonalSelection, Resolved, SelectedIndex,
};
pub use selected_elements::{CopyRun, ElementsByChunk, SelectedElements};
pub use selection::{AxisSelection, IntoSelection, Selection};
pub use shape::{ChunkIndex, Shape, element_count, total_size};
