//! Write jobs: a region or a selection is divided by chunk. Each chunk is encoded and set, or read, patched and set.

mod divided;

use crate::cache::InvalidationGuard;
use crate::core::ArrayCore;
use crate::jobs::too_few_chunks;
use crate::kept_chunk::KeptChunk;
use crate::{Error, ErrorKind, Result, drive, jobs};
use divided::{DividedChunk, LARGE, Run, window};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Patch, View};
use zarr_drive::{Job, Next};
use zarr_grid::{ChunkIndex, ChunkOverlaps, ElementsByChunk, Region};
use zarr_store::{
    AccessProfile, BufferUse, ByteRange, Capabilities, Conflicts, Durability, Fetched, GetOptions, Key, Precondition,
    Reply, Request, SetOptions, StoreKind, take_buffer,
};

/// Maximum number of jobs into which a job forks. Larger writes fork again.
const MAX_FORK: u64 = 64;
/// Maximum number of bytes of small chunks that one job writes together: they fit into the caches of a thread.
const GROUP_SIZE: u64 = 256 << 10;
/// Maximum number of small chunks that one job writes together. With this number, looking up their directory costs little beside writing
/// them.
const GROUP_LEN: u64 = 64;
/// Maximum number of times that a partial write begins again if others keep changing the chunk.
const MAX_TRIES: u32 = 1000;

/// Job that writes elements of an array, chunk by chunk.
#[derive(Debug)]
pub(crate) enum WriteJob<'a> {
    /// Chunks whose writes have not begun, by their numbers among the chunks that have new elements.
    Span { context: Arc<WriteContext<'a>>, numbers: Range<u64> },
    /// Group of chunks whose requests are running.
    Chunks(ChunkWrites<'a>),
    /// Shard whose inner chunks are encoded by forked jobs.
    Divided(Box<DividedChunk<'a>>),
    /// Run of inner chunks of a divided shard, to be encoded.
    Run(Run<'a>),
    /// Request that appends encoded inner chunks of a divided shard to the value.
    Append(Request),
}

/// Group of chunks whose requests are running.
#[derive(Debug, Default)]
pub(crate) struct ChunkWrites<'a> {
    /// Chunks that are written in part, each with the index of its request among the last requests.
    parts: Vec<(usize, WriteChunk<'a>)>,
    /// Chunks that are written whole.
    whole: Vec<WholeWrite<'a>>,
    /// Whether chunks are written only if they are still in the states in which they were seen.
    conditional: bool,
}

/// State of a chunk that is written whole, between its request and the reply.
#[derive(Debug)]
struct WholeWrite<'a> {
    /// Guard that invalidates cached elements of the chunk when it is dropped.
    _invalidation: Option<InvalidationGuard>,
    kept: Option<&'a KeptChunk>,
}

/// States in which chunks were seen. A write requires that each chunk is still in its state.
#[derive(Debug)]
pub(crate) struct ChunkStates {
    /// Range of the numbers of the chunks.
    numbers: Range<u64>,
    /// State of each chunk of `numbers`.
    states: Vec<Precondition>,
}

impl ChunkStates {
    pub(crate) fn new(numbers: Range<u64>, states: Vec<Precondition>) -> Self {
        Self { numbers, states }
    }

    fn of(&self, number: u64) -> Result<Precondition> {
        let at = number.checked_sub(self.numbers.start).and_then(|at| usize::try_from(at).ok());
        let state = at.and_then(|at| self.states.get(at));
        state.cloned().ok_or_else(|| Error::internal("the state of a chunk to be written was not requested"))
    }
}

/// Context of one write: everything that its jobs share.
#[derive(Debug)]
pub(crate) struct WriteContext<'a> {
    core: &'a ArrayCore,
    elements: WrittenElements<'a>,
    /// Whether the store has conditional sets.
    conditional: bool,
    /// Number of chunks that one job writes together.
    group: u64,
    /// Durability of replaced chunks that have further elements beside the written ones.
    durability: Durability,
    /// States in which the chunks must still be; `None` for a write without conditions.
    states: Option<ChunkStates>,
    /// Whether there are more threads than chunks, so that inner chunks of a shard are encoded in parallel.
    divides: bool,
    /// Number of runs of inner chunks of a shard that are encoded at the same time.
    window: u64,
    /// Number of bytes of the elements of a chunk that is encoded as a whole; 0 if chunks are divided.
    weight: u64,
}

/// Elements to write, divided by chunk (by shard, if the array is sharded), so that each stored value is read and written once.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for a whole write")]
enum WrittenElements<'a> {
    /// All elements of a region: its overlaps with chunks, and the elements.
    Region(ChunkOverlaps, View<'a>),
    /// Selected elements by chunk. The view has all elements of the selection, in C order.
    Selected(&'a ElementsByChunk<'a>, View<'a>),
    /// Buffered elements of chunks, and whether each chunk is to be set by its own job.
    Kept(&'a [&'a KeptChunk], bool),
}

impl WrittenElements<'_> {
    /// Number of chunks that have elements to write.
    fn count_chunks(&self) -> u64 {
        match self {
            Self::Region(overlaps, _) => overlaps.len(),
            Self::Selected(chunks, _) => chunks.len(),
            Self::Kept(chunks, _) => chunks.len() as u64,
        }
    }

    /// Approximate number of bytes of the written elements of a chunk that has `len` elements.
    fn size_of_chunk(&self, len: u64) -> u64 {
        let data = match self {
            Self::Region(_, data) | Self::Selected(_, data) => data,
            Self::Kept(chunks, _) => return chunks.iter().map(|chunk| chunk.size()).max().unwrap_or_default(),
        };
        let heap = data.heap().map_or(0, |heap| heap.size() / (data.len() as u64).div_ceil(len.max(1)).max(1));
        len.saturating_mul(data.item_size() as u64).saturating_add(heap)
    }
}

