//! Answering of requests by blocking stores.

use zarr_store::{
    BufferUse, ByteRange, Fetched, GetInto, GetOptions, Key, Listed, Reply, Request, Result, SetOptions, Store,
    StoreExt, keep_buffer,
};

use crate::beside;
use crate::get_plan::GetPlan;
use crate::replies::conflict;
use crate::trace::Span;

/// Answers `requests` one after another, and appends the replies to `replies`. Consecutive requests that set values become one call of
/// [`set_many`](zarr_store::StoreExt::set_many). Gets of values that lie near each other in a file ([`Store::location`]) become one call of
/// [`get_many`](zarr_store::StoreExt::get_many).
///
/// # Errors
/// The errors of the store.
pub fn answers(store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
    let beside = beside::answers(store, &requests)?;
    if !beside.is_empty() {
        for (request, reply) in requests.into_iter().zip(beside) {
            replies.push(reply.map_or_else(|| answer(store, request), Ok)?);
        }
        return Ok(());
    }
    let mut rest = requests.as_slice();
    while let Some(request) = rest.first() {
        let values: Vec<_> = rest.iter().map_while(plain_set).collect();
        if values.len() > 1 {
            Span::sets(&store, &values).within(|| store.set_many(&values))?;
            replies.extend(values.iter().map(|_| Reply::Set));
            rest = rest.get(values.len()..).unwrap_or_default();
        } else {
            replies.push(traced(store, request)?);
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    requests.into_iter().for_each(keep_value);
    Ok(())
}

/// Answers one request.
///
/// # Errors
/// The errors of the store.
pub fn answer(store: &dyn Store, request: Request) -> Result<Reply> {
    let reply = traced(store, &request);
    keep_value(request);
    reply
}

/// Answers a request in a tracing span.
fn traced(store: &dyn Store, request: &Request) -> Result<Reply> {
    let span = Span::request(&store, request);
    let reply = span.within(|| reply(store, request))?;
    span.replied(&reply);
    Ok(reply)
}

fn reply(store: &dyn Store, request: &Request) -> Result<Reply> {
    if let Some(value) = plain_set(request) {
        // No job needs the version of a value that was set, which some stores would have to look up.
        store.set_many(&[value])?;
        return Ok(Reply::Set);
    }
    Ok(match request {
        Request::Get { key, ranges, options } => get(store, key, ranges, options).map(Reply::Got).or_else(conflict)?,
        Request::Set { key, value, options } => store.set(key, value, options).map(|_| Reply::Set).or_else(conflict)?,
        Request::BeginSet { key, head, options } => Reply::Begun(store.begin_set(key, *head, options)?),
        Request::AppendToSet { key, stream, pieces } => {
            store.append_to_set(key, stream, pieces.clone())?;
            Reply::Appended
        }
        Request::FinishSet { key, stream, head } => {
            store.finish_set(key, stream, head.clone()).map(|_| Reply::Set).or_else(conflict)?
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
        Request::ExchangePrefixes { a, b } => Reply::Exchanged(store.exchange_prefixes(a, b)?),
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
        Request::ListSizes { prefix } => {
            let listed = Listed::default();
            store.list_sizes(prefix, &listed.visitor())?;
            Reply::Sizes(listed.take_sorted())
        }
        Request::Size { key } => Reply::Size(store.size(key)?),
    })
}

/// Answers a request. If it gets a whole value and the store supports [`Store::get_into`], the value is read into `destination`.
pub(crate) fn answer_into(store: &dyn Store, request: Request, destination: Option<&mut [u8]>) -> Result<Reply> {
    if let (Request::Get { key, ranges, options }, Some(destination)) = (&request, destination)
        && options.is_default()
        && matches!(ranges[..], [ByteRange::Full])
    {
        let span = Span::get(&store, key, ranges);
        match span.within(|| store.get_into(key, destination))? {
            GetInto::Found(size) => {
                let reply = Reply::Received(size);
                span.replied(&reply);
                return Ok(reply);
            }
            GetInto::Missing => return Ok(Reply::Got(None)),
            GetInto::Declined => {}
        }
    }
    answer(store, request)
}

/// Returns the key and the value of a set request with default options; `None` for other requests.
fn plain_set(request: &Request) -> Option<(&Key, &[u8])> {
    match request {
        Request::Set { key, value, options } if *options == SetOptions::default() => Some((key, value)),
        _ => None,
    }
}

/// Stores the buffer of a value that was set for reuse in this thread ([`keep_buffer`]).
fn keep_value(request: Request) {
    if let Request::Set { value, .. } = request {
        keep_buffer(BufferUse::Append, value);
    }
}

/// Gets `ranges` of a value. Neighbouring ranges are merged according to the access profile of the store, and the reply is cut into
/// `ranges` again.
fn get(store: &dyn Store, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
    let Some(plan) = GetPlan::new(ranges, &store.access_profile()) else {
        return Fetched::checked(&store, key, store.get(key, ranges, options)?, ranges.len(), options);
    };
    let fetched = store.get(key, &plan.ranges, options).map_err(|error| plan.blame(error, ranges))?;
    plan.cut(&store, key, fetched, options)
}
