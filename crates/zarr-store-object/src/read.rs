//! Gets of values.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::{Attribute, GetOptions, GetRange, GetResultPayload};
use zarr_store::{BoxFuture, Bytes, ErrorKind, Key, Operation, Result, Version};
use zarr_store_runtime::http::{Body, Failure, in_time};
use zarr_store_runtime::{Answer, Condition, Opened, RangeRequest, Sizes, Source};

use crate::address::Protocol;
use crate::bucket::{Bucket, is_tag};
use crate::exchange::Exchange;
use crate::purpose::OfValue;
use crate::writes;

/// Source of the values of a store.
pub(crate) struct Values(pub(crate) Arc<Bucket>);

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.subject.address.fmt(f)
    }
}

impl Source for Values {
    fn open(&self, key: &Key, range: RangeRequest, condition: Condition) -> BoxFuture<'static, Result<Answer>> {
        Box::pin(open(Arc::clone(&self.0), key.clone(), range, condition))
    }

    fn sizes(&self) -> Option<&Sizes> {
        self.0.sizes.as_ref()
    }

    fn concurrency(&self) -> usize {
        self.0.common.concurrency
    }
}

async fn open(inner: Arc<Bucket>, key: Key, range: RangeRequest, condition: Condition) -> Result<Answer> {
    let exchange = inner.exchange(0);
    let missing_403 = inner.common.missing_403;
    Ok(match ask(&inner, &exchange, &key, range, condition, missing_403).await? {
        Asked::Answer(answer) => answer,
        Asked::Coming(coming) => {
            let (at, size, version) = (coming.at.clone(), coming.size, coming.version.clone());
            let (modified, etag) = (Some(coming.modified), coming.etag.clone());
            let body = async move { body(&inner, &exchange, &key, coming).await };
            Answer::Opened(Opened { at, size, version, modified, etag, body: Box::pin(body) })
        }
    })
}

enum Asked {
    /// Response without bytes.
    Answer(Answer),
    Coming(Coming),
}

/// Response whose bytes are still to be read.
struct Coming {
    at: Range<u64>,
    size: u64,
    version: Option<Version>,
    modified: SystemTime,
    etag: Option<Arc<str>>,
    /// Identifiers of the puts that led to the value.
    writes: Option<String>,
    stream: BoxStream<'static, object_store::Result<Bytes>>,
}

/// Requests a range of a value on a condition. If `missing_403`, a refused request counts as a missing value.
async fn ask(
    inner: &Arc<Bucket>,
    exchange: &Exchange,
    key: &Key,
    range: RangeRequest,
    condition: Condition,
    missing_403: bool,
) -> Result<Asked> {
    let path = inner.path(Operation::Get, key)?;
    let mut options = GetOptions {
        range: match range {
            RangeRequest::All => None,
            RangeRequest::Bounds(at) => Some(GetRange::Bounded(at)),
            RangeRequest::From(start) => Some(GetRange::Offset(start)),
            RangeRequest::Last(len) => Some(GetRange::Suffix(len)),
        },
        ..GetOptions::default()
    };
    options.extensions.insert(OfValue);
    let of_generation = inner.subject.address.protocol == Protocol::Gcs;
    match &condition {
        Condition::IsNot(version) if !of_generation && is_tag(version.as_str()) => {
            options.if_none_match = Some(version.as_str().to_owned());
        }
        // A generation is excluded by a header that object_store does not have.
        Condition::Any | Condition::IsNot(_) => {}
        Condition::Is(version) if of_generation && version.as_str().bytes().all(|byte| byte.is_ascii_digit()) => {
            options.version = Some(version.as_str().to_owned());
        }
        Condition::Is(version) if !of_generation && is_tag(version.as_str()) => {
            options.if_match = Some(version.as_str().to_owned())
        }
        // The version comes from another store, so no value here has it.
        Condition::Is(_) => return Ok(Asked::Answer(Answer::Changed(None))),
    }
    let result = exchange.tried(|| inner.store.get_opts(&path, options.clone())).await;
    let result = match result {
        Ok(result) => result,
        Err(error) => {
            let answer = refused(inner, exchange, key, (&condition, of_generation, missing_403), &error).await?;
            return Ok(Asked::Answer(answer));
        }
    };
    let (at, size) = (result.range.clone(), result.meta.size);
    let version = inner.version(result.meta.e_tag.as_deref(), result.meta.version.as_deref());
    let writes = result.attributes.get(&Attribute::Metadata(writes::NAME.into())).map(|ids| ids.to_string());
    if let (Some(version), Some(writes)) = (&version, &writes) {
        inner.writes.insert(key, version.clone(), writes.clone());
    }
    #[expect(clippy::infallible_destructuring_match, reason = "there may be files with other features")]
    let stream = match result.payload {
        GetResultPayload::Stream(stream) => stream,
    };
    let modified = result.meta.last_modified.into();
    let etag = result.meta.e_tag.map(Arc::from);
    Ok(Asked::Coming(Coming { at, size, version, modified, etag, writes, stream }))
}

