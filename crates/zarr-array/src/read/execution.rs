//! A whole read of a selection: jobs that run one after the other, with further attempts where a part of the read did not end well.
//!
//! A job that failed is gone with its share of the output, so this is no job itself: it returns jobs, and takes the result of each.
//! Blocking and async arrays only run them.

use super::ReadJob;
use super::attempt::{Attempt, RetryPolicy};
use super::many::{ManyRead, ManyRegions};
use super::search::Search;
use super::selection_batch::SelectionBatchRead;
use crate::advanced_selection::{AdvancedSelection, SelectionBatches};
use crate::core::ArrayCore;
use crate::seen::Need;
use crate::selected_memory::{self, ContiguousOutput};
use crate::{Error, Result};
use zarr_codec::ViewMut;
use zarr_grid::{ChunkIndex, Region, Resolved};
use zarr_store::{AccessProfile, Capabilities};

/// One job reads so many chunks at most that do not lie side by side: each takes memory.
const MAX_INDIVIDUALLY: usize = 1024;

/// The target of a read, and its policy.
#[derive(Debug)]
pub(crate) struct ReadPlan<'c> {
    core: &'c ArrayCore,
    policy: RetryPolicy<'c>,
    target: ReadTarget<'c>,
    search: Search,
}

/// The elements that are read.
#[derive(Debug)]
enum ReadTarget<'c> {
    /// A region, and whether each axis of the output is flipped.
    Region(&'c Region, &'c [bool]),
    /// The part of a region that lies in some chunks.
    Chunks(&'c Region, &'c [ChunkIndex]),
    /// An advanced selection, through a staging buffer.
    Advanced(Box<AdvancedSelection>),
    /// Several regions, through a staging buffer.
    Many(ManyRegions),
}

impl<'c> ReadPlan<'c> {
    /// Of a selection of `size` bytes, from a store with this access profile. An output that is `zeroed` is
    /// fresh memory.
    pub(crate) fn new(
        core: &'c ArrayCore,
        profile: &AccessProfile,
        resolved: &'c Resolved,
        size: usize,
        zeroed: bool,
    ) -> Result<Self> {
        Ok(match resolved {
            Resolved::Box(selected) => {
                Self::of(core, profile, ReadTarget::Region(&selected.region, &selected.flipped), size, zeroed)
            }
            // The staging buffer is fresh memory.
            _ => Self::of(
                core,
                profile,
                ReadTarget::Advanced(Box::new(AdvancedSelection::new(core, resolved)?)),
                size,
                true,
            ),
        })
    }

    /// Of a selection, of which only the requests are wanted: to be begun with an output whose elements have no bytes.
    pub(crate) fn requests_of(core: &'c ArrayCore, profile: &AccessProfile, resolved: &'c Resolved) -> Result<Self> {
        let plan = Self::new(core, profile, resolved, 0, true)?;
        Ok(Self { policy: RetryPolicy::plan(core, profile), ..plan })
    }

    /// Of a region, into fresh memory of `size` bytes.
    pub(crate) fn region(core: &'c ArrayCore, profile: &AccessProfile, region: &'c Region, size: usize) -> Self {
        Self::of(core, profile, ReadTarget::Region(region, &[]), size, true)
    }

    /// Of the part of a region that lies in `chunks`, which are sorted, into memory of `size` bytes for the whole region.
    pub(crate) fn chunks(
        core: &'c ArrayCore,
        profile: &AccessProfile,
        region: &'c Region,
        chunks: &'c [ChunkIndex],
        size: usize,
    ) -> Self {
        Self::of(core, profile, ReadTarget::Chunks(region, chunks), size, false)
    }

    /// Of several regions, into memory of `size` bytes in all.
    pub(crate) fn many<'r>(
        core: &'c ArrayCore,
        profile: &AccessProfile,
        regions: impl IntoIterator<Item = &'r Region>,
        size: usize,
    ) -> Result<Self> {
        // The staging buffer is fresh memory.
        Ok(Self::of(core, profile, ReadTarget::Many(ManyRegions::new(core, regions)?), size, true))
    }

    /// Begins to read several regions into `outputs` of their shapes.
    pub(crate) fn begin_many<'p>(&'p self, outputs: Vec<ViewMut<'p>>) -> Result<ReadExecution<'p>> {
        match &self.target {
            ReadTarget::Many(regions) => {
                let state = State::Many(ManyRead::new(regions, outputs));
                Ok(ReadExecution { plan: self, state })
            }
            _ => Err(Error::internal("several outputs for a read of one selection")),
        }
    }

    fn of(core: &'c ArrayCore, profile: &AccessProfile, target: ReadTarget<'c>, size: usize, zeroed: bool) -> Self {
        Self { core, policy: RetryPolicy::new(core, profile, zeroed, size), target, search: Search::default() }
    }

    /// The same, in a store that may be listed where very many chunks of a region are to be read and the first ones are not stored.
    #[must_use]
    pub(crate) fn searching(self, store: Capabilities) -> Self {
        Self { search: Search::new(self.core, store), ..self }
    }

    /// Begins to read into `out`, which has the output shape.
    pub(crate) fn begin<'p>(&'p self, out: ViewMut<'p>) -> Result<ReadExecution<'p>> {
        let state = match &self.target {
            ReadTarget::Region(region, flipped) => {
                let out = selected_memory::flipped(out, flipped);
                let search = self.search.first_chunks(self.core, region).map(Searching::First);
                State::Region { region, out, attempt: Attempt::First, individually: None, search }
            }
            ReadTarget::Chunks(region, chunks) => {
                let individually = Some(Individually { now: &[], later: chunks });
                State::Region { region, out, attempt: Attempt::Done, individually, search: None }
            }
            ReadTarget::Advanced(selection) => {
                let out = ContiguousOutput::new(out)?;
                State::Advanced { batches: selection.batches(), batch: None, out }
            }
            ReadTarget::Many(regions) => State::Many(ManyRead::new(regions, vec![out])),
        };
        Ok(ReadExecution { plan: self, state })
    }
}

