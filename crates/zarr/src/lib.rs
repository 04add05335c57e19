//! Zarr in Rust: chunked, compressed arrays of any number of dimensions, in every format that Zarr ever had (the old ones with the feature
//! `drafts`).
//!
//! ```
//! use zarr::prelude::*;
//!
//! # fn main() -> zarr::Result<()> {
//! # let directory = tempfile::tempdir().expect("a temporary directory");
//! # let url = &directory.path().join("weather.zarr").display().to_string();
//! // A store: a directory, a zip file, memory.
//! let store = zarr::store::create(url)?;
//!
//! // An array of 365 days on a grid, in chunks of 30 days, compressed.
//! let new = NewArray::new(&[365, 18, 36], "float32").chunks(&[30, 18, 36]).dimension_names(&["time", "lat", "lon"]);
//! let array = zarr::create((&store, "/temperature")).array(new)?;
//! array.write((0..2, .., ..), &vec![287.5f32; 2 * 18 * 36])?;
//!
//! // Any part of it: ranges, steps, single indices, lists, masks.
//! let array = zarr::open((&store, "/temperature")).array()?;
//! assert_eq!(array.read::<f32>((1, 3..5, 7))?, [287.5, 287.5]);
//! assert_eq!(array.read::<f32>("::100, 0, 0")?, [287.5, 0.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A cache, which several arrays may share, speeds up repeated reads of parts of the same chunks:
//!
//! ```
//! # use zarr::prelude::*;
//! # fn main() -> zarr::Result<()> {
//! # let store = zarr::store::create("memory:")?;
//! # zarr::create((&store, "/temperature")).array(NewArray::new(&[365, 18, 36], "float32").chunks(&[30, 18, 36]))?;
//! let cache = ChunkCache::new(256 << 20);
//! let array = zarr::open((&store, "/temperature")).array()?;
//! let array = array.with(array.options().clone().cache(cache.clone()))?;
//! for day in 0..365_u64 {
//!     // Decodes 13 chunks, each once.
//!     array.read::<f32>((day, 7, 7))?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The [guide](https://github.com/zarr-rs/zarr/blob/main/docs/guide/README.md) has a page for each question, and recipes.
//!
//! # Features
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `filesystem` | stores in directories | yes |
//! | `zip` | stores in zip files, to be read | yes |
//! | `hdf5` | HDF5 and netCDF-4 files as stores, to be read | |
//! | `icechunk` | Icechunk repositories as stores, to be read | |
//! | `sqlite` | stores in SQLite files; SQLite is built, in C | |
//! | `netcdf` | netCDF-3 files as stores, to be read | |
//! | `tiff` | TIFF files as stores, OME-TIFF and GeoTIFF among them, to be read | |
//! | `references` | references of kerchunk (JSON) as stores, to be read | |
//! | `cached` | `store::Cached`, a store that keeps values of another in memory | yes |
//! | `parallel` | decoding and encoding on several threads | yes |
//! | `ndarray` | reads into and writes from arrays of `ndarray` | yes |
//! | `blosc`, `gzip` (and zlib), `zstd` | compression that most data has | yes |
//! | `libdeflate` | gzip and zlib by libdeflate, in C, instead of in Rust | yes |
//! | `checksum` | crc32c, crc32, adler32, fletcher32, jenkins_lookup3 | yes |
//! | `sharding` | shards | yes |
//! | `shuffle` | shuffle | yes |
//! | `vlen` | strings, bytes and lists of any length | yes |
//! | `drafts` | stores of versions 0 and 1, and of the drafts of version 3, which are refused without it | |
//! | `arrow` | `zarr::arrow`: data sets as tables, by the C data and stream interfaces of Arrow and in its IPC format | |
//! | `arrow-rs` | tables as types of the crates of arrow-rs | |
//! | `parquet` | tables as files of Parquet; brings `arrow-rs` | |
//! | `check` | `zarr::check`: checks of what is stored, and repair | |
//! | `compare` | `zarr::compare`: where stored data differ, and digests of data | |
//! | `convert` | `zarr::convert`: conversions, copies, moves and migrations of arrays and groups | |
//! | `dataset` | `zarr::dataset`: groups as data sets of named variables, CF decoding, selection by label | |
//! | `geo` | `zarr::geo`: GeoZarr attributes, with coordinate reference systems, extents and pixel sizes | |
//! | `ome` | `zarr::ome`: OME-Zarr images, their levels, axes and scales | |
//! | `view` | `zarr::view`: pictures of arrays, as PNG and in terminals; colour maps | |
//! | `virtualize` | `zarr::virtualize`: references to the chunks of files, and files joined along a dimension | |
//! | `serve` | `zarr::serve`: a server of a store over HTTP, with a page to look at its arrays | |
//! | `stats` | `zarr::stats`: statistics of elements, usage of stores, maps of stored chunks, codecs measured on a sample | |
//! | `derive` | `#[derive(zarr::Element)]`, structs as elements | |
//! | `jiff` | dates and time spans of `jiff` as elements | |
//! | `microfloat` | floats of 8, 6 and 4 bits of `microfloat` as elements | |
//! | `bz2`, `lz4`, `lzma` | further compression | |
//! | `pcodec`, `zfp` | compression of numbers; zfp may lose precision | |
//! | `numeric` | delta, scale_offset, fixedscaleoffset, quantize, bitround, astype, cast_value | |
//! | `packbits` | numbers of few bits without gaps | |
//! | `base64`, `categorize`, `object` | filters and object codecs of numcodecs | |
//! | `array-view`, `conditional`, `n5`, `optional`, `reshape` | the codecs of these names | |
//! | `tracing` | requests and steps of jobs as spans of the crate `tracing` | |
//! | `tools` | what tools like the command need: all but `arrow`, `arrow-rs`, `parquet`, `sqlite`, `tracing`, and types of elements (`ndarray`, `derive`, `jiff`, `microfloat`) | |
//! | `full` | all of them but `arrow-rs` and `parquet`, which bring many crates | |
//!
//! A codec or a dialect that is not in the build is an error that names its feature.
//!
//! # Crates
//!
//! This crate puts the layers together and has no logic of its own: JSON values are in `zarr-json`, metadata is in `zarr-meta`,
//! data types in `zarr-dtype`, geometry in `zarr-grid`, codecs in `zarr-codec` and a crate for each family, stores in
//! `zarr-store` and a crate for each kind, drivers that run operations on stores in `zarr-drive`, hierarchies in `zarr-hierarchy`, arrays
//! in `zarr-array`, conversions in `zarr-convert`, checks in `zarr-check`, comparisons in `zarr-compare`, statistics in `zarr-stats`,
//! tables in `zarr-arrow`, passes over all elements of arrays in `zarr-scan`, reductions of blocks in `zarr-reduce`, pictures in
//! `zarr-view`, a server in `zarr-serve`, files of other formats in `zarr-hdf5`, `zarr-netcdf`, `zarr-tiff`, `zarr-references` and
//! `zarr-icechunk`, joins of files in `zarr-virtualize`.
//! Each crate can be used alone.

