//! Requests: redirects, attempts, failures.

use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Response, Url};
use zarr_store::{Error, ErrorKind, Key, Operation, Result, backoff};
use zarr_store_runtime::http::{Client, Failure, failure, is_retryable, retry_after, status_kind};

use crate::base::{Base, shown};

/// How many redirects lead to a value.
const REDIRECTS: usize = 10;

/// What requests of a store have in common.
pub(crate) struct Requests {
    pub(crate) base: Base,
    pub(crate) client: Client,
    /// Headers of the options, which may have secrets in them.
    pub(crate) headers: HeaderMap,
    /// Texts that no message may show.
    pub(crate) secrets: Vec<String>,
    pub(crate) retries: u32,
    pub(crate) retry_deadline: Duration,
}

/// An answer, or what a redirect says.
pub(crate) enum Reply {
    Answer(Response),
    /// The server knows a directory of this name.
    Directory,
}

/// How often one request is tried.
pub(crate) struct Attempts {
    left: u32,
    count: u32,
    deadline: Option<Instant>,
}

impl Attempts {
    /// Waits before the next attempt: as long as the server asks for, or a little longer each time. False if there is none.
    pub(crate) async fn pause(&mut self, asked: Option<Duration>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        let due = Duration::from_millis(100 << self.count.min(6)).min(Duration::from_secs(5));
        let wait = asked.unwrap_or(due / 2) + backoff(self.count).min(due / 2);
        let time = self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if wait >= time {
            return false;
        }
        (self.left, self.count) = (left, self.count + 1);
        tokio::time::sleep(wait).await;
        true
    }
}

impl Requests {
    pub(crate) fn attempts(&self) -> Attempts {
        Attempts { left: self.retries, count: 0, deadline: Instant::now().checked_add(self.retry_deadline) }
    }

    /// The answer to a GET, after redirects, and after further attempts where a failure may pass.
    pub(crate) async fn get(&self, key: &Key, headers: &HeaderMap, attempts: &mut Attempts) -> Result<Reply> {
        loop {
            let (error, asked) = match self.get_once(key, headers).await {
                Ok(Reply::Answer(response)) if is_retryable(response.status()) => {
                    let (status, asked) = (response.status(), retry_after(response.headers()));
                    (self.failed(key, status_kind(status), format!("the server answered {status}")), asked)
                }
                Err(error) if error.is_retryable() => (error, None),
                other => return other,
            };
            if !attempts.pause(asked).await {
                return Err(error);
            }
        }
    }

    async fn get_once(&self, key: &Key, headers: &HeaderMap) -> Result<Reply> {
        let first = self.base.of(key);
        let mut url = first.clone();
        for _ in 0..=REDIRECTS {
            // Another server does not get what was meant for this one.
            let same = same_server(&first, &url);
            let mut request = self.client.get(url.clone()).headers(headers.clone());
            if same {
                request = request.headers(self.headers.clone());
            }
            let request = request.build().map_err(|error| self.transport(key, failure(error)))?;
            let sent = self.client.execute(request, 0).await;
            let response = sent.map_err(|error| self.transport(key, failure(error)))?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(Reply::Answer(response));
            }
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok()).ok_or_else(|| {
                let text = format!("the server answered {}, a redirect without an address", response.status());
                self.failed(key, ErrorKind::Io, text)
            })?;
            if same_server(&url, &next) && is_directory_of(next.path(), url.path()) {
                return Ok(Reply::Directory);
            }
            let fault = match (url.scheme(), next.scheme()) {
                ("https", "http") => Some("from an encrypted connection to one that is not"),
                (_, "http" | "https") => None,
                _ => Some("to something else than http:// or https://"),
            };
            if let Some(fault) = fault {
                let text = format!("the server redirects to {}, {fault}", shown(&next));
                return Err(self.failed(key, ErrorKind::Io, text));
            }
            url = next;
        }
        let text = format!("more than {REDIRECTS} redirects, the last one to {}", shown(&url));
        Err(self.failed(key, ErrorKind::Io, text))
    }

    pub(crate) fn transport(&self, key: &Key, failure: Failure) -> Error {
        self.failed(key, failure.kind, failure.text)
    }

    pub(crate) fn failed(&self, key: &Key, kind: ErrorKind, mut text: String) -> Error {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        Error::failed(&self.base, Operation::Get, key.as_str(), kind, text)
    }
}

/// Whether a path is the other one with a slash at its end. Servers may escape other characters than this store does, as nginx leaves
/// the colon.
fn is_directory_of(path: &str, other: &str) -> bool {
    path.strip_suffix('/').is_some_and(|path| unescaped(path) == unescaped(other))
}

/// The bytes of a path without escapes.
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
