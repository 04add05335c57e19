//! Reads through a cache: cached elements are copied at once; other chunks are fetched, decoded as a whole and cached.
//!
//! ```text
//! ChunkSpan ──► begin: cached chunks are copied; shards whose index is cached begin at once
//!                 └──► CacheMiss ── asks for bytes (or only the version) ──► decoded and cached ──► copied
//!                                                                     └──► an index: cached ──► ChunkSpan of its inner chunks
//! ```

use super::ReadJob;
use super::cached_read::{CachedRead, Turn};
use super::chunk_read::{Advance, ChunkRead};
use super::shard::{Shard, ShardGeneration, groups};
use super::span::{ChunkSpan, ReadContext};
use crate::cache::{CacheEntry, CacheKey, CachedContent, Claim};
use crate::data::copy_elements;
use crate::jobs::too_few_chunks;
use crate::{ArrayData, Error, Result, jobs};
use std::sync::Arc;
use zarr_codec::{Split, ViewMut};
use zarr_grid::{ChunkOverlap, Region};
use zarr_store::{GetOptions, Reply, Request, Snapshot, Version};

/// Maximum number of chunks that one thread looks up in the cache.
const MANY: usize = 1024;

impl ChunkSpan<'_> {
    /// Whether the chunks are read through a cache, and are few enough to look up on one thread.
    pub(super) fn is_cached(&self) -> bool {
        let Some(cached) = &self.context.cached else { return false };
        let group = self.context.group_len(self.chunk_size);
        let few = if cached.is_small { group.max(MANY) } else { group };
        self.windows.len() <= few && cached.takes(self.context.core, self.shard.as_deref(), self.chunk_size)
    }
}

/// Copies the cached chunks of a span, and returns the jobs that read the others.
pub(super) fn begin(span: ChunkSpan<'_>) -> Result<Vec<ReadJob<'_>>> {
    let ChunkSpan { context, overlaps, windows, shard, chunk_size } = span;
    let mut jobs = Vec::new();
    let Some(mut lookup) = Lookup::new(context, shard.as_deref(), chunk_size, &mut jobs) else { return Ok(jobs) };
    let mut cursor = overlaps.cursor_at(windows.position() as u64);
    for out in windows {
        let overlap = cursor.overlap().ok_or_else(too_few_chunks)?;
        lookup.chunk(overlap, out)?;
        cursor.advance();
    }
    lookup.finish(context.group_len(chunk_size));
    Ok(jobs)
}

/// Lookup of several chunks in the cache.
pub(super) struct Lookup<'a, 'j> {
    cached: &'a CachedRead<'a>,
    context: &'a ReadContext<'a>,
    /// Shard to which the inner chunks belong; `None` for chunks of the array.
    shard: Option<&'j Shard>,
    /// Jobs that read the chunks that cannot be copied from the cache.
    jobs: &'j mut Vec<ReadJob<'a>>,
    /// Chunks that were not found in the cache, or have to be revalidated.
    uncached: Vec<UncachedChunk<'a>>,
}

impl<'a, 'j> Lookup<'a, 'j> {
    /// Makes a lookup of chunks, or of inner chunks of `shard`; `None` if they are not read through a cache.
    pub(super) fn new(
        context: &'a ReadContext<'a>,
        shard: Option<&'j Shard>,
        chunk_size: u64,
        jobs: &'j mut Vec<ReadJob<'a>>,
    ) -> Option<Self> {
        let cached = context.cached.as_ref().filter(|cached| cached.takes(context.core, shard, chunk_size))?;
        Some(Self { cached, context, shard, jobs, uncached: Vec::new() })
    }

    /// Copies the cached elements of a chunk, or begins to read the inner chunks of a shard whose index is cached. Otherwise adds the chunk
    /// to `uncached`, or to the chunks of the context for which the read waits if another read fetches it.
    pub(super) fn chunk(&mut self, overlap: &ChunkOverlap, mut out: ViewMut<'a>) -> Result<()> {
        let Self { cached, context, shard, .. } = *self;
        let (key, epoch) = cached.key(shard, overlap);
        let found = cached.cache.find(&key, epoch);
        let revalidates = cached.revalidates(shard);
        if !revalidates && let Some(CacheEntry { content: CachedContent::Elements(data), .. }) = found.as_deref() {
            cached.doubt();
            return copy_elements(&data.view().window(&overlap.region), &mut out);
        }
        let Some(read) = ChunkRead::new(context, shard, overlap, out)? else { return Ok(()) };
        let (found, claim) = match found.map_or_else(|| cached.turn(&key, epoch), Turn::Found) {
            Turn::Found(entry) => (Some(entry), None),
            Turn::Own(claim) => (None, claim),
            Turn::Other(other) => {
                context.note_awaited(&read.chunk, other);
                return Ok(());
            }
        };
        let generation = shard.and_then(|shard| shard.generation.as_ref());
        let is_shard = generation.map_or(cached.cache.sharded, |generation| generation.has_inner_shards);
        let uncached = UncachedChunk { read, key, epoch, is_shard, in_doubt: None, claim };
        match found {
            Some(entry) if !revalidates => uncached.serve(&entry, cached, context, self.jobs)?,
            in_doubt => self.uncached.push(UncachedChunk { in_doubt, ..uncached }),
        }
        Ok(())
    }

    /// Adds jobs that read the uncached chunks, at most `max_len` chunks each.
    pub(super) fn finish(self, max_len: usize) {
        let Self { cached, context, jobs, uncached, .. } = self;
        if !uncached.is_empty() {
            context.note_asked();
        }
        // Of a shard only the index is asked for.
        let groups = groups(uncached, max_len, |chunk| chunk.read.byte_range.as_ref().filter(|_| !chunk.is_shard));
        let job = |chunks| ReadJob::CacheMiss(CacheMiss { context, cached, chunks, jobs: Vec::new() });
        jobs.extend(groups.into_iter().map(job));
    }
}

/// Job that reads chunks that are not in the cache, or whose entries may be outdated.
#[derive(Debug)]
pub(crate) struct CacheMiss<'a> {
    context: &'a ReadContext<'a>,
    cached: &'a CachedRead<'a>,
    chunks: Vec<UncachedChunk<'a>>,
    /// Jobs that follow after all chunks were received.
    jobs: Vec<ReadJob<'a>>,
}

