//! Files of netCDF-3 as Zarr stores: the classic format (CDF-1), 64-bit offsets (CDF-2) and 64-bit data (CDF-5).
//!
//! The header becomes documents of Zarr v3, and chunks are ranges of the file. A variable with the record dimension has one chunk for each
//! record, if records of other variables lie between its records. Any other variable is one chunk, or several along its first axes if it is
//! large. Files of netCDF-4 are HDF5 files, which this crate does not read.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_store::{Key, MemoryStore, StoreExt};
//!
//! // A file with a dimension `x` of length 2, and a variable `v(x)` of type short.
//! let mut file = b"CDF\x01\0\0\0\0".to_vec();
//! file.extend(b"\0\0\0\x0a\0\0\0\x01\0\0\0\x01x\0\0\0\0\0\0\x02");
//! file.extend([0; 8]);
//! file.extend(b"\0\0\0\x0b\0\0\0\x01\0\0\0\x01v\0\0\0\0\0\0\x01\0\0\0\0");
//! file.extend([0; 8]);
//! file.extend(b"\0\0\0\x03\0\0\0\x04\0\0\0\x50\0\x07\0\x08");
//! let files = Arc::new(MemoryStore::new());
//! files.set_all(&Key::new("x.nc")?, &file)?;
//!
//! let store = zarr_netcdf::open(files, Key::new("x.nc")?)?;
//! assert_eq!(store.get_all(&Key::new("v/c/0")?)?.as_deref(), Some(&b"\0\x07\0\x08"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod cursor;
mod document;
mod fault;
mod header;
mod layout;
mod open;
mod values;

#[cfg(test)]
mod tests;

pub use fault::NetcdfFault;
pub use open::{NetcdfOptions, is_netcdf, open, open_with};
