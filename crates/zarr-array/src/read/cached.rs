//! Reading through a cache: what is kept is copied at once, the rest is fetched, decoded as a whole and kept.
//!
//! ```text
//! Spread ──► begin: what is kept is copied; shards whose index is kept begin at once
//!               └──► Missed ── wants bytes (or only the version) ──► decoded and kept ──► copied
//!                                                               └──► an index: kept ──► Spread over its inner chunks
//! ```

use super::leaf::Item;
use super::requests::{Requests, groups};
use super::{ReadContext, ReadJob, Source, Spread, decoded_size, splits, too_few_cells};
use crate::cache::{ArrayCache, Content, Known, KnownShard, Place};
use crate::{ArrayData, Error, Result, jobs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_codec::{Split, Step, ViewMut};
use zarr_dtype::HeapRef;
use zarr_grid::{Cell, Region};
use zarr_store::{ByteRange, Fetched, GetOptions, Reply, Request, Snapshot, Version};

/// Reads of at most so many bytes look for all that is kept before they fork: a copy takes less time than waking a thread.
const SMALL: usize = 256 << 10;
/// So many cells are looked for on one thread.
const MANY: usize = 1024;

/// A read that goes through a cache.
#[derive(Debug)]
pub(crate) struct CachedRead<'a> {
    cache: &'a ArrayCache,
    small: bool,
    /// Something that was kept was used, or found to be outdated, or more than what is wanted was fetched to be kept: if the
    /// read fails, that may be why.
    doubtful: AtomicBool,
}

impl<'a> CachedRead<'a> {
    /// Of `size` bytes; `None` if that is too much for the cache.
    pub(crate) fn new(cache: &'a ArrayCache, size: usize) -> Option<Self> {
        let fits = !cache.is_too_much(size as u64);
        fits.then(|| Self { cache, small: size <= SMALL, doubtful: AtomicBool::new(false) })
    }

    /// Whether a failure may be the fault of what was kept, so that the read is to be done again without it.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }

    /// Whether cells of a source go through the cache.
    fn takes(&self, context: &ReadContext<'_>, source: &Source, cell_size: u64) -> bool {
        let nests = match source {
            // Without a cache, what is found first says where chunks lie.
            Source::Chunks if context.core.place_unknown() => return false,
            Source::Chunks => self.cache.sharded,
            Source::Shard(shard) => match &shard.state {
                None => return false,
                Some(state) => state.nests,
            },
        };
        nests || !self.cache.is_too_much(cell_size)
    }

    /// What is kept of a chunk is outdated.
    pub(super) fn forget(&self, chunk: &[u64]) {
        self.cache.forget(chunk);
    }

    /// A shard whose index is kept, without doubt.
    pub(super) fn shard(&self, source: &Source, cell: &Cell) -> Option<Arc<Known>> {
        if self.is_in_doubt(source) {
            return None;
        }
        let (place, stamp) = self.place(source, cell);
        self.cache.find(&place, stamp).inspect(|_| self.doubt())
    }

    /// Keeps the index of a shard, or finds that what is kept is still the same.
    pub(super) fn keep_shard(&self, (place, stamp): (Place, u64), split: &Split, fetched: &Fetched) -> Arc<Known> {
        let version = fetched.version.clone();
        let kept = self.cache.find(&place, stamp).filter(|known| version.is_some() && known.version == version);
        kept.unwrap_or_else(|| {
            let state = self.cache.new_state();
            let shard = KnownShard { index: Arc::clone(&split.index), size: fetched.size, state };
            let known = Arc::new(Known { content: Content::Shard(shard), version });
            // Without a version, nothing tells of inner chunks that go by the cache that they are of another state than the index.
            let inner = split.cuts.cursor().cell().map(|cell| cell.shape.clone()).unwrap_or_default();
            let inner_size = decoded_size(&split.codecs, &inner);
            let is_checked = known.version.is_some() || splits(&split.codecs, &inner);
            if is_checked || !self.cache.is_too_much(inner_size) {
                self.cache.keep(place, stamp, &known);
            }
            known
        })
    }

