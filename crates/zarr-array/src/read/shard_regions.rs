//! Read of regions that each lie in one inner chunk, such as the boxes of a coordinate selection. The index of each shard is read once for
//! all regions in it, and inner chunks are fetched together.

use super::ReadJob;
use super::cached::Lookup;
use super::cached_read::Turn;
use super::chunk_batch::ChunkBatch;
use super::chunk_read::{Advance, ChunkRead};
use super::shard::{Shard, ShardGeneration, groups};
use super::span::{ChunkSpan, ReadContext};
use crate::cache::{CacheEntry, CacheKey, CachedContent, Claim};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use zarr_codec::{Split, ViewMut};
use zarr_drive::Next;
use zarr_grid::{ChunkIndex, ChunkOverlap, Region};
use zarr_store::{Reply, Request, Snapshot};

/// Region, and the output into which it is read.
type RegionOutput<'a> = (Region, ViewMut<'a>);

/// Job that reads several regions of one shard.
#[derive(Debug)]
pub(crate) struct ShardRegions<'a> {
    context: &'a ReadContext<'a>,
    /// Outer shard in which the shard lies; `None` if the shard is a chunk of the array.
    outer: Option<Arc<Shard>>,
    /// Shard, and the first of the regions.
    overlap: ChunkOverlap,
    first: FirstRegion<'a>,
    /// Other regions of the shard, with their outputs.
    others: Vec<RegionOutput<'a>>,
    /// Cache key of the index, and its epoch before the index was requested; `None` without a cache.
    key: Option<(CacheKey, u64)>,
    /// Claim of the read to the index, for which other reads wait.
    claim: Option<Claim>,
}

/// State of the first region, by whose read the index is read.
#[derive(Debug)]
enum FirstRegion<'a> {
    /// Not begun: the output of the region.
    Output(ViewMut<'a>),
    Reading(Box<ChunkRead<'a>>),
    Ended,
}

/// Regions grouped by their chunk, in the order in which the chunks first occur.
#[derive(Default)]
struct RegionsByChunk<'a> {
    chunks: Vec<(ChunkOverlap, ViewMut<'a>, Vec<RegionOutput<'a>>)>,
    positions: HashMap<ChunkIndex, usize>,
}

impl<'a> RegionsByChunk<'a> {
    fn add(&mut self, overlap: ChunkOverlap, out: ViewMut<'a>) {
        let position = *self.positions.entry(overlap.index.clone()).or_insert(self.chunks.len());
        match self.chunks.get_mut(position) {
            Some((.., others)) => others.push((overlap.region, out)),
            None => self.chunks.push((overlap, out, Vec::new())),
        }
    }

    fn into_jobs(self, context: &'a ReadContext<'a>, outer: Option<Arc<Shard>>) -> impl Iterator<Item = ReadJob<'a>> {
        self.chunks.into_iter().map(move |(overlap, first, others)| {
            let first = FirstRegion::Output(first);
            let job = ShardRegions { context, outer: outer.clone(), overlap, first, others, key: None, claim: None };
            ReadJob::ShardRegions(Box::new(job))
        })
    }
}

impl<'a> ReadJob<'a> {
    /// Makes the job that reads regions into outputs that have their shapes.
    pub(crate) fn regions(context: &'a ReadContext<'a>, regions: Vec<RegionOutput<'a>>) -> Result<Self> {
        let core = context.core;
        let mut jobs = Vec::new();
        let mut shards = RegionsByChunk::default();
        // As long as the location of chunks is not known, each is looked for by itself.
        let is_sharded = core.codecs.is_sharded(&core.grid.largest_chunk_shape()) && !core.is_location_unknown();
        for (region, out) in regions {
            let overlaps = core.grid.intersect(&region);
            if is_sharded && overlaps.len() == 1 {
                shards.add(overlaps.get(0), out);
            } else {
                jobs.push(Self::new(context, &region, out)?);
            }
        }
        jobs.extend(shards.into_jobs(context, None));
        Ok(Self::Many(jobs))
    }
}

