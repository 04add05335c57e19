//! Replacing all keys under the path of a node in one step.

use super::order;
use super::unfinished::{new_id, replacement};
use crate::jobs::in_steps;
use crate::{Error, Result, jobs};
use zarr_drive::Io;
use zarr_meta::StoredNode;
use zarr_store::{Key, Precondition, Prefix, Reply, Request};

/// Replaces a node in one step: writes the documents of the new node under a separate prefix, exchanges this prefix with the prefix of the
/// old node, and erases the old node. A reader of the path finds the old node or the new one at any time. Returns `false`, with the old
/// node unchanged, if the store does not exchange the prefixes.
///
/// `found` is the new node as it will be found, and `written` are its documents. Its path is not the root, and all its keys are under the
/// path.
pub(super) async fn exchange(io: &Io, found: &StoredNode, written: Vec<(String, Option<Vec<u8>>)>) -> Result<bool> {
    let prefix = Prefix::new(&found.path.key_prefix())?;
    let Some(new) = replacement(&found.path, new_id())? else {
        return Err(Error::internal("the root is replaced"));
    };
    let mut keys = Vec::new();
    let mut moved = |request| -> Result<Option<Request>> {
        // Other requests erase documents that the new node does not have.
        let Request::Set { key, value, options } = request else { return Ok(None) };
        let rest = prefix.strip(&key).ok_or_else(|| Error::internal("a document lies elsewhere"))?;
        let key = new.join(rest)?;
        keys.push(key.clone());
        Ok(Some(Request::Set { key, value, options }))
    };
    let when = |_: &Key, _| Precondition::None;
    let steps = order::requests(found.dialect, &found.path, &found.documents, written, when)?;
    let steps = steps.into_iter().map(|step| step.into_iter().filter_map(|set| moved(set).transpose()).collect());
    let steps = steps.collect::<Result<Vec<Vec<_>>>>()?;
    in_steps(io, steps).await?;
    io.change(vec![Request::Barrier]).await?;
    // Another writer that erases or replaces the node meanwhile erases the new node as a whole. So after the barrier the new node is
    // whole or erased.
    let listings = io.list(vec![new.clone()]).await?;
    let is_whole = keys.iter().all(|key| listings.iter().any(|listing| listing.keys.contains(key)));
    let is_exchanged = is_whole && exchange_prefixes(io, prefix, new.clone()).await?;
    io.change(vec![Request::ErasePrefix { prefix: new }]).await?;
    Ok(is_exchanged)
}

async fn exchange_prefixes(io: &Io, a: Prefix, b: Prefix) -> Result<bool> {
    match io.ask(vec![Request::ExchangePrefixes { a, b }]).await[..] {
        [Reply::Exchanged(is_exchanged)] => Ok(is_exchanged),
        _ => Err(jobs::unfit()),
    }
}
