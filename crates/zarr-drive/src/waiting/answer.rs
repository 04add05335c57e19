//! Answering of requests by async stores.

use zarr_store::{
    AccessProfile, AsyncStore, AsyncStoreExt, BoxFuture, ByteRange, Listed, Reply, Request, Result, StoreKind,
};

use super::future_set::all;
use super::parts;
use super::permits::Permits;
use crate::beside;
use crate::get_plan::GetPlan;
use crate::replies::{check_replies, conflict};
use crate::trace::Span;

/// Expected number of bytes of a value if the request does not give one.
const USUAL_SIZE: u64 = 64 << 10;

/// Number of bytes that a remote store buffers of a value that is set piece by piece: parts in transfer, and the next part.
const STREAMED: u64 = 32 << 20;

/// Answers `requests` concurrently, and returns the replies in the order of `requests`.
pub(super) async fn answers(
    store: &dyn AsyncStore,
    permits: &Permits,
    mut requests: Vec<Request>,
) -> Result<Vec<Reply>> {
    let expected = requests.len();
    let replies = match (requests.pop(), expected) {
        (Some(request), 1) => vec![answer(store, permits, request).await?],
        (last, _) => {
            let requests = requests.into_iter().chain(last);
            all(requests.map(|request| Box::pin(answer(store, permits, request)) as BoxFuture<'_, _>), permits.count())
                .await?
        }
    };
    check_replies(replies.len(), expected)?;
    Ok(replies)
}

/// Answers gets of values that lie near each other in a file by one call of [`AsyncStore::get_many`]. A single request is answered as
/// usual.
pub(super) async fn together(store: &dyn AsyncStore, permits: &Permits, requests: Vec<Request>) -> Result<Vec<Reply>> {
    if requests.len() < 2 {
        return answers(store, permits, requests).await;
    }
    let _permit = Span::wait().during(permits.take()).await;
    let gets = beside::value_gets(&requests);
    let span = Span::gets(&store, &gets);
    let got = span.during(store.get_many(gets)).await?;
    let replies = beside::replies(&store, requests.iter(), got)?;
    span.replied_all(&replies);
    Ok(replies)
}

async fn answer(store: &dyn AsyncStore, permits: &Permits, request: Request) -> Result<Reply> {
    if let Request::Get { key, ranges, options } = &request {
        return parts::get(store, permits, key, ranges, options).await.map(Reply::Got).or_else(conflict);
    }
    let _permit = Span::wait().during(permits.take()).await;
    let span = Span::request(&store, &request);
    span.during(reply(store, request)).await
}

/// Answers a request other than a get.
async fn reply(store: &dyn AsyncStore, request: Request) -> Result<Reply> {
    Ok(match request {
        Request::Get { .. } => Reply::Conflict,
        Request::Set { key, value, options } => {
            store.set(&key, value.into(), &options).await.map(|_| Reply::Set).or_else(conflict)?
        }
        Request::BeginSet { key, head, options } => Reply::Begun(store.begin_set(&key, head, &options).await?),
        Request::AppendToSet { key, stream, pieces } => {
            store.append_to_set(&key, &stream, pieces).await?;
            Reply::Appended
        }
        Request::FinishSet { key, stream, head } => {
            store.finish_set(&key, &stream, head).await.map(|_| Reply::Set).or_else(conflict)?
        }
        Request::Erase { key } => {
            store.erase(&key).await?;
            Reply::Erased
        }
        Request::ErasePrefix { prefix } => {
            store.erase_prefix(&prefix).await?;
            Reply::Erased
        }
        Request::RenamePrefix { from, to } => Reply::Renamed(store.rename_prefix(&from, &to).await?),
        Request::ExchangePrefixes { a, b } => Reply::Exchanged(store.exchange_prefixes(&a, &b).await?),
        Request::Lock { prefix } => Reply::Locked(store.try_lock(&prefix).await?),
        Request::Barrier => {
            store.barrier().await?;
            Reply::Barrier
        }
        Request::Pause { duration } => {
            store.pause(duration).await;
            Reply::Paused
        }
        Request::List { prefix } => Reply::Listing(store.list_dir(&prefix).await?),
        Request::ListAll { prefix } => Reply::Keys(store.list_prefix(&prefix).await?),
        Request::ListSizes { prefix } => {
            let listed = Listed::default();
            store.list_sizes(&prefix, &listed.visitor()).await?;
            Reply::Sizes(listed.take_sorted())
        }
        Request::Size { key } => Reply::Size(store.size(&key).await?),
    })
}

/// Estimated memory, in bytes, that requests take until their replies are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charge {
    /// Number of bytes of the values that are set.
    pub(super) set: u64,
    /// Number of bytes of ranges with a known length. Merged ranges count with the gaps between them.
    pub(super) ranges: u64,
    /// Expected number of bytes of values, and of ranges, whose length is unknown before the reply.
    pub(super) expected: u64,
}

impl Charge {
    pub(super) fn of<'r>(requests: impl IntoIterator<Item = &'r Request>, profile: &AccessProfile) -> Self {
        let mut charge = Self::default();
        let add = |sum: &mut u64, size: u64| *sum = sum.saturating_add(size);
        for request in requests {
            match request {
                Request::Get { ranges, options, .. } => {
                    let whole = options.expected_size.unwrap_or(USUAL_SIZE);
                    let plan = GetPlan::new(ranges, profile);
                    for range in plan.as_ref().map_or(&ranges[..], |plan| &plan.ranges) {
                        match range {
                            ByteRange::Range(range) => add(&mut charge.ranges, range.end.saturating_sub(range.start)),
                            ByteRange::Suffix(len) => add(&mut charge.ranges, *len),
                            ByteRange::First(len) => add(&mut charge.expected, whole.min(*len)),
                            ByteRange::Full | ByteRange::From(_) => add(&mut charge.expected, whole),
                        }
                    }
                }
                Request::Set { value, .. } => add(&mut charge.set, value.len() as u64),
                Request::AppendToSet { pieces, .. } => {
                    let size = pieces.iter().map(|piece| piece.len() as u64).fold(0, u64::saturating_add);
                    add(&mut charge.set, if profile.kind == StoreKind::Remote { size.max(STREAMED) } else { size });
                }
                _ => {}
            }
        }
        charge
    }
}

