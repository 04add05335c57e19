//! Erasure of objects. A single key is erased by its own request. Keys that are erased at the same time are combined into one request if
//! the service supports that.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::future::Either;
use futures::{StreamExt, TryStreamExt, future, stream};
use object_store::ObjectStore;
use object_store::path::Path;
use tokio::sync::oneshot;
use zarr_store::{Error, ErrorKind, Key, Operation, Prefix, Result};
use zarr_store_runtime::Attempts;

use crate::bucket::Bucket;
use crate::erasures::Waiting;
use crate::exchange::{Exchange, Left};

/// Greatest number of keys in a request of S3.
const SEVERAL: usize = 1000;

/// Time that is waited for further keys, so that they are combined.
const TURN: Duration = Duration::from_millis(1);

/// Greatest number of such waits.
const TURNS: usize = 20;

type Names = stream::BoxStream<'static, object_store::Result<Path>>;

impl Bucket {
    /// Returns whether each key is erased by its own request.
    fn erases_singly(&self) -> bool {
        self.singly.is_none() || self.erasures.are_refused()
    }
}

/// Erases a key.
pub(crate) async fn erase(inner: Arc<Bucket>, key: Key) -> Result<()> {
    let path = inner.path(Operation::Erase, &key)?;
    if inner.erases_singly() {
        return erase_one(&inner, key.as_str(), path).await;
    }
    let (done, outcome) = oneshot::channel();
    let shown = key.clone();
    let is_first = {
        let mut waiting = inner.erasures.waiting();
        waiting.push(Waiting { key, path, done });
        waiting.len() == 1
    };
    if is_first {
        tokio::spawn(gathered(Arc::clone(&inner)));
    }
    let lost = |_| {
        let text = "the runtime ended before the key was erased".to_owned();
        Err(inner.subject.failed(Operation::Erase, shown.as_str(), ErrorKind::Internal, text))
    };
    outcome.await.unwrap_or_else(lost)
}

/// Waits for keys that are erased at the same time, and erases all of them.
async fn gathered(inner: Arc<Bucket>) {
    let mut count = 0;
    for _ in 0..TURNS {
        tokio::time::sleep(TURN).await;
        let now = inner.erasures.waiting().len();
        if now == count || now >= SEVERAL {
            break;
        }
        count = now;
    }
    let mut waiting = std::mem::take(&mut *inner.erasures.waiting());
    waiting.retain(|waiting| !waiting.done.is_closed());
    while !waiting.is_empty() {
        let rest = waiting.split_off(waiting.len().min(SEVERAL));
        tokio::spawn(erase_group(Arc::clone(&inner), std::mem::replace(&mut waiting, rest)));
    }
}

/// Erases the keys of a group by one request, or each by its own request, as long as the callers wait: an erasure that a caller has dropped
/// must not take effect later.
async fn erase_group(inner: Arc<Bucket>, mut group: Vec<Waiting>) {
    let shown = group.first().map(|waiting| waiting.key.to_string()).unwrap_or_default();
    let mut is_unknown = false;
    if group.len() > 1 && !inner.erases_singly() {
        let names: Vec<_> = group.iter().map(|waiting| Ok(waiting.path.clone())).collect();
        let together = erase_together(&inner, &shown, stream::iter(names).boxed());
        // One of them may be set again as soon as nobody waits for it.
        let given_up = future::poll_fn(|context| {
            let is_given_up = group.iter_mut().any(|waiting| waiting.done.poll_closed(context).is_ready());
            if is_given_up { Poll::Ready(()) } else { Poll::Pending }
        });
        match awaited(together, given_up).await {
            Some(Ok(Together::Done)) => {
                group.into_iter().for_each(|waiting| drop(waiting.done.send(Ok(()))));
                return;
            }
            // Each key gets its own answer.
            None | Some(Err(Failed { is_of_key: true, .. })) => {}
            Some(Ok(Together::Unknown)) => is_unknown = true,
            Some(Err(Failed { error, left, .. })) => {
                for Waiting { key, path, done } in group {
                    let is_left = left.as_ref().is_none_or(|left| left.iter().any(|left| left.name == path.as_ref()));
                    let text = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                    let address = &inner.subject.address;
                    let error = || Error::failed(address, Operation::Erase, key.as_str(), error.kind(), text);
                    drop(done.send(if is_left { Err(error()) } else { Ok(()) }));
                }
                return;
            }
        }
    }
    let concurrency = inner.common.concurrency;
    let each = stream::iter(group).for_each_concurrent(concurrency, |Waiting { key, path, mut done }| {
        let inner = &inner;
        async move {
            if done.is_closed() {
                return;
            }
            if let Some(outcome) = awaited(erase_one(inner, key.as_str(), path), done.closed()).await {
                if is_unknown && outcome.is_ok() {
                    inner.erasures.refuse();
                }
                drop(done.send(outcome));
            }
        }
    });
    each.await;
}

