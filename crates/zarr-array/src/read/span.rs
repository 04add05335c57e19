//! A run of chunks that are not begun, and their windows of the output.

use super::context::ReadContext;
use super::shard::Source;
use std::sync::Arc;
use zarr_codec::Windows;
use zarr_grid::ChunkOverlaps;

/// A job forks into so many at most; the jobs of larger reads fork again.
const MAX_FORKS: usize = 64;

/// Chunks that are not begun: `windows` still has their windows.
#[derive(Debug)]
pub(crate) struct ChunkSpan<'a> {
    pub(super) context: &'a ReadContext<'a>,
    /// Which part of each chunk is read.
    pub(super) overlaps: Arc<ChunkOverlaps>,
    /// The windows of the output that they go to.
    pub(super) windows: Windows<'a>,
    pub(super) source: Source,
    /// The decoded bytes of a chunk.
    pub(super) chunk_size: u64,
}

impl<'a> ChunkSpan<'a> {
    /// How many chunks make a group that is worth handing to a thread.
    fn group_len(&self) -> usize {
        match &self.source {
            Source::Shard(shard) if shard.codecs.is_raw_elements() => self.context.copied_group_len(self.chunk_size),
            Source::Shard(_) => self.context.group_len(self.chunk_size),
            Source::Chunks => self.context.keyed_group_len(self.chunk_size),
        }
    }

    /// Whether it is one group, which one job reads.
    pub(super) fn is_group(&self) -> bool {
        self.windows.len() <= self.group_len()
    }

    /// The first `count` chunks, and the others.
    pub(super) fn split_at(self, count: usize) -> [Self; 2] {
        let Self { context, overlaps, windows, source, chunk_size } = self;
        let (first, rest) = windows.split_at(count);
        let first =
            Self { context, overlaps: Arc::clone(&overlaps), windows: first, source: source.clone(), chunk_size };
        [first, Self { context, overlaps, windows: rest, source, chunk_size }]
    }

    /// Parts that can be read at the same time.
    pub(super) fn forks(self) -> Vec<Self> {
        let len = self.group_len();
        let groups = self.windows.len().div_ceil(len);
        let share = groups.div_ceil(groups.clamp(1, MAX_FORKS)).saturating_mul(len);
        let mut forks = Vec::new();
        let mut rest = self;
        while rest.windows.len() > 0 {
            let [fork, others] = rest.split_at(share);
            forks.push(fork);
            rest = others;
        }
        forks
    }
}
