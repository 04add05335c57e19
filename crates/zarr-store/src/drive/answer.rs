//! Answers to requests on stores that do not block.

use super::future_set::all;
use super::parts;
use super::permits::Permits;
use crate::answer::{check_replies, conflict};
use crate::get_plan::GetPlan;
use crate::trace::Span;
use crate::{AccessProfile, AsyncStore, AsyncStoreExt, BoxFuture, ByteRange, Reply, Request, Result};

/// So many bytes a value is expected to have if nothing else is known.
const USUAL_SIZE: u64 = 64 << 10;

/// Answers requests at the same time.
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

async fn answer(store: &dyn AsyncStore, permits: &Permits, request: Request) -> Result<Reply> {
    if let Request::Get { key, ranges, options } = &request {
        return parts::get(store, permits, key, ranges, options).await.map(Reply::Got).or_else(conflict);
    }
    let _permit = Span::wait().during(permits.take()).await;
    let span = Span::request(&store, &request);
    span.during(reply(store, request)).await
}

/// Answers a request that is no get.
async fn reply(store: &dyn AsyncStore, request: Request) -> Result<Reply> {
    Ok(match request {
        Request::Get { .. } => Reply::Conflict,
        Request::Set { key, value, options } => {
            store.set(&key, value.into(), &options).await.map(|_| Reply::Set).or_else(conflict)?
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
        Request::Size { key } => Reply::Size(store.size(&key).await?),
    })
}

/// How many bytes of memory the answers to some requests are expected to take, and the values that these set; and how many of them they
/// take in any case: ranges that are merged are in memory with the bytes between them.
pub(super) fn expected_size(requests: &[Request], profile: &AccessProfile) -> (u64, u64) {
    let (mut expected, mut certain) = (0_u64, 0_u64);
    for request in requests {
        match request {
            Request::Get { ranges, options, .. } => {
                let whole = options.expected_size.unwrap_or(USUAL_SIZE);
                let plan = GetPlan::new(ranges, profile);
                for range in plan.as_ref().map_or(&ranges[..], |plan| &plan.ranges) {
                    let size = match range {
                        ByteRange::Range(range) => range.end.saturating_sub(range.start),
                        ByteRange::Suffix(len) => *len,
                        ByteRange::First(len) => whole.min(*len),
                        ByteRange::Full | ByteRange::From(_) => whole,
                    };
                    expected = expected.saturating_add(size);
                    if let ByteRange::Range(_) = range {
                        certain = certain.saturating_add(size);
                    }
                }
            }
            Request::Set { value, .. } => expected = expected.saturating_add(value.len() as u64),
            _ => {}
        }
    }
    (expected, certain)
}

/// How many bytes of memory replies take.
pub(super) fn held_size(replies: &[Reply]) -> u64 {
    let size = |reply: &Reply| match reply {
        Reply::Got(Some(fetched)) => fetched.parts().map(|part| part.len() as u64).sum(),
        _ => 0,
    };
    replies.iter().map(size).fold(0, u64::saturating_add)
}
