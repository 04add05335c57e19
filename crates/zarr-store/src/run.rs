//! The blocking driver of jobs.

use smallvec::SmallVec;

use crate::{
    ByteRange, Error, Fetched, GetOptions, Job, Key, Merged, Next, Placed, Reply, Request, Result, Store, coalesce,
};

/// Runs a job on a store, on this thread.
///
/// # Errors
/// The job's own, and the store's.
pub fn run<J: Job>(store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_on(&Sequential, store, job)
}

/// Runs a job on a store, its forks wherever `spawn` runs them.
///
/// # Errors
/// The job's own, and the store's.
pub fn run_on<S: Spawn, J: Job>(spawn: &S, store: &dyn Store, job: J) -> Result<J::Output, J::Error> {
    run_in(&mut Scratch::new(), spawn, store, job)
}

/// As [`run_on`], with memory that is kept from job to job. What implementations of [`Spawn`] call on each thread.
///
/// # Errors
/// The job's own, and the store's.
pub fn run_in<S: Spawn, J: Job>(
    scratch: &mut Scratch,
    spawn: &S,
    store: &dyn Store,
    mut job: J,
) -> Result<J::Output, J::Error> {
    let mut replies = Vec::new();
    loop {
        let next = job.step(&replies);
        scratch.reclaim(&mut replies);
        match next? {
            Next::Done(output) => return Ok(output),
            Next::Fork(jobs) => spawn.all(store, jobs)?,
            Next::Fill(requests) => {
                for (number, request) in requests.into_iter().enumerate() {
                    replies.push(scratch.fill(store, request, job.place(number))?);
                }
            }
            Next::Ask(requests) => {
                let expected = requests.len();
                spawn.answers(scratch, store, requests, &mut replies)?;
                check_replies(replies.len(), expected)?;
            }
        }
    }
}

/// Where the independent parts of a job run.
pub trait Spawn: Sync {
    /// Runs all jobs, each with [`run_in`], and drops what comes out.
    ///
    /// # Errors
    /// That of a job that failed; others may then not have run.
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error>;

    /// Answers requests, which are independent of each other, in their order: by default on this thread, with
    /// [`Scratch::answers`].
    ///
    /// # Errors
    /// Those of the store.
    fn answers(
        &self,
        scratch: &mut Scratch,
        store: &dyn Store,
        requests: Vec<Request>,
        replies: &mut Vec<Reply>,
    ) -> Result<()> {
        scratch.answers(store, requests, replies)
    }
}

/// Runs jobs one after another on this thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Spawn for Sequential {
    fn all<J: Job>(&self, store: &dyn Store, jobs: Vec<J>) -> Result<(), J::Error> {
        let mut scratch = Scratch::new();
        for job in jobs {
            run_in(&mut scratch, self, store, job)?;
        }
        Ok(())
    }
}

/// Replies whose memory is kept; more are freed.
const MAX_FREE: usize = 64;
/// The bytes of all that are kept.
const MAX_FREE_SIZE: usize = 64 << 20;

/// Memory for replies that a driver keeps from step to step and from job to job; one for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    free: Vec<Fetched>,
    /// The bytes of all that are free.
    size: usize,
}

