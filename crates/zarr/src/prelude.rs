//! The items that most programs use: `use zarr::prelude::*;`.

pub use crate::options::{ChunkCache, MissingChunks};
pub use crate::{Array, ArrayData, ErrorKind, Group, NewArray, NewGroup, Options, Store};
