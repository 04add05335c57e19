//! TIFF, BigTIFF, OME-TIFF and GeoTIFF files as Zarr stores.
//!
//! [`open`] makes a read-only store of a file that is a value of another store. Its pages become arrays with axes, in an image of OME-Zarr
//! where they can be one, and the chunks are the strips and tiles of the file, which stays as it is. The directories of the pages are read
//! once, by ranges; chunks are read when they are asked for.
//!
//! | TIFF | Zarr v3 |
//! |---|---|
//! | pages of one form: of an image of OME-XML, a stack of ImageJ or tifffile, else of all pages that are alike and have one place on Earth | an array with the axes t, c, z, y, x, or `page`, y, x |
//! | pages of reduced resolution, as overviews of a COG or in SubIFDs | smaller arrays: levels |
//! | a file of one series | a group with the levels `0`, `1`, .. |
//! | a file of several | a group with one such group for each: `0/0`, `0/1`, .., `1/0`, .. |
//! | samples of a pixel | the axis c, before the rows; `transpose` where they lie next to each other |
//! | tiles and strips without compression, by deflate or Zstandard | chunks that are ranges of the file, with these codecs |
//! | LZW, PackBits, JPEG; predictors; 1 bit a sample; the last strip of a page, which is shorter | chunks that are decoded here, when they are asked for |
//! | strips without compression that lie one behind the other | large chunks, which are read in part |
//! | tiles that are not there | missing chunks, which have the fill value |
//! | axes, units, distances and channels of OME-XML and ImageJ | `ome` (OME-Zarr 0.5) |
//! | keys and transformation of GeoTIFF | `geotiff`, which [`GeoReference`] reads; `proj:` and `spatial:` of GeoZarr, of each level by the size of its pixels |
//! | GDAL_NODATA | the fill value and `_FillValue` |
//!
//! Pages and levels that are not read are left out one by one, and a warning of the store
//! ([`take_warnings`](zarr_store::Store::take_warnings)) names each with the reason: other compressions (JPEG 2000, LERC, WebP, ..), samples of
//! other sizes.
//!
//! ```no_run
//! use std::sync::Arc;
//! use zarr_store::{Key, MemoryStore, Store, StoreExt};
//!
//! let files = Arc::new(MemoryStore::new());
//! files.set_all(&Key::new("x.tif")?, &std::fs::read("x.tif")?)?;
//! let store = zarr_tiff::open(files, Key::new("x.tif")?, "x.tif")?;
//! println!("{:?}", store.list_dir(&zarr_store::Prefix::root())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod decode;
mod description;
mod document;
mod fault;
mod form;
mod geo;
mod geo_keys;
mod ifd;
mod image;
mod imagej;
mod jpeg;
mod layout;
mod level;
mod maker;
mod ome_xml;
mod open;
mod page;
mod predictor;
mod series;
mod shaped;
mod source;
mod tags;
mod warnings;

pub use fault::TiffFault;
pub use geo::{GEOTIFF, GeoReference};
pub use open::open;
