//! HTTP client below object_store. It checks responses, and records what object_store does not report.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, RANGE};
use reqwest::{Body, Request, Response, StatusCode};
use zarr_store::ErrorKind;
use zarr_store_runtime::http::{
    Client, ContentRange, Failure, begins_as_html, failure, in_time, is_html, is_retryable, read_begin,
};
use zarr_store_runtime::{Again, Attempts, Hedge, Permit, Retry, Throttle};

use crate::decoded::{decoded, is_decodable, stored_encoding};
use crate::exchange::{Exchange, Left, Problem};
use crate::listing::{keys_alone, without_errors};
use crate::names::Names;
use crate::purpose::Purpose;

/// Greatest number of bytes of the body of an error that are read.
const MAX_ERROR: usize = 64 << 10;

/// Greatest size of a page of a list in bytes: a thousand names of one kilobyte, with escapes.
const MAX_PAGE: usize = 32 << 20;

/// Time limit for a credentials service inside a cloud. Outside of a cloud no service answers.
const METADATA_TIME: Duration = Duration::from_secs(2);

/// Number of bytes by which the time limit of a copy is calculated, since no bytes arrive while the service copies. The end of an upload in
/// parts has the same limit, as long as bytes arrive: services send spaces while they combine the parts.
const COPY_BYTES: u64 = 1 << 30;

/// HTTP client for object_store that uses the client of the store and ignores object_store's own client options. It retries lists and
/// erasures. It does not retry gets, puts, copies and the end of an upload in parts, which are made anew by their operations
/// ([`Exchange::tried`]): the outcome of an attempt may have to be found out first.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    pub(crate) client: Client,
    pub(crate) retry: Retry,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) hedge: Arc<Hedge>,
    pub(crate) names: Names,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let exchange = Exchange::current();
        let purpose = Purpose::of(&request);
        // All requests that get or set one value share one deadline; other requests, as for a page of a list, have their own.
        let is_tried_elsewhere =
            matches!(purpose, Purpose::Get | Purpose::Put { .. } | Purpose::Copy | Purpose::Complete);
        let mut attempts = if is_tried_elsewhere || purpose == Purpose::Part {
            exchange.attempts()
        } else {
            Attempts::new(self.retry, request.body().content_length() as u64)
        };
        loop {
            attempts.begin();
            let result = self.attempt(&exchange, purpose, &request, &mut attempts).await;
            let again = {
                let mut seen = exchange.seen();
                if purpose != Purpose::Credentials {
                    seen.attempts = attempts.clone();
                }
                seen.again.filter(|_| result.is_failure() && !is_tried_elsewhere)
            };
            let paused = match again {
                Some(again) => attempts.pause(again, || exchange.seen().last()).await,
                None => false,
            };
            if !paused {
                if purpose == Purpose::Credentials {
                    // The operation, which has no attempt at its own request yet, is not to ask for them again.
                    exchange.seen().again = None;
                }
                return result.0;
            }
        }
    }
}

/// Outcome of an attempt at a request.
struct Attempt(Result<HttpResponse, HttpError>);

impl Attempt {
    fn is_failure(&self) -> bool {
        self.0.as_ref().map_or(true, |answer| !answer.status().is_success())
    }
}

impl Connector {
    /// Makes one attempt at a request, and records its outcome in `exchange`.
    async fn attempt(
        &self,
        exchange: &Exchange,
        purpose: Purpose,
        request: &HttpRequest,
        attempts: &mut Attempts,
    ) -> Attempt {
        {
            let mut seen = exchange.seen();
            (seen.problem, seen.failure, seen.again) = (None, None, None);
            seen.request = shown(request);
        }
        if purpose == Purpose::Credentials {
            return Attempt(self.credentials(exchange, request, attempts).await);
        }
        let Some(permit) = self.throttle.enter(attempts).await else {
            let text = "the service has too many requests: there was no turn for this one";
            return Attempt(Err(failed(exchange, purpose, Failure::new(ErrorKind::Throttled, text), None)));
        };
        let sent = match purpose {
            Purpose::Get => {
                let is_good = |response: &Response| !is_retryable(response.status());
                in_time(attempts, self.hedge.first(|| self.send(purpose, request), is_good)).await
            }
            _ => heard(attempts, self.patience(purpose), self.send(purpose, request)).await,
        };
        let response = match sent.and_then(|sent| sent) {
            Ok(response) => response,
            Err(failure) => return Attempt(Err(no_answer(exchange, purpose, failure))),
        };
        note_copy(exchange, response.headers());
        if !response.status().is_success() {
            let (answer, is_throttled) = problem(exchange, purpose, response, attempts).await;
            if is_throttled {
                permit.throttled()
            } else {
                permit.accepted()
            }
            return Attempt(Ok(answer));
        }
        permit.accepted();
        let ranged = request.headers().contains_key(RANGE);
        let checked = match purpose {
            Purpose::Get => match stored_encoding(response.headers()) {
                Some(encoding) if is_decodable(&response, &encoding) => {
                    let decoded = decoded_value(exchange, request, response, attempts).await;
                    drop(permit);
                    decoded
                }
                _ => check_value(exchange, response, permit, ranged),
            },
            Purpose::List => check_page(exchange, &self.names, request.uri().to_string(), response, attempts).await,
            Purpose::Erase { .. } | Purpose::Copy | Purpose::Upload | Purpose::Complete => {
                check_done(exchange, purpose, response, attempts, self.patience(purpose)).await
            }
            Purpose::Put { .. } => put_done(response, permit),
            Purpose::Part | Purpose::Credentials => Ok(into_response(response, Some(permit))),
        };
        Attempt(checked.map_err(|failure| {
            let again = failure.again();
            failed(exchange, purpose, failure, again)
        }))
    }

