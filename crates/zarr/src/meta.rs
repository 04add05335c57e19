//! Metadata: documents of every dialect, the model that they are read into, and the JSON values of both.

pub use zarr_json::{self as json, NamedConfig, json, pointer};
pub use zarr_meta::*;
