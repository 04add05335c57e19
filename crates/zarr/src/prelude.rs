//! What most programs use: `use zarr::prelude::*;`.

pub use crate::{Array, ArrayData, ChunkCache, ErrorKind, Group, MissingChunks, NewArray, NewGroup, Options, Store};