    /// Makes a request for credentials.
    async fn credentials(
        &self,
        exchange: &Exchange,
        request: &HttpRequest,
        attempts: &Attempts,
    ) -> Result<HttpResponse, HttpError> {
        let host = request.uri().host().unwrap_or_default();
        // Outside of a cloud there is no metadata service that could answer later.
        let of_cloud = host.starts_with("169.254.") || host.starts_with("metadata");
        let sent = in_time(attempts, self.send(Purpose::Credentials, request));
        let sent = if of_cloud {
            match tokio::time::timeout(METADATA_TIME, sent).await {
                Ok(sent) => sent,
                Err(_) => Err(Failure::new(ErrorKind::TimedOut, "no service for credentials answers")),
            }
        } else {
            sent.await
        };
        let (result, text, again) = match sent.and_then(|sent| sent) {
            Ok(response) => {
                let status = response.status();
                let text = (!status.is_success()).then(|| format!("their service answered {status}"));
                (Ok(into_response(response, None)), text, is_retryable(status).then_some(Again::Later))
            }
            Err(failure) => {
                let error = HttpError::new(HttpErrorKind::Unknown, io::Error::other(failure.text.clone()));
                let again = failure.again();
                (Err(error), Some(failure.text), again)
            }
        };
        let mut seen = exchange.seen();
        seen.credentials = text;
        seen.again = again.filter(|_| !of_cloud);
        result
    }

    /// Returns the time after which an attempt ends if nothing arrives, for requests whose waiting the client does not limit.
    fn patience(&self, purpose: Purpose) -> Duration {
        if purpose == Purpose::Complete { self.retry.timeout } else { Duration::MAX }
    }

    async fn send(&self, purpose: Purpose, request: &HttpRequest) -> Result<Response, Failure> {
        let sent = request.body().content_length() as u64;
        let sent = if matches!(purpose, Purpose::Copy | Purpose::Complete) { COPY_BYTES } else { sent };
        self.client.execute(convert(request.clone())?, sent).await
    }
}

/// Awaits a part of a request. Fails if the time of the operation or `patience` ends before.
async fn heard<T>(attempts: &Attempts, patience: Duration, part: impl Future<Output = T>) -> Result<T, Failure> {
    let heard = tokio::time::timeout(patience, in_time(attempts, part)).await;
    heard
        .unwrap_or_else(|_| Err(Failure::new(ErrorKind::TimedOut, format!("timed out: nothing came for {patience:?}"))))
}

/// Formats a request for messages, without secrets.
fn shown(request: &HttpRequest) -> String {
    let uri = request.uri();
    // An address may have a signature in its query, and a name and password before its host.
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{} {}://{host}{}", request.method(), uri.scheme_str().unwrap_or("http"), uri.path())
}

fn convert(request: HttpRequest) -> Result<Request, Failure> {
    let (parts, body) = request.into_parts();
    let refuse = |_| Failure::new(ErrorKind::Io, "the address of a request is no URL");
    let url = parts.uri.to_string().parse().map_err(refuse)?;
    let mut converted = Request::new(parts.method, url);
    *converted.headers_mut() = parts.headers;
    if body.content_length() > 0 {
        *converted.body_mut() = Some(Body::wrap(body));
    }
    Ok(converted)
}

/// Converts a response to that of object_store. The body is read later; until then, the request holds its permit. A failure meanwhile is
/// recorded.
fn into_response(response: Response, permit: Option<Permit>) -> HttpResponse {
    let (status, headers) = (response.status(), response.headers().clone());
    let moved = move |frame| {
        permit.iter().for_each(Permit::moved);
        frame
    };
    let body = Body::from(response).map_frame(moved).map_err(|error| {
        let failure = failure(error);
        let error = HttpError::new(HttpErrorKind::Unknown, io::Error::other(failure.text.clone()));
        Exchange::current().seen().failure = Some(failure);
        error
    });
    answer(status, headers, HttpResponseBody::new(body))
}

