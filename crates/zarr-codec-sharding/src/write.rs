//! Writing: whole shards, and parts of them.

use crate::index::{Location, part};
use crate::sharding::Sharding;
use zarr_codec::{Error, Patch, View};
use zarr_grid::{ChunkGrid, ChunkOverlap, Region};

/// Offset and length of an inner chunk that is not stored.
const ABSENT: (u64, u64) = (u64::MAX, u64::MAX);

impl Sharding {
    /// Appends a whole shard. Inner chunks that may be missing are not stored.
    pub(crate) fn write_all(&self, shard: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let shape: Vec<u64> = shard.shape().iter().map(|&len| len as u64).collect();
        let grid = self.grid(&shape)?;
        let overlaps = grid.intersect(&Region::whole(&shape));
        let mut cursor = overlaps.cursor();
        self.write(&grid, out, |_, out| {
            let Some(overlap) = cursor.overlap() else { return Ok(false) };
            let chunk = window(shard, overlap);
            let stored = !self.codecs.element().may_omit(&chunk);
            if stored {
                self.codecs.encode(&chunk, out)?;
            }
            cursor.advance();
            Ok(stored)
        })
    }

    /// Appends the shard `old` (or one without inner chunks) with the elements of `patch` replaced. Inner chunks that it does not
    /// meet are copied as bytes, not decoded; bytes between inner chunks are dropped.
    pub(crate) fn write_part(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let grid = self.grid(patch.shape())?;
        let old = old.map(|old| Ok::<_, Error>((old, self.index.find(old, &grid.grid_shape())?))).transpose()?;
        let parts = patch.by_chunk(&grid)?;
        self.write(&grid, out, |position, out| {
            let before = match &old {
                Some((old, index)) => index.range(position)?.map(|range| part(old, &range)).transpose()?,
                None => None,
            };
            let Some(patch) = parts.at(position) else {
                out.extend_from_slice(before.unwrap_or_default());
                return Ok(before.is_some());
            };
            if patch.may_omit(self.codecs.element()) && (before.is_none() || patch.covers()) {
                return Ok(false);
            }
            self.codecs.patch(before, &patch, out)?;
            Ok(true)
        })
    }

    /// Appends a shard whose inner chunks `write_chunk` appends one after another, in C order of `grid`; it says whether
    /// it stored the one asked for.
    fn write(
        &self,
        grid: &ChunkGrid,
        out: &mut Vec<u8>,
        mut write_chunk: impl FnMut(&[u64], &mut Vec<u8>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let counts = grid.grid_shape();
        let size = self.index.size(&counts)? as usize;
        let start = out.len();
        if self.index.location == Location::Start {
            out.resize(start + size, 0);
        }
        let mut entries = Vec::new();
        let shape: Vec<u64> = counts.iter().zip(&self.chunk_shape).map(|(count, len)| count * len).collect();
        for overlap in grid.intersect(&Region::whole(&shape)).iter() {
            let offset = (out.len() - start) as u64;
            let stored = write_chunk(&overlap.index, out)?;
            let len = (out.len() - start) as u64 - offset;
            entries.push(if stored { (offset, len) } else { ABSENT });
        }
        match self.index.location {
            Location::End => self.index.encode(&entries, &counts, out),
            Location::Start => {
                let mut index = Vec::with_capacity(size);
                self.index.encode(&entries, &counts, &mut index)?;
                if let Some(target) = out.get_mut(start..start + index.len()) {
                    target.copy_from_slice(&index);
                }
                Ok(())
            }
        }
    }
}

/// The part of `data` that belongs into `overlap`.
fn window<'a>(data: &View<'a>, overlap: &ChunkOverlap) -> View<'a> {
    data.window(&overlap.output())
}
