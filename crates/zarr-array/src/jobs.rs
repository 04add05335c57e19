//! Small jobs of one or a few requests.

use crate::{Error, Result};
use std::time::Duration;
use zarr_drive::Script;
pub(crate) use zarr_hierarchy::jobs::{TakeLock, unfit};
use zarr_store::{Bytes, Fetched, Key, Listing, Precondition, Prefix, Reply, Request};

/// Type of the small jobs of an array, which return a `T`.
pub(crate) type Job<T> = Script<'static, T, Error>;

/// Makes a job of requests that set or erase values, or order writes. The requests have no preconditions that could fail.
fn change(requests: Vec<Request>) -> Job<()> {
    Script::new(|io| async move { if io.change(requests).await? { Ok(()) } else { Err(unfit()) } })
}

/// Makes the job that sets the value of a key.
pub(crate) fn set(key: Key, value: Vec<u8>) -> Job<()> {
    change(vec![Request::set(key, value, Precondition::None)])
}

/// Makes the job that erases the values of keys.
pub(crate) fn erase(keys: Vec<Key>) -> Job<()> {
    change(keys.into_iter().map(|key| Request::Erase { key }).collect())
}

/// Makes the job that orders earlier writes before later ones on the disk.
pub(crate) fn barrier() -> Job<()> {
    change(vec![Request::Barrier])
}

/// Makes the job that lists the keys and prefixes directly under a prefix.
pub(crate) fn list(prefix: &str) -> Result<Job<Listing>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move { io.list(vec![prefix]).await?.pop().ok_or_else(unfit) }))
}

/// Makes the job that lists all keys under a prefix.
pub(crate) fn keys_below(prefix: &str) -> Result<Job<Vec<Key>>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move { io.list_all(vec![prefix]).await?.pop().ok_or_else(unfit) }))
}

/// Makes the job that lists all keys under a prefix, with the sizes of their values in bytes.
pub(crate) fn sizes_below(prefix: &str) -> Result<Job<Vec<(Key, u64)>>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move {
        match io.ask(vec![Request::ListSizes { prefix }]).await.pop() {
            Some(Reply::Sizes(sizes)) => Ok(sizes),
            _ => Err(unfit()),
        }
    }))
}

/// Makes the job that waits for `duration`.
pub(crate) fn pause(duration: Duration) -> Job<()> {
    Script::new(move |io| async move { Ok(io.pause(duration).await?) })
}

/// Makes the job that gets the whole value of a key; `None` if the key has no value.
pub(crate) fn get(key: Key) -> Job<Option<Bytes>> {
    Script::new(|io| async move {
        let fetched = io.get(vec![Request::get(key)]).await?.pop().ok_or_else(unfit)?;
        Ok(fetched.map(Fetched::into_bytes))
    })
}

/// Error for a driver that steps a job after its end.
pub(crate) fn went_on() -> Error {
    Error::internal("a job went on after its end")
}

/// Error for a grid that has fewer chunks in a region than were planned to be read or written.
pub(crate) fn too_few_chunks() -> Error {
    Error::internal("a grid has fewer chunks than its plan")
}

#[cfg(test)]
mod tests;
