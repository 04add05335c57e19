//! Writing as jobs: a region is spread into chunks, each encoded and set, or read, patched and set.

use crate::cache::Changing;
use crate::core::ArrayCore;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Scratch, View};
use zarr_grid::{Cell, Cuts, Region};
use zarr_store::{ByteRange, Job, Key, Next, Precondition, Reply, Request};

/// How many jobs a job forks into at most; larger plans fork again.
const MAX_FORK: u64 = 64;
/// How often a partial write is begun again when others keep changing the chunk in between.
const MAX_TRIES: u32 = 1000;

/// Writes a region of an array, chunk by chunk.
#[derive(Debug)]
pub(crate) enum WriteJob<'a> {
    /// Chunks that are not begun: a run of cells.
    Spread { core: &'a ArrayCore, cuts: Arc<Cuts>, data: View<'a>, cells: Range<u64>, conditional: bool },
    /// One chunk under way.
    Chunk(Box<WriteChunk<'a>>),
    /// Nothing left.
    Done,
}

impl<'a> WriteJob<'a> {
    /// Writes `data`, which has the region's shape, to `region`. `conditional`: the store keeps preconditions.
    pub(crate) fn new(core: &'a ArrayCore, region: &Region, data: View<'a>, conditional: bool) -> Self {
        let cuts = core.grid.meet(region);
        let cells = 0..cuts.len();
        Self::Spread { core, cuts: Arc::new(cuts), data, cells, conditional }
    }
}

impl Job for WriteJob<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Done) {
            Self::Done => Ok(Next::Done(())),
            Self::Spread { core, cuts, data, cells, conditional } => match cells.end - cells.start {
                0 => Ok(Next::Done(())),
                1 => {
                    let mut chunk = Box::new(WriteChunk::new(core, &cuts.cell(cells.start), &data, conditional)?);
                    self.go_on(chunk.begin().map_err(|error| chunk.place(error))?, chunk)
                }
                count => {
                    let share = count.div_ceil(MAX_FORK);
                    let part = |start: u64| Self::Spread {
                        core,
                        cuts: Arc::clone(&cuts),
                        data: data.clone(),
                        cells: start..(start + share).min(cells.end),
                        conditional,
                    };
                    Ok(Next::Fork(
                        (0..count.div_ceil(share)).map(|part_no| part(cells.start + part_no * share)).collect(),
                    ))
                }
            },
            Self::Chunk(mut chunk) => {
                let next = chunk.take(replies).map_err(|error| chunk.place(error))?;
                self.go_on(next, chunk)
            }
        }
    }
}

impl<'a> WriteJob<'a> {
    fn go_on(&mut self, request: Option<Request>, chunk: Box<WriteChunk<'a>>) -> Result<Next<Self>> {
        Ok(match request {
            None => Next::Done(()),
            Some(request) => {
                *self = Self::Chunk(chunk);
                Next::Ask(vec![request])
            }
        })
    }
}

/// Writes one chunk: all of it, or a part.
///
/// Start ── whole ──► Set or Erase ──► done; Start ── part ──► Get ──► patched: Set ──► done, or changed meanwhile: Get ...
#[derive(Debug)]
pub(crate) struct WriteChunk<'a> {
    core: &'a ArrayCore,
    key: Key,
    cell: Cell,
    data: View<'a>,
    whole: bool,
    conditional: bool,
    tries: u32,
    /// Caches are told when this goes.
    _changing: Option<Changing>,
}

impl<'a> WriteChunk<'a> {
    fn new(core: &'a ArrayCore, cell: &Cell, data: &View<'a>, conditional: bool) -> Result<Self> {
        let ranges: Vec<_> =
            cell.out_start.iter().zip(&cell.out_shape).map(|(&start, &len)| start..start + len).collect();
        Ok(Self {
            core,
            key: core.key(&cell.index)?,
            cell: cell.clone(),
            data: data.window(&Region::from_ranges(&ranges)),
            whole: core.grid.covers(cell),
            conditional,
            tries: 0,
            _changing: core.changing(Some(&cell.index)),
        })
    }

    fn begin(&mut self) -> Result<Option<Request>> {
        if !self.whole {
            return Ok(Some(self.get()));
        }
        let key = self.key.clone();
        if !self.core.options.write_empty_chunks && self.core.element().is_fill(&self.data) {
            return Ok(Some(Request::Erase { key }));
        }
        let mut value = zarr_store::spare_buffer();
        if self.cell.region.is_whole(&self.cell.shape) {
            self.core.codecs.encode(&self.data, &mut value)?;
        } else {
            // At the edge of the array: what lies beyond is written as fill value (chunks are stored at full size).
            let (shape, region) = (&self.cell.shape, &self.cell.region);
            let mut scratch = Scratch::take();
            let mut chunk =
                zarr_codec::chunk_view(&mut scratch, self.core.element(), shape, &self.core.options.limits)?
                    .with_heap(self.data.heap().cloned());
            self.core.element().fill(&mut chunk)?;
            chunk.reborrow().window(region).copy_from(&self.data);
            self.core.codecs.encode(&chunk.as_view(), &mut value)?;
        }
        Ok(Some(Request::Set { key, value, when: Precondition::None }))
    }

    fn get(&self) -> Request {
        Request::Get { key: self.key.clone(), ranges: vec![ByteRange::Full] }
    }

    fn take(&mut self, replies: &[Reply]) -> Result<Option<Request>> {
        let (old, when) = match replies.first() {
            Some(Reply::Got(None)) => (None, Precondition::NotExists),
            Some(Reply::Got(Some(fetched))) => {
                let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
                (Some(fetched.part(0)), when)
            }
            Some(Reply::Conflict) if self.tries < MAX_TRIES => {
                self.tries += 1;
                return Ok(Some(self.get()));
            }
            Some(Reply::Conflict) => {
                let message = format!("others changed the chunk {MAX_TRIES} times while a part of it was written");
                return Err(Error::new(crate::ErrorKind::Store, message));
            }
            _ => return Ok(None),
        };
        let element = self.core.element();
        if old.is_none() && !self.core.options.write_empty_chunks && element.is_fill(&self.data) {
            return Ok(None);
        }
        let mut value = zarr_store::spare_buffer();
        self.core.codecs.patch(old, &self.cell.shape, &self.cell.region, &self.data, &mut value)?;
        let when = if self.conditional { when } else { Precondition::None };
        Ok(Some(Request::Set { key: self.key.clone(), value, when }))
    }

    fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.chunk = Some(self.cell.index.clone());
            place.key = Some(self.key.to_string());
        })
    }
}
