//! Sets of values.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{Attribute, PutMode, PutPayload, UpdateVersion};
use zarr_store::{Error, ErrorKind, Key, Operation, Precondition, Result, Version};
use zarr_store_runtime::Again;

use crate::address::Protocol;
use crate::bucket::{Bucket, is_tag};
use crate::exchange::Exchange;
use crate::object::options;
use crate::probe;
use crate::read::{There, look};
use crate::writes::{self, Fate};

pub(crate) async fn set(
    inner: Arc<Bucket>,
    key: Key,
    value: PutPayload,
    when: Precondition,
) -> Result<Option<Version>> {
    let path = inner.path(Operation::Set, &key)?;
    let Some(mode) = mode(&inner, &when) else { return Err(unmet(&inner, &key, &when, None)) };
    if when != Precondition::None {
        return Conditional { inner, key, path, value, when, mode }.set().await;
    }
    let exchange = inner.exchange(value.content_length() as u64);
    let put = || inner.store.put_opts(&path, value.clone(), options(&key, mode.clone()));
    match exchange.tried(put).await {
        Ok(put) => Ok(inner.version(put.e_tag.as_deref(), put.version.as_deref())),
        Err(error) => Err(inner.error(&exchange, Operation::Set, key.as_str(), &error)),
    }
}

/// Conditional put, which may have to find out the outcome of an earlier attempt.
struct Conditional {
    inner: Arc<Bucket>,
    key: Key,
    path: Path,
    value: PutPayload,
    when: Precondition,
    mode: PutMode,
}

/// Outcome of a look at the value after an attempt that was refused or has no response.
enum Outcome {
    /// The put has set the value, which has this version.
    Set(Version),
    /// The condition still holds, so that the put can be repeated.
    Holds,
    /// The condition does not hold: another value exists, with this version.
    Unmet(Option<Version>),
    /// The value that was read has the required version, although the put was refused.
    Stale,
    /// Another value exists, and an earlier attempt may have set the value before it.
    Unknown,
}

impl Conditional {
    async fn set(self) -> Result<Option<Version>> {
        let Self { inner, key, when, .. } = &self;
        let before = match when {
            Precondition::Version(version) => inner.writes.get(key).filter(|(of, _)| of == version).map(|(_, ids)| ids),
            _ => None,
        };
        let ids = writes::Put::new(when, before.as_deref());
        let exchange = inner.exchange(self.value.content_length() as u64);
        // Keep some time back for the check of the value after the last attempt.
        exchange.seen().attempts.keep_back();
        // Whether an attempt got no answer, and so may take effect later.
        let mut in_flight = false;
        // An attempt was refused for the version that is read.
        let mut is_stale = false;
        loop {
            let mut options = options(key, self.mode.clone());
            options.attributes.insert(Attribute::Metadata(writes::NAME.into()), ids.as_str().to_owned().into());
            let put = inner.store.put_opts(&self.path, self.value.clone(), options);
            let error = match exchange.during(put).await {
                Ok(put) => {
                    let version = inner.version(put.e_tag.as_deref(), put.version.as_deref());
                    let Some(version) = version else {
                        let text = "the value is set, but the service named no version of it that a later set can require (a strong ETag); \
                                    --store-option conditional_put=disabled sets values without conditions";
                        return Err(self.failed(ErrorKind::Io, text));
                    };
                    inner.writes.insert(key, version.clone(), ids.as_str().to_owned());
                    if inner.conditions.begin_asking() {
                        let asked = probe::ask(Arc::clone(inner), key.clone(), exchange.attempts());
                        // It goes on if the set is given up, so that its key does not stay.
                        drop(tokio::spawn(asked).await);
                    }
                    return Ok(Some(version));
                }
                Err(error) => error,
            };
            let Refused { again, look, lost, unmet: is_unmet, competes } = self.refused(&exchange);
            in_flight |= lost;
            if look {
                match self.look(&exchange, &ids, is_unmet).await? {
                    Outcome::Set(version) => return Ok(Some(version)),
                    // What was answered has had no effect, and will have none.
                    Outcome::Holds => exchange.seen().maybe_set = in_flight,
                    // The look had no answer, and those before said so.
                    Outcome::Unmet(None) if is_stale => {}
                    Outcome::Unmet(found) => return Err(unmet(inner, key, when, found)),
                    Outcome::Stale => is_stale = true,
                    Outcome::Unknown => {
                        let text =
                            "an earlier attempt had no answer, and the value was replaced since: it may have been set";
                        return Err(self.failed(ErrorKind::Transient, text));
                    }
                }
            }
            let goes_on = match again {
                Some(again) => exchange.pause(again).await,
                None => false,
            };
            if !goes_on && competes {
                let text = format!(
                    "others set the value at the same time again and again{}",
                    exchange.seen().tail(ErrorKind::Throttled)
                );
                return Err(self.failed(ErrorKind::Throttled, &text));
            }
            if !goes_on && is_stale {
                let text = format!(
                    "the service refuses the version of the value that it answers reads with: a cache lies before it, or a copy that \
                     lags behind{}",
                    exchange.seen().tail(ErrorKind::Transient)
                );
                return Err(self.failed(ErrorKind::Transient, &text));
            }
            if !goes_on {
                return Err(self.error(&exchange, &error));
            }
        }
    }

