//! Reading as jobs: a region is spread into runs of chunks, each decoded into its own windows of the output.
//!
//! ```text
//! Spread ── few cells ──► Leaf ── wants bytes ──► decodes ──► wants more (index, slabs) ──► ... ──► done
//!    └──── many ────► forks into Spreads        └──► a shard: forks into Spreads over its inner chunks
//! ```
//!
//! Inner chunks that want all of their bytes, as nearly all do, are not leaves but read [`Together`].
//!
//! In a chunked array the cells are chunks, in a sharded one also the inner chunks of each shard: the same code.

mod cached;
mod leaf;
mod picked;
mod reading;
mod requests;
mod still_there;
mod together;

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, MissingChunks, Result};
pub(crate) use cached::CachedRead;
use cached::{Missed, State};
use leaf::{Item, Leaf};
use picked::Picked;
pub(crate) use reading::{Attempts, ReadPlan, Tried};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use still_there::StillThere;
use together::{Begun, Together};
use zarr_codec::{Access, Error as CodecError, Pipeline, SubchunkIndex, Tiles, ViewMut};
use zarr_grid::{Cell, ChunkIndex, Cuts, Region};
use zarr_store::{Job, Key, Next, Reply, Request, Snapshot};

/// A work item decodes to about so many bytes at least: less is not worth the overhead of handing it to a thread.
const LOCAL_GROUP: u64 = 256 << 10;
/// The same where decoding is nothing but a copy, so that opening a file counts.
const COPIED_GROUP: u64 = 512 << 10;
/// The same where every request has a long latency.
const REMOTE_GROUP: u64 = 4 << 20;
/// Outputs from this size on are written past the caches: whoever reads them next finds little of them there anyway.
const STREAMED: usize = 16 << 20;
/// How many cells are under way at most in one job, so that tiny ones take little memory.
const MAX_CELLS: usize = 2048;
/// How many jobs a job forks into at most; larger plans fork again.
const MAX_FORK: usize = 64;

/// What all jobs of one read share.
#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) core: &'a ArrayCore,
    pub(crate) access: Access,
    /// The output is fresh memory: what is to hold zeros need not be touched.
    pub(crate) zeroed: bool,
    /// Where the read goes through a cache.
    pub(crate) cached: Option<CachedRead<'a>>,
    /// Chunks that others replaced or erased when a part of them was read: to be read again.
    replaced: Mutex<Vec<ChunkIndex>>,
    /// A chunk is not stored.
    missing: AtomicBool,
}

impl<'a> ReadContext<'a> {
    /// For reads that do not go through a cache.
    pub(crate) fn new(core: &'a ArrayCore, access: Access, zeroed: bool) -> Self {
        Self { core, access, zeroed, cached: None, replaced: Mutex::default(), missing: AtomicBool::new(false) }
    }

    /// Whether a failure may be the fault of a cache, so that the same once more may succeed.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.cached.as_ref().is_some_and(CachedRead::is_doubtful)
    }

    /// Notes that a chunk has another state than that of which a part was read. What was read of it is left, and all of it is
    /// read again when the rest is.
    fn replaced(&self, chunk: &ChunkIndex) {
        if let Some(cached) = &self.cached {
            cached.forget(chunk);
        }
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.clone());
    }

    /// The chunks that are to be read again.
    fn take_replaced(&self) -> Vec<ChunkIndex> {
        let mut replaced = std::mem::take(&mut *self.replaced.lock().unwrap_or_else(PoisonError::into_inner));
        replaced.sort_unstable();
        replaced.dedup();
        replaced
    }

    /// How many cells, each of so many decoded bytes, make a group that is worth handing to a thread.
    fn group_len(&self, cell_size: u64) -> usize {
        self.cells(LOCAL_GROUP, cell_size)
    }

    /// How many cells make a group of so many bytes, or of more where requests take long.
    fn cells(&self, local: u64, cell_size: u64) -> usize {
        let group = if self.access.slab.is_some() { local } else { REMOTE_GROUP };
        usize::try_from(group / cell_size.max(1)).unwrap_or(usize::MAX).clamp(1, MAX_CELLS)
    }
}

