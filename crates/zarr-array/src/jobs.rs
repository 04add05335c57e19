//! Small jobs: a request or a few, without a plan.

use crate::{Error, Result};
use std::time::Duration;
pub(crate) use zarr_hierarchy::jobs::{TakeLock, unfit};
use zarr_store::{Bytes, Job, Key, Listing, Next, Precondition, Prefix, Reply, Request};

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

    /// Orders earlier writes before later ones on the disk.
    pub(crate) fn barrier() -> Self {
        Self(vec![Request::Barrier])
    }
}

impl Job for All {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        for reply in replies {
            if !reply.is_made()? {
                return Err(unfit());
            }
        }
        let requests = std::mem::take(&mut self.0);
        Ok(if requests.is_empty() { Next::Done(()) } else { Next::Ask(requests) })
    }
}

/// One request, and the conversion of its reply.
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

/// The keys and prefixes directly under a prefix.
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

/// All keys under a prefix with the sizes of their values.
pub(crate) fn sizes_below(prefix: &str) -> Result<One<Vec<(Key, u64)>>> {
    let finish = |reply: &Reply| match reply {
        Reply::Sizes(sizes) => Some(sizes.clone()),
        _ => None,
    };
    Ok(One { request: Some(Request::ListSizes { prefix: Prefix::new(prefix)? }), finish })
}

/// Waits.
pub(crate) fn pause(duration: Duration) -> One<()> {
    let finish = |reply: &Reply| matches!(reply, Reply::Paused).then_some(());
    One { request: Some(Request::Pause { duration }), finish }
}

/// The whole value of a key; `None` if there is no such key.
pub(crate) fn get(key: Key) -> One<Option<Bytes>> {
    let finish = |reply: &Reply| match reply {
        Reply::Got(fetched) => Some(fetched.as_ref().map(|fetched| fetched.to_bytes(0))),
        _ => None,
    };
    One { request: Some(Request::get(key)), finish }
}

/// A job is driven on that has ended.
pub(crate) fn went_on() -> Error {
    Error::internal("a job went on after its end")
}

/// A grid has fewer chunks in a region than were planned to be read or written.
pub(crate) fn too_few_chunks() -> Error {
    Error::internal("a grid has fewer chunks than its plan")
}

#[cfg(test)]
mod tests;
