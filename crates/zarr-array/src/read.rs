//! Read jobs: a region is divided into spans of chunks, and each chunk is decoded into its own window of the output.
//!
//! ```text
//! ArrayRead     which chunks are read, and the windows of the output that they go to; job after job, and attempts again (retry)
//!    │
//! ChunkSpan     a run of chunks: more than a group forks into spans
//!    │
//! ChunkBatch    a group: requests for all its chunks, and a ChunkRead for each, which advances with its reply
//!    │
//!    └─ the index of a shard ──► ChunkSpan of its inner chunks ──► InnerChunkBatch: one request, or ChunkBatch
//! ```
//!
//! The chunks of an array and the inner chunks of a shard are read by the same code; inner chunks have a [`Shard`](shard::Shard). Separate
//! modules have further attempts (retry), the cache (cached), chunks that other reads fetch (joined), planned reads (explain), reads of very
//! many chunks of which few are stored (search), selections that are not regions and several regions, whose boxes are read into a staging
//! buffer (staged_boxes, many), and regions of one shard, which share its index (shard_regions).

mod cached;
mod cached_read;
mod chunk_batch;
mod chunk_read;
mod explain;
mod inner_chunks;
mod joined;
mod many;
mod retry;
mod search;
mod shard;
mod shard_regions;
mod span;
mod staged_boxes;

use crate::core::ArrayCore;
use crate::drive::Drive;
use crate::selected_memory::flipped;
use crate::{Error, Result};
use cached::CacheMiss;
use chunk_batch::ChunkBatch;
use explain::PlanJob;
pub(crate) use explain::RequestLog;
use inner_chunks::InnerChunkBatch;
pub(crate) use many::ManyRegions;
use shard_regions::ShardRegions;
use span::ChunkSpan;
pub(crate) use span::ReadContext;
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::ViewMut;
use zarr_drive::{Job, Next};
use zarr_grid::{ChunkIndex, Region, Resolved};
use zarr_store::{Reply, Request};

/// Minimum size in bytes of outputs that are written past the caches of the CPU. Little of a larger output would be in the caches for the
/// next reader anyway.
const STREAMED: usize = 16 << 20;

/// Maximum number of chunks that one job reads if the chunks do not lie side by side, since each takes memory.
const MAX_INDIVIDUALLY: usize = 1024;

/// Read of an array: the driver, and the state that its jobs share. Jobs run one after the other. A failed job has lost its share of the
/// output, so another attempt is another job.
pub(crate) struct ArrayRead<'a, D: Drive> {
    drive: &'a D,
    /// Store with the array's directory pinned; `None` if the directory is not pinned.
    pinned: Option<D::Pinned>,
    context: ReadContext<'a>,
    /// Log of the requests, if the read is only planned.
    log: Option<&'a RequestLog>,
}

/// Part of a read: elements with their own output, which one or several jobs read.
trait ReadPart: Send {
    /// Makes a job that reads all elements, or only those in `chunks`, which are sorted.
    fn job<'a>(&'a mut self, context: &'a ReadContext<'a>, chunks: Option<&[ChunkIndex]>) -> Result<ReadJob<'a>>;
}

/// Region of the array, and its output.
impl ReadPart for (&Region, ViewMut<'_>) {
    fn job<'a>(&'a mut self, context: &'a ReadContext<'a>, chunks: Option<&[ChunkIndex]>) -> Result<ReadJob<'a>> {
        let (region, out) = self;
        match chunks {
            None => ReadJob::new(context, region, out.reborrow()),
            Some(chunks) => ReadJob::of_chunks(context, region, out.reborrow(), chunks),
        }
    }
}

impl<'a, D: Drive> ArrayRead<'a, D> {
    /// Makes a read of `size` bytes, on the store `pinned` if there is one. `zeroed` says that outputs are fresh memory of zeros.
    pub(crate) fn new(core: &'a ArrayCore, drive: &'a D, pinned: Option<D::Pinned>, size: usize, zeroed: bool) -> Self {
        let context = ReadContext::with_cache(core, &drive.access_profile(), zeroed, size, drive.may_wait());
        Self { drive, pinned, context, log: None }
    }

    /// Makes a read that only logs its requests, for an output whose elements have no bytes.
    pub(crate) fn planned(core: &'a ArrayCore, drive: &'a D, log: &'a RequestLog) -> Self {
        let context = ReadContext::plan(core, &drive.access_profile());
        Self { drive, pinned: None, context, log: Some(log) }
    }