    /// Where a cell is kept, and the stamp that it has now.
    pub(super) fn place(&self, source: &Source, cell: &Cell) -> (Place, u64) {
        match source.state() {
            None => self.cache.chunk(&cell.index),
            Some(state) => (Place { owner: state.owner, cell: cell.index.clone() }, 0),
        }
    }

    /// Whether a version is to be compared first. What is in a shard is as good as its index.
    fn is_in_doubt(&self, source: &Source) -> bool {
        source.state().is_none() && self.cache.revalidates()
    }

    fn doubt(&self) {
        if !self.is_doubtful() {
            self.doubtful.store(true, Ordering::Relaxed);
        }
    }
}

impl Source {
    /// What the cache knows of the shard.
    pub(super) fn state(&self) -> Option<&State> {
        match self {
            Self::Chunks => None,
            Self::Shard(shard) => shard.state.as_ref(),
        }
    }
}

/// A shard as the cache knows it.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Owns what is kept of its inner chunks.
    owner: u64,
    /// Whether its inner chunks are shards.
    nests: bool,
}

impl State {
    /// Of a shard whose index is known.
    pub(super) fn of(known: &Known, split: &Split) -> Option<Self> {
        let Content::Shard(shard) = &known.content else { return None };
        let inner = split.cuts.cursor().cell().map(|cell| cell.shape.clone()).unwrap_or_default();
        let nests = splits(&split.codecs, &inner);
        Some(Self { owner: shard.state, nests })
    }
}

impl Spread<'_> {
    /// Whether the cells go through a cache, and are few enough to begin.
    pub(super) fn is_cached(&self) -> bool {
        let Some(cached) = &self.context.cached else { return false };
        let group = self.context.group_len(self.cell_size);
        let few = if cached.small { group.max(MANY) } else { group };
        self.tiles.len() <= few && cached.takes(self.context, &self.source, self.cell_size)
    }
}

/// Copies what is kept, and gives the jobs that read the rest.
pub(super) fn begin(spread: Spread<'_>) -> Result<Vec<ReadJob<'_>>> {
    let Spread { context, cuts, tiles, source, cell_size } = spread;
    let mut jobs = Vec::new();
    let Some(mut lookup) = Lookup::new(context, &source, cell_size, &mut jobs) else { return Ok(jobs) };
    let mut cursor = cuts.cursor_at(tiles.position() as u64);
    for out in tiles {
        let cell = cursor.cell().ok_or_else(too_few_cells)?;
        lookup.cell(cell, out)?;
        cursor.advance();
    }
    lookup.finish(context.group_len(cell_size));
    Ok(jobs)
}

/// Cells that are looked for in the cache.
pub(super) struct Lookup<'a, 'j> {
    cached: &'a CachedRead<'a>,
    context: &'a ReadContext<'a>,
    source: &'j Source,
    /// What is left to do.
    jobs: &'j mut Vec<ReadJob<'a>>,
    /// Those that were not found.
    cells: Vec<MissedCell<'a>>,
}

impl<'a, 'j> Lookup<'a, 'j> {
    /// For cells of a source; `None` if they do not go through a cache.
    pub(super) fn new(
        context: &'a ReadContext<'a>,
        source: &'j Source,
        cell_size: u64,
        jobs: &'j mut Vec<ReadJob<'a>>,
    ) -> Option<Self> {
        let cached = context.cached.as_ref().filter(|cached| cached.takes(context, source, cell_size))?;
        Some(Self { cached, context, source, jobs, cells: Vec::new() })
    }

    /// Copies what is kept of a cell, or begins with the inner chunks of a shard whose index is kept.
    pub(super) fn cell(&mut self, cell: &Cell, mut out: ViewMut<'a>) -> Result<()> {
        let Self { cached, context, source, .. } = *self;
        let (place, stamp) = cached.place(source, cell);
        let found = cached.cache.find(&place, stamp);
        let in_doubt = cached.is_in_doubt(source);
        if !in_doubt && let Some(Known { content: Content::Elements(data), .. }) = found.as_deref() {
            cached.doubt();
            return copy(data, &cell.region, &mut out);
        }
        let Some(item) = source.item(context, cell, out)? else { return Ok(()) };
        let nests = source.state().map_or(cached.cache.sharded, |state| state.nests);
        let missed = MissedCell { item, place, stamp, nests, in_doubt: None };
        match found {
            Some(known) if !in_doubt => missed.serve(&known, cached, context, self.jobs)?,
            in_doubt => self.cells.push(MissedCell { in_doubt, ..missed }),
        }
        Ok(())
    }

    /// Leaves the cells that were not found as jobs of so many each at most.
    pub(super) fn finish(self, most: usize) {
        let Self { cached, context, jobs, cells, .. } = self;
        // Of a shard only the index is asked for.
        let groups = groups(cells, most, |cell| cell.item.window.as_ref().filter(|_| !cell.nests));
        jobs.extend(
            groups.into_iter().map(|cells| ReadJob::Missed(Missed { context, cached, cells, jobs: Vec::new() })),
        );
    }
}

/// Cells that are not in the cache, or of which it is not sure.
#[derive(Debug)]
pub(crate) struct Missed<'a> {
    context: &'a ReadContext<'a>,
    cached: &'a CachedRead<'a>,
    cells: Vec<MissedCell<'a>>,
    /// What is to be done when all cells are.
    jobs: Vec<ReadJob<'a>>,
}