impl Scratch {
    /// With nothing kept yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers requests one after another.
    ///
    /// # Errors
    /// Those of the store.
    pub fn answers(&mut self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
        let mut rest = requests.as_slice();
        while let Some(request) = rest.first() {
            let values: Vec<_> = rest.iter().map_while(Request::plain_set).collect();
            if values.len() > 1 {
                store.set_many(&values)?;
                replies.extend(values.iter().map(|_| Reply::Set));
                rest = rest.get(values.len()..).unwrap_or_default();
            } else {
                replies.push(self.reply(store, request)?);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        requests.into_iter().for_each(keep);
        Ok(())
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Those of the store.
    pub fn answer(&mut self, store: &dyn Store, request: Request) -> Result<Reply> {
        let reply = self.reply(store, &request);
        keep(request);
        reply
    }

    fn reply(&mut self, store: &dyn Store, request: &Request) -> Result<Reply> {
        Ok(match request {
            Request::Get { key, ranges, options } => {
                let mut fetched = self.free.pop().unwrap_or_default();
                self.size -= fetched.spare();
                match get(store, key, ranges, options, &mut fetched) {
                    Ok(true) => Reply::Got(Some(fetched)),
                    Ok(false) => {
                        self.keep(fetched);
                        Reply::Got(None)
                    }
                    Err(error) => {
                        self.keep(fetched);
                        conflict(error)?
                    }
                }
            }
            Request::Set { key, value, options } => {
                store.set_with(key, value, options).map(|_| Reply::Set).or_else(conflict)?
            }
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

    /// Answers a request, in `place` if it is to get a whole value and the store can.
    fn fill(&mut self, store: &dyn Store, request: Request, place: Option<&mut [u8]>) -> Result<Reply> {
        if let (Request::Get { key, ranges, options }, Some(place)) = (&request, place)
            && options.is_default()
            && matches!(ranges[..], [ByteRange::Full])
        {
            match store.get_into(key, place)? {
                Placed::Found(size) => return Ok(Reply::Filled(size)),
                Placed::Missing => return Ok(Reply::Got(None)),
                Placed::Declined => {}
            }
        }
        self.answer(store, request)
    }

    fn reclaim(&mut self, replies: &mut Vec<Reply>) {
        for reply in replies.drain(..) {
            if let Reply::Got(Some(fetched)) = reply {
                self.keep(fetched);
            }
        }
    }

    /// Keeps the memory of a reply, and nothing that the store lent or holds open for it.
    fn keep(&mut self, mut fetched: Fetched) {
        fetched.clear();
        if self.free.len() < MAX_FREE && fetched.spare() <= MAX_FREE_SIZE.saturating_sub(self.size) {
            self.size += fetched.spare();
            self.free.push(fetched);
        }
    }
}

/// Keeps the memory of a value that was set.
fn keep(request: Request) {
    if let Request::Set { value, .. } = request {
        crate::spare::keep(value);
    }
}

/// A precondition that does not hold is an answer that a job can go on with, not a failure of the store.
pub(crate) fn conflict(error: Error) -> Result<Reply> {
    if error.is_precondition() { Ok(Reply::Conflict) } else { Err(error) }
}

/// A get with its ranges merged as the store likes, cut back into the ranges asked for.
fn get(store: &dyn Store, key: &Key, ranges: &[ByteRange], options: &GetOptions, into: &mut Fetched) -> Result<bool> {
    match Plan::new(ranges, &store.coalesce()) {
        None => {
            let found = store.get_with(key, ranges, options, into)?;
            check(&store, key, found, into.len(), ranges.len())?;
            Ok(found)
        }
        Some(plan) => {
            let found = store.get_with(key, &plan.ranges, options, into).map_err(|error| plan.blame(error, ranges))?;
            check(&store, key, found, into.len(), plan.ranges.len())?;
            if found {
                plan.cut(&store, key, into)?;
            }
            Ok(found)
        }
    }
}

/// What codecs trust is checked once: a store that gives fewer pieces than asked for must not look like empty data.
pub(crate) fn check(
    store: &dyn std::fmt::Display,
    key: &Key,
    exists: bool,
    found: usize,
    expected: usize,
) -> Result<()> {
    if exists && found != expected {
        return Err(Error::Contract { store: store.to_string(), key: key.clone(), found, expected });
    }
    Ok(())
}

/// Checked once for all jobs: a reply too few must not look like a value that is not there.
pub(crate) fn check_replies(found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Replies { found, expected }) }
}

/// Ranges merged for a store.
pub(crate) struct Plan {
    /// What the store is asked for: the merged ranges first, then those whose place depends on the size of the value.
    pub(crate) ranges: Vec<ByteRange>,
    merged: Merged,
    /// For each range asked for, whether it is the next of the merged ones or which of `ranges` it is.
    sources: SmallVec<[Option<usize>; 8]>,
}

impl Plan {
    /// `None` if nothing can be merged.
    pub(crate) fn new(ranges: &[ByteRange], how: &crate::Coalesce) -> Option<Self> {
        if how.max_size == 0 {
            return None;
        }
        let bounded: SmallVec<[_; 8]> = ranges.iter().filter_map(ByteRange::bounded).cloned().collect();
        // A range that ends before it starts is left for the store to refuse.
        if bounded.len() < 2 || bounded.iter().any(|range| range.start > range.end) {
            return None;
        }
        let merged = coalesce(&bounded, how);
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

    /// Cuts the pieces of [`Plan::ranges`] into those of the ranges asked for.
    pub(crate) fn cut(&self, store: &dyn std::fmt::Display, key: &Key, fetched: &mut Fetched) -> Result<()> {
        let mut places = self.merged.places.iter();
        let mut parts: SmallVec<[(usize, std::ops::Range<usize>); 8]> = SmallVec::with_capacity(self.sources.len());
        for source in &self.sources {
            let part = match source {
                Some(i) => Some((*i, 0..fetched.part(*i).len())),
                None => places.next().and_then(|place| {
                    let start = usize::try_from(place.offset).ok()?;
                    Some((place.range, start..start.checked_add(usize::try_from(place.len).ok()?)?))
                }),
            };
            parts.extend(part);
        }
        let (found, expected) = (parts.len(), self.sources.len());
        if found != expected || !fetched.recut(parts.into_iter()) {
            return Err(Error::Contract { store: store.to_string(), key: key.clone(), found, expected });
        }
        Ok(())
    }

    /// Names the range asked for that is not inside the value instead of the merged one.
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