impl<'a> WriteJob<'a> {
    /// Makes the job that writes `data`, which has the shape of `region`, to `region` of an array in a store with these capabilities and
    /// this profile. `durability` is for replaced chunks that have further elements beside the written ones.
    pub(crate) fn new(
        core: &'a ArrayCore,
        region: &Region,
        data: View<'a>,
        durability: Durability,
        store: (Capabilities, &AccessProfile),
    ) -> Self {
        Self::of(core, WrittenElements::Region(core.grid.intersect(region), data), durability, store, None)
    }

    /// Makes the job that writes the part of `data` that lies in the chunks of `states`, each on the condition that the chunk is still in
    /// its state. If not, the job ends with [`ErrorKind::Conflict`]. All of these chunks are stored, even if all their elements are the
    /// fill value.
    pub(crate) fn on_states(
        core: &'a ArrayCore,
        region: &Region,
        data: View<'a>,
        states: ChunkStates,
        store: (Capabilities, &AccessProfile),
    ) -> Self {
        Self::of(
            core,
            WrittenElements::Region(core.grid.intersect(region), data),
            Durability::File,
            store,
            Some(states),
        )
    }

    /// Whether a write of `region` writes some chunk in part, so that its other elements are read before.
    pub(crate) fn has_parts(core: &ArrayCore, region: &Region) -> bool {
        let lengths = core.grid.largest_chunk_shape();
        if region.axes().iter().zip(&lengths).any(|(axis, &len)| axis.step > 1 && len > 1) {
            return true;
        }
        let overlaps = core.grid.intersect(region);
        // Along each axis only the first and the last chunk may be cut.
        let ends = [overlaps.iter().next(), overlaps.len().checked_sub(1).map(|last| overlaps.get(last))];
        !ends.iter().flatten().all(|overlap| core.grid.covers_chunk(overlap))
    }

    /// Makes the job that writes selected elements, divided by chunk. `data` has all elements of the selection, in C order.
    pub(crate) fn selected(
        core: &'a ArrayCore,
        chunks: &'a ElementsByChunk<'a>,
        data: View<'a>,
        store: (Capabilities, &AccessProfile),
    ) -> Self {
        Self::of(core, WrittenElements::Selected(chunks, data), Durability::None, store, None)
    }

