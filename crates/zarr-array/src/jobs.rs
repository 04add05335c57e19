//! Small jobs: a request or a few, without a plan; and jobs that are parts of others.

use crate::{Error, ErrorKind, Result};
use std::time::Duration;
use zarr_store::{
    ByteRange, Bytes, Durability, Job, Key, Listing, Lock, Next, Precondition, Prefix, Reply, Request, SetOptions,
    backoff,
};

/// Some requests, of which nothing is expected but that they succeed.
#[derive(Debug)]
pub(crate) struct All(Vec<Request>);

impl All {
    pub(crate) fn set(key: Key, value: Vec<u8>) -> Self {
        Self(vec![Request::set(key, value, Precondition::None)])
    }

    pub(crate) fn erase(keys: Vec<Key>) -> Self {
        Self(keys.into_iter().map(|key| Request::Erase { key }).collect())
    }

    /// That what was written before is on the disk before what is written after.
    pub(crate) fn barrier() -> Self {
        Self(vec![Request::Barrier])
    }
}

impl Job for All {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if any_conflict(replies)? {
            return Err(unfit());
        }
        let requests = std::mem::take(&mut self.0);
        Ok(if requests.is_empty() { Next::Done(()) } else { Next::Ask(requests) })
    }
}

/// Whether one of some changes was not made because its condition did not hold.
pub(crate) fn any_conflict(replies: &[Reply]) -> Result<bool> {
    replies.iter().try_fold(false, |any, reply| match reply {
        Reply::Set | Reply::Erased | Reply::Barrier => Ok(any),
        Reply::Conflict => Ok(true),
        _ => Err(unfit()),
    })
}

/// Changes that are made in steps, one after another, as long as their conditions hold.
#[derive(Debug)]
pub(crate) struct InSteps {
    /// To be taken from the end.
    steps: Vec<Vec<Request>>,
}

/// How far changes in steps came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    All,
    /// A condition did not hold, in the last step or before it.
    Conflict {
        in_last: bool,
    },
}

impl InSteps {
    pub(crate) fn new(mut steps: Vec<Vec<Request>>) -> Self {
        steps.retain(|step| !step.is_empty());
        steps.reverse();
        Self { steps }
    }
}

impl Job for InSteps {
    type Output = Made;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if any_conflict(replies)? {
            return Ok(Next::Done(Made::Conflict { in_last: self.steps.is_empty() }));
        }
        Ok(self.steps.pop().map_or(Next::Done(Made::All), Next::Ask))
    }
}

/// Goes on with a job that is a part of another one and does not fork: `wait` keeps it until it is answered, `done` takes what came
/// of it.
pub(crate) fn within<J: Job<Error = Error>, P: Job<Error = Error>>(
    job: &mut J,
    mut part: Box<P>,
    replies: &[Reply],
    wait: impl FnOnce(&mut J, Box<P>),
    done: impl FnOnce(&mut J, P::Output) -> Result<Next<J>>,
) -> Result<Next<J>> {
    match part.step(replies)? {
        Next::Ask(requests) | Next::Fill(requests) => {
            wait(job, part);
            Ok(Next::Ask(requests))
        }
        Next::Done(output) => done(job, output),
        Next::Fork(_) => Err(Error::internal("a job that is a part of another one forked")),
    }
}

/// One request, and what becomes of its reply.
#[derive(Debug)]
pub(crate) struct One<T> {
    request: Option<Request>,
    finish: fn(&Reply) -> Option<T>,
}

impl<T: Send> Job for One<T> {
    type Output = T;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if let Some(request) = self.request.take() {
            return Ok(Next::Ask(vec![request]));
        }
        let output = replies.first().and_then(self.finish);
        output.map(Next::Done).ok_or_else(unfit)
    }
}

/// What is directly under a prefix.
pub(crate) fn list(prefix: &str) -> Result<One<Listing>> {
    let finish = |reply: &Reply| match reply {
        Reply::Listing(listing) => Some(listing.clone()),
        _ => None,
    };
    Ok(One { request: Some(Request::List { prefix: Prefix::new(prefix)? }), finish })
}

/// All keys under a prefix.
pub(crate) fn keys_below(prefix: &str) -> Result<One<Vec<Key>>> {
    let finish = |reply: &Reply| match reply {
        Reply::Keys(keys) => Some(keys.clone()),
        _ => None,
    };
    Ok(One { request: Some(Request::ListAll { prefix: Prefix::new(prefix)? }), finish })
}

