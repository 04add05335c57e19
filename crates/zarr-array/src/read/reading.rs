//! A whole read of a selection: jobs to be run one after the other. If what a cache held may be why one fails, the same
//! follows once more without it.
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

/// What is to be read, and how.
#[derive(Debug)]
pub(crate) struct ReadPlan<'c> {
    /// How it is read at first.
    first: ReadContext<'c>,
    /// And how after that was in vain.
    again: ReadContext<'c>,
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
        Self { first: core.reading_cached(coalesce, zeroed, size), again: core.reading(coalesce, false), what }
    }

    /// Begins to read into `out`, which has the output shape.
    pub(crate) fn begin<'p>(&'p self, out: ViewMut<'p>) -> Result<Reading<'p>> {
        let way = match &self.what {
            What::Region(region, flipped) => Way::Region(region, Some(plan::turned(out, flipped))),
            What::Parts(gather) => {
                let staging = Staging::new(out)?;
                Way::Parts { batches: gather.batches(staging.heap()), batch: None, staging }
            }
        };
        Ok(Reading { plan: self, way, in_vain: false })
    }
}

/// A read under way.
#[derive(Debug)]
pub(crate) struct Reading<'p> {
    plan: &'p ReadPlan<'p>,
    way: Way<'p>,
    /// Whether the last job is to be done again.
    in_vain: bool,
}

#[derive(Debug)]
enum Way<'p> {
    /// With its output, until it is read.
    Region(&'p Region, Option<ViewMut<'p>>),
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
        let context = if self.in_vain { &self.plan.again } else { &self.plan.first };
        match &mut self.way {
            Way::Region(region, out) => {
                out.as_mut().map(|out| ReadJob::new(context, region, out.reborrow())).transpose()
            }
            Way::Parts { batches, batch, staging } => {
                if batch.is_none() {
                    *batch = batches.next_batch(context.core.element())?;
                }
                let Some(batch) = batch else {
                    staging.finish()?;
                    return Ok(None);
                };
                batch.read_job(context, false).map(Some)
            }
        }
    }

    /// Takes what came of the last job.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, done: Result<()>) -> Result<()> {
        self.in_vain = done.is_err() && !self.in_vain && self.plan.first.is_doubtful();
        if self.in_vain {
            return Ok(());
        }
        done?;
        match &mut self.way {
            Way::Region(_, out) => *out = None,
            Way::Parts { batch, staging, .. } => {
                if let Some(batch) = batch.take() {
                    batch.scatter(staging.bytes());
                }
            }
        }
        Ok(())
    }
}