/// Converts the response to a successful put. Adds a weak ETag if the service sends none, which object_store takes for a failure. A weak
/// ETag is no version.
fn put_done(response: Response, permit: Permit) -> Result<HttpResponse, Failure> {
    if is_html(response.headers()) && !response.headers().contains_key(ETAG) {
        return Err(Failure::new(ErrorKind::Io, page_for_people()));
    }
    let mut response = into_response(response, Some(permit));
    response.headers_mut().entry(ETAG).or_insert(HeaderValue::from_static("W/\"none\""));
    Ok(response)
}

fn answer(status: StatusCode, headers: HeaderMap, body: impl Into<HttpResponseBody>) -> HttpResponse {
    let mut answer = HttpResponse::new(body.into());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}

/// Records what Azure reports about a copy in progress.
fn note_copy(exchange: &Exchange, headers: &HeaderMap) {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let progress = header("x-ms-copy-progress").and_then(|text| text.split_once('/')?.0.parse().ok());
    let mut seen = exchange.seen();
    (seen.copy_status, seen.copy_progress) = (header("x-ms-copy-status").map(str::to_owned), progress);
}

/// Records a failure without a response.
fn no_answer(exchange: &Exchange, purpose: Purpose, failure: Failure) -> HttpError {
    let again = failure.again();
    failed(exchange, purpose, failure, again)
}

/// Records a failure.
fn failed(exchange: &Exchange, purpose: Purpose, failure: Failure, again: Option<Again>) -> HttpError {
    let error = HttpError::new(HttpErrorKind::Unknown, io::Error::other(failure.text.clone()));
    let mut seen = exchange.seen();
    seen.maybe_set |= !failure.unsent && purpose.is_done_once();
    (seen.problem, seen.failure, seen.again) = (None, Some(failure), again);
    error
}

/// Records a response that is an error. Also returns whether it says that there are too many requests.
async fn problem(
    exchange: &Exchange,
    purpose: Purpose,
    response: Response,
    attempts: &Attempts,
) -> (HttpResponse, bool) {
    let (status, headers) = (response.status(), response.headers().clone());
    // An error body that does not arrive in time counts as empty.
    let body = in_time(attempts, read_begin(response, MAX_ERROR)).await.unwrap_or_default();
    let is_throttled = refused(exchange, purpose, Problem::new(status, &headers, &body));
    // The body is dropped: it is no longer needed, and may have an encoding that object_store cannot read.
    (answer(status, headers, Bytes::new()), is_throttled)
}

/// Records the problem of an error response. Returns whether it says that there are too many requests.
fn refused(exchange: &Exchange, purpose: Purpose, problem: Problem) -> bool {
    let is_throttled = problem.kind() == ErrorKind::Throttled;
    let mut seen = exchange.seen();
    // A service that has too many requests says so before it begins.
    let may_be_done = problem.status.is_server_error() && !is_throttled;
    seen.maybe_set |= may_be_done && purpose.is_done_once();
    seen.refuses_several |= purpose == Purpose::Erase { several: true } && problem.is_unknown();
    (seen.again, seen.problem, seen.failure) = (problem.again(), Some(problem), None);
    is_throttled
}

/// Checks the response to a get, and fails if it is not the value as stored.
fn check_value(exchange: &Exchange, response: Response, permit: Permit, ranged: bool) -> Result<HttpResponse, Failure> {
    let refuse = |text: String| Err(Failure::new(ErrorKind::Io, text));
    let headers = response.headers();
    if let Some(encoding) = stored_encoding(headers) {
        return refuse(format!(
            "the value comes encoded as {encoding}, expected the bytes of the value (Content-Encoding: identity); of whole values, \
             gzip is decoded"
        ));
    }
    if ranged && headers.get(CONTENT_LENGTH).is_some_and(|length| length == "0") {
        // There is no such byte, which some services do not say with 416: their range ends before it begins.
        let mut headers = headers.clone();
        let found = headers.remove(CONTENT_RANGE);
        let size = found.as_ref().and_then(|range| range.to_str().ok()?.rsplit_once('/')?.1.parse::<u64>().ok());
        // A full answer (200) without a size is all of an empty value.
        let size = size.or_else(|| (response.status() == StatusCode::OK).then_some(0));
        if let Some(Ok(range)) = size.map(|size| HeaderValue::try_from(format!("bytes */{size}"))) {
            headers.insert(CONTENT_RANGE, range);
        }
        exchange.seen().problem = Some(Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, &headers, b""));
        return Ok(answer(StatusCode::RANGE_NOT_SATISFIABLE, headers, Bytes::new()));
    }
    if response.status() == StatusCode::PARTIAL_CONTENT {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let at = text(CONTENT_RANGE).and_then(ContentRange::parse).and_then(|range| range.at);
        let length = text(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if let (Some(at), Some(length)) = (at, length)
            && at.end - at.start != length
        {
            let text = format!("the answer has bytes {}..{}, and Content-Length says {length} bytes", at.start, at.end);
            return Err(Failure::new(ErrorKind::Transient, text));
        }
    }
    if !ranged || response.status() == StatusCode::PARTIAL_CONTENT {
        let page = is_html(headers) && !headers.contains_key(ETAG);
        return if page { refuse(page_for_people()) } else { Ok(into_response(response, Some(permit))) };
    }
    if is_html(headers) {
        return refuse(page_for_people());
    }
    refuse(format!("the service answered {} to a request for a range, expected 206 with this range", response.status()))
}

