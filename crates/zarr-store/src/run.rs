//! The blocking driver of jobs.

use smallvec::SmallVec;

use crate::buffers::{BufferUse, keep_buffer};
use crate::coalesce::{Merged, coalesce};
use crate::drive::{OnThisThread, Workers, run_overlapped};
use crate::fetched::{check, pieces};
use crate::{
    AccessProfile, ByteRange, Error, Fetched, GetInto, GetOptions, Job, Key, Limits, Next, Reply, Request, Result,
    Store, StoreExt,
};

/// Runs a job on a store, on this thread.
///
/// # Errors
/// The job's own, and the store's.
pub fn run<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Sequential, store, job)
}

/// Runs a job on a store, and its forks as `spawn` does.
///
/// On a store that has a form [without blocking](Store::as_async), this thread waits for the replies to many requests, and all steps of
/// jobs run on the threads of `spawn`, within its [limits](Spawn::limits).
///
/// # Errors
/// The job's own, and the store's.
pub fn run_on<S: Spawn, J: Job>(spawn: &S, store: &dyn Store, mut job: J) -> Result<J::Output, J::Error> {
    if let Some(store) = store.as_async() {
        return run_overlapped(spawn, &*store, job);
    }
    let mut replies = Vec::new();
    loop {
        let next = job.step(&replies);
        replies.clear();
        match next? {
            Next::Done(output) => return Ok(output),
            Next::Fork(jobs) => spawn.all(store, jobs)?,
            Next::FetchInto(requests) => {
                for (number, request) in requests.into_iter().enumerate() {
                    replies.push(answer_into(store, request, job.destination(number))?);
                }
            }
            Next::Ask(requests) => {
                let expected = requests.len();
                spawn.answers(store, requests, &mut replies)?;
                check_replies(replies.len(), expected)?;
            }
        }
    }
}

/// Runs the independent parts of a job.
pub trait Spawn: Sync {
    /// Runs all jobs, each with [`run_on`], and drops their outputs.
    ///
    /// # Errors
    /// That of a job that failed; others may then not have run.
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error>;

    /// Answers requests, which are independent of each other, in their order: by default on this thread, with [`answers`].
    ///
    /// # Errors
    /// The errors of the store.
    fn answers(&self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
        answers(store, requests, replies)
    }

    /// How much of a job may be under way on a store with this profile whose requests take long.
    fn limits(&self, profile: &AccessProfile) -> Limits {
        Limits::of(profile)
    }

    /// Calls `body` with threads for tasks, and returns when all tasks have run. By default they run at once, on this thread.
    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        body(&OnThisThread);
    }
}

/// Runs jobs one after another on this thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Spawn for Sequential {
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error> {
        jobs.into_iter().try_for_each(|job| run_on(self, store, job).map(drop))
    }
}

/// Answers requests one after another. Values that are set directly after each other are one call of [`Store::set_many`].
///
/// # Errors
/// The errors of the store.
pub fn answers(store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
    let mut rest = requests.as_slice();
    while let Some(request) = rest.first() {
        let values: Vec<_> = rest.iter().map_while(Request::plain_set).collect();
        if values.len() > 1 {
            store.set_many(&values)?;
            replies.extend(values.iter().map(|_| Reply::Set));
            rest = rest.get(values.len()..).unwrap_or_default();
        } else {
            replies.push(reply(store, request)?);
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    requests.into_iter().for_each(keep_value);
    Ok(())
}

/// Answers a request.
///
/// # Errors
/// The errors of the store.
pub fn answer(store: &dyn Store, request: Request) -> Result<Reply> {
    let reply = reply(store, &request);
    keep_value(request);
    reply
}

fn reply(store: &dyn Store, request: &Request) -> Result<Reply> {
    Ok(match request {
        Request::Get { key, ranges, options } => get(store, key, ranges, options).map(Reply::Got).or_else(conflict)?,
        Request::Set { key, value, options } => store.set(key, value, options).map(|_| Reply::Set).or_else(conflict)?,
        Request::Erase { key } => {
            store.erase(key)?;
            Reply::Erased
        }
        Request::ErasePrefix { prefix } => {
            store.erase_prefix(prefix)?;
            Reply::Erased
        }
        Request::RenamePrefix { from, to } => Reply::Renamed(store.rename_prefix(from, to)?),
        Request::Lock { prefix } => Reply::Locked(store.try_lock(prefix)?),
        Request::Barrier => {
            store.barrier()?;
            Reply::Barrier
        }
        Request::Pause { duration } => {
            std::thread::sleep(*duration);
            Reply::Paused
        }
        Request::List { prefix } => Reply::Listing(store.list_dir(prefix)?),
        Request::ListAll { prefix } => Reply::Keys(store.list_prefix(prefix)?),
        Request::Size { key } => Reply::Size(store.size(key)?),
    })
}

/// Answers a request, in `destination` if it gets a whole value and the store can read it there.
fn answer_into(store: &dyn Store, request: Request, destination: Option<&mut [u8]>) -> Result<Reply> {
    if let (Request::Get { key, ranges, options }, Some(destination)) = (&request, destination)
        && options.is_default()
        && matches!(ranges[..], [ByteRange::Full])
    {
        match store.get_into(key, destination)? {
            GetInto::Found(size) => return Ok(Reply::Received(size)),
            GetInto::Missing => return Ok(Reply::Got(None)),
            GetInto::Declined => {}
        }
    }
    answer(store, request)
}

/// Keeps the memory of a value that was set.
fn keep_value(request: Request) {
    if let Request::Set { value, .. } = request {
        keep_buffer(BufferUse::Append, value);
    }
}

/// A failed precondition is a reply that a job can handle, not a failure of the store.
pub(crate) fn conflict(error: Error) -> Result<Reply> {
    if error.is_precondition() { Ok(Reply::Conflict) } else { Err(error) }
}

/// A get with its ranges merged as the profile of the store allows, cut back into the requested ranges.
fn get(store: &dyn Store, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
    let Some(plan) = GetPlan::new(ranges, &store.access_profile()) else {
        return check(&store, key, store.get(key, ranges, options)?, ranges.len());
    };
    let fetched = store.get(key, &plan.ranges, options).map_err(|error| plan.blame(error, ranges))?;
    plan.cut(&store, key, fetched)
}

/// Checks the number of replies once for all jobs: a reply too few must not look like a missing value.
pub(crate) fn check_replies(found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Replies { found, expected }) }
}

