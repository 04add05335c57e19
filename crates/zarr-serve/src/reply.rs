//! Answers before they are sent.

use crate::request_error::RequestError;
use crate::value_body::ValueBody;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::pin::Pin;
use std::task::{Context, Poll};
use zarr_json::Value;

/// Body of an answer.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// Body that is in memory.
    Bytes(Bytes),
    /// Value of the store that is read while it is sent.
    Value(ValueBody),
}

impl ReplyBody {
    pub(crate) fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = RequestError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RequestError>>> {
        match &mut *self {
            Self::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Bytes(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Value(value) => value.poll_piece(context).map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Value(value) => value.left() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Value(value) => value.left(),
        })
    }
}

/// Returns a response with this body and media type.
pub(crate) fn whole(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::Bytes(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// Returns a JSON response that clients must not cache. Numbers that JSON cannot express become strings.
pub(crate) fn json(status: StatusCode, value: Value) -> Response<ReplyBody> {
    let mut response = whole(status, "application/json", value.without_nan_literals().to_string());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns a response without a body.
pub(crate) fn bare(status: StatusCode) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = status;
    response
}

/// Returns a text response with the message of an error.
pub(crate) fn text(fault: &RequestError) -> Response<ReplyBody> {
    whole(fault.status, "text/plain; charset=utf-8", format!("{}\n", fault.message))
}

/// Sets a header. Does nothing if the value is not valid in a header.
pub(crate) fn set(response: &mut Response<ReplyBody>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
