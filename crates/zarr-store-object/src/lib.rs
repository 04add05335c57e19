//! Zarr stores in S3, Google Cloud Storage and Azure Blob Storage.
//!
//! ```
//! use zarr_store::AsyncStore;
//! use zarr_store_object::BucketStore;
//!
//! let options = [("anonymous".to_owned(), "true".to_owned()), ("region".to_owned(), "us-west-2".to_owned())];
//! let store = BucketStore::open("s3://bucket/era5.zarr", &options)?;
//! assert_eq!(store.to_string(), "s3://bucket/era5.zarr");
//! assert!(store.capabilities().conditional);
//! # Ok::<(), zarr_store::Error>(())
//! ```

#![forbid(unsafe_code)]
// Without a service there is nothing to open, which the error says.
#![cfg_attr(not(any(feature = "s3", feature = "gs", feature = "az")), allow(unused))]

mod address;
mod bucket;
mod conditions;
mod connector;
mod copy;
mod decoded;
mod erase;
mod erasures;
mod exchange;
mod fault;
mod list;
mod listing;
mod names;
mod object;
mod probe;
mod purpose;
mod read;
mod service;
mod store;
mod stream;
mod temporary;
mod write;
mod writes;

pub use store::BucketStore;
