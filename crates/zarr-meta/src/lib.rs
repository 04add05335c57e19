//! Metadata documents of every Zarr dialect, read into and written from one model in the vocabulary of Zarr v3.
//!
//! Never does I/O, and never interprets a data type or a codec beyond translating its name and configuration.

pub mod json;

mod named;

pub use named::NamedConfig;
