//! Metadata: documents of every dialect, the model they are read into, and the JSON values that both hold.

pub use zarr_json::{self as json, NamedConfig, json, pointer};
pub use zarr_meta::*;
