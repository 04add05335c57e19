//! HTTP client without redirects, and checks of responses.

mod proxy;

use std::error::Error as _;
use std::io::Read;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED, RETRY_AFTER,
};
use reqwest::{Method, Request, RequestBuilder, Response, StatusCode, Url, redirect};
use zarr_store::ErrorKind;

use crate::retry::moving;
use crate::{Again, Attempts, Permit};

/// Greatest number of bytes that are allocated for a body before they are received.
const FIRST_ALLOCATION: u64 = 16 << 20;

/// Options of a [`Client`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Time without received bytes after which a request fails. Default 15 s.
    pub timeout: Duration,
    /// Time limit for opening a connection. Default 5 s.
    pub connect_timeout: Duration,
    /// Proxy for all requests; `None` for the proxies of the environment.
    pub proxy: Option<String>,
    /// Value of the header `User-Agent`, which servers log.
    pub user_agent: String,
    /// Whether any certificate is accepted, for tests.
    pub allow_invalid_certificates: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(15),
            connect_timeout: Duration::from_secs(5),
            proxy: None,
            user_agent: concat!("zarr-rs/", env!("CARGO_PKG_VERSION")).to_owned(),
            allow_invalid_certificates: false,
        }
    }
}

/// HTTP client with connections to servers. Redirects are returned like other responses, and bodies are not decoded. Clones share the
/// connections.
#[derive(Clone, Debug)]
pub struct Client {
    /// Client for requests without a body, which time out if nothing is received.
    reads: reqwest::Client,
    /// Client for requests with a body, for which no such time is known while the body is sent.
    writes: reqwest::Client,
    timeout: Duration,
    /// Whether a server has responded, or at least accepted a connection.
    answered: Arc<AtomicBool>,
    /// Proxy of the options, for messages.
    proxy: Option<String>,
    /// Proxies of the environment, for messages.
    of_environment: Arc<Matcher>,
}

impl Client {
    /// Creates a client without connections.
    ///
    /// # Errors
    /// If the certificates of the system cannot be read, or the proxy is no URL. The message contains no secret.
    pub fn new(options: &ClientOptions) -> Result<Self, String> {
        static CRYPTOGRAPHY: Once = Once::new();
        CRYPTOGRAPHY.call_once(|| {
            // Fails if the program has chosen another provider, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let build = |builder: reqwest::ClientBuilder| builder.build().map_err(|error| failure(error).text);
        Ok(Self {
            reads: build(builder(options)?.read_timeout(options.timeout))?,
            writes: build(builder(options)?)?,
            timeout: options.timeout,
            answered: Arc::default(),
            proxy: options.proxy.as_deref().map(proxy::shown),
            of_environment: Arc::new(Matcher::from_system()),
        })
    }

    /// Builds a GET request for an address, to be passed to [`Client::execute`]. A name and password in the address become a header.
    pub fn get(&self, url: Url) -> RequestBuilder {
        self.reads.get(url)
    }

    /// Sends a request whose body has `upload` bytes, and returns the response, whose body is still to be read.
    ///
    /// # Errors
    /// If there is no response. The message names a proxy that refuses connections; then no retry is useful. A server that has no address
    /// or refuses connections counts as absent, unless a server has responded to this client before.
    pub async fn execute(&self, mut request: Request, upload: u64) -> Result<Response, Failure> {
        let url = request.url().clone();
        let sent = if request.method() == Method::GET {
            self.reads.execute(request).await
        } else {
            *request.timeout_mut() = Some(self.timeout + moving(upload));
            self.writes.execute(request).await
        };
        // An error other than of connecting or of a timeout shows that there was a connection.
        if sent.as_ref().map_or_else(|error| !error.is_connect() && !error.is_timeout(), |_| true) {
            self.answered.store(true, Ordering::Relaxed);
        }
        sent.map_err(|error| {
            let mut failure = failure(error);
            if failure.unsent {
                let is_absent = failure.text.contains("refused") || failure.text.contains("dns error");
                failure.absent = is_absent && !self.answered.load(Ordering::Relaxed);
                let variable = |name: &str| std::env::var(name).ok();
                let of_environment = || proxy::of_environment(&self.of_environment, &url, &variable);
                if let Some(proxy) = self.proxy.clone().or_else(of_environment) {
                    if is_absent {
                        failure.kind = ErrorKind::Io;
                    }
                    failure.text.push_str(&format!("; requests go through the proxy {proxy}"));
                }
            }
            failure
        })
    }
}

fn builder(options: &ClientOptions) -> Result<reqwest::ClientBuilder, String> {
    let mut builder = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]))
        // A redirect to another host would take headers with secrets along.
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(options.connect_timeout)
        // Servers close connections after a while, S3 after 20 s.
        .pool_idle_timeout(Duration::from_secs(15))
        .tcp_nodelay(true)
        .http1_only();
    if let Some(proxy) = &options.proxy {
        let proxy = reqwest::Proxy::all(proxy).map_err(|_| "the option proxy_url is no URL".to_owned())?;
        builder = builder.proxy(proxy);
    }
    if options.allow_invalid_certificates {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    Ok(builder)
}