/// The merged ranges of a get.
pub(crate) struct GetPlan {
    /// The ranges to request: the merged ones first, then the ranges whose offset depends on the size of the value.
    pub(crate) ranges: Vec<ByteRange>,
    merged: Merged,
    /// For each requested range, its index in `ranges`; `None` if it is the next of the merged ones.
    sources: SmallVec<[Option<usize>; 8]>,
}

impl GetPlan {
    /// `None` if nothing can be merged.
    pub(crate) fn new(ranges: &[ByteRange], profile: &AccessProfile) -> Option<Self> {
        if profile.max_size == 0 {
            return None;
        }
        let bounded: SmallVec<[_; 8]> = ranges.iter().filter_map(ByteRange::bounded).cloned().collect();
        // A range that ends before it starts is left for the store to refuse.
        if bounded.len() < 2 || bounded.iter().any(|range| range.start > range.end) {
            return None;
        }
        let merged = coalesce(&bounded, profile);
        if merged.ranges.len() == bounded.len() {
            return None;
        }
        let mut asked: Vec<ByteRange> = merged.ranges.iter().cloned().map(ByteRange::Range).collect();
        let sources = ranges
            .iter()
            .map(|range| {
                range.bounded().is_none().then(|| {
                    asked.push(range.clone());
                    asked.len() - 1
                })
            })
            .collect();
        Some(Self { ranges: asked, merged, sources })
    }

    /// Cuts the pieces of [`GetPlan::ranges`] into the requested ranges.
    pub(crate) fn cut(
        &self,
        store: &dyn std::fmt::Display,
        key: &Key,
        fetched: Option<Fetched>,
    ) -> Result<Option<Fetched>> {
        let Some(mut fetched) = check(store, key, fetched, self.ranges.len())? else { return Ok(None) };
        let mut sub_ranges = self.merged.sub_ranges.iter();
        let mut parts: SmallVec<[(usize, std::ops::Range<usize>); 8]> = SmallVec::with_capacity(self.sources.len());
        for source in &self.sources {
            let part = match source {
                Some(i) => Some((*i, 0..fetched.part(*i).len())),
                None => sub_ranges.next().and_then(|sub| {
                    let start = usize::try_from(sub.offset).ok()?;
                    Some((sub.range, start..start.checked_add(usize::try_from(sub.len).ok()?)?))
                }),
            };
            parts.extend(part);
        }
        let (found, expected) = (parts.len(), self.sources.len());
        if found != expected || !fetched.recut(parts.into_iter()) {
            return Err(pieces(store, key, found, expected));
        }
        Ok(Some(fetched))
    }

    /// Replaces the merged range in an error by the requested range that is not inside the value.
    pub(crate) fn blame(&self, error: Error, asked: &[ByteRange]) -> Error {
        match error {
            Error::Range { store, key, range, size } => {
                let range = asked.iter().find(|range| range.resolve(size).is_none()).cloned().unwrap_or(range);
                Error::Range { store, key, range, size }
            }
            error => error,
        }
    }
}

#[cfg(test)]
mod tests;
