//! Display of arrays and groups: briefly for `Debug`, as the lines of `zarr info` for `Display`.

use crate::core::ArrayCore;
use crate::{Array, ArraySizes, AsyncArray, Group, Result, Summary};
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

impl ArrayCore {
    pub(crate) fn summary(&self) -> Summary<'_> {
        let summary = Summary::of(&self.found).warnings(&self.warnings);
        match self.options.fallback_type.as_ref().filter(|_| self.found.fallback.is_some()) {
            Some(data_type) => summary.data_type(data_type),
            None => summary,
        }
    }
}

/// Shows the lines of `zarr info` that need no access to the store.
impl fmt::Display for ArrayCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().sizes(&ArraySizes::of(self)).fmt(f)
    }
}

/// Shows the lines of `zarr info` that need no access to the store; see [`Array::summary`].
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

/// Shows the array as [`Array`] does.
impl fmt::Display for AsyncArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

/// Shows the lines of `zarr info` that need no access to the store; see [`Summary`].
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Summary::of(self.found()).fmt(f)
    }
}

impl Array {
    /// Returns the size of the array, and of its stored part if the store can list. Costs a listing, and on stores whose listings have no
    /// sizes a request for each stored chunk.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store).
    pub fn sizes(&self) -> Result<ArraySizes> {
        let sizes = ArraySizes::of(&self.core);
        match self.store().capabilities().list {
            true => Ok(sizes.stored(&self.core, &self.stored_chunk_sizes()?)),
            false => Ok(sizes),
        }
    }
}
