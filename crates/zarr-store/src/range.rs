//! Byte ranges of the values of a store.

use std::fmt;
use std::ops::Range;

use crate::{ByteRange, Error, Key, Result};

/// Check of byte ranges against a value of a store.
pub trait ByteRangeExt {
    /// Converts the range to indices into a value of `size` bytes, as [`ByteRange::resolve`] does.
    ///
    /// # Errors
    /// [`Error::Range`] if the range is not wholly inside the value.
    fn check(&self, store: &dyn fmt::Display, key: &Key, size: u64) -> Result<Range<usize>>;
}

impl ByteRangeExt for ByteRange {
    fn check(&self, store: &dyn fmt::Display, key: &Key, size: u64) -> Result<Range<usize>> {
        let at = self.resolve(size).and_then(|at| Some(usize::try_from(at.start).ok()?..usize::try_from(at.end).ok()?));
        at.ok_or_else(|| Error::Range { store: store.to_string(), key: key.clone(), range: self.clone(), size })
    }
}
