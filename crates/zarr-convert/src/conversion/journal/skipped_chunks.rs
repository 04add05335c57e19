//! Chunks of the source that a run cannot read, of which a journal lists some.

use super::super::fingerprint::Fingerprint;
use super::super::skipped::SkippedChunk;
use super::entry::LISTED;
use std::collections::BTreeSet;

/// Chunks that cannot be read: those that an entry lists, and how many more.
#[derive(Debug, Default)]
pub(super) struct SkippedChunks {
    /// The chunks that an entry lists.
    listed: BTreeSet<SkippedChunk>,
    /// Hashes of the others of this run, by which they are known again.
    others: BTreeSet<Fingerprint>,
    /// The number of further chunks that earlier runs and parts left out.
    more: u64,
}

impl SkippedChunks {
    /// The chunks that an entry lists, and the number of further ones.
    pub(super) fn new(listed: Vec<SkippedChunk>, more: u64) -> Self {
        let mut left_out = Self { more, ..Self::default() };
        for chunk in listed {
            left_out.insert(&chunk);
        }
        left_out
    }

    /// Adds a chunk; false if it is known.
    pub(super) fn insert(&mut self, chunk: &SkippedChunk) -> bool {
        if self.listed.contains(chunk) {
            return false;
        }
        if self.listed.len() < LISTED {
            return self.listed.insert(chunk.clone());
        }
        self.others.insert(Fingerprint::new().with(chunk.to_value().to_string().as_bytes()))
    }

    /// Adds `count` chunks of which only the number is known.
    pub(super) fn add(&mut self, count: u64) {
        self.more = self.more.saturating_add(count);
    }

    /// Returns the chunks that are listed, and the number of further ones.
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
