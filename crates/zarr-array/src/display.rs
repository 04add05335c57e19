//! Arrays and groups in a few words.

use crate::core::ArrayCore;
use crate::{Array, AsyncArray, Group};
use std::fmt;

impl fmt::Debug for ArrayCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, path, data_type) = (&self.store, &self.found.path, self.data_type());
        let chunks = self.grid.largest_chunk_shape();
        write!(f, "{store}: {path}: {data_type} {:?} in chunks {:?}", self.grid.shape(), chunks.as_slice())
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({:?})", self.core)
    }
}

impl fmt::Debug for AsyncArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AsyncArray({:?})", self.core)
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({}: {})", self.store(), self.path())
    }
}
