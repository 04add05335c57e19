//! An HTTP client without redirects, and the checks of an answer.

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

/// Bytes that are allocated for a body before they are there.
const FIRST_ALLOCATION: u64 = 16 << 20;

/// How a [`Client`] is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// A request fails when nothing comes for so long.
    pub timeout: Duration,
    /// So long may opening a connection take.
    pub connect_timeout: Duration,
    /// A proxy for all requests; else the proxies of the environment.
    pub proxy: Option<String>,
    /// The name that servers log.
    pub user_agent: String,
    /// Any certificate is good: for tests.
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

/// Connections to servers. Redirects are answers like others, and values come as they are stored. Copies share the connections.
#[derive(Clone, Debug)]
pub struct Client {
    /// For requests without a body. These time out when nothing comes.
    reads: reqwest::Client,
    /// For requests with a body, for whose sending no such time is known.
    writes: reqwest::Client,
    timeout: Duration,
    /// A server has answered, or at least taken a request.
    answered: Arc<AtomicBool>,
    /// The proxy of the options, for messages.
    proxy: Option<String>,
    /// The proxies of the environment, for messages.
    of_environment: Arc<Matcher>,
}

impl Client {
    /// A client; it makes no connection yet.
    ///
    /// # Errors
    /// If the certificates of the system cannot be read, or the proxy is no URL. The text shows no secret.
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

    /// A request for what is at an address, to be built and given to [`Client::execute`]. A name and password in the address become a
    /// header.
    pub fn get(&self, url: Url) -> RequestBuilder {
        self.reads.get(url)
    }

    /// Sends a request, whose body has `upload` bytes, and returns the answer, whose body is still to be read.
    ///
    /// # Errors
    /// If there is none. A proxy that refuses connections is named, and no further attempt is worth its time. A server that has no address
    /// or refuses connections is absent, unless one has answered this client before.
    pub async fn execute(&self, mut request: Request, upload: u64) -> Result<Response, Failure> {
        let url = request.url().clone();
        let sent = if request.method() == Method::GET {
            self.reads.execute(request).await
        } else {
            *request.timeout_mut() = Some(self.timeout + moving(upload));
            self.writes.execute(request).await
        };
        // A connection that broke was one.
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

/// Why a request has no answer, or no whole one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Its kind: [`ErrorKind::TimedOut`], [`ErrorKind::Transient`] or [`ErrorKind::Io`].
    pub kind: ErrorKind,
    /// The request did not reach the server.
    pub unsent: bool,
    /// There is no such server, as far as can be known: it has no address or refuses connections, and no server has answered before.
    pub absent: bool,
    /// Description of the failure, without the URL, which may have secrets in it.
    pub text: String,
}

impl Failure {
    /// A failure after the request reached the server.
    #[must_use]
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, unsent: false, absent: false, text: text.into() }
    }

    /// When a request that failed so may be tried again; `None` if no further attempt is worth its time.
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

/// Makes a failure of an error of the client.
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

/// The kind of the failure that a status says.
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

/// Whether another attempt after an answer with this status may succeed.
#[must_use]
pub fn is_retryable(status: StatusCode) -> bool {
    matches!(status_kind(status), ErrorKind::TimedOut | ErrorKind::Throttled | ErrorKind::Transient)
}

/// How long the server asks to wait, at most an hour.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).unwrap_or_default(),
    };
    Some(wait.min(Duration::from_secs(3600)))
}

/// The content of a `Content-Range` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRange {
    /// Which bytes the body has; `None` in an answer with 416.
    pub at: Option<Range<u64>>,
    /// The size of the value in bytes, if the server says it.
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

/// The encoding that the server has put on the bytes of a value; `None` if they come as they are stored.
#[must_use]
pub fn encoding(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_ENCODING)?;
    let text = text.to_str().unwrap_or("?").trim();
    // `aws-chunked` is what some writers declare by mistake; it says nothing of the stored bytes.
    let stored = text.is_empty() || text.split(',').all(|name| matches!(name.trim(), "identity" | "aws-chunked"));
    (!stored).then(|| text.to_owned())
}

/// Whether an [`encoding`] is that of gzip, once.
#[must_use]
pub fn is_gzip(encoding: &str) -> bool {
    matches!(encoding.trim().to_ascii_lowercase().as_str(), "gzip" | "x-gzip")
}

/// Decodes a whole body that is encoded by gzip, to at most `most` bytes.
///
/// # Errors
/// If it is none, is cut, or has more bytes.
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

/// Whether the headers say that the body is a page for people.
#[must_use]
pub fn is_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "text/html" || kind == "application/xhtml+xml"
}

/// Whether bytes begin as a page for people does.
#[must_use]
pub fn begins_as_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |tag: &[u8]| bytes.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// The strong validator of an answer: its ETag, or the time of the last change where that is long before the answer.
///
/// A weak ETag, and a time within the last minute, may name two states of a value (RFC 9110, 8.8).
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

/// Reads the rest of a body of `expected` bytes, of which `body` has the first, as long as there is time for it. The request is under way
/// until then.
///
/// # Errors
/// If it is shorter or longer, the connection ends, or there is no memory for it. `body` has what came, which may be gone on with: nothing
/// of one that is longer.
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
                // Which of its bytes are the right ones, nothing says.
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

/// The outcome of a part of a request, if there is time for it.
///
/// # Errors
/// If there is not: of the kind [`ErrorKind::TimedOut`].
pub async fn in_time<T>(attempts: &Attempts, future: impl Future<Output = T>) -> Result<T, Failure> {
    let late = |_| Failure::new(ErrorKind::TimedOut, "timed out: the server does not go on");
    tokio::time::timeout(attempts.left(), future).await.map_err(late)
}

/// Reads at most `most` bytes of the body of an answer with an error.
pub async fn read_begin(mut response: Response, most: usize) -> Vec<u8> {
    let mut begin = Vec::new();
    while begin.len() < most
        && let Ok(Some(chunk)) = response.chunk().await
    {
        begin.extend_from_slice(&chunk[..chunk.len().min(most - begin.len())]);
    }
    begin
}

/// The bytes of a body while it is read. What a header says of its length allocates only so much memory.
#[derive(Debug)]
pub struct Body {
    /// The first chunk, which may be all of it: then nothing is copied.
    first: Bytes,
    rest: Vec<u8>,
    expected: u64,
}

impl Body {
    /// Makes a body of `expected` bytes, of which none has come yet.
    ///
    /// # Errors
    /// If no memory can be as large.
    pub fn new(expected: u64) -> Result<Self, Failure> {
        if isize::try_from(expected).is_err() {
            return Err(no_memory(expected));
        }
        Ok(Self { first: Bytes::new(), rest: Vec::new(), expected })
    }

    /// Number of bytes that have come.
    #[must_use]
    pub fn len(&self) -> u64 {
        (self.first.len() + self.rest.len()) as u64
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If there is no memory for them.
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

    /// The bytes.
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
