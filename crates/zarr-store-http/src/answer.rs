//! Evaluation of responses.

use std::ops::Range;
use std::sync::Arc;

use reqwest::header::{
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE,
};
use reqwest::{Response, StatusCode};
use zarr_store::{Bytes, Error, ErrorKind, Key, Result, Version};
use zarr_store_runtime::http::{
    Body, ContentRange, Failure, begins_as_html, encoding, etag, failure, gunzip, in_time, is_gzip, is_html, modified,
    read_body, status_kind, validator,
};
use zarr_store_runtime::{Answer, Attempts, Condition, Opened, Permit, RangeRequest, is_document};

use crate::cache::{Cached, State};
use crate::requests::Reply;
use crate::site::Site;

/// Response whose body is still to be read.
struct Head {
    response: Response,
    permit: Permit,
    at: Range<u64>,
    size: u64,
    state: State,
    /// Whether the response has the whole value.
    whole: bool,
}

enum Outcome {
    Answer(Answer),
    Head(Head),
    /// The server refuses a range from the end of the value.
    NoSuffix,
    /// Whole value, which was read since its length was not known before.
    Whole(Bytes, State),
}

/// Requests a range of a value.
pub(crate) async fn open(inner: Arc<Site>, key: Key, range: RangeRequest, condition: Condition) -> Result<Answer> {
    let mut attempts = inner.requests.attempts();
    // A server that sends all is only asked whether the value has changed since.
    let kept = if inner.whole_only() { inner.cache.get(&key) } else { None };
    if let (Some(required), Some(kept)) = (condition.required(), &kept)
        && *required == kept.version
    {
        return Ok(kept.opened());
    }
    let kept = kept.filter(|_| condition.required().is_none());
    let (mut range, mut condition) = (range, condition);
    let mut outcome = ask_until_it_comes(&inner, &key, &range, &condition, kept.as_ref(), &mut attempts).await?;
    if let (Outcome::NoSuffix, &RangeRequest::Last(len)) = (&outcome, &range) {
        // The first byte comes with the size.
        range = RangeRequest::Bounds(0..1);
        outcome = ask_until_it_comes(&inner, &key, &range, &condition, None, &mut attempts).await?;
        if let Outcome::Head(Head { size, state, whole: false, .. }) = &outcome {
            range = RangeRequest::Bounds(size.saturating_sub(len)..*size);
            condition = state.version.clone().map_or(condition, Condition::Is);
            drop(outcome);
            outcome = ask_until_it_comes(&inner, &key, &range, &condition, None, &mut attempts).await?;
        }
    }
    let head = match outcome {
        Outcome::Answer(answer) => return Ok(answer),
        Outcome::NoSuffix => {
            return Err(inner.requests.failed(&key, ErrorKind::Internal, "a range was refused".to_owned()));
        }
        Outcome::Whole(bytes, state) => {
            keep(&inner, &key, &state, &bytes);
            return Ok(opened_whole(bytes, state));
        }
        Outcome::Head(head) => head,
    };
    let (at, size, State { version, modified, etag }) = (head.at.clone(), head.size, head.state.clone());
    let body = async move { read(&inner, &key, &range, head, attempts).await };
    Ok(Answer::Opened(Opened { at, size, version, modified, etag, body: Box::pin(body) }))
}

fn opened_whole(bytes: Bytes, state: State) -> Answer {
    let (size, State { version, modified, etag }) = (bytes.len() as u64, state);
    Answer::Opened(Opened { at: 0..size, size, version, modified, etag, body: Box::pin(async { Ok(Some(bytes)) }) })
}

impl Cached {
    fn opened(&self) -> Answer {
        let state = State { version: Some(self.version.clone()), modified: self.modified, etag: self.etag.clone() };
        opened_whole(self.bytes.clone(), state)
    }
}

/// Returns the state that a response names.
fn state(headers: &HeaderMap) -> State {
    let version = validator(headers).map(|text| Version::new(&text));
    State { version, modified: modified(headers), etag: etag(headers) }
}

/// Caches a value of a server that does not support ranges.
fn keep(inner: &Site, key: &Key, state: &State, bytes: &Bytes) {
    if let (Some(version), true) = (state.version.clone(), inner.whole_only()) {
        let (modified, etag) = (state.modified, state.etag.clone());
        inner.cache.insert(key, Cached { version, modified, etag, bytes: bytes.clone() });
    }
}

