//! Pictures of Zarr arrays.
//!
//! A [`ColorMap`] is a table of colours, a [`Range`] says which values its ends stand for, and a [`Coloring`] is both: it makes pixels of
//! values, grey ones of missing values.
//!
//! ```
//! use zarr_view::{ColorMap, Coloring, Range};
//!
//! let values = [0.0, 1.0, f64::NAN, 4.0];
//! let (first, last) = Range::Full.of(&values, false).unwrap_or((0.0, 1.0));
//! let coloring = Coloring::new(ColorMap::VIRIDIS, first, last);
//! assert_eq!(coloring.pixel(4.0), [253, 231, 37]);
//! assert_eq!(coloring.pixel(f64::NAN), Coloring::MISSING);
//! ```

mod color_map;
mod coloring;
mod range;

pub use color_map::{ColorMap, Rgb};
pub use coloring::Coloring;
pub use range::{Range, RangeError};