    /// Makes the job that writes buffered chunks, and notes each chunk that is written. Small chunks are set in groups, or one by one if
    /// `apart`.
    pub(crate) fn kept(
        core: &'a ArrayCore,
        chunks: &'a [&'a KeptChunk],
        apart: bool,
        store: (Capabilities, &AccessProfile),
    ) -> Self {
        Self::of(core, WrittenElements::Kept(chunks, apart), Durability::None, store, None)
    }

    fn of(
        core: &'a ArrayCore,
        elements: WrittenElements<'a>,
        durability: Durability,
        (capabilities, profile): (Capabilities, &AccessProfile),
        states: Option<ChunkStates>,
    ) -> Self {
        let numbers = states.as_ref().map_or(0..elements.count_chunks(), |states| states.numbers.clone());
        // Where each request waits for long, chunks are better apart; and chunks of unknown size may be large.
        let is_apart = matches!(elements, WrittenElements::Kept(_, true));
        let apart = is_apart || profile.kind == StoreKind::Remote || core.element().is_variable();
        let size = core.codecs.decoded_size(&core.grid.largest_chunk_shape());
        let group = if apart { 1 } else { (GROUP_SIZE / size.max(1)).clamp(1, GROUP_LEN) };
        let conditional = capabilities.conditional;
        let (count, threads) = (numbers.end - numbers.start, drive::threads(core) as u64);
        let (divides, window) = (count < threads, window(count, threads));
        let chunk = core.grid.largest_chunk_shape();
        let weight = elements.size_of_chunk(zarr_grid::element_count(&chunk).unwrap_or(u64::MAX));
        let may_divide = (divides || weight >= LARGE) && !matches!(elements, WrittenElements::Selected(..));
        let is_divided = may_divide && core.codecs.is_sharded(&chunk);
        let weight = if is_divided { 0 } else { weight };
        let context = WriteContext { core, elements, conditional, group, durability, states, divides, window, weight };
        Self::Span { context: Arc::new(context), numbers }
    }

    fn fork(context: &Arc<WriteContext<'a>>, numbers: &Range<u64>) -> Next<Self> {
        // Shares are whole groups, so that few are cut short.
        let share = (numbers.end - numbers.start).div_ceil(MAX_FORK).next_multiple_of(context.group);
        let starts = (numbers.start..numbers.end).step_by(usize::try_from(share).unwrap_or(usize::MAX));
        let part = |start: u64| Self::Span {
            context: Arc::clone(context),
            numbers: start..start.saturating_add(share).min(numbers.end),
        };
        Next::Fork(starts.map(part).collect())
    }

    /// Makes the first request for each chunk. A chunk that is written whole is encoded now, and needs no other request.
    fn begin(&mut self, context: &WriteContext<'a>, numbers: Range<u64>) -> Result<Next<Self>> {
        let (mut requests, mut parts, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for number in numbers {
            let mut chunk = WriteChunk::new(context, number)?;
            if chunk.covers {
                if context.group == 1 {
                    match DividedChunk::whole(chunk)? {
                        Ok(divided) => return Ok(divided.begin(self)),
                        Err(undivided) => chunk = undivided,
                    }
                }
                requests.push(chunk.whole().map_err(|error| chunk.locate(error))?);
                whole.extend(chunk.take_whole());
            } else {
                requests.push(chunk.get());
                parts.push((requests.len() - 1, chunk));
            }
        }
        *self = Self::Chunks(ChunkWrites { parts, whole, conditional: context.states.is_some() });
        Ok(Next::Ask(requests))
    }

    fn go_on(&mut self, chunks: ChunkWrites<'a>, replies: &[Reply]) -> Result<Next<Self>> {
        let ChunkWrites { mut parts, whole, conditional } = chunks;
        let is_part = |at: &usize| parts.binary_search_by_key(at, |(at, _)| *at).is_ok();
        for (_, reply) in replies.iter().enumerate().filter(|(at, _)| !is_part(at)) {
            match reply {
                Reply::Set | Reply::Erased | Reply::Appended => {}
                Reply::Conflict if conditional => return Err(changed()),
                _ => return Err(jobs::unfit()),
            }
        }
        whole.iter().filter_map(|whole| whole.kept).for_each(KeptChunk::note_written);
        if let ([(0, _)], [reply]) = (&parts[..], replies)
            && let Some((_, chunk)) = parts.pop()
        {
            match DividedChunk::part(chunk, reply)? {
                Ok(divided) => return Ok(divided.begin(self)),
                Err(undivided) => parts.push((0, undivided)),
            }
        }
        let mut requests = Vec::new();
        let mut failed = None;
        parts.retain_mut(|(at, chunk)| match replies.get(*at).map_or(Err(jobs::unfit()), |reply| chunk.take(reply)) {
            _ if failed.is_some() => false,
            Ok(None) => {
                chunk.kept.into_iter().for_each(KeptChunk::note_written);
                false
            }
            Ok(Some(request)) => {
                *at = requests.len();
                requests.push(request);
                true
            }
            Err(error) => {
                failed = Some(chunk.locate(error));
                false
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        *self = Self::Chunks(ChunkWrites { parts, whole: Vec::new(), conditional });
        Ok(if requests.is_empty() { Next::Done(()) } else { Next::Ask(requests) })
    }
}

impl Job for WriteJob<'_> {
    type Output = ();
    type Error = Error;

    fn weight(&self) -> u64 {
        match self {
            Self::Span { context, numbers } if numbers.end - numbers.start <= context.group => {
                context.weight.saturating_mul(numbers.end - numbers.start)
            }
            _ => 0,
        }
    }

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Chunks(ChunkWrites::default())) {
            Self::Span { numbers, .. } if numbers.is_empty() => Ok(Next::Done(())),
            Self::Span { context, numbers } if numbers.end - numbers.start > context.group => {
                Ok(Self::fork(&context, &numbers))
            }
            Self::Span { context, numbers } => self.begin(&context, numbers),
            Self::Chunks(chunks) => self.go_on(chunks, replies),
            Self::Divided(divided) => divided.go_on(self, replies),
            Self::Run(run) => run.encode().map(Next::Done),
            Self::Append(request) => Ok(Next::Ask(vec![request])),
        }
    }
}

