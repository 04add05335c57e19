//! [OME-Zarr](https://ngff.openmicroscopy.org) images in Zarr groups, versions 0.4 to 0.6: their levels, axes, scales and channels.
//!
//! [`Multiscales`] is the metadata of images, read from the attributes of a group. An [`Image`] also has its levels as arrays. [`Metadata`]
//! has all members of OME-Zarr in the attributes of a group, such as a [`Plate`], a [`Well`] or a [list of labels](Listed). [`to_v05`]
//! converts metadata from 0.4 to 0.5, and [`to_v04`] from 0.5 to 0.4.
//!
//! ```
//! # use std::sync::Arc;
//! # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
//! use zarr_ome::Image;
//! # use zarr_json::json;
//!
//! # let mut registry = Registry::default();
//! # registry.codecs.add(zarr_codec_bytes::BYTES);
//! # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! # let level = |path: &str, scale: f64| json!({"path": (path), "coordinateTransformations": [{"type": "scale", "scale": [(scale), (scale)]}]});
//! # let axis = |name: &str| json!({"name": (name), "type": "space", "unit": "micrometer"});
//! # let image = json!({"version": "0.5", "multiscales": [{"axes": [(axis("y")), (axis("x"))], "datasets": [(level("0", 0.5)), (level("1", 1.0))]}]});
//! # let group = Group::create(&store, "/", NewGroup::new().attribute("ome", image), &Arc::new(registry))?;
//! # group.create_array("0", NewArray::new(&[512, 512], "uint16").codecs("bytes")?)?;
//! # group.create_array("1", NewArray::new(&[256, 256], "uint16").codecs("bytes")?)?;
//! let image = Image::open(&group)?.expect("a group with multiscales");
//! // The coarsest level that has 200 x 200 elements.
//! let (number, array) = image.level_of(&[(0, 200), (1, 200)])?;
//! assert_eq!((number, array.shape()), (1, &[256, 256][..]));
//! # Ok::<(), zarr_array::Error>(())
//! ```

mod attributes;
mod axis;
mod channel;
mod conversion;
mod coordinates;
pub mod document;
mod facts;
mod faults;
mod image;
mod label;
mod metadata;
mod multiscales;
mod new_image;
mod plate;
#[cfg(test)]
mod tests;
mod transform;
mod version;

pub use axis::{Axis, AxisKind};
pub use channel::Channel;
pub use conversion::{to_v04, to_v05, to_version, to_version_without};
pub use coordinates::scene_faults;
pub use image::Image;
pub use label::{ImageLabel, Listed};
pub use metadata::Metadata;
pub use multiscales::{Level, Multiscale, Multiscales};
pub use new_image::{NewImage, Reduction, level_factors};
pub use plate::{Acquisition, Field, Plate, Well, WellPlace};
pub use version::Version;
pub use zarr_array::{Error, ErrorKind, Result};
pub use zarr_json::pointer::ValueError;
