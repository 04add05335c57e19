//! Geometry of chunked arrays: shapes, regions, selections, chunk grids, chunk keys.
//!
//! It does no I/O and knows neither codecs nor element types: everything here is arithmetic on positions.

mod config;
mod cuts;
mod error;
mod grid;
mod key;
mod parts;
mod region;
mod resolved;
mod selection;
mod shape;

pub use cuts::{AxisCuts, Cell, Cells, Cursor, Cut, Cuts};
pub use error::{Error, Result};
pub use grid::{AxisChunks, ChunkGrid, RectilinearGrid, RegularGrid, Run};
pub use key::{ChunkKeyEncoding, Separator};
pub use parts::{Move, Part, Parts};
pub use region::{AxisRange, Region};
pub use resolved::{AxisPicks, BoxSelection, OrthogonalSelection, Pick, PointSelection, Resolved};
pub use selection::{AxisSelection, IntoSelection, Selection};
pub use shape::{ChunkIndex, Shape, element_count, total_size};
