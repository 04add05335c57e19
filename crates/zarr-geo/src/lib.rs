//! [GeoZarr](https://github.com/zarr-developers/geozarr-spec) attributes of Zarr arrays and groups: where on Earth their elements are.
//!
//! Three conventions make up GeoZarr. [`proj`](https://github.com/zarr-conventions/geo-proj) names the coordinate reference system,
//! [`spatial`](https://github.com/zarr-conventions/spatial) says which dimensions are y and x and how indices become coordinates, and
//! [`multiscales`](https://github.com/zarr-conventions/multiscales) lists the levels of a pyramid. A [`Georeference`] is what the
//! attributes of one node say by all three; it is read, checked and written. [`grid_mapping`] converts a coordinate reference system from
//! and to the variables by which the CF conventions describe it, and [`wkt2`] describes one by its parameters.
//!
//! Nothing is reprojected, and no database of coordinate reference systems is needed: codes, WKT and PROJJSON are kept as they are.
//!
//! ```
//! use zarr_geo::{Crs, Georeference, Transform};
//! use zarr_json::Map;
//!
//! let scene = Georeference::new()
//!     .crs(Crs::epsg(32633))
//!     .dimensions("y", "x")
//!     .transform(Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]))
//!     .shape(1024, 976);
//! let mut attributes = Map::new();
//! scene.write(&mut attributes).unwrap();
//! assert_eq!(attributes.get("proj:code").and_then(|code| code.as_str()), Some("EPSG:32633"));
//!
//! let read = Georeference::read(&attributes).unwrap();
//! assert!(read.faults.is_empty());
//! assert_eq!(read.extent(), Some([500_000.0, 4_989_760.0, 509_760.0, 5_000_000.0]));
//! assert_eq!(read.to_string(), "EPSG:32633, pixels of 10 x 10, x 500000 to 509760, y 4989760 to 5000000");
//! ```

mod conventions;
mod crs;
mod facts;
mod georeference;
pub mod grid_mapping;
mod level;
mod read;
mod rules;
#[cfg(test)]
mod tests;
mod transform;
mod unit;
pub mod wkt2;
mod write;

pub use conventions::{ATTRIBUTE, Convention};
pub use crs::Crs;
pub use georeference::{Georeference, Registration};
pub use level::Level;
pub use transform::{Transform, regular_step};
pub use zarr_json::pointer::ValueError;