/// Reason why a request has no response, or an incomplete one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Kind of the failure: [`ErrorKind::TimedOut`], [`ErrorKind::Transient`], [`ErrorKind::Limit`] or [`ErrorKind::Io`].
    pub kind: ErrorKind,
    /// Whether the request did not reach the server.
    pub unsent: bool,
    /// Whether the server does not seem to exist: it has no address or refuses connections, and no server has responded before.
    pub absent: bool,
    /// Description of the failure, without the URL, which may contain secrets.
    pub text: String,
}

impl Failure {
    /// Creates a failure of a request that has reached the server.
    #[must_use]
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, unsent: false, absent: false, text: text.into() }
    }

    /// Returns when the request may be retried; `None` if a retry is not useful.
    #[must_use]
    pub fn again(&self) -> Option<Again> {
        match self.kind {
            ErrorKind::Transient if self.absent => Some(Again::Once),
            ErrorKind::Transient if self.unsent => Some(Again::Later),
            ErrorKind::Transient => Some(Again::Reconnect),
            ErrorKind::TimedOut | ErrorKind::Throttled => Some(Again::Later),
            _ => None,
        }
    }
}

/// Converts an error of the client to a failure.
#[must_use]
pub fn failure(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    let mut certificate = false;
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        certificate |= cause_text.contains("certificate");
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    let kind = if error.is_timeout() {
        ErrorKind::TimedOut
    } else if error.is_builder() || certificate {
        ErrorKind::Io
    } else {
        ErrorKind::Transient
    };
    Failure { kind, unsent: error.is_connect(), absent: false, text }
}

/// Returns the kind of error that a status stands for.
#[must_use]
pub fn status_kind(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        401 | 403 | 407 => ErrorKind::Denied,
        408 | 504 => ErrorKind::TimedOut,
        429 | 503 => ErrorKind::Throttled,
        500 | 502 | 507 | 509 | 520..=529 => ErrorKind::Transient,
        _ => ErrorKind::Io,
    }
}

/// Returns whether a retry may succeed after a response with this status.
#[must_use]
pub fn is_retryable(status: StatusCode) -> bool {
    matches!(status_kind(status), ErrorKind::TimedOut | ErrorKind::Throttled | ErrorKind::Transient)
}

/// Returns the time that the server asks to wait, at most an hour; `None` if it does not ask.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).unwrap_or_default(),
    };
    Some(wait.min(Duration::from_secs(3600)))
}

/// Contents of the header `Content-Range`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRange {
    /// Range of the value that the body contains; `None` in a response with status 416.
    pub at: Option<Range<u64>>,
    /// Size of the value in bytes; `None` if the server does not tell.
    pub size: Option<u64>,
}

