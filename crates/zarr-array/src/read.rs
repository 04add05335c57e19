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
mod picked;
mod requests;
mod together;

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, MissingChunks, Result};
pub(crate) use cached::CachedRead;
use cached::{Missed, State};
use picked::Picked;
use requests::{Requests, needed};
use std::ops::Range;
use std::sync::Arc;
use together::{Begun, Together};
use zarr_codec::{Access, Decode, Error as CodecError, Pipeline, Scratch, Split, Step, SubchunkIndex, Tiles, ViewMut};
use zarr_grid::{Cell, ChunkIndex, Cuts, Region, Shape};
use zarr_store::{ByteRange, Job, Key, Next, Reply, Request};

/// A work item decodes to about so many bytes at least: less is not worth the overhead of handing it to a thread.
const LOCAL_GROUP: u64 = 256 << 10;
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
}

impl ReadContext<'_> {
    /// Whether a failure may be the fault of a cache.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.cached.as_ref().is_some_and(CachedRead::is_doubtful)
    }

    /// How many cells, each of so many decoded bytes, make a group that is worth handing to a thread.
    fn group_len(&self, cell_size: u64) -> usize {
        let group = if self.access.slab.is_some() { LOCAL_GROUP } else { REMOTE_GROUP };
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
    index: Arc<SubchunkIndex>,
    codecs: Arc<Pipeline>,
    /// What the cache knows it as.
    state: Option<State>,
    /// No encoded inner chunk has more bytes.
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
        self.context.group_len(self.cell_size)
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
            let Some(cell) = cursor.cell() else { break };
            leaf.items.extend(self.source.item(context, cell, out)?);
            cursor.advance();
        }
        Ok(leaf)
    }
}

impl Source {
    /// A cell that is to be read; `None` if it is known not to be stored, and was filled.
    fn item<'a>(&self, context: &ReadContext<'_>, cell: &Cell, mut out: ViewMut<'a>) -> Result<Option<Item<'a>>> {
        let (key, chunk, window, codecs) = match self {
            Self::Chunks => (context.core.key(&cell.index)?, cell.index.clone(), None, &context.core.codecs),
            Self::Shard(shard) => match shard.find(&cell.index).map_err(|error| shard.place(error))? {
                Some(window) => (shard.key.clone(), shard.chunk.clone(), Some(window), &shard.codecs),
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
            codecs: Arc::clone(codecs),
            shape: cell.shape.clone(),
            region: cell.region.clone(),
            decode: None,
            room: None,
            pending: None,
            place: 0,
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
    /// Fills what is not stored.
    fn fill(&self, out: &mut ViewMut<'_>) -> Result<()> {
        let element = self.core.element();
        if self.zeroed && element.fill.bytes().iter().all(|&byte| byte == 0) && !element.is_variable() {
            return Ok(());
        }
        Ok(element.fill(out)?)
    }
}

/// A few cells under way.
#[derive(Debug)]
pub(crate) struct Leaf<'a> {
    context: &'a ReadContext<'a>,
    items: Vec<Item<'a>>,
    /// Shards that were met, to be spread when all items are done.
    shards: Vec<Spread<'a>>,
    /// Where the bytes of items lie that have [`Room::Buffer`].
    buffer: Scratch,
    /// How much of it they take.
    buffered: usize,
}

/// Where the bytes of a chunk whose encoded size is known may be put.
#[derive(Debug)]
enum Room {
    /// They are the output's.
    Output,
    /// In this part of the leaf's buffer.
    Buffer(Range<usize>),
}

/// One chunk or inner chunk under way.
#[derive(Debug)]
struct Item<'a> {
    out: ViewMut<'a>,
    key: Key,
    chunk: ChunkIndex,
    /// The part of the value that is this chunk; `None`: all of it.
    window: Option<Range<u64>>,
    codecs: Arc<Pipeline>,
    shape: Shape,
    region: Region,
    /// Where the codecs can do with less than all bytes.
    decode: Option<Box<dyn Decode>>,
    /// Where all bytes are known to fit.
    room: Option<Room>,
    /// Which reply, and which of its parts, hold what was asked for last.
    pending: Option<(usize, Range<usize>)>,
    /// The number of the place that the key is of.
    place: u8,
}

enum After<'a> {
    Wants(Vec<ByteRange>),
    Shard(Spread<'a>),
    Done,
}

impl<'a> Leaf<'a> {
    fn new(context: &'a ReadContext<'a>, items: Vec<Item<'a>>) -> Self {
        Self { context, items, shards: Vec::new(), buffer: Scratch::default(), buffered: 0 }
    }