#[derive(Debug)]
struct UncachedChunk<'a> {
    read: ChunkRead<'a>,
    key: CacheKey,
    epoch: u64,
    is_shard: bool,
    /// Cache entry of the chunk that has to be revalidated: its version is not compared yet.
    in_doubt: Option<Arc<CacheEntry>>,
    /// Claim of the read to the chunk, for which other reads wait; `None` if there is an entry in doubt, or another read has the claim.
    claim: Option<Claim>,
}

impl<'a> CacheMiss<'a> {
    /// Continues with the replies (none at first), and returns the next requests.
    pub(super) fn advance(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Vec::new();
        for chunk in std::mem::take(&mut self.chunks) {
            let left = match chunk.read.pending {
                None => Some(chunk),
                Some(_) if chunk.in_doubt.is_some() => chunk.revalidate(replies, self)?,
                Some(_) => chunk.advance(replies, self, &mut requests)?,
            };
            if let Some(mut chunk) = left {
                if chunk.read.pending.is_none() {
                    chunk.start(self.cached, self.context, &mut requests)?;
                }
                self.chunks.push(chunk);
            }
        }
        Ok(requests)
    }

    pub(super) fn into_jobs(self) -> Vec<ReadJob<'a>> {
        self.jobs
    }
}

impl<'a> UncachedChunk<'a> {
    /// Requests the version of the chunk if there is a cache entry, else the bytes that are needed to decode all of the chunk.
    fn start(&mut self, cached: &CachedRead<'_>, context: &ReadContext<'_>, requests: &mut Vec<Request>) -> Result<()> {
        if self.in_doubt.is_some() {
            self.read.pending = Some((requests.len(), 0..0));
            let (key, options) = (self.read.key.clone(), GetOptions::default());
            requests.push(Request::Get { key, ranges: Vec::new(), options });
            return Ok(());
        }
        let partial = if self.is_shard { self.read.partial(context) } else { None };
        if partial.is_none() && !self.read.region.is_whole(&self.read.shape) {
            // Without a cache, a broken part of the chunk that is not read does not matter.
            cached.doubt();
        }
        self.read.start(partial, requests)?;
        self.read.check_waits()
    }

