//! The items that most programs use: `use zarr::prelude::*;`.

pub use crate::options::MissingChunks;
pub use crate::{Array, ArrayData, ChunkCache, ErrorKind, Group, NewArray, NewGroup, Options, Store};
