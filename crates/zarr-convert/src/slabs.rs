//! Reading an array in parts that fit into memory, so that little is decoded twice: by what conversions go, for others that look at all
//! elements of an array.

pub use crate::conversion::{Slabs, in_parallel, some_stored, usual_item_size};
