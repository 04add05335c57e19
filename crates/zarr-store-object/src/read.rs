//! Gets.

use std::fmt;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::{GetOptions, GetRange, GetResultPayload};
use zarr_store::{BoxFuture, Bytes, Error, ErrorKind, Key, Operation, Result, Version};
use zarr_store_runtime::http::Body;
use zarr_store_runtime::{Answer, Condition, Opened, RangeRequest, Sizes, Source};

use crate::address::Protocol;
use crate::bucket::{Bucket, is_tag};
use crate::connector::OfValue;
use crate::exchange::Exchange;

/// The values of a store.
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
    let path = inner.path(Operation::Get, &key)?;
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
        // A version of another store.
        Condition::Is(_) => return Ok(Answer::Changed(None)),
    }
    let exchange = inner.exchange();
    let result = exchange.during(inner.store.get_opts(&path, options)).await;
    let result = match result {
        Ok(result) => result,
        Err(error) => return refused(&inner, &exchange, &key, (&condition, of_generation), &error).await,
    };
    let (at, size) = (result.range.clone(), result.meta.size);
    let found = inner.version(result.meta.e_tag.as_deref(), result.meta.version.as_deref());
    #[expect(clippy::infallible_destructuring_match, reason = "there may be files with other features")]
    let stream = match result.payload {
        GetResultPayload::Stream(stream) => stream,
    };
    let expected = at.end - at.start;
    let body = async move {
        let read = exchange.during(read(stream, expected)).await;
        read.map_err(|error| match error {
            ReadError::Body(kind, text) => inner.subject.failed(Operation::Get, key.as_str(), kind, text),
            ReadError::Store(error) => inner.error(&exchange, Operation::Get, key.as_str(), &error),
        })
    };
    Ok(Answer::Opened(Opened { at, size, version: found, body: Box::pin(body) }))
}

/// What an answer that is an error says of the value.
async fn refused(
    inner: &Arc<Bucket>,
    exchange: &Exchange,
    key: &Key,
    (condition, of_generation): (&Condition, bool),
    error: &object_store::Error,
) -> Result<Answer> {
    let problem = exchange.seen().problem.clone();
    let Some(problem) = problem.filter(|problem| !problem.foreign) else {
        return Err(inner.error(exchange, Operation::Get, key.as_str(), error));
    };
    match problem.status.as_u16() {
        404 if inner.subject.no_bucket(&problem) => {}
        // The generation is gone: there may be another.
        404 if of_generation && condition.required().is_some() => {
            let newest =
                Box::pin(open(Arc::clone(inner), key.clone(), RangeRequest::Bounds(0..1), Condition::Any)).await?;
            return Ok(match newest {
                Answer::Opened(opened) => Answer::Changed(opened.version),
                Answer::Missing => Answer::Missing,
                _ => Answer::Changed(None),
            });
        }
        404 => return Ok(Answer::Missing),
        403 if inner.common.missing_403 => return Ok(Answer::Missing),
        304 if matches!(condition, Condition::IsNot(_)) => return Ok(Answer::Same),
        412 | 304 => return Ok(Answer::Changed(None)),
        416 => return Ok(Answer::Outside(problem.size)),
        _ => {}
    }
    Err(inner.subject.refused(&problem, Operation::Get, key.as_str()))
}

enum ReadError {
    Body(ErrorKind, String),
    Store(object_store::Error),
}

/// Reads a body. object_store asks again for the rest of one that ends too soon, as long as the ETag is the same.
async fn read(mut stream: BoxStream<'static, object_store::Result<Bytes>>, expected: u64) -> Result<Bytes, ReadError> {
    let failed = |failure: zarr_store_runtime::http::Failure| ReadError::Body(failure.kind, failure.text);
    let mut body = Body::new(expected).map_err(failed)?;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(ReadError::Store)?;
        if body.len() + chunk.len() as u64 > expected {
            let text = format!("the body has more than the expected {expected} bytes");
            return Err(ReadError::Body(ErrorKind::Transient, text));
        }
        body.push(chunk).map_err(failed)?;
    }
    if body.len() < expected {
        let text = format!("the body has {} bytes, expected {expected}", body.len());
        return Err(ReadError::Body(ErrorKind::Transient, text));
    }
    Ok(body.into_bytes())
}

/// The version of the value that is there, whatever it is; `None` inside if it has none that can be named.
pub(crate) async fn look(inner: &Arc<Bucket>, key: &Key) -> Result<Option<Option<Version>>, Error> {
    Ok(match open(Arc::clone(inner), key.clone(), RangeRequest::Bounds(0..1), Condition::Any).await? {
        Answer::Missing => None,
        Answer::Changed(version) => Some(version),
        Answer::Outside(_) | Answer::Same => Some(None),
        Answer::Opened(opened) => Some(opened.version),
    })
}
