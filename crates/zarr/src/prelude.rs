//! The items that most programs use: `use zarr::prelude::*;`.

pub use crate::options::{ChunkCache, MissingChunks};
pub use crate::store::StoreExt as _;
pub use crate::{
    Array, ArrayData, AsyncArray, Element, ErrorKind, Group, NewArray, NewGroup, Options, Selection, Store,
};