/// A reply is of another kind than what was asked for, or there is none.
pub(crate) fn unfit() -> Error {
    Error::internal("the driver answered another request")
}

/// A job is driven on that has ended.
pub(crate) fn went_on() -> Error {
    Error::internal("a job went on after its end")
}

/// Waits.
pub(crate) fn pause(duration: Duration) -> One<()> {
    let finish = |reply: &Reply| matches!(reply, Reply::Paused).then_some(());
    One { request: Some(Request::Pause { duration }), finish }
}

/// Asks for a document. Of one that is too large to be parsed no more comes than shows that.
pub(crate) fn get_document(key: Key) -> Request {
    Request::get_ranges(key, vec![DOCUMENT])
}

/// Replaces a document if `when` holds, the last of a change or one that others follow.
pub(crate) fn set_document(key: Key, value: Vec<u8>, when: Precondition, is_last: bool) -> Request {
    Request::Set { key, value, options: document_options(when, is_last) }
}

/// How documents are set: one that a loss of power cuts short would be the loss of a node, and the last of a change shows
/// those before it.
pub(crate) fn document_options(when: Precondition, is_last: bool) -> SetOptions {
    SetOptions::when(when).durable(if is_last { Durability::File } else { Durability::Full })
}

/// What is read of a document.
pub(crate) const DOCUMENT: ByteRange = ByteRange::First(zarr_meta::MAX_DOCUMENT_SIZE as u64 + 1);

/// The whole value of a key; `None` if there is no such key.
pub(crate) fn get(key: Key) -> One<Option<Bytes>> {
    let finish = |reply: &Reply| match reply {
        Reply::Got(fetched) => Some(fetched.as_ref().map(|fetched| fetched.to_bytes(0))),
        _ => None,
    };
    One { request: Some(Request::get(key)), finish }
}

/// The sizes of the values of some keys.
#[derive(Debug)]
pub(crate) struct Sizes(Option<Vec<Key>>);

impl Sizes {
    pub(crate) fn new(keys: Vec<Key>) -> Self {
        Self(Some(keys))
    }
}

impl Job for Sizes {
    type Output = Vec<Option<u64>>;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        if let Some(keys) = self.0.take().filter(|keys| !keys.is_empty()) {
            return Ok(Next::Ask(keys.into_iter().map(|key| Request::Size { key }).collect()));
        }
        let size = |reply: &Reply| match reply {
            Reply::Size(size) => Ok(*size),
            _ => Err(unfit()),
        };
        Ok(Next::Done(replies.iter().map(size).collect::<Result<_>>()?))
    }
}

/// Takes the lock of a prefix, as soon as no other has it.
#[derive(Debug)]
pub(crate) struct TakeLock {
    prefix: Prefix,
    tries: u32,
    waited: Duration,
}

/// For so long another may have a lock that is waited for: an append of much data has it until all is written.
const LOCK_PATIENCE: Duration = Duration::from_secs(600);

impl TakeLock {
    pub(crate) fn new(prefix: Prefix) -> Self {
        Self { prefix, tries: 0, waited: Duration::ZERO }
    }

    /// Waits, unless it has done so for too long.
    fn wait(&mut self) -> Result<Next<Self>> {
        if self.waited > LOCK_PATIENCE {
            let seconds = LOCK_PATIENCE.as_secs();
            let message = format!("another writer has held the lock of this directory for {seconds} s");
            let error = Error::new(ErrorKind::Conflict, message).at(|at| at.key = Some(self.prefix.to_string()));
            return Err(error.with_hint("wait until it is done, and then repeat the change"));
        }
        self.tries = self.tries.saturating_add(1);
        let duration = backoff(self.tries);
        self.waited = self.waited.saturating_add(duration);
        Ok(Next::Ask(vec![Request::Pause { duration }]))
    }
}

impl Job for TakeLock {
    type Output = Lock;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match replies {
            [Reply::Locked(Some(lock))] => Ok(Next::Done(lock.clone())),
            [Reply::Locked(None)] => self.wait(),
            [] | [Reply::Paused] => Ok(Next::Ask(vec![Request::Lock { prefix: self.prefix.clone() }])),
            _ => Err(unfit()),
        }
    }
}

#[cfg(test)]
mod tests;