/// Awaits a future; `None` if `given_up` ends first.
async fn awaited<T>(future: impl Future<Output = T>, given_up: impl Future<Output = ()>) -> Option<T> {
    match future::select(pin!(future), pin!(given_up)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}

/// Erases all keys under a prefix.
pub(crate) async fn erase_prefix(inner: Arc<Bucket>, prefix: Prefix) -> Result<()> {
    let above = crate::list::path(&inner, Operation::Erase, &prefix)?;
    let names = || {
        let names = inner.subject.address.names.clone();
        inner.store.list(above.as_ref()).map_ok(move |object| names.listed_object(object.location)).boxed()
    };
    let shown = if prefix.is_root() { "/" } else { prefix.as_str() };
    let mut is_unknown = false;
    // A service without another way erases as many together as it can, as Azure does.
    if !inner.erasures.are_refused() {
        match erase_together(&inner, shown, names()).await {
            Ok(Together::Done) => return Ok(()),
            Ok(Together::Unknown) => is_unknown = true,
            Err(Failed { error, .. }) => return Err(error),
        }
    }
    let exchange = inner.exchange(0);
    let (inner, exchange) = (&inner, &exchange);
    let listed = names().map_err(|error| inner.error(exchange, Operation::Erase, shown, &error));
    let erased = listed.try_for_each_concurrent(inner.common.concurrency, |path| async move {
        let key = inner.subject.address.names.key(path.as_ref());
        erase_one(inner, key.as_ref().map_or(shown, Key::as_str), path).await?;
        if is_unknown {
            inner.erasures.refuse();
        }
        Ok(())
    });
    exchange.during(erased).await
}

/// Erases an object by its own request.
pub(crate) async fn erase_one(inner: &Bucket, shown: &str, path: Path) -> Result<()> {
    let exchange = inner.exchange(0);
    let store = inner.singly.as_ref().unwrap_or(&inner.store);
    let name = stream::once(future::ready(Ok(path))).boxed();
    exchange.during(erase_once(inner, &**store, &exchange, shown, name)).await?;
    let left = std::mem::take(&mut exchange.seen().left);
    match left.first() {
        None => Ok(()),
        Some(Left { problem, .. }) => Err(inner.subject.refused(problem, "", Operation::Erase, shown)),
    }
}

/// Outcome of a request that names several keys.
enum Together {
    Done,
    /// The service does not seem to support such requests. This is certain if it then erases a single key.
    Unknown,
}

struct Failed {
    error: Error,
    /// Objects that were not erased; `None` if unknown.
    left: Option<Vec<Left>>,
    /// Whether the service has answered, and refused some of the keys.
    is_of_key: bool,
}

/// Erases the objects that a stream names, in as few requests as the service allows. Missing objects count as erased.
async fn erase_together(inner: &Arc<Bucket>, shown: &str, names: Names) -> Result<Together, Failed> {
    let exchange = inner.exchange(0);
    let mut names = names;
    // How many were left, and the attempts since there are no fewer.
    let mut stuck: Option<(usize, Attempts)> = None;
    let mut known: Option<Vec<Left>> = None;
    loop {
        let erased = exchange.during(erase_once(inner, &*inner.store, &exchange, shown, names)).await;
        if erased.is_err() && exchange.seen().refuses_several {
            return Ok(Together::Unknown);
        }
        if let Err(error) = erased {
            return Err(Failed { error, left: known, is_of_key: false });
        }
        // The service may erase some of those that a request names, and refuse others.
        let left = std::mem::take(&mut exchange.seen().left);
        let lasting = left.iter().find(|left| left.problem.again().is_none());
        let Some(Left { name, problem }) = lasting.or(left.first()) else { return Ok(Together::Done) };
        let mut attempts = match stuck {
            Some((before, attempts)) if before <= left.len() => attempts,
            _ => Attempts::new(inner.common.retry, 0),
        };
        attempts.begin();
        let goes_on = match problem.again() {
            Some(again) => {
                attempts.pause(again, || format!("erasing {name}: the service answered {}", problem.status)).await
            }
            None => false,
        };
        if !goes_on {
            let key = inner.subject.address.names.key(name);
            let key = key.as_ref().map_or(shown, Key::as_str);
            let error = inner.subject.refused(problem, &format!(" ({attempts})"), Operation::Erase, key);
            let is_of_key = problem.again().is_none();
            return Err(Failed { error, left: Some(left), is_of_key });
        }
        stuck = Some((left.len(), attempts));
        let again: Vec<_> = left.iter().map(|left| inner.object(Operation::Erase, &left.name, &left.name)).collect();
        let again = again.into_iter().collect::<Result<Vec<_>>>();
        known = Some(left);
        match again {
            Ok(again) => names = stream::iter(again).map(Ok).boxed(),
            Err(error) => return Err(Failed { error, left: known, is_of_key: false }),
        }
    }
}

/// Erases the objects that a stream names, without retries. Ends when the service finally refuses to erase one, since it most likely
/// refuses all that follow.
async fn erase_once(
    inner: &Bucket,
    store: &dyn ObjectStore,
    exchange: &Exchange,
    shown: &str,
    names: Names,
) -> Result<()> {
    let mut results = store.delete_stream(names);
    // How many of those that were left are looked at.
    let mut looked_at = 0;
    while let Some(result) = results.next().await {
        match result {
            Ok(_) => {}
            Err(object_store::Error::NotFound { .. })
                if !exchange
                    .seen()
                    .problem
                    .as_ref()
                    .is_some_and(|problem| inner.subject.no_bucket(problem) || problem.foreign) => {}
            Err(error) => return Err(inner.error(exchange, Operation::Erase, shown, &error)),
        }
        let seen = exchange.seen();
        if seen.left.iter().skip(looked_at).any(|left| left.problem.again().is_none()) {
            break;
        }
        looked_at = seen.left.len();
    }
    Ok(())
}