impl ContentRange {
    /// Parses `bytes 0-4/10`, `bytes 0-4/*` or `bytes */10`; `None` for anything else.
    ///
    /// ```
    /// use zarr_store_runtime::http::ContentRange;
    /// let range = ContentRange::parse("bytes 2-4/10").expect("a range");
    /// assert_eq!((range.at, range.size), (Some(2..5), Some(10)));
    /// assert_eq!(ContentRange::parse("bytes 4-2/10"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        let (at, size) = text.trim().strip_prefix("bytes ")?.trim().split_once('/')?;
        let size = if size == "*" { None } else { Some(number(size)?) };
        let at = if at == "*" {
            None
        } else {
            let (start, last) = at.split_once('-')?;
            let at = number(start)?..number(last)?.checked_add(1)?;
            if at.start >= at.end || size.is_some_and(|size| at.end > size) {
                return None;
            }
            Some(at)
        };
        Some(Self { at, size })
    }
}

/// Returns the encoding that is applied to the bytes of a value; `None` if they are unencoded.
#[must_use]
pub fn encoding(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_ENCODING)?;
    let text = text.to_str().unwrap_or("?").trim();
    // `aws-chunked` is what some writers declare by mistake; it says nothing of the stored bytes.
    let stored = text.is_empty() || text.split(',').all(|name| matches!(name.trim(), "identity" | "aws-chunked"));
    (!stored).then(|| text.to_owned())
}

/// Returns whether an [`encoding`] is gzip, applied once.
#[must_use]
pub fn is_gzip(encoding: &str) -> bool {
    matches!(encoding.trim().to_ascii_lowercase().as_str(), "gzip" | "x-gzip")
}

/// Decodes a whole body that is encoded with gzip, to at most `most` bytes.
///
/// # Errors
/// If the body is not gzip or is truncated, or if it has more bytes than `most`.
pub fn gunzip(bytes: &[u8], most: u64) -> Result<Bytes, Failure> {
    let mut decoded = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(most.saturating_add(1));
    decoder.read_to_end(&mut decoded).map_err(|error| {
        let text = format!("the value comes encoded as gzip, which cannot be decoded: {error}");
        Failure::new(ErrorKind::Io, text)
    })?;
    if decoded.len() as u64 > most {
        let text = format!("the value comes encoded as gzip, and has more than {most} bytes when it is decoded");
        return Err(Failure::new(ErrorKind::Limit, text));
    }
    Ok(decoded.into())
}

/// Returns whether the headers say that the body is an HTML page.
#[must_use]
pub fn is_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "text/html" || kind == "application/xhtml+xml"
}

/// Returns whether bytes begin like an HTML page.
#[must_use]
pub fn begins_as_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |tag: &[u8]| bytes.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// Returns the strong validator of a response: its ETag, or the time of the last change if that is at least a minute before the
/// response; `None` if it has none.
///
/// A weak ETag, and a time within the last minute, may stand for two states of a value (RFC 9110, 8.8).
#[must_use]
pub fn validator(headers: &HeaderMap) -> Option<String> {
    if let Some(tag) = headers.get(ETAG) {
        let tag = tag.to_str().ok()?.trim();
        return (tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"')).then(|| tag.to_owned());
    }
    let text = headers.get(LAST_MODIFIED)?.to_str().ok()?.trim();
    let time = |text: &str| httpdate::parse_http_date(text).ok();
    let age = time(headers.get(DATE)?.to_str().ok()?)?.duration_since(time(text)?).ok()?;
    (age >= Duration::from_secs(60)).then(|| text.to_owned())
}

/// Returns the time of the last change that a response names; `None` if it names none.
#[must_use]
pub fn modified(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(LAST_MODIFIED)?.to_str().ok()?.trim()).ok()
}

/// Returns the ETag of a response, even a weak one; `None` if it names none.
#[must_use]
pub fn etag(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(ETAG)?.to_str().ok().map(|tag| tag.trim().into())
}

