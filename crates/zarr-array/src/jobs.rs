//! Small jobs: a request or a few, without a plan.

use crate::{Error, Result};
use std::time::Duration;
use zarr_drive::Script;
pub(crate) use zarr_hierarchy::jobs::{TakeLock, unfit};
use zarr_store::{Bytes, Fetched, Key, Listing, Precondition, Prefix, Reply, Request};

/// A job of an array.
pub(crate) type Job<T> = Script<'static, T, Error>;

/// Requests that set or erase values, or order writes, and whose conditions hold in any case.
fn change(requests: Vec<Request>) -> Job<()> {
    Script::new(|io| async move { if io.change(requests).await? { Ok(()) } else { Err(unfit()) } })
}

/// Sets a value.
pub(crate) fn set(key: Key, value: Vec<u8>) -> Job<()> {
    change(vec![Request::set(key, value, Precondition::None)])
}

/// Erases values.
pub(crate) fn erase(keys: Vec<Key>) -> Job<()> {
    change(keys.into_iter().map(|key| Request::Erase { key }).collect())
}

/// Orders earlier writes before later ones on the disk.
pub(crate) fn barrier() -> Job<()> {
    change(vec![Request::Barrier])
}

/// The keys and prefixes directly under a prefix.
pub(crate) fn list(prefix: &str) -> Result<Job<Listing>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move { io.list(vec![prefix]).await?.pop().ok_or_else(unfit) }))
}

/// All keys under a prefix.
pub(crate) fn keys_below(prefix: &str) -> Result<Job<Vec<Key>>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move { io.list_all(vec![prefix]).await?.pop().ok_or_else(unfit) }))
}

/// All keys under a prefix with the sizes of their values.
pub(crate) fn sizes_below(prefix: &str) -> Result<Job<Vec<(Key, u64)>>> {
    let prefix = Prefix::new(prefix)?;
    Ok(Script::new(|io| async move {
        match io.ask(vec![Request::ListSizes { prefix }]).await.pop() {
            Some(Reply::Sizes(sizes)) => Ok(sizes),
            _ => Err(unfit()),
        }
    }))
}

/// Waits.
pub(crate) fn pause(duration: Duration) -> Job<()> {
    Script::new(move |io| async move { Ok(io.pause(duration).await?) })
}

/// The whole value of a key; `None` if there is no such key.
pub(crate) fn get(key: Key) -> Job<Option<Bytes>> {
    Script::new(|io| async move {
        let fetched = io.get(vec![Request::get(key)]).await?.pop().ok_or_else(unfit)?;
        Ok(fetched.map(Fetched::into_bytes))
    })
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