/// Reads cells of a grid into windows of an output.
#[derive(Debug)]
pub(crate) enum ReadJob<'a> {
    /// Independent reads.
    Many(Vec<ReadJob<'a>>),
    /// Cells that are not begun.
    Spread(Spread<'a>),
    /// A few cells under way.
    Leaf(Leaf<'a>),
    /// A few inner chunks under way.
    Together(Together<'a>),
    /// A few cells that are not in the cache.
    Missed(Missed<'a>),
    /// Parts of one shard.
    Picked(Box<Picked<'a>>),
    /// A few cells that are not begun.
    Cells(Leaf<'a>),
    /// Makes sure that the array is still there.
    StillThere(StillThere<'a>),
    /// Nothing left.
    Done,
}

/// Cells that are not begun: those that `tiles` still has.
#[derive(Debug)]
pub(crate) struct Spread<'a> {
    context: &'a ReadContext<'a>,
    cuts: Arc<Cuts>,
    tiles: Tiles<'a>,
    source: Source,
    /// Decoded bytes of a cell.
    cell_size: u64,
}

/// Where cells are stored.
#[derive(Clone, Debug)]
enum Source {
    /// Each under its own key.
    Chunks,
    /// In a shard.
    Shard(Arc<Shard>),
}

/// A shard whose index is known.
#[derive(Debug)]
struct Shard {
    key: Key,
    chunk: ChunkIndex,
    /// The part of the value that is the shard, where it lies in another shard.
    start: u64,
    /// Its length, if known.
    size: Option<u64>,
    /// Of the value that its index was read from, if the store tells.
    snapshot: Option<Snapshot>,
    index: Arc<SubchunkIndex>,
    codecs: Arc<Pipeline>,
    /// What the cache knows it as.
    state: Option<State>,
    /// No encoded inner chunk can have more bytes.
    largest: u64,
}

impl<'a> ReadJob<'a> {
    /// Reads `region` of an array into `out`, which has its shape.
    pub(crate) fn new(context: &'a ReadContext<'a>, region: &Region, out: ViewMut<'a>) -> Result<Self> {
        let core = context.core;
        let cuts = core.grid.meet(region);
        let stream = out.size() >= STREAMED;
        let tiles = out.streamed(stream).tile(zarr_codec::decode::windows(&cuts))?;
        let cell_size = decoded_size(&core.codecs, &core.grid.largest_chunk_shape());
        Ok(Self::Spread(Spread { context, cuts: Arc::new(cuts), tiles, source: Source::Chunks, cell_size }))
    }

    /// The same of some chunks only, which are sorted.
    fn of_chunks(
        context: &'a ReadContext<'a>,
        region: &Region,
        out: ViewMut<'a>,
        chunks: &[ChunkIndex],
    ) -> Result<Self> {
        let Self::Spread(mut rest) = Self::new(context, region, out)? else { return Ok(Self::Done) };
        let number = |chunk: &ChunkIndex| usize::try_from(rest.cuts.position(chunk)?).ok();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for number in chunks.iter().filter_map(number) {
            match runs.last_mut() {
                Some(run) if run.end == number => run.end += 1,
                _ => runs.push(number..number + 1),
            }
        }
        let mut jobs = Vec::with_capacity(runs.len());
        for run in runs {
            let before = run.start.saturating_sub(rest.tiles.position());
            let [_, from] = rest.split_at(before);
            let [cells, others] = from.split_at(run.len());
            jobs.push(Self::Spread(cells));
            rest = others;
        }
        Ok(Self::Many(jobs))
    }
}

/// There are fewer cells than were planned to be read or written.
pub(crate) fn too_few_cells() -> Error {
    Error::internal("a grid has fewer cells than its plan")
}

/// Whether chunks of `shape` are shards whose inner chunks can be fetched one by one.
pub(crate) fn splits(codecs: &Pipeline, shape: &[u64]) -> bool {
    codecs.part_shape(shape).is_some() && codecs.partial(shape, &Region::whole(shape), &Access::default()).is_some()
}

/// The bytes of a decoded chunk of this shape.
pub(crate) fn decoded_size(codecs: &Pipeline, shape: &[u64]) -> u64 {
    let item = codecs.element().item_size() as u64;
    shape.iter().fold(item, |size, &len| size.saturating_mul(len))
}

/// More bytes than any software encodes a chunk of `shape` to: what an index says beyond that is not asked for.
fn largest_encoded(codecs: &Pipeline, shape: &[u64]) -> u64 {
    // Other encoders of a format may need more than ours, but not twice as much and headers.
    let limit = codecs.limits().max_chunk;
    codecs.encoded_size(shape).bound(limit).saturating_mul(2).saturating_add(1 << 10)
}

impl Job for ReadJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Done) {
            Self::Done => Ok(Next::Done(())),
            Self::Many(jobs) => Ok(Next::Fork(jobs)),
            Self::Spread(spread) if spread.is_cached() => self.fork(cached::begin(spread)?),
            Self::Missed(mut missed) => {
                let requests = missed.step(replies)?;
                if requests.is_empty() {
                    return self.fork(missed.into_jobs());
                }
                *self = Self::Missed(missed);
                Ok(Next::Ask(requests))
            }
            Self::Spread(spread) if spread.tiles.len() > spread.group_len() => Ok(Next::Fork(spread.forks())),
            Self::Spread(spread) => match Together::begin(spread)? {
                Begun::Together(cells, None) => cells.finish(&[]).map(Next::Done),
                Begun::Together(cells, Some(request)) => {
                    *self = Self::Together(cells);
                    Ok(Next::Ask(vec![request]))
                }
                Begun::Parts(spreads) => Ok(Next::Fork(spreads.into_iter().map(Self::Spread).collect())),
                Begun::Apart(spread) => {
                    let mut leaf = spread.into_leaf()?;
                    self.go_on(leaf.begin()?, leaf)
                }
            },
            Self::Picked(picked) => picked.step(replies, self),
            Self::Cells(mut leaf) => self.go_on(leaf.begin()?, leaf),
            Self::Together(cells) => cells.finish(replies).map(Next::Done),
            Self::StillThere(check) => {
                let (next, check) = check.step(replies)?;
                *self = check.map_or(Self::Done, Self::StillThere);
                Ok(next)
            }
            Self::Leaf(mut leaf) => {
                let next = leaf.take(replies)?;
                self.go_on(next, leaf)
            }
        }
    }

    fn place(&mut self, request: usize) -> Option<&mut [u8]> {
        if let Self::Leaf(leaf) = self { leaf.place(request) } else { None }
    }
}

impl<'a> ReadJob<'a> {
    fn fork(&mut self, mut jobs: Vec<Self>) -> Result<Next<Self>> {
        match jobs.pop() {
            None => Ok(Next::Done(())),
            Some(job) if jobs.is_empty() => {
                *self = job;
                self.step(&[])
            }
            Some(job) => {
                jobs.push(job);
                Ok(Next::Fork(jobs))
            }
        }
    }

    fn go_on(&mut self, requests: Vec<Request>, leaf: Leaf<'a>) -> Result<Next<Self>> {
        if !requests.is_empty() {
            let placed = leaf.items.iter().any(|item| item.room.is_some());
            *self = Self::Leaf(leaf);
            return Ok(if placed { Next::Fill(requests) } else { Next::Ask(requests) });
        }
        Ok(if leaf.shards.is_empty() {
            Next::Done(())
        } else {
            Next::Fork(leaf.shards.into_iter().map(Self::Spread).collect())
        })
    }
}

impl<'a> Spread<'a> {
    fn group_len(&self) -> usize {
        let copied = matches!(&self.source, Source::Shard(shard) if shard.codecs.is_items());
        self.context.cells(if copied { COPIED_GROUP } else { LOCAL_GROUP }, self.cell_size)
    }

    /// The first `count` cells, and the others.
    fn split_at(self, count: usize) -> [Self; 2] {
        let Self { context, cuts, tiles, source, cell_size } = self;
        let (first, rest) = tiles.split_at(count);
        let other = Self { context, cuts: Arc::clone(&cuts), tiles: first, source: source.clone(), cell_size };
        [other, Self { context, cuts, tiles: rest, source, cell_size }]
    }

    /// The parts that can run at the same time.
    fn forks(self) -> Vec<ReadJob<'a>> {
        let cells = self.group_len();
        let groups = self.tiles.len().div_ceil(cells);
        let share = groups.div_ceil(groups.clamp(1, MAX_FORK)).saturating_mul(cells);
        let Self { context, cuts, mut tiles, source, cell_size } = self;
        let mut forks = Vec::new();
        while tiles.len() > 0 {
            let (part, rest) = tiles.split_at(share);
            tiles = rest;
            let (cuts, source) = (Arc::clone(&cuts), source.clone());
            forks.push(ReadJob::Spread(Self { context, cuts, tiles: part, source, cell_size }));
        }
        forks
    }

    fn into_leaf(self) -> Result<Leaf<'a>> {
        let context = self.context;
        let mut leaf = Leaf::new(context, Vec::with_capacity(self.tiles.len()));
        let mut cursor = self.cuts.cursor_at(self.tiles.position() as u64);
        for out in self.tiles {
            let cell = cursor.cell().ok_or_else(too_few_cells)?;
            leaf.items.extend(self.source.item(context, cell, out)?);
            cursor.advance();
        }
        Ok(leaf)
    }
}

impl Source {
    /// A cell that is to be read; `None` if it is known not to be stored, and was filled.
    fn item<'a>(&self, context: &ReadContext<'_>, cell: &Cell, mut out: ViewMut<'a>) -> Result<Option<Item<'a>>> {
        let (key, chunk, window, snapshot, codecs) = match self {
            Self::Chunks => (context.core.key(&cell.index)?, cell.index.clone(), None, None, &context.core.codecs),
            Self::Shard(shard) => match shard.find(&cell.index).map_err(|error| shard.place(error))? {
                Some(window) => {
                    (shard.key.clone(), shard.chunk.clone(), Some(window), shard.snapshot.clone(), &shard.codecs)
                }
                None => {
                    context.fill(&mut out)?;
                    return Ok(None);
                }
            },
        };
        Ok(Some(Item {
            out,
            key,
            chunk,
            window,
            snapshot,
            codecs: Arc::clone(codecs),
            shape: cell.shape.clone(),
            region: cell.region.clone(),
            decode: None,
            room: None,
            pending: None,
            place: 0,
            touched: false,
        }))
    }
}

impl Shard {
    /// Where an inner chunk lies in the value.
    fn find(&self, index: &[u64]) -> Result<Option<Range<u64>>> {
        let Some(range) = self.index.range(index)? else { return Ok(None) };
        if let Some(size) = self.size.filter(|&size| range.end > size) {
            let what = format!("inner chunk {index:?} at bytes {range:?} of a shard of {size} bytes");
            return Err(CodecError::ShardIndex { what }.into());
        }
        let len = range.end - range.start;
        if len > self.largest {
            let what = format!("inner chunk {index:?} of {len} bytes, which can have {} at most", self.largest);
            return Err(CodecError::ShardIndex { what }.into());
        }
        match (self.start.checked_add(range.start), self.start.checked_add(range.end)) {
            (Some(start), Some(end)) => Ok(Some(start..end)),
            _ => Err(CodecError::ShardIndex { what: format!("inner chunk {index:?} at bytes {range:?}") }.into()),
        }
    }

    fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.chunk = Some(self.chunk.clone());
            place.key = Some(self.key.to_string());
        })
    }
}

impl ReadContext<'_> {
    /// Whether fill values may stand for a chunk that is not stored.
    fn not_stored(&self, chunk: &ChunkIndex) -> Result<()> {
        match &self.core.options.missing_chunks {
            MissingChunks::Fill => {}
            MissingChunks::Report(report) => report.add(chunk),
            MissingChunks::Error => return Err(Error::new(ErrorKind::MissingChunk, "the chunk is not stored")),
        }
        Ok(())
    }

    /// Fills what is not stored.
    pub(crate) fn fill(&self, out: &mut ViewMut<'_>) -> Result<()> {
        let element = self.core.element();
        if self.zeroed && element.fill.bytes().iter().all(|&byte| byte == 0) && !element.is_variable() {
            return Ok(());
        }
        Ok(element.fill(out)?)
    }
}