    /// Compares the version in the reply with the version of the cache entry. Returns the chunk if it has to be read again.
    fn revalidate(mut self, replies: &[Reply], job: &mut CacheMiss<'a>) -> Result<Option<Self>> {
        let reply = self.read.pending.take().and_then(|(reply, _)| replies.get(reply));
        let (found, entry) = match (reply, self.in_doubt.take()) {
            (Some(Reply::Got(found)), Some(entry)) => (found.as_ref(), entry),
            (Some(Reply::Conflict), _) => {
                job.context.note_replaced(&self.read.chunk);
                return Ok(None);
            }
            _ => return Err(self.read.locate(jobs::unfit())),
        };
        let is_same = match (&entry.content, found) {
            (CachedContent::Missing, None) => true,
            (_, Some(found)) => found.version.is_some() && found.version == entry.version,
            _ => false,
        };
        if !is_same {
            job.cached.cache.found_outdated();
        }
        match found {
            // Be it as before or not: the array may not be there any more.
            None => self.not_stored(job).map(|()| None),
            _ if is_same => self.serve(&entry, job.cached, job.context, &mut job.jobs).map(|()| None),
            Some(_) => Ok(Some(self)),
        }
    }

    /// Continues with a reply. Returns the chunk if it has made further requests.
    fn advance(
        mut self,
        replies: &[Reply],
        job: &mut CacheMiss<'a>,
        requests: &mut Vec<Request>,
    ) -> Result<Option<Self>> {
        let (context, cached) = (job.context, job.cached);
        match self.read.advance(replies, &[], context, requests)? {
            Advance::Waiting => return Ok(Some(self)),
            Advance::Done | Advance::Replaced => {}
            Advance::NotStored => self.not_stored(job)?,
            Advance::Bytes(bytes, fetched) => {
                let data = self.decode(bytes).map_err(|error| self.read.locate(error))?;
                let entry = self.keep(CachedContent::Elements(data), fetched.version.clone(), cached);
                self.serve(&entry, cached, context, &mut job.jobs)?;
            }
            Advance::Index(split, fetched) => {
                let (entry, is_kept) = cached.keep_index((self.key.clone(), self.epoch), &split, fetched);
                self.end_claim(is_kept);
                self.split(*split, &entry, context, &mut job.jobs)?;
            }
        }
        Ok(None)
    }

    /// Handles a chunk that is not stored.
    fn not_stored(mut self, job: &CacheMiss<'_>) -> Result<()> {
        self.keep(CachedContent::Missing, None, job.cached);
        self.read.not_stored(job.context)
    }

    /// Decodes all elements of the chunk.
    fn decode(&self, bytes: &[u8]) -> Result<ArrayData> {
        let ChunkRead { codecs, shape, .. } = &self.read;
        let mut data = ArrayData::zeroed(codecs.element(), shape)?;
        codecs.decode(bytes, shape, &Region::whole(shape), &mut data.view_mut())?;
        Ok(data)
    }

    fn keep(&mut self, content: CachedContent, version: Option<Version>, cached: &CachedRead<'_>) -> Arc<CacheEntry> {
        let entry = Arc::new(CacheEntry { content, version });
        let is_kept = cached.cache.keep(self.key.clone(), self.epoch, &entry);
        self.end_claim(is_kept);
        entry
    }

    /// Ends the claim, since the chunk was read.
    fn end_claim(&mut self, is_kept: bool) {
        if let Some(claim) = self.claim.take() {
            claim.end_read(is_kept);
        }
    }

    /// Reads the chunk from its cache entry.
    fn serve(
        mut self,
        entry: &CacheEntry,
        cached: &'a CachedRead<'a>,
        context: &'a ReadContext<'a>,
        jobs: &mut Vec<ReadJob<'a>>,
    ) -> Result<()> {
        cached.doubt();
        match &entry.content {
            CachedContent::Missing => {
                context.note_cached_missing();
                self.read.fill_missing(context)
            }
            CachedContent::Elements(data) => copy_elements(&data.view().window(&self.read.region), &mut self.read.out),
            CachedContent::Index(index) => {
                let split = self.read.partial(context).and_then(|decode| decode.split_by(&index.index));
                let split = split.ok_or_else(|| Error::internal("the cached index of the shard is of another grid"))?;
                self.split(split, entry, context, jobs)
            }
        }
    }

    /// Continues with the inner chunks of a shard whose index is known.
    fn split(
        mut self,
        split: Split,
        entry: &CacheEntry,
        context: &'a ReadContext<'a>,
        jobs: &mut Vec<ReadJob<'a>>,
    ) -> Result<()> {
        let generation = ShardGeneration::new(entry, &split);
        self.read.snapshot = self.read.snapshot.or_else(|| entry.version.clone().map(Snapshot::of_version));
        let span = self.read.split(split, entry.size(), generation, context)?;
        if span.is_cached() {
            jobs.extend(begin(span)?);
        } else {
            jobs.push(ReadJob::Span(span));
        }
        Ok(())
    }
}
