//! The values of a file by their keys.

use std::ops::Bound;
use std::sync::OnceLock;

use zarr_store::{Key, Listing, Prefix, SizeVisitor};

/// Bytes as they are.
pub(super) const STORED: u16 = 0;
/// RFC 1951.
pub(super) const DEFLATED: u16 = 8;
/// Streams of bzip2.
pub(super) const BZIP2: u16 = 12;
/// LZMA, behind its properties.
pub(super) const LZMA: u16 = 14;

/// One value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) method: u16,
    pub(super) crc: u32,
    /// Bytes in the file.
    pub(super) compressed: u64,
    /// Bytes of the value.
    pub(super) size: u64,
    /// Where the local header begins.
    pub(super) header: u64,
    /// Where the next entry, or the directory, begins: the data ends at or before.
    pub(super) limit: u64,
    /// Where the data begins, once the local header was read.
    pub(super) data: OnceLock<u64>,
}

/// Values, sorted by key.
#[derive(Debug)]
pub(super) struct Entries(Vec<Entry>);

impl Entries {
    /// Makes entries of a list that is sorted by key.
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

    /// The keys from one on.
    fn from(&self, from: Bound<&str>) -> impl Iterator<Item = &Key> {
        self.entries_from(from).map(|entry| &entry.key)
    }

    /// The entries from a key on.
    fn entries_from(&self, from: Bound<&str>) -> impl Iterator<Item = &Entry> {
        let at = self.0.partition_point(|entry| match from {
            Bound::Included(from) => entry.key.as_str() < from,
            Bound::Excluded(from) => entry.key.as_str() <= from,
            Bound::Unbounded => false,
        });
        self.0.iter().skip(at)
    }
}
