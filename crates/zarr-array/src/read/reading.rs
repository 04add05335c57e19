//! A whole read of a selection: jobs to be run one after the other. If what a cache held may be why one fails, the same follows
//! once more, without the cache. Chunks that others replaced while they were read in parts are read again, they alone. If chunks
//! were not stored, the last job looks whether the array still is.
//!
//! A job that failed is gone with its share of the output, so this is no job itself: it gives them out and is told how each
//! ended. Blocking and async arrays only run them.

use super::{ReadContext, ReadJob, StillThere};
use crate::core::ArrayCore;
use crate::gather::{Batch, Batches, Gather};
use crate::plan::{self, Staging};
use crate::{Error, ErrorKind, Result};
use std::sync::atomic::Ordering;
use zarr_codec::ViewMut;
use zarr_grid::{ChunkIndex, Region, Resolved};
use zarr_store::Coalesce;

/// How often chunks are read again that others keep replacing while they are read.
const MAX_TRIES: u32 = 1000;
/// As many chunks that lie apart are read by one job: each takes memory.
const MAX_APART: usize = 1024;

/// How the same is read at first, and how it is read again.
#[derive(Debug)]
pub(crate) struct Attempts<'c> {
    first: ReadContext<'c>,
    again: ReadContext<'c>,
}

impl<'c> Attempts<'c> {
    /// For `size` bytes that are read for the user; outputs that are `zeroed` are fresh memory at first.
    fn cached(core: &'c ArrayCore, coalesce: &Coalesce, zeroed: bool, size: usize) -> Self {
        Self { first: core.reading_cached(coalesce, zeroed, size), again: core.reading(coalesce, false) }
    }

    /// The check that is due after chunks were found not to be stored.
    fn still_there(&self) -> Option<StillThere<'_>> {
        let missing = [&self.first, &self.again].iter().any(|context| context.missing.load(Ordering::Relaxed));
        if missing { StillThere::new(self.first.core) } else { None }
    }
}

/// How far the attempts at one job are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tried {
    #[default]
    Not,
    /// It failed, perhaps because of a cache.
    InVain,
    /// It is done but for these chunks, which were replaced meanwhile, and read again so many times.
    But(Vec<ChunkIndex>, u32),
    Done,
}

impl Tried {
    /// How to read next; `None` if all is read.
    pub(crate) fn next<'p>(&self, attempts: &'p Attempts<'_>) -> Option<&'p ReadContext<'p>> {
        match self {
            Self::Not => Some(&attempts.first),
            Self::InVain | Self::But(..) => Some(&attempts.again),
            Self::Done => None,
        }
    }

    /// The chunks that are to be read; `None` for all.
    pub(crate) fn only(&self) -> Option<&[ChunkIndex]> {
        if let Self::But(chunks, _) = self { Some(chunks) } else { None }
    }

    /// Takes what came of a job.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, attempts: &Attempts<'_>, done: Result<()>) -> Result<()> {
        let tries = if let Self::But(_, tries) = self { tries.saturating_add(1) } else { 0 };
        let replaced = self.next(attempts).map(ReadContext::take_replaced).unwrap_or_default();
        *self = match done {
            Ok(()) if replaced.is_empty() => Self::Done,
            Ok(()) if tries >= MAX_TRIES => {
                let message = format!("the chunk was replaced each of the {MAX_TRIES} times that it was read");
                let error = Error::new(ErrorKind::CorruptChunk, message);
                return Err(error.at(|place| {
                    place.chunk = replaced.into_iter().next();
                    place.key =
                        place.chunk.as_ref().and_then(|chunk| Some(attempts.again.core.key(chunk).ok()?.to_string()));
                }));
            }
            Ok(()) => Self::But(replaced, tries),
            Err(_) if *self == Self::Not && attempts.first.is_doubtful() => Self::InVain,
            Err(error) => return Err(error),
        };
        Ok(())
    }
}

impl Tried {
    /// As [`ended`](Self::ended), where of several chunks that were replaced the first alone was read again.
    fn ended_in_turn(&mut self, attempts: &Attempts<'_>, done: Result<()>) -> Result<()> {
        let others = self.only().and_then(|chunks| chunks.get(1..)).unwrap_or_default().to_vec();
        self.ended(attempts, done)?;
        *self = match std::mem::take(self) {
            Self::Done if !others.is_empty() => Self::But(others, 0),
            Self::But(again, tries) if !others.is_empty() => Self::But([again, others].concat(), tries),
            ended => ended,
        };
        Ok(())
    }
}

/// What is to be read, and how.
#[derive(Debug)]
pub(crate) struct ReadPlan<'c> {
    core: &'c ArrayCore,
    attempts: Attempts<'c>,
    what: What<'c>,
}

#[derive(Debug)]
enum What<'c> {
    /// A region, and the axes of the output that are turned around.
    Region(&'c Region, &'c [bool]),
    /// What some chunks have of a region.
    Chunks(&'c Region, &'c [ChunkIndex]),
    /// Parts that are staged.
    Parts(Box<Gather>),
}

