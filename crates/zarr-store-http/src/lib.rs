//! Zarr stores for reading over HTTP.
//!
//! ```
//! use zarr_store::AsyncStore;
//! use zarr_store_http::HttpStore;
//!
//! let options = [("header.Authorization".to_owned(), "Bearer token".to_owned())];
//! let store = HttpStore::open("https://example.org/data/era5.zarr?signature=abc", &options)?;
//! assert_eq!(store.to_string(), "https://example.org/data/era5.zarr");
//! assert!(!store.capabilities().list);
//! # Ok::<(), zarr_store::Error>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod base;
mod cache;
mod requests;
mod site;
mod store;

pub use store::HttpStore;
