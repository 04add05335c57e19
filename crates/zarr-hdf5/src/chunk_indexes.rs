//! Bounds on the work of reading chunk indexes and links, which the headers of any number of objects may share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hdf5_reader::error::{Error, Result};
use hdf5_reader::{Storage, StorageBuffer};

use crate::fault::Refusal;

/// Maximum number of entries of the chunk indexes and of the links that are read, of a file and of those to which its links lead together: of
/// objects that are left out as well, and once for each data set that has the index. What is read counts, whether it can be used or not: the
/// bytes of an entry of a version 1 B-tree of chunks, and two addresses or lengths of others, as an entry, and each read as [`READ`].
const MAX_ENTRIES: u64 = 1 << 25;
/// Number of entries that a read counts for beside those of its bytes.
const READ: u64 = 4;

/// Remaining number of entries, out of [`MAX_ENTRIES`], which files share.
#[derive(Clone, Debug)]
pub(crate) struct Entries(Arc<AtomicU64>);

impl Default for Entries {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MAX_ENTRIES)))
    }
}

impl Entries {
    /// Returns a storage whose reads take from the entries, and fail when there are none left. `entry` is the least number of bytes of an
    /// entry.
    pub(crate) fn metered<'s>(&'s self, storage: &'s dyn Storage, entry: u64) -> Metered<'s> {
        Metered { storage, entries: self, entry: entry.max(1) }
    }

    /// Takes a number of entries that no bytes list.
    pub(crate) fn take(&self, count: u64) -> std::result::Result<(), Refusal> {
        match self.spend(count) {
            true => Ok(()),
            false => Err(Refusal::new(exceeded())),
        }
    }

    /// Takes a number of entries from those that are left. Returns whether there were as many.
    fn spend(&self, count: u64) -> bool {
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(count)));
        spent.is_ok_and(|left| left >= count)
    }
}

/// Storage whose reads take from the entries that are left.
#[derive(Clone, Copy)]
pub(crate) struct Metered<'s> {
    storage: &'s dyn Storage,
    entries: &'s Entries,
    entry: u64,
}

impl Storage for Metered<'_> {
    fn len(&self) -> u64 {
        self.storage.len()
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        match self.entries.spend(READ + len as u64 / self.entry) {
            true => self.storage.read_range(offset, len),
            false => Err(Error::InvalidData(exceeded())),
        }
    }
}

/// Number of bytes of an entry of a version 1 B-tree of chunks: the size of the chunk, its filter mask, its offset in each dimension and in the
/// element, and its address of `offsets` bytes (HDF5 File Format Specification, section III.A.1).
pub(crate) fn entry_of_btree_v1(rank: usize, offsets: u8) -> u64 {
    8 + 8 * (rank as u64 + 1) + u64::from(offsets)
}

fn exceeded() -> String {
    format!("the chunk indexes and links that were read have more than {MAX_ENTRIES} entries, which is the limit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdf5_reader::btree_v1::collect_btree_v1_leaves_storage;

    /// Storage that counts the reads.
    struct Counted {
        bytes: Vec<u8>,
        reads: AtomicU64,
    }

    impl Storage for Counted {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let start = usize::try_from(offset).unwrap();
            let bytes = self.bytes.get(start..start + len);
            bytes.map(|bytes| StorageBuffer::from_vec(bytes.to_vec())).ok_or(Error::OffsetOutOfBounds(offset))
        }
    }

    impl Counted {
        /// Appends a node of a B-tree of chunks of rank 1, with the size of its entries in a node that is not filled.
        fn node(&mut self, level: u8, children: &[u64]) -> u64 {
            let at = self.bytes.len() as u64;
            self.bytes.extend(b"TREE\x01");
            self.bytes.push(level);
            self.bytes.extend(u16::try_from(children.len()).unwrap().to_le_bytes());
            self.bytes.extend([0xff; 16]);
            for child in children {
                self.bytes.extend([0; 24]);
                self.bytes.extend(child.to_le_bytes());
            }
            self.bytes.extend([0; 24]);
            at
        }

        fn new() -> Self {
            Self { bytes: Vec::new(), reads: AtomicU64::new(0) }
        }

        /// Reads a tree of chunks. Returns the number of its entries.
        fn entries(&self, entries: &Entries, root: u64) -> Result<usize> {
            let storage = entries.metered(self, entry_of_btree_v1(1, 8));
            collect_btree_v1_leaves_storage(&storage, root, 8, 8, Some(1), &[1], None).map(|leaves| leaves.len())
        }
    }

    #[test]
    fn trees_are_read_until_the_limit() {
        let mut file = Counted::new();
        let leaf = file.node(0, &[1; 30]);
        let empty = file.node(0, &[]);
        let broken = file.bytes.len() as u64 + 1000;
        let lasting = file.node(1, &[leaf, broken]);
        let nothing = file.node(1, &[empty]);
        let left = |entries: &Entries| entries.0.load(Ordering::Relaxed);
        // What is read counts, of trees that can be read, that cannot, and that are empty.
        for (root, is_read) in [(leaf, true), (lasting, false), (nothing, true)] {
            let (entries, count) = (Entries(Arc::new(AtomicU64::new(1000))), file.reads.load(Ordering::Relaxed));
            assert_eq!(file.entries(&entries, root).is_ok(), is_read);
            let reads = file.reads.load(Ordering::Relaxed) - count;
            assert!(reads >= 2 && left(&entries) <= 1000 - reads * READ, "{root}: {reads} {entries:?}");
        }
        // Any number of data sets that share them.
        for root in [leaf, lasting, nothing] {
            let entries = Entries(Arc::new(AtomicU64::new(2000)));
            let first = file.reads.load(Ordering::Relaxed);
            for _ in 0..5000 {
                let _ = file.entries(&entries.clone(), root);
            }
            let reads = file.reads.load(Ordering::Relaxed) - first;
            assert!(reads <= 2000 / READ && left(&entries) == 0, "{reads}");
            assert_eq!(
                file.entries(&entries, root).unwrap_err().to_string(),
                Error::InvalidData(exceeded()).to_string()
            );
        }
    }

    /// A chunk counts once, however many bytes its entry has.
    #[test]
    fn chunks_count_once() {
        let mut file = Counted::new();
        let leaves: Vec<u64> = (0..100).map(|_| file.node(0, &[1; 200])).collect();
        let root = file.node(1, &leaves);
        let most = 100 * 200 * 5 / 4;
        let entries = Entries(Arc::new(AtomicU64::new(most)));
        assert_eq!(file.entries(&entries, root).unwrap(), 100 * 200);
    }

    /// Nodes that overlap have more entries than the file has bytes.
    #[test]
    fn entries_of_one_tree_are_bounded() {
        let mut file = Counted::new();
        for _ in 0..500 {
            // The head of a node that has as many entries as bytes follow.
            file.bytes.extend(b"TREE\x01\0\xe8\x03");
            file.bytes.extend([0xff; 16]);
        }
        file.bytes.resize(file.bytes.len() + 32 * 1001 + 24, 0);
        let leaves: Vec<u64> = (0..500).map(|leaf| leaf * 24).collect();
        let root = file.node(1, &leaves);
        let entries = Entries(Arc::new(AtomicU64::new(100_000)));
        assert!(file.entries(&entries, root).is_err());
        assert!(file.reads.load(Ordering::Relaxed) < 220);
        // Enough for all of them.
        assert_eq!(file.entries(&Entries::default(), root).unwrap(), 500_000);
        assert!(Entries(Arc::new(AtomicU64::new(9))).take(10).is_err() && Entries::default().take(10).is_ok());
    }
}
