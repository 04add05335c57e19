//! Chunks of a read that other reads fetch at the same time: the read waits for them after its other chunks, and finds them in the cache.

use super::{ArrayRead, MAX_INDIVIDUALLY, ReadPart};
use crate::Result;
use crate::cache::Claimed;
use crate::drive::Drive;
use std::sync::Arc;
use zarr_grid::ChunkIndex;

/// Maximum number of times that a part of a read waits for other reads: for the index of a shard, then for its inner chunks, and again where
/// a read that had a claim failed.
const MAX_WAITS: u32 = 16;
/// Maximum number of times that a read waits for reads that fail or are dropped. Then it fetches what is left itself.
const MAX_FAILED: u32 = 2;

impl<D: Drive> ArrayRead<'_, D> {
    /// Reads the chunks of a part that other reads have claimed, after these reads have dropped their claims.
    pub(super) async fn join(
        &self,
        part: &mut impl ReadPart,
        mut awaited: Vec<(ChunkIndex, Arc<Claimed>)>,
    ) -> Result<()> {
        let mut failed = 0;
        for number in 1_u32.. {
            let may_wait = self.drive.wait(&awaited).await;
            failed += u32::from(awaited.iter().any(|(_, other)| other.has_failed()));
            // The next read of a chunk for which the cache has no room would leave nothing either.
            let is_unkept = awaited.iter().any(|(_, other)| other.is_unkept());
            if !may_wait || is_unkept || number >= MAX_WAITS || failed >= MAX_FAILED {
                self.context.stop_joining();
            }
            let mut chunks: Vec<ChunkIndex> = awaited.into_iter().map(|(chunk, _)| chunk).collect();
            chunks.sort_unstable();
            chunks.dedup();
            for chunks in chunks.chunks(MAX_INDIVIDUALLY) {
                self.run(part.job(&self.context, Some(chunks))?).await?;
            }
            awaited = self.context.take_awaited();
            if awaited.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
