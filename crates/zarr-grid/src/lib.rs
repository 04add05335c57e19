//! Geometry of chunked arrays: shapes, regions, selections, chunk grids, chunk keys.
//!
//! It does no I/O and knows neither codecs nor element types: everything here is arithmetic on positions.

mod chunk_selections;
mod config;
mod error;
mod grid;
mod key;
mod overlaps;
mod region;
mod resolved;
mod selection;
mod shape;

pub use chunk_selections::{ChunkSelection, ChunkSelections, CopyRun};
pub use error::{Error, Result};
pub use grid::{AxisChunks, ChunkGrid, RectilinearGrid, RegularGrid, Run};
pub use key::{ChunkKeyEncoding, Separator};
pub use overlaps::{AxisOverlap, AxisOverlaps, ChunkOverlap, ChunkOverlapIter, ChunkOverlaps, Cursor};
pub use region::{AxisRange, Region};
pub use resolved::{AxisIndices, BoxSelection, CoordinateSelection, OrthogonalSelection, Resolved, SelectedIndex};
pub use selection::{AxisSelection, IntoSelection, Selection};
pub use shape::{ChunkIndex, Shape, element_count, total_size};
