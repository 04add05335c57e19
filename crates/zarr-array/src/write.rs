//! Writing as jobs: a region is spread into chunks, each encoded and set, or read, patched and set.

use crate::buffer::Buffer;
use crate::cache::Changing;
use crate::core::ArrayCore;
use crate::gather::Picked;
use crate::read::{decoded_size, too_few_cells};
use crate::{Error, ErrorKind, Result, jobs};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::View;
use zarr_grid::{Cell, Cuts, Region};
use zarr_store::{
    Capabilities, Coalesce, Durability, Job, Key, Next, Precondition, Reply, Request, SetOptions, backoff,
};

/// How many jobs a job forks into at most; larger plans fork again.
const MAX_FORK: u64 = 64;
/// A job writes small chunks together, up to so many bytes of them: what a thread's caches keep.
const GROUP_SIZE: u64 = 256 << 10;
/// And up to so many: enough that looking up their directory is little beside writing them.
const GROUP_LEN: u64 = 64;
/// How often a partial write is begun again when others keep changing the chunk in between.
const MAX_TRIES: u32 = 1000;

/// Writes a region of an array, chunk by chunk.
#[derive(Debug)]
pub(crate) enum WriteJob<'a> {
    /// Chunks that are not begun: a run of cells.
    Spread { context: Arc<WriteContext<'a>>, cells: Range<u64> },
    /// Chunks under way.
    Chunks(Chunks<'a>),
}

/// What has been asked for.
#[derive(Debug, Default)]
pub(crate) struct Chunks<'a> {
    /// Chunks that are written in part, each with the place of its request among those asked last.
    parts: Vec<(usize, WriteChunk<'a>)>,
    /// Make what caches keep of those that are written whole outdated when they go.
    _whole: Vec<Changing>,
    /// Whether chunks are written only if they have the states that they were seen in.
    conditional: bool,
}

/// The states that some chunks were seen in, and must still have to be written.
#[derive(Debug)]
pub(crate) struct ChunkStates {
    /// The numbers of their cells.
    cells: Range<u64>,
    /// One for each.
    states: Vec<Precondition>,
}

impl ChunkStates {
    pub(crate) fn new(cells: Range<u64>, states: Vec<Precondition>) -> Self {
        Self { cells, states }
    }

    fn of(&self, cell: u64) -> Result<Precondition> {
        let at = cell.checked_sub(self.cells.start).and_then(|at| usize::try_from(at).ok());
        let state = at.and_then(|at| self.states.get(at));
        state.cloned().ok_or_else(|| Error::internal("a chunk is written whose state was not asked for"))
    }
}

/// What all jobs of one write share.
#[derive(Debug)]
pub(crate) struct WriteContext<'a> {
    core: &'a ArrayCore,
    cuts: Cuts,
    data: Data<'a>,
    /// The store keeps preconditions.
    conditional: bool,
    /// How many chunks a job writes together.
    group: u64,
    /// With which chunks are replaced that have other elements as well.
    durability: Durability,
    /// What the chunks must still be.
    states: Option<ChunkStates>,
}

/// What is written to a region.
#[derive(Clone, Debug)]
enum Data<'a> {
    /// All of it.
    All(View<'a>),
    /// Some elements of it; it lies in one chunk.
    Picked(Arc<Picked<'a>>),
}

impl Data<'_> {
    /// What is there already need not be known, if the region is a whole chunk.
    fn is_all(&self) -> bool {
        match self {
            Self::All(_) => true,
            Self::Picked(picked) => picked.part.is_full(),
        }
    }
}

impl<'a> WriteJob<'a> {
    /// Writes `data`, which has the region's shape, to `region` of an array in a store that is such. Chunks that keep other
    /// elements are replaced with this durability.
    pub(crate) fn new(
        core: &'a ArrayCore,
        region: &Region,
        data: View<'a>,
        durability: Durability,
        capabilities: Capabilities,
        coalesce: &Coalesce,
    ) -> Self {
        Self::of(core, region, Data::All(data), durability, capabilities, coalesce, None)
    }

    /// As [`new`](Self::new), of those chunks only whose `states` are given, each on the condition that it still has that: else
    /// the job ends with [`ErrorKind::Conflict`]. All of them are stored then, also such as are nothing but fill value.
    pub(crate) fn on_states(
        core: &'a ArrayCore,
        region: &Region,
        data: View<'a>,
        states: ChunkStates,
        (capabilities, coalesce): (Capabilities, &Coalesce),
    ) -> Self {
        Self::of(core, region, Data::All(data), Durability::File, capabilities, coalesce, Some(states))
    }