    /// Asks for the first bytes of all items.
    fn begin(&mut self) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        let mut items = std::mem::take(&mut self.items);
        let access = self.context.access;
        for item in &mut items {
            if item.is_output(&access) {
                item.room = Some(Room::Output);
                item.ask(&[ByteRange::Full], &mut requests)?;
                continue;
            }
            item.decode = item.codecs.partial(&item.shape, &item.region, &access);
            match &mut item.decode {
                None => {
                    let small = item.known_size(&access).filter(|&size| size <= LOCAL_GROUP);
                    if let Some(end) = small.and_then(|size| self.buffered.checked_add(usize::try_from(size).ok()?)) {
                        item.room = Some(Room::Buffer(self.buffered..end));
                        self.buffered = end;
                    }
                    item.ask(&[ByteRange::Full], &mut requests)?;
                }
                Some(decode) => match decode.step(&[], &mut item.out).map_err(Error::from)? {
                    Step::Need(ranges) => item.ask(&ranges, &mut requests)?,
                    Step::Done => {}
                    Step::Split(_) => return Err(Error::argument("a shard is split before its index is read")),
                },
            }
        }
        items.retain(|item| item.pending.is_some());
        self.items = items;
        Ok(requests.into_vec())
    }

    /// Where the value asked for by a request may be put. Requests are the items', in their order, where items have room.
    fn place(&mut self, request: usize) -> Option<&mut [u8]> {
        let item = self.items.get_mut(request)?;
        if item.pending.as_ref().is_none_or(|(reply, _)| *reply != request) {
            return None;
        }
        match item.room.as_ref()? {
            Room::Output => item.out.as_contiguous(),
            Room::Buffer(part) => {
                if self.buffer.len() < self.buffered {
                    self.buffer = Scratch::take();
                }
                self.buffer.sized(self.buffered).ok()?.get_mut(part.clone())
            }
        }
    }

    /// Decodes what came, and asks for more where that is wanted.
    fn take(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        for mut item in std::mem::take(&mut self.items) {
            let Some((reply, parts)) = item.pending.take() else { continue };
            if let Some(Reply::Filled(size)) = replies.get(reply) {
                self.context.core.found_place(item.place);
                if !item.filled(*size, &self.buffer)? {
                    item.ask(&[ByteRange::Full], &mut requests)?;
                    self.items.push(item);
                }
                continue;
            }
            let Some(Reply::Got(Some(fetched))) = replies.get(reply) else {
                self.missing(item, &mut requests)?;
                continue;
            };
            self.context.core.found_place(item.place);
            let got: smallvec::SmallVec<[&[u8]; 4]> = parts.map(|part| fetched.part(part)).collect();
            let after = item.go_on(&got, fetched.size, self.context).map_err(|error| item.place(error))?;
            match after {
                After::Wants(ranges) => {
                    item.ask(&ranges, &mut requests)?;
                    self.items.push(item);
                }
                After::Shard(window) => self.shards.push(window),
                After::Done => {}
            }
        }
        Ok(requests.into_vec())
    }

    /// There is nothing under the item's key.
    fn missing(&mut self, mut item: Item<'a>, requests: &mut Requests) -> Result<()> {
        if item.window.is_some() {
            return Err(item.gone());
        }
        if let Some((place, key)) = self.context.core.other_key(&item.chunk, item.place) {
            item.key = key;
            item.place = place;
            let ranges = match &mut item.decode {
                None => vec![ByteRange::Full],
                Some(_) => {
                    // The first step is repeated from the start: nothing has been decoded yet.
                    item.decode = item.codecs.partial(&item.shape, &item.region, &self.context.access);
                    match item.decode.as_mut().map(|decode| decode.step(&[], &mut item.out)).transpose()? {
                        Some(Step::Need(ranges)) => ranges,
                        _ => vec![ByteRange::Full],
                    }
                }
            };
            item.ask(&ranges, requests)?;
            self.items.push(item);
            return Ok(());
        }
        item.not_stored(self.context)
    }
}

impl<'a> Item<'a> {
    /// The number of bytes of the encoded chunk, where it is known and reading them into memory of ours gains something.
    fn known_size(&self, access: &Access) -> Option<u64> {
        let local = self.window.is_none() && access.slab.is_some();
        local.then(|| self.codecs.encoded_size(&self.shape).exact()).flatten()
    }

