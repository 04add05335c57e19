//! A whole read of a selection: jobs to be run one after the other. If what a cache held may be why one fails, or others who
//! write meanwhile, the same follows once more, without the cache.
//!
//! A job that failed is gone with its share of the output, so this is no job itself: it gives them out and is told how each
//! ended. Blocking and async arrays only run them.

use super::{ReadContext, ReadJob};
use crate::Result;
use crate::core::ArrayCore;
use crate::gather::{Batch, Batches, Gather};
use crate::plan::{self, Staging};
use zarr_codec::ViewMut;
use zarr_grid::{Region, Resolved};
use zarr_store::Coalesce;

/// How the same is read at first, and how after that was in vain.
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
}

/// How far the attempts at one job are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tried {
    #[default]
    Not,
    InVain,
    Done,
}

impl Tried {
    /// How to read next; `None` if all is read.
    pub(crate) fn next<'p>(self, attempts: &'p Attempts<'_>) -> Option<&'p ReadContext<'p>> {
        match self {
            Self::Not => Some(&attempts.first),
            Self::InVain => Some(&attempts.again),
            Self::Done => None,
        }
    }

    /// Takes what came of a job.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, attempts: &Attempts<'_>, done: Result<()>) -> Result<()> {
        *self = match done {
            Ok(()) => Self::Done,
            Err(_) if *self == Self::Not && attempts.first.is_doubtful() => Self::InVain,
            Err(error) => return Err(error),
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

    fn of(core: &'c ArrayCore, coalesce: &Coalesce, what: What<'c>, size: usize, zeroed: bool) -> Self {
        Self { core, attempts: Attempts::cached(core, coalesce, zeroed, size), what }
    }

    /// Begins to read into `out`, which has the output shape.
    pub(crate) fn begin<'p>(&'p self, out: ViewMut<'p>) -> Result<Reading<'p>> {
        let way = match &self.what {
            What::Region(region, flipped) => Way::Region(region, plan::turned(out, flipped), Tried::Not),
            What::Parts(gather) => {
                let staging = Staging::new(out)?;
                Way::Parts { batches: gather.batches(staging.heap()), batch: None, staging }
            }
        };
        Ok(Reading { plan: self, way })
    }
}

/// A read under way.
#[derive(Debug)]
pub(crate) struct Reading<'p> {
    plan: &'p ReadPlan<'p>,
    way: Way<'p>,
}

#[derive(Debug)]
enum Way<'p> {
    /// With its output.
    Region(&'p Region, ViewMut<'p>, Tried),
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
        match &mut self.way {
            Way::Region(region, out, tried) => {
                tried.next(attempts).map(|context| ReadJob::new(context, region, out.reborrow())).transpose()
            }
            Way::Parts { batches, batch, staging } => {
                if batch.is_none() {
                    *batch = batches.next_batch(core.element())?;
                }
                let Some(batch) = batch else {
                    staging.finish()?;
                    return Ok(None);
                };
                batch.read_job(attempts)
            }
        }
    }

    /// Takes what came of the last job.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, done: Result<()>) -> Result<()> {
        let attempts = &self.plan.attempts;
        match &mut self.way {
            Way::Region(_, _, tried) => tried.ended(attempts, done)?,
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