/// Ratio of the actual sizes of values to their expected sizes.
///
/// The expected size is often the maximum that codecs can produce, and compressed values are smaller. Further values are estimated by the
/// largest ratio among the values that have come, and a quarter more: at most the expected size, unless a value was larger than its expected
/// size, as strings may be.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// Largest ratio so far, in units of 1/1024; `None` before the first reply.
    largest: Option<u64>,
}

impl Shares {
    /// Updates the largest ratio by replies of `held` bytes to requests with the estimate `charge`.
    pub(super) fn note(&mut self, charge: &Charge, held: u64) {
        if charge.expected > 0 && held > charge.ranges {
            let share = (u128::from(held - charge.ranges) << 10).div_ceil(u128::from(charge.expected));
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            self.largest = Some(self.largest.map_or(share, |largest| largest.max(share)));
        }
    }

    /// Returns the estimated number of bytes of requests with `charge`.
    pub(super) fn bytes(&self, charge: &Charge) -> u64 {
        let expected = match self.largest {
            Some(share) => {
                let size = (u128::from(charge.expected) * u128::from(share.saturating_add(share / 4))) >> 10;
                let most = if share > 1 << 10 { u64::MAX } else { charge.expected };
                most.min(u64::try_from(size).unwrap_or(u64::MAX))
            }
            None => charge.expected,
        };
        charge.set.saturating_add(charge.ranges).saturating_add(expected)
    }
}

/// Returns the number of bytes of memory of `replies`.
pub(super) fn held_size(replies: &[Reply]) -> u64 {
    let size = |reply: &Reply| match reply {
        Reply::Got(Some(fetched)) => fetched.parts().map(|part| part.len() as u64).sum(),
        _ => 0,
    };
    replies.iter().map(size).fold(0, u64::saturating_add)
}
