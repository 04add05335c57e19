//! Errors of requests.

use hyper::StatusCode;
use std::fmt;
use zarr_hierarchy::{Error, ErrorKind};
use zarr_json::{Value, json};

/// Error that is sent instead of an answer.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) status: StatusCode,
    /// Kind of the error, in kebab case.
    kind: &'static str,
    pub(crate) message: String,
    hint: Option<String>,
}

impl RequestError {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), hint: None }
    }

    /// Creates an error for a request with an invalid argument: status 400.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "argument", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// Creates an error for a request that exceeds what the server does for one request: status 422.
    pub(crate) fn too_much(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "limit", message)
    }

    /// Creates an error for a server that is at its limit of concurrent work: status 503.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "limit", message)
    }

    /// Returns whether a retry may succeed: the store has failed, or a value was replaced while it was read.
    pub(crate) fn may_pass(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE && self.kind != "limit"
    }

    /// Creates an error for a fault of the server: status 500.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// Prefixes the message with `name`.
    pub(crate) fn within(self, name: &str) -> Self {
        Self { message: format!("{name}: {}", self.message), ..self }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the error as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let hint = self.hint.as_deref().map_or(Value::Null, Value::from);
        json!({"error": {"kind": (self.kind), "message": (self.message.as_str()), "hint": hint}})
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RequestError {}

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Argument | ErrorKind::Path => StatusCode::BAD_REQUEST,
            ErrorKind::Store => match error.store_error().map(of_store) {
                // Do not tell clients where a link would lead.
                Some(StatusCode::NOT_FOUND) => return Self::not_found("no such node"),
                status => status.unwrap_or(StatusCode::BAD_GATEWAY),
            },
            ErrorKind::Conflict => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let message = error.with_causes();
        Self { status, kind: error.kind().name(), message, hint: error.hint().map(str::to_owned) }
    }
}

impl From<zarr_store::Error> for RequestError {
    fn from(error: zarr_store::Error) -> Self {
        match of_store(&error) {
            StatusCode::NOT_FOUND => Self::not_found("no such value"),
            status => Self::new(status, "store", Error::from(error).with_causes()),
        }
    }
}

/// Returns the status for an error of a store.
fn of_store(error: &zarr_store::Error) -> StatusCode {
    use zarr_store::ErrorKind as Kind;
    match error.kind() {
        // What cannot be a key, or leads out of the store, is not there.
        Kind::Argument | Kind::Path | Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Limit if matches!(error, zarr_store::Error::TooLong { .. }) => StatusCode::NOT_FOUND,
        Kind::Throttled | Kind::Transient | Kind::Precondition | Kind::Limit => StatusCode::SERVICE_UNAVAILABLE,
        Kind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    }
}