mod address;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "check")]
pub mod check;
pub mod codecs;
#[cfg(feature = "compare")]
pub mod compare;
#[cfg(feature = "convert")]
pub mod convert;
#[cfg(feature = "dataset")]
pub mod dataset;
#[cfg(feature = "geo")]
pub mod geo;
pub mod hierarchy;
pub mod meta;
#[cfg(feature = "ome")]
pub mod ome;
mod open;
pub mod options;
pub mod prelude;
pub mod registry;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "stats")]
pub mod stats;
pub mod store;
#[cfg(feature = "view")]
pub mod view;
#[cfg(feature = "virtualize")]
pub mod virtualize;

pub use address::Address;
/// Version of `ndarray` whose arrays this crate reads into and writes from.
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use open::{Create, Open, Opened, create, open};
pub use zarr_array::{
    Appender, Array, ArrayData, AsyncAppender, AsyncArray, AsyncGroup, AsyncStore, AsyncWriter, Dialect, Group,
    IntoSelection, MissingReport, NewArray, NewGroup, Options, Plan, PlannedRequest, ReadInto, Selection, Store,
    WriteFrom, Writer,
};
pub use zarr_codec as codec;
/// Derives [`Element`](trait@Element) for a struct.
#[cfg(feature = "derive")]
pub use zarr_derive::Element;
#[cfg(feature = "derive")]
#[doc(hidden)]
pub use zarr_dtype::derive;
pub use zarr_dtype::{self as dtype, Element};
pub use zarr_grid as grid;
pub use zarr_hierarchy::{Error, ErrorKind, Result};
pub use zarr_json::{self as json, json};
