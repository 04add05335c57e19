//! Reading, from bytes in memory and by requests for byte ranges.

use crate::index::part;
use crate::shards::Shards;
use std::sync::Arc;
use zarr_codec::decode::axis_windows;
use zarr_codec::{Decode, Error, InnerChunkIndex, Split, Step, ViewMut};
use zarr_grid::{ChunkGrid, Region};

impl Shards {
    /// Decodes `region` of the shard `shard`.
    pub(crate) fn read_from_memory(
        &self,
        shard: &[u8],
        shape: &[u64],
        region: &Region,
        out: &mut ViewMut<'_>,
    ) -> Result<(), Error> {
        let grid = self.grid(shape)?;
        let index = self.index.find(shard, &grid.grid_shape())?;
        let overlaps = grid.intersect(region);
        let mut cursor = overlaps.cursor();
        for mut window in out.reborrow().into_windows(axis_windows(&overlaps))? {
            let Some(overlap) = cursor.overlap() else { break };
            match index.range(&overlap.index)? {
                None => self.codecs.element().fill(&mut window)?,
                Some(range) => {
                    self.codecs.decode(part(shard, &range)?, &overlap.shape, &overlap.region, &mut window)?
                }
            }
            cursor.advance();
        }
        Ok(())
    }
}

/// Decoding of a region step by step: the first step requests the index, the second splits the decoding into the inner chunks that overlap
/// the region.
#[derive(Debug)]
pub(crate) struct Shard {
    codec: Arc<Shards>,
    grid: ChunkGrid,
    region: Region,
    asked: bool,
}

impl Shard {
    pub(crate) fn new(codec: Arc<Shards>, grid: ChunkGrid, region: Region) -> Self {
        Self { codec, grid, region, asked: false }
    }

    fn split(&self, index: Arc<InnerChunkIndex>) -> Split {
        Split::new(self.grid.intersect(&self.region), index, Arc::clone(&self.codec.codecs))
    }
}

impl Decode for Shard {
    fn step(&mut self, got: &[&[u8]], _: &mut ViewMut<'_>) -> Result<Step, Error> {
        let grid = self.grid.grid_shape();
        if !self.asked {
            self.asked = true;
            let size = self.codec.index.size(&grid)?;
            return Ok(Step::Need(vec![self.codec.index.range(size)]));
        }
        let index = self.codec.index.decode(got.first().copied().unwrap_or_default(), &grid)?;
        Ok(Step::Split(Box::new(self.split(Arc::new(index)))))
    }

    fn skip(&mut self) -> Option<Step> {
        None
    }

    fn split_by(&self, index: &Arc<InnerChunkIndex>) -> Option<Split> {
        (index.grid() == self.grid.grid_shape().as_slice()).then(|| self.split(Arc::clone(index)))
    }
}