/// Reads the rest of a body after the bytes in `body`, as long as the request has time. `permit` is held until the end.
///
/// # Errors
/// If the body is shorter or longer than expected, the connection ends, or there is not enough memory. `body` then has the received
/// bytes, to which a further request can append; it is empty if the body was too long.
pub async fn read_body(
    mut response: Response,
    permit: Permit,
    body: &mut Body,
    attempts: &mut Attempts,
) -> Result<(), Failure> {
    let expected = body.expected;
    let wrong =
        |found: String| Failure::new(ErrorKind::Transient, format!("the body has {found} bytes, expected {expected}"));
    loop {
        match in_time(attempts, response.chunk()).await.and_then(|chunk| chunk.map_err(failure)) {
            Ok(Some(chunk)) if body.len() + chunk.len() as u64 > expected => {
                let found = body.len() + chunk.len() as u64;
                // Nothing shows which bytes of the failed body are right, so start over.
                *body = Body::new(expected)?;
                attempts.thrown_away();
                return Err(wrong(format!("at least {found}")));
            }
            Ok(Some(chunk)) => {
                permit.moved();
                body.push(chunk)?;
                attempts.received(body.len());
            }
            Ok(None) if body.len() < expected => return Err(wrong(body.len().to_string())),
            Ok(None) => return Ok(()),
            Err(mut failure) => {
                failure.text = format!("the body ended after {} of {expected} bytes: {}", body.len(), failure.text);
                return Err(failure);
            }
        }
    }
}

/// Awaits a part of a request within the remaining time.
///
/// # Errors
/// [`ErrorKind::TimedOut`] if the time ends before.
pub async fn in_time<T>(attempts: &Attempts, future: impl Future<Output = T>) -> Result<T, Failure> {
    let late = |_| Failure::new(ErrorKind::TimedOut, "timed out: the server does not go on");
    tokio::time::timeout(attempts.left(), future).await.map_err(late)
}

/// Reads at most `most` bytes of the body of an error response.
pub async fn read_begin(mut response: Response, most: usize) -> Vec<u8> {
    let mut begin = Vec::new();
    while begin.len() < most
        && let Ok(Some(chunk)) = response.chunk().await
    {
        begin.extend_from_slice(&chunk[..chunk.len().min(most - begin.len())]);
    }
    begin
}

/// Bytes of a body while it is read. The announced length only determines a limited first allocation.
#[derive(Debug)]
pub struct Body {
    /// First chunk, which may be the whole body: then nothing is copied.
    first: Bytes,
    rest: Vec<u8>,
    expected: u64,
}

impl Body {
    /// Creates an empty body that expects `expected` bytes.
    ///
    /// # Errors
    /// If `expected` exceeds the address space.
    pub fn new(expected: u64) -> Result<Self, Failure> {
        if isize::try_from(expected).is_err() {
            return Err(no_memory(expected));
        }
        Ok(Self { first: Bytes::new(), rest: Vec::new(), expected })
    }

    /// Returns the number of received bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        (self.first.len() + self.rest.len()) as u64
    }

    /// Returns whether no bytes were received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), Failure> {
        if self.is_empty() {
            self.first = chunk;
            return Ok(());
        }
        let memory = |_| no_memory(self.expected);
        if self.rest.is_empty() {
            let due = usize::try_from(self.expected.min(FIRST_ALLOCATION)).unwrap_or(0);
            self.rest.try_reserve_exact(due.max(self.first.len() + chunk.len())).map_err(memory)?;
            self.rest.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.rest.try_reserve(chunk.len()).map_err(memory)?;
        self.rest.extend_from_slice(&chunk);
        Ok(())
    }

    /// Returns the received bytes.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if self.rest.is_empty() { self.first } else { Bytes::from(self.rest) }
    }
}

fn no_memory(size: u64) -> Failure {
    Failure::new(ErrorKind::Limit, format!("not enough memory for {size} bytes"))
}

#[cfg(test)]
mod tests;