/// A read under way.
#[derive(Debug)]
pub(crate) struct ReadExecution<'p> {
    plan: &'p ReadPlan<'p>,
    state: State<'p>,
}

/// Chunks of a region that are read without the chunks between them.
#[derive(Debug)]
struct Individually<'p> {
    /// The chunks of the current job.
    now: &'p [ChunkIndex],
    later: &'p [ChunkIndex],
}

/// State of a search for stored chunks.
#[derive(Debug)]
enum Searching {
    /// Reads these chunks.
    First(Vec<ChunkIndex>),
    /// None of them is stored. Looks for those that are.
    List,
}

#[derive(Debug)]
enum State<'p> {
    /// A region and its output; `individually` if not all of its chunks are read. A search comes before the first attempt.
    Region {
        region: &'p Region,
        out: ViewMut<'p>,
        attempt: Attempt,
        individually: Option<Individually<'p>>,
        search: Option<Searching>,
    },
    Advanced {
        batches: SelectionBatches<'p>,
        /// The current one.
        batch: Option<SelectionBatchRead<'p>>,
        out: ContiguousOutput<'p>,
    },
    Many(ManyRead<'p>),
}

impl ReadExecution<'_> {
    /// The next job, whose result is to be given to [`ended`](Self::ended); `None` if all is read.
    pub(crate) fn job(&mut self) -> Result<Option<ReadJob<'_>>> {
        let ReadPlan { core, policy, search, .. } = self.plan;
        let job = match &mut self.state {
            State::Many(many) => many.job(policy)?,
            State::Region { region, out, search: Some(Searching::First(chunks)), .. } => {
                Some(ReadJob::of_chunks(policy.first(), region, out.reborrow(), chunks)?)
            }
            State::Region { region, search: Some(Searching::List), .. } => {
                Some(ReadJob::FindStored(Box::new(search.job(core, region))))
            }
            State::Region { region, out, attempt, individually, search: None } => {
                if let (Some(chunks), Attempt::Done) = (&mut *individually, &*attempt)
                    && !chunks.later.is_empty()
                {
                    (chunks.now, chunks.later) = chunks.later.split_at(chunks.later.len().min(MAX_INDIVIDUALLY));
                    *attempt = Attempt::First;
                }
                // Replaced chunks are read again one after the other: they have parts of the same output, and are few.
                let again = attempt.chunks().map(|chunks| chunks.get(..1).unwrap_or_default());
                match (attempt.context(policy), again.or(individually.as_ref().map(|chunks| chunks.now))) {
                    (None, _) => None,
                    (Some(context), None) => Some(ReadJob::new(context, region, out.reborrow())?),
                    (Some(context), Some(chunks)) => Some(ReadJob::of_chunks(context, region, out.reborrow(), chunks)?),
                }
            }
            State::Advanced { batches, batch, out } => {
                if batch.is_none() {
                    let next = batches.next_batch(core.element()).map(|next| match policy.is_plan() {
                        true => next.without_bytes(),
                        false => next,
                    });
                    *batch = next.map(|next| SelectionBatchRead::new(next, out.heap())).transpose()?;
                }
                match batch {
                    Some(batch) => batch.read_job(policy)?,
                    None => {
                        out.finish()?;
                        None
                    }
                }
            }
        };
        Ok(job)
    }

    /// The need of a look at the document of the array, when all jobs have ended.
    pub(crate) fn need(&self) -> Need {
        self.plan.policy.need()
    }

    /// Takes the result of the last job.
    ///
    /// # Errors
    /// The error of the result, unless the job is to be done again.
    pub(crate) fn ended(&mut self, result: Result<()>) -> Result<()> {
        let policy = &self.plan.policy;
        match &mut self.state {
            State::Region { out, attempt, individually, search, .. } => match search.take() {
                None => attempt.ended_in_turn(policy, result)?,
                // An error of these chunks comes again in the read of all.
                Some(Searching::First(chunks)) => {
                    let none_stored = result.is_ok() && policy.first().known_missing() >= chunks.len();
                    *search = none_stored.then_some(Searching::List);
                }
                // Where the store cannot be listed after all, it is asked for each chunk.
                Some(Searching::List) => {
                    if let Some(later) = self.plan.search.stored() {
                        // The others are not: also where only the cache said so of the first ones.
                        policy.first().note_missing();
                        policy.first().fill(out)?;
                        (*attempt, *individually) = (Attempt::Done, Some(Individually { now: &[], later }));
                    }
                }
            },
            State::Many(many) => many.ended(policy, result)?,
            State::Advanced { batch, out, .. } => {
                if let Some(current) = batch
                    && current.ended(policy, result)?
                {
                    current.scatter(out.bytes()?)?;
                    *batch = None;
                }
            }
        }
        Ok(())
    }
}
