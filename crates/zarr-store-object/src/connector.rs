//! The HTTP service below object_store: it checks answers and notes what object_store does not tell.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_MATCH, IF_NONE_MATCH, RANGE};
use reqwest::{Body, Method, Request, Response, StatusCode};
use zarr_store::ErrorKind;
use zarr_store_runtime::http::{Client, ContentRange, Failure, encoding, failure, is_html, is_retryable, read_begin};

use crate::exchange::{Exchange, Problem};
use crate::listing::keys_alone;

/// Bytes of the body of an error that are read.
const MAX_ERROR: usize = 64 << 10;

/// Bytes of a page of a list: a thousand names of a kilobyte, with escapes.
const MAX_PAGE: usize = 32 << 20;

/// How long a service for credentials inside of a cloud may take: outside of it, nobody answers.
const METADATA_TIME: Duration = Duration::from_secs(2);

/// Marks requests for values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfValue;

/// Gives object_store the client of a store, whatever options it has of its own.
#[derive(Clone, Debug)]
pub(crate) struct Connector(pub(crate) Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Get,
    Put { conditional: bool },
    List,
    Erase,
    Credentials,
}

impl Purpose {
    fn of(request: &HttpRequest) -> Self {
        let headers = request.headers();
        let query = request.uri().query().unwrap_or_default();
        let has = |text: &str| query.split('&').any(|part| part == text);
        match *request.method() {
            Method::GET if request.extensions().get::<OfValue>().is_some() => Self::Get,
            Method::PUT if request.extensions().get::<OfValue>().is_some() => Self::Put {
                conditional: headers.contains_key(IF_MATCH)
                    || headers.contains_key(IF_NONE_MATCH)
                    || headers.contains_key("x-goog-if-generation-match"),
            },
            Method::GET if has("list-type=2") || has("comp=list") => Self::List,
            Method::DELETE => Self::Erase,
            Method::POST if has("delete") || has("delete=") || has("comp=batch") => Self::Erase,
            _ => Self::Credentials,
        }
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let exchange = Exchange::current();
        let purpose = Purpose::of(&request);
        let uri = request.uri().to_string();
        let ranged = request.headers().contains_key(RANGE);
        let upload = request.body().content_length() as u64;
        let request = convert(request)?;
        let metadata = matches!(request.url().host_str(), Some(host) if host.starts_with("169.254.") || host.starts_with("metadata"));
        let sent = self.0.execute(request, upload);
        let response = if metadata {
            match tokio::time::timeout(METADATA_TIME, sent).await {
                Ok(result) => result,
                Err(_) => {
                    return Err(no_credentials(&exchange, "no service for credentials answers".to_owned(), false));
                }
            }
        } else {
            sent.await
        };
        let response = match response {
            Ok(response) => response,
            Err(error) if purpose == Purpose::Credentials => {
                return Err(no_credentials(&exchange, failure(error).text, !metadata));
            }
            Err(error) => return Err(no_answer(&exchange, purpose, failure(error))),
        };
        if purpose == Purpose::Credentials {
            let status = response.status();
            exchange.seen().credentials = (!status.is_success()).then(|| format!("their service answered {status}"));
            return Ok(into_response(response));
        }
        if !response.status().is_success() {
            return Ok(problem(&exchange, purpose, response).await);
        }
        {
            let mut seen = exchange.seen();
            (seen.problem, seen.failure) = (None, None);
        }
        let checked = match purpose {
            Purpose::Get => check_value(&exchange, response, ranged),
            Purpose::List => check_page(&exchange, uri, response).await,
            _ => Ok(into_response(response)),
        };
        checked.map_err(|text| {
            exchange.seen().failure = Some(Failure::new(ErrorKind::Io, text.clone()));
            HttpError::new(HttpErrorKind::Decode, io::Error::other(text))
        })
    }
}

fn convert(request: HttpRequest) -> Result<Request, HttpError> {
    let (parts, body) = request.into_parts();
    let refuse = |text: &str| HttpError::new(HttpErrorKind::Decode, io::Error::other(text.to_owned()));
    let url = parts.uri.to_string().parse().map_err(|_| refuse("the address of a request is no URL"))?;
    let mut converted = Request::new(parts.method, url);
    *converted.headers_mut() = parts.headers;
    if body.content_length() > 0 {
        *converted.body_mut() = Some(Body::wrap(body));
    }
    Ok(converted)
}

/// The answer with its body still to be read; a failure meanwhile is noted.
fn into_response(response: Response) -> HttpResponse {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = Body::from(response).map_err(|error| {
        let failure = failure(error);
        let error = HttpError::new(http_kind(&failure, true), io::Error::other(failure.text.clone()));
        Exchange::current().seen().failure = Some(failure);
        error
    });
    answer(status, headers, HttpResponseBody::new(body))
}

fn answer(status: StatusCode, headers: HeaderMap, body: impl Into<HttpResponseBody>) -> HttpResponse {
    let mut answer = HttpResponse::new(body.into());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}

