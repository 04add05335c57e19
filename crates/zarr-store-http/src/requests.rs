//! Requests with redirects, retries and failures.

use std::sync::Arc;

use reqwest::header::{HeaderMap, LOCATION, RANGE};
use reqwest::{Response, StatusCode, Url};
use zarr_store::{Error, ErrorKind, Key, Operation, Result};
use zarr_store_runtime::http::{Client, Failure, failure, in_time, is_retryable, retry_after, status_kind};
use zarr_store_runtime::{Again, Attempts, Hedge, Permit, Retry, Throttle};

use crate::base::{Base, shown};

/// Greatest number of redirects that lead to a value.
const REDIRECTS: usize = 10;

/// State that the requests of a store share.
pub(crate) struct Requests {
    pub(crate) base: Base,
    pub(crate) client: Client,
    /// Headers from the options, which may contain secrets.
    pub(crate) headers: HeaderMap,
    /// Strings that no message may contain.
    pub(crate) secrets: Vec<String>,
    pub(crate) retry: Retry,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) hedge: Hedge,
}

/// Response to a request after redirects.
pub(crate) enum Reply {
    /// Response with its permit, which is held until the body is read.
    Answer(Response, Permit),
    /// The server redirects to a directory of this name.
    Directory,
}

/// Outcome of one attempt.
enum Got {
    Answer(Response),
    Directory,
}

/// Returns whether a retry may succeed after a response with this status. Some servers always fail with status 500 for ranges from the end
/// of a value, which is not retried.
fn may_pass(status: StatusCode, headers: &HeaderMap) -> bool {
    let is_suffix = headers.get(RANGE).is_some_and(|range| range.as_bytes().starts_with(b"bytes=-"));
    is_retryable(status) && !(is_suffix && status == StatusCode::INTERNAL_SERVER_ERROR)
}

/// Reason why there is no response.
enum Fault {
    Failure(Failure),
    /// Error that a retry would have as well.
    Error(Error),
}

/// Returns whether a failure of this kind may pass.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Throttled | ErrorKind::TimedOut | ErrorKind::Transient)
}

impl Requests {
    pub(crate) fn attempts(&self) -> Attempts {
        Attempts::new(self.retry, 0)
    }

    /// Returns the response to a GET after redirects, with retries if a failure may pass.
    pub(crate) async fn get(&self, key: &Key, headers: &HeaderMap, attempts: &mut Attempts) -> Result<Reply> {
        // What was asked for, and no reason for another attempt.
        let is_good = |got: &Got| !matches!(got, Got::Answer(response) if may_pass(response.status(), headers));
        loop {
            attempts.begin();
            let Some(permit) = self.throttle.enter(attempts).await else {
                let text = "the server has too many requests: there was no turn for this one".to_owned();
                return Err(self.failed(key, ErrorKind::Throttled, text + &self.tail(key, attempts)));
            };
            let reply = in_time(attempts, self.hedge.first(|| self.get_once(key, headers), is_good)).await;
            let (failure, again) = match reply.unwrap_or_else(|late| Err(Fault::Failure(late))) {
                Ok(Got::Answer(response)) if may_pass(response.status(), headers) => {
                    let (status, asked) = (response.status(), retry_after(response.headers()));
                    let kind = status_kind(status);
                    if kind == ErrorKind::Throttled {
                        permit.throttled()
                    } else {
                        permit.accepted()
                    }
                    (
                        Failure::new(kind, format!("the server answered {status}")),
                        Some(asked.map_or(Again::Later, Again::After)),
                    )
                }
                Ok(got) => {
                    permit.accepted();
                    return Ok(match got {
                        Got::Answer(response) => Reply::Answer(response, permit),
                        Got::Directory => Reply::Directory,
                    });
                }
                Err(Fault::Error(error)) => return Err(error),
                Err(Fault::Failure(failure)) => {
                    drop(permit);
                    let again = failure.again();
                    (failure, again)
                }
            };
            if !self.pause(key, &failure, again, attempts).await {
                return Err(self.transport(key, failure, attempts));
            }
        }
    }

    /// Waits before a retry after a body that ended early. Returns false if there may be none.
    pub(crate) async fn goes_on(&self, key: &Key, failure: &Failure, attempts: &mut Attempts) -> bool {
        self.pause(key, failure, failure.again(), attempts).await
    }

    async fn pause(&self, key: &Key, failure: &Failure, again: Option<Again>, attempts: &mut Attempts) -> bool {
        let text = || self.masked(format!("GET {}: {}", shown(&self.base.of(key)), failure.text));
        match again {
            Some(again) => attempts.pause(again, text).await,
            None => false,
        }
    }

    async fn get_once(&self, key: &Key, headers: &HeaderMap) -> Result<Got, Fault> {
        let first = self.base.of(key);
        let mut url = first.clone();
        for _ in 0..=REDIRECTS {
            // Another server must not get credentials that are meant for this one.
            let same = same_server(&first, &url);
            let mut request = self.client.get(url.clone()).headers(headers.clone());
            if same {
                request = request.headers(self.headers.clone());
            }
            let request = request.build().map_err(|error| Fault::Failure(failure(error)))?;
            let sent = self.client.execute(request, 0).await;
            let response = sent.map_err(Fault::Failure)?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(Got::Answer(response));
            }
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok()).ok_or_else(|| {
                let text = format!("the server answered {}, a redirect without an address", response.status());
                Fault::Error(self.failed(key, ErrorKind::Io, text))
            })?;
            if same_server(&url, &next) && is_directory_of(next.path(), url.path()) {
                return Ok(Got::Directory);
            }
            let fault = match (url.scheme(), next.scheme()) {
                ("https", "http") => Some("from an encrypted connection to one that is not"),
                (_, "http" | "https") => None,
                _ => Some("to something else than http:// or https://"),
            };
            if let Some(fault) = fault {
                let text = format!("the server redirects to {}, {fault}", shown(&next));
                return Err(Fault::Error(self.failed(key, ErrorKind::Io, text)));
            }
            url = next;
        }
        let text = format!("more than {REDIRECTS} redirects, the last one to {}", shown(&url));
        Err(Fault::Error(self.failed(key, ErrorKind::Io, text)))
    }

    /// Returns the error for the failure of the last attempt.
    pub(crate) fn transport(&self, key: &Key, failure: Failure, attempts: &Attempts) -> Error {
        let tail = if is_passing(failure.kind) { self.tail(key, attempts) } else { String::new() };
        self.failed(key, failure.kind, failure.text + &tail)
    }

    /// Returns the part of a message about the number of attempts.
    fn tail(&self, key: &Key, attempts: &Attempts) -> String {
        format!(" (GET {}: {attempts})", shown(&self.base.of(key)))
    }

    pub(crate) fn failed(&self, key: &Key, kind: ErrorKind, text: String) -> Error {
        Error::failed(&self.base, Operation::Get, key.as_str(), kind, self.masked(text))
    }

    /// Replaces the strings that no message may contain by `***`.
    fn masked(&self, mut text: String) -> String {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        text
    }
}

/// Returns whether `path` is `other` with a slash at its end. Servers may escape other characters than this store does: nginx does not
/// escape the colon.
fn is_directory_of(path: &str, other: &str) -> bool {
    path.strip_suffix('/').is_some_and(|path| unescaped(path) == unescaped(other))
}

/// Returns the bytes of a path without percent-encoding.
fn unescaped(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.first_chunk::<2>().filter(|_| first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    bytes
}

fn same_server(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme() && a.host_str() == b.host_str() && a.port_or_known_default() == b.port_or_known_default()
}
