//! Record of the requests of one operation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{collections::HashSet, future::Future};

use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, HeaderMap};
use zarr_store::ErrorKind;
use zarr_store_runtime::http::{ContentRange, Failure, begins_as_html, is_html, retry_after, status_kind};
use zarr_store_runtime::{Again, Attempts, Retry};

use crate::listing::unescape;

tokio::task_local! {
    /// Record of the operation that this task executes.
    static CURRENT: Exchange;
}

/// Record of the requests of one operation, which has details that the errors of object_store lack.
#[derive(Clone, Debug)]
pub(crate) struct Exchange(Arc<Mutex<Seen>>);

#[derive(Debug)]
pub(crate) struct Seen {
    /// Last request, for messages: its method, and its address without secrets.
    pub(crate) request: String,
    /// Attempts at the last request.
    pub(crate) attempts: Attempts,
    /// When another attempt may succeed; `None` if it cannot.
    pub(crate) again: Option<Again>,
    /// Last response that is an error.
    pub(crate) problem: Option<Problem>,
    /// Last failure without a response, or with a response that is not from the service.
    pub(crate) failure: Option<Failure>,
    /// Reason why credentials could not be obtained.
    pub(crate) credentials: Option<String>,
    /// Whether a conditional put, or the end of an upload in parts, may have taken effect although no response says so.
    pub(crate) maybe_set: bool,
    /// Pages of a list that were received.
    pub(crate) pages: HashSet<String>,
    /// Objects that requests to erase several objects have left.
    pub(crate) left: Vec<Left>,
    /// Whether the service does not support requests to erase several objects.
    pub(crate) refuses_several: bool,
    /// Status of a copy that Azure makes: `pending`, `success` or another word.
    pub(crate) copy_status: Option<String>,
    /// Number of bytes that Azure has copied.
    pub(crate) copy_progress: Option<u64>,
}

/// Object that a successful request to erase several objects has left, with the reason.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) name: String,
    pub(crate) problem: Problem,
}

impl Seen {
    /// Returns whether the last response says that the upload in parts does not exist.
    pub(crate) fn is_gone(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.is(&["NoSuchUpload"]))
    }

    /// Returns the part about the request in a message of an error of this kind, such as ` (GET http://host/bucket/key: 3 attempts in 1.4
    /// s)`; empty if it would not help.
    pub(crate) fn tail(&self, kind: ErrorKind) -> String {
        let may_pass = matches!(kind, ErrorKind::Throttled | ErrorKind::TimedOut | ErrorKind::Transient);
        if self.request.is_empty() || !(may_pass || self.attempts.made() > 1) {
            return String::new();
        }
        format!(" ({}: {})", self.request, self.attempts)
    }

    /// Describes the last request and its failure.
    pub(crate) fn last(&self) -> String {
        let status = self.problem.as_ref().map(|problem| format!("the service answered {}", problem.status));
        let failure = || self.failure.as_ref().map(|failure| failure.text.clone());
        let credentials = || self.credentials.as_ref().map(|text| format!("no credentials: {text}"));
        let text = status.or_else(credentials).or_else(failure);
        format!("{}: {}", self.request, text.unwrap_or_else(|| "it failed".to_owned()))
    }
}

impl Exchange {
    /// Creates the record of an operation with the given attempts.
    pub(crate) fn new(attempts: Attempts) -> Self {
        let seen = Seen {
            request: String::new(),
            attempts,
            again: None,
            problem: None,
            failure: None,
            credentials: None,
            maybe_set: false,
            pages: HashSet::new(),
            left: Vec::new(),
            refuses_several: false,
            copy_status: None,
            copy_progress: None,
        };
        Self(Arc::new(Mutex::new(seen)))
    }

    /// Runs a future whose requests are recorded here.
    pub(crate) async fn during<T>(&self, future: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), future).await
    }

    /// Makes a request, and retries it if another attempt may succeed. Each attempt is a new request with a new signature, since services
    /// accept signatures for about a quarter of an hour.
    pub(crate) async fn tried<T, F>(&self, make: impl Fn() -> F) -> object_store::Result<T>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        loop {
            self.seen().again = None;
            let error = match self.during(make()).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let again = self.seen().again;
            let goes_on = match again {
                Some(again) => self.pause(again).await,
                None => false,
            };
            if !goes_on {
                return Err(error);
            }
        }
    }

    /// Returns the record of the operation that this task executes.
    pub(crate) fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_else(|_| Self::new(Attempts::new(Retry::default(), 0)))
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the attempts at the last request.
    pub(crate) fn attempts(&self) -> Attempts {
        self.seen().attempts.clone()
    }

    /// Waits before another attempt. Returns false if there may be none.
    pub(crate) async fn pause(&self, again: Again) -> bool {
        let mut attempts = self.attempts();
        let goes_on = attempts.pause(again, || self.seen().last()).await;
        self.seen().attempts = attempts;
        goes_on
    }
}

/// Response that is an error.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// Error code of the service, such as `NoSuchBucket`.
    pub(crate) code: Option<String>,
    /// Message of the service for people.
    message: Option<String>,
    /// Region of the bucket, if the response names it.
    pub(crate) region: Option<String>,
    /// Size of the value, in a response with status 416.
    pub(crate) size: Option<u64>,
    /// Time that the service asks to wait.
    pub(crate) wait: Option<Duration>,
    /// Whether the response is a page for people, and not from the service.
    pub(crate) foreign: bool,
}

