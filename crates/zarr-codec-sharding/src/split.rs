//! Writing in runs of inner chunks.

use crate::index::Location;
use crate::shards::Shards;
use crate::write::Plan;
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{EncodeSplit, EncodedRun, Error, Patch, Scratch, View};
use zarr_grid::{ChunkOverlaps, Region, Shape};

/// Encoding of a shard, in runs of the inner chunks that overlap the written region.
#[derive(Debug)]
pub(crate) struct ShardSplit {
    codec: Arc<Shards>,
    plan: Plan,
    shape: Shape,
    region: Region,
    /// Inner chunks that overlap the region: a subsequence of all inner chunks.
    touched: ChunkOverlaps,
}

impl ShardSplit {
    /// Prepares the replacement of `region` of the shard `old`, or of a shard without inner chunks if `old` is `None`.
    pub(crate) fn new(codec: Arc<Shards>, old: Option<&[u8]>, shape: &[u64], region: Region) -> Result<Self, Error> {
        let plan = codec.plan(old, shape)?;
        let touched = plan.grid.intersect(&region);
        Ok(Self { codec, plan, shape: shape.into(), region, touched })
    }

    /// Returns the positions, among all inner chunks, that are written with a run of the touched inner chunks: the positions of the run,
    /// the positions between the previous touched inner chunk and the run, and, for the last run, the positions after the run.
    fn positions(&self, run: &Range<u64>) -> Range<u64> {
        let (all, touched) = (&self.plan.all, &self.touched);
        let position = |number| all.position(&touched.get(number).index).unwrap_or(all.len());
        let start = run.start.checked_sub(1).map_or(0, |before| position(before) + 1);
        let end = match run.end {
            end if end >= touched.len() => all.len(),
            0 => 0,
            end => position(end - 1) + 1,
        };
        start..end
    }
}

impl EncodeSplit for ShardSplit {
    fn count(&self) -> u64 {
        self.touched.len()
    }

    fn encode(&self, run: Range<u64>, old: Option<&[u8]>, new: &View<'_>) -> Result<EncodedRun, Error> {
        let patch = Patch::region(&self.shape, self.region.clone(), new.clone());
        let new = patch.by_chunk(&self.plan.grid)?;
        let mut bytes = Scratch::empty();
        let lengths = self.codec.write_run(&self.plan, self.positions(&run), old, &new, &mut bytes)?;
        let mut bytes = std::mem::take(&mut *bytes);
        // Where the store keeps pieces until the end, all runs of a shard are held at the same time.
        if bytes.capacity() - bytes.len() > bytes.len() / 4 {
            bytes.shrink_to_fit();
        }
        Ok(EncodedRun::new(bytes, lengths))
    }

    fn head(&self) -> u64 {
        match self.codec.index.location {
            Location::Start => self.plan.index_size as u64,
            Location::End => 0,
        }
    }

    fn index(&self, lengths: &[Option<u64>]) -> Result<Vec<u8>, Error> {
        let mut index = Vec::new();
        self.codec.write_index(&self.plan, lengths.iter().copied(), &mut index)?;
        Ok(index)
    }
}