    /// Returns the error for an attempt that has not set the value.
    fn error(&self, exchange: &Exchange, error: &object_store::Error) -> Error {
        let seen = exchange.seen();
        let unknown = seen.problem.as_ref().filter(|problem| problem.status.as_u16() == 501 && !problem.foreign);
        match unknown {
            Some(problem) if self.inner.subject.address.protocol == Protocol::S3 => {
                let text = format!(
                    "{}; if the service does not know conditions of puts: --store-option conditional_put=disabled, with which writers \
                     at the same time may lose changes",
                    problem.text()
                );
                self.failed(ErrorKind::Io, &text)
            }
            _ => {
                drop(seen);
                self.inner.error(exchange, Operation::Set, self.key.as_str(), error)
            }
        }
    }

    /// Returns the actions to take after an attempt that has not set the value, according to its response.
    fn refused(&self, exchange: &Exchange) -> Refused {
        let seen = exchange.seen();
        let subject = &self.inner.subject;
        let problem = seen.problem.as_ref().filter(|problem| !problem.foreign && !subject.no_bucket(problem));
        let Some(status) = problem.map(|problem| problem.status.as_u16()) else {
            // Without an answer the value may be set, unless the request was not even sent.
            let is_lost = seen.failure.as_ref().is_some_and(|failure| !failure.unsent) && seen.again.is_some();
            return Refused { again: seen.again, look: is_lost, lost: is_lost, unmet: false, competes: false };
        };
        let of_version = matches!(self.when, Precondition::Version(_));
        let again = seen.again;
        let refused = Refused { again: Some(Again::Later), look: true, lost: false, unmet: false, competes: false };
        match status {
            // What a proxy has repeated may be refused for what it has done before.
            412 | 304 => {
                // That another value is there says nothing of versions: services know one condition without the other.
                if of_version {
                    self.inner.conditions.are_kept();
                }
                Refused { unmet: true, ..refused }
            }
            // The key does not exist, so it does not have the required version.
            404 if of_version => Refused { unmet: true, ..refused },
            // Another put of this key is under way, and may fail as well.
            409 => Refused { competes: true, ..refused },
            // The service refuses before it begins.
            429 | 503 => Refused { again, look: false, ..refused },
            // A proxy gave up, and the service may still be working on the request.
            502 | 504 => Refused { again, look: again.is_some(), lost: true, ..refused },
            _ => Refused { again, look: again.is_some(), ..refused },
        }
    }

    /// Looks at the current value after an attempt whose condition does not hold, or whose outcome is unknown.
    async fn look(&self, exchange: &Exchange, ids: &writes::Put, is_unmet: bool) -> Result<Outcome> {
        let maybe_set = exchange.seen().maybe_set;
        // Of a key that has a value, a refusal does not say that it has none.
        let missing_403 = self.inner.common.missing_403 && !is_unmet;
        let there = match look(&self.inner, &self.key, exchange, missing_403).await {
            Ok(there) => there,
            // The value cannot be checked, but it is known that the condition failed and that nothing was set.
            Err(_) if is_unmet && !maybe_set => return Ok(Outcome::Unmet(None)),
            Err(error) => {
                let kind = error.kind();
                return Err(Error::failed(&self.inner.subject.address, Operation::Set, self.key.as_str(), kind, error));
            }
        };
        let Some(There { version, writes }) = there else {
            return Ok(match (&self.when, maybe_set) {
                (Precondition::NotExists, _) => Outcome::Holds,
                (_, true) => Outcome::Unknown,
                (_, false) => Outcome::Unmet(None),
            });
        };
        let fate = ids.fate(&writes);
        let holds = matches!(&self.when, Precondition::Version(due) if Some(due) == version.as_ref());
        Ok(match (fate, version) {
            (Fate::Newest, Some(version)) => Outcome::Set(version),
            // The version of this write is not known (any more): return one that no stored value has.
            (Fate::Newest | Fate::BuiltOn, _) => Outcome::Set(Version::new(&format!("\"replaced-{}\"", ids.own()))),
            // The write was refused although the condition holds now: it did not hold just before, or this read was outdated.
            _ if holds && is_unmet && !maybe_set => Outcome::Stale,
            _ if holds => Outcome::Holds,
            (Fate::Unknown, _) if maybe_set => Outcome::Unknown,
            (_, found) => Outcome::Unmet(found),
        })
    }

    fn failed(&self, kind: ErrorKind, text: &str) -> Error {
        self.inner.subject.failed(Operation::Set, self.key.as_str(), kind, text.to_owned())
    }
}

/// Actions to take after an attempt that has not set the value, and facts about the attempt.
struct Refused {
    /// When the put may be repeated; `None` if it may not.
    again: Option<Again>,
    /// Whether the current value has to be looked at first.
    look: bool,
    /// Whether the attempt has no response.
    lost: bool,
    /// Whether the service says that the condition does not hold.
    unmet: bool,
    /// Whether other puts were in progress.
    competes: bool,
}

/// Returns the mode of a put; `None` if the required version cannot be one of this store, so that no value has it.
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

fn unmet(inner: &Bucket, key: &Key, expected: &Precondition, found: Option<Version>) -> Error {
    let store = inner.subject.address.to_string();
    Error::Precondition { store, key: key.clone(), expected: expected.clone(), found }
}
