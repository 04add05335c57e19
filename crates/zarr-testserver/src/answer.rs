//! Handling of a request, from its arrival to its answer.

use crate::body::{ReplyBody, Tracker, Unread, read};
use crate::bucket::{Etags, Face};
use crate::connection::Connection;
use crate::counts::Operation;
use crate::faults::FaultKind;
use crate::objects::{self, Api};
use crate::plain;
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::shared::{Settings, Shared};
use crate::values::Payload;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LOCATION, RANGE};
use http::{HeaderName, Method, Response, StatusCode};
use hyper::body::Incoming;
use std::io::Write;
use std::sync::Arc;

/// Error for a request without an answer: hyper closes the connection.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed without an answer")]
pub(crate) struct Closed;

/// Answers a request, with the fault that the script has for it.
pub(crate) async fn answer(
    connection: Arc<Connection>,
    request: http::Request<Incoming>,
) -> Result<Response<ReplyBody>, Closed> {
    let shared = connection.shared.clone();
    let settings = shared.settings();
    let (parts, body) = request.into_parts();
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let Some(mut request) = Request::new(parts) else {
        let message = format!("The escapes of {uri} are faulty.");
        let mut reply = Refusal::new(400, "InvalidURI", message).into_xml(uri.path());
        // The body is not read, so another request cannot follow.
        reply.set(http::header::CONNECTION, "close");
        let logged = Request::faulty(&method, &uri).logged(Operation::Other);
        let tracker = Tracker::new(connection, shared.tally.begin(logged).0);
        return Ok(response(reply, &method, None, settings.bandwidth, tracker));
    };
    let options = shared.values().buckets.get(&request.bucket).map(|contents| contents.options).unwrap_or_default();
    let logged = request.logged(request.operation(&options));
    let (number, in_flight) = shared.tally.begin(logged.clone());
    let mut tracker = Tracker::new(connection.clone(), number);
    let body = match read(&connection, body, settings.bandwidth).await {
        Ok(body) => Some(body),
        Err(Unread::TooLarge) => None,
        Err(Unread::Gone) => return Err(Closed),
    };
    if settings.capacity.is_some_and(|most| in_flight > most) {
        shared.tally.refused();
        let reply = Refusal::new(503, "SlowDown", "Please reduce your request rate.").into_xml(&logged.path);
        return Ok(response(reply, &request.method, None, settings.bandwidth, tracker));
    }
    let fault = shared.faults.take(&logged);
    let delay = if let Some(FaultKind::Delay(delay)) = &fault { settings.latency + *delay } else { settings.latency };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let mut reply = match (&fault, body) {
        (Some(FaultKind::DropBefore), _) => {
            tracker.close();
            return Err(Closed);
        }
        (_, None) => Refusal::new(400, "EntityTooLarge", "The body has more than 5 GiB.").into_xml(&logged.path),
        (fault, Some(body)) => match fault.as_ref().and_then(instead) {
            Some(reply) => reply,
            None => operate(&shared, &settings, &mut request, body, options.face, fault.as_ref()),
        },
    };
    match (options.etags, reply.headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned)) {
        (Etags::Weak, Some(etag)) => reply.set(ETAG, &format!("W/{etag}")),
        (Etags::None, _) => drop(reply.headers.remove(ETAG)),
        _ => {}
    }
    if let Some(FaultKind::DelayAfter(delay)) = &fault {
        tokio::time::sleep(*delay).await;
    }
    if matches!(fault, Some(FaultKind::DropAfter)) {
        tracker.close();
        return Err(Closed);
    }
    Ok(response(reply, &request.method, fault, settings.bandwidth, tracker))
}

/// Returns the answer of a fault that replaces the operation; `None` for other faults.
fn instead(fault: &FaultKind) -> Option<Reply> {
    match fault {
        FaultKind::Status { status, headers, body } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut reply = Reply { body: body.clone(), ..Reply::new(status) };
            for (name, value) in headers {
                reply.set(HeaderName::from_bytes(name.as_bytes()).ok(), value);
            }
            Some(reply)
        }
        FaultKind::Conflict => {
            let message = "A conflicting operation occurred during processing of this request.";
            Some(Refusal::new(409, "ConditionalRequestConflict", message).into_xml(""))
        }
        FaultKind::Html => {
            let page = "<!DOCTYPE html><html><body><h1>Log in to use this network</h1></body></html>";
            Some(Reply::with_body(StatusCode::OK, "text/html", page))
        }
        FaultKind::Redirect { status, location } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::FOUND);
            Some(Reply::new(status).with(LOCATION, location))
        }
        _ => None,
    }
}

/// Does the operation of the request, and returns its answer.
fn operate(
    shared: &Shared,
    settings: &Settings,
    request: &mut Request,
    body: Bytes,
    face: Face,
    fault: Option<&FaultKind>,
) -> Reply {
    match fault {
        Some(FaultKind::IgnoreRange) => {
            request.headers.remove(RANGE);
        }
        Some(FaultKind::Change(value)) => {
            let mut new = Payload::new(value.clone(), Vec::new());
            let mut values = shared.values();
            let old = values.buckets.get(&request.bucket).and_then(|contents| contents.objects.get(&request.key));
            new.headers = old.map(|object| object.headers.clone()).unwrap_or_default();
            values.put(&request.bucket, &request.key, new);
        }
        Some(FaultKind::Cached(then)) => {
            if let Some(object) = then.0.get(&request.key) {
                return crate::read::read(object, request, true).unwrap_or_else(Refusal::into_text);
            }
        }
        _ => (),
    }
    match face {
        Face::S3 => objects::answer(shared, settings, Api::S3, request, body, fault),
        Face::Gcs => objects::answer(shared, settings, Api::Gcs, request, body, fault),
        Face::Plain { ranges, listing } => plain::answer(shared, request, ranges, listing),
    }
}

/// Returns the answer as hyper sends it, changed by the fault.
fn response(
    mut reply: Reply,
    method: &Method,
    fault: Option<FaultKind>,
    mut bandwidth: Option<u64>,
    tracker: Tracker,
) -> Response<ReplyBody> {
    match &fault {
        Some(FaultKind::ContentRange(value)) => reply.set(CONTENT_RANGE, value),
        Some(FaultKind::Gzip) => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing to a vector does not fail.
            if let Ok(compressed) = encoder.write_all(&reply.body).and_then(|()| encoder.finish()) {
                reply.body = compressed.into();
                reply.set(CONTENT_ENCODING, "gzip");
            }
        }
        Some(FaultKind::Slow(limit)) => {
            bandwidth = Some(bandwidth.map_or(*limit, |limit_of_all| limit_of_all.min(*limit)))
        }
        _ => (),
    }
    let mut is_short = false;
    if *method == Method::HEAD {
        reply = reply.without_body();
    } else if reply.status != StatusCode::NOT_MODIFIED && reply.status != StatusCode::NO_CONTENT {
        let length = reply.body.len();
        let (promised, sent) = match fault {
            Some(FaultKind::Truncate(count)) => (length, length.min(count)),
            Some(FaultKind::ContentLength(promised)) => (promised, length.min(promised)),
            _ => (length, length),
        };
        is_short = sent < promised;
        reply.body.truncate(sent);
        if let Some(FaultKind::Excess(more)) = fault {
            reply.body = vec![b'#'; length + more].into();
            // So that hyper does not say the length either.
            is_short = true;
        } else {
            reply.set(CONTENT_LENGTH, &promised.to_string());
        }
    }
    tracker.answered(reply.status.as_u16());
    let body = ReplyBody::new(reply.body, is_short, bandwidth, tracker);
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}
