//! Chunks of the source that a run cannot read. The journal lists some of them.

use super::super::fingerprint::Fingerprint;
use super::super::skipped::SkippedChunk;
use super::entry::LISTED;
use std::collections::BTreeSet;

/// Chunks that cannot be read: the listed chunks, and the number of further ones.
#[derive(Debug, Default)]
pub(super) struct SkippedChunks {
    /// Chunks that an entry lists, at most [`LISTED`].
    listed: BTreeSet<SkippedChunk>,
    /// Hashes of the further chunks of this run, so that each is counted once.
    others: BTreeSet<Fingerprint>,
    /// Number of further chunks that earlier runs and parts could not read.
    more: u64,
}

impl SkippedChunks {
    /// Creates the set from the chunks that an entry lists, and the number of further ones.
    pub(super) fn new(listed: Vec<SkippedChunk>, more: u64) -> Self {
        let mut left_out = Self { more, ..Self::default() };
        for chunk in listed {
            left_out.insert(&chunk);
        }
        left_out
    }

    /// Adds a chunk. Returns false if it was added before.
    pub(super) fn insert(&mut self, chunk: &SkippedChunk) -> bool {
        if self.listed.contains(chunk) {
            return false;
        }
        if self.listed.len() < LISTED {
            return self.listed.insert(chunk.clone());
        }
        self.others.insert(Fingerprint::new().with(chunk.to_value().to_string().as_bytes()))
    }

    /// Adds `count` to the number of further chunks.
    pub(super) fn add(&mut self, count: u64) {
        self.more = self.more.saturating_add(count);
    }

    /// Returns the listed chunks, and the number of further ones.
    pub(super) fn shown(&self) -> (Vec<SkippedChunk>, u64) {
        (self.listed.iter().cloned().collect(), self.more.saturating_add(self.others.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::NodePath;

    #[test]
    fn each_chunk_counts_once_and_some_are_listed() {
        let chunk = |number: u64| SkippedChunk {
            path: NodePath::parse("/a").unwrap(),
            chunk: vec![number],
            key: None,
            cause: "broken".to_owned(),
        };
        let few: Vec<_> = (0..20).map(chunk).collect();
        let mut left_out = SkippedChunks::new(few.clone(), 7);
        assert!(!left_out.insert(&chunk(3)));
        assert_eq!(left_out.shown(), (few, 7));
        let many = 3 * LISTED as u64;
        let new = (0..many).chain(0..many).filter(|&number| left_out.insert(&chunk(number))).count() as u64;
        assert_eq!(new, many - 20);
        left_out.add(5);
        let (listed, more) = left_out.shown();
        assert_eq!((listed.len(), listed.len() as u64 + more), (LISTED, many + 12));
    }
}
