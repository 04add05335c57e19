//! HDF5 and netCDF-4 files as Zarr stores.
//!
//! [`open`] opens a file, which is a value of another store, as a read-only store: each group and each data set is a node with attributes,
//! and chunks are ranges of the file. The file is not changed. All metadata is read once, when the file is opened; a chunk is read when it
//! is requested.
//!
//! | HDF5 | Zarr v3 |
//! |---|---|
//! | integers and floats of either byte order, bit fields | the numbers |
//! | enumerations | the numbers; the names are `flag_values` and `flag_meanings` |
//! | bool and complex numbers of h5py, its times | `bool`, `complex64`, `complex128`, `numpy.datetime64`, `numpy.timedelta64` |
//! | strings of fixed length, and of any length | `null_terminated_bytes`, `string` |
//! | compound, opaque | `struct`, `raw_bytes` |
//! | lists of numbers | `vlen-array` |
//! | contiguous, compact and chunked data by any index | chunks of a regular grid |
//! | deflate, shuffle, fletcher32, bz2, Zstandard, Blosc | codecs |
//! | nbit, scale-offset, szip, LZF, LZ4, bitshuffle (with LZ4 or Zstandard too); chunks that skip filters; elements with gaps | chunks that this crate decodes when they are requested |
//! | dimension scales, dimensions of netCDF-4 | `dimension_names` |
//!
//! Nodes and attributes that cannot be read are left out, each with a warning of the store
//! ([`take_warnings`](zarr_store::Store::take_warnings)) that gives the reason: virtual data sets, data in external files,
//! references, unsupported filters, external links to files that are not there or that may not be named. Named data types are not nodes.
//!
//! ```no_run
//! use std::sync::Arc;
//! use zarr_store::{Key, MemoryStore, Store, StoreExt};
//!
//! let files = Arc::new(MemoryStore::new());
//! files.set_all(&Key::new("x.nc")?, &std::fs::read("x.nc")?)?;
//! let store = zarr_hdf5::open(files, Key::new("x.nc")?, "x.nc")?;
//! println!("{:?}", store.list_dir(&zarr_store::Prefix::root())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod arrays;
mod attributes;
mod block_filters;
mod chunk_indexes;
mod dimensions;
mod document;
mod element_type;
mod fault;
mod file;
mod files;
mod filters;
mod heap;
mod kept;
mod layout;
mod links;
mod lzf;
mod made;
mod open;
mod options;
mod raw;
mod raw_numbers;
mod source;
mod trees;
mod walk;
mod without_attributes;
mod wrap;

pub use open::{is_hdf5, open, open_with};
pub use options::Hdf5Options;