    /// Reads a selection into `out`, which has the output shape of the selection.
    pub(crate) async fn selection(&self, resolved: &Resolved, out: ViewMut<'_>) -> Result<()> {
        match resolved {
            Resolved::Box(selected) => self.region(&selected.region, flipped(out, &selected.flipped)).await,
            // Boxed as other rare ways are, so that the future of the usual one is small.
            _ => Box::pin(self.advanced(resolved, out)).await,
        }
    }

    /// Reads a region into `out`, which has the shape of the region.
    pub(crate) async fn region(&self, region: &Region, mut out: ViewMut<'_>) -> Result<()> {
        if out.len() as u64 >= search::MANY
            && let Some(stored) = Box::pin(self.find_stored(region, &mut out)).await?
        {
            return self.chunks(region, &stored, out).await;
        }
        self.part(&mut (region, out), None).await
    }

    /// Reads the part of a region that lies in `chunks`, which are sorted. `out` has the shape of the whole region.
    pub(crate) async fn chunks(&self, region: &Region, chunks: &[ChunkIndex], out: ViewMut<'_>) -> Result<()> {
        let mut part = (region, out);
        for chunks in chunks.chunks(MAX_INDIVIDUALLY) {
            self.part(&mut part, Some(chunks)).await?;
        }
        Ok(())
    }

    /// Reads a part, or only its elements in `chunks`. Reads chunks again that others replaced meanwhile, and reads without the cache after
    /// an error that the cache may have caused.
    async fn part(&self, part: &mut impl ReadPart, chunks: Option<&[ChunkIndex]>) -> Result<()> {
        let mut done = self.run(part.job(&self.context, chunks)?).await;
        let awaited = self.context.take_awaited();
        if done.is_ok() && !awaited.is_empty() {
            done = Box::pin(self.join(part, awaited)).await;
        }
        let replaced = self.context.take_replaced();
        match done {
            Ok(()) if replaced.is_empty() => Ok(()),
            Ok(()) => Box::pin(self.read_again(part, chunks, Some(replaced))).await,
            Err(error) if self.may_be_of_cache(&error) => Box::pin(self.read_again(part, chunks, None)).await,
            Err(error) => Err(error),
        }
    }

    async fn run(&self, job: ReadJob<'_>) -> Result<()> {
        let (core, pinned) = (self.context.core, self.pinned.as_ref());
        match self.log {
            None => self.drive.run_pinned(pinned, core, job).await,
            Some(log) => self.drive.run_pinned(pinned, core, PlanJob::new(job, log)).await,
        }
    }

    /// Sets all elements of an output to the fill value.
    pub(crate) fn fill(&self, out: &mut ViewMut<'_>) -> Result<()> {
        self.context.fill(out)
    }

    pub(crate) fn pinned(&self) -> Option<&D::Pinned> {
        self.pinned.as_ref()
    }

    /// Whether the read has requested chunks from the store.
    pub(crate) fn has_asked(&self) -> bool {
        self.context.has_asked()
    }

    /// Whether the read found a chunk not to be stored.
    pub(crate) fn found_missing(&self) -> bool {
        self.context.missing() > 0
    }
}

