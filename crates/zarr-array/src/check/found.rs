//! Findings of a check in a stored chunk.

use crate::Error;
use std::ops::Range;
use zarr_codec::Protection;
use zarr_grid::ChunkIndex;
use zarr_store::{Key, Version};

/// Maximum number of faults of one chunk that are kept. Inner chunks that share bytes, which are no faults, are counted apart, with the
/// same maximum.
const MAX_FAULTS: usize = 1000;

/// A stored chunk that was checked.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckedChunk {
    /// The key.
    pub key: Key,
    /// The chunk, by its index in the grid.
    pub chunk: ChunkIndex,
    /// Whether it was stored when it was asked for.
    pub is_stored: bool,
    /// How many bytes were looked at.
    pub bytes: u64,
    /// The version of the value that was looked at, where the store has told.
    pub version: Option<Version>,
    /// Whether its codecs let a part of it be read by itself, so that elements may be read of a chunk that does not decode as a whole: it
    /// is not compressed and no shard, and its value is not empty.
    pub is_read_in_parts: bool,
    /// How far decoding notices damage, of the inner chunk with the least protection; `None` if nothing was decoded.
    pub protection: Option<Protection>,
    /// Its faults: the first 1000, and the first 1000 of [`ChunkFaultKind::Shares`].
    pub faults: Vec<ChunkFault>,
    /// How many more it has, apart from [`ChunkFaultKind::Shares`].
    pub more_faults: u64,
    /// How many more of [`ChunkFaultKind::Shares`] it has.
    pub more_shared: u64,
    /// How many of the faults here are [`ChunkFaultKind::Shares`].
    shared: usize,
}

/// A fault of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkFault {
    /// The inner chunk of the shard, by its index in there; in shards within shards one for each level. Empty for the chunk itself.
    pub inner: Vec<ChunkIndex>,
    /// The bytes in the value, where only a part of it is meant.
    pub bytes: Option<Range<u64>>,
    /// The fault.
    pub kind: ChunkFaultKind,
}

/// A kind of fault of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChunkFaultKind {
    /// It does not decode, or cannot be read.
    Broken(Error),
    /// The index of its shard gives it bytes that are also, in part, those of another inner chunk; of the index itself, if `None`.
    Overlaps(Option<ChunkIndex>),
    /// The index of its shard gives it the bytes of another inner chunk, which some writers do for equal chunks.
    Shares(ChunkIndex),
}

impl ChunkFault {
    /// The fault in words.
    #[must_use]
    pub fn message(&self) -> String {
        match &self.kind {
            ChunkFaultKind::Broken(error) => error.message_with_causes(),
            ChunkFaultKind::Overlaps(None) => "lies, by the index of the shard, where the index itself lies".to_owned(),
            ChunkFaultKind::Overlaps(Some(other)) => {
                format!("overlaps, by the index of the shard, inner chunk {:?}", other.as_slice())
            }
            ChunkFaultKind::Shares(other) => format!("has the same bytes as inner chunk {:?}", other.as_slice()),
        }
    }
}

pub(super) fn broken(inner: &[ChunkIndex], bytes: Option<Range<u64>>, error: impl Into<Error>) -> ChunkFault {
    ChunkFault { inner: inner.to_vec(), bytes, kind: ChunkFaultKind::Broken(error.into()) }
}

impl CheckedChunk {
    pub(super) fn new(key: Key, chunk: ChunkIndex) -> Self {
        Self {
            key,
            chunk,
            is_stored: true,
            bytes: 0,
            version: None,
            is_read_in_parts: false,
            protection: None,
            faults: Vec::new(),
            more_faults: 0,
            more_shared: 0,
            shared: 0,
        }
    }

    /// Adds a fault. Inner chunks that share bytes, of which a good shard may have very many, crowd out no fault.
    pub(super) fn add(&mut self, fault: ChunkFault) {
        let is_shared = matches!(fault.kind, ChunkFaultKind::Shares(_));
        let kept = if is_shared { self.shared } else { self.faults.len() - self.shared };
        match (kept < MAX_FAULTS, is_shared) {
            (true, _) => {
                self.shared += usize::from(is_shared);
                self.faults.push(fault);
            }
            (false, true) => self.more_shared += 1,
            (false, false) => self.more_faults += 1,
        }
    }

    /// Notes how far the decoding of a part notices damage.
    pub(super) fn note(&mut self, protection: Protection) {
        self.protection = Some(self.protection.map_or(protection, |least| least.min(protection)));
    }

    /// Adds what was found in a part of the chunk.
    pub(super) fn merge(&mut self, part: Self) {
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.more_faults = self.more_faults.saturating_add(part.more_faults);
        self.more_shared = self.more_shared.saturating_add(part.more_shared);
        if let Some(protection) = part.protection {
            self.note(protection);
        }
        part.faults.into_iter().for_each(|fault| self.add(fault));
    }

    /// Its faults in the order of inner chunks.
    pub(super) fn sort(&mut self) {
        self.faults.sort_by(|a, b| a.inner.cmp(&b.inner));
    }
}
