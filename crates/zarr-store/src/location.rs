//! Values that lie beside each other in one file, and gets of them that are made together.

use std::borrow::Cow;
use std::ops::Range;

use crate::{ByteRange, Fetched, GetOptions, Key, Result};

/// Where a value lies that is a range of a file, in which values of other keys lie as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the file in the store.
    pub file: u64,
    /// Range of the value in the file, in bytes.
    pub range: Range<u64>,
}

impl Location {
    /// Creates the location of a range of a file.
    #[must_use]
    pub const fn new(file: u64, range: Range<u64>) -> Self {
        Self { file, range }
    }
}

/// A get of one value among several that are made together: the arguments of [`get`](crate::StoreExt::get).
#[derive(Clone, Debug)]
pub struct ValueGet<'a> {
    /// The key.
    pub key: Cow<'a, Key>,
    /// The ranges.
    pub ranges: Cow<'a, [ByteRange]>,
    /// Which state of the value.
    pub options: Cow<'a, GetOptions>,
}

impl<'a> ValueGet<'a> {
    /// Creates a get, which borrows its arguments.
    #[must_use]
    pub fn new(key: &'a Key, ranges: &'a [ByteRange], options: &'a GetOptions) -> Self {
        Self { key: Cow::Borrowed(key), ranges: Cow::Borrowed(ranges), options: Cow::Borrowed(options) }
    }

    /// The same get without what is borrowed, which is copied.
    #[must_use]
    pub fn into_owned(self) -> ValueGet<'static> {
        ValueGet {
            key: Cow::Owned(self.key.into_owned()),
            ranges: Cow::Owned(self.ranges.into_owned()),
            options: Cow::Owned(self.options.into_owned()),
        }
    }
}

/// The outcomes of gets that were made together, one for each, in their order.
pub type GotMany = Vec<Result<Option<Fetched>>>;