/// Job that reads chunks into windows of an output.
#[derive(Debug)]
pub(crate) enum ReadJob<'a> {
    /// Independent reads, which the job forks.
    Many(Vec<ReadJob<'a>>),
    /// Span of chunks whose read has not begun.
    Span(ChunkSpan<'a>),
    /// Group of chunks that are read one by one, waiting for replies.
    Chunks(ChunkBatch<'a>),
    /// Group of inner chunks that wait for one reply.
    InnerChunks(InnerChunkBatch<'a>),
    /// Group of chunks that are not in the cache.
    CacheMiss(CacheMiss<'a>),
    /// Regions of one shard, which share its index.
    ShardRegions(Box<ShardRegions<'a>>),
}

impl<'a> ReadJob<'a> {
    /// Makes the job that reads `region` of an array into `out`, which has the shape of the region.
    pub(crate) fn new(context: &'a ReadContext<'a>, region: &Region, out: ViewMut<'a>) -> Result<Self> {
        Ok(Self::Span(Self::span(context, region, out)?))
    }

    fn span(context: &'a ReadContext<'a>, region: &Region, out: ViewMut<'a>) -> Result<ChunkSpan<'a>> {
        let core = context.core;
        let overlaps = core.grid.intersect(region);
        let stream = out.size() >= STREAMED;
        let windows = out.streamed(stream).into_windows(zarr_codec::decode::axis_windows(&overlaps))?;
        let chunk_size = core.codecs.decoded_size(&core.grid.largest_chunk_shape());
        Ok(ChunkSpan { context, overlaps: Arc::new(overlaps), windows, shard: None, chunk_size })
    }

    /// Makes the job that reads only the part of `region` that lies in `chunks`, which are sorted.
    fn of_chunks(
        context: &'a ReadContext<'a>,
        region: &Region,
        out: ViewMut<'a>,
        chunks: &[ChunkIndex],
    ) -> Result<Self> {
        let mut rest = Self::span(context, region, out)?;
        let position = |chunk: &ChunkIndex| usize::try_from(rest.overlaps.position(chunk)?).ok();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for position in chunks.iter().filter_map(position) {
            match runs.last_mut() {
                Some(run) if run.end == position => run.end += 1,
                _ => runs.push(position..position + 1),
            }
        }
        let mut jobs = Vec::with_capacity(runs.len());
        for run in runs {
            let before = run.start.saturating_sub(rest.windows.position());
            let [_, from] = rest.split_at(before);
            let [span, others] = from.split_at(run.len());
            jobs.push(Self::Span(span));
            rest = others;
        }
        Ok(Self::Many(jobs))
    }

    /// Begins to read each chunk of a span by itself.
    fn begin_each(&mut self, span: ChunkSpan<'a>) -> Result<Next<Self>> {
        let mut batch = ChunkBatch::of_span(span)?;
        let requests = batch.advance(&[])?;
        Ok(self.wait(batch, requests))
    }

    /// Forks `jobs`. A single job is continued at once instead.
    fn fork(&mut self, mut jobs: Vec<Self>) -> Result<Next<Self>> {
        match jobs.pop() {
            None => Ok(Next::Done(())),
            Some(job) if jobs.is_empty() => {
                *self = job;
                self.step(&mut Vec::new())
            }
            Some(job) => {
                jobs.push(job);
                Ok(Next::Fork(jobs))
            }
        }
    }

    /// Waits for the replies to `requests` of a batch. If there are no requests, forks the reads of its inner chunks.
    fn wait(&mut self, batch: ChunkBatch<'a>, requests: Vec<Request>) -> Next<Self> {
        if !requests.is_empty() {
            let has_destinations = batch.has_destinations();
            *self = Self::Chunks(batch);
            return if has_destinations { Next::FetchInto(requests) } else { Next::Ask(requests) };
        }
        let shards = batch.into_shards();
        if shards.is_empty() { Next::Done(()) } else { Next::Fork(shards.into_iter().map(Self::Span).collect()) }
    }
}

impl Job for ReadJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::Many(jobs) if jobs.is_empty() => Ok(Next::Done(())),
            Self::Many(jobs) => Ok(Next::Fork(jobs)),
            Self::Span(span) if span.context.cached.is_some() && span.is_cached() => self.fork(cached::begin(span)?),
            Self::Span(span) if !span.is_group() => Ok(Next::Fork(span.forks().into_iter().map(Self::Span).collect())),
            Self::Span(span) => {
                span.context.note_asked();
                match span.shard.clone() {
                    Some(shard) => self.begin_inner(span, shard),
                    None => self.begin_each(span),
                }
            }
            Self::Chunks(mut batch) => {
                let requests = batch.advance(replies)?;
                Ok(self.wait(batch, requests))
            }
            Self::InnerChunks(batch) => batch.finish(replies).map(Next::Done),
            Self::CacheMiss(mut miss) => {
                let requests = miss.advance(replies)?;
                if requests.is_empty() {
                    return self.fork(miss.into_jobs());
                }
                *self = Self::CacheMiss(miss);
                Ok(Next::Ask(requests))
            }
            Self::ShardRegions(mut regions) => match regions.advance(replies)? {
                Next::Fork(jobs) => self.fork(jobs),
                next => {
                    *self = Self::ShardRegions(regions);
                    Ok(next)
                }
            },
        }
    }

    fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        if let Self::Chunks(batch) = self { batch.destination(request) } else { None }
    }
}