impl<'c> ReadPlan<'c> {
    /// Of a selection of `size` bytes, from a store that likes ranges merged as `coalesce` says. An output that is `zeroed` is
    /// fresh memory.
    pub(crate) fn new(
        core: &'c ArrayCore,
        coalesce: &Coalesce,
        resolved: &'c Resolved,
        size: usize,
        zeroed: bool,
    ) -> Result<Self> {
        Ok(match resolved {
            Resolved::Box(selected) => {
                Self::of(core, coalesce, What::Region(&selected.region, &selected.flipped), size, zeroed)
            }
            // They are staged in fresh memory.
            _ => Self::of(core, coalesce, What::Parts(Box::new(Gather::new(core, resolved)?)), size, true),
        })
    }

    /// Of a region, into fresh memory of `size` bytes.
    pub(crate) fn region(core: &'c ArrayCore, coalesce: &Coalesce, region: &'c Region, size: usize) -> Self {
        Self::of(core, coalesce, What::Region(region, &[]), size, true)
    }

    /// Of what some chunks, which are sorted, have of a region, into memory of `size` bytes.
    pub(crate) fn chunks(
        core: &'c ArrayCore,
        coalesce: &Coalesce,
        region: &'c Region,
        chunks: &'c [ChunkIndex],
        size: usize,
    ) -> Self {
        Self::of(core, coalesce, What::Chunks(region, chunks), size, false)
    }

    fn of(core: &'c ArrayCore, coalesce: &Coalesce, what: What<'c>, size: usize, zeroed: bool) -> Self {
        Self { core, attempts: Attempts::cached(core, coalesce, zeroed, size), what }
    }

    /// Begins to read into `out`, which has the output shape.
    pub(crate) fn begin<'p>(&'p self, out: ViewMut<'p>) -> Result<Reading<'p>> {
        let way = match &self.what {
            What::Region(region, flipped) => {
                Way::Region { region, out: plan::turned(out, flipped), tried: Tried::Not, some: None }
            }
            What::Chunks(region, chunks) => {
                let some = Some(Apart { now: &[], later: chunks });
                Way::Region { region, out, tried: Tried::Done, some }
            }
            What::Parts(gather) => {
                let staging = Staging::new(out)?;
                Way::Parts { batches: gather.batches(staging.heap()), batch: None, staging }
            }
        };
        Ok(Reading { plan: self, way, checked: false })
    }
}

/// A read under way.
#[derive(Debug)]
pub(crate) struct Reading<'p> {
    plan: &'p ReadPlan<'p>,
    way: Way<'p>,
    /// Whether the array was looked at.
    checked: bool,
}

/// Chunks of a region that are read, without those between them.
#[derive(Debug)]
struct Apart<'p> {
    /// Those under way.
    now: &'p [ChunkIndex],
    later: &'p [ChunkIndex],
}

#[derive(Debug)]
enum Way<'p> {
    /// With its output, and what is read of it if that is not all.
    Region { region: &'p Region, out: ViewMut<'p>, tried: Tried, some: Option<Apart<'p>> },
    Parts {
        batches: Batches<'p>,
        /// The one under way.
        batch: Option<Batch<'p>>,
        staging: Staging<'p>,
    },
}

impl Reading<'_> {
    /// What is to be run next, and then told of to [`ended`](Self::ended); `None` if all is read.
    pub(crate) fn job(&mut self) -> Result<Option<ReadJob<'_>>> {
        let ReadPlan { core, attempts, .. } = self.plan;
        if self.checked {
            return Ok(None);
        }
        let job = match &mut self.way {
            Way::Region { region, out, tried, some } => {
                if let (Some(apart), Tried::Done) = (&mut *some, &*tried)
                    && !apart.later.is_empty()
                {
                    (apart.now, apart.later) = apart.later.split_at(apart.later.len().min(MAX_APART));
                    *tried = Tried::Not;
                }
                // Of those that are read again one after another: each takes a part of the same output, and they are few.
                let chunks = tried.only().map(|again| again.get(..1).unwrap_or_default());
                match (tried.next(attempts), chunks.or(some.as_ref().map(|apart| apart.now))) {
                    (None, _) => None,
                    (Some(context), None) => Some(ReadJob::new(context, region, out.reborrow())?),
                    (Some(context), Some(chunks)) => Some(ReadJob::of_chunks(context, region, out.reborrow(), chunks)?),
                }
            }
            Way::Parts { batches, batch, staging } => {
                if batch.is_none() {
                    *batch = batches.next_batch(core.element())?;
                }
                match batch {
                    Some(batch) => batch.read_job(attempts)?,
                    None => {
                        staging.finish()?;
                        None
                    }
                }
            }
        };
        if job.is_some() {
            return Ok(job);
        }
        self.checked = true;
        Ok(attempts.still_there().map(ReadJob::StillThere))
    }

    /// Takes what came of the last job.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, done: Result<()>) -> Result<()> {
        if self.checked {
            return done;
        }
        let attempts = &self.plan.attempts;
        match &mut self.way {
            Way::Region { tried, .. } => tried.ended_in_turn(attempts, done)?,
            Way::Parts { batch, staging, .. } => {
                if let Some(under_way) = batch
                    && under_way.ended(attempts, done)?
                {
                    under_way.scatter(staging.bytes());
                    *batch = None;
                }
            }
        }
        Ok(())
    }
}
