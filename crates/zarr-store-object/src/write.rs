//! Sets and erasures.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{PutMode, PutOptions, PutPayload, UpdateVersion};
use zarr_store::{Error, ErrorKind, Key, Operation, Precondition, Prefix, Result, Version, backoff};

use crate::address::Protocol;
use crate::bucket::{Bucket, is_tag};
use crate::connector::OfValue;
use crate::read::look;

pub(crate) async fn set(inner: Arc<Bucket>, key: Key, value: Bytes, when: Precondition) -> Result<Option<Version>> {
    let path = inner.path(Operation::Set, &key)?;
    let Some(mode) = mode(&inner, &when) else { return Err(unmet(&inner, &key, &when, None)) };
    let exchange = inner.exchange();
    let mut attempt = 0;
    loop {
        let mut options = PutOptions { mode: mode.clone(), ..PutOptions::default() };
        options.extensions.insert(OfValue);
        let put = inner.store.put_opts(&path, PutPayload::from(value.clone()), options);
        let error = match exchange.during(put).await {
            Ok(put) => return done(&inner, &key, &when, put.e_tag.as_deref(), put.version.as_deref()),
            Err(error) => error,
        };
        let (problem, maybe_set) = {
            let seen = exchange.seen();
            (seen.problem.clone().filter(|problem| !problem.foreign), seen.maybe_set)
        };
        let status =
            problem.as_ref().filter(|problem| !inner.subject.no_bucket(problem)).map(|problem| problem.status.as_u16());
        let conditional = when != Precondition::None;
        match status {
            // There is no such key, so that it does not have the version.
            Some(412 | 304 | 404) if conditional && maybe_set => {
                let text = "an earlier attempt had no answer, and the precondition does not hold any more: the value may be set";
                return Err(inner.subject.failed(Operation::Set, key.as_str(), ErrorKind::Transient, text.to_owned()));
            }
            Some(412 | 304) if conditional => return Err(unmet(&inner, &key, &when, None)),
            Some(404) if matches!(when, Precondition::Version(_)) => return Err(unmet(&inner, &key, &when, None)),
            // Another put was under way. It may have failed, so that there is no value yet.
            Some(409) if when == Precondition::NotExists => match look(&inner, &key).await? {
                Some(found) if !maybe_set => return Err(unmet(&inner, &key, &when, found)),
                Some(_) => {
                    let text = "an earlier attempt had no answer, and there is a value now: it may be this one";
                    return Err(inner.subject.failed(
                        Operation::Set,
                        key.as_str(),
                        ErrorKind::Transient,
                        text.to_owned(),
                    ));
                }
                None => {
                    let pause = backoff(attempt).max(Duration::from_millis(20));
                    attempt += 1;
                    if exchange.time_left() <= pause {
                        let text = "others set the value at the same time again and again".to_owned();
                        return Err(inner.subject.failed(Operation::Set, key.as_str(), ErrorKind::Throttled, text));
                    }
                    tokio::time::sleep(pause).await;
                }
            },
            Some(409) if conditional => {
                let problem = problem.map(|problem| problem.text()).unwrap_or_default();
                let text = format!("others set the value at the same time: {problem}");
                return Err(inner.subject.failed(Operation::Set, key.as_str(), ErrorKind::Throttled, text));
            }
            _ => return Err(inner.error(&exchange, Operation::Set, key.as_str(), &error)),
        }
    }
}

/// The mode of a put; `None` if the version is none of this store, so that no value has it.
fn mode(inner: &Bucket, when: &Precondition) -> Option<PutMode> {
    Some(match when {
        Precondition::None => PutMode::Overwrite,
        Precondition::NotExists => PutMode::Create,
        Precondition::Version(version) => {
            let text = version.as_str();
            let (e_tag, version) = match inner.subject.address.protocol {
                Protocol::Gcs => (None, Some(text.to_owned())),
                _ => (Some(text.to_owned()), None),
            };
            let generation = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
            if !(if version.is_some() { generation } else { is_tag(text) }) {
                return None;
            }
            PutMode::Update(UpdateVersion { e_tag, version })
        }
    })
}

/// The version of a value that was just set.
fn done(
    inner: &Bucket,
    key: &Key,
    when: &Precondition,
    tag: Option<&str>,
    generation: Option<&str>,
) -> Result<Option<Version>> {
    let version = inner.version(tag, generation);
    if version.is_none() && *when != Precondition::None {
        let text = "the value is set, but the service did not name its version";
        return Err(inner.subject.failed(Operation::Set, key.as_str(), ErrorKind::Io, text.to_owned()));
    }
    Ok(version)
}

fn unmet(inner: &Bucket, key: &Key, expected: &Precondition, found: Option<Version>) -> Error {
    let store = inner.subject.address.to_string();
    Error::Precondition { store, key: key.clone(), expected: expected.clone(), found }
}

pub(crate) async fn erase(inner: Arc<Bucket>, key: Key) -> Result<()> {
    let path = inner.path(Operation::Erase, &key)?;
    erase_all(&inner, key.as_str(), stream::once(async { Ok(path) }).boxed()).await
}

pub(crate) async fn erase_prefix(inner: Arc<Bucket>, prefix: Prefix) -> Result<()> {
    let above = crate::list::path(&inner, Operation::Erase, &prefix)?;
    let names = inner.store.list(above.as_ref()).map_ok(|object| object.location).boxed();
    erase_all(&inner, if prefix.is_root() { "/" } else { prefix.as_str() }, names).await
}

/// Erases what a stream names, in as few requests as the service allows. What is not there is erased already.
async fn erase_all(
    inner: &Arc<Bucket>,
    subject: &str,
    names: stream::BoxStream<'static, object_store::Result<Path>>,
) -> Result<()> {
    let exchange = inner.exchange();
    let erased = async {
        let mut results = inner.store.delete_stream(names);
        while let Some(result) = results.next().await {
            match result {
                Ok(_) => {}
                Err(object_store::Error::NotFound { .. })
                    if !exchange
                        .seen()
                        .problem
                        .as_ref()
                        .is_some_and(|problem| inner.subject.no_bucket(problem) || problem.foreign) => {}
                Err(error) => return Err(inner.error(&exchange, Operation::Erase, subject, &error)),
            }
        }
        Ok(())
    };
    exchange.during(erased).await
}