/// Reads the bytes of a response, with further requests if it ends too early. `None` if the value was replaced meanwhile.
async fn body(inner: &Arc<Bucket>, exchange: &Exchange, key: &Key, coming: Coming) -> Result<Option<Bytes>> {
    let Coming { at, size, version, mut stream, .. } = coming;
    let expected = at.end - at.start;
    let failed = |failure: &Failure| {
        let text = failure.text.clone() + &exchange.seen().tail(failure.kind);
        inner.subject.failed(Operation::Get, key.as_str(), failure.kind, text)
    };
    let mut body = Body::new(expected).map_err(|failure| failed(&failure))?;
    loop {
        let failure = match read(exchange, stream, &mut body, expected).await {
            Ok(()) => return Ok(Some(body.into_bytes())),
            Err(failure) => failure,
        };
        let Some(again) = failure.again() else { return Err(failed(&failure)) };
        if !exchange.pause(again).await {
            return Err(failed(&failure));
        }
        let (rest, condition) = match &version {
            Some(version) => (at.start + body.len()..at.end, Condition::Is(version.clone())),
            // Nothing shows that the rest would be of the same state of the value.
            None => {
                exchange.seen().attempts.thrown_away();
                body = Body::new(expected).map_err(|failure| failed(&failure))?;
                (at.clone(), Condition::Any)
            }
        };
        match ask(inner, exchange, key, RangeRequest::Bounds(rest.clone()), condition, false).await? {
            Asked::Coming(next) if (&next.at, next.size, &next.version) == (&rest, size, &version) => {
                stream = next.stream;
            }
            _ => return Ok(None),
        }
    }
}

/// Returns what an error response says about the value.
async fn refused(
    inner: &Arc<Bucket>,
    exchange: &Exchange,
    key: &Key,
    (condition, of_generation, missing_403): (&Condition, bool, bool),
    error: &object_store::Error,
) -> Result<Answer> {
    let problem = exchange.seen().problem.clone();
    let Some(problem) = problem.filter(|problem| !problem.foreign) else {
        return Err(inner.error(exchange, Operation::Get, key.as_str(), error));
    };
    match problem.status.as_u16() {
        404 if inner.subject.no_bucket(&problem) => {}
        // The required generation is gone, but the value may exist in another generation.
        404 if of_generation && condition.required().is_some() => {
            let exchange = Exchange::new(exchange.attempts());
            let first = RangeRequest::Bounds(0..1);
            let newest = Box::pin(ask(inner, &exchange, key, first, Condition::Any, missing_403)).await?;
            return Ok(match newest {
                Asked::Coming(coming) => Answer::Changed(coming.version),
                Asked::Answer(Answer::Missing) => Answer::Missing,
                Asked::Answer(_) => Answer::Changed(None),
            });
        }
        404 => return Ok(Answer::Missing),
        403 if missing_403 => return Ok(Answer::Missing),
        304 if matches!(condition, Condition::IsNot(_)) => return Ok(Answer::Same),
        412 | 304 => return Ok(Answer::Changed(None)),
        416 => return Ok(Answer::Outside(problem.size)),
        _ => {}
    }
    Err(inner.error(exchange, Operation::Get, key.as_str(), error))
}

/// Reads the rest of a body, as long as the operation has time.
async fn read(
    exchange: &Exchange,
    mut stream: BoxStream<'static, object_store::Result<Bytes>>,
    body: &mut Body,
    expected: u64,
) -> Result<(), Failure> {
    while body.len() < expected {
        let failure = match in_time(&exchange.attempts(), exchange.during(stream.next())).await {
            Ok(Some(Ok(chunk))) if body.len() + chunk.len() as u64 > expected => {
                // Nothing shows which bytes of the failed body are right, so start over.
                *body = Body::new(expected)?;
                exchange.seen().attempts.thrown_away();
                let text = format!("the body has more than the expected {expected} bytes");
                return Err(Failure::new(ErrorKind::Transient, text));
            }
            Ok(Some(Ok(chunk))) => {
                body.push(chunk)?;
                exchange.seen().attempts.received(body.len());
                continue;
            }
            Ok(None) => Failure::new(ErrorKind::Transient, "the body is too short"),
            // The reason was recorded when the error happened.
            Ok(Some(Err(error))) => {
                let noted = exchange.seen().failure.clone();
                noted.unwrap_or_else(|| Failure::new(ErrorKind::Io, error.to_string()))
            }
            Err(late) => late,
        };
        let text = format!("the body ended after {} of {expected} bytes: {}", body.len(), failure.text);
        return Err(Failure::new(failure.kind, text));
    }
    Ok(())
}

/// Value that currently exists.
pub(crate) struct There {
    /// Version of the value; `None` if it has none.
    pub(crate) version: Option<Version>,
    /// Identifiers of the puts that led to the value; empty if it has none.
    pub(crate) writes: String,
}

/// Looks up the current value, within the remaining time of `operation`; `None` if there is none. If `missing_403`, a refused request
/// counts as a missing value.
pub(crate) async fn look(
    inner: &Arc<Bucket>,
    key: &Key,
    operation: &Exchange,
    missing_403: bool,
) -> Result<Option<There>> {
    let exchange = Exchange::new(operation.attempts().with_kept_back());
    // An empty value has no first byte.
    for range in [RangeRequest::Bounds(0..1), RangeRequest::All] {
        match ask(inner, &exchange, key, range, Condition::Any, missing_403).await? {
            Asked::Coming(mut coming) => {
                // A body of one byte is read, so that its connection can serve the next request.
                if coming.at.end - coming.at.start <= 1 {
                    drop(in_time(&exchange.attempts(), exchange.during(coming.stream.next())).await);
                }
                return Ok(Some(There { version: coming.version, writes: coming.writes.unwrap_or_default() }));
            }
            Asked::Answer(Answer::Outside(_)) => {}
            Asked::Answer(_) => return Ok(None),
        }
    }
    Ok(Some(There { version: None, writes: String::new() }))
}

/// Looks up a value that Azure is copying. The status of the copy is recorded in `exchange`.
pub(crate) async fn look_at_copy(inner: &Arc<Bucket>, key: &Key, exchange: &Exchange) -> Result<()> {
    ask(inner, exchange, key, RangeRequest::Bounds(0..1), Condition::Any, false).await.map(drop)
}