/// Write of one chunk, whole or in part.
///
/// Start ── whole ──► Set or Erase ──► done; Start ── part ──► Get ──► patched: Set ──► done, or changed meanwhile: Pause, Get ...
#[derive(Debug)]
pub(crate) struct WriteChunk<'a> {
    core: &'a ArrayCore,
    key: Key,
    index: ChunkIndex,
    patch: Patch<'a>,
    /// Whether all elements of the chunk that lie in the array are written.
    covers: bool,
    conditional: bool,
    durability: Durability,
    /// State in which the chunk must still be; `None` for a write without a condition.
    state: Option<Precondition>,
    conflicts: Conflicts,
    /// Whether there are more threads than chunks, so that inner chunks are encoded in parallel.
    divides: bool,
    /// Number of runs of inner chunks that are encoded at the same time.
    window: u64,
    /// Guard that invalidates cached elements of the chunk when it is dropped.
    invalidation: Option<InvalidationGuard>,
    /// Buffered chunk whose elements are written, if they were buffered.
    kept: Option<&'a KeptChunk>,
}

impl<'a> WriteChunk<'a> {
    fn new(context: &WriteContext<'a>, number: u64) -> Result<Self> {
        let core = context.core;
        let mut kept = None;
        let (index, patch, covers) = match &context.elements {
            WrittenElements::Region(overlaps, data) => {
                let overlap = overlaps.get(number);
                let covers = core.grid.covers_chunk(&overlap);
                let window = data.window(&overlap.output());
                (overlap.index, Patch::region(&overlap.shape, overlap.region, window), covers)
            }
            WrittenElements::Selected(chunks, data) => {
                let (index, elements) = chunks.get(number).ok_or_else(too_few_chunks)?;
                let covers = elements.cover(&core.grid.chunk_region(&index).shape());
                let patch = Patch::selected(&core.grid.chunk_shape(&index), elements, data)?;
                (index, patch, covers)
            }
            WrittenElements::Kept(chunks, _) => {
                let chunk = *usize::try_from(number).ok().and_then(|at| chunks.get(at)).ok_or_else(too_few_chunks)?;
                kept = Some(chunk);
                (chunk.index().clone(), chunk.patch()?, chunk.covers())
            }
        };
        Ok(Self {
            core,
            key: core.key(&index)?,
            patch,
            covers,
            conditional: context.conditional,
            durability: context.durability,
            state: context.states.as_ref().map(|states| states.of(number)).transpose()?,
            conflicts: Conflicts::new(MAX_TRIES),
            divides: context.divides,
            window: context.window,
            invalidation: core.invalidation(Some(&index)),
            index,
            kept,
        })
    }