#[derive(Debug)]
struct MissedCell<'a> {
    item: Item<'a>,
    place: Place,
    stamp: u64,
    /// Whether it is a shard.
    nests: bool,
    /// What is kept of it, until its version is known to be the same.
    in_doubt: Option<Arc<Known>>,
}

impl<'a> Missed<'a> {
    /// Goes on with what came (nothing at first), and says what to ask for.
    pub(super) fn step(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        for mut cell in std::mem::take(&mut self.cells) {
            let left = match cell.item.pending.take() {
                None => Some(cell),
                Some((reply, parts)) => {
                    let fetched = match replies.get(reply) {
                        Some(Reply::Got(fetched)) => fetched.as_ref(),
                        Some(Reply::Conflict) => {
                            self.context.replaced(&cell.item.chunk);
                            continue;
                        }
                        _ => return Err(cell.item.place(jobs::unfit())),
                    };
                    cell.take(fetched, parts, self, &mut requests)?
                }
            };
            if let Some(mut cell) = left {
                if cell.item.pending.is_none() {
                    cell.begin(self.cached, self.context, &mut requests)?;
                }
                self.cells.push(cell);
            }
        }
        Ok(requests.into_vec())
    }

    pub(super) fn into_jobs(self) -> Vec<ReadJob<'a>> {
        self.jobs
    }
}

impl<'a> MissedCell<'a> {
    /// Asks for the version if something is kept, else for the bytes that it takes to decode all of it.
    fn begin(&mut self, cached: &CachedRead<'_>, context: &ReadContext<'_>, requests: &mut Requests) -> Result<()> {
        if self.in_doubt.is_some() {
            self.item.pending = Some(requests.add(&self.item.key, false, Vec::new(), GetOptions::default()));
            return Ok(());
        }
        let Item { codecs, shape, region, out, .. } = &mut self.item;
        let mut decode = if self.nests { codecs.partial(shape, region, &context.access) } else { None };
        if decode.is_none() && !region.is_whole(shape) {
            // What is broken elsewhere in the chunk does not matter without a cache.
            cached.doubt();
        }
        let step = decode.as_mut().map(|decode| decode.step(&[], out)).transpose();
        self.item.decode = decode;
        match step.map_err(|error| self.item.place(error.into()))? {
            None => self.item.ask(&[ByteRange::Full], requests),
            Some(Step::Need(ranges)) => self.item.ask(&ranges, requests),
            Some(_) => Err(Error::internal("a shard is split before its index is read")),
        }
    }