impl<'a> ShardRegions<'a> {
    /// Continues with the reply (none at first). Returns the next requests, or after the index is known the jobs that follow.
    pub(super) fn advance(&mut self, replies: &[Reply]) -> Result<Next<ReadJob<'a>>> {
        let mut requests = Vec::new();
        let jobs = match std::mem::replace(&mut self.first, FirstRegion::Ended) {
            FirstRegion::Output(out) => self.start(out, &mut requests)?,
            FirstRegion::Reading(read) => self.go_on(*read, replies, &mut requests)?,
            FirstRegion::Ended => return Err(crate::jobs::went_on()),
        };
        Ok(if requests.is_empty() { Next::Fork(jobs) } else { Next::Ask(requests) })
    }

    /// Looks the index up in the cache, or requests it, unless another read has requested it.
    fn start(&mut self, out: ViewMut<'a>, requests: &mut Vec<Request>) -> Result<Vec<ReadJob<'a>>> {
        let Some(mut read) = ChunkRead::new(self.context, self.outer.as_deref(), &self.overlap, out)? else {
            self.fill_others()?;
            return Ok(Vec::new());
        };
        let mut entry = None;
        if let Some(cached) = &self.context.cached {
            let outer = self.outer.as_deref();
            let key = self.key.insert(cached.key(outer, &self.overlap));
            match cached.shard_turn(outer, key) {
                Turn::Found(found) => entry = Some(found),
                Turn::Own(claim) => self.claim = claim,
                Turn::Other(other) => {
                    self.context.note_awaited(&read.chunk, other);
                    return Ok(Vec::new());
                }
            }
        }
        if entry.as_ref().is_some_and(|entry| matches!(entry.content, CachedContent::Missing)) {
            self.context.note_cached_missing();
            read.fill_missing(self.context)?;
            self.fill_others()?;
            return Ok(Vec::new());
        }
        let partial = read.partial(self.context);
        if let Some(entry) = entry
            && let CachedContent::Index(index) = &entry.content
            && let Some(split) = partial.as_ref().and_then(|decode| decode.split_by(&index.index))
        {
            read.snapshot = read.snapshot.or_else(|| entry.version.clone().map(Snapshot::of_version));
            return self.split(read, split, Some(&entry), entry.size());
        }
        self.context.note_asked();
        if let Some(kept) = read.kept(self.context, self.others.iter().map(|(region, _)| region)) {
            let split = read.split_by(&kept, self.context)?;
            return self.split(read, split, None, kept.size);
        }
        read.start(partial, requests)?;
        read.check_waits()?;
        self.first = FirstRegion::Reading(Box::new(read));
        Ok(Vec::new())
    }

    fn go_on(
        &mut self,
        mut read: ChunkRead<'a>,
        replies: &[Reply],
        requests: &mut Vec<Request>,
    ) -> Result<Vec<ReadJob<'a>>> {
        match read.advance(replies, &[], self.context, requests)? {
            Advance::Index(split, fetched) => {
                if read.byte_range.is_none() {
                    self.context.keep_index(&read.chunk, &split, fetched);
                }
                let cached = self.context.cached.as_ref().zip(self.key.take());
                let (entry, is_kept) = cached.map(|(cached, key)| cached.keep_index(key, &split, fetched)).unzip();
                self.end_claim(is_kept);
                return self.split(read, *split, entry.as_deref(), fetched.size);
            }
            Advance::Waiting => self.first = FirstRegion::Reading(Box::new(read)),
            Advance::NotStored => {
                let cached = self.context.cached.as_ref().zip(self.key.take());
                let entry = Arc::new(CacheEntry { content: CachedContent::Missing, version: None });
                let is_kept = cached.map(|(cached, (key, epoch))| cached.cache.keep(key, epoch, &entry));
                self.end_claim(is_kept);
                read.not_stored(self.context)?;
                self.fill_others()?;
            }
            Advance::Replaced => {}
            Advance::Done | Advance::Bytes(..) => {
                return Err(read.locate(Error::internal("a shard is read without its index")));
            }
        }
        Ok(Vec::new())
    }

    /// Ends the claim, since the index was read. `is_kept` says that it is in the cache; `None` without a cache.
    fn end_claim(&mut self, is_kept: Option<bool>) {
        if let Some(claim) = self.claim.take() {
            claim.end_read(is_kept.unwrap_or(false));
        }
    }

    /// Fills the outputs of the other regions, for a shard that is not stored.
    fn fill_others(&mut self) -> Result<()> {
        self.others.iter_mut().try_for_each(|(_, out)| self.context.fill(out))
    }

    /// Returns the jobs that read the inner chunks of all regions of a shard, in a value of `size` bytes.
    fn split(
        &mut self,
        mut read: ChunkRead<'a>,
        split: Split,
        entry: Option<&CacheEntry>,
        size: Option<u64>,
    ) -> Result<Vec<ReadJob<'a>>> {
        let context = self.context;
        let index = Arc::clone(&split.index);
        let (codecs, shape) = (Arc::clone(&read.codecs), read.shape.clone());
        let has_inner_shards =
            split.overlaps.cursor().overlap().is_some_and(|overlap| split.codecs.is_sharded(&overlap.shape));
        let generation = entry.and_then(|entry| ShardGeneration::new(entry, &split));
        let ChunkSpan { overlaps, windows, shard, chunk_size, .. } = read.split(split, size, generation, context)?;
        let mut inner = vec![(overlaps, windows)];
        for (region, out) in std::mem::take(&mut self.others) {
            let split = codecs.partial(&shape, &region, &context.access).and_then(|decode| decode.split_by(&index));
            let split = split.ok_or_else(|| read.locate(Error::internal("an index is not of the shard's grid")))?;
            inner.push((Arc::new(split.overlaps.clone()), split.windows(out)?));
        }
        let mut jobs = Vec::new();
        let mut shards = RegionsByChunk::default();
        let mut chunks = Vec::new();
        let mut lookup = Lookup::new(context, shard.as_deref(), chunk_size, &mut jobs);
        for (overlaps, windows) in inner {
            for (overlap, out) in overlaps.iter().zip(windows) {
                match &mut lookup {
                    _ if has_inner_shards => shards.add(overlap, out),
                    Some(lookup) => lookup.chunk(&overlap, out)?,
                    None => chunks.extend(ChunkRead::new(context, shard.as_deref(), &overlap, out)?),
                }
            }
        }
        let max_len = context.group_len(chunk_size);
        if let Some(lookup) = lookup {
            lookup.finish(max_len);
        }
        let batches = groups(chunks, max_len, |chunk| chunk.byte_range.as_ref());
        if !batches.is_empty() {
            context.note_asked();
        }
        jobs.extend(batches.into_iter().map(|chunks| ReadJob::Chunks(ChunkBatch::new(context, chunks))));
        jobs.extend(shards.into_jobs(context, shard));
        Ok(jobs)
    }
}