    /// Moves the state that a chunk written whole needs until the reply; `None` if it needs none.
    fn take_whole(&mut self) -> Option<WholeWrite<'a>> {
        let whole = WholeWrite { _invalidation: self.invalidation.take(), kept: self.kept };
        (whole._invalidation.is_some() || whole.kept.is_some()).then_some(whole)
    }

    /// Makes the request that writes the whole chunk. Chunks are stored at full size, so elements beyond the edge of the array are written
    /// as the fill value.
    fn whole(&self) -> Result<Request> {
        let key = self.key.clone();
        if self.may_omit() {
            return Ok(Request::Erase { key });
        }
        let mut value = take_buffer(BufferUse::Append);
        self.core.codecs.patch(None, &self.patch, &mut value)?;
        Ok(Request::set(key, value, self.state.clone().unwrap_or_default()))
    }

    /// Whether a chunk that has only these elements need not be stored. A chunk with a condition is stored, since a missing chunk does not
    /// show who wrote it.
    fn may_omit(&self) -> bool {
        let is_kept = self.core.options.write_empty_chunks || self.state.is_some();
        !is_kept && self.patch.may_omit(self.core.element())
    }

    fn get(&self) -> Request {
        let (codecs, shape) = (&self.core.codecs, self.patch.shape());
        let options = GetOptions::default().expecting(codecs.encoded_size(shape).bound(codecs.decoded_size(shape)));
        Request::Get { key: self.key.clone(), ranges: vec![ByteRange::Full], options }
    }

    /// Continues with the reply to the last request, and returns the next request; `None` if the part of the chunk is written.
    fn take(&mut self, reply: &Reply) -> Result<Option<Request>> {
        let (old, options) = match reply {
            Reply::Got(found) => self.found(found.as_ref())?,
            Reply::Conflict if self.state.is_some() => return Err(changed()),
            // Others write to the chunk as well: after a pause, one of several succeeds.
            Reply::Conflict => match self.conflicts.again() {
                Some(duration) => return Ok(Some(Request::Pause { duration })),
                None => {
                    let message = format!("others changed the chunk {} while a part of it was written", self.conflicts);
                    return Err(Error::new(ErrorKind::Conflict, message));
                }
            },
            Reply::Paused => return Ok(Some(self.get())),
            Reply::Set => return Ok(None),
            _ => return Err(jobs::unfit()),
        };
        if old.is_none() && self.may_omit() {
            return Ok(None);
        }
        let mut value = take_buffer(BufferUse::Append);
        self.core.codecs.patch(old, &self.patch, &mut value)?;
        Ok(Some(Request::Set { key: self.key.clone(), value, options }))
    }

    /// Returns the stored bytes of the chunk, and the options for setting the patched chunk.
    fn found<'f>(&self, found: Option<&'f Fetched>) -> Result<(Option<&'f [u8]>, SetOptions)> {
        let when = match found {
            None => Precondition::NotExists,
            Some(fetched) => fetched.version.clone().map_or(Precondition::None, Precondition::Version),
        };
        if self.state.as_ref().is_some_and(|state| *state != when) {
            return Err(changed());
        }
        let when = if self.conditional { when } else { Precondition::None };
        Ok((found.map(|fetched| fetched.part(0)), SetOptions::when(when).durable(self.durability)))
    }

    fn locate(&self, error: Error) -> Error {
        locate(error, &self.index, &self.key)
    }
}

/// Adds a chunk and its key to an error.
fn locate(error: Error, chunk: &ChunkIndex, key: &Key) -> Error {
    error.at(|location| {
        location.chunk = Some(chunk.clone());
        location.key = Some(key.to_string());
    })
}

/// Error for a chunk that is no longer in the state in which it was seen.
fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "another writer changed the chunk meanwhile")
}