/// Returns the response with its value decoded, for values that are stored compressed.
async fn decoded_value(
    exchange: &Exchange,
    request: &HttpRequest,
    response: Response,
    attempts: &mut Attempts,
) -> Result<HttpResponse, Failure> {
    let (_, headers, body) = read_page(response, attempts, Duration::MAX).await?;
    let (status, headers, body) = decoded(headers, body, request.headers().get(RANGE))?;
    if status == StatusCode::RANGE_NOT_SATISFIABLE {
        exchange.seen().problem = Some(Problem::new(status, &headers, b""));
    }
    Ok(answer(status, headers, body))
}

fn page_for_people() -> String {
    "found a page for people (text/html), expected a value: something else than the service answers at this address, such as the \
     sign-in page of a network"
        .to_owned()
}

/// Reads the whole body of a response that is not a value.
async fn read_page(
    mut response: Response,
    attempts: &mut Attempts,
    patience: Duration,
) -> Result<(StatusCode, HeaderMap, Vec<u8>), Failure> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut page = Vec::new();
    loop {
        match heard(attempts, patience, response.chunk()).await.and_then(|chunk| chunk.map_err(failure)) {
            Ok(Some(chunk)) if page.len() + chunk.len() > MAX_PAGE => {
                let text = format!("the answer has more than {MAX_PAGE} bytes");
                return Err(Failure::new(ErrorKind::Io, text));
            }
            Ok(Some(chunk)) => {
                page.extend_from_slice(&chunk);
                attempts.received(page.len() as u64);
            }
            Ok(None) => return Ok((status, headers, page)),
            Err(mut failure) => {
                attempts.thrown_away();
                failure.text = format!("the answer ended after {} bytes: {}", page.len(), failure.text);
                return Err(failure);
            }
        }
    }
}

/// Reads the response to an erasure, a copy or the end of an upload in parts, which may report an error although its status is a success.
async fn check_done(
    exchange: &Exchange,
    purpose: Purpose,
    response: Response,
    attempts: &mut Attempts,
    patience: Duration,
) -> Result<HttpResponse, Failure> {
    let (status, headers, page) = read_page(response, attempts, patience).await?;
    // Some services name a media type for an empty body.
    let is_page = !page.is_empty() && (is_html(&headers) || begins_as_html(&page));
    if purpose == (Purpose::Erase { several: false }) && is_page {
        return Err(Failure::new(ErrorKind::Io, page_for_people()));
    }
    if !matches!(purpose, Purpose::Erase { several: true } | Purpose::Copy | Purpose::Complete) {
        return Ok(answer(status, headers, page));
    }
    let text = String::from_utf8_lossy(&page);
    if let Some((kept, errors)) = without_errors(&text) {
        let left = errors.into_iter().map(|(name, error)| Left { name, problem: Problem::of_success(error) });
        exchange.seen().left.extend(left);
        return Ok(answer(status, headers, kept));
    }
    if !text.contains("<Error>") {
        return Ok(answer(status, headers, page));
    }
    let problem = Problem::of_success(&text);
    let failed = answer(problem.status, headers, Bytes::new());
    refused(exchange, purpose, problem);
    Ok(failed)
}

/// Reads a page of a list, and removes entries that are no keys.
async fn check_page(
    exchange: &Exchange,
    names: &Names,
    uri: String,
    response: Response,
    attempts: &mut Attempts,
) -> Result<HttpResponse, Failure> {
    let refuse = |text: &str| Failure::new(ErrorKind::Io, text);
    let (status, headers, page) = read_page(response, attempts, Duration::MAX).await?;
    let page = String::from_utf8(page).map_err(|_| refuse("a page of the list is no UTF-8"))?;
    let Some(page) = keys_alone(&page, names) else {
        let what = if is_html(&headers) {
            page_for_people()
        } else {
            "found another document, or a page without its continuation, expected a page of a list".to_owned()
        };
        return Err(refuse(&what));
    };
    if !exchange.seen().pages.insert(uri) {
        return Err(refuse("the service returned a page of the list twice, and would go on"));
    }
    Ok(answer(status, headers, page))
}
