//! What most programs use: `use zarr::prelude::*;`.

#[cfg(feature = "ndarray")]
pub use crate::ArrayNdExt;
pub use crate::{Array, ArrayData, ChunkCache, ErrorKind, Group, MissingChunks, NewArray, Options, Store};