impl Problem {
    /// Parses the problem from a response; `body` is the beginning of its body.
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let element = |name: &str| {
            let text = body.split_once(&format!("<{name}>"))?.1.split_once(&format!("</{name}>"))?.0;
            // One line, of which the length is bounded.
            Some(
                unescape(text)?
                    .chars()
                    .map(|char| if char.is_control() { ' ' } else { char })
                    .take(300)
                    .collect::<String>(),
            )
        };
        let size = headers.get(CONTENT_RANGE).and_then(|range| ContentRange::parse(range.to_str().ok()?)?.size);
        let of_service = headers.keys().any(|name| {
            ["x-amz-", "x-ms-", "x-goog-", "x-guploader-"].iter().any(|begin| name.as_str().starts_with(begin))
        });
        Self {
            status,
            code: header("x-ms-error-code").or_else(|| element("Code")),
            message: element("Message").or_else(|| element("Details")),
            region: header("x-amz-bucket-region").or_else(|| element("Region")),
            size: size.or_else(|| element("ActualObjectSize")?.parse().ok()),
            wait: retry_after(headers),
            foreign: !of_service && (is_html(headers) || begins_as_html(body.as_bytes())),
        }
    }

    /// Parses the problem from a document `<Error>` in a response with a success status, which S3 sends if it fails after it has begun to
    /// respond.
    pub(crate) fn of_success(document: &str) -> Self {
        let mut problem = Self::new(StatusCode::BAD_REQUEST, &HeaderMap::new(), document.as_bytes());
        problem.status = match problem.code.as_deref() {
            Some("SlowDown" | "ServiceUnavailable" | "Busy") => StatusCode::SERVICE_UNAVAILABLE,
            Some("InternalError") => StatusCode::INTERNAL_SERVER_ERROR,
            Some("AccessDenied") => StatusCode::FORBIDDEN,
            Some("NoSuchKey") => StatusCode::NOT_FOUND,
            _ => problem.status,
        };
        problem
    }

    /// Returns the kind of the error.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self.code.as_deref() {
            // S3 says so with the status 400.
            Some("RequestTimeout") => ErrorKind::TimedOut,
            // Azure is still copying another value to there, and says so with the status 409.
            Some("PendingCopyOperation") => ErrorKind::Transient,
            _ => status_kind(self.status),
        }
    }

    /// Returns when another attempt may succeed; `None` if it cannot.
    pub(crate) fn again(&self) -> Option<Again> {
        let may_pass = matches!(self.kind(), ErrorKind::Throttled | ErrorKind::TimedOut | ErrorKind::Transient);
        may_pass.then(|| self.wait.map_or(Again::Later, Again::After))
    }

    /// Returns whether the status says that the service does not support such requests.
    pub(crate) fn is_unknown(&self) -> bool {
        /// Error codes with status 400 that concern credentials or a single request.
        const OTHERS: &[&str] =
            &["AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "MalformedXML", "TokenRefreshRequired"];
        matches!(self.status.as_u16(), 400 | 405 | 501)
            && !self.foreign
            && !self.is(OTHERS)
            && self.region.is_none()
            && self.again().is_none()
    }

    /// Returns whether the error code of the service is in `codes`.
    pub(crate) fn is(&self, codes: &[&str]) -> bool {
        self.code.as_deref().is_some_and(|code| codes.contains(&code))
    }

    /// Returns the status and the message of the service, for messages.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("the service answered {}", self.status);
        match (&self.code, &self.message) {
            (Some(code), Some(message)) => text.push_str(&format!(", {code}: {}", message.trim())),
            (Some(code), None) => text.push_str(&format!(", {code}")),
            (None, Some(message)) => text.push_str(&format!(": {}", message.trim())),
            (None, None) if self.foreign => {
                text.push_str(" with a page for people: something else than the service answers at this address")
            }
            (None, None) => {}
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let body = "<?xml version=\"1.0\"?><Error><Code>InvalidRange</Code><Message>a &lt; b\n</Message>\
                    <ActualObjectSize>7</ActualObjectSize><StringToSign>SENTINEL</StringToSign></Error>";
        let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, &HeaderMap::new(), body.as_bytes());
        assert_eq!((problem.size, problem.code.as_deref()), (Some(7), Some("InvalidRange")));
        assert_eq!(problem.text(), "the service answered 416 Range Not Satisfiable, InvalidRange: a < b");
        let headers = |pairs: &[(&'static str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).parse().expect("a name"), value.parse().expect("a value")))
                .collect::<HeaderMap>()
        };
        let found =
            headers(&[("x-amz-bucket-region", "eu-west-1"), ("content-range", "bytes */9"), ("x-ms-error-code", "X")]);
        let problem = Problem::new(StatusCode::MOVED_PERMANENTLY, &found, b"<html>");
        assert_eq!((problem.region.as_deref(), problem.size, problem.foreign), (Some("eu-west-1"), Some(9), false));
        let problem = Problem::new(StatusCode::NOT_FOUND, &HeaderMap::new(), b"<!DOCTYPE html>nothing here");
        assert!(problem.foreign && problem.text().contains("page for people"), "{problem:?}");
    }
}