/// Reads the body of a response, with further requests for its rest if it ends early. `None` if the value was replaced meanwhile.
async fn read(
    inner: &Arc<Site>,
    key: &Key,
    range: &RangeRequest,
    head: Head,
    mut attempts: Attempts,
) -> Result<Option<Bytes>> {
    let Head { response, permit, at, size, state, whole } = head;
    let html = is_html(response.headers());
    let mut answer = (response, permit);
    let expected = at.end - at.start;
    let mut body = new_body(inner, key, expected, &attempts)?;
    let version = &state.version;
    let mut resumes = version.is_some();
    loop {
        let (response, permit) = answer;
        let Err(failure) = read_body(response, permit, &mut body, &mut attempts).await else { break };
        if !inner.requests.goes_on(key, &failure, &mut attempts).await {
            return Err(inner.requests.transport(key, failure, &attempts));
        }
        answer = loop {
            // The rest is asked for where the answer will say that it is of the same state.
            let rest = at.start + body.len()..at.end;
            let goes_on = resumes && !body.is_empty() && !rest.is_empty() && !inner.whole_only();
            if !goes_on && !body.is_empty() {
                attempts.thrown_away();
                body = new_body(inner, key, expected, &attempts)?;
            }
            let (asked, due) = if goes_on { (&RangeRequest::Bounds(rest.clone()), &rest) } else { (range, &at) };
            let condition = version.clone().map_or(Condition::Any, Condition::Is);
            match ask_until_it_comes(inner, key, asked, &condition, None, &mut attempts).await? {
                Outcome::Head(next)
                    if (next.size, &next.state.version, &next.at) == (size, version, due)
                        && (version.is_some() || next.state == state) =>
                {
                    break (next.response, next.permit);
                }
                // The server does not know ranges after all, or the value has fewer bytes than it says: all is asked for again.
                Outcome::Head(Head { whole: true, .. }) | Outcome::Answer(Answer::Outside(_)) if goes_on => {
                    resumes = false
                }
                // The value has changed meanwhile.
                _ => return Ok(None),
            }
        };
    }
    let bytes = body.into_bytes();
    if whole {
        check_page(inner, key, html, &bytes)?;
        keep(inner, key, &state, &bytes);
    }
    Ok(Some(bytes))
}

fn new_body(inner: &Site, key: &Key, expected: u64, attempts: &Attempts) -> Result<Body> {
    Body::new(expected).map_err(|failure| inner.requests.transport(key, failure, attempts))
}

