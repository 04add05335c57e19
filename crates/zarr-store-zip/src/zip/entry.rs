//! Entries of a zip file by their keys.

use std::ops::Bound;
use std::sync::OnceLock;

use zarr_store::{Key, Listing, Prefix, SizeVisitor};

/// Compression method: bytes are stored uncompressed.
pub(super) const STORED: u16 = 0;
/// Compression method: deflate (RFC 1951).
pub(super) const DEFLATED: u16 = 8;
/// Compression method: bzip2.
pub(super) const BZIP2: u16 = 12;
/// Compression method: LZMA, preceded by its properties.
pub(super) const LZMA: u16 = 14;

/// Entry of a value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) method: u16,
    pub(super) crc: u32,
    /// Compressed size in bytes.
    pub(super) compressed: u64,
    /// Size of the value in bytes.
    pub(super) size: u64,
    /// Offset of the local header.
    pub(super) header: u64,
    /// Offset of the next entry or of the directory, at or before which the data ends.
    pub(super) limit: u64,
    /// Offset of the data, once the local header was read.
    pub(super) data: OnceLock<u64>,
}

/// Entries of values, sorted by key.
#[derive(Debug)]
pub(super) struct Entries(Vec<Entry>);

impl Entries {
    /// Creates entries from a list that is sorted by key.
    pub(super) fn new(sorted: Vec<Entry>) -> Self {
        Self(sorted)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn find(&self, key: &Key) -> Option<&Entry> {
        self.0.binary_search_by(|entry| entry.key.cmp(key)).ok().and_then(|at| self.0.get(at))
    }

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Listing {
        Listing::directly_under(prefix, |from| self.from(from).next())
    }

    pub(super) fn list_prefix(&self, prefix: &Prefix) -> Vec<Key> {
        self.from(Bound::Included(prefix.as_str())).take_while(|key| prefix.contains(key)).cloned().collect()
    }

    pub(super) fn visit_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) {
        let under = self.entries_from(Bound::Included(prefix.as_str()));
        under.take_while(|entry| prefix.contains(&entry.key)).for_each(|entry| visit(entry.key.clone(), entry.size));
    }

    /// Returns the keys from the bound `from` on.
    fn from(&self, from: Bound<&str>) -> impl Iterator<Item = &Key> {
        self.entries_from(from).map(|entry| &entry.key)
    }

    /// Returns the entries from the bound `from` on.
    fn entries_from(&self, from: Bound<&str>) -> impl Iterator<Item = &Entry> {
        let at = self.0.partition_point(|entry| match from {
            Bound::Included(from) => entry.key.as_str() < from,
            Bound::Excluded(from) => entry.key.as_str() <= from,
            Bound::Unbounded => false,
        });
        self.0.iter().skip(at)
    }
}
