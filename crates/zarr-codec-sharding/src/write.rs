//! Writing of whole shards and of parts of shards.

use crate::index::{Location, part};
use crate::shards::Shards;
use std::ops::Range;
use zarr_codec::{Error, InnerChunkIndex, Patch, PatchByChunk};
use zarr_grid::{ChunkGrid, ChunkOverlaps, Region, Shape};

/// Offset and length of an inner chunk that is not stored.
const ABSENT: (u64, u64) = (u64::MAX, u64::MAX);

/// Grid of the inner chunks of a shard that is written, and index of the inner chunks of the old shard.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) grid: ChunkGrid,
    /// Number of inner chunks per axis.
    counts: Shape,
    pub(crate) all: ChunkOverlaps,
    old: Option<InnerChunkIndex>,
    /// Number of bytes of the index.
    pub(crate) index_size: usize,
}

impl Plan {
    /// Returns the bytes of an inner chunk in `old`, or `None` if `old` has no such inner chunk.
    fn before<'o>(&self, old: Option<&'o [u8]>, index: &[u64]) -> Result<Option<&'o [u8]>, Error> {
        let (Some(old), Some(entries)) = (old, &self.old) else { return Ok(None) };
        entries.range(index)?.map(|range| part(old, &range)).transpose()
    }
}

impl Shards {
    /// Returns the plan for replacing elements of the shard `old`, or of a shard without inner chunks if `old` is `None`.
    pub(crate) fn plan(&self, old: Option<&[u8]>, shape: &[u64]) -> Result<Plan, Error> {
        let grid = self.grid(shape)?;
        let counts = grid.grid_shape();
        let index_size = usize::try_from(self.index.size(&counts)?).unwrap_or(usize::MAX);
        let old = old.map(|old| self.index.find(old, &counts)).transpose()?;
        let all = grid.intersect(&Region::whole(shape));
        Ok(Plan { grid, counts, all, old, index_size })
    }

    /// Appends the shard `old`, or a shard without inner chunks if `old` is `None`, with the elements of `patch` replaced. Inner chunks
    /// that may be missing are not stored. Inner chunks that `patch` does not touch are copied as bytes, not decoded; bytes between inner
    /// chunks are dropped.
    pub(crate) fn write_part(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let plan = self.plan(old, patch.shape())?;
        let start = out.len();
        out.reserve(old.map_or(0, <[u8]>::len));
        if self.index.location == Location::Start {
            out.resize(start + plan.index_size, 0);
        }
        let lengths = self.write_run(&plan, 0..plan.all.len(), old, &patch.by_chunk(&plan.grid)?, out)?;
        match self.index.location {
            Location::End => self.write_index(&plan, lengths, out),
            Location::Start => {
                let mut index = Vec::with_capacity(plan.index_size);
                self.write_index(&plan, lengths, &mut index)?;
                if let Some(target) = out.get_mut(start..start + index.len()) {
                    target.copy_from_slice(&index);
                }
                Ok(())
            }
        }
    }

    /// Appends the inner chunks at the positions `run`. Returns the number of bytes of each, `None` for inner chunks that are not stored.
    pub(crate) fn write_run(
        &self,
        plan: &Plan,
        run: Range<u64>,
        old: Option<&[u8]>,
        new: &PatchByChunk<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Vec<Option<u64>>, Error> {
        let mut lengths = Vec::new();
        let mut all = plan.all.cursor_at(run.start);
        for _ in run {
            let Some(position) = all.overlap() else { break };
            let start = out.len();
            let before = plan.before(old, &position.index)?;
            let stored = match new.at(&position.index) {
                Some(patch) => self.write_chunk(before, &patch, out)?,
                None => {
                    out.extend_from_slice(before.unwrap_or_default());
                    before.is_some()
                }
            };
            lengths.push(stored.then(|| (out.len() - start) as u64));
            all.advance();
        }
        Ok(lengths)
    }

    /// Appends an inner chunk with new elements; returns false, without appending, if the inner chunk need not be stored.
    fn write_chunk(&self, before: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Result<bool, Error> {
        if patch.may_omit(self.codecs.element()) && (before.is_none() || patch.covers()) {
            return Ok(false);
        }
        self.codecs.patch(before, patch, out)?;
        Ok(true)
    }

    /// Appends the index of inner chunks with the given numbers of bytes.
    pub(crate) fn write_index(
        &self,
        plan: &Plan,
        lengths: impl IntoIterator<Item = Option<u64>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut end = match self.index.location {
            Location::Start => plan.index_size as u64,
            Location::End => 0,
        };
        let entry = |len: Option<u64>| {
            let Some(len) = len else { return ABSENT };
            let offset = end;
            end += len;
            (offset, len)
        };
        let entries: Vec<_> = lengths.into_iter().map(entry).collect();
        if entries.len() as u64 != plan.all.len() {
            let what = format!("{} entries for {:?} inner chunks", entries.len(), plan.counts);
            return Err(Error::ShardIndex { what });
        }
        self.index.encode(&entries, &plan.counts, out)
    }
}