    /// Whether the bytes of the encoded chunk are those of the output.
    fn is_output(&mut self, access: &Access) -> bool {
        self.codecs.is_memory()
            && self.region.is_whole(&self.shape)
            && self.known_size(access).is_some()
            && self.out.as_contiguous().is_some()
    }

    /// Takes a value of `size` bytes that lies where there is room for it. If it is of another size than is due, all of
    /// it is to be asked for again, so that decoding can tell what is wrong.
    fn filled(&mut self, size: u64, buffer: &[u8]) -> Result<bool> {
        match self.room.take() {
            Some(Room::Output) => Ok(size == self.out.size() as u64),
            Some(Room::Buffer(part)) if size == part.len() as u64 => {
                let bytes = buffer.get(part).unwrap_or_default();
                let decoded = self.codecs.decode(bytes, &self.shape, &self.region, &mut self.out);
                decoded.map(|()| true).map_err(|error| self.place(error.into()))
            }
            _ => Ok(false),
        }
    }

    /// Notes what to ask for; inner chunks of one shard share a request.
    fn ask(&mut self, ranges: &[ByteRange], requests: &mut Requests) -> Result<()> {
        let ranges = ranges.iter().map(|range| self.shifted(range)).collect::<Result<Vec<_>>>()?;
        self.pending = Some(requests.add(&self.key, self.window.is_some(), ranges));
        Ok(())
    }

    /// A range of the chunk as a range of the value.
    fn shifted(&self, range: &ByteRange) -> Result<ByteRange> {
        let Some(window) = &self.window else { return Ok(range.clone()) };
        let len = window.end - window.start;
        match range.resolve(len) {
            Some(range) => Ok(ByteRange::Range(window.start + range.start..window.start + range.end)),
            None => {
                let error = CodecError::Truncated { codec: "sharding_indexed", found: len, expected: needed(range) };
                Err(self.place(error.into()))
            }
        }
    }

    fn go_on(&mut self, got: &[&[u8]], size: Option<u64>, context: &'a ReadContext<'a>) -> Result<After<'a>> {
        let Some(decode) = &mut self.decode else {
            let bytes = got.first().copied().unwrap_or_default();
            self.codecs.decode(bytes, &self.shape, &self.region, &mut self.out)?;
            return Ok(After::Done);
        };
        match decode.step(got, &mut self.out)? {
            Step::Need(ranges) => Ok(After::Wants(ranges)),
            Step::Done => Ok(After::Done),
            Step::Split(split) => Ok(After::Shard(self.spread(*split, size, None, context)?)),
        }
    }

    /// The inner chunks of a shard whose index has come. The item gives its output away.
    fn spread(
        &mut self,
        split: Split,
        size: Option<u64>,
        state: Option<State>,
        context: &'a ReadContext<'a>,
    ) -> Result<Spread<'a>> {
        let nothing = ViewMut::new(&mut [], 1, &[0])?;
        let out = std::mem::replace(&mut self.out, nothing);
        let tiles = split.tile(out)?;
        let (start, size) = match &self.window {
            Some(window) => (window.start, Some(window.end - window.start)),
            None => (0, size),
        };
        let cell = split.cuts.cursor().cell().map(|cell| cell.shape.clone()).unwrap_or_default();
        let cell_size = decoded_size(&split.codecs, &cell);
        let largest = largest_encoded(&split.codecs, &cell);
        let shard = Shard {
            key: self.key.clone(),
            chunk: self.chunk.clone(),
            start,
            size,
            index: split.index,
            codecs: split.codecs,
            state,
            largest,
        };
        Ok(Spread { context, cuts: Arc::new(split.cuts), tiles, source: Source::Shard(Arc::new(shard)), cell_size })
    }

    /// There is nothing under its key.
    fn not_stored(&mut self, context: &ReadContext<'_>) -> Result<()> {
        match context.core.options.missing_chunks {
            MissingChunks::Fill => context.fill(&mut self.out),
            MissingChunks::Error => Err(self.place(Error::new(ErrorKind::MissingChunk, "the chunk is not stored"))),
        }
    }

    fn gone(&self) -> Error {
        self.place(Error::new(ErrorKind::CorruptChunk, "the shard is gone since its index was read"))
    }

    fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.chunk = Some(self.chunk.clone());
            place.key = Some(self.key.to_string());
        })
    }
}
