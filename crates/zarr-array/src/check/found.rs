//! Results of a check of a stored chunk.

use crate::Error;
use std::ops::Range;
use zarr_codec::Protection;
use zarr_grid::ChunkIndex;
use zarr_store::{Key, Version};

/// Maximum number of faults of one chunk that are stored in its result. Faults of kind [`ChunkFaultKind::Shares`] are counted separately,
/// with the same maximum.
const MAX_FAULTS: usize = 1000;

/// Result of the check of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckedChunk {
    /// Key of the chunk in the store.
    pub key: Key,
    /// Index of the chunk in the chunk grid.
    pub chunk: ChunkIndex,
    /// Whether the chunk was still stored when it was read.
    pub is_stored: bool,
    /// Number of bytes of the chunk that were read and checked.
    pub bytes: u64,
    /// Version of the checked value; `None` if the store does not report it.
    pub version: Option<Version>,
    /// Whether the codecs let a read get a part of the chunk alone, so that some elements may be readable although the chunk as a whole
    /// does not decode: the chunk is neither compressed nor a shard, and its value is not empty.
    pub is_read_in_parts: bool,
    /// Degree to which decoding notices damage: the least of all inner chunks. `None` if nothing was decoded.
    pub protection: Option<Protection>,
    /// Faults of the chunk: the first 1000 faults, and the first 1000 of kind [`ChunkFaultKind::Shares`].
    pub faults: Vec<ChunkFault>,
    /// Number of faults that `faults` omits, without those of kind [`ChunkFaultKind::Shares`].
    pub more_faults: u64,
    /// Number of faults of kind [`ChunkFaultKind::Shares`] that `faults` omits.
    pub more_shared: u64,
    /// Number of faults in `faults` whose kind is [`ChunkFaultKind::Shares`].
    shared: usize,
}

/// Fault of a stored chunk or of one of its inner chunks.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkFault {
    /// Index of the faulty inner chunk in its shard, with one index per level for shards within shards. Empty if the fault is of the chunk
    /// itself.
    pub inner: Vec<ChunkIndex>,
    /// Range of the faulty bytes in the stored value; `None` if the fault concerns no particular range.
    pub bytes: Option<Range<u64>>,
    /// Kind of the fault.
    pub kind: ChunkFaultKind,
}

/// Kind of a fault of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChunkFaultKind {
    /// Chunk or inner chunk that does not decode, or cannot be read.
    Broken(Error),
    /// Inner chunk whose bytes, by the index of the shard, overlap the bytes of another inner chunk, or of the index itself if `None`.
    Overlaps(Option<ChunkIndex>),
    /// Inner chunk that has, by the index of the shard, the same bytes as another inner chunk. Some writers store equal inner chunks once.
    Shares(ChunkIndex),
}

impl ChunkFault {
    /// Message that describes the fault.
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

    /// Adds a fault. Faults of kind [`ChunkFaultKind::Shares`], of which a good shard may have very many, take no room from other faults.
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

    /// Lowers [`protection`](Self::protection) to the protection of a decoded part, if that is less.
    pub(super) fn note(&mut self, protection: Protection) {
        self.protection = Some(self.protection.map_or(protection, |least| least.min(protection)));
    }

    /// Adds the result of a part of the chunk: its bytes, protection and faults.
    pub(super) fn merge(&mut self, part: Self) {
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.more_faults = self.more_faults.saturating_add(part.more_faults);
        self.more_shared = self.more_shared.saturating_add(part.more_shared);
        if let Some(protection) = part.protection {
            self.note(protection);
        }
        part.faults.into_iter().for_each(|fault| self.add(fault));
    }

    /// Sorts the faults by inner chunk.
    pub(super) fn sort(&mut self) {
        self.faults.sort_by(|a, b| a.inner.cmp(&b.inner));
    }
}