    /// Writes the elements of a selection that lie in one cell of its grid, in a store that is such.
    pub(crate) fn picked(
        core: &'a ArrayCore,
        picked: Picked<'a>,
        capabilities: Capabilities,
        coalesce: &Coalesce,
    ) -> Result<Self> {
        let (region, data) = (picked.region()?, Data::Picked(Arc::new(picked)));
        Ok(Self::of(core, &region, data, Durability::None, capabilities, coalesce, None))
    }

    fn of(
        core: &'a ArrayCore,
        region: &Region,
        data: Data<'a>,
        durability: Durability,
        capabilities: Capabilities,
        coalesce: &Coalesce,
        states: Option<ChunkStates>,
    ) -> Self {
        let cuts = core.grid.meet(region);
        let cells = states.as_ref().map_or(0..cuts.len(), |states| states.cells.clone());
        // Where each request waits for long, chunks are better apart; and those of unknown size may be large.
        let apart = coalesce.slab.is_none() || core.element().is_variable();
        let size = decoded_size(&core.codecs, &core.grid.largest_chunk_shape());
        let group = if apart { 1 } else { (GROUP_SIZE / size.max(1)).clamp(1, GROUP_LEN) };
        let conditional = capabilities.conditional;
        let context = WriteContext { core, cuts, data, conditional, group, durability, states };
        Self::Spread { context: Arc::new(context), cells }
    }

    fn fork(context: &Arc<WriteContext<'a>>, cells: &Range<u64>) -> Next<Self> {
        // Shares are whole groups, so that few are cut short.
        let share = (cells.end - cells.start).div_ceil(MAX_FORK).next_multiple_of(context.group);
        let starts = (cells.start..cells.end).step_by(usize::try_from(share).unwrap_or(usize::MAX));
        let part = |start: u64| Self::Spread {
            context: Arc::clone(context),
            cells: start..start.saturating_add(share).min(cells.end),
        };
        Next::Fork(starts.map(part).collect())
    }

    /// Asks for what begins with each chunk. Whole ones are encoded for that, and nothing is left to do for them.
    fn begin(&mut self, context: &WriteContext<'a>, cells: Range<u64>) -> Result<Next<Self>> {
        let (mut requests, mut parts, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        let mut cursor = context.cuts.cursor_at(cells.start);
        for number in cells {
            let cell = cursor.cell().ok_or_else(too_few_cells)?;
            let mut chunk = WriteChunk::new(context, number, cell)?;
            if context.core.grid.covers(cell) && context.data.is_all() {
                requests.push(chunk.whole().map_err(|error| chunk.place(error))?);
                whole.extend(chunk.changing.take());
            } else {
                requests.push(chunk.get());
                parts.push((requests.len() - 1, chunk));
            }
            cursor.advance();
        }
        *self = Self::Chunks(Chunks { parts, _whole: whole, conditional: context.states.is_some() });
        Ok(Next::Ask(requests))
    }

    fn go_on(&mut self, chunks: Chunks<'a>, replies: &[Reply]) -> Result<Next<Self>> {
        let Chunks { mut parts, conditional, .. } = chunks;
        let is_part = |at: &usize| parts.binary_search_by_key(at, |(at, _)| *at).is_ok();
        for (_, reply) in replies.iter().enumerate().filter(|(at, _)| !is_part(at)) {
            match reply {
                Reply::Set | Reply::Erased => {}
                Reply::Conflict if conditional => return Err(changed()),
                _ => return Err(jobs::unfit()),
            }
        }
        let mut requests = Vec::new();
        let mut failed = None;
        parts.retain_mut(|(at, chunk)| match replies.get(*at).map_or(Err(jobs::unfit()), |reply| chunk.take(reply)) {
            _ if failed.is_some() => false,
            Ok(None) => false,
            Ok(Some(request)) => {
                *at = requests.len();
                requests.push(request);
                true
            }
            Err(error) => {
                failed = Some(chunk.place(error));
                false
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        *self = Self::Chunks(Chunks { parts, _whole: Vec::new(), conditional });
        Ok(if requests.is_empty() { Next::Done(()) } else { Next::Ask(requests) })
    }
}

impl Job for WriteJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Chunks(Chunks::default())) {
            Self::Spread { cells, .. } if cells.is_empty() => Ok(Next::Done(())),
            Self::Spread { context, cells } if cells.end - cells.start > context.group => {
                Ok(Self::fork(&context, &cells))
            }
            Self::Spread { context, cells } => self.begin(&context, cells),
            Self::Chunks(chunks) => self.go_on(chunks, replies),
        }
    }
}

/// Writes one chunk: all of it, or a part.
///
/// Start ── whole ──► Set or Erase ──► done; Start ── part ──► Get ──► patched: Set ──► done, or changed meanwhile: Pause, Get ...
#[derive(Debug)]
pub(crate) struct WriteChunk<'a> {
    core: &'a ArrayCore,
    key: Key,
    cell: Cell,
    data: Data<'a>,
    conditional: bool,
    durability: Durability,
    /// What it must still be.
    state: Option<Precondition>,
    tries: u32,
    /// Makes what caches keep of the chunk outdated when this goes.
    changing: Option<Changing>,
}

