//! Copies of values within a bucket by the service.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use object_store::CopyOptions;
use zarr_store::{Copied, CopySource, ErrorKind, Key, Operation, Result};
use zarr_store_runtime::Again;

use crate::bucket::Bucket;
use crate::exchange::Exchange;
use crate::read::look_at_copy;

/// Copies a value by the service. An attempt without a response is repeated, since it sets the same value.
///
/// The copy has the metadata of the object, including the identifiers of the puts that led to its value. If the response to a put of
/// the target is lost while a copy replaces its value, the put may be taken for one without effect, and results in a conflict.
pub(crate) async fn copy(inner: Arc<Bucket>, from: CopySource, to: Key) -> Result<Copied> {
    if inner.no_copies.load(Ordering::Relaxed) {
        return Ok(Copied::Declined);
    }
    let source = inner.object(Operation::Get, from.name(), from.name())?;
    let target = inner.path(Operation::Set, &to)?;
    let exchange = inner.exchange(0);
    let copied = exchange.tried(|| inner.store.copy_opts(&source, &target, CopyOptions::default())).await;
    let Err(error) = copied else { return finished(&inner, &exchange, &to).await };
    let (problem, failure) = {
        let seen = exchange.seen();
        (seen.problem.clone(), seen.failure.clone())
    };
    match problem.filter(|problem| !problem.foreign && !inner.subject.no_bucket(problem)) {
        // Too large for a copy (S3: 5 GiB), not known to the service, or of a source that is not there, or that the service may not read: Azure
        // says both with 404.
        Some(problem) if problem.again().is_none() => {
            if matches!(problem.status.as_u16(), 405 | 501) {
                inner.no_copies.store(true, Ordering::Relaxed);
            }
            return Ok(Copied::Declined);
        }
        // The copy takes longer than one request may.
        None if failure.is_some_and(|failure| failure.kind == ErrorKind::TimedOut) => return Ok(Copied::Declined),
        _ => {}
    }
    Err(inner.error(&exchange, Operation::Set, to.as_str(), &error))
}

/// Waits for a copy that Azure has begun; its target is empty meanwhile. Copied bytes extend its time limit, as for a request. A copy that
/// takes too long is declined: a put of the value is then refused, and retried, until the service has ended the copy.
async fn finished(inner: &Arc<Bucket>, exchange: &Exchange, to: &Key) -> Result<Copied> {
    let mut before = 0;
    loop {
        let (status, progress) = {
            let mut seen = exchange.seen();
            (seen.copy_status.take(), seen.copy_progress.take())
        };
        match status.as_deref() {
            None | Some("success") => return Ok(Copied::Done),
            Some("pending") => {}
            Some(_) => return Ok(Copied::Declined),
        }
        before = progress.unwrap_or(before);
        exchange.seen().attempts.received(before);
        if !exchange.pause(Again::Later).await {
            return Ok(Copied::Declined);
        }
        look_at_copy(inner, to, exchange).await?;
    }
}