    /// Takes what came. Gives the cell back if it is not done.
    fn take(
        mut self,
        fetched: Option<&Fetched>,
        parts: std::ops::Range<usize>,
        job: &mut Missed<'a>,
        requests: &mut Requests,
    ) -> Result<Option<Self>> {
        let (context, cached) = (job.context, job.cached);
        let version = fetched.and_then(|fetched| fetched.version.clone());
        if let Some(known) = self.in_doubt.take() {
            let same = match (&known.content, fetched) {
                (Content::Absent, None) => true,
                (_, Some(_)) => version.is_some() && version == known.version,
                _ => false,
            };
            if same {
                self.serve(&known, cached, context, &mut job.jobs)?;
                return Ok(None);
            }
            if fetched.is_some() {
                return Ok(Some(self));
            }
        }
        let Some(fetched) = fetched else {
            if self.item.is_begun() {
                context.replaced(&self.item.chunk);
                return Ok(None);
            }
            self.keep(Content::Absent, None, cached);
            self.item.not_stored(context)?;
            return Ok(None);
        };
        self.item.note_state(fetched);
        let Some(decode) = &mut self.item.decode else {
            let data = self.decode(fetched.part(parts.start)).map_err(|error| self.item.place(error))?;
            let known = self.keep(Content::Elements(data), version, cached);
            self.serve(&known, cached, context, &mut job.jobs)?;
            return Ok(None);
        };
        let got: smallvec::SmallVec<[&[u8]; 4]> = parts.map(|part| fetched.part(part)).collect();
        match decode.step(&got, &mut self.item.out).map_err(|error| self.item.place(error.into()))? {
            Step::Done => Ok(None),
            Step::Need(ranges) => {
                self.item.ask(&ranges, requests)?;
                Ok(Some(self))
            }
            Step::Split(split) => {
                let known = cached.keep_shard((self.place.clone(), self.stamp), &split, fetched);
                self.split(*split, &known, context, &mut job.jobs)?;
                Ok(None)
            }
        }
    }

    /// All of its elements.
    fn decode(&self, bytes: &[u8]) -> Result<ArrayData> {
        let Item { codecs, shape, .. } = &self.item;
        let mut data = ArrayData::zeroed(codecs.element(), shape)?;
        codecs.decode(bytes, shape, &Region::whole(shape), &mut data.view_mut())?;
        Ok(data)
    }

    fn keep(&self, content: Content, version: Option<Version>, cached: &CachedRead<'_>) -> Arc<Known> {
        let known = Arc::new(Known { content, version });
        cached.cache.keep(self.place.clone(), self.stamp, &known);
        known
    }

    /// Reads it from what is known.
    fn serve(
        mut self,
        known: &Known,
        cached: &'a CachedRead<'a>,
        context: &'a ReadContext<'a>,
        jobs: &mut Vec<ReadJob<'a>>,
    ) -> Result<()> {
        cached.doubt();
        match &known.content {
            Content::Absent => self.item.fill_absent(context),
            Content::Elements(data) => copy(data, &self.item.region, &mut self.item.out),
            Content::Shard(shard) => {
                let Item { codecs, shape, region, .. } = &self.item;
                let decode = codecs.partial(shape, region, &context.access);
                let split = decode.and_then(|decode| decode.split_by(&shard.index));
                let split = split.ok_or_else(|| Error::internal("an index of another grid is kept of the shard"))?;
                self.split(split, known, context, jobs)
            }
        }
    }

    /// Goes on with the inner chunks of a shard whose index is known.
    fn split(
        mut self,
        split: Split,
        known: &Known,
        context: &'a ReadContext<'a>,
        jobs: &mut Vec<ReadJob<'a>>,
    ) -> Result<()> {
        let state = State::of(known, &split);
        self.item.snapshot = self.item.snapshot.or_else(|| known.version.clone().map(Snapshot::of_version));
        let spread = self.item.spread(split, known.size(), state, context)?;
        if spread.is_cached() {
            jobs.extend(begin(spread)?);
        } else {
            jobs.push(ReadJob::Spread(spread));
        }
        Ok(())
    }
}

/// Copies a region of decoded elements.
fn copy(data: &ArrayData, region: &Region, out: &mut ViewMut<'_>) -> Result<()> {
    let view = data.view();
    let source = view.window(region);
    let Some(heap) = data.heap() else {
        out.copy_from(&source);
        return Ok(());
    };
    // The elements go to the heap of the output.
    let mut elements = Vec::with_capacity(source.len());
    source.all(|item| {
        elements.push(HeapRef::from_item(item).and_then(|element| heap.get(element)).unwrap_or_default());
        true
    });
    let mut elements = elements.into_iter();
    zarr_codec::write_variable("cache", out, Vec::new(), |block| {
        block.extend_from_slice(elements.next().unwrap_or_default());
        Ok(())
    })?;
    Ok(())
}
