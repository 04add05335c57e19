//! Reads of a value: conditions and ranges.

use crate::range::{Asked, asked};
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::values::Object;
use http::StatusCode;
use http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, LAST_MODIFIED};
use std::time::{Duration, SystemTime};

/// Returns the answer to a `GET` of `object`. If `ranges`, the header `Range` is supported.
///
/// Only a single range is supported. The answer to several ranges is the whole value, as in S3.
pub(crate) fn read(object: &Object, request: &Request, ranges: bool) -> Result<Reply, Refusal> {
    check(object, request)?;
    let mut reply = Reply::with_body(StatusCode::OK, "application/octet-stream", object.value.clone());
    for (name, value) in &object.headers {
        reply.headers.insert(name, value.clone());
    }
    reply.set(ETAG, &object.etag);
    reply.set(LAST_MODIFIED, &httpdate::fmt_http_date(object.modified));
    if !ranges {
        return Ok(reply);
    }
    reply.set(ACCEPT_RANGES, "bytes");
    // If the condition `If-Range` fails, the answer is the whole value.
    let is_same = request.header("if-range").is_none_or(|etag| etag == object.etag);
    let size = object.value.len();
    match asked(request.header("range").filter(|_| is_same), size) {
        Asked::Whole => (),
        Asked::Part(range) => {
            reply.status = StatusCode::PARTIAL_CONTENT;
            reply.set(CONTENT_RANGE, &format!("bytes {}-{}/{size}", range.start, range.end - 1));
            reply.body = object.value.slice(range);
        }
        Asked::Unsatisfiable => {
            let refusal = Refusal::new(416, "InvalidRange", "The requested range is not satisfiable");
            return Err(refusal.with(CONTENT_RANGE, &format!("bytes */{size}")));
        }
    }
    Ok(reply)
}

/// Checks the conditions of a read, in the order of RFC 9110.
fn check(object: &Object, request: &Request) -> Result<(), Refusal> {
    if let Some(etags) = request.header("if-match") {
        if !names(etags, &object.etag) {
            return Err(Refusal::precondition("If-Match"));
        }
    } else if let Some(time) = time(request, "if-unmodified-since")
        && seconds(object.modified) > seconds(time)
    {
        return Err(Refusal::precondition("If-Unmodified-Since"));
    }
    let is_known = match request.header("if-none-match") {
        Some(etags) => names(etags, &object.etag),
        None => time(request, "if-modified-since").is_some_and(|time| seconds(object.modified) <= seconds(time)),
    };
    if is_known {
        return Err(Refusal::new(304, "NotModified", "")
            .with(ETAG, &object.etag)
            .with(LAST_MODIFIED, &httpdate::fmt_http_date(object.modified)));
    }
    Ok(())
}

/// Returns whether `etags`, separated by commas, contains `etag`, or is `*`. Some clients omit the quotes.
pub(crate) fn names(etags: &str, etag: &str) -> bool {
    let bare = |etag: &str| etag.trim().trim_start_matches("W/").trim_matches('"').to_owned();
    etags.trim() == "*" || etags.split(',').any(|one| bare(one) == bare(etag))
}

fn time(request: &Request, header: &str) -> Option<SystemTime> {
    request.header(header).and_then(|text| httpdate::parse_http_date(text).ok())
}

/// Returns the whole seconds of a time, since dates of HTTP have no fraction.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}