impl<'a> WriteChunk<'a> {
    fn new(context: &WriteContext<'a>, number: u64, cell: &Cell) -> Result<Self> {
        Ok(Self {
            core: context.core,
            key: context.core.key(&cell.index)?,
            cell: cell.clone(),
            data: match &context.data {
                Data::All(data) => Data::All(data.window(&cell.output())),
                picked => picked.clone(),
            },
            conditional: context.conditional,
            durability: context.durability,
            state: context.states.as_ref().map(|states| states.of(number)).transpose()?,
            tries: 0,
            changing: context.core.changing(Some(&cell.index)),
        })
    }

    /// The elements of the cell's region: those to be written, among those that `old` has where they are not all of it. They lie
    /// in `room` if they do not lie in the caller's memory.
    fn elements<'v>(&'v self, old: Option<&[u8]>, room: &'v mut Option<Buffer>) -> Result<View<'v>> {
        let picked = match &self.data {
            Data::All(data) => return Ok(data.clone()),
            Data::Picked(picked) => picked,
        };
        let room = room.insert(picked.room()?);
        if !picked.part.is_full() {
            let mut view = picked.view_mut(room)?;
            match old {
                Some(old) => self.core.codecs.decode(old, &self.cell.shape, &self.cell.region, &mut view)?,
                None => self.core.element().fill(&mut view)?,
            }
        }
        picked.collect(room);
        picked.view(room)
    }

    /// The request that writes all of the chunk.
    fn whole(&self) -> Result<Request> {
        let key = self.key.clone();
        let mut room = None;
        let data = self.elements(None, &mut room)?;
        if self.may_be_missing(&data) {
            return Ok(Request::Erase { key });
        }
        let mut value = zarr_store::spare_buffer();
        if self.cell.region.is_whole(&self.cell.shape) {
            self.core.codecs.encode(&data, &mut value)?;
        } else {
            // At the edge of the array: what lies beyond is written as fill value (chunks are stored at full size).
            self.core.codecs.patch(None, &self.cell.shape, &self.cell.region, &data, &mut value)?;
        }
        Ok(Request::set(key, value, self.state.clone().unwrap_or_default()))
    }

    /// Whether the chunk need not be stored. One with a condition is: what is not stored cannot be seen to be another's.
    fn may_be_missing(&self, data: &View<'_>) -> bool {
        let is_kept = self.core.options.write_empty_chunks || self.state.is_some();
        !is_kept && self.core.element().may_be_missing(data)
    }

    fn get(&self) -> Request {
        Request::get(self.key.clone())
    }

    /// The next request that writes a part of the chunk, if the reply to the last one is not the end.
    fn take(&mut self, reply: &Reply) -> Result<Option<Request>> {
        let (old, when) = match reply {
            Reply::Got(None) => (None, Precondition::NotExists),
            Reply::Got(Some(fetched)) => {
                let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                (Some(fetched.part(0)), when)
            }
            Reply::Conflict if self.state.is_some() => return Err(changed()),
            // Others write to the chunk as well: they are given a moment, so that one of several gets through.
            Reply::Conflict if self.tries < MAX_TRIES => {
                self.tries += 1;
                return Ok(Some(Request::Pause { duration: backoff(self.tries) }));
            }
            Reply::Paused => return Ok(Some(self.get())),
            Reply::Conflict => {
                let message = format!("others changed the chunk {MAX_TRIES} times while a part of it was written");
                return Err(Error::new(ErrorKind::Conflict, message));
            }
            Reply::Set => return Ok(None),
            _ => return Err(jobs::unfit()),
        };
        if self.state.as_ref().is_some_and(|state| *state != when) {
            return Err(changed());
        }
        let mut room = None;
        let data = self.elements(old, &mut room)?;
        if old.is_none() && self.may_be_missing(&data) {
            return Ok(None);
        }
        let mut value = zarr_store::spare_buffer();
        self.core.codecs.patch(old, &self.cell.shape, &self.cell.region, &data, &mut value)?;
        let when = if self.conditional { when } else { Precondition::None };
        let options = SetOptions::when(when).durable(self.durability);
        Ok(Some(Request::Set { key: self.key.clone(), value, options }))
    }

    fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.chunk = Some(self.cell.index.clone());
            place.key = Some(self.key.to_string());
        })
    }
}

/// A chunk is not any more what it was seen to be.
fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "another writer changed the chunk meanwhile")
}
