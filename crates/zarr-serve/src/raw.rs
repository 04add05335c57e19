//! Requests to `/raw/KEY`: values of the store.

use crate::address;
use crate::answer_memory::Connection;
use crate::condition::{Outcome, entity_tag, evaluate, ranges_apply};
use crate::range::{RequestedRange, asked};
use crate::reply::{ReplyBody, bare, set, text, whole};
use crate::request_error::RequestError;
use crate::server_state::ServerState;
use crate::value_body::ValueBody;
use hyper::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, ETAG, RANGE};
use hyper::{HeaderMap, Response, StatusCode};
use std::sync::Arc;
use zarr_store::{GetOptions, Key, Snapshot, Store, StoreExt};

/// Number of attempts for a value that is replaced between two requests to the store.
const ATTEMPTS: usize = 3;

/// Answers a request for the value with the percent-encoded key `path`.
pub(crate) async fn raw(
    shared: &Arc<ServerState>,
    connection: &Arc<Connection>,
    path: &str,
    headers: &HeaderMap,
    is_head: bool,
) -> Response<ReplyBody> {
    let key = match key(path) {
        Ok(key) => key,
        Err(fault) => return text(&fault),
    };
    let mut answer = value((shared, connection), &key, headers, is_head).await;
    for _ in 1..ATTEMPTS {
        if !matches!(&answer, Err(fault) if fault.may_pass()) {
            break;
        }
        answer = value((shared, connection), &key, headers, is_head).await;
    }
    answer.unwrap_or_else(|fault| text(&fault))
}

/// Decodes the key that a path names.
fn key(path: &str) -> Result<Key, RequestError> {
    let path = address::decoded(path, false)?;
    if path.is_empty() || path.ends_with('/') {
        return Err(RequestError::not_found("folders are not listed, expected a key: /raw/zarr.json"));
    }
    // A key may have one, but no system should take it for a separator.
    if path.contains('\\') {
        return Err(RequestError::argument(format!("invalid key {path:?}: a backslash")));
    }
    Key::new(&path).map_err(|error| RequestError::argument(error.to_string()))
}

/// Facts about a value that are known without its bytes.
struct ValueFacts {
    size: u64,
    tag: Option<String>,
    snapshot: Option<Snapshot>,
}

fn known(store: &dyn Store, key: &Key) -> Result<Option<ValueFacts>, RequestError> {
    let Some(fetched) = store.get(key, &[], &GetOptions::snapshot())? else { return Ok(None) };
    let size = fetched
        .size
        .ok_or_else(|| RequestError::internal(format!("{store}: {key}: the store does not tell the size")))?;
    Ok(Some(ValueFacts { size, tag: fetched.version.as_ref().map(entity_tag), snapshot: fetched.snapshot }))
}

async fn value(
    (shared, connection): (&Arc<ServerState>, &Arc<Connection>),
    key: &Key,
    headers: &HeaderMap,
    is_head: bool,
) -> Result<Response<ReplyBody>, RequestError> {
    let sought = key.clone();
    let Some(ValueFacts { size, tag, snapshot }) = shared.get(move |store| known(store, &sought)).await?? else {
        return Err(RequestError::not_found(format!("no value {key}")));
    };
    let tag = tag.as_deref();
    let mut response = match evaluate(headers, tag) {
        Outcome::NotModified => bare(StatusCode::NOT_MODIFIED),
        Outcome::Failed => bare(StatusCode::PRECONDITION_FAILED),
        Outcome::Answer => {
            let range = headers.get(RANGE).filter(|_| ranges_apply(headers, tag)).map(|range| range.as_bytes());
            let (status, range) = match asked(range, size) {
                RequestedRange::Whole => (StatusCode::OK, 0..size),
                RequestedRange::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
                RequestedRange::Unsatisfiable => {
                    let message = format!("found {size} bytes\n");
                    let mut refused = whole(StatusCode::RANGE_NOT_SATISFIABLE, "text/plain; charset=utf-8", message);
                    set(&mut refused, CONTENT_RANGE, &format!("bytes */{size}"));
                    set(&mut refused, ACCEPT_RANGES, "bytes");
                    return Ok(refused);
                }
            };
            let length = range.end - range.start;
            let content_range = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
            let mut response = whole(status, media(key), "");
            if !is_head {
                let value = (key.clone(), size, snapshot);
                *response.body_mut() = ReplyBody::Value(ValueBody::begin((shared, connection), value, range).await?);
            }
            set(&mut response, CONTENT_LENGTH, &length.to_string());
            if status == StatusCode::PARTIAL_CONTENT {
                set(&mut response, CONTENT_RANGE, &content_range);
            }
            set(&mut response, ACCEPT_RANGES, "bytes");
            response
        }
    };
    if let Some(tag) = tag {
        set(&mut response, ETAG, tag);
    }
    // Clients may keep the answer, but must ask before each use whether it is still current.
    set(&mut response, CACHE_CONTROL, "no-cache");
    Ok(response)
}

/// Returns the media type of a value.
fn media(key: &Key) -> &'static str {
    match key.name() {
        "zarr.json" | ".zarray" | ".zgroup" | ".zattrs" | ".zmetadata" | "attributes.json" => "application/json",
        name if name.ends_with(".array.json") || name.ends_with(".group.json") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_policy::AccessPolicy;
    use crate::nodes::Nodes;
    use crate::options::{ServeLimits, ServeOptions};
    use std::time::Duration;
    use zarr_array::Registry;
    use zarr_store::{Counted, MemoryStore, SetOptions};

    #[test]
    fn values_wait_for_room_so_long_and_small_ones_not_at_all() -> Result<(), RequestError> {
        let counted = Arc::new(Counted::new(MemoryStore::new()));
        for (name, size) in [("middle", 1 << 20), ("small", 100)] {
            counted.set(&Key::new(name)?, &vec![7; size], &SetOptions::default())?;
        }
        let limits = ServeLimits::default().stall_time(Duration::from_millis(50));
        let options = ServeOptions::default().limits(limits);
        let access = AccessPolicy::new(&options).map_err(|error| RequestError::internal(error.to_string()))?;
        let nodes = Nodes::new(Arc::clone(&counted) as _, Arc::new(Registry::default()), &options);
        let (shared, connection) = (Arc::new(ServerState::new(access, nodes, &options.limits)), Arc::default());
        let asked = async |name| {
            let headers = HeaderMap::new();
            let answer = raw(&shared, &connection, name, &headers, false);
            let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
            answer.map(|answer| answer.status()).map_err(|_| RequestError::internal("still waits"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| RequestError::internal(error.to_string()))?.block_on(async {
            // Clients that read nothing hold all that may be held.
            let all = shared.held.room(u64::MAX).await?;
            counted.take();
            assert_eq!(asked("middle").await?, StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(counted.take().gets, 1, "it waits once");
            assert_eq!(asked("small").await?, StatusCode::OK);
            drop(all);
            assert_eq!(asked("middle").await?, StatusCode::OK);
            Ok(())
        })
    }
}