/// Notes that credentials could not be had.
fn no_credentials(exchange: &Exchange, text: String, retry: bool) -> HttpError {
    let error = io::Error::other(text.clone());
    exchange.seen().credentials = Some(text);
    // Outside of a cloud there is no service to ask again.
    HttpError::new(if retry { HttpErrorKind::Request } else { HttpErrorKind::Unknown }, error)
}

/// Notes a failure without an answer, and says whether object_store may try again.
fn no_answer(exchange: &Exchange, purpose: Purpose, failure: Failure) -> HttpError {
    let kind = http_kind(&failure, purpose == Purpose::Erase);
    let error = io::Error::other(failure.text.clone());
    let mut seen = exchange.seen();
    seen.maybe_set |= !failure.unsent && matches!(purpose, Purpose::Put { conditional: true });
    (seen.problem, seen.failure) = (None, Some(failure));
    HttpError::new(kind, error)
}

/// A kind that lets object_store try again where that is right: a request that may have reached the server only if it changes nothing,
/// or changes the same again.
fn http_kind(failure: &Failure, repeatable: bool) -> HttpErrorKind {
    match failure.kind {
        _ if failure.unsent => HttpErrorKind::Connect,
        ErrorKind::TimedOut if !repeatable => HttpErrorKind::Timeout,
        ErrorKind::Transient if !repeatable => HttpErrorKind::Interrupted,
        ErrorKind::TimedOut | ErrorKind::Transient => HttpErrorKind::Request,
        _ => HttpErrorKind::Unknown,
    }
}

/// Notes an answer that is an error, and waits as long as it asks for, if a retry may follow.
async fn problem(exchange: &Exchange, purpose: Purpose, response: Response) -> HttpResponse {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = read_begin(response, MAX_ERROR).await;
    let problem = Problem::new(status, &headers, &body);
    let wait = problem.wait.filter(|wait| is_retryable(status) && *wait < exchange.time_left());
    {
        let mut seen = exchange.seen();
        seen.maybe_set |= status.is_server_error() && matches!(purpose, Purpose::Put { conditional: true });
        (seen.problem, seen.failure) = (Some(problem), None);
    }
    if let Some(wait) = wait {
        tokio::time::sleep(wait).await;
    }
    // The text is nobody's any more, and may be of another encoding than object_store reads.
    answer(status, headers, Bytes::new())
}

/// Refuses an answer that is no value as it is stored.
fn check_value(exchange: &Exchange, response: Response, ranged: bool) -> Result<HttpResponse, String> {
    let headers = response.headers();
    let stored =
        headers.get("x-goog-stored-content-encoding").and_then(|value| value.to_str().ok()).unwrap_or("identity");
    if let Some(encoding) = encoding(headers).or_else(|| (stored != "identity").then(|| stored.to_owned())) {
        return Err(format!(
            "the value comes encoded as {encoding}, expected the bytes of the value (Content-Encoding: identity)"
        ));
    }
    if ranged && headers.get(CONTENT_LENGTH).is_some_and(|length| length == "0") {
        // There is no such byte, which some services do not say with 416: their range ends before it begins.
        let mut headers = headers.clone();
        let found = headers.remove(CONTENT_RANGE);
        let size = found.as_ref().and_then(|range| range.to_str().ok()?.rsplit_once('/')?.1.parse::<u64>().ok());
        // All of an empty value.
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
            return Err(format!(
                "the answer has bytes {}..{}, and Content-Length says {length} bytes",
                at.start, at.end
            ));
        }
    }
    if !ranged || response.status() == StatusCode::PARTIAL_CONTENT {
        let page = is_html(headers) && !headers.contains_key(ETAG);
        return if page { Err(page_for_people()) } else { Ok(into_response(response)) };
    }
    if is_html(headers) {
        return Err(page_for_people());
    }
    Err(format!("the service answered {} to a request for a range, expected 206 with this range", response.status()))
}

fn page_for_people() -> String {
    "found a page for people (text/html), expected a value: something else than the service answers at this address, such as the \
     sign-in page of a network"
        .to_owned()
}

/// Reads a page of a list and takes out what is no key.
async fn check_page(exchange: &Exchange, uri: String, mut response: Response) -> Result<HttpResponse, String> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut page = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if page.len() + chunk.len() > MAX_PAGE => {
                return Err(format!("a page of the list has more than {MAX_PAGE} bytes"));
            }
            Ok(Some(chunk)) => page.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => {
                return Err(format!("a page of the list ended after {} bytes: {}", page.len(), failure(error).text));
            }
        }
    }
    let page = String::from_utf8(page).map_err(|_| "a page of the list is no UTF-8".to_owned())?;
    let Some(page) = keys_alone(&page) else {
        let what = if is_html(&headers) {
            page_for_people()
        } else {
            "found another document, or a page without its continuation, expected a page of a list".to_owned()
        };
        return Err(what);
    };
    if !exchange.seen().pages.insert(uri) {
        return Err("the service returned a page of the list twice, and would go on".to_owned());
    }
    Ok(answer(status, headers, page))
}