/// Requests a range, and repeats the request if a response of unknown length ends early.
async fn ask_until_it_comes(
    inner: &Arc<Site>,
    key: &Key,
    range: &RangeRequest,
    condition: &Condition,
    kept: Option<&Cached>,
    attempts: &mut Attempts,
) -> Result<Outcome> {
    loop {
        let failure = match ask(inner, key, range, condition, kept, attempts).await? {
            Asked::Outcome(outcome) => return Ok(outcome),
            Asked::Cut(failure) => failure,
        };
        if !inner.requests.goes_on(key, &failure, attempts).await {
            return Err(inner.requests.transport(key, failure, attempts));
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "a response is moved once")]
enum Asked {
    Outcome(Outcome),
    /// A response with the whole value, of unknown length, ended early.
    Cut(Failure),
}

/// Requests a range, and checks the headers of the response.
async fn ask(
    inner: &Arc<Site>,
    key: &Key,
    range: &RangeRequest,
    condition: &Condition,
    kept: Option<&Cached>,
    attempts: &mut Attempts,
) -> Result<Asked> {
    let answered = |answer| Asked::Outcome(Outcome::Answer(answer));
    let refuse = |text: String| inner.requests.failed(key, ErrorKind::Io, text);
    let required = condition.required();
    // Only entity tags are excluded: by times, a server may call a value unchanged that is older than the time asked about.
    let excluded = match condition {
        Condition::IsNot(version) if version.as_str().starts_with('"') => Some(version),
        _ => None,
    };
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, text: &str| {
        HeaderValue::from_str(text).is_ok_and(|value| headers.insert(name, value).is_none())
    };
    if let Some(range) = range.header() {
        set(RANGE, &range);
    }
    // An ETag is quoted; else the version is a time.
    if let Some(version) = required.map(Version::as_str)
        && !set(if version.starts_with('"') { IF_MATCH } else { IF_UNMODIFIED_SINCE }, version)
    {
        return Ok(answered(Answer::Changed(None)));
    }
    if let Some(version) = kept.map(|kept| &kept.version).or(excluded).map(Version::as_str) {
        set(if version.starts_with('"') { IF_NONE_MATCH } else { IF_MODIFIED_SINCE }, version);
    }
    let (response, permit) = match inner.requests.get(key, &headers, attempts).await? {
        Reply::Answer(response, permit) => (response, permit),
        // The answer is for a directory, which is a prefix and no value.
        Reply::Directory => return Ok(answered(Answer::Missing)),
    };
    let status = response.status();
    let answer = match (status.as_u16(), kept) {
        (200 | 206, _) => None,
        (304, Some(kept)) if Some(&kept.version) == excluded => Some(Answer::Same),
        (304, None) if excluded.is_some() => Some(Answer::Same),
        (304, Some(kept)) => {
            // The bytes may have been written anew since, and the answer names the time again if the server knows it.
            let modified = modified(response.headers()).or(kept.modified);
            Some(Cached { modified, ..kept.clone() }.opened())
        }
        (404 | 410, _) => Some(Answer::Missing),
        (403, _) if inner.missing_403 => Some(Answer::Missing),
        (412, _) => Some(Answer::Changed(None)),
        (416, _) if range.header().is_some() => {
            let size = content_range(response.headers()).and_then(|range| range.size);
            Some(Answer::Outside(size))
        }
        (400 | 405 | 500 | 501, _) if matches!(range, RangeRequest::Last(_)) => {
            inner.suffix_refused(status != StatusCode::INTERNAL_SERVER_ERROR);
            return Ok(Asked::Outcome(Outcome::NoSuffix));
        }
        (401 | 403, _) => {
            let text = format!(
                "the server answered {status}; credentials are --store-option header.Authorization=...; where values that are not \
                 there are refused: --store-option missing=403"
            );
            return Err(inner.requests.failed(key, ErrorKind::Denied, text));
        }
        _ => {
            let text = format!("the server answered {status}, expected 200 or 206");
            return Err(inner.requests.failed(key, status_kind(status), text));
        }
    };
    if let Some(answer) = answer {
        return Ok(answered(answer));
    }
    let headers = response.headers();
    let state = state(headers);
    if required.is_some() && state.version.as_ref() != required {
        return Ok(answered(Answer::Changed(state.version)));
    }
    if let Some(encoding) = encoding(headers) {
        let is_whole = status == StatusCode::OK
            || content_range(headers)
                .is_some_and(|found| found.at.is_some() && found.at == found.size.map(|size| 0..size));
        if !(is_whole && is_gzip(&encoding)) {
            let text = format!(
                "the value comes encoded as {encoding}, expected the bytes of the value (Content-Encoding: identity); of whole \
                 values, gzip is decoded"
            );
            return Err(refuse(text));
        }
        let html = is_html(headers);
        return Ok(match read_to_end(inner, key, (response, permit), attempts).await? {
            Ok(bytes) => {
                let decoded = gunzip(&bytes, inner.max_value);
                let bytes = decoded.map_err(|failure| inner.requests.transport(key, failure, attempts))?;
                check_page(inner, key, html, &bytes)?;
                Asked::Outcome(Outcome::Whole(bytes, state))
            }
            Err(failure) => Asked::Cut(failure),
        });
    }
    if status != StatusCode::PARTIAL_CONTENT {
        return whole(inner, key, range, (response, permit), state, attempts).await;
    }
    if matches!(range, RangeRequest::Last(_)) {
        inner.suffix_answered();
    }
    match part(inner, key, range, (response, permit), state)? {
        Some(outcome) => Ok(Asked::Outcome(outcome)),
        // All of the value is as large as it is.
        None => {
            inner.found_whole();
            Box::pin(ask(inner, key, &RangeRequest::All, condition, kept, attempts)).await
        }
    }
}

/// Evaluates a response with a part of the value; `None` if it does not tell the size of the value.
fn part(
    inner: &Site,
    key: &Key,
    range: &RangeRequest,
    (response, permit): (Response, Permit),
    state: State,
) -> Result<Option<Outcome>> {
    let refuse = |text: String| Err(inner.requests.failed(key, ErrorKind::Io, text));
    let headers = response.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(found) = content_range(headers) else {
        return refuse(format!(
            "found Content-Range {:?}, Content-Type {:?}, expected one range",
            text(CONTENT_RANGE),
            text(CONTENT_TYPE)
        ));
    };
    let Some(at) = found.at else {
        // Some servers say of an empty value that it has a part.
        if found.size == Some(0) {
            return Ok(Some(Outcome::Answer(Answer::Outside(Some(0)))));
        }
        return refuse(format!("found Content-Range {:?}, expected the range of the value", text(CONTENT_RANGE)));
    };
    let size = match (found.size, range) {
        (Some(size), _) => size,
        // Where fewer bytes come than were asked for, or the last ones, the value ends with them.
        (None, RangeRequest::Bounds(asked)) if *asked == at => return Ok(None),
        (None, _) => at.end,
    };
    let due = range.resolve(size);
    if due.as_ref() != Some(&at) {
        let due = due.map_or_else(|| "none".to_owned(), |due| format!("{}..{}", due.start, due.end));
        return refuse(format!("found bytes {}..{} of {size}, expected {due}", at.start, at.end));
    }
    if let Some(len) = content_length(headers)
        && len != at.end - at.start
    {
        return refuse(format!("found {len} bytes (Content-Length), expected bytes {}..{}", at.start, at.end));
    }
    bounded(inner, key, at.end - at.start)?;
    let whole = at == (0..size);
    Ok(Some(Outcome::Head(Head { response, permit, at, size, state, whole })))
}

/// Evaluates a response with the whole value.
async fn whole(
    inner: &Site,
    key: &Key,
    range: &RangeRequest,
    (response, permit): (Response, Permit),
    state: State,
    attempts: &mut Attempts,
) -> Result<Asked> {
    let html = is_html(response.headers());
    if html && is_document(key) {
        return Err(page(inner, key));
    }
    if let Some(size) = content_length(response.headers()) {
        // A page that a network sends in the place of all answers says nothing about ranges, nor do the very bytes that were asked for.
        if !html && range.resolve(size).is_some_and(|at| at != (0..size)) {
            inner.found_whole();
        }
        bounded(inner, key, size)?;
        return Ok(Asked::Outcome(Outcome::Head(Head { response, permit, at: 0..size, size, state, whole: true })));
    }
    // Only the end of the body says how long it is.
    if !html && range.header().is_some() {
        inner.found_whole();
    }
    match read_to_end(inner, key, (response, permit), attempts).await? {
        Ok(bytes) => {
            check_page(inner, key, html, &bytes)?;
            Ok(Asked::Outcome(Outcome::Whole(bytes, state)))
        }
        Err(failure) => Ok(Asked::Cut(failure)),
    }
}

/// Reads a body of unknown length. The inner error means that it ended early.
async fn read_to_end(
    inner: &Site,
    key: &Key,
    (mut response, permit): (Response, Permit),
    attempts: &mut Attempts,
) -> Result<Result<Bytes, Failure>> {
    let mut body = new_body(inner, key, inner.max_value, attempts)?;
    loop {
        match in_time(attempts, response.chunk()).await.and_then(|chunk| chunk.map_err(failure)) {
            Ok(None) => return Ok(Ok(body.into_bytes())),
            Ok(Some(chunk)) => {
                bounded(inner, key, body.len() + chunk.len() as u64)?;
                permit.moved();
                body.push(chunk).map_err(|failure| inner.requests.transport(key, failure, attempts))?;
                attempts.received(body.len());
            }
            Err(failure) => {
                attempts.thrown_away();
                return Ok(Err(failure));
            }
        }
    }
}

fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    ContentRange::parse(headers.get(CONTENT_RANGE)?.to_str().ok()?)
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn bounded(inner: &Site, key: &Key, size: u64) -> Result<()> {
    if size <= inner.max_value {
        return Ok(());
    }
    let text = format!(
        "the server sends {size} bytes, more than the {} of --store-option max_value=...; one that does not know ranges sends all of \
         a value",
        inner.max_value
    );
    Err(inner.requests.failed(key, ErrorKind::Limit, text))
}

/// Refuses an HTML page in place of a value, which a network sends that requires its users to sign in, or a server that responds to every
/// address with the same page.
fn check_page(inner: &Site, key: &Key, html: bool, bytes: &[u8]) -> Result<()> {
    if (html || is_document(key)) && begins_as_html(bytes) { Err(page(inner, key)) } else { Ok(()) }
}

fn page(inner: &Site, key: &Key) -> Error {
    let text = "found a page for people (HTML), expected a value: the server answers with a page where there is no value, or the \
                network wants its users to sign in";
    inner.requests.failed(key, ErrorKind::Io, text.to_owned())
}
