//! Pictures of Zarr arrays: planes and lines, as PNG and in terminals.
//!
//! A [`Cut`] selects the part of an array that is shown, and [`Slice::read`] reads it: no more elements than the picture has pixels, and no
//! more chunks than a [`Budget`] permits. A [`Figure`] adds titles, [labels](AxisLabels) and colours, and becomes a [`Picture`] of pixels,
//! or text.
//!
//! A [`ColorMap`] is a table of colours, a [`Range`] determines the values of its first and last colour, and a [`Coloring`] combines both:
//! it maps values to colours, and missing values to grey.
//!
//! ```
//! # use std::sync::Arc;
//! # use zarr_array::{Array, NewArray, Registry, Selection, Store};
//! use zarr_view::{AxisLabels, Budget, Cut, Figure, Room, Shading, ShadingOptions, Slice};
//!
//! # let mut registry = Registry::default();
//! # registry.codecs.add(zarr_codec_bytes::BYTES);
//! # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! # let new = NewArray::new(&[3, 400, 600], "float32").chunks(&[1, 100, 100]).codecs("bytes")?;
//! # let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
//! // An array of 3 x 400 x 600: the last two axes, along the first one index 1.
//! let cut = Cut::new(array.shape(), &"1".parse::<Selection>()?, None)?;
//! let room = Room::pixels(300, 200);
//! let slice = Slice::read(&array, &cut, &room.most(&[400, 600]), &Budget::default())?;
//! assert_eq!((slice.rows(), slice.columns()), (200, 300));
//!
//! let shading = Shading::new(&slice.values, slice.numbers, &ShadingOptions::default())?;
//! let axes = vec![AxisLabels::default(); 2];
//! let figure = Figure {
//!     title: "a".to_owned(), slice, axes, shading, colors: None, units: None, note: None, has_scale_bar: true, is_in_pixels: false,
//! };
//! assert_eq!(figure.plane(room)?.width(), 300);
//! let png = zarr_view::png(&figure.picture(room)?)?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), zarr_array::Error>(())
//! ```

mod apng;
mod channels;
mod color_map;
mod coloring;
mod composite;
mod cut;
mod cut_samples;
mod dataset;
mod draw;
mod figure;
mod fit;
mod font;
mod label_layer;
mod labels;
mod level;
mod located;
mod ome;
mod picture;
mod place;
mod range;
mod samples;
mod shading;
mod slice;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod thumbnails;

pub use apng::{Animation, png};
pub use channels::{Channels, DrawnChannel};
pub use color_map::{ColorMap, Rgb};
pub use coloring::Coloring;
pub use composite::{Layer, composite};
pub use cut::{Cut, HiddenAxis};
pub use cut_samples::{Budget, CutSamples};
pub use dataset::{flag_names, shown_array};
pub use draw::scale_bar::ScaleBar;
pub use figure::{Figure, Room};
pub use label_layer::{DrawnLabels, LabelLayer};
pub use labels::{AxisLabels, Positions, Tick};
pub use ome::ImageCut;
pub use picture::Picture;
pub use place::place_of;
pub use range::{Range, RangeError};
pub use samples::Samples;
pub use shading::{Categories, Category, Shading, ShadingOptions};
pub use slice::{Numbers, Slice};
pub use terminal::Protocol;
pub use text::Ink;
pub use thumbnails::{GridImage, ImageGrid, Thumbnail, ThumbnailOptions, Thumbnails};
pub use zarr_array::{Error, ErrorKind, Result};
